"""Wildfire as a world of the contract: levels, options, instances, views, and actions over the simulator.

Each step starts and stops actions as ordered, takes one primitive [type, x, y] from everybody, lets ``physics`` do one
step, updates what is known, and judges every action.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Facts
from teamworld.worlds.base.executor import Executor, Result, complete_action
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.team_world import TeamWorld
from teamworld.worlds.base.views import FactsFrame, FactsView, check_form
from teamworld.worlds.contract import WAIT, Goal, Outcome, StepResult, Verdict, WorldSpec
from teamworld.worlds.wildfire import bounds, briefing, draw, drawing_data, observe, physics, text
from teamworld.worlds.wildfire.domain import WildfireDomain
from teamworld.worlds.wildfire.goals import (
    GoalTracker,
    find_failures,
    goals_in,
    joint_attempts,
)
from teamworld.worlds.wildfire.headline import headline_of, idle_scores, scores_of
from teamworld.worlds.wildfire.kernels import agents
from teamworld.worlds.wildfire.knowledge import Fires, Knowledge, living_agents, true_state
from teamworld.worlds.wildfire.known_picture import known_picture as known_picture
from teamworld.worlds.wildfire.levels import LEVELS as _LEVELS
from teamworld.worlds.wildfire.levels import describe_level, instance_for, level_for, with_firefighters
from teamworld.worlds.wildfire.observe import begin_sightings
from teamworld.worlds.wildfire.physics import ScoreName, begin_incident
from teamworld.worlds.wildfire.skills import STAY, Command, PrimitiveResult, RunningSkill, explain
from teamworld.worlds.wildfire.state import SIGHTS, Cell, FireMode, rules_for
from teamworld.worlds.wildfire.symbolic_state import (
    AgentState,
    Mission,
    SymbolicState,
    facts_of,
    state_of,
    without_agents,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.base.bounds import StepBound
    from teamworld.worlds.wildfire.levels import Level, WildfireInstance
    from teamworld.worlds.wildfire.local_world import LocalWildfire
    from teamworld.worlds.wildfire.physics import StepEffects
    from teamworld.worlds.wildfire.state import ActionRules, Incident, Units


@dataclass(eq=False)
class WildfireFrame(FactsFrame[WildfireDomain]):
    """One moment of the world, shared by all views of it."""

    knowledge: Mapping[AgentId, Knowledge]
    """Of each living agent; the same for all where the team shares its map."""
    shown: Callable[[WildfireView, str], str]
    """Puts a view in words, in one of ``FORMS``."""
    remainders: Mapping[AgentId, Action]
    """What is left of each running action, as an action."""


#: Forms of text: ``plain`` in sentences, ``grid`` the window of cells.
FORMS = ("plain", "grid")


class WildfireView(FactsView[WildfireFrame]):
    """``contract.View`` for wildfire; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """``firefighter``, ``bulldozer``, ``drone`` or ``helicopter``."""
        return self._now.domain.mission.kinds[self._agent]

    @property
    def is_able(self) -> bool:
        """False while a helicopter carries it."""
        return self.state.agents[self._agent].aboard is None

    @property
    def remainder(self) -> Action | None:
        """What is left of its running action, as an action."""
        return self._now.remainders.get(self._agent)

    @property
    def mission(self) -> Mission:
        """What everybody was told."""
        return self._now.domain.mission

    @property
    def state(self) -> SymbolicState:
        """All that the agent knows, as a symbolic state with what was seen of the ground."""
        return state_of(self.known)

    @property
    def known(self) -> Facts:
        """All that the agent knows, as facts; which of them it perceives now is not worked out."""
        return self._narrow(self._now.knowledge[self._agent].known, without_agents)

    @property
    def elsewhere(self) -> Mapping[AgentId, AgentState]:
        """The agents of which the rest of the view tells nothing, for words that sum them up."""
        whole, kept = self._now.knowledge[self._agent].state.agents, self.state.agents
        return {agent: body for agent, body in whole.items() if agent not in kept}

    def check(self, action: Action) -> Verdict:
        """Return whether the action can be done now, by what the agent knows."""
        return self._now.domain.check_now(self._agent, action, self.known)

    def text(self, form: str = "plain") -> str:
        """Return the view in words, or as a grid of cells.

        Raises:
            UserError: There is no such form.
        """
        check_form(form, FORMS)
        return self._now.shown(self, form)


class WildfireWorld(TeamWorld[RunningSkill]):
    """One instance of wildfire; implements ``contract.World``.

    Args:
        instance: Where everything is at the start.
        level: The name of the level, for the record.
        horizon: Steps after which the episode ends; at most the level's own if ``options.limit`` is on.
        options: See ``WildfireOptions``.
    """

    _frame: WildfireFrame

    def __init__(self, instance: WildfireInstance, level: str, horizon: int, options: WildfireOptions) -> None:
        if horizon < 1:
            raise UserError(f"the horizon is a number of steps from 1, got {horizon}")
        task, self._options, self._instance = instance.level, options, instance
        horizon = min(horizon, task.max_steps) if options.limit else horizon
        self._rules = _rules(task, options)
        self._names = tuple(observe.agent_names(begin_incident(instance, 0).units))
        kinds = {name: name.rpartition("_")[0] for name in self._names}
        self._mission = Mission(
            task=task.task,
            size=task.size,
            kinds=kinds,
            known=task.known,
            clusters=task.clusters,
            per_cluster=task.per_cluster,
            fire_every=task.fire_every,
            careful=options.careful,
            lift_reach=self._rules.pick_up,
            fill_reach=self._rules.refill,
            riders_count=options.riders_count,
            has_water=bool(instance.water_cells),
        )
        self._domain = WildfireDomain(self._mission)
        self._spec = WorldSpec(
            world="wildfire",
            level=level,
            agents=self._names,
            kinds=kinds,
            horizon=horizon,
            task=briefing.task_text(task, instance, options.score, horizon),
            rules=briefing.rules_text(
                instance, self._mission, self._rules, shared_map=options.shared_map, weather=options.weather
            ),
            memory="team" if options.shared_map else "agent",
            headline=headline_of(task, options.score),
            options=options.model_dump(),
            static=drawing_data.static(instance),
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
        self._over = None
        self._total = scores_of(self._incident, self._options.score)["score"]
        self._executor = Executor[RunningSkill](self._names)
        if self._options.shared_map:
            team = Knowledge(self._incident, self._mission, self._names, None)
            self._knowledge = dict.fromkeys(self._names, team)
        else:
            rows = enumerate(self._names)
            self._knowledge = {n: Knowledge(self._incident, self._mission, self._names, k) for k, n in rows}
        stores = tuple(dict.fromkeys(self._knowledge.values()))
        self._tracker = GoalTracker(self._incident, self._mission, self._names, stores)
        self._look()
        self._tracker.open(self._known_goals())
        self._tracker.step(self._incident, self._incident.units.copy(), _no_effects(self._incident), self._fires)

    def view(self, agent: AgentId) -> WildfireView:
        """Return what a living agent may know now.

        Raises:
            UserError: There is no such agent, or it is gone.
        """
        self._check_agent(agent)
        return WildfireView(agent, self._frame, lambda: self._frame)

    def _advance(self) -> StepResult:
        commands = np.array([self._command(name) for name in self._names], np.int64).reshape(-1, 3)
        units = self._incident.units
        start = units.copy()
        effects = physics.step(self._incident, commands)
        self._look()
        events = self._tracker.step(self._incident, start, effects, self._fires)
        events = [*self._tracker.open(self._known_goals()), *events]
        outcomes = self._outcomes(start, commands, effects)
        self._frame.histories = self._executor.copy_histories()
        self._frame.remainders = self._executor.list_remainders(self._incident.t)
        gone = {
            self._names[row]: "burnt" if agents.REASONS[effects.reason[row]] == "died" else "lost"
            for row in np.flatnonzero(start.alive & ~units.alive).tolist()
        }
        joint = joint_attempts(self._incident, start, commands, effects, self._mission, self._names)
        end = self._end_reason(physics.is_over(self._incident), self._incident.t)
        idle = self._idle_scores() if end is not None and physics.fights_fire(self._instance.level) else {}
        return StepResult(1, outcomes, tuple(events), tuple(joint), gone, self._score(), end, idle)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents at most ``reach`` cells away, in the order of the agents."""
        self._check_agent(sender)
        bodies = self._living.bodies
        at = bodies[sender].at
        return tuple(name for name, body in bodies.items() if name != sender and math.dist(body.at, at) <= reach)

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand, undiscovered ones too."""
        return goals_in(self._mission, self._true_state(), self._tracker.looked)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return Facts(tuple(facts_of(self._true_state())))

    def snapshot(self) -> Mapping[str, Any]:
        """Return what ``draw`` needs of this moment."""
        return drawing_data.snapshot(self._incident)

    def local(self) -> LocalWildfire | None:
        """Return a world whose agents each have a clock, where trees are cut on maps of one's own: see that module."""
        from teamworld.worlds.wildfire.local_world import LocalWildfire, is_local  # it stands on this module

        if not is_local(self._incident, shared_map=self._options.shared_map):
            return None
        local = LocalWildfire(self._instance, self._spec.level, self._spec.horizon, self._options)
        local.reset(self._incident.seed)
        return local

    def _shown(self, view: WildfireView, form: str) -> str:
        return text.view_text(self._incident, self._sightings, view, form, self._options.weather)

    # ---- one step

    def _true_state(self) -> SymbolicState:
        return true_state(self._incident, self._mission, self._names, self._fires)

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._living.bodies

    def _look(self) -> None:
        self._fires.look(self._incident)
        self._sightings.look(self._incident)
        self._living = living_agents(self._incident, self._names)
        for knowledge in self._stores():
            knowledge.look(self._incident, self._sightings, self._fires, self._living)
        self._frame = self._make_frame()

    def _make_frame(self) -> WildfireFrame:
        return WildfireFrame(
            self._incident.t,
            self._spec.horizon,
            self._domain,
            self._executor.copy_histories(),
            lambda agent: self._knowledge[agent].parts(),
            self._knowledge,
            self._shown,
            self._executor.list_remainders(self._incident.t),
        )

    def _stores(self) -> Iterable[Knowledge]:
        """Return what the living agents know."""
        return dict.fromkeys(self._knowledge[name] for name in self._living.bodies)

    def _known_goals(self) -> list[str]:
        if self._mission.known and self._mission.task.startswith("cut") and self._incident.t > 0:
            return []  # all were told at the start
        return [goal.id for knowledge in self._stores() for goal in goals_in(self._mission, knowledge.state)]

    def _complete(self, agent: AgentId, action: Action) -> Action:
        skill = self._executor.running.get(agent)
        if skill is not None and skill.action == action:  # nothing is left out of it
            return action
        return complete_action(action, self._domain.abilities(agent, self._knowledge[agent].known))

    def _make_skill(self, agent: AgentId, action: Action) -> RunningSkill | Result:
        verdict = self._domain.check_now(agent, action, self._knowledge[agent].known)
        if not verdict.ok:
            return Result("failed", verdict.reason)
        return RunningSkill(agent, self._mission.kinds[agent], action, self._incident.t)

    def _command(self, name: AgentId) -> Command:
        skill = self._executor.running.get(name)
        return STAY if skill is None else skill.command(self._mission, self._knowledge[name].state)

    def _outcomes(self, start: Units, commands: npt.NDArray[np.int64], effects: StepEffects) -> dict[AgentId, Outcome]:
        """Return the outcome of every agent that was alive when the step began."""
        above = physics.rows_over_fire(self._incident) if self._mission.task == "scout" else []
        outcomes = {}
        for row in np.flatnonzero(start.alive).tolist():
            name = self._names[row]
            reason = agents.REASONS[int(effects.reason[row])]
            primitive = PrimitiveResult(
                bool(effects.moved[row]), bool(effects.effect[row]), reason, int(effects.felled[row])
            )
            outcome = Outcome(
                WAIT,
                "done",
                moved=primitive.moved,
                effect=primitive.effect and (primitive.felled > 0 or not primitive.moved),
                primitives=(text.primitive_name(self._mission.kinds[name], commands[row]),),
                start=self._incident.t - 1,
                place=start.place(row),
                ready="scout_0" if above == [row] else None,
            )
            outcomes[name] = self._judge(name, outcome, primitive)
        return outcomes

    def _judge(self, name: AgentId, outcome: Outcome, primitive: PrimitiveResult) -> Outcome:
        body = self._living.bodies.get(name)

        def judge_skill(skill: RunningSkill) -> Result:
            if body is None:
                return Result("failed", explain("burnt" if primitive.reason == "died" else "gone"))
            result = skill.result(self._mission, self._knowledge[name].state, body, primitive)
            is_carried = result.status == "running" and body.aboard is not None
            return Result("failed", explain("aboard")) if is_carried else result

        return self._executor.judge(name, outcome, judge_skill)

    def _score(self) -> dict[str, float]:
        """Return how the score changed in this step, and the scores and counts as they stand after it."""
        scores, before = scores_of(self._incident, self._options.score), self._total
        self._total = scores["score"]
        return {"reward": self._total - before, **scores}

    def _idle_scores(self) -> Mapping[str, float]:
        options, incident = self._options, self._incident
        return idle_scores(self._instance, incident.seed, options.fire, self._rules, self._spec.horizon, options.score)


def _no_effects(incident: Incident) -> StepEffects:
    """Return the effects of a step in which nothing happened."""
    flags, counts = np.zeros(len(incident.units), np.bool_), np.zeros(len(incident.units), np.int32)
    people = np.zeros(len(incident.civilians), np.bool_)
    return physics.StepEffects(flags, flags, flags.astype(np.uint8), flags, counts, counts, people, people, (), 0)


DEFAULT_LEVEL = "cut_trees_sparse_small"
SUMMARY = "firefighters, bulldozers, drones and helicopters against a spreading fire (after CREW-Wildfire)"

#: The levels to list, each with one line, in the order of the paper; presets also as ``NAME@2026`` and
#: ``NAME@published``.
LEVELS: Mapping[str, str] = {name: describe_level(level) for name, level in _LEVELS.items()}


class WildfireOptions(BaseModel):
    """The options of wildfire."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    fire: FireMode = "reference"
    """How fire spreads: the reference's rule without chance, or the stochastic one of Alexandridis et al. (2008)."""
    shared_map: bool = True
    """The team shares what it sees, as in the reference; false: each agent has a map of its own."""
    score: ScoreName = "reference"
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
    limit: bool = Field(default=False, exclude_if=lambda value: not value)
    """A run ends at the level's own step limit at the latest, as all did that were recorded with a limit of 150."""
    firefighters: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    """Number of firefighters in place of the level's; None: the level's, and no word of it in records."""
    least_damage: int | None = Field(default=None, ge=0, exclude_if=lambda value: value is None)
    """Points that the fire destroys by the level's step limit if nobody acts; a smaller fire is drawn anew. None: the
    level's own bound, and no word of it in records; 0: any fire will do, as in the reference."""


OPTIONS = WildfireOptions

failures = find_failures
STYLE = drawing_data.STYLE
still_picture = draw.frame


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends unless told otherwise: those of the benchmark.

    Raises:
        UserError: There is no such level.
    """
    return level_for(level).max_steps


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> WildfireWorld:
    """Return the instance of a level; ``NAME@2026`` and ``NAME@published`` name other editions of a preset.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    instance, named = _instance(level, seed, read_options(WildfireOptions, options, "wildfire"))
    return WildfireWorld(instance, level, horizon, named)


def _instance(level: str, seed: int, chosen: WildfireOptions) -> tuple[WildfireInstance, WildfireOptions]:
    """Return the instance of a level, and the options as logs name them."""
    played, terrain, named = level_for(level), None, chosen
    if chosen.firefighters is not None:
        played = with_firefighters(played, chosen.firefighters)
    if chosen.least_damage is not None:
        if chosen.map_file is not None:
            raise UserError("option 'least_damage' of wildfire is for generated maps: leave it out with 'map_file'")
        played = replace(played, least_damage=chosen.least_damage)
    if chosen.map_file is not None:
        from teamworld.worlds.wildfire.state import fingerprint, load_map

        terrain = load_map(chosen.map_file)
        named = chosen.model_copy(update={"map_file": fingerprint(terrain)})  # a path is of one machine only
    instance = instance_for(
        played, seed, terrain=terrain, relief_m=chosen.relief_m, cell_m=chosen.cell_m, mode=chosen.fire
    )
    return instance, named


def _rules(task: Level, options: WildfireOptions) -> ActionRules:
    """Return what agents may do on a level."""
    return replace(rules_for(task.edition), burnt_kills=options.burnt_kills, riders_count=options.riders_count)


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound | None:
    """Return what is proven of the fewest timesteps of an instance of a level, see ``bounds``.

    None where a fire is fought, and where the task cannot be done.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(WildfireOptions, options, "wildfire")
    instance, _ = _instance(level, seed, chosen)
    return bounds.bound(begin_incident(instance, seed, chosen.fire, _rules(instance.level, chosen)))


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs that nobody can tell apart: a fire, or civilians, that nobody was told of begin elsewhere."""
    instance = instance_for(level, seed)
    if instance.level.known:
        return
    reach = max(sight.reveals for sight, count in zip(SIGHTS, instance.level.team.counts, strict=True) if count)

    def away(cell: Cell) -> Cell | None:
        """Return a burnable cell beside, both out of everybody's sight."""
        for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            twin = Cell(cell.x + right, cell.y + down)
            inside = 0 <= twin.x < instance.level.size and 0 <= twin.y < instance.level.size
            hidden = max(abs(twin.x - instance.spawn.x), abs(twin.y - instance.spawn.y)) > reach + 12
            if inside and hidden and instance.terrain.burnable[twin.y, twin.x]:
                return twin
        return None

    if instance.fire is not None and (cell := away(instance.fire)) is not None:
        twin = replace(instance, fire=cell)
    elif instance.clusters and (cell := away(instance.clusters[0])) is not None:
        twin = replace(instance, clusters=(cell, *instance.clusters[1:]))
    else:
        return

    def played(start: WildfireInstance) -> WildfireWorld:
        return WildfireWorld(start, level, start.level.max_steps, WildfireOptions())

    kinds = played(instance).spec.kinds
    for kind in dict.fromkeys(kinds.values()):
        agent = next(name for name, its in kinds.items() if its == kind)
        yield IndistinguishablePair(played(instance), played(twin), agent)
