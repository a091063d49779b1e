"""The file: whole, closed to the network, and safe whatever was said in the episode."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib.resources import files

import msgspec
import pytest

from teamworld.record import EpisodeStart
from teamworld.viewer import build, page
from teamworld.viewer.html_export import embedded
from teamworld.viewer.replay_types import Replay
from tests.viewer import samples

STATIC = files("teamworld.viewer") / "static"


class Elements(HTMLParser):
    """Collects the elements of a page and what stands in its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.bodies: list[tuple[str, str | None, str]] = []
        self._open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag in ("script", "style")
        if self._open:
            self.bodies.append((tag, dict(attrs).get("type"), ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, kind, before = self.bodies[-1]
            self.bodies[-1] = tag, kind, before + data


def policy(found: Elements) -> dict[str, list[str]]:
    text = next(a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert text is not None
    return {name: values for name, *values in (part.split() for part in text.split(";"))}


def test_the_data_come_back_as_they_were() -> None:
    for log in (samples.by_hand(), samples.hostile(), samples.played()):
        replay = build(log)
        data = next(body for tag, kind, body in Elements(page(replay)).bodies if kind == "application/json")
        assert msgspec.json.decode(data, type=Replay) == msgspec.structs.replace(replay, questions=[], lines=[])


def test_a_hostile_text_stays_in_the_data() -> None:
    text, plain = page(build(samples.hostile())), page(build(samples.played()))
    assert [tag for tag, _ in Elements(text).elements] == [tag for tag, _ in Elements(plain).elements]
    data = embedded(build(samples.hostile()))
    assert not re.search("[<>&\u2028\u2029]", data)


def test_the_policy_allows_these_scripts_and_nothing_else() -> None:
    found = Elements(page(build(samples.played())))
    rules = policy(found)
    assert rules["default-src"] == ["'none'"]
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert rules["img-src"] == ["data:"]
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        bodies = [body for name, kind, body in found.bodies if name == tag and kind is None]
        hashes = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies]
        assert rules[rule] == [f"'sha256-{one}'" for one in hashes]
        assert bodies


def test_nothing_is_fetched_from_anywhere() -> None:
    text = page(build(samples.played()))
    assert "://" not in text
    for tag, attributes in Elements(text).elements:
        assert tag not in {"iframe", "object", "embed", "img", "form", "base"}
        assert "src" not in attributes
        assert attributes.get("href", "data:,") == "data:,"
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_scripts_never_make_html_from_text() -> None:
    scripts = [part for folder in (STATIC, STATIC / "worlds") for part in folder.iterdir() if part.name.endswith(".js")]
    assert len(scripts) >= 7
    for script in scripts:
        text = script.read_text("utf-8")
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|setAttribute\(.on", text
        )
        assert found is None, (script.name, found)
        assert not re.search("</script|<!--", text), f"{script.name} would end its own element"


def test_drawers_take_of_the_page_the_list_of_drawers_and_nothing_else() -> None:
    for script in (STATIC / "worlds").iterdir():
        assert set(re.findall(r"\bteamworld\.\w+", script.read_text("utf-8"))) == {"teamworld.drawers"}, script.name
        assert f'register("{script.name.removesuffix(".js")}"' in script.read_text("utf-8")


def test_the_same_log_gives_the_same_file() -> None:
    assert page(build(samples.played())) == page(build(samples.played()))


def test_a_world_without_a_drawer_gets_the_rest() -> None:
    known = page(build(samples.played()))
    unknown = page(build(samples.by_hand()))
    assert 'register("cube"' in known
    assert 'register("cube"' not in unknown
    log = samples.by_hand()
    assert isinstance(log[0], EpisodeStart)
    log[0] = msgspec.structs.replace(log[0], world="../replay")
    assert page(build(log)).count("Player = class") == 1, "a world's name leads nowhere else"


@pytest.mark.parametrize(("method", "level"), [("zero_shot", "paper-n2"), ("drwell", "paper-n4")])
def test_an_episode_fits_into_a_mail(method: str, level: str) -> None:
    replay = build(samples.played(method, level))
    assert len(page(replay).encode()) < 200_000


def test_a_long_episode_of_a_large_team_stays_under_a_megabyte() -> None:
    """32 agents, 40 steps played: the size of 150 steps is what one step takes, times 150."""
    replay = build(samples.played("greedy", "paper-n32", 40))
    empty = len(page(build(samples.by_hand())).encode())
    assert empty + (len(page(replay).encode()) - empty) / 40 * 150 < 1_000_000
