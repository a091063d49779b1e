"""What parameters may be, as a prompt tells it: each list once."""

from __future__ import annotations

from teamworld.language import plain
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WAIT, Outcome


def test_a_list_within_a_list_is_told_by_its_name() -> None:
    world = worlds.make("household", "dev-tea", 0, 50, {})
    me = AgentKnowledge(world.view("Alice"), world.domain, world.spec.public)
    rooms = [*map(plain, me.values["room"])]
    assert len(rooms) > 1
    place = [plain(value) if not isinstance(value, str) else value for value in me.values["place"]]
    assert place[0] == "each room"
    assert not set(rooms) & set(place)


def test_a_failure_is_told_by_its_explanation() -> None:
    assert Outcome(WAIT, "failed", "held: apple_152 is in Bob's hands").ending == "failed, apple_152 is in Bob's hands"
    assert Outcome(WAIT, "failed", "stuck").ending == "failed, stuck"
