"""What an agent could do next if some facts hold, and what that is worth.

A prospect is worth the goal's weight times the share of its work that it does (for a look around the chance that it
reveals what is missing) over the steps that it takes. All of it goes through the world's ``Domain``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

from teamworld.language import Action, AgentId, Facts, GoalId, Term
from teamworld.methods.cobel.situation import Situation
from teamworld.planning.candidates import MIN_SHARE, nearest_ticks
from teamworld.planning.fetch import carrying_capacity, fetch_options, missing_things
from teamworld.planning.goals import filter_workable
from teamworld.planning.simulate import SimulatedPlan, simulate_plan
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import WAIT, ImpossibleFacts, LatentVariable, Option

#: Prospects that are looked at closely, the nearest of each sort.
CLOSE: Final = 24


@dataclass(frozen=True)
class Prospect:
    """Some actions in a row, and what they come to."""

    actions: tuple[Action, ...]
    goal: GoalId | None
    steps: int
    gain: float
    """Weight of the work that it does; expected, where it looks for something."""
    first: int
    """Steps of its first action."""
    need: int = 1
    """Agents that its goal takes at once."""
    chance: float = 1.0
    """How likely something comes of it: 1 for work at hand."""
    own: bool = False
    """Nobody else can do it for the agent: it carries something."""
    near: int | None = None
    """Steps of the agent's nearest option for the goal, where it works at the goal itself."""
    hold: Action | None = None
    """First action of the plan if it was passed over, for it would change nothing."""
    finds: float | None = None
    """How many of the missing things a look is expected to find, where several can be brought at a time."""

    @property
    def rate(self) -> float:
        """Gain a step, for each of the agents that it takes."""
        return self.gain / (self.steps * self.need)

    @property
    def option(self) -> Option:
        """Its first action as an option."""
        return Option(self.actions[0], self.goal, self.first)


@dataclass(frozen=True)
class Outlook:
    """What one agent could do if some facts hold; worked out once for each collection of facts."""

    agent: AgentId
    kind: str
    domain: BeliefDomain

    def __call__(self, facts: Facts) -> tuple[Prospect, ...]:
        """Return its prospects, those toward goals first; none if the facts are impossible."""
        try:
            return tuple(_Search(self, facts).prospects())
        except ImpossibleFacts:
            return ()


class _Search:
    """Works out an outlook."""

    def __init__(self, outlook: Outlook, facts: Facts) -> None:
        self.agent, self.domain, self.facts = outlook.agent, outlook.domain, facts
        self.goals = {goal.id: goal for goal in filter_workable(self.domain.goals(facts), outlook.kind)}
        self.latents = self.domain.beliefs.latent_variables(facts)
        self.options = self.domain.options(self.agent, facts)

    def prospects(self) -> Iterable[Prospect]:
        """Return plans toward goals, looks around, and what else can be done."""
        if carrying_capacity(self.domain) > 1:
            return [*self._fetches(), *map(_aside, self._needless())]
        best: dict[tuple[Action, ...], Prospect] = {}
        for prospect in (*self._works(), *self._looks(), *self._needless_prospects()):
            old = best.get(prospect.actions)
            if old is None or prospect.rate > old.rate:
                best[prospect.actions] = prospect
        return best.values()

    def _works(self) -> Iterable[Prospect]:
        """Yield plans toward goals; those that only look around count by what they may reveal."""
        near = nearest_ticks(self.options)
        for goal in sorted(self.goals.values(), key=lambda goal: (near.get(goal.id, 1 << 30), goal.id))[:CLOSE]:
            for plan in self.domain.candidate_plans(goal, self.agent, self.facts)[:CLOSE]:
                run = self._simulate(plan.actions).trimmed
                if not run.ok or not run.actions:
                    continue
                share = run.share(goal)
                if share <= 0 and self.latents:
                    continue
                yield Prospect(
                    actions=run.actions,
                    goal=goal.id,
                    steps=max(1, run.ticks),
                    gain=goal.weight * max(share, MIN_SHARE * (MIN_SHARE if run.still else 1)),
                    first=max(1, run.spans[0]),
                    need=max(1, goal.quorum),
                    near=near.get(goal.id, max(1, run.spans[0])),
                    hold=plan.actions[0] if len(run.actions) < len(plan.actions) else None,
                )

    def _fetches(self) -> Iterable[Prospect]:
        """Yield what an agent with several hands could do next."""
        wanted = missing_things(self.goals.values(), self.facts, {})
        targets = {goal.thing for goal in self.goals.values() if goal.thing is not None}
        for offer in fetch_options(self.agent, self.domain, self.facts, self.options, wanted, targets):
            option, steps = offer.option, max(1, offer.option.steps)
            yield Prospect(
                (option.action,),
                option.goal,
                steps,
                offer.gain,
                steps,
                chance=offer.chance,
                own=offer.own,
                finds=offer.finds,
            )

    def _looks(self) -> Iterable[Prospect]:
        """Yield options as ways to look around."""
        if self.latents:
            for action in dict.fromkeys(option.action for option in self.options):
                if action != WAIT and action.verb != "talk":
                    look = self._look(self._simulate((action,)))
                    if look is not None:
                        yield look

    def _look(self, run: SimulatedPlan) -> Prospect | None:
        """Return some actions as a look around from where they end, if it reveals anything."""
        if not run.ok:
            return None
        seen: dict[tuple[str, Term], float] = {}
        for value in (value for latent in self.latents for value in latent.values):
            key = value.fact.predicate, value.fact.value  # what stands for like things is seen alike
            if key not in seen:
                seen[key] = self.domain.beliefs.observation_probability(value.fact, self.agent, run.then)
        chance = 1 - math.prod(1 - _revealed(latent, seen) for latent in self.latents)
        steps, first = max(1, run.ticks), max(1, run.spans[0])
        return Prospect(run.actions, None, steps, chance, first, chance=chance) if chance > 0 else None

    def _simulate(self, actions: tuple[Action, ...]) -> SimulatedPlan:
        return simulate_plan(actions, self.agent, self.facts, self.domain)

    def _needless(self) -> Iterable[SimulatedPlan]:
        """Return what the agent does that no goal needs: out of the way, or looking around."""
        plans = self.domain.candidate_plans(None, self.agent, self.facts)[:3]
        return [run for run in (self._simulate(plan.actions).trimmed for plan in plans) if run.ok]

    def _needless_prospects(self) -> Iterable[Prospect]:
        """Yield the same as prospects, in the world's order: by steps a wait would come first."""
        most = math.inf
        for run in self._needless():
            aside = _aside(run)
            most = min(most, aside.rate)
            # who waits sees what it saw before
            look = self._look(run) if self.latents and not run.still else None
            yield look or replace(aside, gain=most * aside.steps)


def _aside(run: SimulatedPlan) -> Prospect:
    return Prospect(run.actions, None, max(1, run.ticks), MIN_SHARE**3, run.spans[0], chance=0.0)


def _revealed(latent: LatentVariable, seen: Mapping[tuple[str, Term], float]) -> float:
    """Return how likely an agent perceives the value of a latent variable where it then is."""
    total = fsum(value.weight for value in latent.values)
    visible = fsum(value.weight * seen[value.fact.predicate, value.fact.value] for value in latent.values)
    return visible / total if total > 0 else 0.0


def outlook(situation: Situation, agent: AgentId, facts: Facts) -> tuple[Prospect, ...]:
    """Return what an agent could do if it believes some facts."""
    kind = situation.view.kind if agent == situation.agent else situation.team[agent]
    return facts.derive(Outlook(agent, kind, situation.domain))


def first_actions(situation: Situation, agent: AgentId, facts: Facts) -> dict[Action, Prospect]:
    """Return the best prospect that begins with each action."""
    best: dict[Action, Prospect] = {}
    for prospect in outlook(situation, agent, facts):
        old = best.get(prospect.actions[0])
        if old is None or prospect.rate > old.rate:
            best[prospect.actions[0]] = prospect
    return best
