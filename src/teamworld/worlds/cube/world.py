"""CUBE as a world of the contract: macro-actions over the primitive layer.

Each step takes one primitive from every running skill, does one step of the physics, and asks every skill
how it stands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    World,
    WorldSpec,
)
from teamworld.worlds.cube import geometry, physics, text
from teamworld.worlds.cube.actions import Refusal, Timeouts, block_of, time_limits
from teamworld.worlds.cube.beliefs import TeamKnowledge, TeamMemory, split_facts
from teamworld.worlds.cube.domain import CubeDomain, make_goals
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
    """Options of a CUBE world."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    step_cost: float = Field(default=0.01, ge=-1e6, le=1e6)
    """r_s: taken from every agent at every step."""
    deliver_reward: float = Field(default=1.0, ge=-1e6, le=1e6)
    """r_d: shared by all agents for each unit of delivered weight."""
    force_scope: ForceScope = "chain"
    """chain: lines behind any block of a chain push it; rear: only lines behind its first block."""
    view_radius: int | None = Field(default=None, ge=1)
    """Rows and columns that an agent sees around it; none: everything."""
    agents: int | None = Field(default=None, ge=1)
    """How many of the level's agents take part, the first so many; none: all. Blocks and places stay as they are."""
    timeouts: Timeouts = "spec"
    """Default time-outs: spec: scaled with the grid; paper: the published controller's."""


#: What ``teamworld.worlds.registry`` reads, codes_beside LEVELS, DEFAULT_HORIZON, ``make`` and ``failures``.
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


@dataclass(frozen=True)
class CubeMoment:
    """One moment of the world, shared by all views of it."""

    t: int
    horizon: int
    domain: CubeDomain
    knowledge: TeamKnowledge
    radius: int | None
    running: Mapping[AgentId, Action]
    """The running action of each busy agent."""
    histories: Mapping[AgentId, Sequence[Outcome]]

    @property
    def state(self) -> SymbolicState:
        """What the team knows; the truth if agents see everything."""
        return self.knowledge.state

    def split_facts(self, agent: AgentId) -> tuple[Facts, Facts, Facts]:
        """Return what an agent perceives, what it recalls, and both together."""
        if self.radius is None:
            return self._facts, Facts(), self._facts
        return split_facts(self.knowledge, agent, self.radius, self.t)

    @cached_property
    def _facts(self) -> Facts:
        return self.state.facts


class CubeView(FrameView[CubeMoment]):
    """``contract.View`` for CUBE; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """``pusher``: all are."""
        return KIND

    @property
    def is_able(self) -> bool:
        """Always true: nothing keeps an agent from acting."""
        return self._now is not None

    @property
    def state(self) -> SymbolicState:
        """All that the agent knows of positions, as a symbolic state."""
        return self._now.state

    @property
    def running(self) -> Mapping[AgentId, Action]:
        """The running action of each busy agent, which the team tells one another."""
        return self._now.running

    @property
    def facts(self) -> Facts:
        """Perceived now."""
        return self._parts[0]

    @property
    def recall(self) -> Facts:
        """Perceived before by anyone of the team and not now by this agent, with the step of last sight."""
        return self._parts[1]

    @property
    def known(self) -> Facts:
        """Both."""
        return self._parts[2]

    @property
    def goals(self) -> Sequence[Goal]:
        """The blocks discovered so far, by id; delivered ones are ``done``."""
        return make_goals(self._now.state)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """All actions, with the blocks that can be acted on."""
        return tuple(self._now.domain.abilities(self._now.state).values())

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as the agent knows."""
        _ = self._now
        return self._kept_options

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

    @property
    def _parts(self) -> tuple[Facts, Facts, Facts]:
        _ = self._now  # what is kept must not be read when the view is stale
        return self._kept_parts

    @cached_property
    def _kept_parts(self) -> tuple[Facts, Facts, Facts]:
        return self._frame.split_facts(self._agent)

    @cached_property
    def _kept_options(self) -> Sequence[Option]:
        return self._frame.domain.options_in(self._frame.state, self._agent)


class CubeWorld(World):
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
        self._start_distances = {b: SymbolicState.from_layout(layout).distance(b) for b in range(len(layout.blocks))}
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
        return self._state

    @property
    def effects(self) -> StepEffects | None:
        """The truth about the last step, None before the first: for custom feedback, see ``transition``."""
        return self._effects

    def reset(self, seed: int) -> None:
        """Start over from the layout; nothing in CUBE is random, so the seed changes nothing."""
        self._arrays = make_state(self._layout, self._rules)
        self._state = SymbolicState.from_arrays(self._arrays, self._names)
        radius = self._options.view_radius
        self._memory = None if radius is None else TeamMemory(radius, self._layout.grid_size)
        self._skills: dict[AgentId, CubeSkill] = {}
        self._histories: dict[AgentId, list[Outcome]] = {agent: [] for agent in self._names}
        self._effects: StepEffects | None = None
        self._over: EndReason | None = None
        self._frame = self._make_frame()

    def view(self, agent: AgentId) -> CubeView:
        """Return the view of an agent.

        Raises:
            UserError: There is no such agent.
        """
        self._check_name(agent)
        return CubeView(agent, self._frame, lambda: self._frame)

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Start and stop actions as asked for, then do one step.

        An action that cannot start is refused: its outcome is failed and not legal, and the step is spent.

        Raises:
            UserError: An action is for an unknown agent, or the episode is over.
        """
        if self._over is not None:
            raise UserError(f"the episode is over ({self._over}): reset the world before the next step")
        for agent in actions:
            self._check_name(agent)
        refusals = {agent: no for agent, action in actions.items() if (no := self._start(agent, action)) is not None}
        activity = TeamActivity(dict(self._skills))
        known = self._frame.state
        directions = {agent: skill.primitive(known) for agent, skill in self._skills.items()}
        tried = {agent: directions[agent] for agent in self._names if directions.get(agent, STAY) != STAY}
        before = self._state
        primitives = [PRIMITIVE[tried[agent]] if agent in tried else 0 for agent in self._names]
        physics.step(self._arrays, np.array(primitives, np.int8))
        self._state = SymbolicState.from_arrays(self._arrays, self._names, before=before)
        knowledge = self._know(self._frame.t + 1)
        idle = frozenset(self._names).difference(self._skills)
        effects = compute_effects(
            self._arrays, before, self._state, knowledge.state, tried, activity.engaged, activity.waiting, idle
        )
        self._effects = effects
        outcomes = self._judge(effects, activity, actions, refusals)
        self._over = "all_done" if self._arrays.terminated[0] else "horizon" if self._arrays.truncated[0] else None
        self._frame = self._make_frame(knowledge)
        return StepResult(
            1,
            outcomes,
            goals=effects.goal_events(self._start_distances),
            attempts=effects.attempts(),
            score={"reward": float(self._arrays.reward[0])},
            end_reason=self._over,
        )

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other agents at most ``reach`` cells away (Manhattan), in the order of the agents."""
        self._check_name(sender)
        state = self._state
        near = tuple(agent for agent in self._names if agent != sender)
        if math.isinf(reach):
            return near
        return tuple(agent for agent in near if geometry.get_distance(state, sender, agent) <= reach)

    def goals(self) -> Sequence[Goal]:
        """Return one goal for each block, by id, delivered ones included."""
        return make_goals(self._state)

    def truth(self) -> Facts:
        """Return all positions, weights and states; unseen areas are knowledge of the team, not truth."""
        return self._state.facts

    def snapshot(self) -> Mapping[str, Any]:
        """Return positions: agents as [row, column], blocks as [row, column] of the top-left cell, null if delivered.

        The rest of what a drawing needs does not change: grid side and weights stand in ``spec.options``.
        """
        blocks = self._state.blocks.values()
        return {
            "v": 1,
            "agents": [list(cell) for cell in self._state.agents.values()],
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
            {agent: skill.order for agent, skill in self._skills.items()},
            self._histories,
        )

    def _know(self, t: int) -> TeamKnowledge:
        return TeamKnowledge(self._state, {}) if self._memory is None else self._memory.look(self._state, t)

    def _start(self, agent: AgentId, order: Action) -> Refusal | None:
        """Start an action, unless it runs already; return why it cannot start."""
        running = self._skills.get(agent)
        if running is not None and order == running.order:
            return None
        action = self._complete(order)
        if running is not None:
            if action == running.action:
                return None
            self._end(running, SkillResult("failed", "interrupted"))
        if isinstance(action, Refusal) or action == WAIT:
            return action if isinstance(action, Refusal) else None
        skill = SKILLS[action.verb](agent, action, self._limits, order, self._frame.t)
        refusal = skill.begin(self._frame.state)  # by what the team knows, as the skill goes on
        if refusal is None:
            self._skills[agent] = skill
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

    def _judge(
        self,
        effects: StepEffects,
        activity: TeamActivity,
        actions: Mapping[AgentId, Action],
        refusals: Mapping[AgentId, Refusal],
    ) -> dict[AgentId, Outcome]:
        """Return the outcome of each agent's step, and end the actions that are over."""
        for skill in activity.skills.values():
            skill.spent += 1
            skill.watch(effects)
        outcomes = {}
        for agent in self._names:
            if agent in refusals:
                outcome = self._refuse(agent, actions[agent], refusals[agent])
            elif agent in activity.skills:
                outcome = self._advance(activity.skills[agent], effects, activity)
            else:
                ready = _open_face(effects, agent)
                outcome = Outcome(WAIT, "done", primitives=("STAY",), start=self._frame.t, ready=ready)
            outcomes[agent] = outcome._replace(place=effects.before.agents[agent], aim=effects.aim(agent))
        return outcomes

    def _refuse(self, agent: AgentId, action: Action, refusal: Refusal) -> Outcome:
        outcome = Outcome(action, "failed", *refusal, legal=False, primitives=("STAY",), start=self._frame.t)
        self._histories[agent].append(outcome)
        return outcome

    def _advance(self, skill: CubeSkill, effects: StepEffects, activity: TeamActivity) -> Outcome:
        """Return the outcome of one step of a running action, and end the action if it is over."""
        agent, result = skill.agent, skill.result(effects, activity)
        primitive = effects.tried.get(agent, STAY).upper()
        moved, effect = agent in effects.moved, agent in effects.pushed
        skill.primitives.append(primitive)
        skill.moved, skill.effect = skill.moved or moved, skill.effect or effect
        ready = result.ready
        if ready is None and skill.verb in ("idle", "talk", "wait_agents"):
            ready = _open_face(effects, agent)
        if result.status != "running":
            self._end(skill, result)
        return Outcome(
            skill.order,
            result.status,
            result.reason,
            result.constraint,
            result.blocker or effects.blocker(agent),
            moved=moved,
            effect=effect,
            primitives=(primitive,),
            start=skill.start,
            ready=ready,
        )

    def _end(self, skill: CubeSkill, result: SkillResult) -> None:
        """Add a finished or interrupted action to its agent's history, with all its primitives."""
        del self._skills[skill.agent]
        outcome = Outcome(
            skill.order,
            result.status,
            result.reason,
            result.constraint,
            result.blocker,
            moved=skill.moved,
            effect=skill.effect,
            primitives=tuple(skill.primitives),
            start=skill.start,
        )
        self._histories[skill.agent].append(outcome)


def _open_face(effects: StepEffects, agent: AgentId) -> str | None:
    """Return the goal at whose face an agent stood in this step while the force was still too small."""
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
