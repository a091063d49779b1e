"""How far the team is and what an agent knows, in words: what is delivered and held, who is where, what lies where.

The order is that of the original CoELA's progress paragraph (C-WAH spec A14). Which things are rooms, and which are
containers, the relations of the world tell: rooms can be EXPLORED, things are INSIDE containers.
"""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.language import AgentId, Entity
from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import held_things
from teamworld.worlds.contract import Domain


def rooms_of(domain: Domain) -> frozenset[str]:
    """Return the kinds of entities that can be explored."""
    return frozenset(one.subject for one in domain.relations if one.predicate == "EXPLORED")


def containers_of(domain: Domain) -> frozenset[str]:
    """Return the kinds of entities that things can be inside of."""
    return frozenset(kind for one in domain.relations if one.predicate == "INSIDE" for kind in one.values)


def delivered(now: Situation) -> list[Entity]:
    """Return the things that the agent knows to be where a goal wants them."""
    found: dict[Entity, None] = {}
    for goal in now.goals.values():
        kind = dict(goal.features).get("thing")
        for fact in now.given:
            there = fact.predicate in ("ON", "INSIDE") and fact.value == goal.thing
            if there and isinstance(fact.subject, Entity) and kind in (None, fact.subject.kind):
                found[fact.subject] = None
    return list(found)


def report(now: Situation) -> str | None:
    """Return the paragraph; None in worlds without rooms to explore."""
    kinds = rooms_of(now.domain)
    if not kinds:
        return None
    subjects = dict.fromkeys(fact.subject for fact in now.given)
    rooms = [one for one in subjects if isinstance(one, Entity) and one.kind in kinds]
    here, there = now.given.value(now.me, "AT"), _contents(now)
    lines = [_delivered(now), _hands(now)]
    if isinstance(here, Entity):
        lines.append(f"You are in {here}, where you found {_listed(there.get(here, ()))}.")
    lines += [_mate(now, mate) for mate in now.mates]
    lines += [_room(now, room, there.get(room, [])) for room in rooms if room != here]
    return " ".join(lines)


def _delivered(now: Situation) -> str:
    done = delivered(now)
    missing = [f"{goal.units} for {goal.id}" for goal in now.goals.values() if goal.state == "open"]
    still = f" Still missing, what is in hands included: {', '.join(missing)}." if missing else ""
    return (f"Delivered: {_listed(map(str, done))}." if done else "Nothing that you know of is delivered yet.") + still


def _hands(now: Situation) -> str:
    mine = held_things(now.me, now.given)
    return f"You hold {_listed(map(str, mine))}." if mine else "Your hands are empty."


def _mate(now: Situation, mate: AgentId) -> str:
    room, things = now.given.value(mate, "AT"), held_things(mate, now.given)
    says = f" {mate} said that it takes {now.intents[mate]}." if mate in now.intents else ""
    if room is None:
        return f"You do not know where {mate} is.{says}"
    seen = [now.given.seen[fact] for fact in now.given if fact.subject == mate and fact in now.given.seen]
    hands = _listed(map(str, things))
    if not seen:
        return f"{mate} is in {room} and holds {hands}.{says}"
    return f"{mate} was last seen in {room}, at t = {max(seen)}, and held {hands}.{says}"


def _room(now: Situation, room: Entity, there: list[str]) -> str:
    state = now.given.value(room, "EXPLORED")
    if state == "all":
        return f"In {room} you found {_listed(there)}."
    what = "explored in part only" if state == "part" else "unexplored"
    return f"{room} is {what}; you know of {_listed(there)} there." if there else f"{room} is {what}."


def _contents(now: Situation) -> dict[Entity, list[str]]:
    """Return what is of use in each room: where things are to go, things not delivered, containers not opened."""
    given, containers, rooms = now.given, containers_of(now.domain), rooms_of(now.domain)
    targets = {goal.thing for goal in now.goals.values() if goal.thing is not None}
    kinds = [dict(goal.features).get("thing") for goal in now.goals.values() if goal.state == "open"]
    done, found = set(delivered(now)), dict[Entity, list[tuple[int, str]]]()
    for entity in dict.fromkeys(fact.subject for fact in given):
        if not isinstance(entity, Entity) or entity.kind in rooms or entity in done:
            continue
        inside = given.value(entity, "INSIDE")
        room = given.value(inside if isinstance(inside, Entity) else entity, "IN")
        if not isinstance(room, Entity):
            continue
        rank, text = 1, f"{entity} inside {inside}" if inside is not None else str(entity)
        if entity in targets:
            rank, text = 0, f"{entity}, where things are to go"
        elif entity.kind in containers:
            if given.value(entity, "STATE") != "closed":
                continue
            rank, text = 2, f"{entity}, unopened"
        elif kinds and None not in kinds and entity.kind not in kinds:
            continue
        found.setdefault(room, []).append((rank, text))
    return {room: [text for _, text in sorted(some, key=lambda one: one[0])] for room, some in found.items()}


def _listed(what: Iterable[str]) -> str:
    *most, last = list(what) or ["nothing"]
    return f"{'; '.join(most)}; and {last}" if most else last
