"""Wildfire as a world of the contract: actions over the simulator, one timestep at a time.

Each step starts and stops actions as ordered, takes one primitive [type, x, y] from everybody, lets ``physics`` do one
timestep, looks round, and judges every action.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId, Facts
from teamworld.worlds.contract import WAIT, ActionSchema, Goal, Outcome, Over, StepResult, Verdict, WorldSpec
from teamworld.worlds.wildfire import draw, effects, observe, physics, sightings, tasks, words
from teamworld.worlds.wildfire import incident as incidents
from teamworld.worlds.wildfire.domain import WildfireDomain
from teamworld.worlds.wildfire.effects import Ledger
from teamworld.worlds.wildfire.fires import Fires
from teamworld.worlds.wildfire.goals import goals_in
from teamworld.worlds.wildfire.knowledge import Knowledge, living, true_scene, workplace
from teamworld.worlds.wildfire.scene import Brief, Scene, facts
from teamworld.worlds.wildfire.skills import STAY, Command, Did, Result, Skill
from teamworld.worlds.wildfire.views import Frame, WildfireView

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.physics import Happened
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.world import WildfireOptions


class WildfireWorld:
    """One instance of wildfire; implements ``contract.World``.

    Args:
        instance: Where everything is at the start.
        level: The name of the level, for the record.
        horizon: Timesteps after which the episode ends; at most the level's own, unless ``options.limit`` is off.
        options: See ``WildfireOptions``.
    """

    def __init__(self, instance: Instance, level: str, horizon: int, options: WildfireOptions) -> None:

        if horizon < 1:
            raise UserError(f"the horizon is a number of timesteps from 1, got {horizon}")
        given, self._options, self._instance = instance.level, options, instance
        horizon = min(horizon, given.max_steps) if options.limit else horizon
        rules = incidents.rules_for(given.edition)
        self._rules = incidents.Rules(
            pick_up=rules.pick_up,
            refill=rules.refill,
            rescue_reach=rules.rescue_reach,
            burnt_kills=options.burnt_kills,
            riders_count=options.riders_count,
        )
        self._names = tuple(observe.names_of(incidents.begin(instance, 0).units))
        self._row = {name: row for row, name in enumerate(self._names)}
        kinds = {name: name.rpartition("_")[0] for name in self._names}
        self._brief = Brief(
            task=given.task,
            size=given.size,
            kinds=kinds,
            horizon=horizon,
            known=given.known,
            clusters=given.clusters,
            per_cluster=given.per_cluster,
            fire_every=given.fire_every,
            edition=given.edition,
            careful=options.careful,
            lift_reach=rules.pick_up,
            fill_reach=rules.refill,
            riders_count=options.riders_count,
        )
        self._domain = WildfireDomain(self._brief)
        self._spec = WorldSpec(
            world="wildfire",
            level=level,
            agents=self._names,
            kinds=kinds,
            horizon=horizon,
            task=words.task_of(given, instance),
            memory="team" if options.shared_map else "agent",
            options=options.model_dump(),
            static=draw.static(instance),
        )
        self.reset(0)

    @property
    def spec(self) -> WorldSpec:
        """What everybody knows before the first step."""
        return self._spec

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
        self._incident = incidents.begin(self._instance, seed, self._options.fire, self._rules)
        self._sightings = sightings.begin(self._incident, shared_map=self._options.shared_map)
        self._fires = Fires(self._incident)
        self._over: Over | None = None
        self._total = self._main()
        self._skills: dict[AgentId, Skill] = {}
        self._histories: dict[AgentId, tuple[Outcome, ...]] = dict.fromkeys(self._names, ())
        if self._options.shared_map:
            team = Knowledge(self._incident, self._brief, self._names, None)
            self._knowledge = dict.fromkeys(self._names, team)
        else:
            rows = enumerate(self._names)
            self._knowledge = {n: Knowledge(self._incident, self._brief, self._names, k) for k, n in rows}
        self._ledger = Ledger(self._incident, self._brief, self._names)
        self._look()
        self._ledger.open(self._known_goals())
        start = effects.before(self._incident)
        self._ledger.step(self._incident, start, _nothing(self._incident), self._fires)

    def view(self, agent: AgentId) -> WildfireView:
        """Return what a living agent may know now.

        Raises:
            UserError: There is no such agent, or it is gone.
        """
        self._living(agent)
        return WildfireView(agent, self._frame, lambda: self._frame)

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        """Start and stop actions as ordered, then do one timestep; what cannot start is refused, and the step is spent.

        Raises:
            UserError: An order is for an agent that is not there, or the episode is over.
        """
        if self._over is not None:
            raise UserError(f"the episode is over ({self._over}): reset the world before the next step")
        for agent in orders:
            self._living(agent)
        refused = {agent: no for agent, order in orders.items() if not (no := self._order(agent, order)).ok}
        commands = np.array([self._command(name) for name in self._names], np.int64).reshape(-1, 3)
        start = effects.before(self._incident)
        did = physics.step(self._incident, commands)
        self._fires.look(self._incident)
        events = [*self._ledger.step(self._incident, start, did, self._fires)] if self._brief.known else []
        self._look()
        if not self._brief.known:
            events = [*self._ledger.step(self._incident, start, did, self._fires)]
        events = [*self._ledger.open(self._known_goals()), *events]
        outcomes = self._outcomes(orders, refused, start, commands, did)
        self._frame.histories = dict(self._histories)
        units = self._incident.units
        gone = {
            name: _why(did, row) for row, name in enumerate(self._names) if start.alive[row] and not units.alive[row]
        }
        found = effects.attempts(self._incident, start, commands, did, self._brief, self._names)
        over = tasks.over(self._incident)
        self._over = "all_done" if over else "horizon" if self._incident.t >= self._spec.horizon else None
        return StepResult(1, outcomes, tuple(events), tuple(found), gone, self._score(), self._over)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents at most ``reach`` cells away, in the order of the agents."""
        self._living(sender)
        units, places = self._incident.units, self._incident.units.places()
        at = places[self._row[sender]]
        return tuple(
            name
            for row, name in enumerate(self._names)
            if name != sender and units.alive[row] and (math.isinf(reach) or math.dist(places[row], at) <= reach)
        )

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand, undiscovered ones too."""
        scene = true_scene(self._incident, self._brief, self._names, self._fires)
        return goals_in(self._brief, scene, self._ledger.looked)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return Facts(tuple(facts(true_scene(self._incident, self._brief, self._names, self._fires))))

    def snapshot(self) -> Mapping[str, Any]:
        """Return what ``draw`` needs of this moment."""
        return draw.snapshot(self._incident)

    def _shown(self, agent: AgentId, form: str) -> str:
        return words.shown(
            self._incident, self._sightings, self._row[agent], self.view(agent), form, self._options.weather
        )

    # ---- one step

    def _living(self, agent: AgentId) -> None:
        if agent not in self._row or not self._incident.units.alive[self._row[agent]]:
            alive = [name for row, name in enumerate(self._names) if self._incident.units.alive[row]]
            hint = "it is gone" if agent in self._row else f"there is none{suggest(agent, alive)}"
            raise UserError(f"expected a living agent, got '{agent}': {hint}")

    def _look(self) -> None:
        self._fires.look(self._incident)
        self._sightings.look(self._incident)
        alive = living(self._incident, self._names)
        for knowledge in dict.fromkeys(self._alive_knowledge()):
            knowledge.look(self._incident, self._sightings, self._fires, alive)
            self._ledger.find(knowledge.people, fire=bool(knowledge.scene.fires))
        self._frame = Frame(
            self._incident.t,
            self._spec.horizon,
            self._domain,
            self._knowledge,
            dict(self._histories),
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
            for goal in goals_in(self._brief, knowledge.scene)
        ]

    def _order(self, agent: AgentId, order: Action) -> Verdict:
        """Start what is ordered, unless it runs already; return whether it could start."""
        running = self._skills.get(agent)
        whole = _whole(order, self._domain.abilities(agent, self._frame.known(agent)))
        if running is not None and running.action == whole:
            return Verdict(True)
        if running is not None:
            del self._skills[agent]
            self._remember(running, Result("failed", "interrupted"))
        verdict = self._domain.check(agent, whole, self._frame.known(agent), planning=False)
        if verdict.ok and whole != WAIT:
            kind = self._brief.kinds[agent]
            self._skills[agent] = Skill(agent, self._row[agent], kind, whole, self._incident.t)
        return verdict

    def _command(self, name: AgentId) -> Command:
        skill = self._skills.get(name)
        return STAY if skill is None else skill.command(self._brief, self._knowledge[name].scene)

    def _outcomes(
        self,
        orders: Mapping[AgentId, Action],
        refused: Mapping[AgentId, Verdict],
        start: effects.Start,
        commands: npt.NDArray[np.int64],
        did: Happened,
    ) -> dict[AgentId, Outcome]:
        """Judge what everybody did who was alive when the step began."""
        truth = workplace(self._incident, self._brief, self._names)
        above = effects.over_fire(self._incident) if self._brief.task == "scout" else []
        found = {}
        for row, name in enumerate(self._names):
            if not start.alive[row]:
                continue
            reason = physics.REASONS[int(did.reason[row])]
            one = Did(bool(did.moved[row]), bool(did.effect[row]), reason, int(did.felled[row]))
            x, y = start.places[row].tolist()
            outcome = Outcome(
                WAIT,
                "done",
                moved=one.moved,
                effect=one.effect,
                primitives=(words.primitive(self._brief.kinds[name], commands[row]),),
                start=self._incident.t - 1,
                place=(x, y),
                ready="scout_0" if above == [row] else None,
            )
            found[name] = self._judge(name, outcome, orders.get(name), refused.get(name), truth, one)
        return found

    def _judge(
        self, name: AgentId, outcome: Outcome, order: Action | None, refused: Verdict | None, truth: Scene, did: Did
    ) -> Outcome:
        if refused is not None and order is not None:
            outcome = outcome._replace(action=order, status="failed", reason=refused.word, legal=False)
            self._histories[name] += (outcome,)
            return outcome
        skill = self._skills.get(name)
        if skill is None:
            return outcome
        outcome = outcome._replace(action=skill.action, start=skill.start)
        if name not in truth.agents:
            del self._skills[name]
            return outcome._replace(status="failed", reason="burnt" if did.reason == "died" else "gone")
        result = skill.result(self._brief, self._knowledge[name].scene, truth, did)
        if result.status == "running" and truth.agents[name].aboard is not None:
            result = Result("failed", "aboard")
        if result.status != "running":
            self._remember(skill, result)
            del self._skills[name]
        return outcome._replace(status=result.status, reason=result.reason, constraint=result.constraint)

    def _remember(self, skill: Skill, result: Result) -> None:
        done = Outcome(skill.action, result.status, result.reason, result.constraint, start=skill.start)
        self._histories[skill.agent] += (done,)

    def _main(self) -> float:
        score = tasks.score(self._incident)
        return score.burnt if self._options.score == "burnt" else score.reference

    def _score(self) -> dict[str, float]:
        """Return how the score changed in this step, and the scores and counts as they stand after it."""
        score, counts, before = tasks.score(self._incident), tasks.counts(self._incident), self._total
        self._total = self._main()
        found = {"reward": self._total - before, "score": self._total}
        found |= {"score_reference": score.reference, "score_burnt": score.burnt}
        if tasks.suppresses(self._instance.level):
            found |= {
                "trees_burnt": float(counts.trees_burnt),
                "trees_cut": float(counts.trees_cut),
                "buildings_lost": float(counts.buildings_destroyed),
                "civilians_lost": float(counts.civilians_destroyed),
                "agents_lost": float(counts.agents_destroyed),
            }
        return found


def _why(did: Happened, row: int) -> str:
    return "burnt" if physics.REASONS[int(did.reason[row])] == "died" else "lost"


def _whole(order: Action, schemas: Iterable[ActionSchema]) -> Action:
    """Return an order with what was left out; as it came where it fits no schema."""
    for schema in schemas:
        if schema.verb == order.verb:
            try:
                return schema.complete(order)
            except UserError:
                break  # the check says what is wrong with it
    return order


def _nothing(incident: Incident) -> Happened:
    """Return a step in which nothing happened."""
    agents, people = len(incident.units), len(incident.civilians)
    flags, counts = np.zeros(agents, np.bool_), np.zeros(agents, np.int32)
    none = np.zeros(people, np.bool_)
    return physics.Happened(flags, flags, flags.astype(np.uint8), flags, counts, counts, none, none, (), 0)
