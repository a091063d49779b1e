"use strict";
// The episode's data and what holds at a moment. Moment t shows frame t; step t leads from frame t to frame t + 1.
(function (tw) {
  const FORMAT = 1;

  class Lane {
    constructor(row, plans) {
      Object.assign(this, row);
      this.runs = row.spans.filter((span) => span.status !== "passed");
      this.passed = row.spans.filter((span) => span.status === "passed");
      this.plans = plans;
    }

    /** The row that covers moment t, as [row, place], or [null, place before]. */
    static covering(rows, t) {
      const at = tw.lastAt(rows, t, "start");
      return at >= 0 && t < rows[at].end ? [rows[at], at] : [null, at];
    }

    span(t) {
      return Lane.covering(this.runs, t)[0];
    }

    hold(t) {
      return Lane.covering(this.holds, t)[0];
    }

    /** The goal that it is bound to at moment t, by commitment or by its plan; null if there is none. */
    aim(t) {
      return this.hold(t)?.goal ?? Lane.covering(this.plans, t)[0]?.goal ?? null;
    }

    pace(t) {
      const at = tw.lastAt(this.paces, t, "step");
      return at >= 0 ? this.paces[at] : null;
    }

    /** The plan at moment t and the last one that is over, either null. */
    planning(t) {
      const at = tw.lastAt(this.plans, t, "start");
      if (at < 0) return [null, null];
      if (t < this.plans[at].end) return [this.plans[at], at > 0 ? this.plans[at - 1] : null];
      return [null, this.plans[at]];
    }

    /** How an action of a plan stands at moment t: next, running, done, failed, passed or stopped. */
    standing(plan, place, t) {
      for (const span of this.of(plan)) {
        if (span.place !== place || span.start > t) continue;
        if (span.status === "passed") return ["passed", span];
        if (t < span.end) return ["running", span];
        return [span.status === "running" ? "stopped" : span.status, span];
      }
      return ["next", null];
    }

    of(plan) {
      if (!this.byPlan) {
        this.byPlan = new Map();
        for (const span of this.spans) {
          if (!this.byPlan.has(span.plan)) this.byPlan.set(span.plan, []);
          this.byPlan.get(span.plan).push(span);
        }
      }
      return this.byPlan.get(plan.plan) || [];
    }
  }

  class Episode {
    constructor(raw) {
      if (raw.format !== FORMAT) throw new Error(`expected replay data of format ${FORMAT}, got ${raw.format}`);
      Object.assign(this, raw);
      const plans = new Map(raw.team.map((row) => [row.name, []]));
      for (const plan of raw.plans) plans.get(plan.agent)?.push(plan);
      this.team = raw.team.map((row) => new Lane(row, plans.get(row.name)));
      this.place = new Map(raw.team.map((row, place) => [row.name, place]));
      this.goalPlace = new Map(raw.goals.map((goal, place) => [goal.id, place]));
      this.steps = raw.frames.length - 1;
    }

    frame(t) {
      return this.frames[tw.clamp(t, 0, this.steps)];
    }

    tick(t) {
      return this.ticks ? this.ticks[t] : t;
    }

    colour(goal) {
      return tw.goalColour(this.goalPlace.get(goal) ?? 0);
    }

    /** The joint acts tried in step t. */
    jointsAt(t) {
      if (!this.tried) {
        this.tried = Array.from(this.frames, () => []);
        for (const joint of this.joints) for (let step = joint.start; step < joint.end; step++) this.tried[step].push(joint);
      }
      return this.tried[t];
    }

    /** How much of a goal is done at moment t, from 0 to 1. */
    progress(goal, t) {
      if (goal.done !== undefined && t >= goal.done) return 1;
      const rows = goal.progress || [];
      let share = 0;
      for (const [from, value] of rows) {
        if (from > t) break;
        share = value;
      }
      return tw.clamp(share, 0, 1);
    }

    /** In words, how a run of an action looks at moment t. */
    ending(span) {
      if (span.status === "failed") {
        const causes = [span.reason, span.constraint, span.blocker && `in the way: ${tw.say(span.blocker)}`].filter(Boolean);
        return `${span.legal === false ? "refused" : "failed"}: ${causes.join(", ") || "no reason given"}`;
      }
      if (span.status === "passed") return `passed over at no cost: ${span.reason || "could not start"}`;
      if (span.status === "done") return "done";
      return span.end >= this.steps ? "running at the end" : "stopped before it was over";
    }
  }

  tw.Episode = Episode;
})(window.teamworld);
