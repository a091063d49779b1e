import type { ActionSpan, Actor, CommitmentSpan, PlanRow, StepRecord } from "../records";
import { groupBy, lastAt } from "../shared/numbers";

/** How an action of a plan stands at a moment. */
export type Standing = "next" | "running" | "done" | "failed" | "passed" | "stopped";

/** What one agent did, held and planned. */
export class Lane {
  readonly name: string;
  readonly kind: string;
  readonly spans: readonly ActionSpan[];
  readonly paces: readonly StepRecord[];
  readonly holds: readonly CommitmentSpan[];
  readonly gone: number | undefined;
  readonly gone_why: string;
  /** Actions that took steps, by start. */
  readonly runs: readonly ActionSpan[];
  /** Actions that could not start. */
  readonly passed: readonly ActionSpan[];
  #byPlan: Map<number | undefined, ActionSpan[]> | null = null;

  constructor(
    actor: Actor,
    readonly plans: readonly PlanRow[],
  ) {
    ({ name: this.name, kind: this.kind, spans: this.spans, paces: this.paces, holds: this.holds } = actor);
    this.gone = actor.gone;
    this.gone_why = actor.gone_why ?? "";
    this.runs = actor.spans.filter((span) => span.status !== "passed");
    this.passed = actor.spans.filter((span) => span.status === "passed");
  }

  span(t: number): ActionSpan | null {
    return covering(this.runs, t);
  }

  hold(t: number): CommitmentSpan | null {
    return covering(this.holds, t);
  }

  /** The goal that it is bound to at moment t, by commitment or by its plan; null if there is none. */
  aim(t: number): string | null {
    return this.hold(t)?.goal ?? covering(this.plans, t)?.goal ?? null;
  }

  pace(t: number): StepRecord | null {
    return this.paces[lastAt(this.paces, t, "step")] ?? null;
  }

  isGone(t: number): boolean {
    return this.gone !== undefined && t >= this.gone;
  }

  /** The plan at moment t and the last one that is over, either null. */
  planning(t: number): [PlanRow | null, PlanRow | null] {
    const at = lastAt(this.plans, t, "start");
    const latest = this.plans[at] ?? null;
    return latest && t < latest.end ? [latest, this.plans[at - 1] ?? null] : [null, latest];
  }

  /** How an action of a plan stands at moment t, and its run. */
  standing(plan: PlanRow, place: number, t: number): [Standing, ActionSpan | null] {
    this.#byPlan ??= groupBy(this.spans, (span) => span.plan);
    const span = this.#byPlan.get(plan.plan)?.find((one) => one.place === place && one.start <= t);
    if (!span) return ["next", null];
    if (span.status === "passed") return ["passed", span];
    if (t < span.end) return ["running", span];
    return [span.status === "running" ? "stopped" : span.status, span];
  }
}

/** The row that covers moment t. */
function covering<Row extends { start: number; end: number }>(rows: readonly Row[], t: number): Row | null {
  const row = rows[lastAt(rows, t, "start")];
  return row && t < row.end ? row : null;
}
