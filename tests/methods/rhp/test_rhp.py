"""RHP: what it chooses, and whole episodes of transport."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import teamworld
from teamworld.errors import UserError
from teamworld.language import Action, Entity
from teamworld.methods.rhp.method import choose
from teamworld.methods.rhp.options import RhpOptions
from teamworld.record import StepDone, read_log
from teamworld.seeding import generator
from teamworld.worlds.contract import Haul
from teamworld.worlds.transport.world import make

RULES = make("dev-0", 0, 3000, {}).domain.hauling
APPLE, PEAR, BOWL, TRAY = Entity("apple", 1), Entity("pear", 2), Entity("bowl", 3), Entity("tea_tray", 4)
NOTHING = Haul((), None, 0, 2, (), (), (), knows_place=False, is_enough=False)
IN_HANDS = NOTHING._replace(held=(APPLE, PEAR), hands_left=0, targets=(APPLE, PEAR))
WITH_BOWL = NOTHING._replace(held=(BOWL,), container=BOWL, places=3, hands_left=1, wanted=(APPLE, PEAR))
FULL = WITH_BOWL._replace(places=0)


@pytest.mark.parametrize(
    ("haul", "t", "chosen"),
    [
        (NOTHING, 0, "search(container)"),
        (NOTHING._replace(wanted=(APPLE,)), 0, "search(container)"),
        (NOTHING._replace(containers=(BOWL,), wanted=(APPLE,)), 1599, "fetch(<bowl>(3))"),
        (NOTHING._replace(containers=(BOWL,), wanted=(APPLE,)), 1600, "fetch(<apple>(1))"),
        (NOTHING, 1600, "search(target)"),
        (WITH_BOWL._replace(wanted=()), 0, "search(target)"),
        (WITH_BOWL._replace(wanted=(APPLE,)), 0, "fetch(<apple>(1))"),
        (WITH_BOWL._replace(held=(BOWL, APPLE), targets=(APPLE,), hands_left=0), 2999, "put(<apple>(1), <bowl>(3))"),
        (FULL, 0, "search(bed)"),
        (FULL._replace(knows_place=True), 0, "deliver()"),
        (IN_HANDS._replace(knows_place=True), 0, "deliver()"),
        (WITH_BOWL._replace(knows_place=True, is_enough=True), 0, "deliver()"),
        (WITH_BOWL._replace(knows_place=True, wanted=(APPLE,)), 2300, "fetch(<apple>(1))"),
        (WITH_BOWL._replace(knows_place=True, wanted=(APPLE,)), 2301, "deliver()"),
        (NOTHING._replace(wanted=(APPLE,)), 2301, "fetch(<apple>(1))"),
    ],
)
def test_choices(haul: Haul, t: int, chosen: str) -> None:
    assert RULES is not None
    assert str(choose(RULES, haul, t, RhpOptions(), {}, generator(0, "test"))) == chosen


def test_known_things_are_chosen_at_random_or_by_their_way() -> None:
    assert RULES is not None
    steps = {RULES.fetch(APPLE): 90, RULES.fetch(PEAR): 30}

    def chosen(options: RhpOptions, rng: np.random.Generator) -> Action:
        assert RULES is not None
        return choose(RULES, WITH_BOWL, 0, options, steps, rng)

    assert {chosen(RhpOptions(), generator(seed, "test")) for seed in range(20)} == set(steps)
    nearest = RhpOptions(choice="nearest", free_hand=True)
    assert {chosen(nearest, generator(seed, "test")) for seed in range(20)} == {RULES.fetch(PEAR)}
    assert choose(RULES, FULL, 0, nearest, steps, generator(0, "test")) == RULES.fetch(PEAR), (
        "one more in the free hand"
    )
    both = FULL._replace(held=(BOWL, APPLE), targets=(APPLE,), hands_left=0, knows_place=True)
    assert choose(RULES, both, 0, nearest, steps, generator(0, "test")) == RULES.deliver()


def test_a_team_delivers_and_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    def logs(name: str) -> list[bytes]:
        teamworld.run("transport", method="rhp", level="dev-3", seeds=[0], out=tmp_path / name)
        return [path.read_bytes() for path in sorted((tmp_path / name).rglob("*.jsonl.zst"))]

    first = logs("one")
    assert first == logs("two")
    path = next((tmp_path / "one").rglob("*.jsonl.zst"))
    delivered = [event.score["delivered"] for event in read_log(path) if isinstance(event, StepDone)]
    assert delivered[-1] >= 4


def test_worlds_in_which_nothing_is_hauled_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"method 'rhp' does not apply to world 'cube': it needs hauling \(things are"):
        teamworld.run("cube", method="rhp", out=tmp_path / "run")
