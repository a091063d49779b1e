"""Levels of transport by name and seed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.transport import generator, levels
from teamworld.worlds.transport.generator import generate_instance
from teamworld.worlds.transport.levels import LEVELS, LevelOptions, instance
from teamworld.worlds.transport.rasters import cell_of
from teamworld.worlds.transport.starting_places import reached_from, walkable_floor
from tests.worlds.transport import files
from tests.worlds.transport.data import FOLDER, needs_data

OFFICIAL = LevelOptions(data=FOLDER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder whose 48 episodes are one, by turns of high and low capacity."""
    return files.write(tmp_path_factory.mktemp("data"), files.content(generate_instance(3, "food", "high")))


def refusal(level: str, seed: object = 0, options: LevelOptions = levels.AS_IS) -> str:
    with pytest.raises(UserError) as caught:
        instance(level, seed, options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("level", "seed", "name"),
    [
        ("dev", 0, "food-high-0"),
        ("dev", 1, "food-low-1"),
        ("dev", 2, "stuff-high-2"),
        ("dev", 3, "stuff-low-3"),
        ("dev", 10_004, "food-high-4"),
        ("dev-3", 17, "stuff-low-3"),
        ("dev-food-low-3", 17, "food-low-3"),
        ("dev-food", 3, "food-low-3"),
        ("dev-low", 3, "stuff-low-3"),
        ("dev-high-3", 0, "stuff-high-3"),
        ("test", 0, "food-high-10000"),
        ("test-stuff-low-9999", 0, "stuff-low-19999"),
    ],
)
def test_levels_of_our_own(level: str, seed: int, name: str) -> None:
    assert instance(level, seed).name == name


def test_the_default_level_needs_no_data() -> None:
    assert levels.DEFAULT_LEVEL in LEVELS
    assert len(instance(levels.DEFAULT_LEVEL, 0).starts) == 2


def test_the_same_arguments_give_the_same_instance() -> None:
    first = instance("dev-1", 5)
    generator._build.cache_clear()
    generator._fill.cache_clear()
    again = instance("dev-1", 99)
    assert (first.items, first.starts, first.plan.furniture) == (again.items, again.starts, again.plan.furniture)


@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_agents(agents: int, folder: Path) -> None:
    options = LevelOptions(folder, agents)
    for level in ("dev-1", "official-0"):
        starts = instance(level, 0, options).starts
        assert len(starts) == agents
        assert starts == instance(level, 5, options._replace(agents=4)).starts[:agents]


@pytest.mark.parametrize("agents", [0, 5, -1])
def test_teams_that_are_too_large_or_none(agents: int, folder: Path) -> None:
    assert "1 to 4 agents" in refusal("dev", 0, LevelOptions(agents=agents))
    assert "1 to 4 agents" in refusal("official-0", 0, LevelOptions(folder, agents))


@pytest.mark.parametrize(
    "level",
    [
        "",
        "dev-",
        "dev--3",
        "dev-books",
        "dev-03",
        "dev--1",
        "dev-low-food",
        "deve",
        "DEV",
        "official-x",
        "dev-3 ",
        "dev-٣",
    ],
)
def test_names_that_are_none(level: str) -> None:
    line = refusal(level)
    assert "there is no transport level" in line
    assert repr(level) in line or level in line


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=20))
def test_other_texts_are_refused_or_are_levels(level: str) -> None:
    if not re.fullmatch(r"(dev|test|official|train)(-.*)?", level):
        assert "there is no transport level" in refusal(level)


def test_a_name_that_is_nearly_right() -> None:
    assert "did you mean 'dev-food-low'?" in refusal("dev-fod-low")


def test_numbers_and_seeds_that_are_too_large_or_none(folder: Path) -> None:
    assert "10000 episodes" in refusal("dev-10000")
    assert "10000 episodes" in refusal("test-food-123456789")
    for seed in (-1, 1.5, None, True, "7"):
        assert "integer from 0 on" in refusal("dev", seed)
    options = LevelOptions(folder)
    assert "there are 24 such episodes" in refusal("official-24", 0, options)
    assert "there are 12 such episodes" in refusal("official-food-low-12", 0, options)
    assert "there are 0 such episodes" in refusal("official-stuff", 0, options)


@pytest.mark.parametrize("level", ["official", "official-0", "train-stuff-low"])
def test_published_levels_need_their_data(level: str, tmp_path: Path) -> None:
    assert "needs the data of the TDW-MAT" in refusal(level)
    assert "no such folder" in refusal(level, 0, LevelOptions(tmp_path / "none"))


def test_groups_of_published_levels_are_gone_through_by_seed(folder: Path) -> None:
    options = LevelOptions(folder)
    names = [instance("official", seed, options).name for seed in range(30)]
    assert names == [f"official-{seed % 24}" for seed in range(30)]
    lows = [instance("train-low", seed, options).name for seed in (0, 1, 11, 12)]
    assert lows == ["train-1", "train-3", "train-23", "train-1"]
    assert instance("train-low-2", 77, options).name == "train-5"
    assert instance("official-7", 77, options).name == "official-7"


def test_listed_levels_are_levels() -> None:
    for level, line in LEVELS.items():
        assert "\n" not in line
        if level.startswith(("dev", "test")):
            assert instance(level, 1).name.endswith(("-1", "-10001"))
        else:
            assert "needs the data" in refusal(level)


@needs_data
def test_the_four_groups_have_six_episodes_each() -> None:
    seen: Counter[str] = Counter()
    for task in ("food", "stuff"):
        for capacity in ("high", "low"):
            for seed in range(6):
                episode = instance(f"official-{task}-{capacity}", seed, OFFICIAL)
                assert (episode.task, episode.capacity) == (task, capacity)
                assert len(episode.containers) == {"high": 5, "low": 2}[capacity]
                seen[episode.name] += 1
    assert seen == {f"official-{number}": 1 for number in range(24)}
    assert instance("official-food-low-5", 0, OFFICIAL).name == "official-11"
    assert instance("official-stuff-high", 6, OFFICIAL).name == instance("official-stuff-high", 0, OFFICIAL).name


@needs_data
@pytest.mark.heavy
def test_larger_teams_start_in_further_rooms_of_published_episodes() -> None:
    for name in ("official", "train"):
        for number in range(24):
            episode = instance(f"{name}-{number}", 0, OFFICIAL._replace(agents=4))
            plan, rasters = episode.plan, episode.rasters
            assert episode.starts[:2] == instance(f"{name}-{number}", 0, OFFICIAL).starts
            rooms = [plan.room_at(start.x, start.z).number for start in episode.starts]
            assert len({*rooms[2:]}) == 2
            assert not {*rooms[2:]} & {*rooms[:2]}
            is_reached = reached_from(rasters, walkable_floor(plan, rasters, episode.items), episode.starts[0])
            assert all(is_reached[cell_of(rasters, start.x, start.z)] for start in episode.starts)
