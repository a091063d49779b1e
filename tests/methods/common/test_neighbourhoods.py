"""Large teams: how they are split, what their views tell, and that no order of answers changes a byte."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.episode.loop import Episode, Setting
from teamworld.experiment.message_protocol import rule as message_rule
from teamworld.experiment.spec import RunCell
from teamworld.language import Fact, parse_action
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry
from teamworld.methods.common.neighbourhoods import LARGE, Neighbourhoods, divide, find_place, in_neighbourhoods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.router import Route
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Deliver, Event, LogWriter, MessageSent, QuestionAsked
from teamworld.seeding import generator
from teamworld.testing.parity import check_parity
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.views import FactsView, Narrowing
from teamworld.worlds.contract import View, World
from tests.reasoning.llm import virtual

METHODS = ("drwell", "coela", "cobel", "hmas2", "camon", "embodied")
#: More agents than are never split, on a small grid: three neighbourhoods.
LEVEL = f"n{LARGE + 4}"


class Late:
    """Rules that answer in another order with every salt."""

    name = "rules"

    def __init__(self, rules: RuleReasoner, salt: int) -> None:
        self._rules, self._rng = rules, generator(salt, "test", "late")
        self.asked: list[Question[Any]] = []

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        self.asked.append(question)
        answer = await self._rules.ask(question, tries)
        await asyncio.sleep(float(self._rng.random()))
        return answer


class Played:
    """A few steps of a large team."""

    def __init__(self, method: str, path: Path, salt: int = 0, level: str = LEVEL, **options: object) -> None:
        filled = registry.resolve(method, {method: options}).model_dump()
        streams = RunCell(method, 0).streams(1)
        self.mind = Late(RuleReasoner(streams), salt)
        world = worlds.make("cube", level, 0, 2, {})
        setting = Setting(0, 0, 1, {}, message_rule(method, "native", {}))
        with LogWriter(path) as log:
            player = in_neighbourhoods(registry.make(method, filled))
            virtual.run(Episode(world, player, self.mind, WorldModel(), log, streams, setting).play())
            log.finish()
            self.events: Sequence[Event] = log.events
            self.digest = log.digest


@pytest.mark.heavy
@pytest.mark.parametrize("method", METHODS)
def test_no_order_of_answers_changes_a_byte_and_nobody_hears_another_neighbourhood(method: str, tmp_path: Path) -> None:
    first, second = (Played(method, tmp_path / f"{salt}.zst", salt) for salt in (1, 2))
    assert first.digest == second.digest
    orders = [[(asked.kind, asked.respondent) for asked in played.mind.asked] for played in (first, second)]
    assert sorted(orders[0]) == sorted(orders[1])
    world = worlds.make("cube", LEVEL, 0, 3, {})
    parts = divide({agent: find_place(world.view(agent)) for agent in world.spec.agents}, 8)
    number = {agent: at for at, agents in enumerate(parts) for agent in agents}
    sent = {event.id: event for event in first.events if isinstance(event, MessageSent)}
    heard = [event for event in first.events if isinstance(event, Deliver)]
    assert len(sent) == sum(isinstance(event, MessageSent) for event in first.events), "numbers tell messages apart"
    assert all(number[event.agent] == number[sent[event.message].agent] for event in heard)
    if method == "hmas2":
        planners = {event.agent for event in first.events if isinstance(event, QuestionAsked)} - number.keys()
        assert planners == {"planner.1", "planner.2", "planner.3"}
    if method in ("drwell", "embodied"):
        assert heard


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)) | st.none(), min_size=1, max_size=60),
    st.integers(1, 9),
)
def test_a_team_is_split_into_as_few_neighbourhoods_as_there_can_be(
    places: list[tuple[int, int] | None], most: int
) -> None:
    where = {f"agent_{number}": place for number, place in enumerate(places)}
    parts = divide(where, most)
    assert sorted(chain(*parts)) == sorted(where)
    assert len(parts) == -(-len(where) // most)
    assert all(1 <= len(part) <= most for part in parts)
    assert all(list(part) == [agent for agent in where if agent in part] for part in parts)


def test_who_stands_together_belongs_together() -> None:
    places = {f"agent_{number}": (10 * (number % 2), number) for number in range(6)}
    assert divide(places, 3) == [("agent_0", "agent_2", "agent_4"), ("agent_1", "agent_3", "agent_5")]
    assert divide(dict.fromkeys("abcd"), 2) == [("a", "b"), ("c", "d")], "without places by their order"


def test_small_teams_are_whole_and_the_option_is_written_down_only_where_it_is_set(tmp_path: Path) -> None:
    options = registry.resolve("drwell", {})
    assert "neighbourhood" not in options.model_dump()
    assert registry.resolve("drwell", {"drwell": {"neighbourhood": 4}}).model_dump()["neighbourhood"] == 4
    assert isinstance(in_neighbourhoods(registry.make("coela", {})), Neighbourhoods)
    assert not isinstance(in_neighbourhoods(registry.make("coela", {"neighbourhood": None})), Neighbourhoods)
    split, whole = (
        Played("hmas2", tmp_path / f"{most}.zst", level="n4", neighbourhood=most).digest for most in (2, None)
    )
    assert split == whole


def test_a_route_to_the_planner_leads_to_those_of_all_neighbourhoods() -> None:
    route = Route("planner", "*", "rules")
    assert route.covers("planner", "hmas2.plan")
    assert route.covers("planner.3", "hmas2.plan")
    assert not route.covers("agent_1", "hmas2.plan")


# ---- narrowed views


def _narrowed(world: World, kept: Sequence[str]) -> Mapping[str, View]:
    narrowing = Narrowing(kept)
    views = {agent: world.view(agent) for agent in kept}
    return {
        agent: cast("View", view.narrowed(narrowing)) for agent, view in views.items() if isinstance(view, FactsView)
    }


@pytest.mark.parametrize(("name", "level"), [("cube", LEVEL), ("wildfire", "suppress_fire_extinguish")])
def test_a_narrowed_view_tells_of_some_agents_and_of_how_many_others_there_are(name: str, level: str) -> None:
    world = worlds.make(name, level, 0, 20, {})
    world.reset(0)
    agents = world.spec.agents
    views = _narrowed(world, agents[:3])
    view, whole = views[agents[0]], world.view(agents[0])
    named = {fact.subject for fact in view.known if isinstance(fact.subject, str)}
    assert named == set(agents[:3])
    assert f"{len(agents) - 3} more" in view.text()
    assert not any(f"{agent} " in view.text() for agent in agents[3:])
    assert [goal.id for goal in view.goals] == [goal.id for goal in whole.goals]
    assert [(goal.quorum, goal.state) for goal in view.goals] == [(goal.quorum, goal.state) for goal in whole.goals]
    assert views[agents[1]].known is view.known or name == "wildfire", "who knows the same shares it"
    assert all(view.check(option.action).ok for option in view.options)


@pytest.mark.parametrize("size", [14, LARGE, LARGE + 1, LARGE + 14])
def test_words_tell_of_every_teammate_of_whom_rules_read(size: int) -> None:
    world = worlds.make("wildfire", "scale_simple", 0, 90, {"firefighters": size})
    world.reset(0)
    agents = world.spec.agents
    for number, agent in enumerate(
        agents
    ):  # each goes a way of its own: who stands at one place is told of in one line
        world.step({agent: parse_action(f"fell(<target>({3 * number}))")})
    kept = agents[: LARGE + 8]
    views = _narrowed(world, kept) if size > LARGE else {agent: world.view(agent) for agent in agents}
    assert len({view.known.value(agent, "AT") for agent, view in views.items()}) > 12
    for agent, view in views.items():
        read = {fact.subject for fact in view.known if isinstance(fact.subject, str)} - {agent}
        assert read == {*kept} - {agent}
        assert all(re.search(rf"\b{name}\b", view.text()) for name in read), view.text()
        assert (f"{size - len(kept)} more teammate" in view.text()) == (size > len(kept))


def test_what_is_far_changes_nothing_that_a_narrowed_view_of_cube_offers() -> None:
    near, far = (worlds.make("cube", LEVEL, 0, 20, {}) for _ in range(2))
    agents = near.spec.agents
    for world, steps in ((near, 0), (far, 3)):
        world.reset(0)
        assert all(isinstance(view, FactsView) for view in map(world.view, agents))
        for _ in range(steps):
            world.step({})
    first, second = (_narrowed(world, agents[:4])[agents[0]] for world in (near, far))
    assert first.options == second.options
    sizes = {fact.value for fact in first.known if fact.predicate == "ELSEWHERE"}
    assert sizes == {len(agents) - 4}
    assert Fact(agents[5], "AT", near.view(agents[5]).known.value(agents[5], "AT") or 0) not in first.known


@pytest.mark.heavy
@pytest.mark.parametrize("method", ["coela", "embodied"])
def test_a_rule_of_a_large_team_reads_what_its_prompt_tells(method: str, tmp_path: Path) -> None:
    seen: dict[str, Question[Any]] = {}

    class Checked(Late):
        async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
            if question.kind not in seen:
                seen[question.kind] = question
                tally = check_parity(question, generator(0, "test", "parity"), 12)
                assert not tally.leaks, tally.leaks
                text = render(question).text
                assert "more agent" in text or "## Your situation" not in text  # a message is worded without it
            return await super().ask(question, tries)

    streams = RunCell(method, 0).streams(1)
    steps = 60 if method == "drwell" else 1  # it holds no meeting where the steps left suffice for nothing
    world = worlds.make("cube", f"n{LARGE + 12}", 0, steps, {})
    setting = Setting(0, 0, 1, {}, message_rule(method, "native", {}))
    with LogWriter(tmp_path / "log.zst") as log:
        player = in_neighbourhoods(registry.make(method, registry.resolve(method, {}).model_dump()))
        mind = Checked(RuleReasoner(streams), 0)
        virtual.run(Episode(world, player, mind, WorldModel(), log, streams, setting).play())
    assert seen
