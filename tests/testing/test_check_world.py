"""The suite for worlds: the built-in ones pass, and each check finds a world that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Entity, Fact, Facts, Plan
from teamworld.metrics.all_metrics import check_headline
from teamworld.testing import WORLD_CHECKS, Nonconformance, check_world
from teamworld.worlds import registry
from teamworld.worlds.base import picture
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.known_picture import KnownPicture
from teamworld.worlds.base.views import TeamView
from teamworld.worlds.contract import (
    WAIT,
    GoalEvent,
    HeadlineMeasure,
    LatentVariable,
    Option,
    Possible,
    StepResult,
    Verdict,
)
from teamworld.worlds.rooms import world as rooms
from teamworld.worlds.rooms.beliefs import RoomsBeliefs
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.world import RoomsWorld


@pytest.mark.parametrize("level", [*registry.levels("rooms")])
def test_rooms_keeps_the_contract(level: str) -> None:
    check_world("rooms", [level])


@pytest.mark.parametrize("level", ["n1", "n2", "paper-n4"])
def test_cube_keeps_the_contract(level: str) -> None:
    check_world("cube", [level], seeds=[3], steps=25)


# ---- worlds that break it


class Broken(RoomsWorld):
    """Rooms with one thing wrong: whatever ``spoil`` puts in the place of a method."""

    spoil: Mapping[str, Callable[..., Any]]

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
        spoil = type(self).__dict__["spoil"]
        found = super().__getattribute__(name)
        return (lambda *args: spoil[name](self, found, *args)) if name in spoil else found


def module(**spoil: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Return a world's module like that of rooms, with methods replaced by ``f(world, method, *arguments)``."""
    kind = type("Spoiled", (Broken,), {"spoil": spoil})

    def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
        good = rooms.make(level, seed, horizon, options)
        made: RoomsWorld = kind(good._placed, level, horizon, good._options)
        return made

    names = ("LEVELS", "DEFAULT_LEVEL", "step_limit", "OPTIONS", "SUMMARY")
    return SimpleNamespace(make=make, __name__="spoiled", **{name: getattr(rooms, name) for name in names})


def viewed(**parts: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Return a module whose views have other parts."""
    made = {name: property(part) if name not in ("check", "text") else part for name, part in parts.items()}
    kind = type("SpoiledView", (TeamView,), made)

    def view(self: RoomsWorld, right: Callable[[AgentId], TeamView], agent: AgentId) -> TeamView:
        good = right(agent)
        return kind(agent, good._frame, good._current)  # type: ignore[no-any-return]

    return module(view=view)


def ruled(**rules: object) -> Any:  # noqa: ANN401
    """Return a module whose domain has other rules."""
    kind = type("SpoiledDomain", (RoomsDomain,), rules)
    found = module()
    right = found.make

    def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
        good: RoomsWorld = right(level, seed, horizon, options)
        good._domain = kind(good.domain.house, good.domain.kinds, good.domain._doors)
        good.reset(0)
        return good

    found.make = make
    return found


def believed(**rules: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Return a module whose domain has other rules on beliefs."""
    kind = type("SpoiledBeliefs", (RoomsBeliefs,), rules)
    return ruled(beliefs=property(lambda self: kind(self.house)))


def reported(change: Callable[[StepResult], StepResult]) -> Any:  # noqa: ANN401
    """Return a module whose reports are changed."""
    return module(step=lambda self, right, actions: change(right(actions)))


STORE: dict[str, int] = {"calls": 0}


def remembering(self: RoomsWorld, right: Callable[[AgentId], TeamView], agent: AgentId) -> TeamView:
    """Let the truth slip into the text of a view."""
    good, truth = right(agent), [*map(str, self.truth())]
    kind = type("Leaky", (TeamView,), {"text": lambda view, form="plain": f"{TeamView.text(view, form)} {truth}"})
    return kind(agent, good._frame, good._current)  # type: ignore[no-any-return]


def restarting(self: RoomsWorld, right: Callable[..., StepResult], actions: Mapping[AgentId, Action]) -> StepResult:
    """Begin an action anew whenever it is ordered."""
    for agent in actions:
        self._executor.running.pop(agent, None)
    return right(actions)


def forgetful(self: RoomsWorld, right: Callable[..., StepResult], actions: Mapping[AgentId, Action]) -> StepResult:
    """Stop whatever is not ordered again."""
    for agent in list(self._executor.running):
        if agent not in actions:
            del self._executor.running[agent]
    return right(actions)


def counting(self: RoomsWorld, right: Callable[..., StepResult], actions: Mapping[AgentId, Action]) -> StepResult:
    """Let a number outlive the reset."""
    STORE["calls"] += 1
    return right(actions)._replace(score={"reward": float(STORE["calls"])})


def endless(self: RoomsWorld, right: Callable[..., StepResult], actions: Mapping[AgentId, Action]) -> StepResult:
    """Never end."""
    report = right(actions)
    self._over = None
    return report._replace(end_reason=None)


def lenient(self: RoomsWorld, right: Callable[..., StepResult], actions: Mapping[AgentId, Action]) -> StepResult:
    """Pass over actions that make no sense, and say that they went well."""
    report = right(actions)
    outcomes = {
        a: o if o.legal else o._replace(status="done", reason="", legal=True) for a, o in report.outcomes.items()
    }
    return report._replace(outcomes=outcomes)


def twin_module() -> Any:  # noqa: ANN401
    found = module(view=remembering)

    def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
        for one, other, agent in rooms.indistinguishable_pairs(level, seed):
            kinds = [found.make(level, seed, 20, {}) for _ in range(2)]
            for kind, good in zip(kinds, (one, other), strict=True):
                kind._placed = good._placed  # type: ignore[attr-defined]
                kind.reset(0)
            yield IndistinguishablePair(kinds[0], kinds[1], agent)

    found.indistinguishable_pairs = indistinguishable_pairs
    return found


def deaf(
    self: RoomsWorld, right: Callable[..., Collection[AgentId]], sender: AgentId, reach: float
) -> Sequence[AgentId]:
    return tuple(self.spec.agents)


def first(report: StepResult, **changes: Any) -> StepResult:
    """Change the first outcome of a report."""
    agent, outcome = next(iter(report.outcomes.items()))
    return report._replace(outcomes={**report.outcomes, agent: outcome._replace(**changes)})


BROKEN: Mapping[str, Callable[[], Any]] = {
    "spec": lambda: _with_spec(task=""),
    "module": lambda: _without(module(), LEVELS={"two": ""}),
    "same-seed": lambda: module(step=counting),
    "horizon": lambda: module(step=endless),
    "stale-view": lambda: viewed(history=lambda view: view._frame.histories[view._agent]),
    "same-order": lambda: module(step=restarting),
    "refused": lambda: module(step=lenient),
    "indistinguishable-pairs": twin_module,
    "views": lambda: viewed(steps_left=lambda view: 7),
    "facts": lambda: viewed(known=lambda view: Facts((*TeamView.known.fget(view), Fact("x", "WEIGHT", 1)))),  # type: ignore[attr-defined]
    "truth": lambda: module(truth=lambda self, right: Facts()),
    "goals": lambda: module(goals=lambda self, right: [replace(goal, quorum=0) for goal in right()]),
    "abilities": lambda: viewed(abilities=lambda view: TeamView.abilities.fget(view)[:-1]),  # type: ignore[attr-defined]
    "options": lambda: ruled(
        options=lambda self, agent, given: [Option(Action("bring", (Entity("item", 0), 3)), None, 1)]
    ),
    "candidate-plans": lambda: ruled(
        candidate_plans=lambda self, goal, agent, given: [Plan((Action("drop"),), goal and goal.id)]
    ),
    "preconditions": lambda: viewed(check=lambda view, action: Verdict(True)),
    "pure": lambda: ruled(predict=lambda self, agent, action, given: Facts(_more())),
    "latent-variables": lambda: believed(
        latent_variables=lambda self, given: [LatentVariable("x", (Possible(Fact("x", "AT", (0, 0)), 0.0),))]
    ),
    "observation-probability": lambda: believed(observation_probability=lambda self, fact, agent, given: 1.5),
    "conflict-cost": lambda: believed(conflict_cost=lambda self, one, other, given: -1.0),
    "text": lambda: viewed(text=lambda view, form="plain": "you know who you are"),
    "snapshot": lambda: module(snapshot=lambda self, right: {**right(), "table": (0, 1)}),
    "in-range": lambda: module(in_range=deaf),
    "leaving": lambda: module(view=lambda self, right, agent: right(agent if agent in self.spec.agents else "agent_0")),
    "outcomes": lambda: reported(lambda report: first(report, status="failed", reason="")),
    "running": lambda: module(step=forgetful),
    "progress": lambda: reported(
        lambda report: report._replace(goals=(*report.goals, GoalEvent("deliver_0", "progress", 0.1, ("nobody",))))
    ),
}


def _more() -> tuple[Fact, ...]:
    STORE["calls"] += 1
    return (Fact(Entity("item", 0), "WEIGHT", STORE["calls"]),)


def _without(found: Any, **changes: Any) -> Any:  # noqa: ANN401
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def _with_spec(**changes: Any) -> Any:  # noqa: ANN401
    found = module()
    right = found.make

    def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
        made: RoomsWorld = right(level, seed, horizon, options)
        made._spec = replace(made.spec, **changes)
        return made

    return _without(found, make=make)


def test_a_headline_names_metrics() -> None:
    headline = (HeadlineMeasure("complexion", "", "high", "misspelt"),)
    with pytest.raises(Nonconformance, match="no metric: complexion"):
        check_world(_with_spec(headline=headline), ["two"], seeds=[0], steps=5)
    with pytest.raises(UserError, match="'complexion', no metric of an episode; did you mean 'completion'"):
        check_headline(replace(rooms.make("two", 0, 9, {}).spec, headline=headline))


def test_a_picture_that_tells_more_than_its_view_is_found() -> None:
    found, numbers = module(), count()
    found.indistinguishable_pairs = rooms.indistinguishable_pairs
    found.known_picture = lambda view, team: KnownPicture({}, {"hidden": next(numbers)}, frozenset())
    with pytest.raises(Nonconformance, match="agent_0 can tell them apart by the picture of what it knows"):
        check_world(found, ["two"], seeds=[0], steps=5)


def test_a_drawing_that_cannot_be_made_is_found() -> None:
    static = picture.static((3, 3), {"box": ("square", "#aa7733", "a box")})
    spoiled = _with_spec(static=static)
    with pytest.raises(Nonconformance, match="declares for its drawing cannot be drawn: snapshot 0: "):
        check_world(spoiled, ["two"], seeds=[0], steps=5)


def test_every_check_is_tried() -> None:
    assert set(BROKEN) == set(WORLD_CHECKS)
    assert all(WORLD_CHECKS.values())
    check_world(module(), ["two"], seeds=[0], steps=12)


def test_a_step_without_reward_is_found() -> None:
    spoiled = reported(lambda report: report._replace(score={"delivered": 1.0}))
    with pytest.raises(Nonconformance, match="the score has no reward"):
        check_world(spoiled, ["two"], seeds=[0], steps=12)


@pytest.mark.parametrize("check", list(WORLD_CHECKS))
def test_a_check_finds_what_breaks_it(check: str) -> None:
    with pytest.raises(Nonconformance) as caught:
        check_world(BROKEN[check](), ["two"], seeds=[0], steps=30)
    assert check in caught.value.failures
    line = caught.value.failures[check]
    assert line
    assert "\n" not in line
    assert f"world spoiled, level two: {check}: {line}" in str(caught.value)


def unsteady(self: RoomsBeliefs, fact: Fact, agent: AgentId, given: Facts) -> float:
    STORE["calls"] += 1
    return float(STORE["calls"] % 2)


def test_a_world_without_the_capability_has_no_checks_of_beliefs() -> None:
    check_world(ruled(beliefs=None), ["two"], seeds=[0], steps=3)


@pytest.mark.parametrize(
    ("member", "spoil", "says"),
    [
        (
            "latent_variables",
            lambda self, given: [LatentVariable("x", (Possible(Fact("x", "NOTHING", 1), 1.0),))],
            "of no relation",
        ),
        ("latent_variables", lambda self, given: [LatentVariable("x", ())], "0 values"),
        (
            "latent_variables",
            lambda self, given: [LatentVariable("x", (Possible(next(iter(given)), 1.0),))],
            "agent_0 knows",
        ),
        ("observation_probability", unsteady, "and then"),
        ("conflict_cost", lambda self, one, other, given: float(len(str(one.action))), "the other way round"),
    ],
)
def test_what_a_domain_says_of_beliefs_is_looked_at(member: str, spoil: Callable[..., Any], says: str) -> None:
    with pytest.raises(Nonconformance) as caught:
        check_world(believed(**{member: spoil}), ["two"], seeds=[0], steps=3)
    assert says in caught.value.failures[member.replace("_", "-")]


def test_checks_can_be_left_out() -> None:
    check_world(BROKEN["in-range"](), ["two"], seeds=[0], steps=5, skip=["in-range"])
    with pytest.raises(UserError, match="no check 'in-rang' to skip; did you mean 'in-range'"):
        check_world("rooms", ["two"], skip=["in-rang"])
    with pytest.raises(UserError, match="there is no world 'room'"):
        check_world("room")


def test_an_exception_is_a_finding() -> None:
    def fails(self: RoomsWorld, right: Callable[..., Any]) -> None:
        raise ZeroDivisionError("no more")

    with pytest.raises(Nonconformance, match="truth: ZeroDivisionError: no more"):
        check_world(module(truth=fails), ["one"], seeds=[0], steps=3)


def test_waiting_is_no_order_to_stop_others() -> None:
    here = rooms.make("two", 0, 20, {})
    here.step({"agent_0": Action("go", ((4, 10),))})
    assert here.step({"agent_1": WAIT}).outcomes["agent_0"].status == "running"
