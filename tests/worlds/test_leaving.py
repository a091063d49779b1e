"""No way of leaving early beats staying: a team that walks into the fire beside one that waits, in every world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from math import dist, fsum
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import Action, AgentId, Plan
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import Choice, Decision, DecisionContext, Method
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import AgentLeft, EpisodeEnd, LogWriter, StepDone
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario
from teamworld.worlds.contract import WAIT, World
from teamworld.worlds.wildfire.state import IGNITED, ON_FIRE

Order = Callable[[World, AgentId], Action]


class OrderedTeam(Method):
    """Gives everybody one order at a time, with the truth at hand."""

    name: ClassVar[str] = "ordered"
    summary: ClassVar[str] = "for tests"

    def __init__(self, world: World, order: Order) -> None:
        self._world, self._order = world, order

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(Plan((self._order(self._world, agent),))) for agent in context.free}


class Played(NamedTuple):
    score: float
    steps: int
    reason: str
    left: int
    rewards_after: float
    """The sum of rewards after the last agent was gone; 0 while any is left."""


def play(scenario: Scenario, order: Order, folder: Path) -> Played:
    """Play an episode to its end through the loop, and read its log."""
    world = scenario.make()

    def streams(*names: str | int) -> np.random.Generator:
        return generator(scenario.seed, *names)

    setting = Setting(scenario.seed, scenario.seed, 1, {}, MessageRule())
    with LogWriter(folder / f"{order.__name__}.jsonl.zst") as log:
        team = OrderedTeam(world, order)
        asyncio.run(Episode(world, team, RuleReasoner(streams), WorldModel(), log, streams, setting).play())
        log.finish()
    left = [event for event in log.events if isinstance(event, AgentLeft)]
    steps = [event for event in log.events if isinstance(event, StepDone)]
    end = next(event.reason for event in log.events if isinstance(event, EpisodeEnd))
    last = left[-1].step if len(left) == len(world.spec.agents) else len(steps)
    after = fsum(event.score["reward"] for event in steps[last + 1 :])
    return Played(fsum(event.score["reward"] for event in steps), len(steps), end, len(left), after)


def wait(world: World, agent: AgentId) -> Action:
    return WAIT


def into_the_fire(world: World, agent: AgentId) -> Action:
    """Walk to the nearest cell that truly burns, or beside it; who cannot walk, or in a world without fire, waits."""
    at: tuple[int, int] = (0, 0)
    fires: list[tuple[int, int]] = []
    for fact in world.truth():
        if str(fact.subject) == agent and fact.predicate == "AT":
            at = fact.value  # type: ignore[assignment]
        elif str(fact.subject).startswith("<fire>") and fact.predicate in ("AT", "BURNS"):
            fires.append(fact.value)  # type: ignore[arg-type]
    verb = {"rooms": "go", "wildfire": "step_toward"}.get(world.spec.world)
    if verb is None or not fires or world.spec.kinds[agent] in ("drone", "helicopter"):
        return WAIT
    x, y = min(fires, key=lambda cell: (dist(cell, at), cell))
    orders = (Action(verb, ((x + right, y + down),)) for right, down in ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)))
    return next((order for order in orders if world.view(agent).check(order).ok), WAIT)


#: In each world: the level, seeds, and whether walking into the fire kills the whole team before the end.
CASES = [
    (Scenario("wildfire", "suppress_fire_contain", 0, 100, {"careful": False}), True),
    (Scenario("wildfire", "suppress_fire_contain", 1, 100, {"careful": False, "fire": "stochastic"}), True),
    (Scenario("wildfire", "suppress_fire_extinguish@published", 3, 100, {"careful": False, "score": "burnt"}), True),
    (Scenario("wildfire", "perception", 2, 30, {"careful": False}), True),
    (Scenario("rooms", "two-hazard", 4, 60), True),
    (Scenario("rooms", "two-hazard", 0, 60, {"spread": 0.5}), True),
    (Scenario("rooms", "two", 0, 30), False),
    (Scenario("cube", "n2", 0, 30), False),
    (Scenario("household", "dev-0", 0, 30), False),
]


@pytest.mark.parametrize(("scenario", "dies"), CASES, ids=[str(scenario) for scenario, _ in CASES])
def test_walking_into_the_fire_never_beats_waiting(scenario: Scenario, dies: bool, tmp_path: Path) -> None:
    idle, suicide = (play(scenario, order, tmp_path) for order in (wait, into_the_fire))
    assert suicide.score <= idle.score
    assert (suicide.left == len(scenario.make().spec.agents)) == dies
    assert suicide.steps >= idle.steps
    assert suicide.reason == ("lost" if dies and idle.reason == "horizon" else idle.reason)
    if scenario.world == "wildfire":
        assert suicide.rewards_after < 0  # the fire burns on and is charged


@pytest.mark.parametrize("score", ["reference", "burnt"])
def test_all_interfaces_pay_the_dead(score: str, tmp_path: Path) -> None:
    """The log, the PettingZoo and the vector environment give a team that dies the same sum, to the same step."""
    pytest.importorskip("pettingzoo")
    from teamworld.worlds.wildfire import parallel_env, vector_env

    seed, level = 2, "suppress_fire_contain"
    env = parallel_env(level, score=score)  # type: ignore[arg-type]
    env.reset(seed=seed)
    envs = vector_env(level, num_envs=1, score=score)  # type: ignore[arg-type]
    envs.reset(seed=seed)
    totals: dict[str, float] = dict.fromkeys([*env.agents, "vector"], 0.0)
    steps, actions = 0, np.zeros((1, len(env.agents), 3), np.int64)
    while env.agents:
        incident = env._episodes.incident
        burning = np.argwhere(np.isin(incident.land.inner(incident.land.burn), (IGNITED, ON_FIRE)))
        for row in range(len(env.agents)):
            place = np.array(incident.units.place(row))[::-1]
            y, x = burning[np.abs(burning - place).sum(axis=1).argmin()] if len(burning) else place
            actions[0, row] = -2, x, y
        _, rewards, *_ = env.step(dict(zip(env.possible_agents, actions[0], strict=True)))
        _, reward, terminated, truncated, infos = envs.step(actions)
        steps += 1
        for agent, paid in rewards.items():
            totals[agent] += paid
        totals["vector"] += reward[0]
    assert (terminated | truncated).all()
    assert not infos["alive"].any()
    logged = play(Scenario("wildfire", level, seed, 100, {"score": score}), wait, tmp_path)
    deaths = 20 * (len(env.possible_agents))
    assert set(totals.values()) == {totals["vector"]}
    assert steps >= logged.steps
    assert totals["vector"] <= logged.score
    assert totals["vector"] >= logged.score - deaths
