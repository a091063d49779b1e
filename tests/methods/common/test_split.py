"""A team that is split among methods: each has its own agents, and all hear one another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

import teamworld
from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.language import AgentId
from teamworld.methods import registry
from teamworld.methods.coela.method import Coela
from teamworld.methods.common.mixed_team import Part, split
from teamworld.methods.contract import WAIT, Briefing, Decision, DecisionContext, Message, Method
from teamworld.record import EpisodeEnd, EpisodeStart, Event, MessageSent, PlanStart, QuestionAsked, read_log
from teamworld.testing import check_method
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import Capability
from tests.methods.single_steps import score

ROOMS, HOME = Scenario("rooms", "two", 0, 120), Scenario("household", "dev", 3, 250)
SEEN: list[Seen] = []


class Seen:
    """What a spy was shown, in an episode."""

    def __init__(self) -> None:
        self.agents: tuple[AgentId, ...] = ()
        self.entities = 0
        self.shown: set[AgentId] = set()
        self.team: set[tuple[AgentId, ...]] = set()
        self.free: set[AgentId] = set()
        self.heard: list[Message] = []
        self.refused: list[str] = []


class Spy(Method):
    """Says something, and writes down what it is shown."""

    name: ClassVar[str] = "spy"
    summary: ClassVar[str] = "a spy"

    async def begin(self, briefing: Briefing) -> None:
        self.seen = Seen()
        self.seen.agents, self.seen.entities = briefing.agents, len(briefing.entities)
        SEEN.append(self.seen)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        self.seen.shown.update(context.views, context.running)
        self.seen.team.add(tuple(context.team))
        self.seen.shown.update(getattr(event, "agent", "") for event in context.news)
        assert len(context.views) == len(list(context.views))
        return ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        self.seen.free.update(context.free)
        for agent in context.free:
            self.seen.heard += context.inbox(agent)
            if context.t == 0:
                context.post(Message(agent, "inform", f"I am {agent}"))
        others = [agent for agent in ("Alice", "Bob") if agent not in self.seen.agents]
        for agent in others:
            with pytest.raises(KeyError):
                context.views[agent]
            try:
                context.open_meeting([agent])
            except ValueError as error:
                self.seen.refused.append(str(error))
        return dict.fromkeys(context.free, WAIT)


class Knowing(Spy):
    """One that is told the roster."""

    name: ClassVar[str] = "knowing"
    requires: ClassVar[frozenset[Capability]] = frozenset({"entities"})


@pytest.fixture(autouse=True)
def spies(monkeypatch: pytest.MonkeyPatch) -> None:
    SEEN.clear()
    monkeypatch.setitem(registry.BUILT_IN, "spy", f"{__name__}:Spy")
    monkeypatch.setitem(registry.BUILT_IN, "knowing", f"{__name__}:Knowing")


def moves(events: Collection[Event], agent: AgentId) -> list[str]:
    return [event.text for event in events if isinstance(event, PlanStart) and event.agent == agent]


# ---- who has whom


def test_each_method_has_its_own_agents_and_hears_the_others() -> None:
    played = play("spy+knowing", HOME._replace(horizon=5), {})
    assert played.complaints == []
    one, other = SEEN
    assert (one.agents, other.agents) == (("Alice",), ("Bob",))
    assert (one.shown, one.free) == ({"Alice"}, {"Alice"})
    assert (other.shown, other.free) == ({"Bob"}, {"Bob"})
    assert one.team == other.team == {("Alice", "Bob")}
    assert [message.text for message in one.heard] == ["I am Bob"]
    assert [message.text for message in other.heard] == ["I am Alice"]
    assert "agents of one method, got Bob" in one.refused[0]


def test_only_who_takes_a_roster_is_told_it() -> None:
    play("spy+knowing", HOME._replace(horizon=2), {})
    one, other = SEEN
    assert one.entities == 0
    assert other.entities > 10
    start = play("spy+knowing", HOME._replace(horizon=2), {}).events[0]
    assert isinstance(start, EpisodeStart)
    assert isinstance(start.roster, tuple)
    assert len(start.roster) == other.entities  # and it stands in the log


def test_agents_are_dealt_out_in_turns() -> None:
    play("spy+knowing", HOME._replace(horizon=2, options={"agents": 5}), {})
    assert [seen.agents for seen in SEEN] == [("Alice", "Carol", "Eve"), ("Bob", "Dave")]


def test_planners_that_know_nothing_of_one_another_play_the_same_in_one_method_or_two() -> None:
    together, apart = (play(label, HOME, {}).events for label in ("mhp", "mhp+mhp"))
    for agent in ("Alice", "Bob"):
        assert moves(together, agent) == moves(apart, agent) != []
    assert len(together) == len(apart)


def test_a_method_decides_as_it_would_beside_anybody_else() -> None:
    """MHP does not plan with its team-mate, so its first plans are the same whoever that is."""
    beside = [
        moves(play(label, HOME, {}).events, "Alice")[:1] for label in ("mhp+coela", "mhp+greedy", "mhp+do_nothing")
    ]
    assert beside[0] == beside[1] == beside[2] != []


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["coela+greedy", "greedy+coela", "coela+zero_shot", "coela:silent+coela"])
def test_mixed_teams_get_the_work_done(label: str) -> None:
    played = play(label, HOME, {})
    assert played.complaints == []
    assert isinstance(end := played.events[-1], EpisodeEnd)
    assert end.reason == "all_done"
    assert score(label, ROOMS) >= 0.5 * score("greedy", ROOMS) > 0


def test_minds_are_asked_for_their_own_agents_only() -> None:
    events = play("greedy+coela", HOME, {}).events
    assert {event.agent for event in events if isinstance(event, QuestionAsked)} == {"Bob"}
    assert {event.agent for event in events if isinstance(event, MessageSent)} <= {"Bob"}
    assert moves(events, "Alice")


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["coela+greedy", "zero_shot+coela"])
def test_split_teams_keep_the_contract_of_methods(label: str) -> None:
    check_method(label, levels=[("rooms", "two")])


# ---- labels and options


def test_a_label_names_the_methods() -> None:
    label = "mhp:comm+coela:cwah"
    made = registry.method_class(label)
    assert (made.name, registry.method_of(label)) == ("mhp+coela", "mhp+coela")
    assert registry.parts_of(label) == ("mhp:comm", "coela:cwah")
    assert (made.requires, made.questions, dict(made.talk)) == (
        frozenset({"entities"}),
        Coela.questions,
        dict(Coela.talk),
    )
    assert registry.parts_of("mhp") == ("mhp",)
    assert not registry.method_class("greedy+random").requires
    assert set(registry.kinds(["greedy+coela"])) == set(registry.kinds(["coela"]))


def test_options_are_those_of_each_method() -> None:
    options: dict[str, Any] = {"mhp": {"simulations": 7}, "coela:silent": {"actions_kept": 3}}
    told = registry.resolve("mhp+coela:silent", options).model_dump()["parts"]
    assert told["mhp"]["simulations"] == 7
    assert (told["coela:silent"]["messages"], told["coela:silent"]["actions_kept"]) == (False, 3)
    own = {"mhp+coela:silent": {"parts": {"mhp": {"simulations": 9}}}}
    assert registry.resolve("mhp+coela:silent", {**options, **own}).model_dump()["parts"]["mhp"]["simulations"] == 9
    made = registry.make("mhp+coela:silent", {"parts": told})
    assert made.name == "mhp+coela"


@pytest.mark.parametrize(
    ("label", "given", "said"),
    [
        ("greedy+", {}, "unknown method ''"),
        ("greedy+nobody", {}, "unknown method 'nobody'"),
        ("greedy+coela:nothing", {}, "no variant 'nothing'"),
        ("greedy+drwell", {}, "drwell learns from the episodes of a whole team"),
        ("greedy+react:reflexion", {}, "react:reflexion learns from the episodes of a whole team"),
        ("greedy+coela", {"coela": {"nothing": 1}}, "unknown option 'nothing'"),
        ("greedy+coela", {"greedy+coela": {"nothing": 1}}, "unknown option 'nothing'"),
        ("greedy+coela", {"greedy+coela": {"parts": 3}}, "option 'parts'"),
        ("greedy+coela", {"greedy+coela": {"parts": {"coela": 3}}}, "option 'parts.coela'"),
        ("greedy+coela", {"greedy+coela": {"parts": {"mhp": {}}}}, "options of 'mhp', which is no part"),
        ("greedy+coela", {"greedy+coela": {"parts": {"coela": {"omit": 3}}}}, "option 'omit'"),
    ],
)
def test_what_cannot_share_a_team_is_told(label: str, given: dict[str, dict[str, Any]], said: str) -> None:
    with pytest.raises(UserError, match=said):
        registry.resolve(label, given)


def test_what_learns_by_its_options_alone_shares_a_team_where_they_are_off() -> None:
    assert set(registry.resolve("coela+react", {}).model_dump()["parts"]) == {"coela", "react"}


def test_methods_with_different_rules_for_messages_cannot_share_a_team() -> None:
    class Other(Spy):
        talk: ClassVar[Mapping[str, Any]] = {"ticks": 2, "paid_by": "speaker"}

    with pytest.raises(UserError, match="different rules for messages"):
        split([Part("coela", Coela), Part("other", Other)])
    assert dict(split([Part("spy", Spy), Part("other", Other)]).talk) == {"ticks": 2, "paid_by": "speaker"}


def test_more_methods_than_agents_are_refused() -> None:
    with pytest.raises(UserError, match="are 3 methods for a team of 2"):
        build({"world": "rooms", "level": "two", "methods": ["greedy+coela+greedy"]}).resolved()


# ---- runs


def test_a_run_goes_on_and_is_what_it_was(tmp_path: Path) -> None:
    def once() -> list[Any]:
        return teamworld.run(
            "rooms",
            level="two",
            method=["coela:silent+greedy", "greedy"],
            seed=[0, 1],
            options={"coela": {"actions_kept": 5}},
            out=tmp_path / "run",
        )

    rows = once()
    folder = RunFolder(tmp_path / "run")
    held = folder.experiment()
    assert held.options["coela:silent+greedy"]["parts"]["coela:silent"]["actions_kept"] == 5
    assert held.resolved() == held
    start = next(iter(read_log(folder.log(RunCell("coela:silent+greedy", 0), 1))))
    assert isinstance(start, EpisodeStart)
    assert start.method == "coela+greedy"
    assert start.method_options == held.options["coela:silent+greedy"]
    assert once() == rows
