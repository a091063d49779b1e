"""Messages from templates: what is told when, what is left untold, and what is made of them."""

from __future__ import annotations

from teamworld.language import Entity, Fact
from teamworld.methods.contract import Message
from teamworld.methods.mhp.belief import OPEN, Belief
from teamworld.methods.mhp.carrying import Subgoal
from teamworld.methods.mhp.messages import Messenger
from tests.methods.mhp import home as h

HOME = h.home(h.IN_FRIDGE)
KITCHEN, BEDROOM, FRIDGE, CUPBOARD, CABINET, APPLE, OTHER = h.numbers(
    HOME, h.KITCHEN, h.BEDROOM, h.FRIDGE, h.CUPBOARD, h.CABINET, h.APPLE, h.OTHER
)
HOLDING = {**h.STANDS, ("Alice", "HOLD"): h.APPLE}


def fresh() -> Belief:
    return Belief(HOME, h.rng("talk"))


def due(
    talk: Messenger, subgoal: Subgoal | None, belief: Belief, shows: object = None, room: Entity = h.KITCHEN
) -> str:
    """Return what is told; the agent looks round before."""
    seen = h.seen(HOME, shows, room=room)  # type: ignore[arg-type]
    belief.update(seen)
    message = talk.next_message(subgoal, seen, belief)
    return "" if message is None else message.text


def test_a_new_subgoal_is_told_once_and_whether_its_thing_was_found() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    text = due(talk, Subgoal(APPLE, 0), belief, h.STANDS)
    assert text == "I am going to bring apple_41 to fridge_21; I have not found it yet."
    assert due(talk, Subgoal(APPLE, 0), belief, h.STANDS) == ""
    text = due(talk, Subgoal(OTHER, 0), belief, {**h.STANDS, (h.OTHER, "IN"): h.KITCHEN})
    assert text == "I am going to bring apple_42 to fridge_21; I have found it."


def test_a_delivery_is_told_with_its_room() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    due(talk, Subgoal(APPLE, 0), belief, HOLDING)
    brought = {**h.STANDS, (h.FRIDGE, "STATE"): "open", (h.APPLE, "INSIDE"): h.FRIDGE}
    assert due(talk, None, belief, brought) == "I have brought a thing, in kitchen_11: apple_41 INSIDE fridge_21."
    assert due(talk, None, belief, brought) == ""


def test_findings_are_told_when_the_room_is_left_and_they_are_worth_it() -> None:
    found = {**h.STANDS, (h.CUPBOARD, "STATE"): "open", (h.APPLE, "INSIDE"): h.CUPBOARD}
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    assert due(talk, None, belief, found) == ""
    text = due(talk, None, belief, room=h.BEDROOM)  # a thing 4, the room 1, the cupboard 1
    assert text == ("In kitchen_11 I have found: apple_41 INSIDE kitchencabinet_22, and looked into kitchencabinet_22.")
    due(talk, None, belief, found)
    assert due(talk, None, belief, room=h.BEDROOM) == ""  # was told before
    dear, belief = Messenger("Alice", HOME, 7), fresh()
    due(dear, None, belief, found)
    assert due(dear, None, belief, room=h.BEDROOM) == ""


def test_an_empty_room_alone_is_not_worth_telling() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    due(talk, None, belief, h.STANDS)
    assert due(talk, None, belief, room=h.BEDROOM) == ""


def test_one_message_a_step_and_no_stale_subgoal() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    due(talk, Subgoal(APPLE, 0), belief, HOLDING)
    brought = {**h.STANDS, (h.FRIDGE, "STATE"): "open", (h.APPLE, "INSIDE"): h.FRIDGE}
    assert "I have brought" in due(talk, Subgoal(OTHER, 0), belief, brought)
    assert "apple_42" in due(talk, Subgoal(OTHER, 0), belief, brought)
    assert due(talk, Subgoal(OTHER, 0), belief, brought) == ""


def said(
    talk: Messenger, belief: Belief, act: str, text: str = "", facts: tuple[Fact, ...] = (), goal: str | None = None
) -> None:
    talk.hear([Message("Bob", act, text, goal, facts)], belief)  # type: ignore[arg-type]


def test_what_is_told_of_places_rules_things_out() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    facts = (
        Fact(h.APPLE, "INSIDE", h.CUPBOARD),
        Fact(h.KITCHEN, "EXPLORED", "all"),
        Fact(h.CUPBOARD, "STATE", "open"),
        Fact(h.CUPBOARD, "IN", h.KITCHEN),
    )
    said(talk, belief, "inform", facts=facts)
    assert (belief.place[APPLE], belief.place[CUPBOARD]) == (CUPBOARD, KITCHEN)
    assert belief.boxes[APPLE] == {CUPBOARD}
    assert belief.boxes[OTHER] == {OPEN, FRIDGE, CABINET}
    assert belief.rooms[OTHER] == {BEDROOM}
    assert belief.place[OTHER] not in (KITCHEN, CUPBOARD)
    assert CUPBOARD in belief.opened


def test_a_subgoal_that_is_told_is_left_to_its_speaker_until_it_is_done() -> None:
    speaker, listener, belief = Messenger("Bob", HOME, 5), Messenger("Alice", HOME, 5), fresh()
    told = speaker.next_message(Subgoal(OTHER, 0), h.seen(HOME, h.STANDS), belief)
    assert told is not None
    listener.hear([told], belief)
    assert listener.served == (Subgoal(OTHER, 0),)
    said(listener, belief, "inform", goal=HOME.demands[0].goal)
    assert not listener.served


def test_words_and_facts_that_name_nothing_stop_nothing() -> None:
    talk, belief = Messenger("Alice", HOME, 5), fresh()
    before = dict(belief.place)
    sofa = Entity("sofa", 99)
    said(talk, belief, "commit", "I am going to bring sofa_99 to fridge_21; I have found it.")
    said(talk, belief, "commit", "I am going to bring the thing to fridge_21")
    facts = (Fact(sofa, "IN", h.KITCHEN), Fact(h.APPLE, "IN", sofa), Fact(h.KITCHEN, "IN", h.BEDROOM))
    said(talk, belief, "inform", facts=(*facts, Fact(h.FRIDGE, "INSIDE", h.CABINET), Fact(h.APPLE, "INSIDE", h.OTHER)))
    assert talk.served == ()
    assert belief.place == before
    talk.hear([Message("Alice", "inform", "echo", facts=(Fact(h.APPLE, "IN", h.BEDROOM),))], belief)
    assert belief.place == before
