/** Changes of which an episode can be forked, as Python reads them, as a file, and as a command. */
import type { Episode } from "../../episode/episode";
import type { Question } from "../../episode/question_log";
import type { AskedFork, PlanRow, Replay, SentMessage } from "../../records";

/** What happens otherwise: one kind of change, with its fields. */
export type Change = AskedFork["change"];

/** Which of an agent's messages of its step a message is, from 1. */
export const messageNumber = (episode: Episode, message: SentMessage): number =>
  episode.messages.filter(({ agent, step }) => agent === message.agent && step === message.step).indexOf(message) + 1;

/** Which of the questions of its kind that an agent was asked in the step a question is, from 1. */
export const questionNumber = (episode: Episode, question: Question): number =>
  episode.asked
    .of(question.agent)
    .filter(({ kind, step, skipped }) => kind === question.kind && step === question.step && !skipped)
    .indexOf(question) + 1;

/** Fields that say which message or question of an agent's is meant; the first needs no number. */
export const numbered = (agent: string, number: number): Record<string, unknown> => ({
  agent,
  ...(number > 1 ? { number } : {}),
});

/** A plan in written form. */
export function planText({ goal, actions, on_failure = "default" }: PlanRow): string {
  const target = goal ? `for ${nameInPlan(goal)} ` : "";
  const ending = on_failure === "default" ? "" : ` on failure ${on_failure}`;
  return `plan ${target}{ ${actions.join("; ")} }${ending}`;
}

const nameInPlan = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

/** A change as YAML: one field a line, with texts in quotes, since a bare word may be read as something else. */
export function yaml(change: Change): string {
  return Object.entries(change)
    .flatMap(([kind, fields]) => [`${kind}:`, ...Object.entries(fields).map(([name, it]) => `  ${name}: ${flow(it)}`)])
    .join("\n");
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value)
      .map(([name, it]) => `${flow(name)}: ${flow(it)}`)
      .join(", ")}}`;
  }
  const text = JSON.stringify(value);
  if (typeof value === "number") return text.replace(/^(-?\d+)e/, "$1.0e"); // YAML reads 1e+30 as a text
  return text.replace(UNREADABLE, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What JSON leaves as it is and YAML refuses, or takes for the end of a line. */
const UNREADABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** The command that plays a fork; RUN stands for the folder, which a page does not know. */
export function command({ method, seed, episode }: Pick<Replay, "method" | "seed" | "episode">, step: number): string {
  const named = `--method ${quoted(method)} --seed ${seed} --episode ${episode}`;
  return `teamworld fork RUN ${named} --step ${step} --change change.yaml`;
}

const quoted = (word: string): string => (/^[\w.:=+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
