/** Small parts that several panels show. */
import type { Episode } from "../../episode/episode";
import type { WorthRow } from "../../records";
import { inkOn } from "../../shared/colours";
import { el } from "../../shared/elements";
import { say } from "../../shared/words";

/** Called with a step to go to. */
export type Jump = (step: number) => void;

/** What is brought up to date with the moment that is shown. */
export interface Panel {
  update(t: number): void;
}

/** A goal's name in its colour. */
export function goalChip(episode: Episode, goal: string): HTMLElement {
  return el("span", { class: "chip" }, el("i", { css: { background: episode.colour(goal) } }), say(goal));
}

/** An agent's number on a disc, in the colour of a goal. */
export function disc(episode: Episode, name: string, goal?: string | null): HTMLElement {
  const place = episode.place.get(name);
  const colour = goal ? episode.colour(goal) : null;
  const css: Record<string, string> = colour ? { background: colour, color: inkOn(colour) } : {};
  return el("b", { class: "disc", title: name, css }, String(place ?? (name.slice(0, 1).toUpperCase() || "?")));
}

/** A button that goes to a step. */
export function jumpTo(step: number, jump: Jump, words: string): HTMLElement {
  return el(
    "button",
    { type: "button", class: "when", title: `Go to step ${step}`, on: { click: () => jump(step) } },
    words,
  );
}

/** A small button that opens the panel in which something is changed. */
export function changeButton(what: string, open: () => void, words = "change"): HTMLElement {
  const click = (event: Event) => {
    event.stopPropagation(); // not for what it stands in
    open();
  };
  return el("button", { type: "button", class: "change", "aria-label": `Change ${what}`, on: { click } }, words);
}

/** A line of words with buttons to the failure before and after the moment that is shown; `id` ends the ids of both. */
export function failureTools(
  words: string,
  id: string,
  steps: readonly number[],
  jump: Jump,
  moment: () => number,
): HTMLElement {
  const go = (step: number | undefined) => {
    if (step !== undefined) jump(step);
  };
  const last = () => go(steps.findLast((step) => step < moment()));
  const next = () => go(steps.find((step) => step > moment()));
  return el(
    "div",
    { class: "tools" },
    el("span", { class: "aside" }, words),
    el("button", { type: "button", id: `last${id}`, on: { click: last } }, "‹ failure"),
    el("button", { type: "button", id: `next${id}`, on: { click: next } }, "failure ›"),
  );
}

/** What something was worth, in words. */
export function worthInWords({ values = {} }: WorthRow): string {
  const signed = (value: number, digits: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
  const words = Object.entries(values).map(([name, [mean, low, high]]) => {
    const digits = name === "completion" ? 2 : 1;
    const bounds = low === high ? "" : ` [${signed(low, digits)}, ${signed(high, digits)}]`;
    return `${name} ${signed(mean, digits)}${bounds}`;
  });
  return `worth: ${words.join(", ")}`;
}
