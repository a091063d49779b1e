/** The list of questions to reasoners. All that was sent or answered becomes a text node, see `el`. */
import type { Episode } from "../../episode/episode";
import type { Question } from "../../episode/question_log";
import { byId, el } from "../../shared/elements";
import { groupBy, total } from "../../shared/numbers";
import { plural, say } from "../../shared/words";
import { answerForm } from "../fork/forms";
import { billOf, isEmpty, written } from "../question_words";
import { Feed } from "./feed";
import type { PanelCalls } from "./panels";
import { changeButton, disc, jumpTo } from "./parts";

const BRIEF = 160; // characters of an answer
const REASONERS = 4; // that are named

/** Questions of a step. */
interface Asked {
  start: number;
  rows: Question[];
}

/** The list of questions up to the step. */
export function questionFeed(episode: Episode, calls: PanelCalls): Feed<Asked> {
  const box = byId("asked");
  const { questions } = episode.asked;
  const groups = [...groupBy(questions, ({ start }) => start)].map(([start, rows]) => ({ start, rows }));
  if (questions.length) box.append(...summary(questions));
  const make = ({ start, rows }: Asked) =>
    el(
      "section",
      { class: "group" },
      jumpTo(start, calls.jump, `step ${start}`),
      rows.map((question) => questionLine(episode, question, calls)),
    );
  const nothing = questions.length ? "None up to this step." : "No reasoner was asked anything in this episode.";
  return new Feed(box, groups, make, nothing);
}

/** How many questions there were, what they took, and who answered. */
function summary(questions: readonly Question[]): HTMLElement[] {
  const put = questions.filter((question) => !question.skipped);
  const flaws = total(put, (question) => question.flaws.length);
  const fallbacks = put.filter((question) => question.fallback).length;
  const words = [
    plural(put.length, "question"),
    put.length < questions.length && `${questions.length - put.length} not asked`,
    flaws && plural(flaws, "unusable answer"),
    fallbacks && plural(fallbacks, "fallback"),
    ...billOf(put.flatMap((question) => question.tries)),
  ];
  const who = [...new Set(put.map((question) => question.reasoner))].slice(0, REASONERS);
  return [words.filter(Boolean).join(" · "), who.length ? `answered by ${who.join("; ")}` : ""]
    .filter(Boolean)
    .map((line) => el("p", { class: "bill" }, line));
}

function questionLine(episode: Episode, question: Question, { ask, change }: PanelCalls): HTMLElement {
  const { agent, flaws, fallback, skipped } = question;
  const row = el(
    "button",
    {
      type: "button",
      class: skipped ? "ask skipped" : "ask",
      title: "Read it whole",
      on: { click: () => ask(question) },
    },
    disc(episode, agent),
    el(
      "span",
      null,
      el(
        "span",
        { class: "row" },
        el("strong", null, question.kind),
        flaws.length > 0 && el("span", { class: "aside bad" }, plural(flaws.length, "unusable answer")),
        fallback && el("span", { class: "aside bad" }, "fallback"),
      ),
      el("span", { class: "brief" }, say(inShort(question))),
    ),
  );
  if (skipped) return row;
  const open = () => change(answerForm(episode, question));
  return el("div", { class: "answered" }, row, changeButton(`the answer of ${say(agent)}`, open));
}

function inShort({ skipped, answer }: Question): string {
  if (skipped) return `not asked: ${skipped}`;
  const fields = Object.entries(answer).filter(([, value]) => !isEmpty(value));
  const words = fields.map(([name, value]) => `${name}: ${written(value).replaceAll("\n", ", ")}`).join(", ");
  return words.length > BRIEF ? `${words.slice(0, BRIEF)}…` : words || "nothing";
}
