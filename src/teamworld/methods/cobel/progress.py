"""A host's tables as a paragraph: what an agent holds of the world, or what it believes that a team-mate holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from teamworld.language import AgentId, Entity, Fact, Facts, show
from teamworld.methods.cobel.engine import Situation
from teamworld.worlds.contract import LatentVariable

#: Things that a paragraph tells of, at most: those that matter to goals first.
MOST = 40
#: Facts that say more exactly what others say: where something is to the centimetre, what one stands beside.
_LEFT_OUT = frozenset({"POSITION", "NEAR", "UNSEEN", "SIDE"})


def progress(now: Situation, host: AgentId) -> tuple[str, ...]:
    """Return the paragraph of a host in lines; of a team-mate in its first person (CoBel-World spec A5).

    Args:
        now: The situation of the agent that thinks so.
        host: The agent itself, or a team-mate.
    """
    given = now.given if host == now.me else now.minds[host]
    about: dict[Entity | str, list[Fact]] = {}
    for fact in given:
        if fact.predicate not in _LEFT_OUT:
            about.setdefault(fact.subject, []).append(fact)
    lines = [f"I am {host}. {_listed(about.pop(host, []), given, now.view.t) or 'Nothing is known of where I am.'}"]
    for mate in now.team:
        if mate != host:
            told = _listed(about.pop(mate, []), given, now.view.t)
            lines.append(f"{mate}: {told or 'not seen.'}")
    open_to = now.unknowns if host == now.me else now.domain.latent_variables(given)
    order = sorted((one for one in about if isinstance(one, Entity)), key=lambda one: _rank(one, now, open_to))
    lines += [f"{subject}: {_listed(about[subject], given, now.view.t)}" for subject in order[:MOST]]
    if len(order) > MOST:
        lines.append(f"And {len(order) - MOST} more.")
    lines += [f"Not known: {_open(unknown)}." for unknown in open_to]
    return tuple(lines)


def _rank(subject: Entity, now: Situation, open_to: Iterable[LatentVariable]) -> tuple[bool, bool, int]:
    wanted = any(goal.thing == subject for goal in now.goals.values())
    kinds = {
        value.fact.subject.kind for one in open_to for value in one.values if isinstance(value.fact.subject, Entity)
    }
    return not wanted, subject.kind not in kinds, subject.id


def _listed(facts: Iterable[Fact], given: Facts, t: int) -> str:
    """Return the facts about one subject, with how old they are where they are not of now (C16)."""
    seen: Mapping[Fact, int] = given.seen
    words = [f"{fact.predicate} {show(fact.value)}" for fact in facts]
    ages = [t - seen[fact] for fact in facts if fact in seen]
    age = f" ({max(ages)} steps ago)" if ages and max(ages) > 0 else ""
    return f"{', '.join(words)}{age}." if words else ""


def _open(unknown: LatentVariable) -> str:
    values = ", ".join(f"{value.fact.predicate} {show(value.fact.value)}" for value in unknown.values[:12])
    return f"{unknown.name}; it may be {values}"
