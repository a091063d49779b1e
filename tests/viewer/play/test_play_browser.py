"""People play in a real browser: by mouse and by keyboard, in two worlds, with hostile words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.experiment.replay import replay
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import MessageSent, read_log
from tests.viewer.play.people import Game, game

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "<img src=x onerror=alert(1)> \u202e<script>alert(2)</script>"
SHOWN = "< img src=x onerror=alert(1)>"  # as a prompt quotes it
#: Milliseconds that something may take on a busy machine.
PATIENCE = 240_000


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    return {}


@contextmanager
def opened(browser: Page, played: Game, agent: str) -> Iterator[Page]:
    """Open the page of an agent; it asks nobody else, has no error, and takes nothing that is said as HTML."""
    told: list[str] = []
    address = played.server.address_of(agent)
    assert browser.context.browser is not None
    page = browser.context.browser.new_page(viewport={"width": 1360, "height": 860})
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda message: told.append(message.text))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on("request", lambda request: None if request.url.startswith((address, "data:")) else told.append(request.url))
    page.goto(address)
    page.wait_for_selector("#phase.asked, #phase.waiting, #phase.over")
    yield page
    assert page.locator("img, main script").count() == 0
    page.close()
    assert told == []


def kind(page: Page) -> str:
    """Return what is asked, once something is; empty where the run is over."""
    page.wait_for_selector("#phase.asked, #phase.over")
    return page.inner_text("#kind") if page.locator("#phase.asked").count() else ""


def number(page: Page) -> int:
    asked: int = page.evaluate("() => window.teamworld.page.question")
    return asked


def sent(page: Page, before: int) -> None:
    """Wait until an answer was taken: another question is there, or none."""
    look = f"() => window.teamworld.page.question !== {before} ? done() : setTimeout(look, 50)"
    page.evaluate(f"() => new Promise((done) => {{ const look = {look}; look(); }})")


def by_mouse(page: Page, words: str = "") -> str:
    """Answer a question by the mouse: the first option of each field; return what was asked."""
    asked, before = kind(page), number(page)
    if not asked:
        return ""
    for field in page.locator("#fields .field").all():
        if field.locator("input[type=radio]").count():
            field.locator(".offer").first.click()
        elif field.locator("button.offer").count():
            field.locator("button.offer").first.click()
        elif words and not field.evaluate("(node) => node.matches('.lines')") and field.locator("textarea").count():
            field.locator("textarea").fill(words)
    page.click("#send")
    sent(page, before)
    return asked


def by_keyboard(page: Page, words: str = "") -> str:
    """Answer a question by the keyboard alone: 1, tab to the words, ctrl + enter; return what was asked."""
    asked, before = kind(page), number(page)
    if not asked:
        return ""
    page.keyboard.press("1")
    if words and page.locator("#fields .field > textarea").count():
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.matches('.field:not(.lines) > textarea')"):
                page.keyboard.type(words)
                break
    page.keyboard.press("Control+Enter")
    sent(page, before)
    return asked


def take_turns(mouse: Page, keyboard: Page, words: str) -> list[str]:
    """Answer whoever is asked, until the run is over for both."""
    asked: list[str] = []
    while True:
        states = [page.get_attribute("#phase", "class") or "" for page in (mouse, keyboard)]
        if all("over" in state for state in states):
            return asked
        if "asked" in states[0]:
            asked.append(by_mouse(mouse, words))
        elif "asked" in states[1]:
            asked.append(by_keyboard(keyboard, words))
        else:
            mouse.wait_for_timeout(50)


def is_replayed(out: Path, scratch: Path) -> bool:
    scratch.mkdir()
    folder = RunFolder(out)
    return [episode.difference for episode in replay(folder, folder.experiment(), scratch)] == [None]


@pytest.mark.heavy
def test_two_people_play_cube_by_mouse_and_by_keyboard(browser: Page, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with game(out, max_steps=12) as played, opened(browser, played, "agent_0") as one:
        one.wait_for_selector("#phase.asked")
        one.click("#send")  # nothing is chosen
        assert "choose: goal" in one.inner_text("#complaint")
        with opened(browser, played, "agent_1") as other:
            assert other.inner_text("#phase") == "the others play"
            assert other.is_hidden("#form")
            by_mouse(one, HOSTILE)
            other.wait_for_selector(f"#panels >> text={SHOWN}")
            assert other.locator("#stage").get_attribute("aria-label") == (
                "Grid of 20 by 20 cells at step 0: 2 agents, 3 blocks left."
            )
            asked = take_turns(one, other, HOSTILE)
            played.end()
            assert one.inner_text("#idle") == "all is recorded"
            assert other.locator("#answers li").count() > 1
    assert any("drwell.draft" in what for what in asked)
    assert is_replayed(out, tmp_path / "scratch")


@pytest.mark.heavy
def test_two_people_play_household_and_read_what_they_write(browser: Page, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with (
        game(out, "Alice,Bob", world="household", level="dev", methods=["coela"], max_steps=4) as played,
        opened(browser, played, "Alice") as one,
        opened(browser, played, "Bob") as other,
    ):
        by_mouse(one, HOSTILE)
        one.reload()  # nothing is lost
        one.wait_for_selector("#phase.asked, #phase.waiting")
        take_turns(one, other, HOSTILE)
        played.end()
        assert SHOWN in "".join(other.locator("#panels q").all_inner_texts())
    [log] = [path for path in out.glob("logs/*/*") if path.is_file()]
    said = [event.agent for event in read_log(log) if isinstance(event, MessageSent)]
    assert said
    assert is_replayed(out, tmp_path / "scratch")
