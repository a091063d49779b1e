"""A headless Chromium for the tests of the page, and pages opened from disk with every request and word noted.

Needs a Chromium on the path (``scripts/browser.sh`` installs Debian's) and Playwright; skipped where one of them is
missing, unless TEAMWORLD_NEED_BROWSER=1 says that this must not be.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what: str) -> NoReturn:
    if os.environ.get("TEAMWORLD_NEED_BROWSER") == "1":
        pytest.fail(f"{what}, and TEAMWORLD_NEED_BROWSER=1 asks for it")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser(files: dict[str, Path]) -> Iterator[Page]:
    """A browser of a module, whose pages ``files`` are made before it starts: its event loop must not be theirs."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        missing("there is no Chromium on the path: run scripts/browser.sh")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium.new_page()
        chromium.close()


@contextmanager
def opened(
    browser: Page,
    file: Path,
    fragment: str = "",
    *,
    scheme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 800,
) -> Iterator[Page]:
    """Open a page from disk; at the end nothing may have been asked of a network or said on the console."""
    browser.goto("about:blank")
    browser.emulate_media(color_scheme=scheme)
    browser.set_viewport_size({"width": width, "height": height})
    asked: list[str] = []
    told: list[str] = []
    listeners: dict[Any, Callable[[Any], None]] = {
        "request": lambda request: asked.append(request.url),
        "console": lambda message: told.append(message.text),
        "pageerror": lambda error: told.append(str(error)),
    }
    for name, listener in listeners.items():
        browser.on(name, listener)
    address = f"{file.as_uri()}{fragment}"
    browser.goto(address)
    wait(browser, "teamworld.player.shown >= 0")
    try:
        yield browser
    finally:
        for name, listener in listeners.items():
            browser.remove_listener(name, listener)
    assert told == []
    # The empty icon is in the page itself; everything else must be the page.
    assert {url for url in asked if not url.startswith("data:")} <= {address, file.as_uri()}


def settle(shown: Page) -> None:
    shown.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait(shown: Page, condition: str) -> None:
    """Wait until an expression holds in a frame of the browser; the page forbids the eval of ``wait_for_function``."""
    look = f"() => ({condition}) ? done() : ++frames > 2000 ? fail(new Error('never')) : requestAnimationFrame(look)"
    shown.evaluate(f"() => new Promise((done, fail) => {{ let frames = 0; const look = {look}; look(); }})")
