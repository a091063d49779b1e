/** The fields of an answer by their kinds. All texts become text nodes, see `el`. */
import type { FormField, Offer } from "../records";
import { type Child, el } from "../shared/elements";
import { say } from "../shared/words";

const KEYS = 9; // offers that have a key

/** A field on the page. */
export interface Field {
  node: HTMLElement;
  /** What is filled in; undefined if nothing is. Throws an Error in words if it cannot be read. */
  value(): unknown;
  /** Choose an offer by its place. */
  pick?(place: number): void;
  /** Take in the field with other offers. */
  renew?(fresh: FormField): void;
}

type Make = (field: FormField, changed: () => void) => Field;

let made = 0;

/** A name for an element that no other has. */
function nameOf(kind: string): string {
  made += 1;
  return `${kind}${made}`;
}

const legend = (field: FormField, counter?: HTMLElement | null): HTMLElement =>
  el("legend", null, say(field.name), field.words && el("span", { class: "soft" }, field.words), counter);

const fieldset = (...children: Child[]): HTMLElement => el("fieldset", { class: "field" }, children);

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const cleanLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** A text area, with a counter of what is left where it is limited. */
function area({ name, longest }: FormField, rows: number, value: string) {
  const box = el("textarea", { rows, "aria-label": say(name), maxlength: longest });
  box.value = value;
  if (longest === null) return { box, counter: null };
  const counter = el("span", { class: "count counter", "aria-hidden": true });
  box.addEventListener("input", () => {
    counter.textContent = box.value.length > longest * 0.6 ? `${box.value.length} of ${longest}` : "";
  });
  return { box, counter };
}

const key = (place: number): Child => place < KEYS && el("kbd", null, String(place + 1));
const note = (offer: Offer): Child => offer.note && el("small", null, offer.note);

/** One of the offers, or one's own in written form. */
const choice: Make = (field, changed) => {
  const name = nameOf("field");
  const box = el("div", { class: "offers", role: "radiogroup", "aria-label": say(field.name) });
  const ownBox = el("input", { type: "radio", name, value: "own", "aria-label": "your own", on: { change: changed } });
  const own = el("input", {
    type: "text",
    placeholder: "your own, in written form",
    "aria-label": `${say(field.name)}: your own`,
    on: {
      input: () => {
        ownBox.checked = true;
      },
    },
  });
  const other = el("label", { class: "offer" }, ownBox, el("span", { class: "words" }, own));
  let offers: readonly Offer[] = [];
  const fill = (fresh: readonly Offer[], chosen: unknown) => {
    offers = fresh;
    const labels = offers.map((offer, place) => {
      const checked = chosen !== undefined && isSame(offer.value, chosen);
      const radio = el("input", { type: "radio", name, value: place, checked, on: { change: changed } });
      return el(
        "label",
        { class: "offer" },
        radio,
        key(place),
        el("span", { class: "words" }, say(offer.words)),
        note(offer),
      );
    });
    box.replaceChildren(...labels, ...(field.is_open ? [other] : []));
  };
  const value = () => {
    const radio = box.querySelector<HTMLInputElement>("input:checked");
    if (!radio) return undefined;
    return radio.value === "own" ? own.value.trim() : offers[Number(radio.value)]?.value;
  };
  fill(field.offers, field.is_required ? undefined : field.default);
  return {
    node: fieldset(legend(field), box),
    value,
    pick: (place) => {
      const radio = box.querySelectorAll("input")[place];
      if (!radio) return;
      radio.checked = true;
      radio.focus();
      changed();
    },
    renew: (fresh) => {
      if (!isSame(fresh.offers, offers)) fill(fresh.offers, value());
    },
  };
};

/** Several texts, each a line; an offer fills them in, to be changed or sent. */
const lines: Make = (field) => {
  const { box, counter } = area(field, 4, Array.isArray(field.default) ? field.default.join("\n") : "");
  box.setAttribute("placeholder", "one on each line");
  const list = el("div", { class: "offers" });
  let offers: readonly Offer[] = [];
  const fill = (fresh: readonly Offer[]) => {
    offers = fresh;
    list.hidden = !offers.length;
    list.replaceChildren(...offers.map((offer, place) => lineOffer(offer, place, box)));
  };
  fill(field.offers);
  return {
    node: el("fieldset", { class: "field lines" }, legend(field, counter), list, box),
    value: () => cleanLines(box.value),
    pick: (place) => list.querySelectorAll("button")[place]?.click(),
    renew: (fresh) => {
      if (!isSame(fresh.offers, offers)) fill(fresh.offers);
    },
  };
};

/** An offer of several lines takes the place of what there is; one of a line comes after it. */
function lineOffer(offer: Offer, place: number, box: HTMLTextAreaElement): HTMLElement {
  const parts = Array.isArray(offer.value) ? offer.value.map(String) : null;
  const take = () => {
    box.value = (parts ?? [...cleanLines(box.value), String(offer.value)]).join("\n");
    box.focus();
  };
  const items = parts?.map((part) => el("li", null, say(part)));
  const words = el("span", { class: "words" }, items ? el("ol", { class: "plan" }, items) : say(offer.words));
  return el("button", { type: "button", class: "offer", on: { click: take } }, key(place), words, note(offer));
}

const text: Make = (field) => {
  const isShort = field.longest !== null && field.longest < 100;
  const { box, counter } = area(field, isShort ? 1 : 2, String(field.default ?? ""));
  const value = () => {
    if (box.value.trim() || field.is_required || field.default !== null) return box.value;
    return field.is_nullable ? null : undefined;
  };
  return { node: fieldset(legend(field, counter), box), value };
};

const flag: Make = (field) => {
  const box = el("input", { type: "checkbox", checked: field.default === true });
  const words = el("span", null, say(field.name), " ", el("span", { class: "soft" }, field.words));
  return {
    node: el("div", { class: "field" }, el("label", { class: "check" }, box, words)),
    value: () => box.checked,
  };
};

const number: Make = (field) => {
  const box = el("input", { type: "number", step: "any", "aria-label": say(field.name) });
  box.value = String(field.default ?? "");
  return { node: fieldset(legend(field), box), value: () => (box.value === "" ? undefined : Number(box.value)) };
};

/** Rows of fields, such as an action for each agent. */
const rows: Make = (field) => {
  const all: { value(): Record<string, unknown> }[] = [];
  const list = el("div", { class: "rows" });
  const lists = new Map(field.fields.filter(({ offers }) => offers.length).map((part) => [part, offerList(part)]));
  const add = () => {
    const cells = field.fields.map((part) => cellOf(part, lists.get(part)?.id));
    const row = {
      value: () => {
        const values = cells.map(({ part, value }): [string, unknown] => [part.name, value()]);
        return Object.fromEntries(values.filter(([, value]) => value !== undefined));
      },
    };
    const remove = () => {
      all.splice(all.indexOf(row), 1);
      node.remove();
    };
    const button = el("button", { type: "button", "aria-label": "Remove this row", on: { click: remove } }, "−");
    const node = el(
      "div",
      { class: "line" },
      cells.map(({ label }) => label),
      button,
    );
    all.push(row);
    list.append(node);
  };
  if (field.is_required) add();
  const more = el("button", { type: "button", on: { click: add } }, "+ row");
  return {
    node: fieldset(legend(field), ...lists.values(), list, more),
    value: () => all.map((row) => row.value()),
  };
};

const offerList = ({ offers }: FormField): HTMLElement =>
  el(
    "datalist",
    { id: nameOf("list") },
    offers.map(({ words }) => el("option", { value: words })),
  );

/** A field within a row. */
function cellOf(part: FormField, list: string | undefined) {
  const box = el("input", { type: "text", "aria-label": say(part.name), list });
  const words = `${say(part.name)}${part.kind === "lines" ? ", with ; between" : ""}`;
  const value = (): unknown => {
    if (part.kind === "lines") return cleanLines(box.value.replaceAll(";", "\n"));
    if (part.kind === "number") return box.value === "" ? undefined : Number(box.value);
    return box.value.trim() || !part.is_nullable ? box.value : null;
  };
  return { part, value, label: el("label", { title: part.words }, words, box) };
}

const json: Make = (field) => {
  const { box } = area(field, 3, field.default === null ? "" : JSON.stringify(field.default));
  const value = () => {
    if (!box.value.trim()) return undefined;
    try {
      return JSON.parse(box.value) as unknown;
    } catch {
      throw new Error(`${say(field.name)}: expected JSON`);
    }
  };
  return { node: fieldset(legend(field), box), value };
};

const KINDS: Record<FormField["kind"], Make> = { choice, lines, text, flag, number, rows, json };

/** Make a field; `changed` is called when a choice is made. */
export const makeField: Make = (field, changed) => KINDS[field.kind](field, changed);
