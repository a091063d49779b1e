"""What an agent could do next, and what that is worth: the measure by which inference plans and foresees plans.

All of it goes through the world's ``Domain``: recipes and options, dry runs, ticks, and what is unknown. The worth of a
prospect is the goal's weight times the share of its work that the prospect does, and for a look around the chance that
it reveals what is missing, over the ticks that it takes. Where agents have several hands it is that of
``fetch_options``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from teamworld.language import Action, AgentId, Facts, GoalId, Term
from teamworld.planning.candidates import MIN_SHARE, nearest_ticks
from teamworld.planning.fetch import carrying_capacity, fetch_options, missing_things
from teamworld.planning.goals import filter_workable
from teamworld.planning.simulate import SimulatedPlan, simulate_plan
from teamworld.worlds.contract import WAIT, Domain, Goal, LatentVariable, Option

#: Prospects that are looked at closely, the nearest of each sort.
LOOKED = 24
#: By how much more a goal counts that the agent is at already, so that nobody wavers between equals.
STICK = 1.3
#: Share of its gain that a prospect keeps where others are expected to suffice: they may not come.
CROWDED = 0.1
#: Share of its worth that a prospect keeps though team-mates are sure to be first: they may do something else.
FLOOR = 0.1
#: Share of the goal's work that a plan counts for where the world does not say what it does for it.
SOME = MIN_SHARE


@dataclass(frozen=True)
class Prospect:
    """Some actions in a row, and what they come to."""

    actions: tuple[Action, ...]
    goal: GoalId | None
    ticks: int
    gain: float
    """Weight of the work that it does; expected, where it looks for something."""
    first: int
    """Ticks of its first action."""
    need: int = 1
    """Agents that its goal takes at once."""
    still: bool = False
    """Its first action changes nothing that can be foreseen."""
    chance: float = 1.0
    """How likely something comes of it: 1 for work at hand."""
    own: bool = False
    """Nobody else can do it for the agent: it carries something."""
    near: int | None = None
    """Ticks of the agent's nearest option for the goal, where it works at the goal itself."""
    hold: Action | None = None
    """What its plan begins with and was passed over, for it would change nothing: to take one's place anew by."""

    @property
    def rate(self) -> float:
        """Gain a tick, for each of the agents that it takes."""
        return self.gain / (self.ticks * self.need)

    @property
    def option(self) -> Option:
        """Its first action as an option."""
        return Option(self.actions[0], self.goal, self.first)


@dataclass(frozen=True)
class Outlook:
    """What one agent could do if ``given`` holds. Equal outlooks on one collection of facts are worked out once."""

    agent: AgentId
    kind: str
    domain: Domain

    def __call__(self, given: Facts) -> tuple[Prospect, ...]:
        """Return its prospects, those toward goals first."""
        return _Looking(self, given).prospects

    def of(self, given: Facts) -> tuple[Prospect, ...]:
        """Return its prospects; none where the rules can make nothing of what is believed."""
        try:
            return given.derive(self)
        except (LookupError, ValueError, TypeError, ArithmeticError):
            return ()


class _Looking:
    """Works out an outlook."""

    def __init__(self, who: Outlook, given: Facts) -> None:
        self.who, self.agent, self.domain, self.given = who, who.agent, who.domain, given
        self.goals = {goal.id: goal for goal in filter_workable(self.domain.goals(given), who.kind)}
        self.unknowns = self.domain.latent_variables(given)
        self.options = self.domain.options(self.agent, given)

    @cached_property
    def prospects(self) -> tuple[Prospect, ...]:
        """Plans toward goals, looks around, and what else can be done."""
        if carrying_capacity(self.domain) > 1:
            return (*self._errands, *map(_rest, self._aside()))
        toward = (self._toward(self.goals[goal], run, hold) for goal, run, hold in self._runs())
        work = [one for one in toward if one is not None]
        looks = [look for one in self._looks() if (look := self._looking(self._foresee((one,)))) is not None]
        found: dict[tuple[Action, ...], Prospect] = {}
        for one in (*work, *looks, *self._ordered()):
            old = found.get(one.actions)
            if old is None or one.rate > old.rate:
                found[one.actions] = one
        return tuple(found.values())

    @cached_property
    def near(self) -> dict[GoalId, int]:
        """Ticks of the nearest option for each goal."""
        return nearest_ticks(self.options)

    def _runs(self) -> Iterable[tuple[GoalId, SimulatedPlan, Action | None]]:
        near = self.near
        for goal in sorted(self.goals, key=lambda goal: (near.get(goal, 1 << 30), goal))[:LOOKED]:
            for recipe in self.domain.candidate_plans(self.goals[goal], self.agent, self.given)[:LOOKED]:
                run = simulate_plan(recipe.actions, self.agent, self.given, self.domain).trimmed
                if run.ok and run.actions:
                    yield goal, run, recipe.actions[0] if len(run.actions) < len(recipe.actions) else None

    def _toward(self, goal: Goal, run: SimulatedPlan, hold: Action | None) -> Prospect | None:
        """Return a plan as a prospect; None if it only looks around, which counts by what it may reveal."""
        share = run.share(goal)
        if share <= 0 and self.unknowns:
            return None
        gain = goal.weight * max(share, SOME * (SOME if run.still else 1))
        first, need = max(1, run.spans[0]), max(1, goal.quorum)
        near = self.near.get(goal.id, first)
        return Prospect(run.actions, goal.id, max(1, run.ticks), gain, first, need, run.still, near=near, hold=hold)

    @property
    def _errands(self) -> tuple[Prospect, ...]:
        """What an agent with several hands could do next."""
        wanted = missing_things(self.goals.values(), self.given, {})
        targets = {goal.thing for goal in self.goals.values() if goal.thing is not None}
        found = fetch_options(self.agent, self.domain, self.given, self.options, wanted, targets)
        return tuple(
            Prospect((o.action,), o.goal, max(1, o.steps), gain, max(1, o.steps), chance=min(1.0, chance), own=own)
            for o, gain, chance, own in found
        )

    # ---- looking for what is not known

    def _looks(self) -> list[Action]:
        if not self.unknowns:
            return []
        found = dict.fromkeys(option.action for option in self.options if option.action != WAIT)
        return [action for action in found if action.verb != "talk"]

    def _looking(self, run: SimulatedPlan) -> Prospect | None:
        """Return some actions in a row as a look around from where they end; None where that reveals nothing."""
        if not run.ok:
            return None
        seen: dict[tuple[str, Term], float] = {}
        for value in (value for unknown in self.unknowns for value in unknown.values):
            key = value.fact.predicate, value.fact.value  # what stands for like things is seen alike
            if key not in seen:
                seen[key] = self.domain.observation_probability(value.fact, self.agent, run.then)
        chance = 1 - math.prod(1 - _reveals(unknown, seen) for unknown in self.unknowns)
        ticks, first = max(1, run.ticks), max(1, run.spans[0])
        return Prospect(run.actions, None, ticks, chance, first, chance=chance) if chance > 0 else None

    def _foresee(self, actions: tuple[Action, ...]) -> SimulatedPlan:
        return simulate_plan(actions, self.agent, self.given, self.domain)

    def _aside(self) -> Iterable[SimulatedPlan]:
        """Yield what the agent does that no goal needs: out of the way, or looking around."""
        runs = (
            self._foresee(plan.actions).trimmed
            for plan in self.domain.candidate_plans(None, self.agent, self.given)[:3]
        )
        return (run for run in runs if run.ok)

    def _ordered(self) -> Iterable[Prospect]:
        """Yield the same as prospects: ways to look as such, and nothing above what the world names before it.

        The way to ground that nobody has seen takes many ticks, a wait takes one: by ticks alone nobody would ever go.
        """
        most = math.inf
        for run in self._aside():
            one = _rest(run)
            most = min(most, one.rate)
            look = self._looking(run) if self.unknowns and not run.still else None  # who waits sees what it saw before
            yield look or replace(one, gain=most * one.ticks)


def _rest(run: SimulatedPlan) -> Prospect:
    return Prospect(run.actions, None, max(1, run.ticks), SOME**3, run.spans[0], chance=0.0)


def _reveals(unknown: LatentVariable, seen: Mapping[tuple[str, Term], float]) -> float:
    """Return how likely an agent perceives the value of an unknown where it then is."""
    total = math.fsum(value.weight for value in unknown.values)
    found = math.fsum(value.weight * seen[value.fact.predicate, value.fact.value] for value in unknown.values)
    return found / total if total > 0 else 0.0


# ---- with team-mates


def crowd(prospect: Prospect, goals: Mapping[GoalId, Goal], others: float) -> float:
    """Return the share of its gain that a prospect keeps where so many team-mates are expected at its goal first."""
    goal = goals.get(prospect.goal) if prospect.goal is not None else None
    if goal is None or goal.units == goal.capacity > 1:  # one for each unit: whoever comes takes another
        return 1.0
    return min(1.0, max(CROWDED, goal.capacity - others))


def spared(option: Option, others: Iterable[tuple[Option, float]], domain: Domain, given: Facts) -> float:
    """Return the share of an option's worth that is left if others do something first, each with a probability."""
    left = 1.0
    for other, weight in others:
        whole = max(1, min(option.steps, other.steps))
        left *= 1 - weight * min(1.0, domain.conflict_cost(option, other, given) / whole)
    return max(FLOOR, left)
