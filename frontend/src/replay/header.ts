/** What stands above the picture and below the lanes: what the episode is, and what the strokes mean. */
import type { EpisodeResult, HeadlineRow, Replay } from "../records";
import { byId, el } from "../shared/elements";

const ENDS: Record<string, string> = {
  all_done: "all goals done",
  horizon: "step limit reached",
  budget: "budget spent",
  lost: "nobody left",
  quit: "the team quit",
  error: "an error",
};

interface Fact {
  name: string;
  value: string;
  aside?: string;
  /** What it means. */
  title?: string;
}

export function writeHeader(replay: Replay): void {
  const { result, fork } = replay;
  byId("title").textContent = `${replay.world} · ${replay.level}`;
  byId("title").title = replay.task;
  const facts: Fact[] = [
    { name: "method", value: replay.method },
    { name: "reasoner", value: replay.reasoner },
    { name: "run", value: `seed ${replay.seed}, episode ${replay.episode}` },
    ...(fork ? [{ name: "fork", value: fork.replace(/^fork of /, "of ") }] : []),
    ...(result.headline ?? []).map(measure),
    ...((result.has_success ?? true) ? [completion(result)] : []),
    { name: "steps", value: String(result.steps), aside: `of ${result.horizon}, ${endOf(result)}` },
  ];
  for (const { name, value, aside, title } of facts) {
    const small = aside && el("small", null, ` ${aside}`);
    byId("facts").append(el("div", { title }, el("dt", null, name), el("dd", null, value, small)));
  }
}

function measure({ name, value, unit, definition }: HeadlineRow): Fact {
  const number =
    value === null ? "none" : unit ? `${+value.toPrecision(4)} ${unit}` : `${+(100 * value).toPrecision(3)} %`;
  return { name, value: number, title: definition };
}

function completion({ completion: share, done, weight }: EpisodeResult): Fact {
  if (share === null) return { name: "completion", value: "no goals" };
  return { name: "completion", value: `${(100 * share).toFixed(0)} %`, aside: `${done} of ${weight} by weight` };
}

function endOf({ reason, has_success = true }: EpisodeResult): string {
  return reason === "all_done" && !has_success ? "nothing left to do" : (ENDS[reason] ?? reason);
}

export function writeLegend(): void {
  const entry = (kind: string, words: string) => el("span", null, el("i", { class: kind }), words);
  byId("legend").append(
    entry("of", "committed to a goal, in its colour"),
    entry("work", "changed the world"),
    entry("move", "moved"),
    entry("ready", "in place, waits for others"),
    entry("fail", "✕ failed"),
    entry("passed", "passed over"),
    el("span", { class: "keys" }, "space plays, arrows step, ctrl + wheel zooms"),
  );
}
