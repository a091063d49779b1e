"""What every world offers to the rest: one step of the world, views, and the rules everybody knows.

Only ``episode/`` holds a ``World``. A method gets ``View`` (what one agent may know now) and
``Domain`` (pure rules that everybody knows). A world knows nothing of language models, methods
or message texts.

Time is counted in ticks of the world. An order starts its action and stops the one that ran;
an order equal to the running action, or no order, lets it run on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeGuard

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell, Entity, Fact, Facts, GoalId, Measure, Measures, Plan, Term, show

#: The constraints on a joint act, in the order in which the first unmet one is named.
Constraint: TypeAlias = Literal["dependency", "capability", "participation", "spatial", "temporal"]

#: Verbs that exist in every world. ``wait`` does nothing for one tick; ``talk`` pays for talking.
WAIT = Action("wait")
#: What only some worlds have and a method may require.
Capability: TypeAlias = Literal["beliefs", "danger", "entities"]
#: Why an episode ends. A world says ``all_done`` or ``horizon``.
EndReason: TypeAlias = Literal["all_done", "horizon", "budget", "quit", "error"]


def talk(ticks: int) -> Action:
    """Return the order to spend ``ticks`` on talking."""
    return Action("talk", (ticks,))


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of an action."""

    name: str
    kind: Literal["entity", "choice", "count", "cell"]
    choices: tuple[Term, ...] = ()
    """The values it may take now, for ``entity`` and ``choice``."""
    size: Cell = (0, 0)
    """Rows and columns, for ``cell``: any pair from (0, 0) to below it. Options name a few, they cannot name all."""
    low: int = 0
    high: int | None = None
    """Bounds of a ``count``; None where there is no upper bound."""
    default: int | None = None
    """Value of a ``count`` that is left out; None where it must be given."""
    measure: Measure | None = None
    """The measure of a goal that a ``count`` counts in, see ``teamworld.language.lifting``."""


@dataclass(frozen=True, slots=True)
class ActionSchema:
    """A macro-action: its parameters and what it is good for, in words a newcomer understands."""

    verb: str
    params: tuple[Param, ...]
    doc: str

    def complete(self, action: Action) -> Action:
        """Return the action with left-out counts filled by their defaults.

        Raises:
            UserError: An argument is missing, surplus, of the wrong kind or out of range.
        """
        if action.verb != self.verb:
            raise UserError(f"expected {self.verb}, got {action.verb}")
        if len(action.args) > len(self.params):
            raise UserError(f"{self.signature()} takes {len(self.params)} arguments, got {len(action.args)}: {action}")
        args = list(action.args)
        for param in self.params[len(args) :]:
            if param.default is None:
                raise UserError(f"{self.signature()} needs {param.name}, got {action}")
            args.append(param.default)
        for param, arg in zip(self.params, args, strict=True):
            if param.kind == "count":
                top = "" if param.high is None else f" to {param.high}"
                if not (_whole(arg) and arg >= param.low and (param.high is None or arg <= param.high)):
                    raise UserError(f"{param.name} of {self.verb} is a number from {param.low}{top}, got {arg}")
            elif param.kind == "cell":
                if not _inside(arg, param.size):
                    rows, columns = param.size
                    last = show((rows - 1, columns - 1))
                    raise UserError(f"{param.name} of {self.verb} is a cell from (0, 0) to {last}, got {arg}")
            elif arg not in param.choices:
                known = ", ".join(str(choice) for choice in param.choices[:12])
                raise UserError(f"{param.name} of {self.verb} is one of {known}; got {arg}")
        return Action(action.verb, tuple(args))

    def signature(self) -> str:
        """Return the action's form, for example ``push_block(block, steps)``."""
        return f"{self.verb}({', '.join(param.name for param in self.params)})"


def _whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _inside(value: object, size: Cell) -> bool:
    """Return whether a value is a cell from (0, 0) to below ``size``."""
    if not (isinstance(value, tuple) and len(value) == len(size)):
        return False
    return all(_whole(at) and 0 <= at < top for at, top in zip(value, size, strict=True))


@dataclass(frozen=True, slots=True)
class Goal:
    """Something the world wants done, with its state as far as the holder knows."""

    id: GoalId
    kind: str
    """What is to be done, in the world's words: ``deliver``."""
    thing: Entity | None
    """What the goal is about."""
    features: tuple[tuple[str, str], ...] = ()
    """What goals of one class have in common, in buckets chosen by the world."""
    weight: float = 1.0
    quorum: int = 1
    """Agents needed at once, as things stand now."""
    capacity: int = 1
    """Agents that are useful at most."""
    kinds: tuple[str, ...] = ()
    """Kinds of agents that can work on it; empty: all."""
    units: int = 0
    """Work left, in the world's own measure."""
    constraints: tuple[Constraint, ...] = ()
    """What a joint act on this goal can fail on."""
    prerequisites: tuple[GoalId, ...] = ()
    deadline: int | None = None
    """Tick after which it is lost."""
    can_be_lost: bool = False
    """It can be lost, also without a deadline: what burns, who dies."""
    state: Literal["open", "done", "lost"] = "open"

    @property
    def label(self) -> str:
        """The class of the goal: its kind and features, the same for like goals in other instances."""
        return f"{self.kind}({', '.join(f'{key}={value}' for key, value in self.features)})"


class Option(NamedTuple):
    """One action that makes sense now."""

    action: Action
    goal: GoalId | None
    steps: int
    """Estimated ticks until it is done."""


class Verdict(NamedTuple):
    """Whether something can be done, and why not."""

    ok: bool
    reason: str = ""
    """One of the world's words, the same that ``Outcome.reason`` uses, then perhaps a colon and an explanation."""

    @property
    def word(self) -> str:
        """The reason in one word."""
        return self.reason.partition(":")[0]


POSSIBLE = Verdict(True)


class Outcome(NamedTuple):
    """What became of an agent's action in one step (the truth), or what the agent noticed of it."""

    action: Action
    status: Literal["running", "done", "failed"]
    reason: str = ""
    """Why it failed, in one of the world's words; empty otherwise."""
    constraint: Constraint | None = None
    """The constraint that a failure was due to."""
    blocker: str | None = None
    """Who or what was in the way: an agent's name or an entity's written form."""
    legal: bool = True
    """False where the world refused it."""
    moved: bool = False
    """The agent's place changed in this step."""
    effect: bool = False
    """The world changed in this step through this action."""
    primitives: tuple[str, ...] = ()
    """The primitive moves of this step; in an agent's history, of the whole action."""
    start: int = 0
    """Tick at which the action began."""
    ready: GoalId | None = None
    """The goal at whose working place the agent stands, waiting for the quorum."""
    place: Term | None = None
    """Where it stood when the step began; None in worlds without places, and in what the agent noticed."""
    aim: Term | None = None
    """The place that it tried to enter in this step; None where it tried none."""


class GoalEvent(NamedTuple):
    """What happened to a goal in one step."""

    goal: GoalId
    event: Literal["opened", "progress", "done", "lost"]
    delta: float
    """Progress made in this step, as a fraction of the whole goal; negative where it was undone."""
    participants: tuple[AgentId, ...]


class Attempt(NamedTuple):
    """One act on a goal that can fail on a constraint: what it needed and what there was."""

    goal: GoalId
    quorum: int
    have: tuple[tuple[Constraint, int], ...]
    need: tuple[tuple[Constraint, int], ...]
    participants: tuple[AgentId, ...]
    success: bool


class StepResult(NamedTuple):
    """The truth about one step, for the loop and the log."""

    ticks: int
    outcomes: Mapping[AgentId, Outcome]
    """Of every agent that was alive when the step began."""
    goals: Sequence[GoalEvent] = ()
    attempts: Sequence[Attempt] = ()
    gone: Mapping[AgentId, str] = {}
    """Who left for good in this step, and why in a word. From now on it has no view and no outcome, hears nothing, and
    takes no orders."""
    score: Mapping[str, float] = {}
    """``reward`` is in every world how much the world's own score changed in this step: the metrics sum it (O7). All
    other entries are the world's own; they are recorded, and no metric of all worlds reads them."""
    end_reason: EndReason | None = None
    """Why the episode ended; None while it goes on."""


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """What an instance of a world is; all but ``static`` is known to everybody before the first step."""

    world: str
    level: str
    agents: tuple[AgentId, ...]
    kinds: Mapping[AgentId, str]
    horizon: int
    """Ticks after which the episode ends."""
    task: str
    """The task, in words."""
    memory: Literal["agent", "team"] = "team"
    """Whose perceptions ``View.recall`` holds."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The world's options as resolved. The same instance can be made with them again; a file stands there by what it
    holds (``sha256:...``), not by where it lies."""
    static: Mapping[str, Any] = field(default_factory=dict)
    """What a drawing needs to know once: plain data for the log. It may hold what no agent knows, a whole map."""

    @property
    def public(self) -> WorldSpec:
        """The same without ``static``: what methods get."""
        return replace(self, static={})


class View(Protocol):
    """What one agent may know now. Parts are made when first read; stale after the next step."""

    @property
    def agent(self) -> AgentId:
        """Whose view it is."""

    @property
    def kind(self) -> str:
        """What kind of agent it is, as in ``WorldSpec.kinds``."""

    @property
    def is_able(self) -> bool:
        """False while it cannot act (carried, overcome): it is not asked, its plan ends, and it waits."""

    @property
    def t(self) -> int:
        """Ticks gone."""

    @property
    def steps_left(self) -> int:
        """Ticks left."""

    @property
    def facts(self) -> Facts:
        """Perceived now."""

    @property
    def recall(self) -> Facts:
        """Perceived before and not now, with the tick of last sight."""

    @property
    def known(self) -> Facts:
        """Both: what is perceived now and, for the rest, what was perceived last."""

    @property
    def goals(self) -> Sequence[Goal]:
        """Announced or discovered, in a fixed order, with their state."""

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """All that the agent could do, with argument domains."""

    @property
    def options(self) -> Sequence[Option]:
        """Actions that are legal as far as the agent knows; finite."""

    @property
    def history(self) -> Sequence[Outcome]:
        """Its own finished actions, oldest first, as much as the world lets it notice."""

    def check(self, action: Action) -> Verdict:
        """Whether the action's preconditions hold, by what the agent knows; never by the truth."""

    def text(self, form: str = "plain") -> str:
        """The view in words; ``plain`` is the same on every machine."""


#: What a predicate means to an agent that fetches things, where it means anything to it. ``at``: where an agent is;
#: ``held``: a thing in an agent's hands; ``near``: in an agent's reach; ``room``: the room that something is in;
#: ``container``: the container that a thing is in; ``surface``: what a thing lies on; ``position``: coordinates;
#: ``access``: whether a container can be looked into (values: open, closed); ``search``: how much of a room was seen
#: (values: a part, all).
Role: TypeAlias = Literal["", "at", "held", "near", "room", "container", "surface", "position", "access", "search"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation or attribute that facts of the world can state."""

    predicate: str
    subject: str
    """Kind of entity, or ``agent``."""
    values: tuple[str, ...]
    """Its values, where these can be listed, or their kind: ``cell``, ``number``, ``agent``, a kind of entity."""
    max_values: int = 1
    """Values of one subject that can hold at a time: one that excludes all others, or a capacity."""
    role: Role = ""
    verbs: tuple[str, ...] = ()
    """Actions by which an agent that fetches things changes it: of ``access`` opening, closing and looking into."""


class Possible(NamedTuple):
    """A value that an unknown may have."""

    fact: Fact
    weight: float
    """Above 0: how likely it is against the other values before anything is seen, times what is ruled out since."""
    part_of: Fact | None = None
    """The coarser value that it is a part of: a container in a room whose containers were unknown before."""


class LatentVariable(NamedTuple):
    """Something that matters to goals and is not known: where the next cupcake lies, whether a sector burns."""

    name: str
    """The same for as long as it is unknown."""
    values: tuple[Possible, ...]
    """Values that exclude each other, one of which is true, in a fixed order; their weights need not add up to 1."""
    goals: tuple[GoalId, ...] = ()
    """The goals that it matters to."""


class BeliefRules(Protocol):
    """Capability ``beliefs``: what agents may know and believe where not everybody sees all that matters.

    ``worlds.base.beliefs.FullyObserved`` has it ready for worlds in which everybody does.
    """

    def latent_variables(self, facts: Facts) -> Sequence[LatentVariable]:
        """Return what matters to goals and is open if ``facts`` are all that is known.

        Places that were searched in vain are left out. Variables of like things are alike and independent of one
        another, unless their facts name one subject.
        """

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return the probability that the agent perceives a fact if it is true; ``facts`` say where the agent is."""

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both options; 0 where these do not conflict."""


class DangerRules(Protocol):
    """Capability ``danger``: the world can harm agents, and everybody knows when."""

    def harm_probability(self, agent: AgentId, steps: int, facts: Facts) -> float:
        """Return the probability that the agent is harmed where it is within so many steps, from 0 to 1."""


class Domain(Protocol):
    """The rules that everybody knows: pure functions of ``facts``, which are what the caller believes or imagines.

    A domain that derives from this class has no optional capability unless it declares one.
    """

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state; a reader of texts needs nothing else of the world."""

    @property
    def measures(self) -> Measures:
        """For each verb, which parameters count in which measure of a goal."""

    @property
    def beliefs(self) -> BeliefRules | None:
        """The capability ``beliefs``; None if the world does not declare it."""
        return None

    @property
    def danger(self) -> DangerRules | None:
        """The capability ``danger``; None if the world does not declare it."""
        return None

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return the goals as they stand if the facts hold."""

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return the actions that make sense for the agent if the facts hold."""

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that make sense for the goal, in an order that says nothing about which is best.

        At least one for an open goal that the agent's kind can work on, whose prerequisites are met, and that the
        facts tell of. Without a goal: at least one plan for an agent that is not needed now and must not be in the
        way, best first.
        """

    def check(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether the action's preconditions hold if the facts hold."""

    def predict(self, agent: AgentId, action: Action, facts: Facts) -> Facts:
        """Return the facts to expect after the action, if it succeeds and teammates play their part."""

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated number of steps that the action takes."""

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return new plans of the world's scripted team, a reference row; no rule of a method calls it.

        Args:
            views: Of every living agent of the team.
            running: The plans that run; an agent that has one gets no other.

        Returns:
            Plans for agents that are able and have none; an agent that is left out waits for a step.
        """


class BeliefDomain(Domain, Protocol):
    """A domain with the capability ``beliefs``: what a method gets that requires it."""

    @property
    def beliefs(self) -> BeliefRules:
        """The rules on beliefs."""


class World(Protocol):
    """One instance of a world. Only ``episode/`` holds it."""

    @property
    def spec(self) -> WorldSpec:
        """What everybody knows before the first step."""

    @property
    def domain(self) -> Domain:
        """The rules that everybody knows."""

    def reset(self, seed: int) -> None:
        """Start over; ``seed`` names the generators of whatever is random in the instance."""

    def view(self, agent: AgentId) -> View:
        """What a living agent may know now."""

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Do one step of the world."""

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Who is in range of a message; ``inf`` reaches everybody."""

    def goals(self) -> Sequence[Goal]:
        """All goals as they truly stand, hidden ones too: for the log and metrics only."""

    def truth(self) -> Facts:
        """All that is true now, hidden things too: for the log and metrics only."""

    def snapshot(self) -> Mapping[str, Any]:
        """Return what a drawing of this moment needs: plain data, small, versioned."""

    @property
    def entities(self) -> Sequence[Entity] | None:
        """Capability ``entities``: all that the task is about, ids and classes alone, hidden things too.

        Rooms, containers, furniture and things in a fixed order that tells nothing; None if the world does not declare
        it. No agent sees it: only methods that require it are told, and the log keeps it.
        """
        return None


class SkippedAction(NamedTuple):
    """An action of a plan that was passed over at no cost, because it could not start."""

    agent: AgentId
    action: Action
    reason: str
    since: int
    """Step in which the plan was taken up."""


class Transition(NamedTuple):
    """One step of an episode as its log tells it: two snapshots, and what was done between them."""

    step: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    outcomes: Mapping[AgentId, Outcome]
    """Of every living agent; actions have all their arguments where the plan named them."""
    attempts: Sequence[Attempt] = ()
    skipped: Sequence[SkippedAction] = ()
    """Before the step."""


class FailureSpan(NamedTuple):
    """A failure in a span of an episode."""

    label: str
    """One of the names in ``teamworld.metrics.failures.LABELS``."""
    first: int
    """First step."""
    last: int
    """Last step."""
    agents: tuple[AgentId, ...]
    """Those held up or acting in vain, then those in their way; may be empty."""
    goal: GoalId | None
    text: str
    """What happened, with its numbers."""


#: What a world's module may offer as ``failures``: finds in the passages of an episode, in order, what only the world
#: can see (faces, cells, ways). Pure; takes ``WorldSpec.static``, the team and the passages.
FailureFinder: TypeAlias = Callable[[Mapping[str, Any], Sequence[AgentId], Sequence[Transition]], Iterable[FailureSpan]]


class IndistinguishablePair(NamedTuple):
    """Two instances that an agent cannot tell apart, though they are not the same.

    A world's module may offer ``indistinguishable_pairs(level, seed)``, which yields some. With them
    ``teamworld.testing.check_world`` checks that views do not change when only hidden truth changes.
    """

    first: World
    second: World
    agent: AgentId


class ImpossibleFacts(UserError):
    """Facts that contradict each other, or of which no state can be made: a message may state anything."""


class StaleView(RuntimeError):
    """A view was read after the world had moved on."""
