"""The base of worlds on a grid: agents walk round walls, see so far, carry things; a world adds its goals and actions.

A world is a domain and its levels. The domain (``GridDomain``) says which goals there are, what happens by itself, and
what agents can do beside walking and carrying; the levels (``GridLevels``) say where everything stands at the start.
Agents do not block each other. Sight is a square round the agent and passes walls.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Fact, Facts, Measures, Param, Plan, Relation
from teamworld.seeding import generator
from teamworld.worlds.base import picture
from teamworld.worlds.base.beliefs import FullyObserved, is_cell
from teamworld.worlds.base.domain import COMMON_SCHEMAS, StateDomain, describe_recall
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.grid import distance, distances, find_step
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.memory import FactMemory, Perception
from teamworld.worlds.base.options import find_level, read_options
from teamworld.worlds.base.world import FactsWorld, list_progress
from teamworld.worlds.contract import (
    WAIT,
    Goal,
    GoalEvent,
    LatentVariable,
    Outcome,
    Possible,
    StepResult,
    View,
    WorldSpec,
)

#: A cell, the agent that holds a thing, a state such as ``done``, or None where nobody knows.
Place: TypeAlias = Cell | str | None

#: Entities that are points of the map: who knows one has looked there.
SPOT: Final = "spot"
#: Colours of the kinds of things in pictures, in the order of ``GridDomain.kinds``.
_COLOURS: Final = ("#c98a3c", "#5a9367", "#8d6bb0", "#c25b56", "#4f86a8", "#a8a04f")
_WALL: Final[picture.Kind] = ("tile", "#8a8f98", "wall")
_LANDMARK: Final = "#d9e4ee"


@dataclass(frozen=True)
class GridState:
    """Where everything is: the truth, or what an agent knows of it."""

    agents: Mapping[AgentId, Cell] = field(default_factory=dict)
    things: Mapping[Entity, Place] = field(default_factory=dict)
    looked: frozenset[int] = frozenset()
    """Numbers of the spots that were looked at; of the truth all."""

    def held(self, agent: AgentId) -> Entity | None:
        """Return what an agent holds."""
        return next((thing for thing, place in self.things.items() if place == agent), None)

    def cell(self, thing: Entity) -> Cell | None:
        """Return where a thing is, also while it is held; None where that is not known, or it is nowhere any more."""
        place = self.things.get(thing)
        return self.agents.get(place) if isinstance(place, str) else place

    def put(self, thing: Entity, place: Place) -> GridState:
        """Return the state with a thing at another place."""
        return replace(self, things={**self.things, thing: place})

    def move(self, agent: AgentId, cell: Cell) -> GridState:
        """Return the state with an agent in another cell."""
        return replace(self, agents={**self.agents, agent: cell})


class GridDomain(StateDomain[GridState]):
    """What everybody knows of a grid world: the map, and the rules that a world writes.

    A world gives ``list_goals`` and ``plan``, and may give ``settle``, ``list_own_actions``, ``refuse_own`` and
    ``apply_own``.

    Args:
        drawn: The map, a row a line: ``#`` is a wall, all else floor.
        sight: How many rows and columns an agent sees in each direction.

    Raises:
        UserError: The map has no floor, or its rows are not equally long.
    """

    #: Kinds of things, such as ``("box",)``.
    kinds: ClassVar[tuple[str, ...]] = ()
    #: States that a thing may have beside lying about (free) and being held.
    states: ClassVar[tuple[str, ...]] = ("done",)
    #: Kinds of things that nobody can pick up.
    fixed: ClassVar[tuple[str, ...]] = ()
    #: Cells that everybody knows, by name.
    landmarks: ClassVar[Mapping[str, Cell]] = {}

    def __init__(self, drawn: str, sight: int) -> None:
        rows = drawn.split()
        if not rows or len(set(map(len, rows))) > 1 or not any(set(row) - {"#"} for row in rows):
            raise UserError("expected a map of rows of one length with floor in it, '#' for walls and '.' for floor")
        self.rows, self.sight = tuple(rows), sight
        self.size: Cell = len(rows), len(rows[0])
        cells = [*product(range(self.size[0]), range(self.size[1]))]
        self.walls = frozenset(cell for cell in cells if rows[cell[0]][cell[1]] == "#")
        self.floor = tuple(cell for cell in cells if cell not in self.walls)
        self._blocks = tuple(self._block_out())
        self.spots = tuple(spot for spot, _, _ in self._blocks)

    # ---- what a world writes, beside ``list_goals``

    @abstractmethod
    def plan(self, goal: Goal, agent: AgentId, state: GridState) -> Sequence[Action]:
        """Return the actions that reach a goal whose thing's place is known; empty where the agent can do nothing."""

    def settle(self, state: GridState) -> GridState:
        """Return what becomes of a state by itself, such as that what lies at the dock is delivered."""
        return state

    def list_own_actions(self, agent: AgentId, state: GridState) -> Sequence[ActionSchema]:
        """Return what agents can do beside ``go``, ``pick`` and ``drop``; each takes a step."""
        return ()

    def list_own_candidates(self, agent: AgentId, state: GridState) -> Iterable[tuple[Action, str | None]]:
        """Return such actions that make sense, each with its goal."""
        return ()

    def refuse_own(self, agent: AgentId, action: Action, state: GridState) -> str:
        """Return why such an action cannot be done now, a word and perhaps a colon and more; empty if it can."""
        return ""

    def apply_own(self, agent: AgentId, action: Action, state: GridState) -> GridState:
        """Return the state after such an action."""
        return state

    # ---- helpers for plans

    def walk(self, here: Cell | None, there: Cell) -> tuple[Action, ...]:
        """Return the actions that lead to a cell: none from itself; from None, which is anywhere, one."""
        return () if here == there else (Action("go", (there,)),)

    def carry(self, agent: AgentId, thing: Entity, to: Cell, state: GridState) -> Sequence[Action]:
        """Return the actions that bring a thing to a cell; empty where another holds it or it is nowhere."""
        here, held, place = state.agents.get(agent), state.held(agent), state.things.get(thing)
        if held == thing:
            return (*self.walk(here, to), Action("drop"))
        if not is_cell(place):
            return ()
        free = () if held is None else (Action("drop"),)
        return (*free, *self.walk(here, place), Action("pick", (thing,)), *self.walk(place, to), Action("drop"))

    def steps(self, here: Cell, there: Cell) -> int | None:
        """Return the steps from one cell to another; None where there is no way."""
        return distances(self.size, there, self.walls).get(here)

    def sees(self, here: Cell, there: Cell) -> bool:
        """Return whether one sees a cell from another."""
        return max(abs(here[0] - there[0]), abs(here[1] - there[1])) <= self.sight

    def has_looked(self, here: Cell, spot: int) -> bool:
        """Return whether one sees all that is round a spot."""
        return all(self.sees(here, corner) for corner in self._blocks[spot][1:])

    # ---- what follows from it

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state."""
        states = ("free", "held", *self.states)
        things = [
            part for kind in self.kinds for part in (Relation("AT", kind, ("cell",)), Relation("STATE", kind, states))
        ]
        return (
            Relation("AT", "agent", ("cell",)),
            Relation("STATE", SPOT, ("seen",)),
            Relation("HOLD", "agent", self.kinds),
            *things,
        )

    @property
    def measures(self) -> Measures:
        """No argument counts in a measure of goals."""
        nobody = GridState({"": self.floor[0]})
        own = {schema.verb: (None,) * len(schema.params) for schema in self.list_own_actions("", nobody)}
        return {"go": (None,), "pick": (None,), "drop": (), "wait": (), "talk": (None,), **own}

    @property
    def beliefs(self) -> GridBeliefs:
        """What is hidden beyond sight."""
        return GridBeliefs(self)

    def read(self, facts: Facts) -> GridState:
        """Return the state that facts tell of."""
        return facts.derive(self._read)

    def _read(self, facts: Facts) -> GridState:
        at = {fact.subject: fact.value for fact in facts.about("AT") if is_cell(fact.value)}
        things: dict[Entity, Place] = {
            fact.subject: str(fact.value) if fact.value in self.states else None
            for fact in facts.about("STATE")
            if isinstance(fact.subject, Entity) and fact.subject.kind != SPOT
        }
        things |= {thing: cell for thing, cell in at.items() if isinstance(thing, Entity)}
        things |= {
            fact.value: fact.subject
            for fact in facts.about("HOLD")
            if isinstance(fact.value, Entity) and isinstance(fact.subject, str)
        }
        looked = (
            fact.subject.id for fact in facts.about("STATE") if isinstance(fact.subject, Entity) and _is_spot(fact)
        )
        return GridState(
            {agent: cell for agent, cell in at.items() if isinstance(agent, str)},
            dict(sorted(things.items(), key=lambda item: (item[0].kind, item[0].id))),
            frozenset(looked),
        )

    def write(self, state: GridState) -> Facts:
        """Return all facts of a state."""
        return Facts(tuple(self.list_facts(state, lambda cell: True, state.looked)))

    def list_facts(self, state: GridState, is_seen: Callable[[Cell], bool], spots: Collection[int]) -> Iterator[Fact]:
        """Yield what is true in the cells that are seen, with some spots; states other than free and held are told."""
        for agent, cell in state.agents.items():
            if is_seen(cell):
                yield Fact(agent, "AT", cell)
        for thing, place in state.things.items():
            if place in self.states:
                yield Fact(thing, "STATE", str(place))
            elif isinstance(place, str) and (place not in state.agents or is_seen(state.agents[place])):
                yield from (Fact(place, "HOLD", thing), Fact(thing, "STATE", "held"))
            elif is_cell(place) and is_seen(place):
                yield from (Fact(thing, "AT", place), Fact(thing, "STATE", "free"))
            elif place is None:
                yield Fact(thing, "STATE", "free")
        yield from (Fact(Entity(SPOT, number), "STATE", "seen") for number in sorted(spots))

    def abilities(self, agent: AgentId, facts: Facts) -> Sequence[ActionSchema]:
        """Return what an agent can do, with the things that it knows of as arguments."""
        state = self.read(facts)
        movable = tuple(thing for thing in state.things if thing.kind not in self.fixed)
        carries = (
            ActionSchema("pick", (Param("thing", "entity", movable),), "Take a thing that lies where you are."),
            ActionSchema("drop", (), "Put down what you hold."),
        )
        go = ActionSchema(
            "go", (Param("cell", "cell", size=self.size),), "Walk to a cell by a shortest way, a step a cell."
        )
        return (
            go,
            *(carries if set(self.kinds) > set(self.fixed) else ()),
            *self.list_own_actions(agent, state),
            *COMMON_SCHEMAS,
        )

    def list_candidates(self, agent: AgentId, state: GridState) -> Iterator[tuple[Action, str | None]]:
        """Yield actions that make sense: to things, landmarks and what nobody looked at, and what can be done here."""
        goals = {goal.thing: goal.id for goal in self.list_goals(state) if goal.state == "open" and goal.thing}
        for thing, place in state.things.items():
            if is_cell(place):
                yield from ((Action("pick", (thing,)), goals.get(thing)) for _ in range(thing.kind not in self.fixed))
                yield Action("go", (place,)), goals.get(thing)
        yield Action("drop"), None
        yield from self.list_own_candidates(agent, state)
        yield from ((Action("go", (cell,)), None) for cell in self.landmarks.values())
        yield from ((Action("go", (self.spots[spot],)), None) for spot in self._unseen(agent, state)[:3])
        yield WAIT, None

    def refuse(self, agent: AgentId, action: Action, state: GridState) -> str:
        """Return why an action cannot be done now."""
        here, held = state.agents.get(agent), state.held(agent)  # of a teammate it may not be known where it is
        match action.verb, action.args:
            case "go", ((int(), int()) as cell,):
                if cell == here:
                    return "here: you stand there"
                reached = cell not in self.walls if here is None else self.steps(here, cell) is not None
                return "" if reached else "no_way: there is no way to it"
            case "pick", (Entity() as thing,):
                if here is not None and state.things.get(thing) != here:
                    return "not_here: it does not lie where you are"
                return "full_hands: you hold something" if held is not None else ""
            case "drop", ():
                return "empty_hands: you hold nothing" if held is None else ""
            case (("wait" | "talk"), _):
                return ""
        return self.refuse_own(agent, action, state)

    def apply(self, agent: AgentId, action: Action, state: GridState) -> GridState:
        """Return the state to expect after a legal action."""
        held = state.held(agent)
        match action.verb, action.args:
            case "go", ((int(), int()) as cell,):
                moved = state.move(agent, cell)
                seen = {number for number in range(len(self.spots)) if self.has_looked(cell, number)}
                return self.settle(replace(moved, looked=moved.looked | seen))
            case "pick", (Entity() as thing,):
                return self.settle(state.put(thing, agent))
            case "drop", () if held is not None:
                return self.settle(state.put(held, state.agents.get(agent)))
            case (("wait" | "talk"), _):
                return state
        return self.settle(self.apply_own(agent, action, state))

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return how many steps an action takes: a walk one for each cell, talk as many as it says, all else one."""
        match action.verb, action.args:
            case "go", ((int(), int()) as cell,):
                here = self.read(facts).agents.get(agent)
                return max(1, sum(self.size) // 2 if here is None else self.steps(here, cell) or 1)
            case "talk", (int() as steps,):
                return steps
        return 1

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return the plan for a goal, or one that looks for what is hidden, and the same after a step of waiting."""
        state = self.read(facts)
        actions = () if goal is None else tuple(self.plan(goal, agent, state))
        unseen = self._unseen(agent, state, {fact.subject: tick for fact, tick in facts.seen.items() if _is_spot(fact)})
        if not actions and unseen:
            actions = self.walk(state.agents.get(agent), self.spots[unseen[0]])
        goal_id = None if goal is None else goal.id
        return [Plan((*delay, *actions), goal_id) for delay in ((), (WAIT,)) if delay or actions]

    def _unseen(self, agent: AgentId, state: GridState, seen: Mapping[object, int] | None = None) -> list[int]:
        """Return the spots that the agent has not looked at, nearest first; if there is none, those seen longest ago.

        Args:
            agent: Who looks.
            state: What it knows.
            seen: When it saw each spot that is not in sight, by its entity.
        """
        here = state.agents.get(agent)
        ways = ((1 if here is None else self.steps(here, spot), number) for number, spot in enumerate(self.spots))
        near = sorted((way, number) for way, number in ways if way)
        fresh = [number for _, number in near if number not in state.looked]
        past = [(tick, number) for _, number in near if (tick := (seen or {}).get(Entity(SPOT, number))) is not None]
        return fresh or [number for _, number in sorted(past)]

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a view in words."""
        state = self.read(view.known)
        here = state.agents[view.agent]
        yield f"You are {view.agent}, at {here}; cells are (row, column). You see {self.sight} cells in each direction."
        yield from (f"{fact}." for fact in view.facts if not _is_spot(fact))
        yield from (line for line, fact in zip(describe_recall(view), view.recall, strict=True) if not _is_spot(fact))
        fresh = [self.spots[spot] for spot in self._unseen(view.agent, state) if spot not in state.looked]
        yield f"You have not looked at: {', '.join(map(str, fresh))}." if fresh else "You have looked everywhere."

    def describe_map(self) -> str:
        """Return the map and the rules in words."""
        named = "".join(f" The {name} is at {cell}." for name, cell in self.landmarks.items())
        return (
            f"Cells are (row, column), (0, 0) is at the top left. The map, # for walls:\n{chr(10).join(self.rows)}\n"
            f"A step leads to one of the four cells beside. Agents do not block each other. They see {self.sight} rows "
            f"and columns in each direction, walls or not, and hold one thing at a time.{named}"
        )

    def _block_out(self) -> Iterator[tuple[Cell, Cell, Cell]]:
        """Yield blocks of the map, each seen whole from its middle: that cell, and the corners of its floor."""
        side = self.sight + 1
        blocks: dict[Cell, list[Cell]] = {}
        for cell in self.floor:
            blocks.setdefault((cell[0] // side, cell[1] // side), []).append(cell)
        for cells in blocks.values():
            rows, columns = zip(*cells, strict=True)
            first, last = (min(rows), min(columns)), (max(rows), max(columns))
            middle = ((first[0] + last[0]) // 2, (first[1] + last[1]) // 2)
            yield min(cells, key=lambda cell, middle=middle: (distance(cell, middle), cell)), first, last  # type: ignore[misc]


def _is_spot(fact: Fact) -> bool:
    return isinstance(fact.subject, Entity) and fact.subject.kind == SPOT


class GridBeliefs(FullyObserved):
    """What agents may know where sight is short.

    Args:
        domain: The rules.
    """

    def __init__(self, domain: GridDomain) -> None:
        super().__init__(domain.goals)
        self._domain = domain

    def latent_variables(self, facts: Facts) -> Sequence[LatentVariable]:
        """Return where a thing may be that is not where it was: at spots out of sight of all whose place is known."""
        domain, state = self._domain, self._domain.read(facts)
        hidden = [spot for spot in domain.spots if not any(domain.sees(at, spot) for at in state.agents.values())]
        goals = {goal.thing: goal.id for goal in domain.goals(facts) if goal.state == "open"}
        return [
            LatentVariable(
                str(thing),
                tuple(Possible(Fact(thing, "AT", spot), 1.0) for spot in hidden),
                (goals[thing],) if thing in goals else (),
            )
            for thing, place in state.things.items()
            if place is None and hidden
        ]

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return 1 for what is in the agent's sight, and states that all are told."""
        domain, state = self._domain, self._domain.read(facts)
        if fact.predicate == "STATE" and fact.value in domain.states:
            return 1.0
        if is_cell(fact.value):
            cell: Cell | None = fact.value
        else:
            cell = state.agents.get(fact.subject) if isinstance(fact.subject, str) else state.cell(fact.subject)
        return float(cell is not None and agent in state.agents and domain.sees(state.agents[agent], cell))


@dataclass
class GridSkill:
    """A running action: a walk to a cell, or what takes a known number of steps."""

    action: Action
    start: int
    steps_left: int
    target: Cell | None = None


class GridChange(NamedTuple):
    """What a step changed."""

    before: GridState
    problems: Mapping[AgentId, str]
    """Why actions failed at their end: others were quicker."""
    effects: frozenset[AgentId]
    """Whose action changed more than its own cell."""


class GridWorld(FactsWorld[GridDomain, GridSkill, GridChange]):
    """A grid world as it is played; a domain is all that it needs.

    Args:
        spec: What everybody knows.
        domain: The rules.
        start: The first moment.
    """

    def __init__(self, spec: WorldSpec, domain: GridDomain, start: GridState) -> None:
        self.start = replace(start, looked=frozenset(range(len(domain.spots))))
        super().__init__(spec, domain)

    def begin(self, seed: int) -> None:
        """Set up the first moment."""
        self.state = self.domain.settle(self.start)
        self._whole = {goal.id: max(1, goal.units) for goal in self.domain.list_goals(self.state)}
        self._memories = {agent: FactMemory() for agent in self.spec.agents}
        self._look()

    def _look(self) -> None:
        domain = self.domain
        for agent, here in self.state.agents.items():
            seen = frozenset(cell for cell in domain.floor if domain.sees(here, cell))
            spots = [number for number in range(len(domain.spots)) if domain.has_looked(here, number)]
            facts = domain.list_facts(self.state, seen.__contains__, spots)
            self._memories[agent].look(facts, self._t, seen)

    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent knows now."""
        return self._memories[agent].perception

    def make_skill(self, agent: AgentId, action: Action) -> GridSkill:
        """Return a running action."""
        target = action.args[0] if action.verb == "go" else None
        steps = self.domain.estimate_steps(agent, action, self.truth())
        return GridSkill(action, self._t, steps, target if is_cell(target) else None)

    def advance(self, running: Mapping[AgentId, GridSkill]) -> GridChange:
        """Do one step, agent by agent in the order of the team: of two that take a thing the first gets it."""
        domain, before, problems, effects = self.domain, self.state, dict[AgentId, str](), set[AgentId]()
        for agent in (agent for agent in self.spec.agents if agent in running):
            skill, state = running[agent], self.state
            skill.steps_left -= 1
            if skill.target is not None:
                step = find_step(domain.size, state.agents[agent], (skill.target,), domain.walls)
                assert step is not None  # there was a way when it began, and walls do not move
                self.state = domain.settle(state.move(agent, step))
                effects |= {agent} if self.state.things != state.things else set()
            elif not skill.steps_left:
                problems[agent] = domain.refuse(agent, skill.action, state)
                if not problems[agent]:
                    self.state = domain.apply(agent, skill.action, state)
                    effects |= {agent} if self.state is not state else set()
        return GridChange(before, problems, frozenset(effects))

    def observe(self, agent: AgentId, change: GridChange) -> Outcome:
        """Return what the step did to an agent and through it."""
        before, after = change.before.agents[agent], self.state.agents[agent]
        effect = agent in change.effects
        return Outcome(WAIT, "done", start=self._t, moved=before != after, effect=effect, place=before)

    def judge(self, agent: AgentId, skill: GridSkill, change: GridChange) -> Result:
        """Return how a running action stands."""
        if problem := change.problems.get(agent):
            return Result("failed", problem)
        return RUNNING if skill.steps_left else DONE

    def conclude(self, change: GridChange) -> StepResult:
        """Return the progress of goals; the score is the weight of what was done."""
        self._look()
        before = {goal.id: goal for goal in self.domain.list_goals(change.before)}
        who = tuple(agent for agent in self.spec.agents if agent in change.effects)
        events: list[GoalEvent] = []
        reward = 0.0
        for goal in self.domain.list_goals(self.state):
            whole, earlier = self._whole[goal.id], before[goal.id]
            events += list_progress(goal.id, earlier.units, goal.units, whole, who)
            events += [GoalEvent(goal.id, "lost", 0.0, ())] if (earlier.state, goal.state) == ("open", "lost") else []
            reward += goal.weight * (earlier.units - goal.units) / whole
        return StepResult(1, {}, events, score={"reward": reward})

    def in_range(self, sender: AgentId, reach: float) -> Sequence[AgentId]:
        """Return who hears an agent, by the cells between them as if there were no walls."""
        self._check_agent(sender)
        here = self.state.agents[sender]
        return [agent for agent, at in self.state.agents.items() if agent != sender and distance(here, at) <= reach]

    def truth(self) -> Facts:
        """Return all that is true."""
        return self.domain.write(self.state)

    def snapshot(self) -> Mapping[str, Any]:
        """Return what a drawing needs to know of this moment."""
        state = self.state
        held = {place: thing.kind for thing, place in state.things.items() if isinstance(place, str)}
        team = [
            (cell, str(number), "", held.get(agent, "")) for number, (agent, cell) in enumerate(state.agents.items())
        ]
        lying = [(place, thing.kind, str(thing.id)) for thing, place in state.things.items() if is_cell(place)]
        return picture.snapshot(team, lying)


class _NoOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GridLevels:
    """The levels of a grid world: a class of these is the world for ``--world MODULE:NAME`` and the registry.

    A world gives ``NAME``, ``SUMMARY``, ``TASK``, ``LEVELS`` and ``place``.
    """

    NAME: ClassVar[str]
    SUMMARY: ClassVar[str]
    TASK: ClassVar[str]
    """The mission in words: what is wanted, by when, what it counts."""
    LEVELS: ClassVar[Mapping[str, str]]
    DEFAULT_LEVEL: ClassVar[str]
    STEPS: ClassVar[int] = 100
    """Of an episode unless told otherwise."""
    OPTIONS: ClassVar[type[BaseModel]] = _NoOptions

    def __init_subclass__(cls) -> None:
        """Take the first level as the default."""
        cls.DEFAULT_LEVEL = next(iter(cls.LEVELS))

    @classmethod
    def place(cls, level: str, rng: Generator) -> tuple[GridDomain, GridState]:
        """Return the rules of a level and its first moment; what is random comes from ``rng``."""
        raise NotImplementedError(f"{cls.__name__}.place")

    @classmethod
    def step_limit(cls, level: str, options: Mapping[str, object]) -> int:
        """Return the steps of an episode unless told otherwise."""
        find_level(cls.LEVELS, level, cls.NAME)
        return cls.STEPS

    @classmethod
    def make(cls, level: str, seed: int, horizon: int, options: Mapping[str, object]) -> GridWorld:
        """Return the instance of a level and a seed."""
        find_level(cls.LEVELS, level, cls.NAME)
        read_options(cls.OPTIONS, options, cls.NAME)
        domain, start = cls.place(level, generator(seed, cls.NAME, level))
        return cls._build(level, horizon, domain, start)

    @classmethod
    def _build(cls, level: str, horizon: int, domain: GridDomain, start: GridState) -> GridWorld:
        team = tuple(start.agents)
        colours = dict(zip(domain.kinds, _COLOURS * len(domain.kinds), strict=False))
        looks: dict[str, picture.Kind] = {kind: ("square", colour, kind) for kind, colour in colours.items()}
        looks["wall"] = _WALL
        looks |= {name: ("tile", _LANDMARK, name) for name in domain.landmarks}
        ground = [(cell, "wall") for cell in sorted(domain.walls)]
        ground += [(cell, name) for name, cell in domain.landmarks.items()]
        spec = WorldSpec(
            cls.NAME,
            level,
            team,
            dict.fromkeys(team, "worker"),
            horizon,
            cls.TASK,
            rules=domain.describe_map(),
            memory="agent",
            static=picture.static(domain.size, looks, ground),
        )
        return GridWorld(spec, domain, start)

    @classmethod
    def indistinguishable_pairs(cls, level: str, seed: int) -> Iterator[IndistinguishablePair]:
        """Yield for each agent two instances that differ in where a thing lies that it does not see at the start."""
        domain, start = cls.place(level, generator(seed, cls.NAME, level))
        for agent, here in start.agents.items():
            hidden = [cell for cell in domain.floor if not domain.sees(here, cell)]
            moved = [thing for thing, place in start.things.items() if place in hidden]
            free = [cell for cell in hidden if cell not in start.things.values()]
            if moved and free:
                first = cls._build(level, cls.STEPS, domain, start)
                second = cls._build(level, cls.STEPS, domain, start.put(moved[0], free[-1]))
                yield IndistinguishablePair(first, second, agent)
