"""Plan what an agent fetches, where it looks and what it brings, over the predicates that the world declares.

Agents with several hands fetch several things before they bring them, and look for what nobody has found. The worth of
an option is the number of things that it is expected to get hold of, or to find, over its steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import WAIT, Domain, Goal, Option

#: How worlds write that an agent has something in its hands.
HOLD = "HOLD"
#: Least number of things that a look counts as finding: where nothing is expected is looked at last.
MIN_FINDS = 0.01
#: Factors by which bringing comes before, or after, the best of the rest.
BEFORE, AFTER = 2.0, 0.5
#: Factor of the way to a place: it is taken only where bringing cannot start.
LEAD = 0.99


class FetchOption(NamedTuple):
    """An option, and the things that it is expected to get."""

    option: Option
    gain: float
    chance: float = 1.0
    """How likely it comes to something."""
    own: bool = False
    """Nobody else can do it for the agent: it is for what it carries."""
    finds: float | None = None
    """Of a look around: how many of the missing things are expected to be there; one is all that counts of them."""

    @property
    def rate(self) -> float:
        """Things a step."""
        return self.gain / max(1, self.option.steps)


# ---- what is held, wanted and missing


def carrying_capacity(domain: Domain) -> int:
    """Return how many things an agent can hold at a time; 0 in worlds without things to hold."""
    return Vocabulary(domain.relations).hands


def held_things(agent: AgentId, facts: Facts, predicate: str) -> tuple[Entity, ...]:
    """Return what an agent holds, as far as is known.

    Args:
        agent: Who.
        facts: What is known.
        predicate: How the world writes that an agent holds a thing, ``Vocabulary.held``.
    """
    held = (fact.value for fact in facts.about(predicate) if fact.subject == agent)
    return tuple(thing for thing in held if isinstance(thing, Entity))


def wanted_kind(goal: Goal) -> str | None:
    """Return the kind of things that a goal wants any of; None where it is about one thing, or none."""
    return dict(goal.features).get("thing")


def goal_fact(goal: Goal, thing: Entity) -> Fact | None:
    """Return what is so once a thing is where a goal wants it; None where the goal wants nothing brought."""
    relation = dict(goal.features).get("relation")
    return Fact(thing, relation, goal.thing) if relation and goal.thing is not None else None


def missing_things(
    goals: Iterable[Goal], facts: Facts, taken: Mapping[GoalId, int], predicate: str = HOLD
) -> dict[GoalId, int]:
    """Return how many things each open goal lacks that nobody holds, as far as is known.

    Args:
        goals: Goals that wait for no other.
        facts: What is known.
        taken: Things for each goal that teammates said that they take.
        predicate: How the world writes that an agent holds a thing.
    """
    hands = Counter(fact.value.kind for fact in facts.about(predicate) if isinstance(fact.value, Entity))
    left = {goal.id: goal.units - max(hands[wanted_kind(goal) or ""], taken.get(goal.id, 0)) for goal in goals}
    return {goal: units for goal, units in left.items() if units > 0}


def find_chances(
    domain: Domain, facts: Facts, goals: Collection[GoalId], targets: Collection[Entity]
) -> dict[Entity, float]:
    """Return for each place how many things that matter are expected to be found there.

    Args:
        domain: The rules of the world.
        facts: What is known.
        goals: Latent variables that matter to these goals count.
        targets: So do those that are about these entities.
    """
    chances: dict[Entity, float] = {}
    for latent in () if domain.beliefs is None else domain.beliefs.latent_variables(facts):
        about_target = any(value.fact.subject in targets for value in latent.values)
        if about_target or any(goal in goals for goal in latent.goals):
            total = fsum(value.weight for value in latent.values)
            for value in latent.values:
                if isinstance(value.fact.value, Entity):
                    place = value.fact.value
                    chances[place] = chances.get(place, 0.0) + value.weight / total
    return chances


# ---- what an agent could do next


def fetch_options(
    agent: AgentId,
    domain: Domain,
    facts: Facts,
    options: Collection[Option],
    wanted: Mapping[GoalId, int],
    targets: Collection[Entity],
) -> list[FetchOption]:
    """Return what an agent could do next with what it is expected to get.

    Args:
        agent: Who.
        domain: The rules of its world.
        facts: What is believed.
        options: What it could do.
        wanted: Things that goals lack, see ``missing_things``.
        targets: Where goals want things to be.
    """
    words = Vocabulary(domain.relations)
    has = len(held_things(agent, facts, words.held))
    after = {option: has for option in options if option.action != WAIT}
    for option in after:
        if option.goal is not None:
            after[option] = len(held_things(agent, domain.predict(agent, option.action, facts), words.held))
    useful = [FetchOption(option, 1.0) for option in after if after[option] > has and option.goal in wanted]
    in_reach = {candidate.option.goal for candidate in useful}
    rest = [option for option in after if after[option] == has and (option.goal is None or option.goal not in in_reach)]
    chances = find_chances(domain, facts, wanted, targets if wanted or has else ())
    useful += _looks(rest, wanted, chances, full=has >= words.hands)
    bring = min((option for option in after if after[option] < has), key=lambda option: option.steps, default=None)
    if bring is not None:
        best = max(useful, key=lambda candidate: candidate.rate, default=None)
        first = best is None or has >= words.hands or bring.steps <= best.option.steps
        worth = (1.0 if best is None else best.rate) * (BEFORE if first else AFTER)
        useful.append(FetchOption(bring, worth * max(1, bring.steps), own=True))
        approaches = _approaches(agent, domain, facts, bring, words.held)
        useful += [FetchOption(way, worth * LEAD * max(1, way.steps), own=True) for way in approaches]
    return useful


def _approaches(agent: AgentId, domain: Domain, facts: Facts, bring: Option, predicate: str) -> Iterable[Option]:
    """Yield what may have to come before bringing: an agent that was only told of a place has to see it first."""
    goal = next((goal for goal in domain.goals(facts) if goal.id == bring.goal), None)
    if goal is None:
        return
    has = len(held_things(agent, facts, predicate))
    for plan in domain.candidate_plans(goal, agent, facts):
        if len(plan.actions) > 1 and plan.actions[1] == bring.action:
            first = plan.actions[0]
            if len(held_things(agent, domain.predict(agent, first, facts), predicate)) == has:
                yield Option(first, bring.goal, domain.estimate_steps(agent, first, facts))


def _looks(
    options: Sequence[Option], wanted: Mapping[GoalId, int], chances: Mapping[Entity, float], *, full: bool
) -> list[FetchOption]:
    """Return options that may find something that is missing."""
    looks = []
    for option in options:
        place = option.action.args[0] if option.action.args else None
        if isinstance(place, Entity):
            reported = 1.0 if option.goal in wanted else 0.0  # somebody told of a thing there
            finds = chances.get(place, 0.0) + reported
            if finds > 0:
                looks.append(FetchOption(option, max(MIN_FINDS, min(1.0, finds)), min(1.0, finds), full, finds))
    return looks
