import type { Episode } from "../episode/episode";
import { type Question, turnsOf } from "../episode/question_log";
import type { QuestionTry } from "../records";
import { byId, type Child, el, onClick } from "../shared/elements";
import { say } from "../shared/words";
import { billOf, isEmpty, tryInWords, written } from "./question_words";

/** One question whole: its prompt, its answer, and what was wrong with the answers before. */
export class QuestionView {
  question: Question | null = null;
  readonly #box = byId("question", HTMLDialogElement);

  constructor(
    readonly episode: Episode,
    readonly jump: (step: number) => void,
  ) {
    onClick({
      "ask-last": () => this.#move(-1),
      "ask-next": () => this.#move(1),
      "ask-close": () => this.#box.close(),
    });
    this.#box.addEventListener("keydown", (event) => {
      event.stopPropagation(); // the keys of the page are not for what lies below
      const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
      if (!isArrow || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#move(event.key === "ArrowLeft" ? -1 : 1);
    });
    this.#box.addEventListener("click", (event) => {
      if (event.target === this.#box) this.#box.close();
    });
  }

  open(question: Question): void {
    this.question = question;
    this.jump(question.step);
    const by = question.skipped ? "not asked" : `answered by ${question.reasoner}`;
    byId("asked-what").textContent = `${say(question.agent)}: ${question.kind}`;
    byId("asked-where").textContent = [`step ${question.step}`, by, ...billOf(question.tries)].join(" · ");
    byId("ask-last", HTMLButtonElement).disabled = !this.episode.asked.neighbour(question, -1);
    byId("ask-next", HTMLButtonElement).disabled = !this.episode.asked.neighbour(question, 1);
    byId("ask-answer").replaceChildren(this.#answer(question));
    this.#showPrompt(question, question.tries.length - 1);
    if (!this.#box.open) this.#box.showModal();
    byId("asked-what").focus();
    for (const part of ["ask-answer", "ask-prompt"]) byId(part).scrollTop = 0;
  }

  #move(way: -1 | 1): void {
    const other = this.question && this.episode.asked.neighbour(this.question, way);
    if (other) this.open(other);
  }

  #answer(question: Question): HTMLElement {
    const { skipped, answer, fallback, tries, flaws } = question;
    if (skipped) {
      const words = `Its protocol asks this, but it was not put: ${skipped}.`;
      return el("div", null, el("h3", null, "Not asked"), el("p", null, words));
    }
    const fields = Object.entries(answer).map(([name, value]) => [
      el("dt", null, name),
      isEmpty(value) ? el("dd", { class: "aside" }, "none") : el("dd", null, written(value)),
    ]);
    return el(
      "div",
      null,
      el("h3", null, fallback ? "Fallback: no usable answer came" : "Answer"),
      el("dl", { class: "fields" }, fields),
      tries.length > 1 || flaws.length ? this.#tries(question) : tries.map(tryParts),
    );
  }

  /** Each try with what came of it. */
  #tries(question: Question): HTMLElement[] {
    return Array.from({ length: Math.max(question.tries.length, question.flaws.length) }, (_, at) => {
      const [one, flaw] = [question.tries[at], question.flaws[at]];
      const came = this.episode.asked.text(one?.text);
      const showPrompt = () => this.#showPrompt(question, at);
      return el(
        "section",
        { class: flaw ? "joint failed" : "joint" },
        el(
          "div",
          { class: "row" },
          el("strong", null, `Try ${at + 1}`),
          el("span", { class: "result" }, flaw ? "✕ not usable" : "✓ usable"),
          one?.turns && el("button", { type: "button", class: "when", on: { click: showPrompt } }, "its prompt"),
        ),
        one && tryParts(one),
        came ? el("pre", null, came) : null,
        flaw && el("p", { class: "missing" }, el("strong", null, `${flaw.flaw}: `), flaw.text),
      );
    });
  }

  #showPrompt(question: Question, at: number): void {
    const { asked } = this.episode;
    const { tries, flaws } = question;
    const turns = at < 0 ? [] : turnsOf(question, at);
    this.#box.classList.toggle("short", !turns.length);
    if (!turns.length) {
      byId("ask-prompt").replaceChildren(el("h3", null, "Prompt"), el("p", { class: "aside" }, whyNoPrompt(question)));
      return;
    }
    const came = at === tries.length - 1 && !flaws.length ? asked.text(tries[at]?.text) : "";
    byId("ask-prompt").replaceChildren(
      el("h3", null, tries.length > 1 ? `Prompt of try ${at + 1}, as sent` : "Prompt, as sent"),
      ...turns.map(({ role, text }) => turnOf(role, asked.text(text))),
      ...(came ? [el("h3", null, "What came back"), turnOf("assistant", came)] : []),
    );
  }
}

function tryParts(one: QuestionTry): Child {
  const faults = (one.faults ?? []).map((fault) => el("p", { class: "aside bad" }, fault));
  return [el("p", { class: "aside" }, tryInWords(one)), ...faults];
}

const turnOf = (role: string, text: string): HTMLElement =>
  el("section", { class: `turn ${role}` }, el("h4", null, role), el("pre", null, text));

function whyNoPrompt({ skipped, tries, reasoner, kind }: Question): string {
  if (skipped) return "No prompt was sent.";
  if (tries.length) return "The prompts were left out of this page.";
  return `No prompt was sent: ${reasoner} answered. teamworld prompts ${kind} --run DIR shows what a model would be sent.`;
}
