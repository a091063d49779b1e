"""CUBE as a world of the contract: macro-actions over the primitive layer.

Each step takes one primitive from every running skill, does one step of the physics, and asks every skill
how it stands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell, Facts
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.executor import Executor, Result
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.team_world import TeamWorld
from teamworld.worlds.base.views import FactParts, FactsFrame, FactsView, check_form
from teamworld.worlds.contract import WAIT, EndReason, Goal, Option, Outcome, StepResult, Verdict, WorldSpec
from teamworld.worlds.cube import bounds, geometry, physics, text
from teamworld.worlds.cube.actions import Controller, Timeouts, block_of, check_block, fail, time_limits
from teamworld.worlds.cube.beliefs import CubeBeliefs, TeamKnowledge, TeamMemory, split_facts
from teamworld.worlds.cube.domain import CubeDomain, make_goals
from teamworld.worlds.cube.draw import still_picture as still_picture
from teamworld.worlds.cube.failures import failures
from teamworld.worlds.cube.known_picture import known_picture as known_picture
from teamworld.worlds.cube.levels import LEVELS, layout_for, neighbouring_layouts
from teamworld.worlds.cube.skills import SKILLS, STAY, CubeSkill
from teamworld.worlds.cube.state import EpisodeRules, ForceScope, Layout, make_state
from teamworld.worlds.cube.step_effects import StepEffects, compute_effects
from teamworld.worlds.cube.symbolic_state import (
    PRIMITIVE,
    SymbolicState,
    agent_name,
    goal_name,
    read_state,
    without_agents,
)
from teamworld.worlds.cube.team_activity import TeamActivity, is_timely

#: Steps of an episode unless told otherwise, on every level: the default of the published environment.
STEP_LIMIT = 500
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
    controller: Controller = "spec"
    """spec: a failed line-up ends its plan, a push that moves nothing fails after three steps, and of two agents that
    sidestep in step one lets the other pass; paper: as the published controller, none of these."""


#: What ``teamworld.worlds.registry`` reads, besides LEVELS, ``step_limit``, ``make`` and ``failures``.
OPTIONS = CubeOptions
SUMMARY = "push square blocks, alone or together, to the right edge of a grid"
__all__ = [
    "DEFAULT_LEVEL",
    "LEVELS",
    "OPTIONS",
    "SUMMARY",
    "CubeOptions",
    "CubeWorld",
    "failures",
    "indistinguishable_pairs",
    "known_picture",
    "make",
    "step_bound",
    "step_limit",
    "still_picture",
]

#: The one kind of agent.
KIND = "pusher"


@dataclass(eq=False)
class CubeFrame(FactsFrame[CubeDomain]):
    """One moment of the world, shared by all views of it."""

    running: Mapping[AgentId, Action]
    """The running action of each busy agent."""
    remainders: Mapping[AgentId, Action]
    """What is left of each."""
    looked: frozenset[Cell]
    """The cells that the team has seen of areas not seen entirely."""


class CubeView(FactsView[CubeFrame]):
    """``contract.View`` for CUBE; reading it after the world's next step raises ``StaleView``.

    ``recall`` is what anyone of the team has perceived before and the agent does not perceive now.
    """

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
        return read_state(self.known)

    @property
    def known(self) -> Facts:
        """All that it knows; of agents that are left out their number alone."""
        return self._narrow(self._now.parts(self._agent)[2], without_agents)

    @property
    def elsewhere(self) -> Mapping[AgentId, Cell]:
        """Where the agents are of which the rest of the view tells nothing, for words that sum them up."""
        whole = read_state(self._now.parts(self._agent)[2]).agents
        return {agent: cell for agent, cell in whole.items() if agent not in self.state.agents}

    @property
    def elsewhere_running(self) -> Mapping[AgentId, Action]:
        """What those do, for the same words."""
        return {agent: action for agent, action in self._now.running.items() if agent not in self.running}

    @property
    def radius(self) -> int | None:
        """How far agents see, in rows and columns; None if they see everything."""
        return self._now.domain.radius

    @property
    def beliefs(self) -> CubeBeliefs:
        """What every agent knew before the first step."""
        return self._now.domain.beliefs

    @property
    def looked(self) -> frozenset[Cell]:
        """The cells that the team has seen of areas not seen entirely."""
        return self._now.looked

    @property
    def running(self) -> Mapping[AgentId, Action]:
        """The running action of each busy agent, which the team tells one another."""
        running, narrowing = self._now.running, self.narrowing
        if narrowing is None:
            return running
        return {agent: action for agent, action in running.items() if agent in narrowing.kept}

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as it knows, and beside what its teammates do."""
        return [option for option in super().options if is_timely(self.state, self.agent, option.action, self.running)]

    @property
    def remainder(self) -> Action | None:
        """What is left of its running action, as an action."""
        return self._now.remainders.get(self._agent)

    def check(self, action: Action) -> Verdict:
        """Return whether the action's preconditions hold, by what the agent knows."""
        return self._now.domain.check(self._agent, action, self.known, planning=False)

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        check_form(form, ["plain"])
        return text.describe(self)


class CubeWorld(TeamWorld[CubeSkill]):
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
        horizon: int = STEP_LIMIT,
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
        self._domain = CubeDomain(
            options.timeouts, options.view_radius, layout.weights, layout.grid_size, options.controller
        )
        self._start_distances = {b: SymbolicState.from_layout(layout).distance(b) for b in range(len(layout.blocks))}
        self._spec = WorldSpec(
            world="cube",
            level=level,
            agents=self._names,
            kinds=dict.fromkeys(self._names, KIND),
            horizon=horizon,
            task=text.describe_task(layout, horizon, options.view_radius),
            rules=text.describe_rules(layout, options),
            memory="team",
            options=options.model_dump(),
            static={"grid_size": layout.grid_size, "weights": list(layout.weights)},
        )
        self.reset(0)

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
        self._executor = Executor[CubeSkill](self._names)
        self._effects: StepEffects | None = None
        self._over: EndReason | None = None
        self._show(self._know(0))

    def view(self, agent: AgentId) -> CubeView:
        """Return the view of an agent.

        Raises:
            UserError: There is no such agent.
        """
        self._check_agent(agent)
        return CubeView(agent, self._frame, lambda: self._frame)

    def _advance(self) -> StepResult:
        running = self._executor.running
        skills = {agent: running[agent] for agent in self._names if agent in running}  # not as they began
        activity, known, before = TeamActivity(skills), self._knowledge.state, self._state
        directions = {agent: skill.primitive(known) for agent, skill in skills.items()}
        tried = {agent: directions[agent] for agent in self._names if directions.get(agent, STAY) != STAY}
        primitives = [PRIMITIVE[tried[agent]] if agent in tried else 0 for agent in self._names]
        physics.step(self._arrays, np.array(primitives, np.int8))
        self._state = SymbolicState.from_arrays(self._arrays, self._names, before=before)
        t = int(self._arrays.steps[0])
        knowledge = self._know(t)
        idle = frozenset(self._names).difference(skills)
        self._effects = effects = compute_effects(
            self._arrays, before, self._state, knowledge.state, tried, activity.engaged, activity.waiting, idle
        )
        for skill in skills.values():
            skill.spent += 1
            skill.watch(effects)
        outcomes = {agent: self._judge(agent, effects, activity) for agent in self._names}
        self._show(knowledge)
        return StepResult(
            1,
            outcomes,
            goals=effects.goal_events(self._start_distances),
            attempts=effects.attempts(),
            score={"reward": float(self._arrays.reward[0])},
            end_reason=self._end_reason(bool(self._arrays.terminated[0]), t),
        )

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other agents at most ``reach`` cells away (Manhattan), in the order of the agents."""
        self._check_agent(sender)
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

    def _know(self, t: int) -> TeamKnowledge:
        return TeamKnowledge(self._state, {}) if self._memory is None else self._memory.look(self._state, t)

    def _show(self, knowledge: TeamKnowledge) -> None:
        t, radius, facts = int(self._arrays.steps[0]), self._options.view_radius, knowledge.state.facts

        def split(agent: AgentId) -> FactParts:
            return (facts, Facts(), facts) if radius is None else split_facts(knowledge, agent, radius, t)

        self._knowledge = knowledge
        self._frame = CubeFrame(
            t,
            self._spec.horizon,
            self._domain,
            self._executor.copy_histories(),
            split,
            {agent: skill.action for agent, skill in self._executor.running.items()},
            {agent: skill.remainder for agent, skill in self._executor.running.items()},
            knowledge.looked,
        )

    def _complete(self, agent: AgentId, action: Action) -> Action:
        """Return the running action if it is the same but for counts that were left out, else the action as it is."""
        running = self._executor.running.get(agent)
        return running.action if running is not None and self._whole(action) == running.whole else action

    def _whole(self, action: Action) -> Action | Result:
        """Return an action with all its arguments, or why it is none."""
        block, known = block_of(action), self._knowledge.state
        if block is not None and (refused := check_block(known, block)) is not None:
            return refused
        try:
            return self._domain.schemas(known).complete(action)
        except UserError as error:
            return fail(f"illegal: {error}")

    def _make_skill(self, agent: AgentId, action: Action) -> CubeSkill | Result:
        whole = self._whole(action)
        if isinstance(whole, Result):
            return whole
        skill = SKILLS.get(whole.verb, CubeSkill)(
            agent, action, whole, self._limits, self._options.controller, self._frame.t
        )
        return skill.begin(self._knowledge.state) or skill  # by what the team knows, as the skill goes on

    def _judge(self, agent: AgentId, effects: StepEffects, activity: TeamActivity) -> Outcome:
        skill = activity.skills.get(agent)
        is_waiting = skill is None or skill.verb in ("idle", "talk", "wait_agents")
        outcome = Outcome(
            WAIT,
            "done",
            blocker=effects.blocker(agent),
            moved=agent in effects.moved,
            effect=agent in effects.pushed,
            primitives=(effects.tried.get(agent, STAY).upper(),),
            start=self._frame.t,
            ready=_open_face(effects, agent) if is_waiting and not self._executor.is_refused(agent) else None,
            place=effects.before.agents[agent],
            aim=effects.aim(agent),
        )
        return self._executor.judge(agent, outcome, lambda running: running.result(effects, activity))


def _open_face(effects: StepEffects, agent: AgentId) -> str | None:
    """Return the goal at whose face an agent stood in this step while the force was still too small."""
    state = effects.before
    for block, face in geometry.aligned_faces(state, agent):
        if len(geometry.aligned_agents(state, block, face)) < geometry.chain_weight(state, block, face):
            return goal_name(block)
    return None


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends unless told otherwise: the same on all."""
    return STEP_LIMIT


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


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound | None:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    None where a block is too heavy for the team.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(CubeOptions, options, "cube")
    return bounds.bound(_with_team(layout_for(level, seed), level, chosen.agents))


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances with limited sight whose agents, all on the left, cannot see what differs."""
    layout, options = layout_for(level, seed), CubeOptions(view_radius=2)
    right = max(col for _, col in layout.agents)
    for other in neighbouring_layouts(layout, right + 2 + 1):
        first, second = (CubeWorld(placed, level, STEP_LIMIT, options) for placed in (layout, other))
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
