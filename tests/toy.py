"""A toy world for tests of the loop: goals that need units of work by a quorum at once. No physics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from teamworld.language import Action, ActionSchema, AgentId, Entity, Fact, Facts, Measures, Param, Plan, Relation
from teamworld.worlds.base.beliefs import FullyObserved
from teamworld.worlds.base.views import StaleView
from teamworld.worlds.contract import (
    POSSIBLE,
    WAIT,
    BeliefRules,
    DangerRules,
    EndReason,
    Goal,
    GoalEvent,
    Option,
    Outcome,
    StepResult,
    Verdict,
    View,
    WorldSpec,
)


def work(goal: int, units: int = 1) -> Action:
    """Return the order to work on a goal for some units."""
    return Action("work", (Entity("job", goal), units))


@dataclass
class ToyView:
    """Everything, seen by everybody."""

    world: ToyWorld
    agent: AgentId
    made: int

    def _fresh(self) -> None:
        if self.made != self.world.t:
            raise StaleView(self.agent)

    @property
    def kind(self) -> str:
        return "worker"

    @property
    def is_able(self) -> bool:
        return self.agent not in self.world.unable.get(self.world.t, ())

    @property
    def t(self) -> int:
        self._fresh()
        return self.world.t

    @property
    def steps_left(self) -> int:
        return self.world.horizon - self.t

    @property
    def facts(self) -> Facts:
        self._fresh()
        jobs = enumerate(self.world.left)
        return Facts(tuple(Fact(Entity("job", job), "LEFT", units) for job, units in jobs))

    @property
    def recall(self) -> Facts:
        return Facts()

    @property
    def known(self) -> Facts:
        return self.facts

    @property
    def goals(self) -> Sequence[Goal]:
        self._fresh()
        return self.world.goals()

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        jobs = tuple(Entity("job", job) for job in range(len(self.world.left)))
        params = (
            Param("job", "entity", choices=jobs),
            Param("units", "count", low=1, high=99, default=1, measure="units"),
        )
        return (ActionSchema("work", params, "work on a job"), ActionSchema("wait", (), "do nothing for a step"))

    @property
    def options(self) -> Sequence[Option]:
        return self.world.options(self.agent, self.facts)

    @property
    def history(self) -> Sequence[Outcome]:
        return ()

    @property
    def remainder(self) -> Action | None:
        return None

    @property
    def steps_to_go(self) -> int | None:
        return None

    @property
    def since(self) -> int | None:
        return None

    def check(self, action: Action) -> Verdict:
        return self.world.check(self.agent, action, self.facts)

    def text(self, form: str = "plain") -> str:
        return "; ".join(map(str, self.facts))


class NoConflicts(FullyObserved):
    """Beliefs where nothing is open and agents never conflict."""

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        return 0.0


@dataclass
class ToyWorld:
    """Agents that work on jobs.

    Jobs are ``(units, quorum)``; ``dies`` names an agent's last tick; ``unable`` tells at which ticks who cannot act.
    """

    agents: tuple[AgentId, ...] = ("a", "b")
    jobs: tuple[tuple[int, int], ...] = ((3, 1), (2, 2))
    horizon: int = 20
    dies: Mapping[AgentId, int] = field(default_factory=dict)
    unable: Mapping[int, Collection[AgentId]] = field(default_factory=dict)
    near: Mapping[AgentId, Collection[AgentId]] | None = None
    orders: list[dict[AgentId, Action]] = field(default_factory=list)
    ends: Collection[str] = ()
    """Reasons of failure that end a plan."""

    danger: DangerRules | None = None
    arrays: None = None
    hauling: None = None
    entities: Sequence[Entity] | None = None
    relations: tuple[Relation, ...] = ()
    measures: Measures = field(default_factory=lambda: {"work": (None, "units"), "wait": ()})

    @property
    def spec(self) -> WorldSpec:
        return WorldSpec("toy", "toy", self.agents, dict.fromkeys(self.agents, "worker"), self.horizon, "Do the jobs.")

    @property
    def domain(self) -> ToyWorld:
        return self

    def reset(self, seed: int) -> None:
        self.t = 0
        self.left = [units for units, _ in self.jobs]
        self.alive = list(self.agents)
        self.running: dict[AgentId, tuple[Action, int]] = {}

    def view(self, agent: AgentId) -> View:
        return ToyView(self, agent, self.t)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        others = [agent for agent in self.alive if agent != sender]
        return others if self.near is None else [agent for agent in others if agent in self.near[sender]]

    def goals(self, given: Facts | None = None) -> Sequence[Goal]:
        return [
            Goal(
                id=f"job_{job}",
                kind="work",
                thing=Entity("job", job),
                weight=1.0,
                quorum=quorum,
                capacity=quorum,
                units=self.left[job],
                state="open" if self.left[job] else "done",
            )
            for job, (_, quorum) in enumerate(self.jobs)
        ]

    def truth(self) -> Facts:
        return ToyView(self, "", self.t).facts

    def snapshot(self) -> Mapping[str, Any]:
        return {"left": list(self.left)}

    def local(self) -> None:
        return None

    # ---- the domain

    def options(self, agent: AgentId, given: Facts) -> Sequence[Option]:
        return [Option(work(job), f"job_{job}", 1) for job, left in enumerate(self.left) if left]

    def candidate_plans(self, goal: Goal | None, agent: AgentId, given: Facts) -> Sequence[Plan]:
        if goal is None or goal.thing is None:
            return [Plan((WAIT,))]
        job = goal.thing.id
        return [Plan((work(job, goal.units),), goal.id), Plan((WAIT, work(job, goal.units)), goal.id)]

    def check(self, agent: AgentId, action: Action, given: Facts) -> Verdict:
        if action.verb != "work":
            return POSSIBLE
        return POSSIBLE if given.value(action.args[0], "LEFT") else Verdict(False, "job_gone")  # type: ignore[arg-type]

    def predict(self, agent: AgentId, action: Action, given: Facts) -> Facts:
        return given

    def estimate_steps(self, agent: AgentId, action: Action, given: Facts) -> int:
        return int(str(action.args[1])) if action.verb == "work" else 1

    @property
    def beliefs(self) -> BeliefRules:
        return NoConflicts(self.goals)

    def describe_goal(self, goal: Goal, agent: str, facts: Facts) -> str:
        return f"{goal.units} units left"

    def ends_plan(self, action: Action, reason: str) -> bool:
        return reason in self.ends

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        job = next((index for index, left in enumerate(self.left) if left), None)
        return {} if job is None else {agent: Plan((work(job),), f"job_{job}") for agent in views}

    # ---- the step

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        self.orders.append(dict(orders))
        for agent in self.alive:
            order = orders.get(agent)
            if order is not None and (agent not in self.running or self.running[agent][0] != order):
                self.running[agent] = (order, int(str(order.args[-1])) if order.args else 1)
        hands = Counter(action.args[0] for action, _ in self.running.values() if action.verb == "work")
        moved: list[GoalEvent] = []
        for job, (units, quorum) in enumerate(self.jobs):
            if self.left[job] and hands[Entity("job", job)] >= quorum:
                self.left[job] -= 1
                team = tuple(a for a, (act, _) in self.running.items() if act.args[:1] == (Entity("job", job),))
                moved.append(GoalEvent(f"job_{job}", "done" if not self.left[job] else "progress", 1 / units, team))
        self.t += 1
        outcomes = {agent: self._outcome(agent, {event.goal for event in moved}) for agent in self.alive}
        gone = {agent: "fell" for agent in self.alive if self.dies.get(agent) == self.t}
        self.alive = [agent for agent in self.alive if agent not in gone]
        over: EndReason | None = "all_done" if not any(self.left) else "horizon" if self.t >= self.horizon else None
        return StepResult(1, outcomes, moved, (), gone, {"reward": float(len(moved))}, over)

    def _outcome(self, agent: AgentId, moved: set[str]) -> Outcome:
        if agent not in self.running:
            return Outcome(WAIT, "done")
        action, left = self.running[agent]
        effect = action.verb != "work" or f"job_{action.args[0].id}" in moved  # type: ignore[union-attr]
        left -= 1 if effect or action.verb == "talk" else 0
        self.running[agent] = (action, left)
        if left <= 0:
            del self.running[agent]
        return Outcome(action, "done" if left <= 0 else "running", effect=effect and action.verb == "work")
