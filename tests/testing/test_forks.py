"""Null forks and handed-over agents of every method and of every world, in half of the pairs.

Forks know neither methods nor worlds, so that a pair shows little that its neighbours do not. All pairs are played, on
more levels, by ``python -m teamworld.testing.forks``; TEAMWORLD_NULL_FORKS=1000 does so as a test.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from teamworld.experiment.fork import ForkPlayer
from teamworld.experiment.fork_spec import ForkChange
from teamworld.testing import forks
from teamworld.testing.episodes import Scenario
from teamworld.testing.forks import check_forks, check_hand_overs
from teamworld.testing.matrix import method_labels, scenarios

#: Steps of an episode, and the one level of each world that is played.
STEPS = 8
PLACES = {place.world: place for place in reversed(scenarios(horizon=STEPS)) if place.level != "full_game"}
LABELS = [label for label in method_labels() if ":" not in label]
#: By turns: each method in every second world, each world with every second method.
PAIRS = [(label, world) for i, label in enumerate(LABELS) for j, world in enumerate(sorted(PLACES)) if (i + j) % 2 == 0]
SMALL = Scenario("rooms", "two", 0, 12)


@pytest.mark.heavy
@pytest.mark.parametrize(("label", "world"), PAIRS)
def test_null_forks_are_the_same_and_hand_overs_come_to_their_end(label: str, world: str) -> None:
    place = PLACES[world]
    nulls, handed = check_forks(label, place), check_hand_overs(label, place)
    assert (*nulls.failures, *handed.failures) == ()
    least = 1 if label == "do_nothing" else 2  # of its own it has nothing that could be put in its place
    assert (nulls.played >= least, handed.played) in ((True, 2), (False, 0))


@pytest.mark.skipif("TEAMWORLD_NULL_FORKS" not in os.environ, reason="long: TEAMWORLD_NULL_FORKS says how many")
def test_as_many_null_forks_as_wanted() -> None:
    assert forks.main(["--forks", os.environ["TEAMWORLD_NULL_FORKS"]]) == 0


def test_a_fork_that_changes_something_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(player: ForkPlayer, changes: Sequence[ForkChange]) -> Any:  # noqa: ANN401
        agent: Mapping[str, object] = {"agents": ["agent_1"], "method": "do_nothing"}
        return play(player, (*changes, ForkChange.model_validate({"step": 1, "hand_over": agent})))

    play = ForkPlayer.play
    monkeypatch.setattr(ForkPlayer, "play", broken)
    failures = check_forks("drwell", SMALL).failures
    assert len(failures) > 1
    assert failures[0] == "drwell in rooms two seed 0: no change: another log"
