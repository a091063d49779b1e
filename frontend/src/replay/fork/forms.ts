/** What can be changed of an episode, each with the fields of a form from which the change is read. */
import type { Episode } from "../../episode/episode";
import type { Question } from "../../episode/question_log";
import type { PlanRow, SentMessage } from "../../records";
import { type Child, el } from "../../shared/elements";
import { say } from "../../shared/words";
import { type Change, messageNumber, numbered, planText, questionNumber } from "./changes";

/** Something that can be changed. */
export interface ChangeForm {
  /** In words. */
  title: string;
  step: number;
  fields: Child[];
  /** What the fields say; throws an `Error` that says why they say nothing. */
  read(): Change;
}

export function messageForm(episode: Episode, message: SentMessage): ChangeForm {
  const { agent, step, goal } = message;
  const same = numbered(agent, messageNumber(episode, message));
  const text = area("it says", message.text);
  const task = line("about the task", goal ?? "");
  const words = el("div", { hidden: true, class: "words" }, text.label, task.label);
  const ways: [string, () => Record<string, unknown>][] = [
    ["drop it: it is not sent, and nobody pays for it", () => ({ drop: true })],
    ["nobody hears it: it is sent and paid for", () => ({ recipients: [] })],
    [
      "another text: facts told beside the old one are gone",
      () => ({
        text: given(text.box, "write what it says instead"),
        ...(task.box.value.trim() ? { goal: task.box.value.trim() } : {}),
      }),
    ],
  ];
  const picks = ways.map(([label], at) => {
    const box = el("input", { type: "radio", name: "way", value: at, checked: at === 0 });
    return { box, label: el("label", { class: "pick" }, box, label) };
  });
  const picked = () => picks.findIndex(({ box }) => box.checked);
  for (const { box } of picks) {
    box.addEventListener("change", () => {
      words.hidden = picked() !== ways.length - 1;
    });
  }
  return {
    title: `Change a message of ${say(agent)}`,
    step,
    fields: [picks.map(({ label }) => label), words],
    read: () => ({ message: { ...same, ...ways[picked()]?.[1]() } }),
  };
}

export function answerForm(episode: Episode, question: Question): ChangeForm {
  const { agent, kind, step } = question;
  const { agent: name, ...number } = numbered(agent, questionNumber(episode, question));
  const answer = area("the answer, as JSON", JSON.stringify(question.answer, null, 2));
  return {
    title: `Change an answer of ${say(agent)}: ${kind}`,
    step,
    fields: [answer.label],
    read: () => ({ answer: { agent: name, question: kind, ...number, answer: objectOf(answer.box.value) } }),
  };
}

export function planForm(plan: PlanRow): ChangeForm {
  const { agent, start } = plan;
  const text = area("the plan", planText(plan));
  return {
    title: `Change a plan of ${say(agent)}`,
    step: start,
    fields: [text.label],
    read: () => ({ plan: { agent, plan: given(text.box, "write a plan") } }),
  };
}

export function agentForm(agent: string, step: number): ChangeForm {
  const method = line("another method plays it, such as do_nothing or greedy", "");
  const reasoner = line("another reasoner answers it, such as rules:noise=0.3, human or a model", "");
  return {
    title: `Hand ${say(agent)} over, from this step on`,
    step,
    fields: [method.label, reasoner.label],
    read: () => {
      const heirs = Object.entries({ method, reasoner }).map(([name, { box }]) => [name, box.value.trim()]);
      const named = heirs.filter(([, value]) => value);
      if (!named.length) throw new Error("name a method, a reasoner, or both");
      return { hand_over: { agents: [agent], ...Object.fromEntries(named) } };
    },
  };
}

function area(words: string, value: string) {
  const box = el("textarea", { rows: Math.min(12, value.split("\n").length + 2), spellcheck: "false" });
  box.value = value;
  return { box, label: el("label", null, words, box) };
}

function line(words: string, value: string) {
  const box = el("input", { type: "text", spellcheck: "false" });
  box.value = value;
  return { box, label: el("label", null, words, box) };
}

function given(box: HTMLTextAreaElement, otherwise: string): string {
  if (box.value.trim()) return box.value;
  throw new Error(otherwise);
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return { ...value };
  throw new Error('expected an object such as {"goal": "block_0"}');
}
