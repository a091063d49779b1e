"""What differs between two episodes, against the logs; and the page that shows them side by side, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.record import ActionStep, DrawingState, EpisodeStart, Event, MessageSent, StepDone
from teamworld.viewer import build
from teamworld.viewer.differences import find_differences
from teamworld.viewer.html_export import pair_page
from tests.viewer import samples
from tests.viewer.conftest import settle, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page


def changed(step: int, **fields: object) -> list[Event]:
    """Return the log by hand with another message of ``b`` in a step, or other fields of what ``b`` says there."""
    return [
        msgspec.structs.replace(event, **fields)
        if isinstance(event, MessageSent) and (event.step, event.agent) == (step, "b")
        else event
        for event in samples.by_hand()
    ]


def test_an_episode_does_not_differ_from_itself() -> None:
    for log in (samples.by_hand(), samples.played()):
        found = find_differences(build(log), build(log))
        assert (found.first, found.rows, found.actions) == (None, [], [])


def test_another_message_is_a_difference_of_its_step() -> None:
    found = find_differences(build(samples.by_hand()), build(changed(0, text="other")))
    assert found.first == 0
    assert found.actions == []
    (row,) = found.rows
    assert (row.step, row.agent, row.kind) == (0, "b", "message")
    assert [row.first, row.second] == [["to nobody: alone"], ["to nobody: other"]]


def test_another_action_and_another_state_are_differences() -> None:
    log = samples.by_hand()
    acts = [
        msgspec.structs.replace(event, verb="rest")
        if isinstance(event, ActionStep) and event.step == 2 and event.agent == "b"
        else event
        for event in log
    ]
    found = find_differences(build(log), build(acts))
    assert (found.first, found.actions, found.rows) == (2, [2], [])
    states = [
        msgspec.structs.replace(event, state={"at": 99})
        if isinstance(event, DrawingState) and event.step == 2
        else event
        for event in log
    ]
    found = find_differences(build(log), build(states))
    assert (found.first, found.actions, found.rows) == (1, [], []), "step 1 leads to the state of moment 2"


def slow_first(one: Sequence[Event], other: Sequence[Event]) -> int:
    """Return the first step in which actions, messages or states differ, record by record."""

    def of(log: Sequence[Event], step: int) -> list[object]:
        acts: list[object] = []
        for event in log:
            if isinstance(event, ActionStep) and event.step == step and event.spent:
                acts.append((event.agent, event.verb, event.args))
            if isinstance(event, MessageSent) and event.step == step:
                acts.append((event.agent, event.text))
            if isinstance(event, DrawingState) and event.step == step + 1:
                acts.append(event.state)
        return acts

    return next(step for step in range(999) if of(one, step) != of(other, step))


def test_two_methods_differ_where_the_logs_do() -> None:
    one, other = samples.played("greedy"), samples.played("random")
    found = find_differences(build(one), build(other))
    assert found.first == slow_first(one, other)
    for first, second in ((one, other), (other, one)):
        swapped = find_differences(build(first), build(second))
        assert (swapped.first, len(swapped.rows)) == (found.first, len(found.rows))


def test_episodes_of_other_instances_are_refused() -> None:
    log = samples.by_hand()
    start = log[0]
    assert isinstance(start, EpisodeStart)
    for field, value in (("world", "other"), ("level", "other"), ("seed", 99), ("team", ("a", "b", "c", "d"))):
        other = [msgspec.structs.replace(start, **{field: value}), *log[1:]]
        with pytest.raises(UserError, match=f"of one instance: the {field} is"):
            find_differences(build(log), build(other))
    moved = [
        msgspec.structs.replace(event, state={"at": 5})
        if isinstance(event, DrawingState) and event.step == 0
        else event
        for event in log
    ]
    with pytest.raises(UserError, match="begin in other states"):
        find_differences(build(log), build(moved))


# ---- in a browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pairs")
    two = build(samples.played()), build(samples.played("zero_shot"))
    log, calls = samples.asked()
    hostile = build(log, (), calls), build(samples.laid_out([[StepDone(ticks=2, score={})]] * 5))
    made = {"two": two, "hostile": (build(samples.hostile()), build(samples.hostile())), "asked": hostile}
    for name, (first, second) in made.items():
        text = pair_page(first, second, find_differences(first, second))
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture
def told() -> list[str]:
    return []


def opened(browser: Page, file: Path, told: list[str], width: int = 1280) -> Page:
    browser.goto("about:blank")
    browser.set_viewport_size({"width": width, "height": 900})
    browser.on("console", lambda message: told.append(message.text))
    browser.on("pageerror", lambda error: told.append(str(error)))
    browser.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "about:")) else told.append(request.url),
    )
    browser.goto(file.as_uri())
    wait(browser, "teamworld.pair")
    settle(browser)
    return browser


@pytest.fixture
def two(browser: Page, files: dict[str, Path], told: list[str]) -> Iterator[Page]:
    yield opened(browser, files["two"], told)
    assert told == []


def steps(shown: Page) -> list[int]:
    settle(shown)
    found: list[int] = shown.evaluate("teamworld.pair.players.map((player) => player.step)")
    return found


@pytest.mark.heavy
def test_two_episodes_are_locked_in_time(two: Page) -> None:
    assert two.locator("h2").all_inner_texts() == ["drwell, seed 0, episode 1", "zero_shot, seed 0, episode 1"]
    last = two.evaluate("teamworld.pair.players.map((player) => player.episode.steps)")
    two.keyboard.press("ArrowRight")
    assert steps(two) == [1, 1]
    two.keyboard.press("End")
    assert steps(two) == last, "the shorter one stays at its end"
    assert two.inner_text("#step") == f"step {max(last)} / {max(last)}"
    frame = two.frame_locator("#side1 iframe")
    x = two.evaluate("teamworld.pair.players[1].lanes.axis.x(7.5)")
    frame.locator("#bars").click(position={"x": x, "y": 20})
    assert steps(two) == [7, 7], "a click in one leads the other"
    assert two.evaluate("teamworld.pair.players.map((player) => player.chosen)") == [0, 0]
    frame.locator("#lanes").press("Shift+ArrowRight")
    assert steps(two) == [17, 17], "so do keys"
    axes = two.evaluate("teamworld.pair.players.map((player) => player.lanes.axis.x(20))")
    assert axes[0] == axes[1], "one axis of time"
    frame.locator("#tab-goals").click()
    assert two.frame_locator("#side0 iframe").locator("#goals").is_visible()
    two.evaluate("teamworld.pair.frames[1].contentWindow.scrollTo(0, 200)")
    wait(two, "teamworld.pair.frames[0].contentWindow.scrollY === 200")
    two.click("#play")
    wait(two, "teamworld.pair.clock.step > 17")
    wait(two, "teamworld.pair.players.every((player) => player.step === teamworld.pair.clock.step)")
    two.keyboard.press("Home")
    assert not two.evaluate("teamworld.pair.clock.playing")


@pytest.mark.heavy
def test_differences_are_marked_and_shown(two: Page) -> None:
    found = find_differences(build(samples.played()), build(samples.played("zero_shot")))
    assert two.inner_text("#first") == f"They first differ in step {found.first}"
    two.keyboard.press("End")
    two.click("#tofirst")
    assert steps(two)[0] == found.first
    here = [row for row in found.rows if row.step == found.first]
    assert two.locator("#rows tr").count() == len(here)
    words = two.inner_text("#rows")
    assert all(
        text.replace("_", " ")[:12] in words.replace("_", " ")
        for row in here
        for text in row.first
        if row.kind == "message"
    )
    later = sorted({row.step for row in found.rows if row.step > here[0].step})
    two.keyboard.press("n")
    assert steps(two)[0] == later[0]
    two.keyboard.press("p")
    assert steps(two)[0] == here[0].step
    strip = two.locator("#strip")
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] - 9, "y": 10})
    assert steps(two)[1] == two.evaluate("teamworld.pair.clock.steps")


@pytest.mark.heavy
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_runs_and_nothing_sticks_out(
    browser: Page, files: dict[str, Path], told: list[str], width: int
) -> None:
    shown = opened(browser, files["hostile"], told, width)
    assert "The two episodes are the same" in shown.inner_text("#first")
    assert "broken" not in shown.title().split(":")[0]
    assert shown.title() != "broken"
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown = opened(browser, files["asked"], told, width)
    frame = shown.frame_locator("#side0 iframe")
    frame.locator("#tab-asked").click()
    frame.locator("#asked .ask:not(.skipped)").first.click()
    widths = (
        "teamworld.pair.frames.map((frame) => frame.contentDocument.documentElement.scrollWidth - frame.clientWidth)"
    )
    assert shown.evaluate(widths) == [0, 0]
    box = frame.locator("#question").bounding_box()
    edges = shown.locator("#side0 iframe").bounding_box()
    assert box is not None
    assert edges is not None
    assert edges["y"] <= box["y"] < box["y"] + box["height"] <= edges["y"] + edges["height"] <= edges["y"] + 900
    assert told == []


@pytest.mark.heavy
def test_light_and_dark(two: Page) -> None:
    pages = "[document, ...teamworld.pair.frames.map((frame) => frame.contentDocument)]"
    background = f"{pages}.map((page) => getComputedStyle(page.body).backgroundColor)"
    before = two.evaluate(background)
    two.click("#theme")
    after = two.evaluate(background)
    assert len(set(before)) == len(set(after)) == 1
    assert before != after
