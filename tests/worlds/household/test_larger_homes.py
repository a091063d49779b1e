"""Homes of three to six rooms: sound, playable, and given the same way by every interface."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.household import levels
from teamworld.worlds.household.env import parallel_env
from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.floor_plan import NUMBERS
from teamworld.worlds.household.homes.furnishing import TASKS
from teamworld.worlds.household.homes.placement import PLACEMENTS, Rule
from teamworld.worlds.household.world import make
from tests.worlds.household.home_checks import faults
from tests.worlds.household.test_heuristic import play

seeds, rules = st.integers(0, 19_999), st.sampled_from(tuple(PLACEMENTS))


@pytest.mark.heavy
@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from(NUMBERS), rules, st.sampled_from([None, *TASKS]))
def test_homes_of_every_size_are_sound(seed: int, number: int, rule: Rule, task: str | None) -> None:
    episode = home_generator.episode(seed, task, placement=rule, number=number)
    assert len(episode.home.rooms) == number
    assert faults(episode) == []


@pytest.mark.heavy
def test_larger_homes_have_second_baths_and_corridors() -> None:
    homes = {number: [home_generator.home(seed, number) for seed in range(16)] for number in (3, 5, 6)}
    plans = {n: [[home.nodes[room].name for room in home.rooms] for home in made] for n, made in homes.items()}
    assert {name for plan in plans[3] for name in plan} == {"kitchen", "livingroom", "bathroom", "bedroom"}
    for number in (5, 6):
        assert {plan.count("bathroom") for plan in plans[number]} == {1, 2}
        assert {plan.count("corridor") for plan in plans[number]} == {0, 1}


@pytest.mark.heavy
@pytest.mark.parametrize("number", NUMBERS)
def test_the_scripted_team_finishes(number: int) -> None:
    for level in ("dev-tea-4", "test-dishes-2", "dev-groceries-7"):
        world = make(level, 0, 250, {"rooms": number, "placement": "official", "agents": 3})
        world.reset(1)
        reason, _ = play(world)
        assert reason == "all_done"


def test_the_same_home_in_every_interface() -> None:
    options = {"rooms": 6, "placement": "official"}
    world = make("dev-11", 0, 250, options)
    env = parallel_env("dev-11", rooms=6, placement="official")
    assert world.episode == env._played.episode == levels.episode("dev-11", 5, levels.HomeOptions(None, "official", 6))
    assert options.items() <= dict(world.spec.options).items()
    assert not {"rooms", "placement"} & set(make("dev-11", 0, 250, {"rooms": 4}).spec.options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rooms": 7}, "option 'rooms' of world household: .*expected at most 6, got 7"),
        ({"placement": "officially"}, "option 'placement' of world household: .*'uniform' or 'official'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make("dev-0", 0, 250, options)


@pytest.mark.parametrize(("name", "value"), [("rooms", 2), ("rooms", "4"), ("placement", "real")])
def test_bad_arguments_of_the_environment(name: str, value: object) -> None:
    with pytest.raises(UserError, match=f"{name} must be"):
        parallel_env("dev-0", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [levels.HomeOptions(rooms=5), levels.HomeOptions(placement="official")])
def test_official_homes_stay_as_they_are(options: levels.HomeOptions) -> None:
    with pytest.raises(UserError, match="official-0 is a home as it was published: leave out the options"):
        levels.episode("official-0", 0, options)


def test_bad_numbers_of_rooms() -> None:
    with pytest.raises(UserError, match="a household has 3 to 6 rooms, got 7"):
        home_generator.home(0, 7)
