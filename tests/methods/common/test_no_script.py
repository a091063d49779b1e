"""No rule of a method that decides on single actions calls the world's scripted team."""

from __future__ import annotations

import pytest

from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.rooms.domain import RoomsDomain

STAGE = Scenario("rooms", "two-hazard", 0, 30)


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["camon", "hmas2", "embodied"])
def test_no_rule_calls_the_scripted_team(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a rule called the scripted team")

    monkeypatch.setattr(RoomsDomain, "plan_scripted_team", refuse)
    play(label, STAGE, {})
    with pytest.raises(AssertionError, match="scripted team"):
        play("greedy", STAGE, {})
