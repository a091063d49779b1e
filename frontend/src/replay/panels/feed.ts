import { el } from "../../shared/elements";
import { lastAt } from "../../shared/numbers";
import type { Panel } from "./parts";

const WINDOW = 40; // groups that a feed keeps on the page at once

/** Groups of rows up to a step, newest first; only those near the step are on the page, and no others are kept. */
export class Feed<Group extends { start: number }> implements Panel {
  readonly #list = el("div", { class: "feed" });
  readonly #note: HTMLElement;
  readonly #more = el("button", { type: "button", class: "more", hidden: true }, "show earlier ones");
  #shown: [number, number] = [0, 0];
  #newest: Element | null = null;
  #room = WINDOW;
  #t = 0;

  /**
   * @param groups Ordered by `start`.
   * @param make Makes what a group is shown as.
   * @param nothing What is said where none has begun.
   */
  constructor(
    box: HTMLElement,
    readonly groups: readonly Group[],
    readonly make: (group: Group) => HTMLElement,
    nothing: string,
  ) {
    this.#note = el("p", { class: "empty" }, nothing);
    this.#more.addEventListener("click", () => {
      this.#room += WINDOW;
      this.update(this.#t);
    });
    box.append(this.#note, this.#list, this.#more);
  }

  update(t: number): void {
    this.#t = t;
    const end = lastAt(this.groups, t, "start") + 1;
    const start = Math.max(0, end - this.#room);
    const [from, to] = this.#shown;
    if (start === from && end === to) return;
    if (Math.max(start, from) < Math.min(end, to)) {
      // Whatever stays where it is is left alone: while playing, one group a step.
      for (let at = end; at < to; at++) this.#list.firstChild?.remove();
      for (let at = from; at < start; at++) this.#list.lastChild?.remove();
      if (end > to) this.#list.prepend(...this.#made(to, end));
      if (start < from) this.#list.append(...this.#made(start, from));
    } else {
      this.#list.replaceChildren(...this.#made(start, end));
    }
    this.#newest?.classList.remove("newest");
    this.#newest = this.#list.firstElementChild;
    this.#newest?.classList.add("newest");
    this.#shown = [start, end];
    this.#note.hidden = end > 0;
    this.#more.hidden = start === 0;
  }

  /** Groups from one place to another as elements, the last one first. */
  #made(start: number, end: number): HTMLElement[] {
    return this.groups.slice(start, end).map(this.make).reverse();
  }
}
