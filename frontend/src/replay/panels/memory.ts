/** What a method that keeps a symbolic world model knew before the episode, and what the episode added. */
import type { Episode } from "../../episode/episode";
import type { AddedPlan, EpisodeMemory, GuideLine, PlanLine, TaskMemory } from "../../records";
import { byId, el } from "../../shared/elements";
import { plural, say } from "../../shared/words";
import { disc, type Jump, jumpTo } from "./parts";

const NONE = "The method of this episode keeps no world model, or this page was made without its run.";

/** What the guidebook says, by the head of its row. */
const GUIDE: readonly [string, (line: GuideLine) => string][] = [
  ["done in", ({ attempts, successes }) => `${successes} of ${attempts} attempts`],
  ["work each", ({ progress }) => percent(progress)],
  ["steps each", ({ steps }) => rounded(steps)],
  ["team", ({ team }) => (team === undefined ? "–" : String(team))],
  ["verdict", ({ verdict }) => verdict],
];

export function writeMemory(episode: Episode, memory: EpisodeMemory | null, jump: Jump): void {
  const box = byId("memory");
  if (!memory) {
    box.append(el("p", { class: "empty" }, NONE));
    return;
  }
  const { tasks = [], notes = [], added = [], episodes } = memory;
  const plans = tasks.flatMap((task) => task.added ?? []);
  const changed = tasks.toSorted((one, other) => Number(!one.added) - Number(!other.added));
  const words = `learned from ${plural(episodes, "earlier episode")} of the run; this one added ${plural(plans.length, "plan")}`;
  box.append(
    el("p", { class: "bill" }, words),
    ...changed.map((task) => taskPart(episode, task, jump)),
    ...listPart(
      "notes of earlier episodes",
      notes.map((note) => el("p", { class: "text" }, note)),
    ),
    ...listPart(
      "notes that this one added",
      added.map(({ agent, text }) =>
        el("div", { class: "said" }, disc(episode, agent), el("p", { class: "text" }, text)),
      ),
    ),
  );
}

function taskPart(episode: Episode, task: TaskMemory, jump: Jump): HTMLElement {
  const rows = GUIDE.map(([head, read]) => comparedRow(head, read(task.before), read(task.after)));
  return el(
    "section",
    { class: "task" },
    el("strong", null, say(task.task)),
    comparedTable(rows),
    listPart("plan library", planRows(task)),
    listPart(
      "plans of this episode",
      (task.added ?? []).map((plan) => addedPlan(episode, plan, jump)),
    ),
  );
}

/** The library's plans for a task with what they achieved before the episode and after it. */
function planRows({ plans_before = [], plans_after = [] }: TaskMemory): HTMLElement[] {
  const before = new Map(plans_before.map((plan) => [plan.text, plan]));
  return plans_after.map((plan) =>
    el(
      "div",
      null,
      el("code", null, say(plan.text)),
      comparedTable([comparedRow("done in", planInWords(before.get(plan.text)), planInWords(plan))]),
    ),
  );
}

const planInWords = (plan: PlanLine | undefined): string =>
  plan
    ? `${plan.successes} of ${plan.attempts}; ${percent(plan.progress)} of the work in ${rounded(plan.steps)} steps`
    : "–";

function addedPlan(episode: Episode, plan: AddedPlan, jump: Jump): HTMLElement {
  const step = episode.stepOf(plan.start);
  const cause = plan.cause ? `: ${say(plan.cause.replaceAll("_", " "))}` : "";
  return el(
    "div",
    { class: "row" },
    jumpTo(step, jump, `step ${step}`),
    disc(episode, plan.agent, plan.goal),
    el("code", null, say(plan.plan)),
    el("span", { class: "aside" }, plan.origin),
    el("span", { class: plan.success ? "aside" : "aside bad" }, plan.success ? "✓ did the goal" : `✕ did not${cause}`),
  );
}

function listPart(head: string, parts: readonly HTMLElement[]): HTMLElement[] {
  return parts.length ? [el("h3", null, head), ...parts] : [];
}

function comparedTable(rows: readonly HTMLElement[]): HTMLElement {
  const heads = ["", "before", "after"].map((head) => el("th", { scope: "col" }, head));
  return el("table", null, el("thead", null, el("tr", null, heads)), el("tbody", null, rows));
}

/** A row of a table; what is another after the episode is strong. */
function comparedRow(head: string, before: string, after: string): HTMLElement {
  const cells = [before, after].map((words) => el("td", null, words));
  return el("tr", { class: before === after ? null : "changed" }, el("th", { scope: "row" }, head), cells);
}

const percent = (share: number | undefined): string => (share === undefined ? "–" : `${Math.round(100 * share)} %`);
const rounded = (value: number | undefined): string => (value === undefined ? "–" : String(+value.toFixed(1)));
