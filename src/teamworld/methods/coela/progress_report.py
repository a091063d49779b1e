"""How far the team is and what an agent knows, in words: what is delivered and held, who is where, what lies where.

The order is that of the original CoELA's progress paragraph in C-WAH.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from teamworld.language import AgentId, Entity
from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import wanted_kind


def report_progress(situation: Situation) -> str | None:
    """Return the paragraph; None in worlds without rooms to explore."""
    words, known = situation.words, situation.known
    if not words.rooms:
        return None
    subjects = dict.fromkeys(fact.subject for fact in known)
    rooms = [entity for entity in subjects if isinstance(entity, Entity) and entity.kind in words.rooms]
    here, contents = known.value(situation.me, words.at), _list_contents(situation)
    held = situation.held(situation.me)
    lines = [
        _report_delivered(situation),
        f"You hold {_join(map(str, held))}." if held else "Your hands are empty.",
    ]
    if isinstance(here, Entity):
        lines.append(f"You are in {here}, where you found {_join(contents.get(here, ()))}.")
    lines += [_report_teammate(situation, teammate) for teammate in situation.teammates]
    lines += [_report_room(situation, room, contents.get(room, [])) for room in rooms if room != here]
    return " ".join(lines)


def _report_delivered(situation: Situation) -> str:
    delivered = situation.delivered
    missing = [f"{goal.units} for {goal.id}" for goal in situation.goals.values() if goal.state == "open"]
    still = f" Still missing, what is in hands included: {', '.join(missing)}." if missing else ""
    return (
        f"Delivered: {_join(map(str, delivered))}." if delivered else "Nothing that you know of is delivered yet."
    ) + still


def _report_teammate(situation: Situation, teammate: AgentId) -> str:
    known = situation.known
    room = known.value(teammate, situation.words.at)
    intent = f" {teammate} said that it takes {situation.intents[teammate]}." if teammate in situation.intents else ""
    if room is None:
        return f"You do not know where {teammate} is.{intent}"
    seen = [known.seen[fact] for fact in known if fact.subject == teammate and fact in known.seen]
    hands = _join(map(str, situation.held(teammate)))
    if not seen:
        return f"{teammate} is in {room} and holds {hands}.{intent}"
    return f"{teammate} was last seen in {room}, at t = {max(seen)}, and held {hands}.{intent}"


def _report_room(situation: Situation, room: Entity, contents: list[str]) -> str:
    words = situation.words
    search = situation.known.value(room, words.search)
    if search == words.seen:
        return f"In {room} you found {_join(contents)}."
    state = "explored in part only" if search == words.seen_in_part else "unexplored"
    return f"{room} is {state}; you know of {_join(contents)} there." if contents else f"{room} is {state}."


def _list_contents(situation: Situation) -> Mapping[Entity, list[str]]:
    """Return what is of use in each room: where things are to go, things not delivered, containers not opened."""
    known, words = situation.known, situation.words
    kinds = [wanted_kind(goal) for goal in situation.goals.values() if goal.state == "open"]
    skipped, contents = set(situation.delivered), dict[Entity, list[tuple[int, str]]]()
    for entity in dict.fromkeys(fact.subject for fact in known):
        if not isinstance(entity, Entity) or entity.kind in words.rooms or entity in skipped:
            continue
        inside = known.value(entity, words.container)
        room = known.value(inside if isinstance(inside, Entity) else entity, words.room)
        if not isinstance(room, Entity):
            continue
        rank, text = 1, f"{entity} inside {inside}" if inside is not None else str(entity)
        if entity in situation.targets:
            rank, text = 0, f"{entity}, where things are to go"
        elif entity.kind in words.containers:
            if known.value(entity, words.access) != words.closed:
                continue
            rank, text = 2, f"{entity}, unopened"
        elif kinds and None not in kinds and entity.kind not in kinds:
            continue
        contents.setdefault(room, []).append((rank, text))
    return {room: [text for _, text in sorted(ranked, key=lambda entry: entry[0])] for room, ranked in contents.items()}


def _join(parts: Iterable[str]) -> str:
    *most, last = list(parts) or ["nothing"]
    return f"{'; '.join(most)}; and {last}" if most else last
