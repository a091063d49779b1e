"""CUBE as a world of the contract: macro-actions over the primitive layer.

Each step takes one primitive from every running skill, does one step of the physics, and asks every skill
how it stands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId, Facts
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.views import FrameView
from teamworld.worlds.contract import (
    WAIT,
    ActionSchema,
    EndReason,
    Goal,
    IndistinguishablePair,
    Option,
    Outcome,
    StepResult,
    Verdict,
    WorldSpec,
)
from teamworld.worlds.cube import geometry, physics, text
from teamworld.worlds.cube.actions import Refusal, Timeouts, block_of, time_limits
from teamworld.worlds.cube.beliefs import TeamKnowledge, TeamMemory, split_facts
from teamworld.worlds.cube.domain import CubeDomain, goals
from teamworld.worlds.cube.failures import failures
from teamworld.worlds.cube.levels import LEVELS, layout_for, neighbouring_layouts
from teamworld.worlds.cube.skills import SKILLS, STAY, CubeSkill, SkillResult, TeamActivity
from teamworld.worlds.cube.state import EpisodeRules, ForceScope, Layout, make_state
from teamworld.worlds.cube.symbolic_state import PRIMITIVE, SymbolicState, agent_name, goal_name
from teamworld.worlds.cube.transition import StepEffects, compute_effects

#: Steps of an episode unless told otherwise.
DEFAULT_HORIZON = 500
DEFAULT_LEVEL = "paper-n2"


class CubeOptions(BaseModel):
    """What can be set for a CUBE world."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    step_cost: float = Field(default=0.01, ge=-1e6, le=1e6)
    """r_s: taken from every agent at every step."""
    deliver_reward: float = Field(default=1.0, ge=-1e6, le=1e6)
    """r_d: shared by all agents for each unit of delivered weight."""
    force_scope: ForceScope = "chain"
    """chain: lines behind any block of a chain push it; rear: only lines behind its first block."""
    view_radius: int | None = Field(default=None, ge=1)
    """How many rows and columns away an agent sees; none: everything."""
    agents: int | None = Field(default=None, ge=1)
    """How many of the level's agents take part, the first so many; none: all. Blocks and places stay as they are."""
    timeouts: Timeouts = "spec"
    """Default time-outs: spec: scaled with the grid; paper: the published controller's."""


#: What ``teamworld.worlds.registry`` reads, beside LEVELS, DEFAULT_HORIZON, ``make`` and ``failures``.
OPTIONS = CubeOptions
SUMMARY = "push square blocks, alone or together, to the right edge of a grid"
__all__ = [
    "DEFAULT_HORIZON",
    "DEFAULT_LEVEL",
    "LEVELS",
    "OPTIONS",
    "SUMMARY",
    "CubeOptions",
    "CubeWorld",
    "failures",
    "indistinguishable_pairs",
    "make",
]


#: The one kind of agent.
KIND = "pusher"


_NOTHING = Facts()


@dataclass(frozen=True)
class CubeMoment:
    """One moment of the world, shared by all views of it."""

    t: int
    horizon: int
    domain: CubeDomain
    knowledge: TeamKnowledge
    radius: int | None
    doing: Mapping[AgentId, Action]
    """What each busy agent is doing."""
    histories: Mapping[AgentId, Sequence[Outcome]]

    @property
    def state(self) -> SymbolicState:
        """What the team knows; the truth if agents see everything."""
        return self.knowledge.state

    @cached_property
    def facts(self) -> Facts:
        """The state as facts, the same for all agents if they see everything."""
        return self.state.facts

    def parts(self, agent: AgentId) -> tuple[Facts, Facts, Facts]:
        """Return an agent's facts, recall, and both together."""
        if self.radius is None:
            return self.facts, _NOTHING, self.facts
        return split_facts(self.knowledge, agent, self.radius, self.t)


class CubeView(FrameView[CubeMoment]):
    """``contract.View`` for CUBE; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """``pusher``: all are."""
        return KIND

    @property
    def is_able(self) -> bool:
        """Always true: nothing keeps an agent from acting."""
        _ = self._now
        return True

    @property
    def state(self) -> SymbolicState:
        """All that the agent knows of places, as a state."""
        return self._now.state

    @property
    def doing(self) -> Mapping[AgentId, Action]:
        """The running action of each busy agent, for the team tells one another."""
        return self._now.doing

    @cached_property
    def _made(self) -> tuple[Facts, Facts, Facts]:
        return self._frame.parts(self._agent)

    @property
    def _parts(self) -> tuple[Facts, Facts, Facts]:
        _ = self._now
        return self._made

    @property
    def facts(self) -> Facts:
        """Perceived now."""
        return self._parts[0]

    @property
    def recall(self) -> Facts:
        """Perceived before by anyone of the team and not now by this agent, with the tick of last sight."""
        return self._parts[1]

    @property
    def known(self) -> Facts:
        """Both."""
        return self._parts[2]

    @property
    def goals(self) -> Sequence[Goal]:
        """The blocks discovered so far, by id; delivered ones are ``done``."""
        return goals(self._now.state)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """All actions, with the blocks that can be acted on."""
        return tuple(self._now.domain.abilities(self._now.state).values())

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as the agent knows."""
        _ = self._now
        return self._made_options

    @cached_property
    def _made_options(self) -> Sequence[Option]:
        return self._frame.domain.options_in(self._frame.state, self._agent)

    @property
    def history(self) -> Sequence[Outcome]:
        """Its finished actions, oldest first; ``primitives`` holds the whole expansion, one a tick from ``start``."""
        return tuple(self._now.histories[self._agent])

    def check(self, action: Action) -> Verdict:
        """Whether the action's preconditions hold, by what the agent knows."""
        return self._now.domain.check_in(self._now.state, self._agent, action, planning=False)

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        if form != "plain":
            raise UserError(f"a CUBE view has no text form '{form}'{suggest(form, ['plain'])}")
        return text.plain(self)


@dataclass
class _Run:
    """A running action and what it has done so far."""

    ordered: Action
    skill: CubeSkill
    start: int
    primitives: list[str] = field(default_factory=list)
    moved: bool = False
    effect: bool = False


class CubeWorld:
    """One instance of CUBE; implements ``contract.World``.

    Args:
        layout: Where everything stands at the start.
        level: The name of the level, for the record.
        horizon: Steps after which the episode ends.
        options: See ``CubeOptions``.
    """

    def __init__(
        self,
        layout: Layout,
        level: str = "custom",
        horizon: int = DEFAULT_HORIZON,
        options: CubeOptions | None = None,
    ) -> None:
        self._layout = layout
        self._options = options = options or CubeOptions()
        self._names = tuple(agent_name(i) for i in range(len(layout.agents)))
        self._rules = EpisodeRules(
            max_steps=horizon,
            step_cost=options.step_cost,
            deliver_reward=options.deliver_reward,
            force_scope=options.force_scope,
        )
        self._limits = time_limits(options.timeouts, layout.grid_size)
        self._domain = CubeDomain(options.timeouts, options.view_radius, layout.weights, layout.grid_size)
        self._start = {b: SymbolicState.from_layout(layout).distance(b) for b in range(len(layout.blocks))}
        self._spec = WorldSpec(
            world="cube",
            level=level,
            agents=self._names,
            kinds=dict.fromkeys(self._names, KIND),
            horizon=horizon,
            task=text.describe_task(layout),
            memory="team",
            options=options.model_dump(),
            static={"grid_size": layout.grid_size, "weights": list(layout.weights)},
        )
        self.reset(0)

    @property
    def spec(self) -> WorldSpec:
        """What everybody knows before the first step."""
        return self._spec

    @property
    def domain(self) -> CubeDomain:
        """The rules that everybody knows."""
        return self._domain

    @property
    def state(self) -> SymbolicState:
        """The truth now: for custom feedback, the log and tests."""
        return self._scene

    @property
    def effects(self) -> StepEffects | None:
        """The truth about the last step, None before the first: for custom feedback, see ``feedback``."""
        return self._effects

    def reset(self, seed: int) -> None:
        """Start over from the layout; nothing in CUBE is random, so the seed changes nothing."""
        self._arrays = make_state(self._layout, self._rules)
        self._scene = SymbolicState.from_arrays(self._arrays, self._names)
        radius = self._options.view_radius
        self._memory = None if radius is None else TeamMemory(radius, self._layout.grid_size)
        self._runs: dict[AgentId, _Run] = {}
        self._histories: dict[AgentId, list[Outcome]] = {agent: [] for agent in self._names}
        self._effects: StepEffects | None = None
        self._over: EndReason | None = None
        self._frame = self._make_frame()

    def view(self, agent: AgentId) -> CubeView:
        """Return what an agent may know now.

        Raises:
            UserError: There is no such agent.
        """
        self._check_name(agent)
        return CubeView(agent, self._frame, lambda: self._frame)

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        """Start and stop actions as ordered, then do one step.

        An action that cannot start is refused: its outcome is failed and not legal, and the step is spent.

        Raises:
            UserError: An order is for an unknown agent, or the episode is over.
        """
        if self._over is not None:
            raise UserError(f"the episode is over ({self._over}): reset the world before the next step")
        for agent in orders:
            self._check_name(agent)
        t = self._frame.t
        refusal = {agent: no for agent, order in orders.items() if (no := self._order(agent, order, t)) is not None}
        activity = TeamActivity({agent: run.skill for agent, run in self._runs.items()})
        tried = self._primitives()
        before = self._scene
        physics.step(self._arrays, self._actions(tried))
        self._scene = SymbolicState.from_arrays(self._arrays, self._names, before=before)
        knowledge = self._know(t + 1)
        idle = frozenset(self._names).difference(self._runs)
        effects = compute_effects(
            self._arrays, before, self._scene, knowledge.state, tried, activity.engaged, activity.waiting, idle
        )
        self._effects = effects
        outcomes = self._judge(effects, activity, orders, refusal)
        self._over = "all_done" if self._arrays.terminated[0] else "horizon" if self._arrays.truncated[0] else None
        self._frame = self._make_frame(knowledge)
        return StepResult(
            1,
            outcomes,
            goals=effects.goal_events(self._start),
            attempts=effects.attempts(),
            score={"reward": float(self._arrays.reward[0])},
            end_reason=self._over,
        )

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other agents at most ``reach`` cells away (Manhattan), in the order of the agents."""
        self._check_name(sender)
        state = self._scene
        near = tuple(agent for agent in self._names if agent != sender)
        if math.isinf(reach):
            return near
        return tuple(agent for agent in near if geometry.get_distance(state, sender, agent) <= reach)

    def goals(self) -> Sequence[Goal]:
        """Return one goal for each block, by id, delivered ones included."""
        return goals(self._scene)

    def truth(self) -> Facts:
        """Return all places, weights and states. What nobody has seen yet is knowledge and no truth of the world."""
        return self._scene.facts

    def snapshot(self) -> Mapping[str, Any]:
        """Return positions: agents as [row, column], blocks as [row, column] of the top-left cell, null if delivered.

        The rest of what a drawing needs does not change: grid side and weights stand in ``spec.options``.
        """
        blocks = self._scene.blocks.values()
        return {
            "v": 1,
            "agents": [list(cell) for cell in self._scene.agents.values()],
            "blocks": [None if square.delivered else [square.row, square.col] for square in blocks],
        }

    def _check_name(self, agent: AgentId) -> None:
        if agent not in self._histories:
            raise UserError(f"there is no agent '{agent}'{suggest(agent, list(self._names))}")

    def _make_frame(self, knowledge: TeamKnowledge | None = None) -> CubeMoment:
        t = int(self._arrays.steps[0])
        return CubeMoment(
            t,
            self._rules.max_steps,
            self._domain,
            knowledge or self._know(t),
            self._options.view_radius,
            {agent: run.ordered for agent, run in self._runs.items()},
            self._histories,
        )

    def _know(self, t: int) -> TeamKnowledge:
        return TeamKnowledge(self._scene, {}) if self._memory is None else self._memory.look(self._scene, t)

    def _order(self, agent: AgentId, order: Action, t: int) -> Refusal | None:
        """Start what is ordered, unless it runs already; return why it cannot start."""
        run = self._runs.get(agent)
        if run is not None and order == run.ordered:
            return None
        action = self._complete(order)
        if run is not None:
            if action == run.skill.action:
                return None
            del self._runs[agent]
            self._remember(agent, run, SkillResult("failed", "interrupted"))
        if isinstance(action, Refusal) or action == WAIT:
            return action if isinstance(action, Refusal) else None
        skill = SKILLS[action.verb](agent, action, self._limits)
        refusal = skill.begin(self._frame.state)  # by what the team knows, as the skill goes on
        if refusal is None:
            self._runs[agent] = _Run(order, skill, t)
        return refusal

    def _complete(self, order: Action) -> Action | Refusal:
        block, known = block_of(order), self._frame.state
        if block is not None and block not in known.blocks:
            return Refusal("unknown_block")
        if block is not None and known.blocks[block].delivered:
            return Refusal("block_gone")
        try:
            return self._domain.abilities(known).complete(order)
        except UserError as error:
            return Refusal(f"illegal: {error}")

    def _primitives(self) -> dict[AgentId, str]:
        known = self._frame.state
        tried: dict[AgentId, str] = {}
        for agent in self._names:
            run = self._runs.get(agent)
            direction = STAY if run is None else run.skill.primitive(known)
            if direction != STAY:
                tried[agent] = direction
        return tried

    def _actions(self, tried: Mapping[AgentId, str]) -> Any:  # noqa: ANN401  (an int8 array)
        return np.array([PRIMITIVE[tried[a]] if a in tried else 0 for a in self._names], np.int8)

    def _judge(
        self,
        effects: StepEffects,
        activity: TeamActivity,
        orders: Mapping[AgentId, Action],
        refusal: Mapping[AgentId, Refusal],
    ) -> dict[AgentId, Outcome]:
        for run in self._runs.values():
            run.skill.spent += 1
            run.skill.watch(effects)
        outcomes = {
            agent: self._refusal(agent, orders[agent], refusal[agent])
            if agent in refusal
            else self._step_of(agent, self._runs[agent], effects, activity)
            if agent in self._runs
            else self._wait(agent, effects)
            for agent in self._names
        }
        return {
            agent: outcome._replace(place=effects.before.agents[agent], aim=effects.aim(agent))
            for agent, outcome in outcomes.items()
        }

    def _refusal(self, agent: AgentId, order: Action, refusal: Refusal) -> Outcome:
        reason, constraint, blocker = refusal
        outcome = Outcome(
            order, "failed", reason, constraint, blocker, legal=False, primitives=("STAY",), start=self._frame.t
        )
        self._histories[agent].append(outcome)
        return outcome

    def _wait(self, agent: AgentId, effects: StepEffects) -> Outcome:
        """Return the outcome of an agent that had nothing to do."""
        return Outcome(WAIT, "done", primitives=("STAY",), start=self._frame.t, ready=_in_place(effects, agent))

    def _step_of(self, agent: AgentId, run: _Run, effects: StepEffects, activity: TeamActivity) -> Outcome:
        """Return the outcome of one step of a running action, and end the action if it is over."""
        result = run.skill.result(effects, activity)
        primitive = effects.tried.get(agent, STAY).upper()
        moved, effect = agent in effects.moved, agent in effects.pushed
        run.primitives.append(primitive)
        run.moved, run.effect = run.moved or moved, run.effect or effect
        ready = result.ready
        if ready is None and (run.skill.verb in ("idle", "talk", "wait_agents")):
            ready = _in_place(effects, agent)
        if result.status != "running":
            del self._runs[agent]
            self._remember(agent, run, result)
        return Outcome(
            run.ordered,
            result.status,
            result.reason,
            result.constraint,
            result.blocker or effects.blocker(agent),
            moved=moved,
            effect=effect,
            primitives=(primitive,),
            start=run.start,
            ready=ready,
        )

    def _remember(self, agent: AgentId, run: _Run, result: SkillResult) -> None:
        """Add a finished or interrupted action to the agent's history, with its whole expansion."""
        self._histories[agent].append(
            Outcome(
                run.ordered,
                "done" if result.status == "done" else "failed",
                result.reason,
                result.constraint,
                result.blocker,
                moved=run.moved,
                effect=run.effect,
                primitives=tuple(run.primitives),
                start=run.start,
            )
        )


def _in_place(effects: StepEffects, agent: AgentId) -> str | None:
    """Return the goal at whose face an agent stood in this step while the force was not yet there."""
    state = effects.before
    for block, face in geometry.aligned_faces(state, agent):
        if len(geometry.aligned_agents(state, block, face)) < geometry.chain_weight(state, block, face):
            return goal_name(block)
    return None


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> CubeWorld:
    """Return the instance of a level.

    Args:
        level: ``n4``, ``paper-n2``, ...; see ``levels``.
        seed: Decides the placement; paper layouts are the same for every seed.
        horizon: Steps after which the episode ends.
        options: Values for ``CubeOptions``.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(CubeOptions, options, "cube")
    return CubeWorld(_with_team(layout_for(level, seed), level, chosen.agents), level, horizon, chosen)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances with limited sight whose agents, all on the left, cannot see what differs."""
    layout, options = layout_for(level, seed), CubeOptions(view_radius=2)
    right = max(col for _, col in layout.agents)
    for other in neighbouring_layouts(layout, right + 2 + 1):
        first, second = (CubeWorld(placed, level, DEFAULT_HORIZON, options) for placed in (layout, other))
        yield IndistinguishablePair(first, second, first.spec.agents[0])


def _with_team(layout: Layout, level: str, agents: int | None) -> Layout:
    """Return a layout with some of its agents, so that teams of several sizes meet the same instance."""
    if agents is None:
        return layout
    if agents > len(layout.agents):
        raise UserError(
            f"cube.agents: level {level} has {len(layout.agents)} agents, got {agents}: take a larger level"
        )
    return replace(layout, agents=layout.agents[:agents])
