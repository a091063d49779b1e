"""The pages of household and wildfire in a headless Chromium: what is drawn, the words, and nothing on the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from teamworld.language import Entity, parse_action
from teamworld.record import ActionStep, DrawingState, EpisodeStart, Event, Observe
from teamworld.viewer import build, page
from teamworld.worlds import registry
from teamworld.worlds.household import drawing_data as home
from teamworld.worlds.wildfire import drawing_data as land
from teamworld.worlds.wildfire.levels import Team
from teamworld.worlds.wildfire.observe import begin_sightings
from teamworld.worlds.wildfire.state import DEAD, FREE, SAFE, Civilians
from tests.viewer import samples
from tests.viewer.conftest import opened, settle, wait
from tests.worlds.wildfire.maps import rough
from tests.worlds.wildfire.test_sightings import send, started

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Counts the pixels of the picture by colour.
COUNT = """
() => {
  const { width, height } = document.getElementById("stage");
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(document.getElementById("stage"), 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  const counts = {};
  for (let at = 0; at < data.length; at += 4) {
    const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
"""


@pytest.fixture(scope="module")
def logs() -> dict[str, Sequence[Event]]:
    """Episodes of the scripted team: in a home, and on a small map with a fire and civilians."""
    return {
        "household": samples.played("greedy", "dev-0", 250, "household", "beliefs"),
        "wildfire": samples.played("greedy", "perception", 8, "wildfire"),
    }


@pytest.fixture(scope="module")
def files(logs: dict[str, Sequence[Event]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {world: folder / f"{world}.html" for world in logs}
    for world, path in paths.items():
        path.write_text(page(build(logs[world])), "utf-8")
    return paths


def test_a_page_has_the_drawer_of_its_world_and_small_frames(
    logs: dict[str, Sequence[Event]], files: dict[str, Path]
) -> None:
    assert all(f'register("{world}"' in path.read_text("utf-8") for world, path in files.items())
    assert files["household"].stat().st_size < 400_000
    frames = {world: [event.state for event in log if isinstance(event, DrawingState)] for world, log in logs.items()}
    assert frames["household"][-1]["missing"] == [0] * len(frames["household"][-1]["missing"])
    assert frames["wildfire"]
    assert all(len(frame["land"]) < 3 * 400 for frame in frames["wildfire"])


def drawn(shown: Page, world: str, step: int) -> tuple[dict[str, int], str]:
    """Return the pixels by colour and the words of a step."""
    shown.evaluate(f"teamworld.player.go({step})")
    settle(shown)
    frame = f"{{ t: {step}, frame: teamworld.episode.frame({step}) }}"
    return shown.evaluate(COUNT), shown.evaluate(f"teamworld.drawers.{world}.words({frame}, teamworld.episode)")


def number(counts: dict[str, int], colour: str) -> int:
    return counts.get(",".join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5)), 0)


@pytest.mark.heavy
def test_the_home_is_drawn(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["household"], width=1300, height=900) as shown:
        (first, words), (last, last_words) = (
            drawn(shown, "household", step) for step in (0, shown.evaluate("teamworld.episode.steps"))
        )
        team = shown.evaluate("[teamworld.player.stage.drawn.agents.length, teamworld.episode.team.length]")
    assert words == (
        "Floor plan with 4 rooms at step 0: 0 of 1 juice, 0 of 1 pudding, 0 of 3 apple delivered, 0 containers open."
    )
    assert "1 of 1 juice, 1 of 1 pudding, 3 of 3 apple delivered" in last_words
    assert team[0] == team[1]
    for colour in (*home.STYLE["rooms"].values(), home.STYLE["furniture"][0], home.STYLE["target"][0]):
        assert number(first, colour) > 200, colour
    assert number(first, home.STYLE["closed"][0]) > number(last, home.STYLE["closed"][0]), "containers were opened"
    assert min(number(counts, home.STYLE["open"][0]) for counts in (first, last)) > 0


def known_at(log: Sequence[Event], step: int) -> dict[str, dict[int, list[object]]]:
    """Return where each agent of a log knows each thing to be at a step, by playing its actions again."""
    start = log[0]
    assert isinstance(start, EpisodeStart)
    world = registry.make("household", "dev-0", start.seed, start.horizon, {})
    world.reset(start.seed)
    for t in range(step):
        acts = [event for event in log if isinstance(event, ActionStep) and event.step == t and event.spent]
        world.step({act.agent: parse_action(f"{act.verb}({', '.join(act.args)})") for act in acts})
    named = {thing["id"] for thing in start.static["things"]}
    places: dict[str, dict[int, list[object]]] = {}
    for agent in start.team:
        places[agent] = {}
        for fact in world.view(agent).known:
            match fact.subject, fact.predicate, fact.value:
                case Entity(id=thing), "INSIDE" | "ON" | "IN", Entity(id=place) if thing in named:
                    places[agent][thing] = [fact.predicate, place]
                case str(holder), "HOLD", Entity(id=thing) if thing in named:
                    places[agent][thing] = ["HELD", holder]
    return places


@pytest.mark.heavy
def test_what_an_agent_of_a_home_knows_is_what_its_view_tells(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]]
) -> None:
    with opened(browser, files["household"], width=1300, height=900) as shown:
        last = shown.evaluate("teamworld.episode.steps")
        ids = shown.evaluate("teamworld.episode.static.things.map((thing) => thing.id)")
        for step in (0, 9, 20, 33, last - 1):
            for agent, expected in known_at(logs["household"], step).items():
                call = f"[...teamworld.drawers.household.knowledge(teamworld.episode, '{agent}', {step}).things]"
                perceived = {thing: place for thing, place in shown.evaluate(call) if thing in ids}
                assert {thing: place[:2] for thing, place in perceived.items()} == expected, (step, agent)
                assert all(0 <= place[2] <= step for place in perceived.values()), "and when that was"
        truth = drawn(shown, "household", 0)[0]
        shown.select_option("#layer", "Alice")
        known = drawn(shown, "household", 0)[0]
        assert "Alice has not seen it yet" in shown.inner_text("#key")
        assert shown.inner_text("#note") == ""
    assert number(known, home.STYLE["closed"][0]) < 0.4 * number(truth, home.STYLE["closed"][0]), (
        "most containers are in other rooms"
    )


@pytest.mark.heavy
def test_rooms_are_shaded_until_an_agent_has_been_in_them(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]]
) -> None:
    start = logs["household"][0]
    assert isinstance(start, EpisodeStart)
    rooms = {room["id"]: room["name"] for room in start.static["rooms"]}
    looks = [event for event in logs["household"] if isinstance(event, Observe) and event.agent == "Alice"]
    been = {step: {f"{fact}" for event in looks if event.step <= step for fact in event.seen} for step in (0, 8)}
    with opened(browser, files["household"], width=1300, height=900) as shown:
        shown.select_option("#layer", "Alice")
        for step, facts in been.items():
            moment = f"teamworld.player.stage.moment({step}, teamworld.player.theme, null)"
            far = shown.evaluate(f"[...teamworld.drawers.household.asKnown({moment}, teamworld.episode).far]")
            assert set(far) == {room for room, name in rooms.items() if f"Alice AT <{name}>({room})" not in facts}
            assert far
        counts, _ = drawn(shown, "household", 0)
        shown.select_option("#layer", "truth")
        whole, _ = drawn(shown, "household", 0)
        kitchen = home.STYLE["rooms"]["kitchen"]
        assert number(counts, kitchen) < number(whole, kitchen) / 2


@pytest.mark.heavy
def test_what_an_agent_of_a_home_believes_without_being_sure_is_written_at_its_place(
    browser: Page, files: dict[str, Path]
) -> None:
    with opened(browser, files["household"], width=1300, height=900) as shown:
        wait(shown, "teamworld.episode.knowledge")
        room, thing = (shown.evaluate(f"teamworld.episode.static.{kind}[0]") for kind in ("rooms", "things"))
        name = f"<{thing['name']}>({thing['id']})"
        place = f"<{room['name']}>({room['id']})"
        held = [{"fact": 0, "chance": 0.3}, {"fact": 1, "chance": 0.3}, {"fact": 2}]
        told = {
            "facts": [f"{name} IN {place}", f"{name} STATE free", f"{name} INSIDE {place}"],
            "about": [0, 1, 2],
            "truth": [],
            "seen": [],
            "believed": [{"frame": 2, "agent": "Alice", "held": held}],
        }
        shown.evaluate("(told) => { teamworld.episode.knowledge = new teamworld.Knowledge(told); }", told)
        rows = "teamworld.drawers.household.beliefs(teamworld.player.stage.moment(%d, {}, null), teamworld.episode)"
        assert shown.evaluate(rows % 5) == [], "the layer of everything shows no beliefs"
        shown.select_option("#layer", "Alice")
        assert shown.evaluate(rows % 1) == []
        (row,) = shown.evaluate(rows % 5)
        assert (row["name"], row["chance"], row["place"]) == (f"{thing['name']} {thing['id']}", 0.3, room["id"])
        shown.evaluate("teamworld.player.go(5)")
        settle(shown)
        assert "believed to be there" in shown.inner_text("#key")


@pytest.mark.heavy
def test_a_log_of_the_level_play_says_what_it_lacks(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]], tmp_path: Path
) -> None:
    path = tmp_path / "play.html"
    path.write_text(page(build([event for event in logs["household"] if not isinstance(event, Observe)])), "utf-8")
    with opened(browser, path) as shown:
        assert "--log-level beliefs" in shown.inner_text("#note")
        assert shown.is_hidden("#layers")


def overlap(box: Sequence[float], other: Sequence[float]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


@pytest.mark.heavy
def test_tags_of_a_home_do_not_cover_each_other_and_furniture_has_names(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["household"], width=1300, height=900) as shown:
        moment = "teamworld.player.stage.moment(0, teamworld.player.theme, null)"
        size = shown.evaluate("teamworld.player.stage.size")
        tags = shown.evaluate(
            f"teamworld.drawers.household.tags({moment}, teamworld.episode, {size}).map((tag) => tag.at)"
        )
        assert len(tags) > 3
        for k, (x, y) in enumerate(tags):
            assert all(max(abs(x - a), abs(y - b)) >= 14 for a, b in tags[:k])
        names = shown.evaluate(f"teamworld.drawers.household.names(teamworld.episode, {size})")
        pieces = shown.evaluate("teamworld.episode.static.furniture.map((piece) => piece.name)")
        told = {name["words"].split(" ×")[0] for name in names}
        assert {"kitchen", "livingroom", "coffeetable"} <= told
        assert len(told & set(pieces)) >= 0.8 * len(set(pieces)), set(pieces) - told
        boxes = [name["place"] for name in names]
        for k, box in enumerate(boxes):
            assert not any(overlap(box, other) for other in boxes[:k]), names[k]
        covered = [
            name["words"] for name in names for x, y in tags if overlap(name["place"], [x - 6, y - 6, x + 6, y + 6])
        ]
        assert covered == []
        spot = shown.evaluate("teamworld.player.stage.drawn.agents[0]")
        assert shown.evaluate(f"teamworld.player.stage.wordsAt({spot['x']}, {spot['y']})")[0].split()[0] in (
            "bedroom", "kitchen", "livingroom", "bathroom",
        )  # fmt: skip


@pytest.mark.heavy
def test_the_land_is_drawn(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["wildfire"], width=1300, height=900) as shown:
        counts, words = drawn(shown, "wildfire", 0)
        key = shown.inner_text("#key")
        curves = shown.get_attribute("#curve", "aria-label")
    assert words == "Map of 20 by 20 cells at step 0: 1 agent; cells: 1 ignited, 0 on fire, 0 burnt out."
    unseen, ignited = (np.array(land.STYLE["colours"][code]) for code in (0, 9))
    faint = np.rint(ignited + (unseen - ignited) * land.STYLE["haze"] / 2).astype(int)  # nobody has seen it yet
    for colour, least in ((faint.tolist(), 50), (land.STYLE["fills"]["civilian"], 20)):
        assert counts.get(",".join(map(str, colour)), 0) > least
    for words in ("1 of 1 firefighter", "free", "1 cell burns, 1 caught", "m/s to the", "on fire", "not seen yet"):
        assert words in key
    assert curves == "Curves over the steps: burning cells, score"


@pytest.mark.heavy
def test_zoom_layers_and_words_under_the_pointer(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["wildfire"], width=1300, height=900) as shown:
        assert shown.evaluate("teamworld.player.stage.wordsAt(-5, 3)") == []
        before = drawn(shown, "wildfire", 3)[0]
        shown.select_option("#layer", "team")
        known = drawn(shown, "wildfire", 3)[0]
        unseen = ",".join(map(str, land.STYLE["colours"][0]))
        assert known[unseen] > 1000 > before.get(unseen, 0)
        spot = shown.evaluate("teamworld.player.stage.drawn.agents[0]")
        words = shown.evaluate(f"teamworld.player.stage.wordsAt({spot['x']}, {spot['y']})")
        assert words[0].startswith("0 firefighter 1, water ")
        assert words[-1].startswith("wind ")
        away = "for (const t of [6, 7]) teamworld.episode.frames[t].agents[0] = [19, 19];"
        shown.evaluate(f"() => {{ {away} }}")
        ages = shown.evaluate("teamworld.drawers.wildfire.sight(teamworld.episode, null, 7)")
        old = next(at for at, code in enumerate(ages["cells"]) if code and ages["when"][at] < 7)
        row, column = divmod(old, 20)
        cell = shown.evaluate("teamworld.player.stage.size") / 20
        shown.evaluate("teamworld.player.go(7)")
        settle(shown)
        told = shown.evaluate(f"teamworld.player.stage.wordsAt({(column + 0.5) * cell}, {(row + 0.5) * cell})")
        assert any(f", seen {7 - ages['when'][old]} step" in line for line in told), told
        shown.click("#near")
        shown.click("#near")
        settle(shown)
        assert shown.evaluate("teamworld.player.stage.view.zoom") == pytest.approx(2.56)
        shown.evaluate("teamworld.player.stage.move(1e6, 1e6)")
        assert shown.evaluate("teamworld.player.stage.view.x") == pytest.approx(0.5 / 2.56), "not beyond the edge"
        shown.click("#whole")
        assert shown.evaluate("teamworld.player.stage.view") == {"zoom": 1, "x": 0.5, "y": 0.5}


@pytest.mark.heavy
def test_fires_are_framed_with_how_many_cells_burn_as_far_as_the_layer_knows(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]]
) -> None:
    states = [event.state for event in logs["wildfire"] if isinstance(event, DrawingState)]
    fires = "teamworld.drawers.wildfire.fires(teamworld.player.stage.moment(%d, {}, null), teamworld.episode)"
    with opened(browser, files["wildfire"]) as shown:
        for step, state in enumerate(states):
            boxes = shown.evaluate(fires % step)
            assert sum(box[4] for box in boxes) == state["counts"][0]
            assert all(x0 <= x1 and y0 <= y1 for x0, y0, x1, y1, _ in boxes)
        assert shown.evaluate(fires % 0)
        shown.select_option("#layer", "team")
        seen = shown.evaluate("Array.from(teamworld.drawers.wildfire.sight(teamworld.episode, null, 0).cells)")
        burn = sum(code in (9, 10) for code in seen)
        assert sum(box[4] for box in shown.evaluate(fires % 0)) == burn < states[0]["counts"][0], "nobody sees it yet"
        land_of_three = ["0" * 20] * 20
        fake = {"static": {"size": 20, "land": land_of_three, "is_known": True}, "frames": [], "style": land.STYLE}
        runs = [0, 1, 10, 4, 1, 9, 4 * 20 + 2, 1, 10, 15 * 20 + 15, 2, 10]
        boxes = shown.evaluate(
            "({ fake, land }) => teamworld.drawers.wildfire.fires({ t: 0, layer: 'truth', frame: { land } }, fake)",
            {"fake": fake, "land": runs},
        )
        assert sorted(boxes) == [[0, 0, 4, 4, 3], [15, 15, 16, 15, 2]], "cells at most four apart are one fire"


def sweeping(steps: int) -> tuple[dict[str, Any], list[dict[str, Any]], list[list[int]]]:
    """Return static data, frames, and what the team and each agent had seen at the end, of agents that jump about."""
    rng = np.random.default_rng(5)
    running = started(rough(5, 60), Team(2, 1, 2, 1))
    running.civilians = Civilians(
        np.array([3, 20, 40], np.int32), np.array([5, 21, 33], np.int32), np.array([FREE, SAFE, DEAD], np.uint8)
    )
    stores = [begin_sightings(running, shared_map=shared) for shared in (True, False)]
    frames = [land.snapshot(running)]
    for step in range(steps):
        send(running, np.clip(running.units.places() + rng.integers(-9, 10, (6, 2)), 0, 59).astype(float))
        running.units.alive[5] = step < 3
        for seen in stores:
            seen.look(running)
        frames.append(land.snapshot(running))
    known = [stores[0].seen(), *map(stores[1].seen, range(6))]
    return land.static(running.instance), frames, [codes.reshape(-1).tolist() for codes in known]


@pytest.mark.heavy
def test_what_was_seen_and_groups_are_those_of_the_world(browser: Page, files: dict[str, Path]) -> None:
    static, frames, known = sweeping(6)
    with opened(browser, files["wildfire"]) as shown:
        for who, cells in zip(["null", *map(str, range(6))], known, strict=True):
            shown.evaluate(
                "(data) => { teamworld.fake = data; }", {"static": static, "frames": frames, "style": land.STYLE}
            )
            found = shown.evaluate(f"Array.from(teamworld.drawers.wildfire.sight(teamworld.fake, {who}, 6).cells)")
            assert found == cells, who
            assert 100 < sum(map(bool, cells)) < 3600
        units = land.team(static, frames[-1])
        for near in (0.5, 6.0, 25.0):
            given = [unit._asdict() for unit in units]
            groups = shown.evaluate(f"(units) => teamworld.drawers.wildfire.groups(units, {near})", given)
            rows = [sorted(unit["row"] for unit in group) for group in groups]
            expected = [
                sorted(row for kind in group.kinds.values() for row in kind) for group in land.group_units(units, near)
            ]
            assert rows == expected


@pytest.mark.heavy
def test_a_log_of_before_relief_and_counts_is_shown(
    browser: Page, files: dict[str, Path], tmp_path: Path, logs: dict[str, Sequence[Event]]
) -> None:
    old: list[Event] = []
    for event in logs["wildfire"]:
        match event:
            case EpisodeStart():
                kept = {key: part for key, part in event.static.items() if key not in ("relief", "wind", "cell_m")}
                old.append(msgspec.structs.replace(event, static=kept))
            case DrawingState():
                kept = {key: part for key, part in event.state.items() if key not in ("counts", "wind", "score")}
                old.append(msgspec.structs.replace(event, state=kept))
            case _:
                old.append(event)
    path = tmp_path / "old.html"
    path.write_text(page(build(old)), "utf-8")
    with opened(browser, path) as shown:
        assert drawn(shown, "wildfire", 2)[1].startswith("Map of 20 by 20 cells at step 2")
        assert "1 of 1 firefighter" in shown.inner_text("#key")
