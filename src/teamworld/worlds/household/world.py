"""The household as a world of the contract: starts and stops actions, takes one act from each agent, judges them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import Action, AgentId, Entity, Fact, Facts, plain
from teamworld.seeding import generator
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.executor import Result
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.world import FactsWorld, list_progress
from teamworld.worlds.contract import WAIT, Goal, GoalEvent, Outcome, StepResult, WorldSpec
from teamworld.worlds.household import bounds, draw, drawing_data, physics
from teamworld.worlds.household.domain import HouseholdDomain
from teamworld.worlds.household.homes.floor_plan import NUMBERS
from teamworld.worlds.household.homes.home import Episode, NodeId, Point
from teamworld.worlds.household.homes.official_episodes import fingerprint
from teamworld.worlds.household.homes.placement import Rule
from teamworld.worlds.household.known_picture import known_picture as known_picture
from teamworld.worlds.household.levels import LEVELS as LEVELS
from teamworld.worlds.household.levels import ROOMS, HomeOptions, episode
from teamworld.worlds.household.observe import TEAM, Names, SightMemory, facts_of, truth
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.skills import EXPLANATIONS, Skill
from teamworld.worlds.household.starting_places import check_starts, starting_places
from teamworld.worlds.household.state import Rules
from teamworld.worlds.household.text import tell_rules, tell_task

DEFAULT_LEVEL = "dev"
SUMMARY = "find things in a home and bring them to a table, fridge or dishwasher (the C-WAH benchmark)"


class HouseholdOptions(BaseModel):
    """What can be set for the household; what came later stands in logs where it was chosen, so that old logs stay."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    agents: int = Field(default=2, ge=1, le=len(TEAM))
    """How many agents there are, 1 to 8."""
    mode: Literal["strict", "engine"] = "strict"
    """Whether agents must be near what they handle (strict), or are put there (engine)."""
    sight: Literal["room", "cone"] = "room"
    """Whether agents see all of their room, or only what is ahead of them (visual mode, as a cone)."""
    strict_put: bool = False
    """Whether nothing can be put into a closed container."""
    feedback: bool = True
    """Whether agents are told why an action of theirs failed."""
    starts: Any = "random"
    """Whether agents start at random places of their rooms, or where recorded runs of the official set began; or their
    places [x, z] in metres, one for each agent."""
    primitives: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether agents can also do single actions of the engine (walktowards, putin, putback), and these and open, close
    and grab are judged by the physics alone: for replaying recorded runs."""
    occlusion: bool = False
    """Whether, of what is ahead, tall furniture hides what is behind it."""
    placement: Rule = Field(default="uniform", exclude_if=lambda rule: rule == "uniform")
    """Where things lie in generated homes: each kind of furniture that the benchmark's tables allow is alike likely
    (uniform), or as they lie in the official test set (official)."""
    rooms: int = Field(default=ROOMS, ge=NUMBERS[0], le=NUMBERS[-1], exclude_if=lambda rooms: rooms == ROOMS)
    """How many rooms generated homes have, 3 to 6."""
    data: str | None = None
    """The folder, or the pickle, of the official test set, from which levels named official-... are read; logs name an
    episode by a hash of what it holds."""


OPTIONS = HouseholdOptions
STYLE = drawing_data.STYLE
still_picture = draw.frame


class Change(NamedTuple):
    """One step: where agents stood before it, and what happened."""

    places: Mapping[AgentId, tuple[int, int]]
    happened: physics.Happened


class HouseholdWorld(FactsWorld[HouseholdDomain, Skill, Change]):
    """One instance of the household.

    Args:
        given: The task and the home.
        level: The name of the level, for the record.
        horizon: Steps after which the episode ends.
        options: See ``HouseholdOptions``.
    """

    def __init__(self, start: Episode, level: str, horizon: int, options: HouseholdOptions) -> None:
        check_starts(options.starts, options.agents)  # which says more than a type would
        self.episode, self._options = start, options
        self._rules = Rules(options.mode, options.strict_put, options.sight, options.occlusion)
        self._floor = Floor(start.home)
        team = TEAM[: options.agents]
        self._names = Names(start, team)
        domain = HouseholdDomain(self._names, self._rules, options.primitives)
        spec = WorldSpec(
            world="household",
            level=level,
            agents=team,
            kinds=dict.fromkeys(team, "person"),
            horizon=horizon,
            task=tell_task(domain.predicates, horizon),
            rules=tell_rules(domain.predicates, self._rules),
            memory="agent",
            options=options.model_dump(mode="json"),
            static=drawing_data.static(start),
        )
        super().__init__(spec, domain, options.feedback)

    @property
    def entities(self) -> tuple[Entity, ...]:
        """All that the task is about, hidden things too, rooms first, then by number."""
        return (*self._names.rooms, *self._names.watched.values())

    def begin(self, seed: int) -> None:
        """Start over; the seed decides where agents start and who wins what several want at once."""
        self._rng = generator(seed, "household", "play")
        agents = self._options.agents
        at = starting_places(self.episode, self._floor, self._options.starts, agents, seed)
        self._state = physics.start(
            self.episode,
            self._floor,
            generator(seed, "household", "starts"),
            agents=agents,
            rules=self._rules,
            at=at,
        )
        self._memories = {agent: SightMemory(self._names, agent) for agent in self._spec.agents}
        self._first = self._left = self._missing()
        for memory in self._memories.values():
            memory.look(self._state, 0)

    def make_skill(self, agent: AgentId, action: Action) -> Skill:
        """Return a running action."""
        return Skill(agent, action, self._t, self._names)

    def advance(self, running: Mapping[AgentId, Skill]) -> Change:
        """Do one step of the physics, and let agents look."""
        state, names = self._state, self._names
        places = {agent: _cell(state.points[names.number(agent)]) for agent in self._spec.agents}
        acts = {names.number(agent): skill.act(state, self._memories[agent]) for agent, skill in running.items()}
        happened = physics.step(state, acts, self._rng)
        for number, memory in enumerate(self._memories.values(), 1):
            memory.look(state, self._t + 1)
            if (done := happened.done[number]).act.verb == "putin" and not done.reason:
                memory.shut_in(state, done.act.target)
        return Change(places, happened)

    def observe(self, agent: AgentId, change: Change) -> Outcome:
        """Return what the step did to an agent and through it."""
        happened = change.happened
        done = happened.done[self._names.number(agent)]
        winner = happened.contested.get(done.act.target) if done.reason == "contested" else None
        return Outcome(
            WAIT,
            "done",
            blocker=None if winner is None else self._names.name(winner),
            moved=done.moved,
            effect=not done.reason and done.act.verb in physics.HANDLING,
            primitives=(done.act.verb,),
            start=self._t,
            place=change.places[agent],
        )

    def judge(self, agent: AgentId, skill: Skill, change: Change) -> Result:
        """Return how a running action stands after the step."""
        done = change.happened.done[self._names.number(agent)]
        result = skill.result(done, self._state, self._memories[agent])
        is_spatial = result.reason in ("contested", "held", "no_way")
        why = self._explain(agent, result.reason, done.act, change)
        return result._replace(reason=why, constraint="spatial" if is_spatial else None)

    def _explain(self, agent: AgentId, reason: str, act: physics.PrimitiveAction, change: Change) -> str:
        """Return a reason with what it means, of whom and what the agent has seen."""
        if not reason:
            return ""
        names, memory, number = self._names, self._memories[agent], act.onto or act.target
        thing = "it" if number not in names.watched else plain(names.watched[number])
        if reason == "contested":
            return f"contested: {names.name(change.happened.contested[act.target])} was faster"
        holders = (who for who, met in memory.met.items() for held in met.held if held.id == number)
        if reason == "held":
            return f"held: {thing} is in the hands of {next(holders, 'somebody')}"
        return f"{reason}: {EXPLANATIONS[reason].format(thing=thing)}"

    def conclude(self, change: Change) -> StepResult:
        """Return progress and score."""
        before, self._left = self._left, self._missing()
        events = tuple(self._list_events(before, change.happened))
        score = {"reward": float(sum(before) - sum(self._left)), "missing": float(sum(self._left))}
        return StepResult(1, {}, events, score=score)

    def is_complete(self) -> bool:
        """Return whether nothing is missing."""
        return not any(self._left)

    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent sees, and what it remembers."""
        return self._memories[agent].perception(self._state)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the others at most ``reach`` metres away, walls or not, in the order of the agents."""
        self._check_agent(sender)
        points, number = self._state.points, self._names.number(sender)
        x, z = points[number]
        return tuple(
            self._names.name(teammate)
            for teammate, at in points.items()
            if teammate != number and (at.x - x) ** 2 + (at.z - z) ** 2 <= reach**2
        )

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand."""
        return self._domain.predicates.goals(truth(self._names, self._state, {}))

    def truth(self) -> Facts:
        """Return all that is true now; what somebody has explored counts as explored.

        What is held or shut away is in the room of its holder too, so that who says so has told no falsehood.
        """
        explored: dict[Entity, str] = {}
        for memory in self._memories.values():
            for room, how in memory.known(self._state).explored.items():
                explored[room] = "all" if "all" in (how, explored.get(room)) else "part"
        known = truth(self._names, self._state, explored)
        part = (Fact(room, "EXPLORED", "part") for room, how in explored.items() if how == "all")
        inside = [(thing, known.room_of(thing)) for thing, place in known.places.items() if place[0] == "INSIDE"]
        held = [(thing, known.at[agent]) for agent, things in known.hands.items() for thing in things]
        rooms = (Fact(thing, "IN", room) for thing, room in (*inside, *held) if room is not None)
        return Facts((*facts_of(known), *(part if self._options.sight == "cone" else ()), *rooms))

    def snapshot(self) -> Mapping[str, Any]:
        """Return what a drawing of this moment needs, see ``scene``."""
        return drawing_data.snapshot(self._state, self.episode)

    def _missing(self) -> tuple[int, ...]:
        return tuple(max(0, self._state.missing(need)) for need in self.episode.needs)

    def _list_events(self, before: Sequence[int], happened: physics.Happened) -> Iterator[GoalEvent]:
        """Yield progress as shares of each goal, negative where something was taken away again, and what was done."""
        nodes, names = self.episode.home.nodes, self._names
        acts = {names.name(agent): done.act for agent, done in happened.done.items() if not done.reason}
        goals = zip(self._domain.predicates.wanted, self.episode.needs, self._first, before, self._left, strict=True)
        for wanted, need, whole, lacked, left in goals:
            verbs = ("putin", "putback") if left < lacked else ("grab",)
            who = tuple(
                agent
                for agent, act in acts.items()
                if act.verb in verbs and act.onto in (0, need.target) and nodes[act.target].name == need.name
            )
            yield from list_progress(wanted.id, lacked, left, whole or need.number, who)


def _cell(point: Point) -> tuple[int, int]:
    return round(point.x * 100), round(point.z * 100)


def _home(chosen: HouseholdOptions) -> HomeOptions:
    return HomeOptions(None if chosen.data is None else Path(chosen.data), chosen.placement, chosen.rooms)


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends unless told otherwise: those of the C-WAH benchmark.

    Raises:
        UserError: A value or the data cannot be used.
    """
    chosen = read_options(HouseholdOptions, options, "household")
    return Episode.steps if chosen.data is None else episode(level, 0, _home(chosen)).steps


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> HouseholdWorld:
    """Return the instance of a level.

    Raises:
        UserError: There is no such level or option, or a value or the data cannot be used.
    """
    chosen = read_options(HouseholdOptions, options, "household")
    start = episode(level, seed, _home(chosen))
    if chosen.data is not None:  # a path is of one machine only
        chosen = chosen.model_copy(update={"data": fingerprint(start)})
    return HouseholdWorld(start, level, horizon, chosen)


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound | None:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    None where agents are put to what they handle, or do single actions of the engine.

    Raises:
        UserError: There is no such level or option, or a value or the data cannot be used.
    """
    chosen = read_options(HouseholdOptions, options, "household")
    if chosen.mode != "strict" or chosen.primitives:
        return None
    world = make(level, seed, Episode.steps, options)
    world.begin(seed)
    return bounds.bound(world._state, world.episode.needs, frozenset(world._names.watched), Episode.steps)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances that an agent cannot tell apart: two things out of its sight have changed places."""
    placed, options = episode(level, seed), HouseholdOptions()

    def world(of: Episode) -> HouseholdWorld:
        return HouseholdWorld(of, level, of.steps, options)

    unchanged = world(placed)
    for number, agent in enumerate(unchanged.spec.agents, 1):
        room = unchanged.episode.home.room
        hidden = [thing.id for thing in unchanged._names.things if room[thing.id] != placed.starts[number - 1]]
        for first, second in combinations(sorted(hidden), 2):
            other = _exchanged(placed, first, second)
            if other is not None and bool(np.array_equal(Floor(other.home).free, unchanged._floor.free)):
                yield IndistinguishablePair(world(placed), world(other), agent)
                break


def _exchanged(start: Episode, first: NodeId, second: NodeId) -> Episode | None:
    """Return the episode with two things in each other's place; None if that makes no difference."""
    home = start.home
    if home.nodes[first].name == home.nodes[second].name or home.parent[first] == home.parent[second]:
        return None
    swap = {first: second, second: first}
    nodes = {
        node: home.nodes[node]._replace(box=home.nodes[swap[node]].box) if node in swap else home.nodes[node]
        for node in home.nodes
    }
    parent = {node: home.parent[swap.get(node, node)] for node in home.parent}
    room = {node: home.room[swap.get(node, node)] for node in home.room}
    return replace(start, home=replace(home, nodes=nodes, parent=parent, room=room))
