"""Transport as a world of the contract: goes through frames until somebody can decide, judges actions, keeps score.

A step of this world takes as many frames as pass until an action ends or an agent sees something new, and says so in
``StepResult.ticks``: most frames lie in the middle of a move, where nothing can be decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import Action, AgentId, Fact, Facts, plain
from teamworld.seeding import generator
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.world import FactsWorld, list_progress
from teamworld.worlds.contract import WAIT, Goal, GoalEvent, HeadlineMeasure, Outcome, StepResult, WorldSpec
from teamworld.worlds.transport import bounds, draw, drawing_data, navigation, physics, sight
from teamworld.worlds.transport import state as arrays
from teamworld.worlds.transport.domain import TransportDomain
from teamworld.worlds.transport.known_picture import known_picture as known_picture
from teamworld.worlds.transport.levels import DEFAULT_LEVEL as DEFAULT_LEVEL
from teamworld.worlds.transport.levels import LEVELS as LEVELS
from teamworld.worlds.transport.levels import LevelOptions, instance
from teamworld.worlds.transport.observe import Names, facts_of, known_by, perception, room_facts, truth
from teamworld.worlds.transport.official import fingerprint
from teamworld.worlds.transport.rasters import build_rasters
from teamworld.worlds.transport.scene import Instance, Item
from teamworld.worlds.transport.sight import Eyes, Moment
from teamworld.worlds.transport.skills import (
    CHARACTERS_PER_FRAME,
    EXPLANATIONS,
    LONGEST_MESSAGE,
    PULSE,
    TransportSkill,
    first,
)
from teamworld.worlds.transport.state import FRAMES, NOBODY, NONE, NOTHING, PRIMITIVES, TEAM, Flags, Rules
from teamworld.worlds.transport.text import tell_rules, tell_task

SUMMARY = "find things in a house and bring them to the bed, in hands and containers (the TDW-MAT benchmark)"
STYLE = drawing_data.STYLE
still_picture = draw.frame
#: What a message costs where messages are paid for, in the place of a method's own price.
TALK: Mapping[str, int] = MappingProxyType(
    {"ticks": 0, "chars_per_tick": CHARACTERS_PER_FRAME, "maximum": LONGEST_MESSAGE}
)


class TransportOptions(BaseModel):
    """What can be set for transport."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    agents: int = Field(default=2, ge=1, le=len(TEAM))
    """How many agents there are, 1 to 4."""
    faithful: bool = True
    """Whether bodies walk as in the benchmark: a wide probe ahead of them stops them, and each blocked move shifts
    them a little; else they walk up to what is in their way."""
    body_radius: float = Field(default=0.2, gt=0, le=0.5)
    """Radius of an agent's body, metres."""
    creep: float = Field(default=0.06, ge=0, le=0.5)
    """How far a blocked move shifts the body, metres."""
    carving: bool = True
    """Whether the boxes of published furniture are carved by the reference maps; boxes are larger than what stands
    there."""
    put_frames: int = Field(default=146, ge=1, le=500)
    """Frames of putting a thing into a container; recorded runs took 146, a faster machine about 103."""
    put_failure: float = Field(default=0.0, ge=0, le=1)
    """Probability that the thing falls beside the container."""
    steal_held: bool = False
    """Whether agents can take what another agent holds."""
    perception: Literal["oracle", "detector"] = "oracle"
    """Whether agents recognise all that they see (oracle), or things up to 3 m away and not always (detector)."""
    miss: float = Field(default=0.3, ge=0, lt=1)
    """With a detector, the probability that a thing in sight is not noticed in a look."""
    feedback: bool = True
    """Whether agents are told why an action of theirs failed."""
    data: str | None = None
    """The folder of the published sets, from which levels named official-... and train-... are read; logs name an
    episode by a hash of what it holds."""

    @property
    def rules(self) -> Rules:
        """What of it kernels read."""
        numbers = self.body_radius, self.creep, self.put_frames, self.put_failure
        return Rules(self.faithful, *numbers, self.steal_held)

    @property
    def eyes(self) -> Eyes:
        """How well agents perceive."""
        is_oracle = self.perception == "oracle"
        return Eyes() if is_oracle else Eyes(sight.DETECTOR_RANGE, sight.DETECTOR_RANGE, self.miss)


OPTIONS = TransportOptions


class TransportChange(NamedTuple):
    """One step."""

    frames: int
    places: Mapping[AgentId, tuple[int, int]]
    """Where agents were before it, centimetres."""
    held: tuple[tuple[int, ...], ...]
    """What each hand held before it."""
    primitives: Mapping[AgentId, tuple[str, ...]]
    """What each agent did in each frame."""


def _headline(targets: int) -> tuple[HeadlineMeasure, ...]:
    """Return what results are told in first: the benchmark's transport rate is the share of the targets."""
    return (
        HeadlineMeasure("world_score", "targets", "high", f"targets delivered, of {targets}"),
        HeadlineMeasure("completion", "", "high", "weight of the kinds all of whose targets were delivered, of all"),
        HeadlineMeasure("steps", "frames", "low", "frames until all is delivered; the limit where it is not"),
    )


class TransportWorld(FactsWorld[TransportDomain, TransportSkill, TransportChange]):
    """One instance of transport.

    Args:
        start: The house, with everything in its place.
        level: The name of the level, for the record.
        horizon: Frames after which the episode ends.
        options: See ``TransportOptions``.
    """

    def __init__(self, start: Instance, level: str, horizon: int, options: TransportOptions) -> None:
        self.instance, self._options = start, options
        self._rules, self._eyes = options.rules, options.eyes
        team = TEAM[: options.agents]
        self._names = Names(start, team)
        self._ground = arrays.make_ground(start)
        self._field = sight.make_field(self._ground, start.plan.wall_height)
        domain = TransportDomain(self._names, self._rules)
        spec = WorldSpec(
            world="transport",
            level=level,
            agents=team,
            kinds=dict.fromkeys(team, "carrier"),
            horizon=horizon,
            task=tell_task(domain.wants, horizon),
            rules=tell_rules(domain.wants, self._rules, self._eyes, domain.beliefs),
            memory="agent",
            headline=_headline(len(start.targets)),
            options=options.model_dump(mode="json"),
            static=drawing_data.static(start),
        )
        super().__init__(spec, domain, options.feedback)

    # ---- the course of a step

    def begin(self, seed: int) -> None:
        """Start over; the seed decides what is drawn while playing."""
        state, count = arrays.begin(self.instance), len(self._spec.agents)
        knowledge = sight.begin(count, len(self.instance.items), len(self.instance.plan.rooms))
        self._moment = Moment(self._ground, self._field, state, knowledge)
        self._ways = [navigation.begin_way(self._ground) for _ in range(count)]
        self._rngs = [
            {purpose: generator(seed, "transport", purpose, agent) for purpose in ("search", "luck", "eyes")}
            for agent in self._spec.agents
        ]
        self._draws = np.ones((count, len(self.instance.items) + count))
        self._trails: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self._delivered = state.items["delivered"].copy()
        self._bearers = np.full(len(self.instance.items), NOBODY)
        self._look()

    def make_skill(self, agent: AgentId, action: Action) -> TransportSkill:
        """Return a running action; what the agent did stops."""
        number = self._names.agent_numbers[agent]
        physics.cancel(self._moment.state, number)
        return TransportSkill(number, action, self._t, self._names, self._ways[number], self._rngs[number]["search"])

    def judge_stopped(self, skill: TransportSkill) -> Result:
        """Return how an action has ended for which its agent has begun another: what lies is delivered or dropped."""
        held = self._moment.state.hands[skill.number]
        if skill.action.verb == "deliver" and (held == NOTHING).all():
            return DONE
        if skill.action.verb == "drop" and self._names.item_numbers[first(skill.action)] not in held:
            return DONE
        return super().judge_stopped(skill)

    def count_steps_to_go(self) -> dict[AgentId, int]:
        """Return the frames that puts, drops and looks around still take."""
        left = {agent: skill.steps_to_go(self._moment, self._rules) for agent, skill in self._executor.running.items()}
        return {agent: frames for agent, frames in left.items() if frames is not None}

    def advance(self, running: Mapping[AgentId, TransportSkill]) -> TransportChange:
        """Go through frames until an action ends, an agent sees something new, or a waiting one has waited."""
        state, own = self._moment.state, self._moment.knowledge.own
        team = self._spec.agents
        places = {agent: self._place(number) for number, agent in enumerate(team)}
        held = tuple(tuple(hands) for hands in state.hands.tolist())
        self._trails = [[place] for place in places.values()]
        for number, agent in enumerate(team):
            if agent not in running:
                physics.cancel(state, number)  # it waits
        refused = any(self._executor.is_refused(agent) for agent in team)
        most = 1 if refused else PULSE if len(running) < len(team) else self._spec.horizon
        most = min(most, self._spec.horizon - self._t)
        done: dict[AgentId, list[str]] = {agent: [] for agent in team}
        frames, news, is_over = 0, own["news"].sum(), False
        while not is_over:
            for skill in running.values():
                self._continue(skill)
            is_over = any(skill.result is not RUNNING for skill in running.values())
            if is_over and frames:
                break
            verbs = state.agents["verb"].tolist()
            spent = physics.run(self._ground, self._rules, state, 1 if is_over else most - frames)
            frames += spent
            self._note_bearers()
            for agent, verb in zip(team, verbs, strict=True):
                done[agent] += [PRIMITIVES[verb] if verb != NONE else "wait"] * spent
            self._look()
            for skill in running.values():
                if state.agents["last"][skill.number] != NONE:
                    skill.take(self._moment)
            is_over = is_over or frames >= most or own["news"].sum() != news or self.is_complete()
            is_over = is_over or any(skill.result is not RUNNING for skill in running.values())
        return TransportChange(frames, places, held, {agent: tuple(verbs) for agent, verbs in done.items()})

    def _continue(self, skill: TransportSkill) -> None:
        """Begin the next primitive action of a running one, unless one is under way."""
        state = self._moment.state
        if skill.result is RUNNING and state.agents["verb"][skill.number] == NONE:
            step = skill.next(self._moment)
            if isinstance(step, Result):
                skill.result = step
            else:
                luck = self._rngs[skill.number]["luck"].random() if self._rules.put_failure else 1.0
                physics.order(state, skill.number, step, luck)

    def _look(self) -> None:
        """Let all agents look."""
        if self._eyes.miss:
            for rngs, draws in zip(self._rngs, self._draws, strict=True):
                rngs["eyes"].random(out=draws)
        ground, field, state, knowledge = self._moment
        sight.look(ground, field, self._eyes, state, knowledge, self._draws)
        for number, trail in enumerate(self._trails):
            place = self._place(number)
            if [place] != trail[-1:]:
                trail.append(place)

    def count_ticks(self, change: TransportChange) -> int:
        """Return the frames of a step."""
        return change.frames

    def observe(self, agent: AgentId, change: TransportChange) -> Outcome:
        """Return what the step did to an agent and through it."""
        number = self._names.agent_numbers[agent]
        return Outcome(
            WAIT,
            "done",
            moved=self._place(number) != change.places[agent],
            effect=tuple(self._moment.state.hands[number].tolist()) != change.held[number],
            primitives=change.primitives[agent],
            start=self._t,
            place=change.places[agent],
        )

    def judge(self, agent: AgentId, skill: TransportSkill, change: TransportChange) -> Result:
        """Return how a running action stands after the step."""
        result = skill.result
        if result.status != "failed":
            return result
        thing = skill.action.args[0] if skill.action.args else "it"
        holder = next((who for who in self._names.team if thing in self._held(agent, who)), "another agent")
        why = EXPLANATIONS[result.reason].format(thing=plain(thing), holder=holder)
        is_spatial = result.reason in ("no_way", "held", "gone")
        return result._replace(reason=f"{result.reason}: {why}", constraint="spatial" if is_spatial else None)

    def _held(self, agent: AgentId, other: AgentId) -> tuple[object, ...]:
        """Return what an agent knows another to hold."""
        return known_by(self._names, self._moment, self._names.agent_numbers[agent]).hands.get(other, ())

    def conclude(self, change: TransportChange) -> StepResult:
        """Return progress and score."""
        before, self._delivered = self._delivered, self._moment.state.items["delivered"].copy()
        score = {"reward": float(self._delivered.sum() - before.sum()), "delivered": float(self._delivered.sum())}
        score["released"] = float(self._moment.state.items["released"].sum())
        return StepResult(change.frames, {}, tuple(self._list_events(before)), score=score)

    def is_complete(self) -> bool:
        """Return whether all targets are delivered."""
        return bool(self._moment.state.items["delivered"][self._names.target_numbers].all())

    def _list_events(self, before: Flags) -> Iterator[GoalEvent]:
        """Yield progress as shares of each goal, and what was done; those who carried the targets took part."""
        delivered, items = self._moment.state.items["delivered"], self.instance.items
        for wanted in self._domain.wants.wanted:
            numbers = [number for number in self._names.target_numbers if items[number].name == wanted.kind]
            fresh = [number for number in numbers if delivered[number] and not before[number]]
            if fresh:
                carriers = {int(self._bearers[number]) for number in fresh}
                who = tuple(agent for number, agent in enumerate(self._spec.agents) if number in carriers)
                left = wanted.number - int(before[numbers].sum())
                yield from list_progress(wanted.id, left, left - len(fresh), wanted.number, who)

    def _note_bearers(self) -> None:
        """Note who carries each thing, in a container or not; of what lies about, who carried it last."""
        items = self._moment.state.items
        outer = np.where(items["inside"] == NOTHING, np.arange(len(items)), items["inside"])
        holder = items["holder"][outer]
        self._bearers = np.where(holder == NOBODY, self._bearers, holder)

    # ---- what agents know, and what is true

    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent sees, and what it remembers."""
        return perception(known_by(self._names, self._moment, self._names.agent_numbers[agent]))

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the others at most ``reach`` metres away, walls or not, in the order of the agents."""
        self._check_agent(sender)
        x, z = self._at(self._names.agent_numbers[sender])
        distances = {agent: math.dist((x, z), self._at(number)) for agent, number in self._names.agent_numbers.items()}
        return tuple(agent for agent, apart in distances.items() if agent != sender and apart <= reach)

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand: what has been by the bed is delivered, wherever it is now."""
        items = self.instance.items
        done = Counter(items[number].name for number in self._names.target_numbers if self._delivered[number])
        wants = self._domain.wants
        return [wants.goal(wanted, wanted.number - done[wanted.kind]) for wanted in wants.wanted]

    def truth(self) -> Facts:
        """Return all that is true now; what somebody has seen of a room counts as seen.

        What is held or in a container is in the room of its holder or container too, so that who says so has told no
        falsehood.
        """
        known = truth(self._names, self._moment)
        room = {thing: known.at[agent] for agent, things in known.hands.items() for thing in things} | dict(known.room)
        carried = {thing: room[thing] for thing in room if thing not in known.room}
        carried |= {thing: room[outer] for thing, outer in known.inside.items()}
        rooms = (Fact(thing, "IN", within) for thing, within in carried.items())
        return Facts((*facts_of(known), *room_facts(self._names, self._moment), *rooms))

    def snapshot(self) -> Mapping[str, Any]:
        """Return what a drawing of this moment needs, see ``drawing_data``."""
        return drawing_data.snapshot(self._moment, self._names, self._trails)

    def _at(self, number: int) -> tuple[float, float]:
        body = self._moment.state.agents[number]
        return float(body["x"]), float(body["z"])

    def _place(self, number: int) -> tuple[int, int]:
        x, z = self._at(number)
        return round(x * 100), round(z * 100)


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the frames after which an episode of a level ends unless told otherwise: those of the benchmark."""
    return FRAMES


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> TransportWorld:
    """Return the instance of a level.

    Raises:
        UserError: There is no such level or option, or a value or the data cannot be used.
    """
    start, named = _instance(level, seed, read_options(TransportOptions, options, "transport"))
    return TransportWorld(start, level, horizon, named)


def _instance(level: str, seed: int, chosen: TransportOptions) -> tuple[Instance, TransportOptions]:
    """Return the instance of a level, and the options as logs name them."""
    start = instance(level, seed, LevelOptions(None if chosen.data is None else Path(chosen.data), chosen.agents))
    if not chosen.carving and start.plan.samples is not None:
        plan = replace(start.plan, samples=None)
        start = replace(start, plan=plan, rasters=build_rasters(plan, start.starts))
    if chosen.data is not None:  # a path is of one machine only
        chosen = chosen.model_copy(update={"data": fingerprint(start)})
    return start, chosen


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound:
    """Return what is proven of the fewest frames of an instance of a level, see ``bounds``.

    Raises:
        UserError: There is no such level or option, or a value or the data cannot be used.
    """
    chosen = read_options(TransportOptions, options, "transport")
    return bounds.bound(_instance(level, seed, chosen)[0], chosen.rules)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances that an agent cannot tell apart: two things that it does not see have changed places."""
    options = TransportOptions()
    placed = instance(level, seed)
    for number, agent in enumerate(TEAM[: options.agents]):
        unchanged = TransportWorld(placed, level, FRAMES, options)
        visible = unchanged._moment.knowledge.things["visible"][number]
        hidden = [k for k, item in enumerate(placed.items) if item.kind == "target" and not visible[k]]
        for item, other in combinations(hidden, 2):
            if placed.items[item].name != placed.items[other].name:
                changed = TransportWorld(_exchanged(placed, item, other), level, FRAMES, options)
                yield IndistinguishablePair(unchanged, changed, agent)
                break


def _exchanged(placed: Instance, first: int, second: int) -> Instance:
    """Return an instance with two items in each other's place."""
    items = list(placed.items)
    items[first], items[second] = _moved(items[first], items[second]), _moved(items[second], items[first])
    return replace(placed, items=tuple(items))


def _moved(item: Item, to: Item) -> Item:
    """Return an item at the place of another."""
    return item._replace(x=to.x, y=to.y, z=to.z, support=to.support, room=to.room)
