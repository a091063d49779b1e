"""What agents know, from logs of the level ``beliefs``: against a slow fold over the log, and in a real browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.record import Believe, DrawingState, Event, HeldBelief, Observe, StepDone, Truth
from teamworld.viewer import build, page
from teamworld.viewer.knowledge import list_knowledge
from tests.viewer import samples
from tests.viewer.conftest import opened, settle, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page

APPLE, PEAR, MOVED = "<apple>(1) AT (1, 1)", "<pear>(2) AT (2, 2)", "<apple>(1) AT (1, 3)"
LEVEL = "Foraging-2s-10x10-3p-3f-v3"  # its agents see two cells far
NEAR, FAR = "a NEAR <apple>(1)", "a NEAR <pear>(2)"


def known() -> list[Event]:
    """Return a log in which ``a`` loses sight of a pear, sees an apple moved, and has two beliefs."""
    unsure = HeldBelief(fact=PEAR, probability=0.25, since=2, source="message:0")
    wrong = HeldBelief(fact=APPLE, probability=0.75, since=0, source="own")
    steps: list[list[Event]] = [
        [
            Truth(true=(APPLE, PEAR, NEAR, FAR)),
            Observe(agent="a", seen=(APPLE, PEAR, NEAR, FAR)),
            Observe(agent="b", seen=(samples.HOSTILE,)),
            StepDone(ticks=2, score={}),
        ],
        [Observe(agent="a", unseen=(PEAR, NEAR)), StepDone(ticks=2, score={})],
        [
            Truth(true=(MOVED,), false=(APPLE,)),
            Observe(agent="a", seen=(MOVED,), unseen=(APPLE,)),
            Believe(agent="a", held=(unsure, wrong)),
            Believe(agent="a", about="b", held=(HeldBelief(fact=PEAR, source="inferred"),)),
            StepDone(ticks=2, score={}),
        ],
        [Believe(agent="a", dropped=(APPLE,)), StepDone(ticks=2, score={})],
    ]
    return samples.laid_out(steps)


def slow_rows(log: Sequence[Event], agent: str, step: int) -> tuple[set[str], set[str]]:
    """Return what is true and what an agent perceives after the records of a step, as texts."""
    true, seen = set[str](), set[str]()
    for event in log:
        if event.step > step:
            break
        if isinstance(event, Truth):
            true = (true - set(event.false)) | set(event.true)
        if isinstance(event, Observe) and event.agent == agent:
            seen = (seen - set(event.unseen)) | set(event.seen)
    return true, seen


def test_a_log_of_what_happened_alone_tells_nothing_of_knowledge() -> None:
    assert list_knowledge(samples.played()) is None
    assert build(samples.by_hand()).knowledge is None


def test_facts_stand_once_and_one_value_replaces_another() -> None:
    told = list_knowledge(known())
    assert told is not None
    assert sorted(told.facts) == sorted({APPLE, PEAR, MOVED, NEAR, FAR, samples.HOSTILE})
    about = dict(zip(told.facts, told.about, strict=True))
    assert about[APPLE] == about[MOVED] >= 0
    assert about[APPLE] != about[PEAR] >= 0
    assert about[NEAR] == about[FAR] == -1, "it is near both at a time"
    (first, second, third) = told.believed
    assert [(told.facts[part.fact], part.chance, part.since, part.source) for part in first.held] == [
        (PEAR, 0.25, 2, "message:0"),
        (APPLE, 0.75, 0, "own"),
    ]
    assert (second.about, [told.facts[part.fact] for part in second.held]) == ("b", [PEAR])
    assert [told.facts[place] for place in third.dropped] == [APPLE]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    pytest.importorskip("lbforaging")
    folder = tmp_path_factory.mktemp("known")
    logs = {
        "known": known(),
        "grid": samples.played("random", LEVEL, 25, "lbf", "beliefs"),
        "plain": samples.by_hand(),
    }
    for name, log in logs.items():
        (folder / f"{name}.html").write_text(page(build(log)), "utf-8")
    return {name: folder / f"{name}.html" for name in logs}


@pytest.fixture
def shown(browser: Page, files: dict[str, Path]) -> Iterator[Page]:
    with opened(browser, files["known"]) as page_of_known:
        wait(page_of_known, "teamworld.player.panels.knows")
        page_of_known.click("#tab-knows")
        page_of_known.focus("#knows")  # on the tab, arrows go to the next one
        yield page_of_known


def heads(shown: Page) -> dict[str, list[str]]:
    """Return the facts by group as the panel lists them."""
    settle(shown)
    found: dict[str, list[str]] = shown.evaluate(
        """() => { const groups = {}; let head = null;
        for (const node of document.querySelectorAll("#knows h3, #knows .fact")) {
          if (node.tagName === "H3") groups[head = node.firstChild.textContent.trim()] = [];
          else groups[head].push(node.innerText.replaceAll("\\n", " "));
        }
        return groups; }"""
    )
    return found


@pytest.mark.heavy
def test_the_panel_tells_now_before_and_wrong(shown: Page) -> None:
    assert heads(shown) == {
        "perceived now": ["apple 1 AT (1, 1)", "pear 2 AT (2, 2)", "a NEAR apple 1", "a NEAR pear 2"]
    }
    shown.keyboard.press("ArrowRight")
    assert heads(shown)["perceived before"] == ["pear 2 AT (2, 2) perceived a step ago"], (
        "of itself it knows what is so"
    )
    shown.keyboard.press("ArrowRight")
    found = heads(shown)
    assert found["believed against the truth"] == [
        "✕ pear 2 AT (2, 2) perceived 2 steps ago; believed to 25 %, from a message since tick 2",
        "✕ apple 1 AT (1, 1) believed to 75 %, from own sight since tick 0",
    ]
    assert "apple 1 AT (1, 3)" in found["perceived now"], "the apple is where it was seen last"
    shown.keyboard.press("ArrowRight")
    assert len(heads(shown)["believed against the truth"]) == 1, "what it drops it does not believe"
    shown.keyboard.press("Home")
    assert list(heads(shown)) == ["perceived now"], "the way back is the same"


@pytest.mark.heavy
def test_whose_knowledge_about_what_and_with_which_words(shown: Page) -> None:
    shown.keyboard.press("End")
    shown.select_option("#known-about", "b")
    assert heads(shown) == {
        "believed against what it knows": ["✕ pear 2 AT (2, 2) believed to 100 %, from inferred since tick 0"]
    }
    shown.select_option("#known-about", "")
    shown.locator("#known-words").press_sequentially("NEAR pear")  # a blank plays elsewhere
    assert heads(shown) == {"perceived now": ["a NEAR pear 2"]}
    shown.fill("#known-words", "")
    shown.focus("#lanes")
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("ArrowDown")
    assert shown.input_value("#knower") == "1", "the panel follows the agent that is chosen on the lanes"
    assert samples.HOSTILE in (shown.locator("#knows").text_content() or "")
    assert shown.locator("#knows img, #knows script").count() == 0
    assert shown.title() != "broken"
    shown.select_option("#knower", "0")
    assert shown.evaluate("teamworld.player.chosen") == 0


@pytest.mark.heavy
def test_a_log_without_beliefs_says_how_to_record_them(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["plain"]) as page_of_plain:
        wait(page_of_plain, "teamworld.player.panels.knows")
        page_of_plain.click("#tab-knows")
        assert "run with --log-level beliefs" in page_of_plain.inner_text("#knows")


@pytest.mark.heavy
def test_the_layer_of_a_grid_shows_what_an_agent_perceives_where_it_is(browser: Page, files: dict[str, Path]) -> None:
    log = samples.played("random", LEVEL, 25, "lbf", "beliefs")
    with opened(browser, files["grid"]) as shown:
        wait(shown, "teamworld.episode.knowledge")
        agent = shown.evaluate("teamworld.episode.team[0].name")
        frames = [event.state for event in log if isinstance(event, DrawingState)]
        for step in (0, 7, 20, 3):
            true, seen = slow_rows(log, agent, step)
            rows = shown.evaluate(f"teamworld.episode.knowledge.rows('{agent}', null, {step})")
            assert {row["text"] for row in rows if row["now"]} == seen
            assert not any(row["wrong"] for row in rows), "nobody believes anything"
            assert all(row["holds"] == (row["text"] in true) for row in rows)
            assert all(row["age"] is None or row["age"] > 0 for row in rows)
            places = shown.evaluate(f"teamworld.sightings(teamworld.episode, '{agent}', {step})")
            here = next(place for place in places if place["name"] == agent)
            assert [here["row"], here["column"], here["age"]] == [*frames[step]["agents"][0][:2], 0]
        shown.evaluate("teamworld.player.go(20)")
        settle(shown)
        picture = "document.getElementById('stage').toDataURL()"
        before = shown.evaluate(picture)
        shown.select_option("#layer", agent)
        settle(shown)
        assert shown.evaluate(picture) != before
        assert "steps ago" in shown.inner_text("#key")
        old = shown.evaluate(f"teamworld.sightings(teamworld.episode, '{agent}', 20).filter(({{ age }}) => age > 0)")
        assert old, "nothing was seen and lost from sight: take another level"
