"""How far the team is and what an agent knows, in words: what is delivered and held, who is where, what lies where.

The order is that of the original CoELA's progress paragraph in C-WAH.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from teamworld.language import AgentId, Entity, plain
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.planning.fetch import wanted_kind
from teamworld.reasoning.prompts import plural


def report_progress(me: DialogueKnowledge) -> str | None:
    """Return the paragraph; None in worlds without rooms to explore."""
    words, known = me.words, me.known
    if not words.rooms:
        return None
    subjects = dict.fromkeys(fact.subject for fact in known)
    rooms = [entity for entity in subjects if isinstance(entity, Entity) and entity.kind in words.rooms]
    here, contents = known.value(me.agent, words.at), _list_contents(me)
    held = me.held(me.agent)
    lines = [
        _report_delivered(me),
        f"You hold {_join(map(plain, held))}." if held else "Your hands are empty.",
    ]
    if isinstance(here, Entity):
        in_sight = _join(contents.get(here, ()))
        lines.append(f"You are in {plain(here)}{_tell_share(me, here)}, where you found {in_sight}.")
    lines += [_report_teammate(me, teammate) for teammate in me.teammates]
    lines += [_report_room(me, room, contents.get(room, [])) for room in rooms if room != here]
    return " ".join(lines)


def count_done(me: DialogueKnowledge) -> str:
    """Return one sentence on how far the team is, as far as the agent knows."""
    states = [goal.state for goal in me.all_goals.values()]
    lost = f", {states.count('lost')} lost" if "lost" in states else ""
    return f"Of {plural(len(states), 'task')} that you know of, {states.count('done')} done{lost}."


def _report_delivered(me: DialogueKnowledge) -> str:
    delivered = me.delivered
    return f"Delivered: {_join(map(plain, delivered))}." if delivered else "Nothing that you know of is delivered yet."


def _report_teammate(me: DialogueKnowledge, teammate: AgentId) -> str:
    known = me.known
    facts = [fact for fact in known if fact.subject == teammate]
    if not facts:
        return f"You have not seen {teammate} yet."
    seen = [known.seen[fact] for fact in facts if fact in known.seen]
    room, hands = known.value(teammate, me.words.at), _join(map(plain, me.held(teammate)))
    where = f" in {plain(room)}" if room is not None else ""
    if not seen:
        return f"{teammate} is{where or ' in sight'} and holds {hands}."
    return f"You last knew of {teammate}{where} at step {max(seen)}; it held {hands}."


def _report_room(me: DialogueKnowledge, room: Entity, contents: list[str]) -> str:
    words, name = me.words, plain(room)
    own = me.view.known.value(room, words.search)
    if own == words.seen:
        return f"In {name} you found {_join(contents)}."
    state = f"{name} is {'explored in part only' if own == words.seen_in_part else 'unexplored'}"
    if me.known.value(room, words.search) == words.seen:
        state = f"{name} is explored, as a teammate said"
    state += _tell_share(me, room)
    return f"{state}; you know of {_join(contents)} there." if contents else f"{state}."


def _tell_share(me: DialogueKnowledge, room: Entity) -> str:
    """Return how much of a room was seen, where a map tells that."""
    shares = (me.known.value(room, predicate) for predicate in sorted(me.words.mapped))
    return next((f", {share} % seen" for share in shares if isinstance(share, int)), "")


def _list_contents(me: DialogueKnowledge) -> Mapping[Entity, list[str]]:
    """Return what is of use in each room: where things are to go, things not delivered, containers."""
    known, words = me.known, me.words
    kinds = [wanted_kind(goal) for goal in me.all_goals.values() if goal.state == "open"]
    skipped, contents = set(me.delivered), dict[Entity, list[tuple[int, str]]]()
    seen = {fact.subject for fact in me.view.known}
    for entity in dict.fromkeys(fact.subject for fact in known):
        if not isinstance(entity, Entity) or entity.kind in words.rooms or entity in skipped:
            continue
        inside = known.value(entity, words.container)
        room = known.value(inside if isinstance(inside, Entity) else entity, words.room)
        if not isinstance(room, Entity):
            continue
        rank, text = 1, plain(f"{entity} inside {inside}" if inside is not None else entity)
        if entity in me.targets:
            spot = known.value(entity, words.position)
            at = f" at {plain(spot)}" if spot is not None else ""
            rank, text = 0, f"{plain(entity)}{at}, where things are to go"
        elif entity.kind in words.containers:
            access = known.value(entity, words.access)
            if access is None:
                continue
            rank, text = 2 if access == words.closed else 3, plain(entity)
        elif kinds and None not in kinds and entity.kind not in kinds:
            continue
        contents.setdefault(room, []).append((rank, text if entity in seen else f"{text} (told of it)"))
    return {room: list(_list_room(ranked)) for room, ranked in contents.items()}


def _list_room(ranked: list[tuple[int, str]]) -> Iterable[str]:
    """Yield what is of use in a room; unopened containers are one entry, and so are those that are open."""
    for wanted in (0, 1):
        yield from (text for rank, text in ranked if rank == wanted)
    if unopened := [text for rank, text in ranked if rank == 2]:
        yield f"unopened {', '.join(unopened)}"
    if opened := [text for rank, text in ranked if rank == 3]:
        yield f"nothing else of use in {', '.join(f'{name} (open)' for name in opened)}"


def _join(parts: Iterable[str]) -> str:
    *most, last = list(parts) or ["nothing"]
    return f"{'; '.join(most)} and {last}" if most else last
