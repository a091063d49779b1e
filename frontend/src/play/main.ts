/** The page on which a person plays an agent: shows what the server has, and sends what is answered. */
import type { FormField, GivenAnswer, Panel, PlayMap, SeatState, Sheet } from "../records";
import { byId, el, find, nodesOf } from "../shared/elements";
import { listenForTheme, readTheme } from "../shared/theme";
import { say } from "../shared/words";
import { AnswerForm } from "./answer_form";
import { KnownStage } from "./known_stage";
import { inline, prose, valueInWords } from "./prose";

export { drawers } from "../stage/drawer";

const AGAIN = 1500; // milliseconds until a server that does not answer is asked again
const PHASES: Record<SeatState["phase"], string> = { asked: "your turn", waiting: "the others play", over: "over" };
const CONFLICT = 409; // the question is over

/** An answer of the server that is no success. */
class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

class Page {
  /** The number of the question that is open; 0 if none is. */
  question = 0;
  #version = 0;
  #form: AnswerForm | null = null;
  #stage: KnownStage | null = null;
  #theme = readTheme();
  #busy = false;

  constructor() {
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    addEventListener("keydown", (event) => this.#key(event));
    listenForTheme(() => {
      this.#theme = readTheme();
      this.#stage?.forgetKey();
      this.#stage?.redraw(this.#theme);
    });
    this.#listen();
  }

  // ---- the server

  /** Show what is new, for as long as the run goes on. */
  async #listen(): Promise<void> {
    for (;;) {
      try {
        const state = await ask<SeatState>(`state?version=${this.#version}`);
        this.#version = state.version;
        this.#show(state);
        if (state.phase === "over") return;
      } catch (error) {
        const lost = "no answer: if the run was stopped, the same command goes on, with a new address";
        showPhase("lost", error instanceof Refusal ? error.message : lost);
        await new Promise((done) => setTimeout(done, AGAIN));
        this.#version = 0;
      }
    }
  }

  async #send(): Promise<void> {
    if (this.#busy || !this.#form) return;
    const { question } = this;
    let complaint = this.#form.lacking();
    if (!complaint) {
      this.#setBusy(true);
      complaint = await this.#answer(question, this.#form);
      this.#setBusy(false);
    }
    if (this.question === question) complain(complaint ? [complaint] : []);
  }

  /** Send an answer; returns what is wrong with it, empty if nothing is. */
  async #answer(question: number, form: AnswerForm): Promise<string> {
    try {
      const values = form.values();
      return (await ask<{ complaint: string | null }>("answer", { question, values })).complaint ?? "";
    } catch (error) {
      if (error instanceof Refusal && error.status === CONFLICT) return "";
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Ask what can be chosen after a choice, where that depends on it. */
  async #changed(): Promise<void> {
    const form = this.#form;
    if (!form?.depends) return;
    try {
      const answered = await ask<{ form: FormField[] }>("form", { question: this.question, values: form.values() });
      if (this.#form === form) form.renew(answered.form);
    } catch {
      // the question is over, or the line was cut: the next news says which
    }
  }

  // ---- showing

  #show(state: SeatState): void {
    const isAsked = state.phase === "asked";
    byId("run").textContent = `teamworld play · ${state.run}`;
    byId("title").textContent = `You are ${say(state.agent)}`;
    showPhase(state.phase, PHASES[state.phase]);
    document.title = `${isAsked ? "● " : ""}${state.agent} · teamworld play`;
    if (isAsked && state.sheet && state.question !== this.question) this.#showQuestion(state.question, state.sheet);
    if (!isAsked) this.#rest(state);
    byId("picture").classList.toggle("old", !isAsked);
    this.#showMap(state.map);
    showPast(state.past);
  }

  #showQuestion(question: number, sheet: Sheet): void {
    this.question = question;
    byId("ask").textContent = sheet.ask || sheet.title;
    byId("kind").textContent = sheet.ask ? `${sheet.title} (${sheet.kind})` : sheet.kind;
    byId("form").hidden = false;
    byId("idle").hidden = true;
    this.#form = new AnswerForm(byId("fields"), sheet.form, () => this.#changed());
    complain(sheet.complaints);
    const [headed, headless] = [sheet.panels.filter(({ head }) => head), sheet.panels.filter(({ head }) => !head)];
    byId("where").replaceChildren(...nodesOf(inline(headless.map(({ text }) => text).join(" "))));
    byId("panels").replaceChildren(...headed.map(card));
    byId("rulebook").replaceChildren(...sheet.rules.map(rule));
    find(".turn").scrollTop = 0;
  }

  #rest({ phase, note }: SeatState): void {
    const isOver = phase === "over";
    const waiting = "You are asked when it is your turn. What is on this page is as you last knew it.";
    this.question = 0;
    this.#form = null;
    byId("form").hidden = true;
    byId("fields").replaceChildren();
    byId("kind").textContent = "";
    byId("ask").textContent = isOver ? "The run is over" : "The others play";
    byId("idle").hidden = false;
    byId("idle").textContent = isOver ? note : waiting;
  }

  #showMap(map: PlayMap | null): void {
    byId("picture").hidden = !map;
    find("main").classList.toggle("blind", !map);
    if (!map) return;
    if (this.#stage) this.#stage.show(map, this.#theme);
    else this.#stage = new KnownStage(map, () => this.#theme);
  }

  #setBusy(busy: boolean): void {
    this.#busy = busy;
    byId("send", HTMLButtonElement).disabled = busy;
  }

  // ---- the keyboard

  #key(event: KeyboardEvent): void {
    const focus = event.target instanceof Element ? event.target : document.body;
    const isWithKey = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && (isWithKey || focus.matches("input[type=radio]"))) {
      event.preventDefault();
      this.#send();
      return;
    }
    const isTyping = focus.matches("textarea, input:not([type=radio]):not([type=checkbox]), select");
    if (isWithKey || event.altKey || isTyping || !/^[1-9]$/.test(event.key) || !this.#form) return;
    event.preventDefault();
    this.#form.pick(Number(event.key) - 1);
  }
}

async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(path, { ...sent, cache: "no-store" });
  if (!answer.ok) throw new Refusal(await answer.text(), answer.status);
  return answer.json();
}

function showPhase(kind: SeatState["phase"] | "lost", words: string): void {
  const pill = byId("phase");
  pill.className = `phase ${kind}`;
  if (pill.textContent !== words) pill.textContent = words;
}

function complain(complaints: readonly string[]): void {
  const box = byId("complaint");
  box.hidden = !complaints.length;
  box.replaceChildren(...complaints.map((words) => el("div", null, `This cannot be: ${words}`)));
  if (complaints.length) box.scrollIntoView({ block: "nearest" });
}

const card = ({ head, text }: Panel): HTMLElement =>
  el("section", { class: "card", "aria-label": head }, el("h3", null, head), prose(text));

const rule = ({ head, text }: Panel): HTMLElement => el("div", null, head ? el("h3", null, head) : null, prose(text));

function showPast(past: readonly GivenAnswer[]): void {
  byId("past").hidden = !past.length;
  byId("answered").textContent = String(past.length);
  byId("answers").replaceChildren(...past.map(answerLine));
}

function answerLine({ ask: asked, kind, values }: GivenAnswer): HTMLElement {
  const parts = Object.entries(values)
    .filter(([, value]) => valueInWords(value))
    .map(([name, value], at) => [at ? ", " : "", `${say(name)}: `, el("b", null, say(valueInWords(value)))]);
  return el("li", null, el("span", { class: "soft" }, `${asked || kind} `), parts);
}

/** Set when the document is there, and the scripts that draw worlds. */
export let page: Page;

document.addEventListener("DOMContentLoaded", () => {
  page = new Page();
});
