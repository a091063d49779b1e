"""What an agent with several hands does next: what it fetches, where it looks, and when it brings what it holds.

Such agents fetch several things before they bring them, and things that nobody has found are to be looked for. A look
is rated by its ticks over the number of things that it is expected to find, by the unknowns of the world's rules. What
a team-mate in sight is nearer to counts twice, for that one is likely to do it. An agent brings what it holds once its
hands are full, when nothing else is of use, or when that is nearer than anything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from teamworld.language import Entity, GoalId, Term
from teamworld.methods.coela.hands import kept
from teamworld.methods.coela.report import delivered
from teamworld.methods.coela.situation import Situation
from teamworld.planning.candidates import CandidateStep
from teamworld.planning.fetch import carrying_capacity, held_things, wanted_kind
from teamworld.worlds.contract import WAIT, Goal, LatentVariable, Option

#: Least number of things that a look counts as finding: where nothing is expected is the last place to be looked at.
LEAST = 0.01


def errand(now: Situation, omit: Collection[str] = ()) -> CandidateStep | None:
    """Return what to do next; None where there is nothing to do.

    Args:
        now: The agent's situation.
        omit: Verbs that it does not know of.
    """
    has = len(held_things(now.me, now.given))
    options = [option for option in now.options if option.action.verb not in omit and option.action != WAIT]
    after = {option: kept(now, option) for option in options}
    bring = min((option for option in options if after[option] < has), key=lambda option: option.ticks, default=None)
    useful = _fetching(now, [option for option in options if after[option] > has])
    within_reach = {option.goal for option in useful}
    rest = [option for option in options if after[option] == has]
    useful |= _looking(now, [option for option in rest if option.goal is None or option.goal not in within_reach])
    best = min(useful, key=lambda option: (useful[option], str(option.action)), default=None)
    if bring is not None and (best is None or has >= carrying_capacity(now.domain) or bring.ticks <= best.ticks):
        best = bring
    return None if best is None else CandidateStep(best.action, best.goal)


def lacking(now: Situation) -> Mapping[GoalId, int]:
    """Return how many things each open goal lacks that nobody is known to hold or said that it takes."""
    hands = Counter(thing.kind for agent in now.team for thing in held_things(agent, now.given))
    found = {}
    for goal in now.workable:
        taken = sum(mate_goal == goal.id for mate_goal in now.intents.values())
        found[goal.id] = goal.units - max(hands[wanted_kind(goal) or ""], taken)
    return {goal: left for goal, left in found.items() if left > 0}


def lying(now: Situation, goal: Goal) -> list[Entity]:
    """Return the things that a goal of a kind can use and that lie about, as far as the agent knows."""
    kind, done = wanted_kind(goal), set(delivered(now))
    found = dict.fromkeys(fact.subject for fact in now.given if fact.predicate in ("IN", "INSIDE"))
    return [thing for thing in found if isinstance(thing, Entity) and thing.kind == kind and thing not in done]


def _fetching(now: Situation, options: Collection[Option]) -> dict[Option, float]:
    """Return options that take up something that is lacking, with their ticks."""
    wanted = lacking(now)
    return {option: option.ticks * _rivals(now, option) for option in options if option.goal in wanted}


def _looking(now: Situation, options: Collection[Option]) -> dict[Option, float]:
    """Return options that may find something that is lacking, with the ticks for each thing that they may find."""
    wanted, rate = lacking(now), defaultdict[Entity, float](float)
    empty = not held_things(now.me, now.given)
    for unknown in now.domain.latent_variables(now.given):
        target = _is_target(now, unknown)
        if (target and not (empty and wanted)) or not wanted.keys().isdisjoint(unknown.goals):
            total = sum(value.weight for value in unknown.values)
            for value in unknown.values:
                if isinstance(value.fact.value, Entity):
                    rate[value.fact.value] += value.weight / total
    found: dict[Option, float] = {}
    for option in options:
        place: Term | None = option.action.args[0] if option.action.args else None
        if not isinstance(place, Entity):
            continue
        chance = 1.0 if option.goal in wanted else min(1.0, rate[place])  # 1: somebody told of a thing there
        if option.goal is None and now.given.value(place, "EXPLORED") == "all":
            chance *= _forgotten(now, place) if empty else 0.0
        if chance > 0:
            found[option] = option.ticks * _rivals(now, option) / max(LEAST, chance)
    return found


def _forgotten(now: Situation, place: Entity) -> float:
    """Return how long ago the agent went to a place, as a share of the episode so far: things may be there since."""
    last = (o.start for o in reversed(now.view.history) if o.status == "done" and o.action.args == (place,))
    return (now.view.t - next(last, 0)) / max(1, now.view.t)


def _is_target(now: Situation, unknown: LatentVariable) -> bool:
    targets = {goal.thing for goal in now.goals.values()}
    return any(value.fact.subject in targets for value in unknown.values)


def _rivals(now: Situation, option: Option) -> int:
    """Return 2 where a team-mate in sight is nearer to what an option is about, else 1; of equals the first is."""
    order = {agent: place for place, agent in enumerate(now.team)}
    mine = (option.ticks, order[now.me])
    there = [mate for mate in now.mates if now.view.facts.value(mate, "AT") is not None]
    near = any((now.domain.ticks(mate, option.action, now.given), order[mate]) < mine for mate in there)
    return 2 if near else 1
