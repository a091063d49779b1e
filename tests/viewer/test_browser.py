"""The page in a headless Chromium: what it shows, and what it does when it is clicked, played and scrolled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pytest

from teamworld.metrics.failures import LABELS, tags
from teamworld.reasoning.llm.contract import CallKey
from teamworld.record import ActionStep, DrawingState, Event
from teamworld.viewer import build, page
from teamworld.viewer.replay_types import WorthRow
from teamworld.worlds.registry import finder
from tests.viewer import samples
from tests.viewer.conftest import opened, settle, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.heavy  # what is looked at is the page's own code

DARK, LIGHT = "rgb(18, 22, 26)", "rgb(244, 243, 240)"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    logs: dict[str, Sequence[Event]] = {
        "two": samples.played(),
        "four": samples.played(level="paper-n4"),
        "hostile": samples.hostile(),
        "large": samples.played("greedy", "paper-n32", 40),
        "zero": samples.played("zero_shot"),
        "toy": samples.by_hand(),
        "drawn": samples.drawn(samples.HOSTILE, samples.HOSTILE, "<b>"),
        "undrawable": samples.undrawable(),
    }
    made = {name: folder / f"{name}.html" for name in logs}
    for name, log in logs.items():
        found = tags(log, finder("cube")) if name == "zero" else ()
        made[name].write_text(page(build(log, found)), "utf-8")
    log, calls = samples.asked()
    for name, prompts in (("asked", True), ("unprompted", False)):
        made[name] = folder / f"{name}.html"
        made[name].write_text(page(build(log, (), calls, prompts=prompts)), "utf-8")
    log, calls = samples.attacked(100)
    made["attacked"] = folder / "attacked.html"
    made["attacked"].write_text(page(build(log, (), calls)), "utf-8")
    valued = build(samples.by_hand())
    steps = {"completion": (0.25, 0.25, 0.25), "steps": (-3.0, -5.0, -1.0)}
    valued.worths = [WorthRow(message=1, values=steps), WorthRow(values=steps), WorthRow(agent="b", values=steps)]
    valued.fork = f"fork of episode 1 of {samples.HOSTILE}, changed: message in step 2"
    crowd = build(samples.played())
    crowd.team = [msgspec.structs.replace(crowd.team[n % 2], name=f"agent_{n}") for n in range(60)]
    crowd.world = "toy"  # its drawer would look for 60 agents in the frames
    made["crowd"] = folder / "crowd.html"
    made["crowd"].write_text(page(crowd), "utf-8")
    made["valued"] = folder / "valued.html"
    made["valued"].write_text(page(valued), "utf-8")
    return made


@pytest.fixture
def two(browser: Page, files: dict[str, Path]) -> Iterator[Page]:
    with opened(browser, files["two"]) as shown:
        yield shown


def label(shown: Page) -> str:
    return shown.inner_text("#step")


def picture(shown: Page, canvas: str = "stage") -> str:
    settle(shown)
    data: str = shown.evaluate(f"document.getElementById('{canvas}').toDataURL()")
    return data


def test_the_scrubber_changes_picture_and_label(two: Page) -> None:
    last = two.evaluate("teamworld.episode.steps")
    assert label(two) == f"step 0 / {last}"
    before = picture(two)
    two.evaluate("""() => { const scrub = document.getElementById("scrub"); scrub.value = 30;
                    scrub.dispatchEvent(new Event("input")); }""")
    assert picture(two) != before
    assert label(two) == f"step 30 / {last}"


def test_the_page_knows_what_the_log_says(two: Page) -> None:
    log = samples.played()
    frames = [event.state for event in log if isinstance(event, DrawingState)]
    assert two.evaluate("teamworld.episode.frames") == frames
    cell = two.evaluate("teamworld.player.stage.size") / 20
    for step in (0, 17, len(frames) - 1):
        two.evaluate(f"teamworld.player.go({step})")
        settle(two)
        spots = two.evaluate("teamworld.player.stage.drawn.agents.map((spot) => [spot.y, spot.x])")
        assert [[round(y / cell - 0.5), round(x / cell - 0.5)] for y, x in spots] == frames[step]["agents"]
    for event in log:
        if isinstance(event, ActionStep) and event.spent and event.step % 10 == 0:
            action = two.evaluate(f"teamworld.episode.team[{event.agent[-1]}].span({event.step}).action")
            assert action == f"{event.verb}({', '.join(event.args)})"


def test_play_goes_on_by_itself_and_stops_at_the_end(two: Page) -> None:
    two.select_option("#speed", "0.5")  # it must not end before a slow machine has pressed the button again
    two.click("#play")
    wait(two, "teamworld.player.step >= 1")
    assert two.evaluate("teamworld.player.playing")
    two.click("#play")
    stopped = two.evaluate("teamworld.player.position")
    settle(two)
    assert two.evaluate("teamworld.player.position") == stopped
    two.select_option("#speed", "16")
    two.click("#play")
    wait(two, "!teamworld.player.playing && teamworld.player.step === teamworld.episode.steps")


def test_between_two_frames_agents_are_between_two_cells(two: Page) -> None:
    two.evaluate("() => { teamworld.player.clock.position = 0.5; teamworld.player.render(); }")
    cell = two.evaluate("teamworld.player.stage.size / 20")
    from_, to = (two.evaluate(f"teamworld.episode.frames[{t}].agents[0]") for t in (0, 1))
    spot = two.evaluate("teamworld.player.stage.drawn.agents[0]")
    assert from_ != to
    assert [spot["y"] / cell - 0.5, spot["x"] / cell - 0.5] == pytest.approx(
        [(a + b) / 2 for a, b in zip(from_, to, strict=True)]
    )


def test_the_keyboard(two: Page) -> None:
    steps = [("End", "teamworld.episode.steps"), ("ArrowLeft", "teamworld.episode.steps - 1"), ("Home", "0")]
    for key, wanted in [*steps, ("ArrowRight", "1"), ("Shift+ArrowRight", "11"), ("ArrowLeft", "10")]:
        two.keyboard.press(key)
        settle(two)
        assert two.evaluate("teamworld.player.step") == two.evaluate(wanted), key
    two.keyboard.press("Space")
    wait(two, "teamworld.player.step > 10")
    two.keyboard.press("Space")
    assert not two.evaluate("teamworld.player.playing")
    two.focus("#scrub")
    before = two.evaluate("teamworld.player.step")
    two.keyboard.press("ArrowRight")
    settle(two)
    assert two.evaluate("teamworld.player.step") == before + 1, "a key counts once, on the scrubber too"


def test_a_click_on_a_lane_jumps_and_chooses_the_agent(two: Page) -> None:
    x = two.evaluate("teamworld.player.lanes.axis.x(25.5)")
    high = two.evaluate("teamworld.player.lanes.high")
    two.click("#bars", position={"x": x, "y": 1.5 * high})
    settle(two)
    assert two.evaluate("teamworld.player.step") == 25
    assert two.evaluate("teamworld.player.chosen") == 1
    two.hover("#bars", position={"x": x, "y": 0.5 * high})
    action = two.evaluate("teamworld.say(teamworld.episode.team[0].span(25).action)")
    assert action in two.inner_text("#tip")
    two.hover("#bars", position={"x": 20, "y": 1.5 * high})
    assert two.inner_text("#tip") == "agent 1", "a name that the lane has no room for is read here"
    two.focus("#lanes")
    two.keyboard.press("ArrowUp")
    assert two.evaluate("teamworld.player.chosen") == 0
    assert action in two.inner_text("#tip"), "the keyboard gets the same words"


def test_the_address_remembers_the_step(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["two"], "#t=12") as shown:
        assert label(shown).startswith("step 12 /")
        shown.evaluate("teamworld.player.go(20)")
        wait(shown, "location.hash === '#t=20'")
        shown.evaluate("() => { location.hash = '#t=99999'; }")
        wait(shown, "teamworld.player.step === teamworld.episode.steps")


@pytest.fixture
def four(browser: Page, files: dict[str, Path]) -> Iterator[Page]:
    with opened(browser, files["four"]) as shown:
        yield shown


def test_messages_up_to_the_step_and_a_click_jumps(four: Page) -> None:
    # of two agents nobody has to say anything after the first step
    said = four.evaluate("teamworld.episode.messages.map((message) => message.step)")
    later = next(step for step in said if step > 0)
    assert four.locator("#talk .said").count() == said.count(0)
    four.evaluate(f"teamworld.player.go({later})")
    settle(four)
    assert four.locator("#talk .said").count() == sum(step <= later for step in said)
    four.evaluate("teamworld.player.go(teamworld.episode.steps)")
    settle(four)
    four.locator("#talk .group .when").last.click()
    settle(four)
    assert four.evaluate("teamworld.player.step") == 0


def test_joint_acts_tell_who_was_missing(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["zero"]) as shown:
        shown.click("#tab-joints")
        shown.click("#nextfail")
        settle(shown)
        assert shown.evaluate("teamworld.episode.jointsAt(teamworld.player.step).some((joint) => !joint.success)")
        failed = shown.evaluate("teamworld.episode.joints.find((joint) => !joint.success && joint.absent)")
        shown.evaluate(f"teamworld.player.go({failed['start']})")
        settle(shown)
        sections = shown.locator("#joints .joint.failed").all_inner_texts()
        lacking = [f"needs {failed['k']}", f"{failed['short']} more agent", *failed["absent"]]
        assert any(all(word.replace("_", " ") in words for word in lacking) for words in sections), sections


def test_failures_tell_what_went_wrong(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["zero"]) as shown:
        shown.click("#tab-failures")
        failures = shown.evaluate("teamworld.episode.failures")
        assert shown.locator("#failures .joint").count() == sum(failure["start"] == 0 for failure in failures)
        shown.click("#nextlabel")
        settle(shown)
        first = next(failure for failure in failures if failure["start"] > 0)
        assert shown.evaluate("teamworld.player.step") == first["start"]
        words = shown.locator("#failures .joint").last.inner_text()
        assert first["label"] in words
        assert LABELS[first["label"]].rule in words


def test_plans_show_the_running_action_and_how_the_last_one_ended(two: Page) -> None:
    plan = two.evaluate("teamworld.episode.team[0].plans[1]")
    before = two.evaluate("teamworld.episode.team[0].plans[0]")
    two.evaluate(f"teamworld.player.go({plan['start']})")
    settle(two)
    card = two.locator("#team .agent").first
    assert card.locator(".plan li").count() == len(plan["actions"])
    assert card.locator(".plan .running").count() == 1
    assert f"{before['status']}" in card.locator(".last").inner_text()
    two.click("#tab-goals")
    two.evaluate("teamworld.player.go(teamworld.episode.steps)")
    settle(two)
    states = two.locator("#goals .goal > .aside").all_inner_texts()
    assert [text.startswith("done") for text in states] == two.evaluate(
        "teamworld.episode.goals.map((goal) => goal.done !== undefined)"
    )


@pytest.mark.parametrize(
    ("name", "drawn"), [("agent 1", "agent 1"), ("robot_arm_left_12", "robo…t_12"), ("i" * 9000, "i…i"), ("", "")]
)
def test_a_long_name_loses_its_middle(two: Page, name: str, drawn: str) -> None:
    pen = "{measureText: (text) => ({width: text.length > 200 ? 1e9 : 10 * text.length})}"
    room = 35 if len(name) > 1000 else 95
    assert two.evaluate(f"(name) => teamworld.shortened({pen}, name, {room})", name) == drawn


def test_a_hostile_text_stays_text(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["hostile"]) as shown:
        shown.evaluate("teamworld.player.go(teamworld.episode.steps)")
        settle(shown)
        assert samples.HOSTILE in shown.locator("#talk .text").first.text_content()  # type: ignore[operator]
        shown.hover("#bars", position={"x": 300, "y": 15})
        assert "broken" not in shown.title().split(":")[0]
        assert shown.locator("main img, main script, #tip img").count() == 0
        assert shown.evaluate("document.documentElement.scrollWidth") == 1280, "long words are broken, not cut"
        assert shown.title() != "broken"


def test_what_a_world_draws_stays_text(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["drawn"]) as shown:
        assert samples.HOSTILE in shown.inner_text("#key")
        before = picture(shown)
        shown.keyboard.press("End")
        assert picture(shown) != before
        spots = shown.evaluate("teamworld.player.stage.drawn.agents")
        assert spots[0] != spots[1], "agents that share a cell stand beside each other"
        shown.hover("#stage", position={"x": spots[1]["x"], "y": spots[1]["y"]})
        wait(shown, "!document.getElementById('tip').hidden")
        assert f"b, carries {samples.HOSTILE}" in shown.locator("#tip").text_content()  # type: ignore[operator]
        assert shown.locator("main img, main script, #tip img, #tip b").count() == 0
        assert shown.title() != "broken"


def test_a_drawing_that_cannot_be_made_gives_way_to_the_table(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["undrawable"]) as shown:
        words = shown.locator("#nodrawer").text_content() or ""
        assert "no drawing for the world" in words
        assert "snapshot 0: there is no kind" in words
        assert shown.locator("#state td").last.text_content() == json.dumps(samples.HOSTILE, ensure_ascii=False)
        assert shown.locator("main img, main script").count() == 0
        assert shown.title() != "broken"


def test_light_and_dark(browser: Page, files: dict[str, Path]) -> None:
    pictures = set()
    background = "getComputedStyle(document.body).backgroundColor"
    schemes: tuple[tuple[Literal["light", "dark"], str, str], ...] = (("light", LIGHT, DARK), ("dark", DARK, LIGHT))
    for scheme, first, second in schemes:
        with opened(browser, files["two"], scheme=scheme) as shown:
            assert shown.evaluate(background) == first
            pictures.add(picture(shown))
            shown.click("#theme")
            assert shown.evaluate(background) == second
            pictures.add(picture(shown))
    assert len(pictures) == 2, "the picture follows the theme"


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_sticks_out(browser: Page, files: dict[str, Path], width: int) -> None:
    with opened(browser, files["four"], width=width) as shown:
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        for part in ("#stage", "#team", "#talk", "#scrub", "#bars", "#theme"):
            box = shown.locator(part).bounding_box()
            assert box is not None
            assert box["width"] > 30
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width, part


def test_in_a_narrow_window_the_buttons_stay_beside_the_picture(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["large"], width=390) as shown:
        height = shown.evaluate("innerHeight")
        assert shown.evaluate("[innerWidth, document.documentElement.scrollHeight > 1.5 * innerHeight]") == [390, True]
        for part in ("#play", "#scrub"):
            box = shown.locator(part).bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= box["y"] + box["height"] <= height, part
        shown.click("#next")
        settle(shown)
        assert label(shown).startswith("step 1 /")


def test_a_large_team_scrolls_and_zooms(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["large"]) as shown:
        assert shown.locator("#team .agent").count() == 32
        before = picture(shown, "bars")
        shown.evaluate("() => { document.getElementById('lanes').scrollTop = 300; }")
        assert picture(shown, "bars") != before
        assert shown.evaluate("document.getElementById('bars').height < 32 * teamworld.player.lanes.high")
        shown.click("#in")
        shown.evaluate("teamworld.player.go(teamworld.episode.steps)")
        settle(shown)
        lanes = shown.evaluate(
            "({from: teamworld.player.lanes.axis.from, visible: teamworld.player.lanes.axis.visible})"
        )
        assert lanes["from"] > 0
        assert lanes["from"] + lanes["visible"] >= 40, "the view follows the cursor"


def test_a_world_without_a_drawer_and_with_longer_steps(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["toy"]) as shown:
        assert "no drawing for the world toy" in shown.inner_text("#nodrawer")
        shown.keyboard.press("End")
        settle(shown)
        assert label(shown) == "step 3 / 3, tick 6"
        state = shown.locator("#state")
        assert state.inner_text() == "at\t3"
        assert state.locator(".changed").count() == 1
        shown.keyboard.press("Home")
        settle(shown)
        assert state.inner_text() == "at\t0"
        assert state.locator(".changed").count() == 0
        shown.keyboard.press("End")
        settle(shown)
        assert "stand-in" in shown.inner_text("#facts")
        assert shown.locator("#team .agent").nth(2).inner_text().find("gone: fell") > 0
        shown.click("#tab-joints")
        # The list is drawn with the next frame of the browser, which may be late.
        wait(shown, "document.querySelector('#joints').innerText.includes('the way was not clear')")
        assert "did not reach c" in shown.inner_text("body") or shown.locator("#talk .bad").count() == 1


@pytest.fixture
def asked(browser: Page, files: dict[str, Path]) -> Iterator[Page]:
    with opened(browser, files["asked"]) as shown:
        wait(shown, "teamworld.player.ask")
        yield shown


def test_questions_are_listed_and_a_click_shows_one_whole(asked: Page) -> None:
    asked.click("#tab-asked")
    assert asked.inner_text("#tab-asked .count") == "3", "those that were not put are no questions"
    bill = asked.locator("#asked .bill").first.inner_text()
    for words in (
        "3 questions",
        "1 not asked",
        "3 unusable answers",
        "1 fallback",
        "3,600 tokens in, 90 out",
        "$0.0030",
    ):
        assert words in bill
    assert "not all prices are known" in bill
    assert samples.HOSTILE in (asked.locator("#asked .ask.skipped").text_content() or "")
    asked.locator("#asked .ask:has-text('toy.plan'):not(.skipped)").click()
    assert asked.inner_text("#asked-what") == "a: toy.plan"
    prompt = asked.locator("#ask-prompt")
    assert "Prompt of try 2, as sent" in prompt.inner_text()
    sent = samples.asked()[1][CallKey("a", "toy.plan", 1, 1)].record.request.turns
    assert prompt.locator(".turn pre").all_text_contents() == [turn.text for turn in sent]
    asked.locator("#ask-answer button:has-text('its prompt')").first.click()
    assert prompt.locator(".turn pre").all_text_contents() == [turn.text for turn in sent[:2]]
    answer = asked.locator("#ask-answer").text_content() or ""
    for words in ("schema: ", samples.HOSTILE, "go\nstay", "200 read from the provider's cache", "1.23 s", "late: "):
        assert words in answer
    assert asked.locator("dialog img, dialog script").count() == 0
    assert asked.title() != "broken"


def test_questions_by_the_keyboard(asked: Page) -> None:
    asked.focus("#lanes")
    asked.keyboard.press("ArrowDown")
    asked.keyboard.press("Enter")
    assert asked.inner_text("#asked-what") == "a: toy.plan"
    assert asked.evaluate("document.activeElement.id") == "asked-what"
    assert asked.is_disabled("#ask-last")
    asked.keyboard.press("ArrowRight")
    assert "step 1" in asked.inner_text("#asked-where")
    assert asked.is_disabled("#ask-next")
    settle(asked)
    assert label(asked).startswith("step 1 /"), "the picture shows the moment of the question"
    asked.keyboard.press("ArrowRight")
    assert "step 1" in asked.inner_text("#asked-where"), "there is no further one"
    asked.keyboard.press("Escape")
    wait(asked, "!document.getElementById('question').open")
    asked.keyboard.press("ArrowRight")
    settle(asked)
    assert label(asked).startswith("step 2 /")


def test_a_mark_of_a_question_opens_it(asked: Page) -> None:
    x = asked.evaluate("teamworld.player.lanes.axis.x(1)")
    asked.click("#bars", position={"x": x, "y": 4})
    assert "step 1" in asked.inner_text("#asked-where")
    asked.click("#ask-close")
    asked.hover("#ruler", position={"x": x, "y": 18 + 4.5 * 14})
    assert "1 question at step 1" in asked.inner_text("#tip")
    asked.evaluate("teamworld.player.go(0)")
    asked.click("#ruler", position={"x": asked.evaluate("teamworld.player.lanes.axis.x(0)"), "y": 18 + 4.5 * 14})
    asked.click("#ask-next")
    asked.click("#ask-close")
    asked.click("#tab-asked")
    asked.click("#asked .ask:has-text('toy.assign')")
    assert asked.inner_text("#asked-what") == "planner: toy.assign", "who has no body has no lane, and is in the list"
    assert "no usable answer came" in asked.inner_text("#ask-answer")


def test_a_page_without_prompts_says_so(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["unprompted"]) as shown:
        wait(shown, "teamworld.player.ask")
        shown.evaluate("teamworld.player.ask.open(teamworld.episode.asked.questions[1])")
        assert "left out" in shown.inner_text("#ask-prompt")
        assert "1,200 tokens in" in shown.inner_text("#ask-answer")


def test_where_rules_answered_the_page_says_so(two: Page) -> None:
    wait(two, "teamworld.player.ask")
    two.click("#tab-asked")
    assert "answered by built-in rules, no language model" in two.inner_text("#asked")
    two.locator("#asked .ask:not(.skipped)").first.click()
    assert "answered by built-in rules" in two.inner_text("#asked-where")
    assert "No prompt was sent" in two.inner_text("#ask-prompt")
    wanted = two.evaluate("Object.keys(teamworld.player.ask.question.answer)")
    assert two.locator("#ask-answer dt").all_inner_texts() == wanted


@pytest.mark.parametrize("width", [1280, 390])
def test_a_question_fits_into_the_window(browser: Page, files: dict[str, Path], width: int) -> None:
    with opened(browser, files["asked"], width=width) as shown:
        wait(shown, "teamworld.player.ask")
        shown.evaluate("teamworld.player.ask.open(teamworld.episode.asked.questions[1])")
        for part in ("#question", "#ask-close", "#ask-answer", "#ask-prompt"):
            box = shown.locator(part).bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width, part


def test_lanes_of_a_large_team_stand_in_groups(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["crowd"]) as shown:
        rows, closed = "teamworld.player.lanes.list.rows.length", picture(shown, "bars")
        assert shown.evaluate(rows) == 2, "60 agents of one kind are two groups, closed at first"
        high = shown.evaluate("teamworld.player.lanes.high")
        shown.hover("#bars", position={"x": 300, "y": 0.5 * high})
        assert "agent 0–29" in shown.inner_text("#tip")
        shown.click("#bars", position={"x": 20, "y": 1.5 * high})
        assert shown.evaluate(rows) == 2 + 30
        assert picture(shown, "bars") != closed
        shown.click("#bars", position={"x": 20, "y": 1.5 * high})
        assert shown.evaluate(rows) == 2
        shown.evaluate("teamworld.player.choose(45)")
        assert shown.evaluate(rows) == 2 + 30, "whoever is chosen has a lane"
        assert shown.evaluate("teamworld.player.step") == 0, "a name is no place in time"


def test_groups_of_lanes_by_the_keyboard(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["crowd"], "#t=5") as shown:
        shown.focus("#lanes")
        shown.keyboard.press("ArrowDown")
        spoken = shown.locator("#spoken")
        replay = build(samples.played())
        paces = [[pace for pace in actor.paces if pace.step <= 5][-1] for actor in replay.team]
        work, moved = (
            15 * sum(kind) for kind in zip(*((p.effect, p.moved and not p.effect) for p in paces), strict=True)
        )
        assert spoken.text_content() == (
            f"agent 0–29; 30 agents; enter opens the group; "
            f"step 5: {work} changed the world, {moved} moved, 0 in place and waiting"
        )
        assert work + moved == 30
        assert shown.evaluate("teamworld.player.chosen") is None
        shown.keyboard.press("Enter")
        shown.keyboard.press("ArrowDown")
        assert shown.evaluate("teamworld.player.chosen") == 0
        assert (spoken.text_content() or "").startswith("agent 0; ")
        shown.keyboard.press("ArrowUp")
        shown.keyboard.press("Enter")
        assert shown.evaluate("teamworld.player.lanes.list.rows.length") == 2


def test_costs_over_the_steps(asked: Page) -> None:
    rows = asked.evaluate("teamworld.player.curves.rows.map(({ name, values }) => [name, values])")
    tokens, usd = (next(values for name, values in rows if name == wanted) for wanted in ("tokens", "USD"))
    assert tokens == [0, 2460, 3690, 3690]
    assert usd == pytest.approx([0, 0.003, 0.003, 0.003])


def test_worths_stand_beside_messages_and_agents(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["valued"]) as shown:
        words = "worth: completion +0.25, steps −3.0 [−5.0, −1.0]"
        shown.keyboard.press("End")
        settle(shown)
        assert shown.locator("#talk .bill").inner_text() == f"all messages: {words}"
        said = {text.split("\n")[0]: words in text for text in shown.locator("#talk .said").all_inner_texts()}
        assert sorted(said.items()) == [("0", False), ("1", True)], "it was measured of the second message alone"
        assert [words in text for text in shown.locator("#team .agent").all_inner_texts()] == [False, True, False]
        assert f"of episode 1 of {samples.HOSTILE}" in (shown.locator("#facts").text_content() or "")
        assert shown.locator("header img, header script").count() == 0
        assert shown.title() != "broken"


def test_a_failure_label_says_what_the_team_lacks(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["zero"]) as shown:
        shown.click("#tab-failures")
        shown.click("#nextlabel")
        settle(shown)
        name = shown.evaluate("teamworld.episode.failures[0].label")
        words = shown.locator("#failures .rule").last.inner_text()
        assert words == f"{LABELS[name].rule}. What the team lacks there: {LABELS[name].diagnoses}"


def test_a_thousand_attacks_stay_texts(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["attacked"]) as shown:
        wait(shown, "teamworld.player.ask")
        shown.evaluate("() => { window.hits = []; window.hit = (number) => hits.push(number); }")
        for tab in ("asked", "knows", "talk"):
            shown.click(f"#tab-{tab}")
            settle(shown)
        shown.click("#tab-asked")
        rows = shown.locator("#asked .ask")
        assert rows.count() == 100
        texts = shown.evaluate(
            """() => teamworld.episode.asked.questions.map((row) => {
              teamworld.player.ask.open(row);
              return document.getElementById("question").textContent;
            })"""
        )
        assert all(text.count("hit(") >= 8 for text in texts), "every text is there to be read"
        assert len(set(texts)) == 100
        made = "script", "img", "svg", "iframe", "details"
        tags = ", ".join(f"{place} {tag}" for place in ("main", "dialog") for tag in made)
        assert shown.locator(tags).count() == 0
        settle(shown)
        assert shown.evaluate("hits") == []
