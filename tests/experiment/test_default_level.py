"""A run without a level is played on the world's own default."""

from __future__ import annotations

import pytest

from teamworld.errors import UserError
from teamworld.experiment.spec import build


def test_each_world_has_a_level_of_its_own() -> None:
    assert build({}).level == "paper-n2"
    assert build({"world": "rooms"}).level == "two"
    assert build({"world": "rooms", "level": None}).level == "two"
    assert build({"world": "rooms", "level": "one"}).level == "one"


def test_an_unknown_world_is_still_refused_in_its_own_words() -> None:
    with pytest.raises(UserError, match="there is no world 'roms'; did you mean 'rooms'"):
        build({"world": "roms"}).resolved()
    with pytest.raises(UserError, match="world"):
        build({"world": 3})
