"""Laws of the tables: always normal, no observation twice, no order, no hash; refinement; what cannot be."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity, Fact
from teamworld.methods.cobel.inference import Beliefs, Claim, Evidence, Limit, Sight, label, refinement
from teamworld.methods.cobel.inference.track import SPANS
from teamworld.worlds.contract import LatentVariable, Possible
from tests.methods.cobel.inference.engine import evidence, name, play, start, tables
from tests.methods.cobel.inference.reference import ME, Bound, Case, Event, WitnessGraph, draw

ROOT = Path(__file__).parents[4]
PLACES = ("hall", "kitchen", "bedroom", "bath")

chances = st.sampled_from((0.0, 0.2, 0.5, 0.9, 1.0))
looks = st.builds(
    Sight,
    st.sampled_from(("cup", "pan")),
    st.tuples(st.sampled_from("abcdefgh")),
    st.integers(0, 30),
    st.one_of(st.none(), st.sampled_from(PLACES)),
    st.dictionaries(st.sampled_from(PLACES), chances),
)
claims = st.builds(
    Claim,
    st.sampled_from(("cup", "pan")),
    st.tuples(st.sampled_from("abcdefgh")),
    st.integers(0, 30),
    st.tuples(st.sampled_from(PLACES)),
    st.sampled_from((0.5, 0.7, 0.95, 1.0)),
)
moves = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(PLACES).map(lambda to: {"hall": 0.25, to: 0.75}))
deeds = st.lists(st.one_of(looks, claims, st.tuples(chances, looks), moves), max_size=25)


def house(coupled: bool = False, **weights: float) -> Beliefs[str]:
    beliefs = Beliefs[str]()
    for thing in ("cup", "pan"):
        beliefs.add(thing, weights or dict.fromkeys(PLACES, 1.0))
    if coupled:
        beliefs.couple(("cup", "pan"), [Limit(frozenset({"kitchen"}), most=1)])
    return beliefs


def whole(beliefs: Beliefs[str]) -> bool:
    return all(
        all(isfinite(p) and 0 <= p <= 1 for p in table.values()) and abs(sum(table.values()) - 1) <= 1e-12
        for table in tables(beliefs)
    )


@given(deeds, st.booleans())
def test_tables_add_up_to_one_whatever_happens(script: list[object], coupled: bool) -> None:
    beliefs, now = house(coupled), 0
    for deed in script:
        if isinstance(deed, Mapping):
            now += 3
            fair = {
                place: {to: p for to, p in goes.items() if sum(goes.values()) == 1} or {place: 1.0}
                for place, goes in deed.items()
            }
            beliefs.predict(now, {"cup": fair})
        elif isinstance(deed, Sight | Claim):
            beliefs.apply(deed)
        elif isinstance(deed, tuple):
            beliefs.apply(deed[1], deed[0])
        assert whole(beliefs)


@given(st.lists(st.one_of(looks, claims), max_size=8, unique_by=lambda one: one.ids), st.randoms(use_true_random=False))
def test_the_order_of_evidence_on_what_stays_does_not_matter(some: list[Evidence[str]], rng: random.Random) -> None:
    one, other = house(coupled=True), house(coupled=True)
    for piece in some:
        one.apply(piece)
    shuffled = rng.sample(some, len(some))
    for piece in shuffled:
        other.apply(piece)
    if one.impossible or other.impossible:  # what cannot be together has no posterior
        assert one.impossible
        assert other.impossible
        return
    for mine, theirs in zip(tables(one), tables(other), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-12)


@given(st.lists(st.one_of(looks, claims), max_size=8))
def test_an_observation_counts_once(some: list[Evidence[str]]) -> None:
    beliefs = house()
    for piece in some:
        beliefs.apply(piece)
    before = tables(beliefs)
    for piece in some:
        assert beliefs.apply(piece) in ("known", "foreign")
    assert tables(beliefs) == before


def test_a_relay_through_two_mates_does_not_raise_confidence() -> None:
    beliefs = house()
    heard = Claim("cup", ("bob saw 7",), 7, ("kitchen",), 0.8)
    assert beliefs.apply(heard) == "used"
    once = beliefs.table("cup")
    assert beliefs.apply(Claim("cup", ("bob saw 7",), 9, ("kitchen",), 0.9)) == "known"
    assert beliefs.apply(Claim("cup", ("bob saw 7", "carol saw 8"), 9, ("kitchen",), 0.9)) == "known"
    assert beliefs.table("cup") == once
    assert beliefs.apply(Claim("pan", ("bob saw 7",), 7, ("kitchen",), 0.8)) == "used"  # one look tells of many things
    assert beliefs.apply(Claim("cup", ("carol saw 8",), 8, ("kitchen",), 0.8)) == "used"
    assert beliefs.table("cup")["kitchen"] > once["kitchen"]


def test_sight_and_claim_by_hand() -> None:
    beliefs = house(hall=1, kitchen=2, bedroom=1)
    beliefs.apply(Sight("cup", ("a",), 1, visible={"kitchen": 0.5}))
    assert beliefs.table("cup") == pytest.approx({"hall": 1 / 3, "kitchen": 1 / 3, "bedroom": 1 / 3})
    beliefs.apply(Claim("cup", ("b",), 2, ("hall",), 0.8))
    assert beliefs.table("cup") == pytest.approx({"hall": 0.8, "kitchen": 0.1, "bedroom": 0.1})
    beliefs.apply(Sight("cup", ("c",), 3, visible={"hall": 1.0}))
    assert beliefs.table("cup") == pytest.approx({"hall": 0.0, "kitchen": 0.5, "bedroom": 0.5})
    beliefs.apply(Sight("cup", ("d",), 4, "bedroom"))
    assert beliefs.table("cup") == {"hall": 0.0, "kitchen": 0.0, "bedroom": 1.0}
    assert beliefs.apply(Claim("cup", ("e",), 2, ("hall",), 0.99)) == "used"  # sight beats hearsay
    assert beliefs.table("cup")["bedroom"] == 1.0
    assert (beliefs.since("cup"), beliefs.since("pan")) == (4, 0)


def test_a_late_claim_is_carried_forward_from_its_time() -> None:
    beliefs = Beliefs[str]()
    beliefs.add("sector", {"none": 0.99, "burning": 0.009, "burned": 0.001})
    beliefs.predict(10, {"sector": {"burning": {"burning": 0.7, "burned": 0.3}}})
    beliefs.apply(Claim("sector", ("a",), 4, ("burning",), 1.0))
    assert beliefs.table("sector") == pytest.approx({"none": 0.0, "burning": 0.7, "burned": 0.3})


def test_the_newest_evidence_wins_where_both_cannot_be() -> None:
    beliefs = house(hall=1, kitchen=3, bedroom=0)
    beliefs.apply(Sight("cup", ("a",), 5, "hall"))
    assert beliefs.apply(Sight("cup", ("b",), 4, "kitchen")) == "impossible"  # older than what is known
    assert beliefs.table("cup")["hall"] == 1.0
    assert (
        beliefs.apply(Sight("cup", ("c",), 6, visible={"hall": 1.0})) == "impossible"
    )  # back to the prior of the rest
    assert beliefs.table("cup") == {"hall": 0.0, "kitchen": 1.0, "bedroom": 0.0}
    everywhere = dict.fromkeys(("hall", "kitchen", "bedroom"), 1.0)
    assert beliefs.apply(Sight("cup", ("d",), 7, visible=everywhere)) == "impossible"  # nothing is left: the prior
    assert beliefs.table("cup") == {"hall": 0.25, "kitchen": 0.75, "bedroom": 0.0}
    assert beliefs.impossible == 3
    assert not beliefs.exact("cup")
    assert beliefs.exact("pan")


def test_many_weak_pieces_of_evidence_do_not_vanish() -> None:
    beliefs = house()
    beliefs.predict(1, {"cup": {"hall": {"bath": 1.0}}})
    for n in range(1000):
        beliefs.apply(Claim("cup", (str(n),), 2, (PLACES[n % 4],), 0.26))
    assert beliefs.table("cup") == pytest.approx({"hall": 0.0, "kitchen": 0.25, "bedroom": 0.25, "bath": 0.5})
    assert beliefs.apply(Sight("cup", ("late",), 0, "hall")) == "used"
    assert beliefs.table("cup")["bath"] == 1.0


def test_evidence_older_than_all_that_is_kept_is_taken_in_and_owned_up_to() -> None:
    beliefs = house()
    for now in range(1, SPANS + 5):
        beliefs.predict(now, {"cup": {"hall": {"hall": 0.99, "bath": 0.01}}})
    assert beliefs.apply(Claim("cup", ("new",), 20, ("hall",))) == "used"
    assert beliefs.exact("cup")
    assert beliefs.apply(Claim("cup", ("old",), 0, ("hall",))) == "used"
    assert not beliefs.exact("cup")
    assert whole(beliefs)


def test_copies_go_their_own_ways() -> None:
    beliefs = house()
    twin = beliefs.copy()
    twin.apply(Sight("cup", ("a",), 0, "hall"))
    assert beliefs.table("cup")["hall"] == 0.25
    assert beliefs.apply(Sight("cup", ("a",), 0, "hall")) == "used"
    beliefs.drop("cup")
    assert beliefs.names == ("pan",)
    assert twin.table("cup")["hall"] == 1.0
    beliefs.add("cup", {"hall": 1.0, "bath": 1.0})
    assert beliefs.apply(Sight("cup", ("a",), 0, "hall")) == "used"


@pytest.mark.parametrize(
    ("p", "word"),
    [
        (1.0, "certain"),
        (0.99, "certain"),
        (0.98, "high"),
        (0.6, "high"),
        (0.59, "medium"),
        (0.25, "medium"),
        (0.2, "low"),
        (0.0, "low"),
    ],
)
def test_labels(p: float, word: str) -> None:
    assert label(p) == word


def test_bad_input_is_refused_and_foreign_evidence_passed_over() -> None:
    beliefs = house()
    assert beliefs.apply(Sight("fork", ("a",), 0, "hall")) == "foreign"
    assert beliefs.apply(Sight("cup", ("a",), 0, "garden")) == "foreign"
    assert beliefs.apply(Claim("cup", ("a",), 0, ("garden",))) == "foreign"
    assert beliefs.apply(Sight("cup", ("a",), 0, "hall"), 0.0) == "known"
    with pytest.raises(ValueError, match="observations"):
        beliefs.apply(Sight("cup", (), 0, "hall"))
    for weight in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match="weight"):
            beliefs.apply(Sight("cup", ("a",), 0, "hall"), weight)
    for bad in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            Sight("cup", ("a",), 0, visible={"hall": bad})
        with pytest.raises(ValueError, match="from 0 to 1"):
            Claim("cup", ("a",), 0, ("hall",), bad)
    with pytest.raises(ValueError, match="above 0"):
        beliefs.add("fork", {"hall": 0.0})
    with pytest.raises(ValueError, match="at least 0"):
        beliefs.add("fork", {"hall": 1.0, "bath": -0.5})
    with pytest.raises(ValueError, match="cup again"):
        beliefs.add("cup", {"hall": 1.0})
    with pytest.raises(ValueError, match="add up to 1"):
        beliefs.predict(1, {"cup": {"hall": {"bath": 0.5}}})
    with pytest.raises(ValueError, match="garden"):
        beliefs.predict(1, {"cup": {"hall": {"garden": 1.0}}})
    with pytest.raises(ValueError, match="add up to 1"):
        beliefs.refine("cup", {"hall": {"box": 0.5}})
    with pytest.raises(ValueError, match="twice"):
        beliefs.refine("cup", {"hall": {"bath": 1.0}})
    assert beliefs.names == ("cup", "pan")
    assert beliefs.table("cup") == dict.fromkeys(PLACES, 0.25)


# --- refinement -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coarse(Event):
    """An event that speaks of coarse values, in a world of finer ones."""

    domain: tuple[str, ...] = ()

    def likelihood(self, value: str, domain: object) -> float:
        return super().likelihood(value.partition(".")[0], self.domain)


SHARES = {"v0.open": 0.5, "v0.box": 0.2, "v0.bag": 0.3}


def finer(case: Case) -> Case:
    """The same world told with the parts of value v0 of the first variable from the start."""

    def spread(goes: Mapping[str, float]) -> dict[str, float]:
        return {
            part: p * share
            for value, p in goes.items()
            for part, share in (SHARES if value == "v0" else {value: 1.0}).items()
        }

    def fine(rows: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        moved = {value: spread(goes) for value, goes in rows.items() if value != "v0"}
        if "v0" in rows:  # what stays in v0 stays in its part
            away = {value: p for value, p in rows["v0"].items() if value != "v0"}
            moved |= {part: {part: rows["v0"].get("v0", 0.0), **away} for part in SHARES}
        return moved

    domain = tuple(case.priors[0])
    return Case(
        [spread(case.priors[0]), *case.priors[1:]],
        tuple(
            Bound(bound.values | (set(SHARES) if "v0" in bound.values else set()), bound.least, bound.most)
            for bound in case.bounds
        ),
        tuple((time, (fine(rows[0]), *rows[1:])) for time, rows in case.changes),
        tuple(
            Coarse(**vars(one), domain=domain) if isinstance(one, Event) and one.variable == 0 else one
            for one in case.script
        ),
    )


def test_refined_tables_are_those_of_a_world_that_was_fine_from_the_start() -> None:
    for number in range(300):
        rng = random.Random(f"refine {number}")
        changes = rng.randint(0, 2)
        bounds = [Bound(frozenset({"v0"}), 0, 1)] if rng.random() < 0.5 else []
        case = draw(rng, [3, 2], changes, 5, bounds)
        mine, _ = play(case)
        mine.refine(name(0), {"v0": SHARES})
        fine = finer(case)
        events = WitnessGraph(fine).witnessed[ME,]
        look = Event("missed", 0, 10 * rng.randint(0, changes), ("look",), chances={"v0.box": 1.0, "v0.bag": 0.5})
        assert mine.apply(evidence(look)) == "used"
        for one, other in zip(tables(mine), fine.posterior([*events, look]), strict=True):
            assert one == pytest.approx(other, abs=1e-9), number


def test_a_claim_of_all_parts_is_the_claim_of_the_whole() -> None:
    before, after = house(), house()
    shares = {"kitchen": {"kitchen": 0.5, "fridge": 0.2, "oven": 0.3}}
    before.apply(Claim("cup", ("a",), 0, ("kitchen",), 0.9))
    before.refine("cup", shares)
    after.refine("cup", shares)
    after.apply(Claim("cup", ("a",), 0, ("kitchen", "fridge", "oven"), 0.9))
    assert before.table("cup") == pytest.approx(after.table("cup"), abs=1e-15)
    assert list(before.table("cup")) == ["hall", "kitchen", "fridge", "oven", "bedroom", "bath"]


def test_parts_are_read_from_what_a_world_says_is_open() -> None:
    cup = Entity("cup", 1)
    kitchen, hall = (Fact(cup, "IN", Entity(kind, n)) for n, kind in ((11, "kitchen"), (12, "hall")))
    fridge, drawer = (Fact(cup, "INSIDE", Entity(kind, n)) for n, kind in ((101, "fridge"), (102, "drawer")))
    table = {kitchen: 0.5, hall: 0.5}
    values = (
        Possible(kitchen, 2.0),
        Possible(fridge, 1.0, kitchen),
        Possible(drawer, 1.0, fridge),
        Possible(hall, 4.0),
    )
    assert refinement(LatentVariable("cup 1", values), table) == {kitchen: {kitchen: 0.5, fridge: 0.25, drawer: 0.25}}
    assert refinement(LatentVariable("cup 1", values), dict.fromkeys((kitchen, fridge, drawer, hall), 0.25)) == {}
    assert refinement(LatentVariable("cup 1", values[1:]), table) == {kitchen: {fridge: 0.5, drawer: 0.5}}


# --- the same bytes everywhere --------------------------------------------------------------------------------------

PRINTS = """
import random, struct, sys
from tests.methods.cobel.inference.engine import play, tables
from tests.methods.cobel.inference.reference import MATES, Bound, draw
for number in range(25):
    bounds = [Bound(frozenset({"v0", "v2"}), 0, 1)]
    case = draw(random.Random(f"bytes {number}"), [4, 3], number % 3, 6, bounds, weights=(0.0, 0.3, 1.0))
    mine, minds = play(case)
    for beliefs in (mine, *(minds[mate] for mate in MATES)):
        for table in tables(beliefs):
            sys.stdout.write(struct.pack(f"{len(table)}d", *table.values()).hex() + repr(list(table)) + chr(10))
"""


def test_equal_input_gives_equal_bytes_whatever_the_hash_seed() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", PRINTS],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(("src", "."))},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert len(told[0].splitlines()) == 150


def test_playing_a_case_twice_gives_the_same_tables() -> None:
    case = draw(random.Random(3), [4, 3], 2, 6)
    assert tables(play(case)[0]) == tables(play(case)[0])
    assert tables(start(case)) == tables(start(case))
