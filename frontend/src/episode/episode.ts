import type { ActionSpan, FailureRow, GoalRow, JointAct, PerceptionChange, Replay, SentMessage } from "../records";
import { goalColour } from "../shared/colours";
import { clamp, groupBy } from "../shared/numbers";
import { say } from "../shared/words";
import type { Knowledge } from "./knowledge";
import { Lane } from "./lane";
import { QuestionLog } from "./question_log";

const FORMAT = 1;

/** State of a world in its own form, which its drawer knows. */
export type State = Record<string, unknown>;

/** What of a replay an episode is made of. */
export type EpisodeData = Pick<
  Replay,
  | "format"
  | "world"
  | "static"
  | "frames"
  | "style"
  | "team"
  | "goals"
  | "plans"
  | "messages"
  | "joints"
  | "failures"
  | "perceived"
  | "ticks"
>;

/**
 * An episode and what holds at a moment of it. Moment t shows frame t; step t leads from frame t to frame t + 1.
 *
 * A drawer may take its own forms of static data, frames and style as `Static`, `Frame` and `Style`.
 */
export class Episode<Static = State, Frame = State, Style = State> {
  readonly world: string;
  readonly static: Static;
  readonly frames: readonly Frame[];
  readonly style: Style;
  readonly goals: readonly GoalRow[];
  readonly messages: readonly SentMessage[];
  readonly joints: readonly JointAct[];
  readonly failures: readonly FailureRow[];
  readonly perceived: readonly PerceptionChange[];
  readonly ticks: readonly number[] | undefined;
  readonly steps: number;
  readonly team: readonly Lane[];
  /** Place in the team by name. */
  readonly place: ReadonlyMap<string, number>;
  /** Empty until the page has unpacked them. */
  asked = new QuestionLog([], []);
  /** Null unless the log was recorded at the level `beliefs`, and until the page has unpacked it. */
  knowledge: Knowledge | null = null;
  private readonly goalPlace: ReadonlyMap<string, number>;
  private tried: JointAct[][] | null = null;

  constructor(data: EpisodeData) {
    if (data.format !== FORMAT) throw new Error(`expected replay data of format ${FORMAT}, got ${data.format}`);
    this.world = data.world;
    // The log gives these in the world's own form; its drawer is what knows them.
    this.static = data.static as Static;
    this.frames = data.frames as Frame[];
    this.style = (data.style ?? {}) as Style;
    this.goals = data.goals;
    this.messages = data.messages;
    this.joints = data.joints;
    this.failures = data.failures;
    this.perceived = data.perceived ?? [];
    this.ticks = data.ticks;
    this.steps = data.frames.length - 1;
    const plans = groupBy(data.plans, (plan) => plan.agent);
    this.team = data.team.map((actor) => new Lane(actor, plans.get(actor.name) ?? []));
    this.place = new Map(data.team.map(({ name }, place) => [name, place]));
    this.goalPlace = new Map(data.goals.map(({ id }, place) => [id, place]));
  }

  frame(t: number): Frame {
    const frame = this.frames[clamp(t, 0, this.steps)];
    if (frame === undefined) throw new Error("expected an episode with a frame");
    return frame;
  }

  tick(t: number): number {
    return this.ticks?.[t] ?? t;
  }

  /** The last moment that is not after a tick. */
  stepOf(tick: number): number {
    return this.ticks
      ? Math.max(
          0,
          this.ticks.findLastIndex((one) => one <= tick),
        )
      : tick;
  }

  /** The lane of an agent by its name; undefined for a respondent without a body. */
  lane(name: string): Lane | undefined {
    return this.team[this.place.get(name) ?? -1];
  }

  colour(goal: string): string {
    return goalColour(this.goalPlace.get(goal) ?? 0);
  }

  /** The joint acts tried in step t. */
  jointsAt(t: number): readonly JointAct[] {
    if (!this.tried) {
      this.tried = Array.from(this.frames, () => []);
      for (const joint of this.joints) {
        for (let step = joint.start; step < joint.end; step++) this.tried[step]?.push(joint);
      }
    }
    return this.tried[t] ?? [];
  }

  /** How much of a goal is done at moment t, from 0 to 1. */
  progress(goal: GoalRow, t: number): number {
    if (goal.done !== undefined && t >= goal.done) return 1;
    const row = goal.progress?.findLast(([from]) => from <= t);
    return clamp(row?.[1] ?? 0, 0, 1);
  }

  /** In words, how a run of an action looks when it is over. */
  ending(span: ActionSpan): string {
    if (span.status === "failed") {
      const blocker = span.blocker && `in the way: ${say(span.blocker)}`;
      const causes = [span.reason, span.constraint, blocker].filter(Boolean);
      return `${span.legal === false ? "refused" : "failed"}: ${causes.join(", ") || "no reason given"}`;
    }
    if (span.status === "passed") return `passed over at no cost: ${span.reason || "could not start"}`;
    if (span.status === "done") return "done";
    return span.end >= this.steps ? "running at the end" : "stopped before it was over";
  }
}
