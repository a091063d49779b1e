"""The law of parity holds, and the hunt for exceptions finds those that are planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from teamworld.language import Action, Plan, show
from teamworld.methods.common.knowledge import AgentKnowledge, Line, Teammate
from teamworld.methods.zero_shot.questions import TargetedPlan, ZeroShotPlan
from teamworld.reasoning.prompts import render
from teamworld.testing.parity import Hunt, check_parity, has_prompt
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World

pytestmark = pytest.mark.heavy

#: Changes in which a planted violation has to show.
CHANGES = 100


@dataclass(frozen=True)
class Unspoken(AgentKnowledge):
    """Knowledge whose tasks are not described."""

    def describe_goal(self, goal: object) -> str:
        """Say nothing."""
        return ""


@dataclass(frozen=True)
class Planted(ZeroShotPlan):
    """A question whose rule reads ``read`` and whose prompt shows what ``hide`` leaves."""

    read: Callable[[AgentKnowledge], object] = field(default=lambda me: 0)
    hide: Callable[[AgentKnowledge], AgentKnowledge] = field(default=lambda me: me)
    number: int = 4
    rate: float = 0.5
    flag: bool = False
    table: Mapping[str, int] = field(default_factory=lambda: {"one": 1, "two": 2})
    words: tuple[str, ...] = ("left", "right", "up")

    def context(self) -> dict[str, Any]:
        """Show what is not hidden."""
        return {"q": self, "me": self.hide(self.me)}

    def rule(self, rng: np.random.Generator) -> TargetedPlan:
        """Answer with what is read."""
        read = self.read(self.me) if self.respondent else None
        return TargetedPlan(goal=f"{read}", actions=())


@dataclass(frozen=True)
class OwnField(Planted):
    """The same; the rule reads a field of the question that no template shows."""

    name: str = ""

    def rule(self, rng: np.random.Generator) -> TargetedPlan:
        """Answer with the field."""
        return TargetedPlan(goal=f"{getattr(self, self.name)}", actions=())


@dataclass(frozen=True)
class Twice(Planted):
    """A question that holds what its agent knows in two places; the rule reads one, the prompt shows the other."""

    again: AgentKnowledge | None = None

    def rule(self, rng: np.random.Generator) -> TargetedPlan:
        """Answer with the commitment."""
        return TargetedPlan(goal=self.again.commitment if self.again else None, actions=())


def blind(me: AgentKnowledge) -> AgentKnowledge:
    """Hide the situation, the tasks and the past."""
    return Unspoken(replace_view(me), me.domain, me.spec, me.team, me.running, me.commitment, scene="Nothing.")


def replace_view(me: AgentKnowledge) -> Any:  # noqa: ANN401  (a view without a past)
    class Empty:
        agent, kind, t, steps_left = me.agent, me.kind, me.step, me.steps_left
        goals, options, history, known, since = (), (), (), me.view.known, None
        abilities = me.view.abilities

    return Empty()


PLANTS: Mapping[str, tuple[Callable[[AgentKnowledge], object], Callable[[AgentKnowledge], AgentKnowledge]]] = {
    "own place": (lambda me: me.view.known.value(me.agent, "AT"), blind),
    "a teammate's place": (lambda me: me.view.known.value("agent_1", "AT"), blind),
    "all facts": (lambda me: [str(fact) for fact in me.view.known], blind),
    "number of facts": (lambda me: len(me.view.known), blind),
    "what is seen now": (lambda me: [str(fact) for fact in me.view.facts], blind),
    "goals": (lambda me: [(goal.id, goal.units) for goal in me.goals], blind),
    "options": (lambda me: [str(option) for option in me.options], blind),
    "length of the past": (lambda me: len(me.view.history), blind),
    "last status": (lambda me: me.view.history[-1].status, blind),
    "why it failed": (lambda me: [outcome.reason for outcome in me.view.history], blind),
    "teammates": (lambda me: len(me.team), lambda me: replace(me, team=())),
    "their doing": (lambda me: [mate.doing for mate in me.team], lambda me: replace(me, team=())),
    "their commitment": (lambda me: [mate.commitment for mate in me.team], lambda me: replace(me, team=())),
    "when they said so": (lambda me: [mate.said for mate in me.team], lambda me: replace(me, team=())),
    "own plan": (lambda me: me.running, lambda me: replace(me, running=None)),
    "own commitment": (lambda me: me.commitment, lambda me: replace(me, commitment=None)),
    "what was said": (lambda me: [line.text for line in me.said], lambda me: me),
    "who said it": (lambda me: [line.sender for line in me.said], lambda me: me),
    "when it was said": (lambda me: [line.step for line in me.said], lambda me: me),
    "the limit": (lambda me: me.spec.horizon, lambda me: me),
    "the order of agents": (lambda me: me.spec.agents, lambda me: me),
}
FIELDS = ("number", "rate", "flag", "table", "words")


@pytest.fixture(scope="module")
def world() -> World:
    """A world in which agents see little, some steps old."""
    made = worlds.make("cube", "n4", 0, 60, {})
    made.reset(0)
    for step in range(6):
        made.step({agent: Action("move", (("up", "down", "left", "right")[step % 4], 1)) for agent in made.spec.agents})
    return made


def plant(world: World, kind: type[ZeroShotPlan], **fields: Any) -> ZeroShotPlan:
    """Return a question of the world's first agent with a rule that reads too much."""
    agent, mate = world.spec.agents[:2]
    view = world.view(agent)
    me = AgentKnowledge(
        view,
        world.domain,
        replace(world.spec.public, rules="Push."),
        (Teammate(mate, "pusher", "push_block", "block_1", 3), Teammate("agent_2", "pusher", "rests", "block_2", 1)),
        running=Plan((Action("idle", (2,)), Action("wait")), "block_1"),
        commitment="block_1",
        said=(Line(2, mate, None, "I take block_1.", "block_1"), Line(4, "agent_2", (agent,), "Come.", None)),
    )
    return kind(agent, {agent: view}, me, **fields)


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_violation_is_found(name: str, world: World) -> None:
    read, hide = PLANTS[name]
    tally = check_parity(plant(world, Planted, read=read, hide=hide), np.random.default_rng(0), CHANGES)
    assert tally.leaks, f"{tally.contexts} contexts, {tally.moved} answers moved"


def test_a_rule_that_reads_what_is_left_of_an_action_is_found() -> None:
    made = worlds.make("cube", "n4", 0, 60, {})
    made.reset(0)
    made.step({made.spec.agents[0]: Action("move", ("up", 3))})
    question = plant(made, Planted, read=lambda me: me.view.remainder, hide=blind)
    assert question.me.view.remainder is not None
    assert check_parity(question, np.random.default_rng(0), CHANGES).leaks


@pytest.mark.parametrize("name", FIELDS)
def test_a_rule_that_reads_an_unshown_field_is_found(name: str, world: World) -> None:
    tally = check_parity(plant(world, OwnField, name=name), np.random.default_rng(0), CHANGES)
    assert any(leak.path[0] == name for leak in tally.leaks)


def test_an_honest_rule_is_left_alone(world: World) -> None:
    tally = check_parity(plant(world, ZeroShotPlan), np.random.default_rng(0), 5 * CHANGES)
    assert tally.contexts >= CHANGES // 2
    assert 0 < tally.untold < tally.asked < tally.contexts
    assert tally.moved
    assert not tally.leaks


def test_only_what_the_rule_reads_is_changed_and_no_change_is_made_twice(world: World) -> None:
    hunt = Hunt(np.random.default_rng(0))
    tally = hunt.check(plant(world, OwnField, name="table"), CHANGES)
    assert {place[0] for place in hunt.changed_places(Planted.kind)} == {"name", "table"}
    assert 2 <= tally.contexts < CHANGES  # its few changes are used up
    assert len(set(tally.leaks)) == len(tally.leaks)
    assert hunt.check(plant(world, OwnField, name="table"), CHANGES).contexts < tally.contexts


def test_the_past_stays_in_the_order_of_time(world: World) -> None:
    hunt = Hunt(np.random.default_rng(0))
    question = plant(world, Planted, read=lambda me: me.view.history)
    assert len(question.me.view.history) > 1
    hunt.check(question, CHANGES)
    pasts = [place for place in hunt.changed_places(question.kind) if "history" in place]
    assert pasts
    assert not [place for place in pasts if place[-2:] == ("history", "order")]


@pytest.mark.parametrize("same", [True, False])
def test_what_an_agent_knows_changes_wherever_it_stands(same: bool, world: World) -> None:
    me = plant(world, Planted).me
    again = replace(me, commitment=me.commitment if same else "block_2")
    tally = check_parity(plant(world, Twice, again=again), np.random.default_rng(0), CHANGES)
    assert tally.moved or same
    assert bool(tally.leaks) != same


@pytest.mark.parametrize("told", [True, False])
def test_a_fact_that_the_rules_of_the_world_tell_is_left_alone(told: bool, world: World) -> None:
    question = plant(world, Planted, read=lambda me: me.view.known.value("agent_1", "AT"), hide=blind)
    place = show(question.view.known.value("agent_1", "AT") or 0)
    spec = replace(question.me.spec, rules=f"Here stands agent_1 {place}." if told else "Here stands agent_1.")
    tally = check_parity(replace(question, me=replace(question.me, spec=spec)), np.random.default_rng(0), CHANGES)
    assert bool(tally.leaks) != told


def test_questions_that_read_alike_are_to_be_answered_alike(world: World) -> None:
    hunt = Hunt(np.random.default_rng(0))
    assert not hunt.check(plant(world, OwnField, name="number", number=4), 0).leaks
    (leak,) = hunt.check(plant(world, OwnField, name="number", number=5), 0).leaks
    assert leak.change == "at another time"


@pytest.mark.parametrize("kind", [Planted, ZeroShotPlan])
def test_reading_a_prompt_line_by_line_tells_what_rendering_it_tells(world: World, kind: type[ZeroShotPlan]) -> None:
    question = plant(world, kind)
    prompt, me = render(question), question.me
    others = [replace(me, commitment=None), replace(me, running=None), replace(me, team=()), replace(me, said=())]
    others += [
        replace(me, scene="Nothing."),
        replace(me, released="It was too heavy."),
        replace(me, scene=me.situation),
    ]
    seen = [has_prompt(replace(question, me=other), prompt) for other in others]
    assert seen == [render(replace(question, me=other)) == prompt for other in others]
    assert {*seen} == {True, False}
