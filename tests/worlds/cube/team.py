"""Short hand for tests of the symbolic layer: small worlds, actions written as text, whole plans."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from teamworld.language import Action, AgentId, Plan, parse_action
from teamworld.worlds.contract import Outcome, StepResult
from teamworld.worlds.cube import observe
from teamworld.worlds.cube.state import Block, CubeState, Layout
from teamworld.worlds.cube.symbolic_state import SymbolicState, agent_name
from teamworld.worlds.cube.world import CubeOptions, CubeWorld

Cell = tuple[int, int]


def layout(side: int, agents: Sequence[Cell], blocks: Sequence[tuple[int, int, int]]) -> Layout:
    """Return a layout; blocks are (weight, row, column)."""
    return Layout(side, tuple(agents), tuple(Block(*block) for block in blocks))


def state(side: int, agents: Sequence[Cell], blocks: Sequence[tuple[int, int, int]]) -> SymbolicState:
    """Return the state of such a layout."""
    return SymbolicState.from_layout(layout(side, agents, blocks))


def world(
    side: int,
    agents: Sequence[Cell],
    blocks: Sequence[tuple[int, int, int]],
    horizon: int = 200,
    options: CubeOptions | None = None,
) -> CubeWorld:
    """Return a world with such a layout."""
    return CubeWorld(layout(side, agents, blocks), "test", horizon, options)


def act(text: str) -> Action:
    """Return the action that a text such as ``push_block(1, 5)`` names; a leading number stands for a block."""
    verb, _, args = text.rstrip(")").partition("(")
    first, comma, rest = args.partition(",")
    thing = verb in ("move_to_block", "rendezvous", "push_block", "yield_block")
    return parse_action(f"{verb}({f'<block>({first})' if thing else first}{comma}{rest})")


def give(here: CubeWorld, *orders: str) -> StepResult:
    """Do one step; the i-th text is the order of agent i, an empty one is none."""
    return here.step({agent_name(i): act(text) for i, text in enumerate(orders) if text})


def run(here: CubeWorld, *orders: str, limit: int = 200) -> list[StepResult]:
    """Give orders once and step until nobody is busy, or the episode is over."""
    reports = [give(here, *orders)]
    while reports[-1].end_reason is None and len(reports) < limit and here.view("agent_0").running:
        reports.append(here.step({}))
    return reports


def ends(reports: Sequence[StepResult], agent: int = 0) -> Outcome:
    """Return the outcome with which the agent's action ended."""
    return next(outcome for report in reports if (outcome := report.outcomes[agent_name(agent)]).status != "running")


def follow(here: CubeWorld, plans: Mapping[AgentId, Plan]) -> list[StepResult]:
    """Play plans to their ends as the loop does: actions that cannot start are passed over at no cost."""
    left = {agent: list(plan.actions) for agent, plan in plans.items()}
    reports: list[StepResult] = []
    while here.view("agent_0").steps_left:
        orders: dict[AgentId, Action] = {}
        for agent, actions in left.items():
            view = here.view(agent)
            while agent not in view.running and actions:
                action = actions.pop(0)
                verdict = view.check(action)
                if verdict.ok:
                    orders[agent] = action
                    break
                if here.domain.ends_plan(action, verdict.word):
                    actions.clear()
        if not orders and not here.view("agent_0").running:
            break
        reports.append(here.step(orders))
        for agent, outcome in reports[-1].outcomes.items():
            if outcome.status == "failed" and here.domain.ends_plan(outcome.action, outcome.word):
                left[agent].clear()
        if reports[-1].end_reason is not None:
            break
    return reports


def play_greedy(here: CubeWorld) -> list[StepResult]:
    """Play an episode with the scripted team."""
    reports: list[StepResult] = []
    while not reports or reports[-1].end_reason is None:
        free = {agent: here.view(agent) for agent in here.spec.agents}
        step = follow(here, here.domain.plan_scripted_team(free, {}))
        reports += step or [here.step({})]
    return reports


def render_array(state: CubeState, env: int = 0) -> npt.NDArray[np.float32]:
    """Build the (K, K, 5) float32 observation of one environment from its grid, O(cells)."""
    codes = state.grid[env, 1:-1, 1:-1].astype(np.int32)
    array = np.zeros((*codes.shape, observe.CHANNELS), np.float32)
    array[:, :, observe.AGENT] = codes < 0
    array[:, :, observe.AGENT_INDEX] = np.maximum(-codes, 0)
    array[:, :, observe.BLOCK_ID] = np.maximum(codes, 0)
    array[:, :, observe.WEIGHT] = np.append(0, state.block_weight[env])[np.maximum(codes, 0)]
    array[:, -1, observe.GOAL] = 1.0
    return array


def run_python(code: str, tmp_path: Path, **variables: str) -> str:
    """Run code in a fresh interpreter with the same package, return what it prints."""
    home = str(Path(sys.modules["teamworld"].__path__[0]).parent)
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join((home, os.getcwd())), **variables}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout
