"""Messages from templates: what an agent tells, and what it concludes from what it is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from teamworld.language import AgentId, Entity, Fact, GoalId, plain, plain_names
from teamworld.methods.contract import Message
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.carrying import Subgoal
from teamworld.methods.mhp.inventory import Index, Inventory
from teamworld.methods.mhp.percept import Percept

#: What telling of a thing is worth, and of a place that was looked into.
THING, PLACE = 4, 1
_SUBGOAL: Final = re.compile(r"I am going to bring (\w+)_(\d+) to ")


class Messenger:
    """What one agent has told and been told.

    Args:
        agent: Who.
        inventory: What there is.
        worth: What findings must be worth to be told.
    """

    def __init__(self, agent: AgentId, inventory: Inventory, worth: int) -> None:
        self._agent, self._inventory, self._worth = agent, inventory, worth
        self._subgoals: dict[AgentId, Subgoal] = {}
        self._announced: Subgoal | None = None
        self._held: tuple[Index, ...] = ()
        self._room: Index | None = None
        self._reported: set[Fact] = set()
        self._queue: list[Message] = []

    @property
    def served(self) -> Sequence[Subgoal]:
        """What teammates have said that they do."""
        return tuple(self._subgoals.values())

    # ---- speaking

    def next_message(self, subgoal: Subgoal | None, percept: Percept, belief: Belief) -> Message | None:
        """Return what to tell now, one message a step: a delivery, findings of the room that was left, a subgoal."""
        self._queue += self._find_news(percept, belief)
        if subgoal is not None and subgoal != self._announced and subgoal.thing >= 0:
            self._announced = subgoal
            self._queue = [message for message in self._queue if message.act != "commit"]  # an older subgoal is void
            self._queue.append(self._announce(subgoal, belief))
        return self._queue.pop(0) if self._queue else None

    def _find_news(self, percept: Percept, belief: Belief) -> Iterable[Message]:
        for demand, wanted in enumerate(self._inventory.demands):
            for thing in wanted.things:
                if thing in self._held and thing not in percept.held and belief.is_delivered(thing, demand):
                    yield self._report_delivery(thing, belief, wanted.goal)
        self._held = percept.held
        left, self._room = self._room, percept.room
        if left is not None and left != percept.room:
            yield from self._report_findings(left, belief)

    def _announce(self, subgoal: Subgoal, belief: Belief) -> Message:
        wanted, entities = self._inventory.demands[subgoal.demand], self._inventory.entities
        is_found = subgoal.thing in belief.seen
        text = f"I am going to bring {plain(entities[subgoal.thing])} to {plain(entities[wanted.target])}; I have "
        text += "found it." if is_found else "not found it yet."
        facts = tuple(self._locate(subgoal.thing, belief)) if is_found else ()
        return Message(self._agent, "commit", text, wanted.goal, facts)

    def _report_delivery(self, thing: Index, belief: Belief, goal: GoalId) -> Message:
        facts = tuple(self._locate(thing, belief))
        self._reported.update(facts)
        room = self._inventory.entities[belief.room_of(thing)]
        text = f"I have brought a thing, in {plain(room)}: {', '.join(map(plain, facts))}."
        return Message(self._agent, "inform", text, goal, facts)

    def _report_findings(self, room: Index, belief: Belief) -> Iterable[Message]:
        """Yield what was found in a room, unless that is worth too little or was told before."""
        inventory, words = self._inventory, self._inventory.words
        entities = inventory.entities
        delivered = {
            thing
            for demand, wanted in enumerate(inventory.demands)
            for thing in wanted.things
            if belief.is_delivered(thing, demand)
        }
        things = [
            fact
            for thing in inventory.things
            if thing in belief.seen and thing not in delivered and belief.room_of(thing) == room
            for fact in self._locate(thing, belief)
        ]
        known = belief.seen & belief.opened
        boxes = [box for box in inventory.containers if box in known and belief.place[box] == room]
        places = [
            Fact(entities[room], words.search, words.seen),
            *(Fact(entities[box], words.access, words.opened) for box in boxes),
        ]
        new = {fact.subject for fact in things if fact not in self._reported}
        searched = [fact for fact in places if fact not in self._reported]
        if THING * len(new) + PLACE * len(searched) < max(1, self._worth):
            return
        facts = (*things, *places, *(Fact(entities[box], words.room, entities[room]) for box in boxes))
        self._reported.update(facts)
        named = "; ".join(map(plain, things)) or "nothing that we need"
        inside = f", and looked into {', '.join(plain(entities[box]) for box in boxes)}" if boxes else ""
        text = f"In {plain(entities[room])} I have found: {named}{inside}."
        yield Message(self._agent, "inform", text, None, facts)

    def _locate(self, thing: Index, belief: Belief) -> Iterable[Fact]:
        inventory, into = self._inventory, belief.place[thing]
        words, entities = inventory.words, inventory.entities
        yield Fact(entities[thing], words.room if into in inventory.rooms else words.container, entities[into])
        if thing in belief.on:
            yield Fact(entities[thing], words.surface, entities[belief.on[thing]])

    # ---- listening

    def hear(self, messages: Iterable[Message], belief: Belief) -> None:
        """Take in what was said. What the agent sees itself in the same step counts more, and is taken in later."""
        for message in messages:
            if message.sender == self._agent:
                continue
            if message.act == "commit":
                subgoal = self._read_subgoal(message)
                if subgoal is not None:
                    self._subgoals[message.sender] = subgoal
            elif message.goal is not None:
                self._subgoals.pop(message.sender, None)
            self._accept(message.facts, belief)

    def _read_subgoal(self, message: Message) -> Subgoal | None:
        match = _SUBGOAL.match(plain_names(message.text))
        thing = self._inventory.indices.get(Entity(match[1], int(match[2]))) if match else None
        demand = None if thing is None else self._inventory.demand_of(thing)
        return None if thing is None or demand is None else Subgoal(thing, demand)

    def _accept(self, facts: Iterable[Fact], belief: Belief) -> None:
        """Take facts for true that name what there is; what is in a place that was looked into is told with it."""
        inventory, words = self._inventory, self._inventory.words
        place, on, searched = dict[Index, Index](), dict[Index, Index](), list[Index]()
        for fact in facts:
            subject = inventory.indices.get(fact.subject) if isinstance(fact.subject, Entity) else None
            value = inventory.indices.get(fact.value) if isinstance(fact.value, Entity) else None
            if subject is None:
                continue
            if value is not None:
                if fact.predicate in (words.room, words.container):
                    place[subject] = value
                elif fact.predicate == words.surface:
                    on[subject] = value
            elif (fact.predicate, fact.value) in ((words.search, words.seen), (words.access, words.opened)):
                searched.append(subject)
        hiding = (*inventory.rooms, *inventory.containers)
        for entity, into in sorted(place.items(), key=lambda pair: pair[0] in inventory.things):  # containers first
            if entity in belief.rooms and into in (hiding if entity in inventory.things else inventory.rooms):
                belief.accept(entity, into, on.get(entity))
        for where in searched:
            if where in inventory.containers:
                belief.opened.add(where)
            for thing in inventory.things:
                if place.get(thing) != where:
                    belief.rule_out(thing, where)
