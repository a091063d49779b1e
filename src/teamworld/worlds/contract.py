"""What every world offers to the rest: one step of the world, views, and the rules everybody knows.

Only ``episode/`` holds a ``World``. A method gets ``View`` (what one agent may know now) and ``Domain`` (pure rules
that everybody knows). A world knows nothing of language models, methods or message texts.

Time is counted in steps of the world. An action given to an agent stops the one that ran; the same action again, or
none, lets it run on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from teamworld.errors import UserError
from teamworld.language import (
    Action,
    ActionSchema,
    AgentId,
    Entity,
    Fact,
    Facts,
    GoalId,
    Measures,
    Plan,
    Relation,
    Term,
)

if TYPE_CHECKING:
    import numpy.typing as npt

#: The constraints on a joint act, in the order in which the first unmet one is named.
Constraint: TypeAlias = Literal["dependency", "capability", "participation", "spatial", "temporal"]

#: Verbs that exist in every world. ``wait`` does nothing for one tick; ``talk`` pays for talking.
WAIT = Action("wait")
#: What only some worlds have and a method may require.
Capability: TypeAlias = Literal["arrays", "beliefs", "danger", "entities", "hauling"]
#: Why an episode ends. A world says ``all_done`` or ``horizon``; ``lost``: nobody was left when its horizon came.
EndReason: TypeAlias = Literal["all_done", "horizon", "lost", "budget", "quit", "error"]


def talk(ticks: int) -> Action:
    """Return the order to spend ``ticks`` on talking."""
    return Action("talk", (ticks,))


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
    can_be_lost: bool = False
    """What burns, who dies."""
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
    is_work: bool = False
    """Whether the agent stands where several work on the goal together: then it has no way to go."""
    purpose: str = ""
    """What it is for where it serves no goal, in words; empty where the action says it."""

    @property
    def aim(self) -> str:
        """What it is for, in the words of a list, a blank before them; empty where that goes without saying."""
        if self.goal is not None:
            return f" for {self.goal}"
        return f" {self.purpose}" if self.purpose else ""


class Verdict(NamedTuple):
    """Whether something can be done, and why not."""

    ok: bool
    reason: str = ""
    """One of the world's words, the same that ``Outcome.reason`` uses, then perhaps a colon and an explanation."""

    @property
    def word(self) -> str:
        """The reason in one word."""
        return self.reason.partition(":")[0]

    @property
    def explanation(self) -> str:
        """Why not, in words a newcomer understands, where the world explains it; else its word."""
        return self.reason.partition(": ")[2] or self.reason


POSSIBLE = Verdict(True)


class Outcome(NamedTuple):
    """What became of an agent's action in one step (the truth), or what the agent noticed of it."""

    action: Action
    status: Literal["running", "done", "failed"]
    reason: str = ""
    """Why it failed, or what ended it before it got where it was to lead: one of the world's words, then perhaps a
    colon and an explanation; empty otherwise."""
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

    @property
    def word(self) -> str:
        """The reason in one word."""
        return self.reason.partition(":")[0]

    @property
    def is_stopped(self) -> bool:
        """Whether another action took its place."""
        return self.word == "interrupted"

    @property
    def ending(self) -> str:
        """How it ended and why, in words: an action that another took the place of did not fail."""
        if self.is_stopped:
            return self.reason.replace(self.word, "stopped", 1)
        why = self.reason.partition(": ")[2] or self.reason
        how = "ended early" if why and self.status == "done" else self.status
        return f"{how}, {why}" if why else how


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
    """``reward`` is in every world how much the world's own score changed in this step; other entries are its own."""
    end_reason: EndReason | None = None
    """Why the episode ended; None while it goes on."""
    idle: Mapping[str, float] = {}
    """At the end, of a world that tells it: the score entries if nobody had done anything, same instance and seed;
    ``reward`` is then their sum. For the log and metrics only: no view and no method is told."""


class HeadlineMeasure(NamedTuple):
    """One of the measures that results of a level are told in first: what its benchmark reports."""

    metric: str
    """Name of a metric, see ``teamworld metrics``."""
    unit: str
    """Empty for a share."""
    better: Literal["high", "low"]
    definition: str
    """What it says on this level, in one line: what a point is, and the best there is."""


#: The headline of a level that asks for goals alone: what was done, and when.
GOALS_AND_STEPS = (
    HeadlineMeasure("completion", "", "high", "weight of the goals done, of all"),
    HeadlineMeasure("steps", "steps", "low", "steps until all is done; the limit where it is not"),
)


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
    """The mission in words: what is wanted, by when, and the price list: what each thing done or lost counts."""
    rules: str = ""
    """How this instance works, in words: the physics, what limits sight and speed, where things tend to be. All that a
    built-in rule of a method relies on, and nothing of what the instance lacks."""
    memory: Literal["agent", "team"] = "team"
    """Whose perceptions ``View.recall`` holds."""
    headline: tuple[HeadlineMeasure, ...] = GOALS_AND_STEPS
    """What results are told in first. Without ``completion`` the level knows no success: it is scored by other things
    than its goals, which may be done by themselves."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """As resolved: they make the same instance again. A file stands there by its content (``sha256:...``)."""
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
        """Actions that are legal as far as the agent knows; finite. Those of the domain, or some of them."""

    @property
    def history(self) -> Sequence[Outcome]:
        """Its own finished actions, oldest first, as much as the world lets it notice."""

    @property
    def remainder(self) -> Action | None:
        """What is left of its running action, as an action; None where none runs or the world does not tell."""

    @property
    def steps_to_go(self) -> int | None:
        """Ticks that its running action still takes; None where that is no more than an estimate of the remainder."""

    @property
    def since(self) -> int | None:
        """Tick at which its running action began; None where none runs or the world does not tell."""

    def check(self, action: Action) -> Verdict:
        """Whether the action's preconditions hold, by what the agent knows; never by the truth."""

    def text(self, form: str = "plain") -> str:
        """The situation in words; ``plain`` is the same on every machine.

        Where the agent is, what it perceives and remembers and how long ago, distances or steps to what matters.
        Nothing of what prompts show beside it: goals, abilities, options, the agent's past.
        """


class Possible(NamedTuple):
    """A value that an unknown may have."""

    fact: Fact
    weight: float
    """Above 0: how likely it is against the other values before anything is seen, times what is ruled out since."""
    part_of: Fact | None = None
    """The coarser value that it is a part of: a container in a room whose containers were unknown before."""
    area: str = ""
    """The area in words, where the fact's value stands for all of one."""


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


#: What an agent that hauls can look for; the place is where things are to be brought.
Sought: TypeAlias = Literal["target", "container", "place"]


class Haul(NamedTuple):
    """What an agent carries, and what it knows to lie about."""

    held: tuple[Entity, ...]
    """What is in its hands."""
    container: Entity | None
    """The container among that."""
    places: int
    """How many things this still takes."""
    hands_left: int
    """How many hands are free."""
    targets: tuple[Entity, ...]
    """Targets in its hands, in no container."""
    wanted: tuple[Entity, ...]
    """Known targets that lie about and are missing beyond what it carries."""
    containers: tuple[Entity, ...]
    """Known containers of use that lie about."""
    knows_place: bool
    """Whether it knows where things are to be brought."""
    is_enough: bool
    """Whether nothing is missing beyond what it carries, as far as it knows."""


class HaulingRules(Protocol):
    """Capability ``hauling``: things lie about and are brought to one place, in hands and in containers."""

    def survey(self, agent: AgentId, facts: Facts) -> Haul:
        """Return what an agent carries and knows to lie about if the facts hold."""

    def search(self, what: Sought) -> Action:
        """Return the action that walks about until such a thing comes in sight."""

    def fetch(self, thing: Entity) -> Action:
        """Return the action that fetches a thing."""

    def put(self, target: Entity, container: Entity) -> Action:
        """Return the action that puts a target into a container, both of which are held."""

    def deliver(self) -> Action:
        """Return the action that brings all that is held to the place."""

    def steps_until_it_counts(self, agent: AgentId, facts: Facts) -> int | None:
        """Return the estimated ticks until what an agent holds counts at the place; None where it holds nothing."""


#: Makes the array that an agent observes, from its view.
ArrayReader: TypeAlias = "Callable[[View], npt.NDArray[Any]]"


class ArrayRules(Protocol):
    """Capability ``arrays``: agents may see and act by numbers, as trained policies do.

    Both are those of the world's ``parallel_env`` or ``vector_env``.
    """

    @property
    def actions(self) -> Sequence[Action]:
        """The primitive actions in the order of their numbers, each as an action of one step."""

    def reader(self, shape: Sequence[int | None]) -> ArrayReader:
        """Return what makes observations of a shape; a length of None fits any.

        Raises:
            UserError: The world has none of this shape.
        """


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
    def arrays(self) -> ArrayRules | None:
        """The capability ``arrays``; None if the world does not declare it."""
        return None

    @property
    def beliefs(self) -> BeliefRules | None:
        """The capability ``beliefs``; None if the world does not declare it."""
        return None

    @property
    def danger(self) -> DangerRules | None:
        """The capability ``danger``; None if the world does not declare it."""
        return None

    @property
    def hauling(self) -> HaulingRules | None:
        """The capability ``hauling``; None if the world does not declare it."""
        return None

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return the goals as they stand if the facts hold."""

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return the actions that make sense for the agent if the facts hold."""

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return how a goal stands for an agent, in a line of words, if the facts hold.

        What is missing in the goal's own units, how many agents it needs and how many are of use, what it is worth,
        whether it can be done now and if not what is in the way, and the estimated steps to it for this agent.
        """
        return describe_goal(goal)

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
        """Return the estimated number of steps that the action takes; 1 where its arguments do not fit its schema."""

    def ends_plan(self, action: Action, reason: str) -> bool:
        """Return whether an action that failed ends its plan, because what follows would work on a wrong base.

        Args:
            action: What failed, or could not start.
            reason: Why, in one of the world's words.
        """
        return False

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


def describe_goal(goal: Goal) -> str:
    """Return how a goal stands in words that fit any world."""
    need = f"takes {goal.quorum} agents at once" if goal.quorum > 1 else "one agent is enough"
    more = f", up to {goal.capacity} are of use" if goal.capacity > goal.quorum else ""
    kinds = f"; for {' or '.join(goal.kinds)}" if goal.kinds else ""
    return f"{need}{more}{kinds}; worth {goal.weight:g}"


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
        """Capability ``entities``: all that the task is about, by id and class, hidden ones too; None if not declared.

        The order tells nothing. No agent sees it: only methods that require it are told, and the log keeps it.
        """
        return None

    def local(self) -> LocalWorld | None:
        """Return a world in the same state whose agents each have a clock: the capability ``locality``.

        It goes its own way. None where the instance has no such world: somebody may learn at once of what happens
        anywhere. Called before the first step.
        """
        return None


class Neighbours(NamedTuple):
    """Whom one agent may perceive, affect or be affected by in its next step, by the bounds of the world."""

    together: Sequence[AgentId]
    """Those at the same step: they take it together."""
    behind: Sequence[AgentId]
    """Those at an earlier step: the agent waits until they have come nearer in time, or turn out to be elsewhere."""


class LocalWorld(World, Protocol):
    """A world whose agents are each at a step of their own, as far apart in time as distances allow.

    As long as an agent steps only with those of ``Neighbours.together`` and when nobody is ``behind``, it perceives at
    each of its steps what it perceives there when all step at once, whatever the others do.
    """

    def neighbours(self, agent: AgentId) -> Neighbours:
        """Return who may have to do with the next step of an agent."""

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Do the next step of some agents, who are at the same step; only their outcomes are worked out."""

    def goes_on_until(self) -> int:
        """Return a number of steps after which the episode is certainly not over, whatever agents do from here on.

        At least the clock of the agent that is farthest behind, while the episode goes on there; it never shrinks.
        """


class ImpossibleFacts(UserError):
    """Facts that contradict each other, or of which no state can be made: a message may state anything."""
