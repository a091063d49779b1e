"""What agents are told in words: mission, rules, goals, options; and that views tell all that facts say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from teamworld.language import Action, ActionSchema, Entity, Fact, Facts, plain
from teamworld.worlds.contract import ImpossibleFacts
from teamworld.worlds.cube.text import _unseen_cells
from teamworld.worlds.cube.world import CubeOptions, CubeView, CubeWorld, make
from tests.worlds.cube.team import Cell, give, run, world
from tests.worlds.test_words import answers, changed, moments

W1 = (1, 4, 4)


def options(here: CubeWorld, agent: str = "agent_0") -> Mapping[str, tuple[str | None, int]]:
    return {plain(option.action): (option.goal, option.steps) for option in here.view(agent).options if option.goal}


def goal_line(here: CubeWorld, block: int, agent: str = "agent_0") -> str:
    view = here.view(agent)
    return here.domain.describe_goal(view.goals[block], agent, view.known)


def test_the_mission_says_what_counts_and_by_when() -> None:
    task = make("paper-n2", 0, 150, {}).spec.task
    assert "weights" not in task, "every view shows them"
    hidden = make("paper-n2", 0, 150, {"view_radius": 3}).spec.task
    assert "push 3 blocks, block_0 to block_2, of weights 2, 1 and 1, in any order, to the right edge" in hidden
    assert "within 150 steps" in task
    assert "scores its weight (4 in all)" in task


def test_the_rules_hold_for_this_instance_and_tell_of_nothing_else() -> None:
    rules = make("paper-n2", 0, 150, {}).spec.rules
    assert "20 x 20 cells" in rules
    assert "column 19" in rules
    assert "pushers of any of them count" in rules
    assert "unseen" not in rules
    limited = make("n4", 0, 150, {"view_radius": 3, "controller": "paper", "force_scope": "rear"}).spec.rules
    assert "sees 3 cells far" in limited
    assert "as likely in one unseen cell as in any other" in limited
    assert "any of them count" not in limited


def test_every_action_is_explained_and_its_example_can_be_written() -> None:
    view = make("paper-n2", 0, 150, {}).view("agent_0")
    for schema in view.abilities:
        assert schema.doc.endswith(".")
        if schema.example is not None:
            assert schema.complete(schema.example).verb == schema.verb
    by_verb: Mapping[str, ActionSchema] = {schema.verb: schema for schema in view.abilities}
    assert all(by_verb[verb].needs for verb in ("move_to_block", "rendezvous", "push_block", "yield_block"))
    assert "tick" not in " ".join(schema.doc + schema.signature() for schema in view.abilities)


@pytest.mark.parametrize(
    ("agents", "blocks", "line"),
    [
        (
            [(0, 0), (1, 0)],
            [(2, 1, 1), (1, 1, 5), (1, 1, 8)],
            "17 columns to go, worth 2, takes 2 agents (agent_1 is there); you: 10 steps to its left face; "
            "cannot be done now by 2: block_1 is in the way after 2 columns (takes 3)",
        ),
        (
            [(0, 0), (1, 0)],
            [(2, 1, 1), (1, 1, 3)],
            "17 columns to go, worth 2, takes 3 agents, 2 once block_1 is gone (agent_1 is there); you: 12 steps to "
            "its left face; cannot be done now by 2: block_1 is in the way from the start (takes 3)",
        ),
        (
            [(4, 3), (4, 9)],
            [(1, 4, 4), (1, 4, 6)],
            "15 columns to go, worth 1, takes 1 agent (you are there); 2 after 1 column, with block_1; "
            "agent_1 stands in its way after 3 columns",
        ),
        (
            [(4, 2)],
            [(3, 4, 4)],
            "13 columns to go, worth 3, takes 3 agents; you: 2 steps to its left face; "
            "cannot be done by 1: it is too heavy",
        ),
        (
            [(4, 2), (9, 9)],
            [(1, 4, 0), (1, 12, 0)],
            "19 columns to go, worth 1, takes 1 agent; "
            "cannot be done now: the wall is at its left face; you stand in its way after 1 column",
        ),
        (  # both ends of the face are held, and column 0 is the only way to its middle
            [(18, 0), (14, 0), (16, 0)],
            [(3, 14, 1)],
            "16 columns to go, worth 3, takes 3 agents (agent_1 and agent_2 are there); you: no way to its left "
            "face while agent_2 stays at (16, 0), 2 steps without it; agent_2's move(up, 1) lets you in a step later",
        ),
        (  # the same for who shuts the other out
            [(16, 0), (14, 0), (17, 0)],
            [(3, 14, 1)],
            "16 columns to go, worth 3, takes 3 agents (you and agent_1 are there); "
            "(15, 0) cannot be reached past you: move(up, 1) lets agent_2 in a step later",
        ),
        (  # agent_1 pushes block_1 off before block_0 comes there
            [(1, 18), (1, 15)],
            [(2, 1, 1), (1, 1, 16)],
            "17 columns to go, worth 2, takes 2 agents; you: 20 steps to its left face; block_1 is in the way "
            "after 13 columns (takes 3) unless it is gone by then: agent_1 is at it, 3 columns to go; "
            "you stand in its way after 14 columns",
        ),
        (  # row 0 is the straight way, and agent_1 stands on it
            [(1, 0), (0, 1)],
            [(2, 1, 1), (1, 1, 5)],
            "14 columns to go, worth 1, takes 1 agent; you: 8 steps to its left face, 6 if agent_1 makes way",
        ),
        (
            [(9, 9)],
            [(1, 0, 1), (1, 1, 0)],
            "18 columns to go, worth 1, takes 1 agent; no way leads you to its left face now",
        ),
    ],
)
def test_a_goal_says_what_it_takes_and_what_is_in_the_way(
    agents: Sequence[Cell], blocks: Sequence[tuple[int, int, int]], line: str
) -> None:
    here = world(20, agents, blocks)
    assert goal_line(here, 1 if "14 columns to go" in line else 0) == line


def test_options_serve_their_goal_and_say_how_long_they_take() -> None:
    here = make("paper-n2", 0, 150, {})
    faces = [name.removeprefix("move_to_block(") for name in options(here)]
    assert faces == ["block_1, left)", "block_2, left)", "block_0, left)"], "what is barred comes last"
    at_the_top = world(20, [(3, 4), (0, 0)], [(2, 4, 4)])
    assert list(options(at_the_top)) == ["move_to_block(block_0, left)"]
    alone = world(20, [(4, 3), (9, 9)], [(1, 4, 4)])
    assert options(alone) == {"push_block(block_0, 15)": ("block_0", 15)}


def test_a_block_is_pushed_aside_only_where_what_bars_it_cannot_go_first() -> None:
    at_the_top, lifted = [(3, 4), (3, 5)], (2, 4, 4)
    movable = world(20, at_the_top, [lifted, (1, 4, 9)])
    assert not [name for name in options(movable) if name.startswith("push_block(block_0")]
    heavy = world(20, at_the_top, [lifted, (3, 4, 9)])
    assert options(heavy)["push_block(block_0, 2)"] == ("block_0", 2)


def test_a_push_leaves_room_behind_what_bars_the_block() -> None:
    here = world(20, [(4, 3), (5, 3)], [(2, 4, 4), (1, 4, 9)])
    assert "push_block(block_0, 2)" in options(here), "after 3 nobody could stand left of block_1"


@pytest.mark.parametrize(
    ("agents", "orders", "offered"),
    [
        ([(4, 3), (9, 9)], [], ["rendezvous(block_0, left, 2, 11)"]),  # nobody comes
        ([(4, 3), (9, 9)], ["", "move_to_block(0, left)"], ["push_block(block_0, 14)", "rendezvous"]),
        ([(4, 3), (5, 3)], [], ["push_block(block_0, 14)"]),
        ([(4, 3), (5, 3)], ["", "push_block(0, 14)"], ["push_block(block_0, 14)"]),
        ([(4, 3), (5, 3)], ["", "rendezvous(0, left)"], ["push_block(block_0, 14)", "rendezvous"]),
        ([(4, 3), (5, 3)], ["push_block(0, 14)"], ["push_block(block_0, 14)"]),
        ([(4, 3), (9, 9)], ["", "idle(9)"], ["rendezvous(block_0, left, 2, 11)"]),
    ],
)
def test_pushing_or_meeting_is_offered_by_what_the_team_does(
    agents: Sequence[Cell], orders: Sequence[str], offered: Sequence[str]
) -> None:
    here = world(20, agents, [(2, 4, 4)])
    give(here, *orders)
    listed = [name for name in options(here) if "push" in name or "rendezvous" in name]
    assert [name[: len(start)] for name, start in zip(listed, offered, strict=True)] == list(offered), listed


def test_a_meeting_is_offered_with_the_time_that_partners_need() -> None:
    near, far = world(20, [(4, 3), (6, 3)], [(2, 4, 4)]), world(20, [(4, 3), (18, 18)], [(2, 4, 4)])
    assert "rendezvous(block_0, left, 2)" in options(near), "the default of 10 steps is enough"
    name, (_, steps) = next((name, option) for name, option in options(far).items() if name.startswith("rendezvous"))
    assert steps > 20
    assert name == f"rendezvous(block_0, left, 2, {steps})"


def test_a_push_is_estimated_with_the_wait_for_partners_and_a_walk_goes_round_teammates() -> None:
    here = world(20, [(4, 3), (5, 0)], [(2, 4, 4)])
    give(here, "", "move_to_block(0, left)")
    assert options(here)["push_block(block_0, 14)"] == ("block_0", 2 + 14)
    shut = world(20, [(4, 1), (4, 2), (9, 9)], [W1])
    assert options(shut)["move_to_block(block_0, left)"] == ("block_0", 4), "agent_1 stands on the straight way"


def test_a_push_says_whom_it_waits_for() -> None:
    here = world(20, [(4, 3), (5, 3), (9, 9)], [(3, 4, 4)])
    give(here, "", "rendezvous(0, left)", "move_to_block(0, left)")
    assert "A push now waits for agent_1 (meeting) and agent_2 (walking up)." in here.view("agent_0").text()
    give(here, "", "push_block(0, 9)")
    assert "A push now waits for agent_2 (walking up)." in here.view("agent_0").text()


def test_who_shuts_others_out_is_asked_to_make_room_before_it_waits() -> None:
    here = world(20, [(16, 0), (17, 0), (14, 0), (6, 0)], [(3, 14, 1), W1])
    first = list(options(here))[:2]
    assert first == ["move(up, 1)", "rendezvous(block_0, left, 3)"]
    assert options(here)["move(up, 1)"] == ("block_0", 1)
    assert options(here, "agent_2")["rendezvous(block_0, left, 3)"] == ("block_0", 10), "it would wait in vain"
    assert "move(down, 1)" not in options(here, "agent_2"), "one of the two is enough"
    give(here, "move(up, 1)")
    assert options(here, "agent_2")["rendezvous(block_0, left, 3)"] == ("block_0", 2)
    assert next(iter(options(here))) == "rendezvous(block_0, left, 3)"


def test_nobody_is_to_be_waited_for_where_the_block_is_stopped_for_good() -> None:
    stopped = world(20, [(1, 0), (0, 0)], [(2, 1, 1), (1, 1, 5)])
    assert not [name for name in options(stopped) if name.startswith("rendezvous")]
    gone_by_then = world(20, [(1, 0), (1, 4)], [(2, 1, 1), (1, 1, 5)])
    assert [name for name in options(gone_by_then) if name.startswith("rendezvous(block_0")]


def test_one_estimate_of_a_walk_stands_everywhere() -> None:
    here = make("paper-n2", 0, 150, {})
    for agent in here.spec.agents:
        view = here.view(agent)
        for option in view.options:
            if option.action.verb == "move_to_block":
                assert here.domain.estimate_steps(agent, option.action, view.known) == option.steps
                line = goal_line(here, int(option.goal[-1]), agent) if option.goal else ""
                assert f"you: {option.steps} steps to its left face" in line


def test_what_nobody_has_found_is_told_and_who_looks_where() -> None:
    here = world(20, [(15, 13), (16, 13)], [W1], options=CubeOptions(view_radius=4))
    text = here.view("agent_0").text()
    assert "Not found: block_0 (weight 1)." in text
    assert "Unseen: rows 0-10: columns 0-19; rows 11-19: columns 0-8, 18-19." in text
    looks = {
        agent: re.findall(r"Unseen cells to see: (.*)\.", here.view(agent).text())[0] for agent in here.spec.agents
    }
    assert looks["agent_0"].split("; ")[0] != looks["agent_1"].split("; ")[0], "each has its own area"
    first = re.search(r"(move\(\w+, \d+\))", looks["agent_0"])
    assert first is not None
    assert first[1] in [plain(option.action) for option in here.view("agent_0").options]


def test_a_walk_shows_as_many_unseen_cells_as_it_says() -> None:
    here = world(20, [(15, 13), (3, 0)], [W1, (1, 0, 15)], options=CubeOptions(view_radius=4))
    told = re.search(r"cells to see: (\d+) of rows? [-\d]+ by (.*?)[;.]", here.view("agent_0").text())
    assert told is not None
    before = len(_unseen_cells(here.view("agent_0")))
    for walk in re.findall(r"move\(.*?\)", told[2]):
        run(here, walk)
    assert before - len(_unseen_cells(here.view("agent_0"))) == int(told[1])


def test_nothing_is_looked_for_once_all_is_found() -> None:
    here = world(20, [(4, 0), (0, 0)], [W1], options=CubeOptions(view_radius=4))
    view = here.view("agent_1")
    assert view.state.unseen
    assert "cells to see" not in view.text()
    assert {plain(option.action) for option in view.options} == {"move_to_block(block_0, left)", "idle(1)"}


def test_what_runs_is_counted_down() -> None:
    here = world(20, [(4, 3), (0, 9)], [W1])
    give(here, "push_block(0, 9)", "move(left, 8)")
    for _ in range(2):
        give(here)
    pushing, walking = here.view("agent_0"), here.view("agent_1")
    assert plain(pushing.remainder) == "push_block(block_0, 6, 0)"
    assert plain(walking.remainder) == "move(left, 5)"
    assert here.domain.estimate_steps("agent_0", Action("push_block", (Entity("block", 0), 99)), pushing.known) == 12
    here.reset(0)
    assert here.view("agent_0").remainder is None


def test_a_block_is_pushed_back_for_the_one_that_it_shuts_off() -> None:
    touching = world(20, [(9, 9), (0, 0)], [(2, 4, 4), (1, 4, 6)])
    assert options(touching)["move_to_block(block_0, right)"][0] == "block_1"
    assert "push_block(block_0, 14)" not in options(touching)


def test_moves_are_options_where_an_agent_may_be_in_the_way_and_do_not_end_at_once() -> None:
    def moves(*agents: Cell) -> list[str]:
        view = world(10, agents, [W1]).view("agent_0")
        return [str(option.action) for option in view.options if option.action.verb == "move"]

    beside = [(3, 3), (2, 3)]
    assert moves(*beside) == ["move(down, 3)", "move(left, 1)", "move(right, 3)"]
    ahead = [(4, 9), (2, 3)]
    assert moves(*ahead) == ["move(up, 1)", "move(down, 1)"]
    lined_up, far = [(4, 3), (0, 0)], [(9, 9), (0, 0)]
    assert moves(*lined_up) == moves(*far) == []


@pytest.mark.parametrize(
    ("agents", "blocks", "orders", "reason"),
    [
        (
            [(4, 0), (6, 0)],
            [W1],
            ["move(down, 3)"],
            "blocked: went 1 of 3 cells down; agent_1 was in the way at (6, 0)",
        ),
        ([(0, 0)], [W1], ["move(up)"], "blocked: went 0 of 1 cell up; the wall was in the way"),
        (
            [(0, 0)],
            [W1, (1, 0, 1), (1, 1, 0)],
            ["move_to_block(0, left, 6)"],
            "unreachable: 6 steps went by without a free way to the left face of block_0",
        ),
        (
            [(9, 9)],
            [W1],
            ["move_to_block(0, left, 2)"],
            "timeout: 2 steps went by on the way to the left face of block_0",
        ),
        (
            [(9, 9)],
            [(2, 0, 0)],
            ["move_to_block(0, left)"],
            "face_gone: no cell to stand on at the left face of block_0, for the wall",
        ),
        (
            [(3, 4)],
            [W1],
            ["rendezvous(0, left, 1)"],
            "not_aligned: agent_0 is not lined up at the left face of block_0, but at the up face",
        ),
        (
            [(4, 3), (5, 3)],
            [(2, 4, 4)],
            ["rendezvous(0, left, 2, 3)", "idle(9)"],
            "timeout: 3 steps went by, 1 of 2 waited at the left face of block_0; agent_1 stood there without waiting",
        ),
        (
            [(9, 9), (0, 0)],
            [W1],
            ["wait_agents(2, 4)", "idle(9)"],
            "timeout: 4 steps went by, 1 of 2 waited, not agent_1",
        ),
        ([(4, 3)], [W1], ["push_block(0, 9, 2)"], "timeout: 2 steps went by, block_0 moved 2 of 9 cells"),
        ([(4, 1)], [(1, 4, 2)], ["yield_block(0, 2)"], "blocked: backed away 1 of 2 cells; the wall was in the way"),
    ],
)
def test_failures_are_explained(
    agents: Sequence[Cell], blocks: Sequence[tuple[int, int, int]], orders: Sequence[str], reason: str
) -> None:
    here = world(12, agents, blocks)
    run(here, *orders)
    while not here.view("agent_0").history:
        give(here)
    assert here.view("agent_0").history[-1].reason == reason


def altered(view: CubeView, facts: Facts) -> CubeView:
    """Return the view of an agent that perceives other facts."""
    frame = replace(view._frame, split=lambda agent: (facts, Facts(), facts))
    return CubeView(view.agent, frame, lambda: frame)


def test_all_of_a_view_follows_from_its_facts() -> None:
    here = make("n4", 0, 150, {"view_radius": 4})
    view = here.view("agent_0")
    known = Facts(tuple(view.known))
    assert altered(view, known).text() == view.text()
    assert set(altered(view, known).options) == set(view.options)
    for fact in known:
        if fact.predicate in ("SIDE", "STATE") or fact.subject == "agent_0":
            continue
        without = altered(view, Facts(tuple(other for other in known if other != fact)))
        assert without.text() != view.text(), fact
    moved = tuple(Fact(f.subject, f.predicate, 25) if f.predicate == "SIDE" else f for f in known)
    assert "column 24" in altered(view, Facts(moved)).text()
    others = [f for f in known if f.subject != Entity("block", 0) or f.predicate == "WEIGHT"]
    done = altered(view, Facts((*others, Fact(Entity("block", 0), "STATE", "delivered")))).text()
    assert "block_0" not in done.replace("Delivered: block_0", "")


def test_agents_are_told_what_they_and_others_do() -> None:
    here = world(10, [(9, 9), (0, 0)], [W1], options=CubeOptions(view_radius=2))
    give(here, "move_to_block(0, left)" if here.view("agent_0").state.blocks else "idle(3)", "move(down, 5)")
    text = here.view("agent_0").text()
    assert "You are agent_0 at (9, 9), doing idle(3). Goal" in text
    assert "Others: agent_1 (1, 0), doing move(down, 5)." in text
    assert "Not found: block_0 (weight 1)." in text
    assert here.view("agent_1").running["agent_1"] == Action("move", ("down", 5))


@pytest.mark.parametrize(("level", "options"), [("paper-n2", {}), ("n4", {}), ("n4", {"view_radius": 3})])
def test_what_rules_answer_by_stands_in_the_situation(level: str, options: Mapping[str, object]) -> None:
    here = make(level, 0, 60, options)
    tried = 0
    for t, _ in enumerate(moments(here, 30)):
        view = here.view("agent_1")
        if t % 8 != 3:
            continue
        before, told = answers(here, view.agent, view.kind, view.known), altered(view, view.known).text()
        for facts in changed(view.known):
            try:
                after = answers(here, view.agent, view.kind, facts)
            except ImpossibleFacts:
                continue
            tried += 1
            assert after == before or altered(view, facts).text() != told, set(view.known) ^ set(facts)
    assert tried > 20


@pytest.mark.parametrize("options", [{}, {"view_radius": 3}, {"controller": "paper", "timeouts": "paper"}])
def test_words_are_plain_whole_and_count_in_steps(options: Mapping[str, object]) -> None:
    here = make("n4", 1, 60, options)
    said = [here.spec.task, here.spec.rules]
    for _ in moments(here, 60):
        for agent in here.spec.agents:
            view = here.view(agent)
            said += [here.domain.describe_goal(goal, agent, view.known) for goal in view.goals]
            said += [view.text(), *(outcome.reason for outcome in view.history)]
            said += [words for schema in view.abilities for words in (schema.doc, schema.needs)]
    for words in dict.fromkeys(said):
        assert plain(words) == words
        assert not re.search(r"\bticks?\b|\b1 (cells|columns|steps|agents)\b|  ", words), words


def test_a_place_behind_a_line_is_told_where_it_is_nearer_than_the_face() -> None:
    here = world(12, [(5, 3), (4, 2)], [(2, 5, 4)])
    assert "you: 3 steps to its left face, 1 step to line up behind agent_0" in here.domain.describe_goal(
        here.view("agent_1").goals[0], "agent_1", here.view("agent_1").known
    )
    assert "line up behind" not in here.domain.describe_goal(
        here.view("agent_0").goals[0], "agent_0", here.view("agent_0").known
    )
