"""Messages from templates: what an agent tells, and what it makes of what it is told (household spec A13)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from teamworld.language import AgentId, Entity, Fact
from teamworld.methods.contract import Message
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.model import Subgoal
from teamworld.methods.mhp.sight import Sight
from teamworld.methods.mhp.stock import Need, Number, Stock

#: What telling of a thing is worth, and of a place that was looked into.
THING, PLACE = 4, 1
_GOING: Final = re.compile(r"I am going to bring <(\w+)>\((\d+)\) to ")


class Talk:
    """What one agent has told and been told.

    Args:
        agent: Who.
        stock: What there is.
        worth: What findings must be worth to be told.
    """

    def __init__(self, agent: AgentId, stock: Stock, worth: int) -> None:
        self._agent, self._stock, self._worth = agent, stock, worth
        self._mates: dict[AgentId, Subgoal] = {}
        self._announced: Subgoal | None = None
        self._held: tuple[Number, ...] = ()
        self._room: Number | None = None
        self._told: set[Fact] = set()
        self._due: list[Message] = []

    @property
    def served(self) -> Sequence[Subgoal]:
        """What team-mates have said that they do."""
        return tuple(self._mates.values())

    # ---- speaking

    def due(self, subgoal: Subgoal | None, seen: Sight, belief: Belief) -> Message | None:
        """Return what to tell now, one message a step: a delivery, findings of the room that was left, a subgoal."""
        self._due += [message for message in self._news(seen, belief) if message is not None]
        if subgoal is not None and subgoal != self._announced and subgoal.thing >= 0:
            self._announced = subgoal
            self._due = [one for one in self._due if one.act != "commit"]  # an older subgoal is of no use any more
            self._due.append(self._going(subgoal, belief))
        return self._due.pop(0) if self._due else None

    def _news(self, seen: Sight, belief: Belief) -> Iterable[Message | None]:
        for need in self._stock.needs:
            for thing in need.things:
                if thing in self._held and thing not in seen.hands and _there(thing, need, belief):
                    yield self._delivered(thing, belief, need.goal)
        self._held = seen.hands
        left, self._room = self._room, seen.room
        if left is not None and left != seen.room:
            yield self._findings(left, belief)

    def _going(self, subgoal: Subgoal, belief: Belief) -> Message:
        need, entities = self._stock.needs[subgoal.need], self._stock.entities
        found = subgoal.thing in belief.seen
        text = f"I am going to bring {entities[subgoal.thing]} to {entities[need.target]}; I have "
        text += "found it." if found else "not found it yet."
        facts = tuple(self._facts(subgoal.thing, belief)) if found else ()
        return Message(self._agent, "commit", text, need.goal, facts)

    def _delivered(self, thing: Number, belief: Belief, goal: str) -> Message:
        facts = tuple(self._facts(thing, belief))
        self._told.update(facts)
        where = ", ".join(map(str, facts))
        room = self._stock.entities[belief.room_of(thing)]
        return Message(self._agent, "inform", f"I have brought a thing, in {room}: {where}.", goal, facts)

    def _findings(self, room: Number, belief: Belief) -> Message | None:
        """Return what was found in a room, unless that is worth too little or was told before."""
        entities = self._stock.entities
        done = {thing for need in self._stock.needs for thing in need.things if _there(thing, need, belief)}
        things = [
            fact
            for thing in self._stock.things
            if thing in belief.seen and thing not in done and belief.room_of(thing) == room
            for fact in self._facts(thing, belief)
        ]
        boxes = [
            one for one in self._stock.containers if one in belief.seen & belief.opened and belief.place[one] == room
        ]
        places = [Fact(entities[room], "EXPLORED", "all"), *(Fact(entities[box], "STATE", "open") for box in boxes)]
        new = [fact for fact in things if fact not in self._told]
        looked = [fact for fact in places if fact not in self._told]
        if THING * len({fact.subject for fact in new}) + PLACE * len(looked) < max(1, self._worth):
            return None
        stand = (Fact(entities[box], "IN", entities[room]) for box in boxes)
        facts = (*things, *places, *stand)
        self._told.update(facts)
        named = "; ".join(map(str, things)) or "nothing that we need"
        inside = f", and looked into {', '.join(str(entities[box]) for box in boxes)}" if boxes else ""
        return Message(self._agent, "inform", f"In {entities[room]} I have found: {named}{inside}.", None, facts)

    def _facts(self, thing: Number, belief: Belief) -> Iterable[Fact]:
        entities, into = self._stock.entities, belief.place[thing]
        yield Fact(entities[thing], "IN" if into in self._stock.rooms else "INSIDE", entities[into])
        if thing in belief.on:
            yield Fact(entities[thing], "ON", entities[belief.on[thing]])

    # ---- listening

    def hear(self, messages: Iterable[Message], belief: Belief) -> None:
        """Take in what was said. What the agent sees itself in the same step counts more, and is taken in later."""
        for message in messages:
            if message.sender == self._agent:
                continue
            if message.act == "commit":
                subgoal = self._read(message)
                if subgoal is not None:
                    self._mates[message.sender] = subgoal
            elif message.goal is not None:
                self._mates.pop(message.sender, None)
            self._believe(message.facts, belief)

    def _read(self, message: Message) -> Subgoal | None:
        match = _GOING.match(message.text)
        thing = self._stock.numbers.get(Entity(match[1], int(match[2]))) if match else None
        if thing is None:
            return None
        return next(
            (Subgoal(thing, number) for number, one in enumerate(self._stock.needs) if thing in one.things), None
        )

    def _believe(self, facts: Iterable[Fact], belief: Belief) -> None:
        """Take facts for true that name what there is; what is in a place that was looked into is told with it."""
        numbers, place, on = self._stock.numbers, dict[Number, Number](), dict[Number, Number]()
        looked: list[Number] = []
        for fact in facts:
            if not isinstance(fact.subject, Entity) or fact.subject not in numbers:
                continue
            one = numbers[fact.subject]
            if isinstance(fact.value, Entity) and fact.value in numbers:
                if fact.predicate in ("IN", "INSIDE"):
                    place[one] = numbers[fact.value]
                elif fact.predicate == "ON":
                    on[one] = numbers[fact.value]
            elif (fact.predicate, fact.value) in (("EXPLORED", "all"), ("STATE", "open")):
                looked.append(one)
        rooms, hiding = self._stock.rooms, (*self._stock.rooms, *self._stock.containers)
        for one, into in sorted(place.items(), key=lambda pair: pair[0] in self._stock.things):  # containers first
            if one in belief.rooms and into in (rooms if one not in self._stock.things else hiding):
                belief.tell(one, into, on.get(one))
        for where in looked:
            if where in self._stock.containers:
                belief.opened.add(where)
            for thing in self._stock.things:
                if place.get(thing) != where:
                    belief.rule_out(thing, where)


def _there(thing: Number, need: Need, belief: Belief) -> bool:
    """Return whether a thing is where it is wanted."""
    return (belief.place if need.how == "INSIDE" else belief.on).get(thing) == need.target
