/** What can stand inside an element. Texts become text nodes: nothing that was said or written is ever read as HTML. */
export type Child = Node | string | null | undefined | false | readonly Child[];

type Listeners = { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };

/** Attributes of an element by name, its listeners, and properties of its style. Attributes without a value are left out. */
export interface Options {
  on?: Listeners;
  css?: Record<string, string>;
  [attribute: string]: string | number | boolean | null | undefined | Listeners | Record<string, string>;
}

/** Make an element. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  options?: Options | null,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  const { on = {}, css = {}, ...attributes } = options ?? {};
  for (const [event, call] of Object.entries(on)) node.addEventListener(event, call as EventListener);
  for (const [property, value] of Object.entries(css)) node.style.setProperty(property, value);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodesOf(children));
  return node;
}

/** What there is to append of some children. */
export function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return child instanceof Node || typeof child === "string" ? [child] : nodesOf(child);
  });
}

/** An element of the page by its id; throws if the page has none of that kind. */
export function byId(id: string): HTMLElement;
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind;
export function byId(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  return expect(document.getElementById(id), kind, `#${id}`);
}

/** The first element that a selector finds; throws if there is none. */
export function find(selector: string, root: ParentNode = document): HTMLElement {
  return expect(root.querySelector(selector), HTMLElement, selector);
}

function expect<Kind>(node: unknown, kind: new () => Kind, name: string): Kind {
  if (node instanceof kind) return node;
  throw new Error(`expected ${name} on the page as ${kind.name}`);
}

/** Call back when buttons, by their ids, are pressed. */
export function onClick(calls: Readonly<Record<string, () => void>>): void {
  for (const [id, call] of Object.entries(calls)) byId(id).addEventListener("click", call);
}

/** Show lines near a point of the window, the first one strong; without lines, hide what is shown. */
export function showTip(lines: readonly string[], x: number, y: number): void {
  const tip = byId("tip");
  tip.hidden = !lines.length;
  if (tip.hidden) return;
  tip.replaceChildren(...lines.map((line, at) => el(at ? "div" : "strong", null, line)));
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(window.innerWidth - width - 8, Math.max(4, x + 14))}px`;
  tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 12 : y + 18}px`;
}

export function hideTip(): void {
  byId("tip").hidden = true;
}
