"""Wildfire as a world of the contract: levels, options, instances, views, and actions over the simulator.

Each step starts and stops actions as ordered, takes one primitive [type, x, y] from everybody, lets ``physics`` do one
timestep, updates what is known, and judges every action.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError, suggest
from teamworld.language import Action, ActionSchema, AgentId, Facts
from teamworld.worlds.base.executor import Executor, Result, complete_action, refusal
from teamworld.worlds.base.failure_spans import FailureSpan, Transition
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.team_world import TeamWorld
from teamworld.worlds.base.views import FrameView
from teamworld.worlds.contract import WAIT, EndReason, Goal, Option, Outcome, StepResult, Verdict, WorldSpec
from teamworld.worlds.wildfire import draw, observe, physics, text
from teamworld.worlds.wildfire.domain import WildfireDomain
from teamworld.worlds.wildfire.goals import (
    GoalTracker,
    UnitsBefore,
    copy_units,
    find_failures,
    goals_in,
    joint_attempts,
    rows_over_fire,
)
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.knowledge import Fires, Knowledge, living_agents, true_state, work_state
from teamworld.worlds.wildfire.levels import LEVELS as _LEVELS
from teamworld.worlds.wildfire.levels import describe_level, instance_for, level_for, with_firefighters
from teamworld.worlds.wildfire.observe import begin_sightings
from teamworld.worlds.wildfire.physics import begin_incident
from teamworld.worlds.wildfire.skills import STAY, Command, PrimitiveResult, RunningSkill
from teamworld.worlds.wildfire.state import SIGHTS, ActionRules, Cell, FireMode, rules_for
from teamworld.worlds.wildfire.symbolic_state import Mission, SymbolicState, expected_facts, facts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import WildfireInstance
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import Incident


@dataclass(eq=False)
class WildfireFrame:
    """One moment of the world, shared by all views of it."""

    t: int
    horizon: int
    domain: WildfireDomain
    knowledge: Mapping[AgentId, Knowledge]
    """Of each living agent; the same for all where the team shares its map."""
    histories: Mapping[AgentId, tuple[Outcome, ...]]
    shown: Callable[[AgentId, str], str]
    """Describes what an agent sees, in one of ``FORMS``."""
    _known: dict[int, Facts] = field(default_factory=dict)
    _split: dict[int, tuple[Facts, Facts]] = field(default_factory=dict)

    def known(self, agent: AgentId) -> Facts:
        """Return all that an agent knows."""
        mine = self.knowledge[agent]
        if id(mine) not in self._known:
            self._known[id(mine)] = expected_facts(mine.state)
        return self._known[id(mine)]

    def split(self, agent: AgentId) -> tuple[Facts, Facts]:
        """Return what an agent perceives now, and what was perceived before."""
        mine = self.knowledge[agent]
        if id(mine) not in self._split:
            self._split[id(mine)] = mine.facts(self.known(agent))
        return self._split[id(mine)]


#: Forms of text: ``plain`` in sentences, ``grid`` the window of cells.
FORMS = ("plain", "grid")


class WildfireView(FrameView[WildfireFrame]):
    """``contract.View`` for wildfire; reading it after the world's next step raises ``StaleView``."""

    def __init__(self, agent: AgentId, frame: WildfireFrame, current: Callable[[], WildfireFrame]) -> None:
        super().__init__(agent, frame, current)
        self._options: Sequence[Option] | None = None

    @property
    def kind(self) -> str:
        """``firefighter``, ``bulldozer``, ``drone`` or ``helicopter``."""
        return self._now.domain.mission.kinds[self._agent]

    @property
    def is_able(self) -> bool:
        """False while a helicopter carries it."""
        return self.state.agents[self._agent].aboard is None

    @property
    def names(self) -> Sequence[AgentId]:
        """All agents, in the order of their ids."""
        return tuple(self._now.domain.mission.kinds)

    @property
    def state(self) -> SymbolicState:
        """All that the agent knows, as a symbolic state with what was seen of the ground."""
        return self._now.knowledge[self._agent].state

    @property
    def facts(self) -> Facts:
        """Perceived now, by anybody of the team where it shares its map, and what was announced."""
        return self._now.split(self._agent)[0]

    @property
    def recall(self) -> Facts:
        """Perceived before and not seen otherwise since."""
        return self._now.split(self._agent)[1]

    @property
    def known(self) -> Facts:
        """Both."""
        return self._now.known(self._agent)

    @property
    def goals(self) -> Sequence[Goal]:
        """Those of the task that were announced or discovered."""
        return self._now.domain.goals(self.known)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """What its kind can do."""
        return self._now.domain.abilities(self._agent, self.known)

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as it knows; while it rides, only to wait."""
        frame = self._now
        if self._options is None:
            self._options = frame.domain.options(self._agent, self.known)
        return self._options

    def check(self, action: Action) -> Verdict:
        """Return whether the action's preconditions hold, by what the agent knows."""
        return self._now.domain.check_now(self._agent, action, self.known)

    def text(self, form: str = "plain") -> str:
        """Return the view in words, or as a grid of cells.

        Raises:
            UserError: There is no such form.
        """
        frame = self._now
        if form not in FORMS:
            raise UserError(f"a view of wildfire has no text form '{form}'{suggest(form, list(FORMS))}")
        return frame.shown(self._agent, form)


class WildfireWorld(TeamWorld[RunningSkill]):
    """One instance of wildfire; implements ``contract.World``.

    Args:
        instance: Where everything is at the start.
        level: The name of the level, for the record.
        horizon: Timesteps after which the episode ends; at most the level's own, unless ``options.limit`` is off.
        options: See ``WildfireOptions``.
    """

    def __init__(self, instance: WildfireInstance, level: str, horizon: int, options: WildfireOptions) -> None:

        if horizon < 1:
            raise UserError(f"the horizon is a number of timesteps from 1, got {horizon}")
        task_level, self._options, self._instance = instance.level, options, instance
        horizon = min(horizon, task_level.max_steps) if options.limit else horizon
        rules = rules_for(task_level.edition)
        self._rules = ActionRules(
            pick_up=rules.pick_up,
            refill=rules.refill,
            rescue_reach=rules.rescue_reach,
            burnt_kills=options.burnt_kills,
            riders_count=options.riders_count,
        )
        self._names = tuple(observe.agent_names(begin_incident(instance, 0).units))
        self._row = {name: row for row, name in enumerate(self._names)}
        kinds = {name: name.rpartition("_")[0] for name in self._names}
        self._mission = Mission(
            task=task_level.task,
            size=task_level.size,
            kinds=kinds,
            horizon=horizon,
            known=task_level.known,
            clusters=task_level.clusters,
            per_cluster=task_level.per_cluster,
            fire_every=task_level.fire_every,
            edition=task_level.edition,
            careful=options.careful,
            lift_reach=rules.pick_up,
            fill_reach=rules.refill,
            riders_count=options.riders_count,
        )
        self._domain = WildfireDomain(self._mission)
        self._spec = WorldSpec(
            world="wildfire",
            level=level,
            agents=self._names,
            kinds=kinds,
            horizon=horizon,
            task=text.task_text(task_level, instance),
            memory="team" if options.shared_map else "agent",
            options=options.model_dump(),
            static=draw.static(instance),
        )
        self.reset(0)

    @property
    def domain(self) -> WildfireDomain:
        """The rules that everybody knows."""
        return self._domain

    @property
    def incident(self) -> Incident:
        """The simulator's state, for tests, figures and scores; nobody else may change it."""
        return self._incident

    def reset(self, seed: int) -> None:
        """Start over; the seed decides where civilians wander, what the stochastic fire does and whom a script hits."""
        self._incident = begin_incident(self._instance, seed, self._options.fire, self._rules)
        self._sightings = begin_sightings(self._incident, shared_map=self._options.shared_map)
        self._fires = Fires(self._incident)
        self._over: EndReason | None = None
        self._total = self._main()
        self._executor: Executor[RunningSkill] = Executor(self._names)
        if self._options.shared_map:
            team = Knowledge(self._incident, self._mission, self._names, None)
            self._knowledge = dict.fromkeys(self._names, team)
        else:
            rows = enumerate(self._names)
            self._knowledge = {n: Knowledge(self._incident, self._mission, self._names, k) for k, n in rows}
        self._ledger = GoalTracker(self._incident, self._mission, self._names)
        self._look()
        self._ledger.open(self._known_goals())
        start = copy_units(self._incident)
        self._ledger.step(self._incident, start, _no_effects(self._incident), self._fires)

    def view(self, agent: AgentId) -> WildfireView:
        """Return what a living agent may know now.

        Raises:
            UserError: There is no such agent, or it is gone.
        """
        self._check_agent(agent)
        return WildfireView(agent, self._frame, lambda: self._frame)

    def _advance(self) -> StepResult:
        commands = np.array([self._command(name) for name in self._names], np.int64).reshape(-1, 3)
        start = copy_units(self._incident)
        effects = physics.step(self._incident, commands)
        self._fires.look(self._incident)
        events = [*self._ledger.step(self._incident, start, effects, self._fires)] if self._mission.known else []
        self._look()
        if not self._mission.known:
            events = [*self._ledger.step(self._incident, start, effects, self._fires)]
        events = [*self._ledger.open(self._known_goals()), *events]
        outcomes = self._outcomes(start, commands, effects)
        self._frame.histories = self._executor.copy_histories()
        units = self._incident.units
        gone = {
            name: _cause_of_loss(effects, row)
            for row, name in enumerate(self._names)
            if start.alive[row] and not units.alive[row]
        }
        joint = joint_attempts(self._incident, start, commands, effects, self._mission, self._names)
        over = physics.is_over(self._incident)
        end = self._end_reason(over, self._incident.t)
        return StepResult(1, outcomes, tuple(events), tuple(joint), gone, self._score(), end)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents at most ``reach`` cells away, in the order of the agents."""
        self._check_agent(sender)
        units, places = self._incident.units, self._incident.units.places()
        at = places[self._row[sender]]
        return tuple(
            name
            for row, name in enumerate(self._names)
            if name != sender and units.alive[row] and (math.isinf(reach) or math.dist(places[row], at) <= reach)
        )

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand, undiscovered ones too."""
        state = true_state(self._incident, self._mission, self._names, self._fires)
        return goals_in(self._mission, state, self._ledger.looked)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return Facts(tuple(facts_of(true_state(self._incident, self._mission, self._names, self._fires))))

    def snapshot(self) -> Mapping[str, Any]:
        """Return what ``draw`` needs of this moment."""
        return draw.snapshot(self._incident)

    def _shown(self, agent: AgentId, form: str) -> str:
        return text.view_text(
            self._incident, self._sightings, self._row[agent], self.view(agent), form, self._options.weather
        )

    # ---- one step

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._row and bool(self._incident.units.alive[self._row[agent]])

    def _look(self) -> None:
        self._fires.look(self._incident)
        self._sightings.look(self._incident)
        alive = living_agents(self._incident, self._names)
        for knowledge in dict.fromkeys(self._alive_knowledge()):
            knowledge.look(self._incident, self._sightings, self._fires, alive)
            self._ledger.find(knowledge.people, fire=bool(knowledge.state.fires))
        self._frame = WildfireFrame(
            self._incident.t,
            self._spec.horizon,
            self._domain,
            self._knowledge,
            self._executor.copy_histories(),
            self._shown,
        )

    def _alive_knowledge(self) -> Iterator[Knowledge]:
        for row, name in enumerate(self._names):
            if self._incident.units.alive[row]:
                yield self._knowledge[name]

    def _known_goals(self) -> list[str]:
        return [
            goal.id
            for knowledge in dict.fromkeys(self._alive_knowledge())
            for goal in goals_in(self._mission, knowledge.state)
        ]

    def _complete(self, agent: AgentId, action: Action) -> Action:
        return complete_action(action, self._domain.abilities(agent, self._frame.known(agent)))

    def _make_skill(self, agent: AgentId, action: Action) -> RunningSkill | Result:
        verdict = self._domain.check_now(agent, action, self._frame.known(agent))
        if not verdict.ok:
            return refusal(verdict)
        return RunningSkill(agent, self._row[agent], self._mission.kinds[agent], action, self._incident.t)

    def _command(self, name: AgentId) -> Command:
        skill = self._executor.running.get(name)
        return STAY if skill is None else skill.command(self._mission, self._knowledge[name].state)

    def _outcomes(
        self, start: UnitsBefore, commands: npt.NDArray[np.int64], effects: StepEffects
    ) -> dict[AgentId, Outcome]:
        """Return the outcome of every agent that was alive when the step began."""
        truth = work_state(self._incident, self._mission, self._names)
        above = rows_over_fire(self._incident) if self._mission.task == "scout" else []
        outcomes = {}
        for row, name in enumerate(self._names):
            if not start.alive[row]:
                continue
            reason = agents.REASONS[int(effects.reason[row])]
            primitive = PrimitiveResult(
                bool(effects.moved[row]), bool(effects.effect[row]), reason, int(effects.felled[row])
            )
            x, y = start.places[row].tolist()
            outcome = Outcome(
                WAIT,
                "done",
                moved=primitive.moved,
                effect=primitive.effect,
                primitives=(text.primitive_name(self._mission.kinds[name], commands[row]),),
                start=self._incident.t - 1,
                place=(x, y),
                ready="scout_0" if above == [row] else None,
            )
            outcomes[name] = self._judge(name, outcome, truth, primitive)
        return outcomes

    def _judge(self, name: AgentId, outcome: Outcome, truth: SymbolicState, primitive: PrimitiveResult) -> Outcome:
        def judge_skill(skill: RunningSkill) -> Result:
            if name not in truth.agents:
                return Result("failed", "burnt" if primitive.reason == "died" else "gone")
            result = skill.result(self._mission, self._knowledge[name].state, truth, primitive)
            is_carried = result.status == "running" and truth.agents[name].aboard is not None
            return Result("failed", "aboard") if is_carried else result

        return self._executor.judge(name, outcome, judge_skill)

    def _main(self) -> float:
        score = physics.score(self._incident)
        return score.burnt if self._options.score == "burnt" else score.reference

    def _score(self) -> dict[str, float]:
        """Return how the score changed in this step, and the scores and counts as they stand after it."""
        score, counts, before = physics.score(self._incident), physics.counters(self._incident), self._total
        self._total = self._main()
        scores = {"reward": self._total - before, "score": self._total}
        scores |= {"score_reference": score.reference, "score_burnt": score.burnt}
        if physics.fights_fire(self._instance.level):
            scores |= {
                "trees_burnt": float(counts.trees_burnt),
                "trees_cut": float(counts.trees_cut),
                "buildings_lost": float(counts.buildings_destroyed),
                "civilians_lost": float(counts.civilians_destroyed),
                "agents_lost": float(counts.agents_destroyed),
            }
        return scores


def _cause_of_loss(effects: StepEffects, row: int) -> str:
    return "burnt" if agents.REASONS[int(effects.reason[row])] == "died" else "lost"


def _no_effects(incident: Incident) -> StepEffects:
    """Return the effects of a step in which nothing happened."""
    agents, people = len(incident.units), len(incident.civilians)
    flags, counts = np.zeros(agents, np.bool_), np.zeros(agents, np.int32)
    none = np.zeros(people, np.bool_)
    return physics.StepEffects(flags, flags, flags.astype(np.uint8), flags, counts, counts, none, none, (), 0)


#: A run may be shorter than its level, not longer (``WildfireOptions.limit``): this is more than any level has.
DEFAULT_HORIZON = 1_000
DEFAULT_LEVEL = "cut_trees_sparse_small"
SUMMARY = "firefighters, bulldozers, drones and helicopters against a spreading fire (after CREW-Wildfire)"

#: The levels to list, each with one line, in the order of the paper; presets also as ``NAME@2026``.
LEVELS: Mapping[str, str] = {name: describe_level(level) for name, level in _LEVELS.items()}


class WildfireOptions(BaseModel):
    """The options of wildfire."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    fire: FireMode = "reference"
    """How fire spreads: the reference's rule without chance, or the stochastic one of Alexandridis et al. (2008)."""
    shared_map: bool = True
    """The team shares what it sees, as in the reference; false: each agent has a map of its own."""
    score: Literal["reference", "burnt"] = "reference"
    """What the score of fire levels charges: cut trees too, as the reference does, or only what burnt."""
    careful: bool = True
    """Whoever walks or drives goes round the fire that it knows of; false: straight on, as in the reference."""
    relief_m: float = Field(default=890.0, ge=0, le=100_000)
    """Metres between the lowest and the highest cell of a generated map."""
    cell_m: float = Field(default=30.0, ge=0.1, le=100_000)
    """Side of a cell in metres, for generated maps."""
    map_file: str | None = None
    """A map to play on instead of a generated one (.npz or .yaml); logs name it by a hash of what it holds."""
    burnt_kills: bool = False
    """Burnt-out ground kills walkers too, as in the code of July 2025."""
    riders_count: bool = False
    """Firefighters in a helicopter above the target count as transported, as in the code of July 2025."""
    weather: bool = False
    """Texts tell of wind, height and moisture where the agent stands; the benchmark hides them."""
    limit: bool = True
    """The level's own step limit holds; false: only that of the run."""
    firefighters: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    """Number of firefighters in place of the level's; None: the level's, and no word of it in records."""


OPTIONS = WildfireOptions


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> WildfireWorld:
    """Return the instance of a level; ``NAME@2026`` names the other edition of a preset.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(WildfireOptions, options, "wildfire")
    played, terrain, named = level_for(level), None, chosen
    if chosen.firefighters is not None:
        played = with_firefighters(played, chosen.firefighters)
    if chosen.map_file is not None:
        from teamworld.worlds.wildfire.state import fingerprint, load_map

        terrain = load_map(chosen.map_file)
        named = chosen.model_copy(update={"map_file": fingerprint(terrain)})  # a path is of one machine only
    instance = instance_for(played, seed, terrain=terrain, relief_m=chosen.relief_m, cell_m=chosen.cell_m)
    return WildfireWorld(instance, level, horizon, named)


def failures(static: Mapping[str, Any], team: Sequence[AgentId], passages: Sequence[Transition]) -> list[FailureSpan]:
    """Return the failures that the transitions of an episode show; implements ``contract.FailureFinder``."""
    return find_failures(static, team, passages)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs that nobody can tell apart: a fire, or civilians, that nobody was told of begin elsewhere."""
    instance = instance_for(level, seed)
    if instance.level.known:
        return
    team = instance.level.team
    counts = (team.firefighters, team.bulldozers, team.drones, team.helicopters)
    reach = max(sight.reveals for sight, count in zip(SIGHTS, counts, strict=True) if count)

    def away(cell: Cell) -> Cell | None:
        """Return a burnable cell beside, both out of everybody's sight."""
        for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            twin = Cell(cell.x + right, cell.y + down)
            inside = 0 <= twin.x < instance.level.size and 0 <= twin.y < instance.level.size
            hidden = max(abs(twin.x - instance.spawn.x), abs(twin.y - instance.spawn.y)) > reach + 12
            if inside and hidden and instance.terrain.burnable[twin.y, twin.x]:
                return twin
        return None

    changes: dict[str, Any] = {}
    if instance.fire is not None and (cell := away(instance.fire)) is not None:
        changes["fire"] = cell
    elif instance.clusters and (cell := away(instance.clusters[0])) is not None:
        changes["clusters"] = (cell, *instance.clusters[1:])
    if changes:
        twin = replace(instance, **changes)
        first = WildfireWorld(instance, level, DEFAULT_HORIZON, WildfireOptions())
        for kind in dict.fromkeys(first.spec.kinds.values()):
            agent = next(name for name, its in first.spec.kinds.items() if its == kind)
            pair = [WildfireWorld(each, level, DEFAULT_HORIZON, WildfireOptions()) for each in (instance, twin)]
            yield IndistinguishablePair(pair[0], pair[1], agent)
