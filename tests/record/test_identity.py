"""What an episode is apart from its seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

import teamworld
from teamworld.record import read_log
from teamworld.record.identity import Identifier, Identity


def identities(world: str, level: str, method: str, folder: Path, **options: object) -> list[Identity]:
    teamworld.run(world, level=level, method=method, seeds=[0, 1, 2], max_steps=12, out=folder, options=options)
    found = []
    for log in sorted(folder.rglob("*.zst")):
        events = Identifier(read_log(log))
        assert [event.seq for event in events] == list(range(len(list(read_log(log)))))
        found.append(events.identity)
    return found


def test_rules_in_a_published_layout_play_copies(tmp_path: Path) -> None:
    assert len(set(identities("cube", "paper-n2", "coela", tmp_path))) == 1


def test_what_is_drawn_differs_in_one_layout(tmp_path: Path) -> None:
    found = identities("cube", "paper-n2", "random", tmp_path)
    assert (len({one.layout for one in found}), len({one.play for one in found})) == (1, 3)


@pytest.mark.parametrize(
    ("world", "level"),
    [
        ("cube", "n4"),
        ("household", "dev-tea"),
        ("rooms", "two"),
        ("transport", "dev"),
        ("wildfire", "cut_trees_sparse_small"),
    ],
)
def test_every_seed_of_a_drawn_level_has_a_layout_of_its_own_and_all_methods_meet_it(
    tmp_path: Path, world: str, level: str
) -> None:
    first, second = (identities(world, level, method, tmp_path / method) for method in ("greedy", "do_nothing"))
    assert len({one.layout for one in first}) == 3
    assert [one.layout for one in first] == [one.layout for one in second]
    assert len({one.play for one in (*first, *second)}) == 6


def test_another_team_is_another_layout(tmp_path: Path) -> None:
    two, one = (identities("cube", "n2", "greedy", tmp_path / str(n), cube={"agents": n}) for n in (2, 1))
    assert {entry.layout for entry in two}.isdisjoint(entry.layout for entry in one)
