"""What an agent with several hands could do next: fetch, look where things may be, bring what it holds.

Such agents fetch several things before they bring them, and look for what nobody has found. The worth of an errand is
the number of things that it is expected to get hold of, or to find, over its ticks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import AgentId, Entity, Facts, GoalId
from teamworld.worlds.contract import WAIT, Domain, Goal, Option

#: How worlds write that an agent has something in its hands.
HOLD = "HOLD"
#: Least number of things that a look counts as finding: where nothing is expected is looked at last.
MIN_FINDS = 0.01
#: By how much bringing comes before, or after, the best of the rest.
BEFORE, AFTER = 2.0, 0.5
#: By how much less the way there counts: it is taken only where bringing cannot start.
LEAD = 0.99


class FetchOption(NamedTuple):
    """Something to do next, and the things that it is expected to get."""

    option: Option
    gain: float
    chance: float = 1.0
    """How likely it comes to something."""
    own: bool = False
    """Nobody else can do it for the agent: it is for what it carries."""

    @property
    def rate(self) -> float:
        """Things a tick."""
        return self.gain / max(1, self.option.ticks)


def carrying_capacity(domain: Domain) -> int:
    """Return how many things an agent can hold at a time; 0 in worlds without things to hold."""
    return max((one.most for one in domain.relations if (one.predicate, one.subject) == (HOLD, "agent")), default=0)


def held_things(agent: AgentId, given: Facts) -> tuple[Entity, ...]:
    """Return what an agent holds, as far as is known."""
    facts = (fact for fact in given.about(HOLD) if fact.subject == agent)
    return tuple(fact.value for fact in facts if isinstance(fact.value, Entity))


def wanted_kind(goal: Goal) -> str | None:
    """Return the kind of things that a goal wants any of; None where it is about one thing, or none."""
    return dict(goal.features).get("thing")


def missing_things(goals: Iterable[Goal], given: Facts, taken: Mapping[GoalId, int]) -> dict[GoalId, int]:
    """Return how many things each open goal lacks that nobody holds, as far as is known.

    Args:
        goals: Goals that wait for no other.
        given: What is known.
        taken: Things for each goal that team-mates said that they take.
    """
    hands = Counter(fact.value.kind for fact in given.about(HOLD) if isinstance(fact.value, Entity))
    left = {goal.id: goal.units - max(hands[wanted_kind(goal) or ""], taken.get(goal.id, 0)) for goal in goals}
    return {goal: units for goal, units in left.items() if units > 0}


def fetch_options(
    agent: AgentId,
    domain: Domain,
    given: Facts,
    options: Collection[Option],
    wanted: Mapping[GoalId, int],
    targets: Collection[Entity],
) -> list[FetchOption]:
    """Return what an agent could do next with what it is expected to get.

    Args:
        agent: Who.
        domain: The rules of its world.
        given: What is believed.
        options: What it could do.
        wanted: Things that goals lack, see ``missing_things``.
        targets: Where goals want things to be.
    """
    has = len(held_things(agent, given))
    after = {option: has for option in options if option.action != WAIT}
    for option in after:
        if option.goal is not None:
            after[option] = len(held_things(agent, domain.after(agent, option.action, given)))
    found = [FetchOption(option, 1.0) for option in after if after[option] > has and option.goal in wanted]
    within_reach = {one.option.goal for one in found}
    rest = [one for one in after if after[one] == has and (one.goal is None or one.goal not in within_reach)]
    found += _looks(domain, given, rest, wanted, has, targets)
    bring = min((option for option in after if after[option] < has), key=lambda option: option.ticks, default=None)
    if bring is not None:
        best = max(found, key=lambda one: one.rate, default=None)
        first = best is None or has >= carrying_capacity(domain) or bring.ticks <= best.option.ticks
        top = 1.0 if best is None else best.rate
        worth = top * (BEFORE if first else AFTER)
        found.append(FetchOption(bring, worth * max(1, bring.ticks), own=True))
        found += [
            FetchOption(way, worth * LEAD * max(1, way.ticks), own=True) for way in _ways(agent, domain, given, bring)
        ]
    return found


def _ways(agent: AgentId, domain: Domain, given: Facts, bring: Option) -> Iterable[Option]:
    """Yield what may have to come before bringing: who was only told of a place has to see it first."""
    goal = next((goal for goal in domain.goals(given) if goal.id == bring.goal), None)
    if goal is None:
        return
    for plan in domain.candidate_plans(goal, agent, given):
        if len(plan.actions) > 1 and plan.actions[1] == bring.action:
            first = plan.actions[0]
            if len(held_things(agent, domain.after(agent, first, given))) == len(held_things(agent, given)):
                yield Option(first, bring.goal, domain.ticks(agent, first, given))


def _looks(
    domain: Domain,
    given: Facts,
    options: Sequence[Option],
    wanted: Mapping[GoalId, int],
    has: int,
    targets: Collection[Entity],
) -> list[FetchOption]:
    """Return options that may find something that is lacking."""
    chance: dict[Entity, float] = {}
    for unknown in domain.latent_variables(given):
        of_target = any(value.fact.subject in targets for value in unknown.values)
        if (of_target and (wanted or has)) or not wanted.keys().isdisjoint(unknown.goals):
            total = sum(value.weight for value in unknown.values)
            for value in unknown.values:
                if isinstance(value.fact.value, Entity):
                    chance[value.fact.value] = chance.get(value.fact.value, 0.0) + value.weight / total
    found = []
    for option in options:
        place = option.action.args[0] if option.action.args else None
        if isinstance(place, Entity):
            told = 1.0 if option.goal in wanted else 0.0  # somebody told of a thing there
            gain = min(1.0, chance.get(place, 0.0) + told)
            if gain > 0:
                found.append(FetchOption(option, max(MIN_FINDS, gain), gain, own=has >= carrying_capacity(domain)))
    return found
