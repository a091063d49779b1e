"""The list of episodes in a real browser: filters, sorting, the plot, the search, and texts that stay texts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.viewer.server import ViewServer
from tests.viewer.conftest import wait

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("runs") / HOSTILE
    fields = {"world": "cube", "level": "n2", "methods": ["random", "drwell"], "seeds": [3, 4], "episodes": 2}
    run(build(fields | {"max_steps": 30}), out)
    return {"run": out}


@pytest.fixture
def server(files: dict[str, Path]) -> Iterator[ViewServer]:
    with ViewServer(files["run"]) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Page, server: ViewServer) -> Iterator[Page]:
    """The page, which has neither errors nor requests to elsewhere."""
    told: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((server.address, "data:")):
            told.append(request.url)

    browser.on("pageerror", lambda error: told.append(str(error)))
    browser.on("console", lambda message: told.append(message.text))
    browser.on("request", note)
    browser.set_viewport_size({"width": 1300, "height": 900})
    browser.goto(server.address)
    browser.wait_for_selector("#episodes tbody tr")
    yield browser
    browser.goto("about:blank")
    browser.remove_listener("request", note)
    assert told == []


def rows(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("#episodes tbody tr:not(.hits)").all_inner_texts()]


def test_filters_sorting_and_the_address(page: Page, server: ViewServer) -> None:
    assert page.inner_text("#title") == HOSTILE
    assert "8 episodes" in page.inner_text("#count")
    assert len(rows(page)) == 8
    page.select_option("#filter-method", "drwell")
    page.select_option("#filter-seed", "4")
    assert len(rows(page)) == 2
    assert all(row.startswith("drwell") for row in rows(page))
    page.click("#episodes th:has-text('steps') button")
    page.click("#episodes th:has-text('steps') button")
    assert page.get_attribute("#episodes th:has-text('steps')", "aria-sort") == "descending"
    kept = page.url
    page.goto("about:blank")
    page.goto(kept)
    page.wait_for_selector("#episodes tbody tr")
    assert len(rows(page)) == 2
    assert page.get_attribute("#episodes th:has-text('steps')", "aria-sort") == "descending"
    page.click("#clear")
    assert len(rows(page)) == 8
    assert page.url.rstrip("#") == server.address


def test_what_was_said_is_found_and_opens_at_its_step(page: Page) -> None:
    page.fill("#words", "block")
    page.press("#words", "Enter")
    page.wait_for_selector("#progress:has-text('found in')")
    assert all(row.startswith("drwell") for row in rows(page))
    link = page.locator("tr.hits a").nth(1)
    step = link.inner_text().split(",")[0].removeprefix("step ")
    link.click()
    page.wait_for_selector("#scrub")
    assert page.input_value("#scrub") == step
    page.go_back()
    page.wait_for_selector("tr.hits a")


def test_a_point_of_the_plot_opens_its_episode(page: Page) -> None:
    page.select_option("#up", "steps")
    page.select_option("#across", "episode")
    assert "steps by episode of 8 episodes" in (page.get_attribute("#plot", "aria-label") or "")
    place = page.evaluate("() => { const all = []; const c = document.getElementById('plot'); return c.clientWidth; }")
    for x in range(60, int(place), 4):
        for y in range(5, 240, 6):
            page.mouse.move(*_inside(page, x, y))
            if page.is_visible("#tip"):
                named = page.inner_text("#tip strong")
                page.mouse.click(*_inside(page, x, y))
                page.wait_for_selector("#scrub")
                method = named.split(",")[0]
                assert method in page.title()
                return
    raise AssertionError("no point was met")


def _inside(page: Page, x: float, y: float) -> tuple[float, float]:
    box = page.locator("#plot").bounding_box()
    assert box is not None
    return box["x"] + x, box["y"] + y


def test_two_ticked_episodes_open_side_by_side(page: Page) -> None:
    boxes = page.locator("#episodes tbody input")
    assert boxes.count() == 8
    boxes.nth(0).focus()
    page.keyboard.press("Space")
    assert "random, seed 3, episode 1; tick another" in page.inner_text("#ticked")
    boxes.nth(2).check()
    assert "are not of one level and seed" in page.inner_text("#ticked"), "the other is of seed 4"
    assert not page.is_visible("#beside")
    boxes.nth(4).check()
    boxes.nth(0).check()
    assert boxes.evaluate_all("(all) => all.map((box) => box.checked)") == [True] + [False] * 3 + [True] + [False] * 3
    page.click("#beside")
    page.wait_for_selector("#rows")
    wait(page, "teamworld.pair")
    assert page.locator("h2").all_inner_texts() == ["drwell, seed 3, episode 1", "random, seed 3, episode 1"]
    page.go_back()
    page.wait_for_selector("#episodes tbody tr")


def test_tables_are_those_of_the_report(page: Page) -> None:
    page.click("#tables summary")
    page.wait_for_selector("#shown table")
    assert "drwell" in page.inner_text("#shown")


def test_a_server_that_answers_no_more_is_told(browser: Page, server: ViewServer) -> None:
    browser.goto(server.address)
    browser.wait_for_selector("#episodes tbody tr")
    server.token = "another"
    browser.wait_for_selector("#progress:has-text('not found')", timeout=10_000)
    browser.goto("about:blank")
