"""What the shared blocks show of an action that runs, and of one that another took the place of."""

from __future__ import annotations

import re
from dataclasses import replace

from teamworld.language import Plan, plain
from teamworld.methods.common.knowledge import AgentKnowledge, Teammate
from teamworld.reasoning.prompts import environment
from teamworld.worlds.cube.world import CubeWorld
from tests.worlds.cube.team import give, world
from tests.worlds.transport.houses import house, item
from tests.worlds.transport.houses import world as in_house


def knowledge(here: CubeWorld, *doing: str) -> AgentKnowledge:
    view = here.view("agent_0")
    running = Plan(tuple(view.running["agent_0"] for _ in doing), "block_0") if doing else None
    return AgentKnowledge(view, here.domain, here.spec, running=running)


def block(name: str, me: AgentKnowledge) -> str:
    return environment().get_template(f"common/prompts/{name}.md.j2").render(me=me)


def test_what_runs_is_listed_once_with_the_steps_that_are_left() -> None:
    here = world(20, [(4, 3), (0, 0)], [(1, 4, 4)])
    give(here, "push_block(0, 15)")
    give(here)
    options = [(plain(option.action), option.steps) for option in knowledge(here, "push").options]
    assert options == [("push_block(block_0, 15)", 13), ("idle(1)", 1)]
    assert "1. go on with `push_block(block_0, 15)` for block_0: 13" in plain(block("options", knowledge(here, "push")))


def test_a_walk_is_counted_down() -> None:
    here = world(20, [(9, 18), (0, 0)], [(1, 4, 4)])
    give(here, "move(left, 12)")
    give(here)
    assert knowledge(here, "move").options[0].steps == 10


def test_an_action_that_another_took_the_place_of_did_not_fail() -> None:
    here = world(20, [(4, 3), (0, 0)], [(1, 4, 4)])
    give(here, "push_block(0, 15)")
    give(here, "move(left, 1)")
    give(here, "push_block(0, 15)")
    own = plain(block("own", knowledge(here)))
    assert "- `push_block(block_0, 15)` from step 0: stopped: another action was begun\n" in own
    assert "- `move(left, 1)` from step 1: done\n" in own
    assert here.view("agent_0").history[-1].ending == "failed, agent_0 is not lined up at any face of block_0"


def test_who_takes_a_task_is_named_and_an_own_task_is_called_so() -> None:
    here = world(20, [(4, 3), (0, 0)], [(1, 4, 4)])
    me = knowledge(here)
    taken = replace(me, team=(Teammate("agent_1", "pusher", commitment="block_0", said=0),))
    assert me.mark("block_0") == taken.mark(None) == ""
    assert taken.mark("block_0") == " (agent_1's task)"
    assert replace(taken, commitment="block_0").mark("block_0") == " (yours; also agent_1's)"
    later = replace(me, team=(Teammate("agent_1", "pusher", commitment="block_1", said=0, then=("block_0",)),))
    assert replace(later, then=("block_0",)).mark("block_0") == " (yours; also agent_1's next)"
    assert "for block_0 (yours; also agent_1's next):" in plain(block("options", replace(later, commitment="block_0")))


def test_what_cannot_be_brought_in_time_is_too_late() -> None:
    def told(horizon: int) -> list[str]:
        things = [item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2)]
        here = in_house(house(things, starts=[(2.0, 1.0, 0.0)]), horizon)
        me = AgentKnowledge(here.view("Alice"), here.domain, here.spec)
        fetches = [option for option in me.options if option.action.verb == "fetch"]
        assert len(fetches) == 2
        return [me.tell_late(option) for option in fetches]

    assert told(1000) == ["", ""]
    assert all(re.fullmatch(r", likely too late: it counts in \d+", words) for words in told(200))
    assert told(5) == [", more than are left"] * 2
