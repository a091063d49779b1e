"""Warnings: a team-mate is in danger where it is and cannot know it (CoBel-World spec B2, check D13).

Worlds that can harm agents say so (``contract.danger``). A warning saves more than any message costs, so it is sent
whatever the agent's own cap says; the rule of messages of the run holds for it as for every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from teamworld.language import AgentId, Fact, Facts
from teamworld.methods.cobel.engine import Assessment, Misaligned, Situation
from teamworld.methods.cobel.store import LIKELY
from teamworld.worlds.contract import danger

#: Ticks ahead in which a danger is worth a warning: time to hear of it and to leave.
AHEAD: Final = 30
#: Ticks that are lost with an agent that is lost: more than any message costs.
LOST: Final = 1000.0


def warnings(now: Situation) -> Assessment:
    """Return whom the agent has to warn, and by which facts; no clash where nobody is to be warned."""
    found = [one for mate in now.mates if (one := _warning(now, mate)) is not None]
    reasons = tuple(f"{one.mate} is in danger and does not know it" for one in found)
    if not found:
        return Assessment(False)
    gain = sum(one.gain for one in found)
    return Assessment(True, "knowledge", gain, reasons[:3], tuple(found), plan=False)  # nothing takes the facts' place


def _warning(now: Situation, mate: AgentId) -> Misaligned | None:
    held = now.minds[mate]
    if held is now.given:
        return None
    true, known = danger(now.domain, mate, AHEAD, now.given), danger(now.domain, mate, AHEAD, held)
    if true <= known:
        return None
    facts = [fact for fact in now.given if fact not in held and _newer(now, mate, fact)]
    told = _fewest(now, mate, facts, known)
    return Misaligned(mate, told, LOST * (true - known)) if told else None


def _newer(now: Situation, mate: AgentId, fact: Fact) -> bool:
    """Return whether what the agent knows of a fact's subject is newer than what the team-mate knows of it.

    What the team-mate probably sees for itself, it knows now.
    """
    if isinstance(fact.subject, str) or not now.schema.statable(fact):
        return False
    if now.domain.observation_probability(fact, mate, now.given) >= LIKELY:
        return False
    return now.given.seen.get(fact, now.view.t) > _date(now.minds[mate], fact, now.view.t)


def _date(held: Facts, fact: Fact, t: int) -> int:
    """Return the tick of the newest information on a fact's subject; before the first where there is none."""
    return max((held.seen.get(one, t) for one in held if one.subject == fact.subject), default=-1)


def _fewest(now: Situation, mate: AgentId, facts: Sequence[Fact], known: float) -> tuple[Fact, ...]:
    """Return few facts by which a team-mate learns of its danger: halves of them while one will do."""
    best = _learns(now, mate, facts)
    if best <= known:
        return ()
    while len(facts) > 1:
        middle = len(facts) // 2
        part = next((half for half in (facts[:middle], facts[middle:]) if _learns(now, mate, half) >= best), None)
        if part is None:
            break
        facts = part
    return tuple(facts)


def _learns(now: Situation, mate: AgentId, facts: Iterable[Fact]) -> float:
    """Return the danger that a team-mate knows of once it is told some facts."""
    new, held = tuple(facts), now.minds[mate]
    gone = set(now.schema.displaced(held, new))
    return danger(now.domain, mate, AHEAD, Facts((*(fact for fact in held if fact not in gone), *new), held.seen))
