"""Rules of placement: the shares of the official set, the rule as before, and the prior that is counted from homes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from teamworld.language import Entity, Fact, Facts
from teamworld.seeding import generator
from teamworld.worlds.household import placement_prior
from teamworld.worlds.household.beliefs import UNLIKELY
from teamworld.worlds.household.homes import home_generator, official_episodes
from teamworld.worlds.household.homes.floor_plan import draw_labels
from teamworld.worlds.household.homes.furnishing import FURNITURE, TASKS
from teamworld.worlds.household.homes.home import SEARCHED, Episode, NodeId, Relation
from teamworld.worlds.household.homes.placement import ASKED, HOLDERS, PLACEMENTS, Place, Rule, draw_place
from teamworld.worlds.household.placement_prior import Spot, shares
from teamworld.worlds.household.world import HouseholdOptions, HouseholdWorld
from tests.worlds.household.data import FOLDER, needs_data

RULES: tuple[Rule, ...] = tuple(PLACEMENTS)


def place_of(episode: Episode, number: NodeId) -> tuple[Relation, str]:
    """Return how a thing lies and on which furniture in the end; what the engine has as drawers counts as counter."""
    home = episode.home
    relation, holder = home.parent[number]
    while home.nodes[holder].grabbable:
        relation, holder = home.parent[holder]
    return relation, home.nodes[holder].name.replace("counterdrawer", "counter")


def count(episodes: Iterable[Episode], which: str) -> Counter[tuple[str, str]]:
    """Count where things lie: of the classes of all tasks, of the episode's task, or that it asks for."""
    counts: Counter[tuple[str, str]] = Counter()
    for episode in episodes:
        asked = [need.name for need in episode.needs]
        classes = {"all": ASKED, "task": TASKS[episode.task].names, "asked": asked}[which]
        nodes = episode.home.nodes.values()
        counts.update(place_of(episode, node.id) for node in nodes if node.grabbable and node.name in classes)
    return counts


@pytest.fixture(scope="module")
def own() -> list[Episode]:
    homes = [home_generator.home(seed) for seed in range(60)]
    return [home_generator.episode(seed, home=homes[seed // 5], placement="official") for seed in range(300)]


# Counted once in the ten official episodes; a share is missed by three points at most.
@needs_data
@pytest.mark.heavy
@pytest.mark.parametrize(("which", "number"), [("all", 202), ("task", 76)])
def test_things_lie_as_in_the_official_set(own: list[Episode], which: str, number: int) -> None:
    expected, found = count(official_episodes.episodes(FOLDER), which), count(own, which)
    assert expected.total() == number
    missed = {place: 100 * (found[place] / found.total() - expected[place] / number) for place in {*expected, *found}}
    assert {place: points for place, points in missed.items() if abs(points) > 3} == {}


def test_draws_follow_the_weights() -> None:
    weights: dict[Place, float] = {("ON", "desk"): 1, ("INSIDE", "fridge"): 3, ("ON", "bench"): 0.5}
    rng = generator(0, "test")
    drawn = Counter(draw_place(weights, rng) for _ in range(9000))
    assert {place: round(number / 2000, 1) for place, number in drawn.items()} == weights


def test_equal_weights_take_one_whole_number() -> None:
    first, other = generator(1, "test"), generator(1, "test")
    places: tuple[Place, ...] = (("ON", "desk"), ("ON", "bench"), ("INSIDE", "fridge"))
    drawn = [draw_place(dict.fromkeys(places, 2.0), first) for _ in range(50)]
    assert drawn == [places[other.integers(3)] for _ in range(50)]


@pytest.mark.parametrize("rule", RULES)
def test_rules_name_furniture_that_there_is(rule: Rule) -> None:
    placement = PLACEMENTS[rule]
    assert set(placement.others) == set(ASKED)
    assert HOLDERS[rule] <= set(FURNITURE)
    assert all(weight > 0 for others in placement.others.values() for weight in others.weights.values())


# ---- the prior


@pytest.mark.heavy
def test_the_stored_prior_is_the_estimate() -> None:
    for rule in RULES:
        stored = placement_prior._stored()[rule]
        assert stored == placement_prior.estimate(rule)


def test_the_prior_is_counted_where_nothing_is_reported() -> None:
    assert set(placement_prior.HOMES) <= set(home_generator.DEV)
    assert not set(placement_prior.HOMES) & set(range(9_900))


@pytest.mark.parametrize("rule", RULES)
def test_shares_are_whole(rule: Rule) -> None:
    for task in TASKS.values():
        for name in task.names:
            told = shares(rule, task.target, name)
            assert sum(told.values()) == pytest.approx(1, abs=1e-3)
            at_goal = [
                share for spot, share in told.items() if spot.furniture == task.target and spot.room == "kitchen"
            ]
            assert sum(at_goal) < 0.09  # only in a second fridge


def test_the_rules_have_priors_of_their_own() -> None:
    spot = Spot("kitchen", "INSIDE", "kitchencabinet")
    assert shares("uniform", "coffeetable", "wine")[spot] > 0.1
    assert spot not in shares("official", "coffeetable", "wine")
    assert shares("official", "sofa", "wine") == {}


def weights_of_apple(placement: Rule, seed: int = 0, rooms: int = 4) -> dict[tuple[str, str], float]:
    """Return the weights of where a missing apple may be for somebody who has seen the kitchen from its door."""
    start = home_generator.episode(seed, "read_book", placement=placement, number=rooms)
    world = HouseholdWorld(start, "x", 60, HouseholdOptions(agents=1))
    world.reset(0)
    kitchen = next(entity for entity in world.entities if entity.kind == "kitchen")
    nodes = {entity: start.home.room[entity.id] for entity in world.entities if entity.kind in SEARCHED}
    told = [Fact(entity, "IN", kitchen) for entity, room in nodes.items() if room == kitchen.id]
    told += [Fact(fact.subject, "STATE", "closed") for fact in tuple(told)]
    variables = world.domain.beliefs.latent_variables(Facts((*told, Fact(kitchen, "EXPLORED", "all"))))
    apple = next(variable for variable in variables if variable.name.startswith("apple"))
    weights: dict[tuple[str, str], float] = {}
    for fact, weight, *_ in apple.values:
        assert isinstance(fact.value, Entity)
        key = (fact.predicate, fact.value.kind)
        weights[key] = weights.get(key, 0.0) + weight
    return weights


@pytest.mark.parametrize("rule", RULES)
def test_inference_expects_what_was_counted(rule: Rule) -> None:
    told, weights = shares(rule, "coffeetable", "apple"), weights_of_apple(rule)
    for furniture in ("fridge", "microwave", "kitchencabinet"):
        expected = told.get(Spot("kitchen", "INSIDE", furniture), UNLIKELY)
        assert weights["INSIDE", furniture] == pytest.approx(expected)
    bedroom = sum(share for spot, share in told.items() if spot.room == "bedroom")
    assert weights["IN", "bedroom"] == pytest.approx(bedroom)
    assert weights["IN", "bathroom"] == pytest.approx(UNLIKELY)


def test_rooms_of_one_kind_share() -> None:
    seed = next(s for s in range(20) if "bedroom 2" in draw_labels(6, generator(s, "household", "rooms", 6)))
    one, two = weights_of_apple("uniform", seed), weights_of_apple("uniform", seed, 6)
    assert two["IN", "bedroom"] == pytest.approx(one["IN", "bedroom"])
