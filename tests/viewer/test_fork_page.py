"""Changes that the replay offers, in a real browser: as files that the command takes, and played by its own server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teamworld.experiment.fork import read_changes
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.record import MessageSent, PlanStart, QuestionAsked, read_log
from teamworld.viewer.replay_page import view
from teamworld.viewer.server import ViewServer
from tests.viewer.conftest import opened, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.heavy  # what is looked at is the page's own code

FIELDS: dict[str, Any] = {"world": "cube", "level": "n2", "methods": ["drwell"], "seeds": [4], "max_steps": 30}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("forks")
    run(build(FIELDS), folder / "run")
    view(folder / "run").save(folder / "page.html")
    return {"run": folder / "run", "page": folder / "page.html"}


@pytest.fixture
def server(files: dict[str, Path]) -> Iterator[ViewServer]:
    with ViewServer(files["run"], forks=RunOptions()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def go(shown: Page, step: int) -> None:
    shown.evaluate(f"teamworld.player.go({step})")
    wait(shown, f"teamworld.player.shown === {step}")


def first(files: dict[str, Path], kind: type[Any]) -> Any:  # noqa: ANN401  (an event of the kind)
    log = read_log(files["run"] / "logs" / "drwell-s4" / "0001.jsonl.zst")
    return next(event for event in log if isinstance(event, kind))


def changes(shown: Page, path: Path) -> list[dict[str, Any]]:
    """Return what the command reads from the file that the panel shows."""
    command = shown.inner_text("#fork-command")
    step = int(command.split("--step ")[1].split()[0])
    assert command == f"teamworld fork RUN --method drwell --seed 4 --episode 1 --step {step} --change change.yaml"
    path.write_text(shown.inner_text("#fork-file"), "utf-8")
    return [change.model_dump() for change in read_changes(path, step)]


def test_a_dropped_message_is_played_and_stands_beside_its_episode(
    browser: Page, server: ViewServer, files: dict[str, Path]
) -> None:
    message = first(files, MessageSent)
    faults: list[str] = []
    browser.on("pageerror", lambda error: faults.append(str(error)))
    browser.on("console", lambda entry: faults.append(entry.text))
    browser.goto(f"{server.address}replay?run=.&method=drwell&seed=4&episode=1")
    wait(browser, "teamworld.player.shown >= 0")
    go(browser, message.step)
    browser.click("#tab-talk")
    browser.locator("#talk .said .change").first.focus()
    browser.keyboard.press("Enter")
    assert browser.evaluate("document.activeElement.id") == "fork-what"
    browser.wait_for_selector("#fork-play:not([hidden])")
    browser.click("#fork-play")
    link = browser.locator("#fork-played a")
    link.wait_for(timeout=60_000)
    words = browser.inner_text("#fork-played li")
    assert "completion" in words
    assert "drop: true" in words
    assert f"otherwise from step {message.step} on" in words
    assert browser.inner_text("#fork-state") == ""
    assert browser.is_enabled("#fork-play")
    link.click()
    browser.wait_for_url("**/pair?**")
    assert "run2=%2Ffork-1" in browser.url
    browser.wait_for_selector("iframe")
    assert faults == []


def test_what_the_server_refuses_is_said_in_its_words(
    browser: Page, server: ViewServer, files: dict[str, Path]
) -> None:
    browser.goto(f"{server.address}replay?run=.&method=drwell&seed=4&episode=1")
    wait(browser, "teamworld.player.shown >= 0")
    browser.click("#team .agent >> nth=0 >> text=hand over")
    assert browser.is_disabled("#fork-play")
    assert browser.inner_text("#fork-fault") == "name a method, a reasoner, or both"
    browser.fill("#fork-fields input >> nth=0", "no_such_method")
    browser.click("#fork-play")
    browser.wait_for_selector("#fork-state.bad")
    assert "no_such_method" in browser.inner_text("#fork-state")
    browser.keyboard.press("Escape")
    assert not browser.is_visible("#fork")


def test_each_change_is_a_file_that_the_command_takes_and_an_exported_page_asks_nobody(
    browser: Page, files: dict[str, Path], tmp_path: Path
) -> None:
    message, question, plan = (first(files, kind) for kind in (MessageSent, QuestionAsked, PlanStart))
    out = tmp_path / "change.yaml"
    with opened(browser, files["page"], width=380) as shown:
        wait(shown, "teamworld.episode.asked.questions.length > 0")
        go(shown, message.step)
        shown.click("#tab-talk")
        shown.click("#talk .said .change >> nth=0")
        said = changes(shown, out)[0]["message"]
        assert (said["agent"], said["drop"]) == (message.agent, True) or "number" in said
        assert not shown.is_visible("#fork-play")
        assert shown.evaluate("document.getElementById('fork').scrollWidth <= innerWidth")
        shown.check("#fork-fields input >> nth=1")
        assert changes(shown, out)[0]["message"]["recipients"] == ()
        shown.check("#fork-fields input >> nth=2")
        text = 'no: <b>yes</b> "quoted" \\ é \u2028 #'
        shown.fill("#fork-fields textarea", text)
        assert changes(shown, out)[0]["message"]["text"] == text
        shown.fill("#fork-fields textarea", " ")
        assert not shown.is_visible("#fork-file")
        shown.click("#fork-close")

        go(shown, question.step)
        shown.click("#tab-asked")
        shown.click("#asked .answered >> nth=0 >> .change")
        assert changes(shown, out)[0]["answer"]["question"] == question.purpose
        shown.fill("#fork-fields textarea", "{")
        assert shown.inner_text("#fork-fault").startswith("this is no JSON")
        shown.fill("#fork-fields textarea", '{"a": [1e30, null, "1e3"], "b c": {"d": false}}')
        assert changes(shown, out)[0]["answer"]["answer"] == {"a": [1e30, None, "1e3"], "b c": {"d": False}}
        shown.keyboard.press("Escape")

        go(shown, plan.step)
        shown.click("#tab-team")
        shown.click("#team .agent >> nth=0 >> text=change")
        planned = changes(shown, out)[0]
        assert planned["step"] == plan.step
        assert planned["plan"] == {"agent": plan.agent, "plan": plan.text}
        shown.keyboard.press("Escape")
