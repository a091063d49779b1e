import type { Episode } from "../../episode/episode";
import type { GoalRow } from "../../records";
import { byId, el } from "../../shared/elements";
import { groupBy } from "../../shared/numbers";
import { say } from "../../shared/words";
import { goalChip, type Jump, jumpTo, type Panel } from "./parts";

interface Row {
  goal: GoalRow;
  fill: HTMLElement;
  state: HTMLElement;
}

/** How far each goal is, and who works on it. */
export class Goals implements Panel {
  readonly #rows: readonly Row[];

  constructor(
    readonly episode: Episode,
    readonly jump: Jump,
  ) {
    this.#rows = episode.goals.map((goal) => this.#row(goal));
  }

  #row(goal: GoalRow): Row {
    const fill = el("i", { css: { background: this.episode.colour(goal.id) } });
    const state = el("span", { class: "aside" });
    const facts = [goal.weight && `weight ${goal.weight}`, goal.quorum && `needs ${goal.quorum}`];
    const head = el(
      "div",
      { class: "row" },
      goalChip(this.episode, goal.id),
      el("span", { class: "aside" }, facts.filter(Boolean).join(", ")),
      this.#end(goal),
    );
    const progress = el("div", { class: "progress" }, fill);
    byId("goals").append(el("div", { class: "goal", title: goal.label }, head, progress, state));
    return { goal, fill, state };
  }

  #end({ done, lost }: GoalRow): HTMLElement {
    if (done !== undefined) return jumpTo(done, this.jump, `done at ${done}`);
    if (lost !== undefined) return jumpTo(lost, this.jump, `lost at ${lost}`);
    return el("span", { class: "when still" }, "not done");
  }

  update(t: number): void {
    const busy = groupBy(this.episode.team, (lane) => lane.aim(t));
    for (const { goal, fill, state } of this.#rows) {
      const share = this.episode.progress(goal, t);
      fill.style.width = `${(100 * share).toFixed(1)}%`;
      const who =
        busy
          .get(goal.id)
          ?.map((lane) => say(lane.name))
          .join(", ") ?? "nobody";
      const isOver = goal.done !== undefined && t >= goal.done;
      const by = goal.who ? ` by ${goal.who.map(say).join(", ")}` : "";
      const words = isOver ? `done${by}` : `${Math.round(100 * share)} % of the way; ${who} at it`;
      if (state.textContent !== words) state.textContent = words;
    }
  }
}
