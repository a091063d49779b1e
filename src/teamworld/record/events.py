"""The kinds of records in an episode's log, and their fields.

No record holds wall time, latency or a path, so the same run writes the same bytes everywhere.
Facts, actions and plans stand in the written form of ``teamworld.language``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

#: What is recorded: what happened (``play``), and beside it what is true, perceived, believed and predicted.
LogLevel: TypeAlias = Literal["play", "beliefs"]
#: Version of the log format that each level is written in. What ``play`` writes is what format 2 was.
FORMATS: Final[Mapping[LogLevel, int]] = {"play": 2, "beliefs": 3}
#: Oldest and newest version of the log format; a reader refuses others.
OLDEST, SCHEMA = min(FORMATS.values()), max(FORMATS.values())


class _Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", gc=False):
    """Fields of every record."""

    seq: int = -1
    """Place in the episode's total order; set by the writer."""
    step: int = 0
    """Steps of the world before this record."""
    tick: int = 0
    """Ticks of the world before this record."""


class GoalInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A goal as it stands at the start."""

    id: str
    kind: str
    thing: str | None
    label: str
    weight: float
    quorum: int
    places: int
    exclusive: bool
    """More agents than the quorum are of no use."""
    units: int
    constraints: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()
    deadline: int | None = None
    losable: bool = False
    """It can be lost, also without a deadline."""


class RelationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A relation or attribute that facts of the world can state."""

    predicate: str
    subject: str
    values: tuple[str, ...]


class HeadlineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A measure that results of the level are told in first."""

    metric: str
    unit: str
    better: Literal["high", "low"]
    definition: str


class EpisodeStart(_Record, frozen=True, kw_only=True, tag="episode_start"):
    """What is run. Everything that is needed to run it again."""

    schema: int
    world: str
    level: str
    world_options: dict[str, Any]
    world_seed: int
    seed: int
    episode: int
    team: tuple[str, ...]
    kinds: dict[str, str]
    goals: tuple[GoalInfo, ...]
    measures: dict[str, tuple[str | None, ...]]
    relations: tuple[RelationInfo, ...]
    static: dict[str, Any]
    """What a drawing needs to know once."""
    horizon: int
    task: str
    method: str
    method_options: dict[str, Any]
    reasoner: str
    message_rule: dict[str, Any]
    topology: str
    log_level: str
    roster: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """The world's entities, if the method requires them, see ``Method.requires``; left out for other methods."""
    headline: tuple[HeadlineInfo, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out where it is completion and steps, as of most levels."""
    searches: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Verbs of actions that look into what their first argument names; left out in worlds without them."""
    code: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Digests of the code that plays, by name, see ``experiment.code_identity``; left out where no run is played."""
    registered: str | msgspec.UnsetType = msgspec.UNSET
    """Digest of what the run had set out to play by then, see ``experiment.registration``; left out likewise."""


class StageEntered(_Record, frozen=True, kw_only=True, tag="stage"):
    """An agent enters a stage: R reasoning, W ready and waiting, X executing, I interrupted."""

    agent: str
    stage: Literal["R", "W", "X", "I"]


class AnswerError(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that could not be used."""

    flaw: Literal["none", "lost", "empty", "refused", "cut", "json", "schema", "intent"]
    """See ``teamworld.reasoning.contract.Flaw``."""
    text: str
    """What was wrong with it, as the reasoner was told."""


class LlmCall(_Record, frozen=True, kw_only=True, tag="llm_call"):
    """A language model was called; latency and price stand in ``results.sqlite``. Counts are null where unknown."""

    agent: str
    """The respondent."""
    purpose: str
    model: str
    prompt_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    """Reasoning included."""
    reasoning_tokens: int | None
    usable: bool
    """Whether the answer could be used."""
    attempt: int = 0
    """0 for the first time the question was put, counting re-asks."""


class QuestionAsked(_Record, frozen=True, kw_only=True, tag="question"):
    """A respondent was asked and answered; errors are the answers that led to re-asks."""

    agent: str
    """The respondent."""
    purpose: str
    reasoner: str
    answer: dict[str, Any]
    errors: tuple[AnswerError, ...] = ()
    fallback: bool = False


class QuestionSkipped(_Record, frozen=True, kw_only=True, tag="unasked"):
    """A respondent was not asked what its protocol asks, because the answer is forced or could change nothing."""

    agent: str
    """The respondent."""
    purpose: str
    """The kind of question."""
    cause: str
    """Why, in words: ``one option``, ``nothing new``, ``alone``."""


class ViewsShared(_Record, frozen=True, kw_only=True, tag="share"):
    """Views of other agents that a question was given by its protocol."""

    agent: str
    purpose: str
    views: tuple[str, ...]


class MessageSent(_Record, frozen=True, kw_only=True, tag="message"):
    """A message was sent, in a room or as a post."""

    agent: str
    id: int
    recipients: tuple[str, ...]
    act: str
    text: str
    """All that was said, the facts included; in logs of before the words alone."""
    goal: str | None
    facts: tuple[str, ...] = ()
    """What of the text is told as typed facts."""
    reply_to: int | None = None
    room: int | None = None
    """Number of the meeting it was said in."""
    ticks: int = 0
    """What it cost each payer."""
    paid_by: Literal["nobody", "speaker", "members"] = "nobody"


class Deliver(_Record, frozen=True, kw_only=True, tag="deliver"):
    """A message reached a recipient, or was lost on the way."""

    agent: str
    """The recipient."""
    message: int
    dropped: bool = False


class Commit(_Record, frozen=True, kw_only=True, tag="commit"):
    """An agent binds itself to a goal."""

    agent: str
    goal: str
    role: str = "worker"
    cause: str = ""


class Release(_Record, frozen=True, kw_only=True, tag="release"):
    """An agent is no longer bound to a goal."""

    agent: str
    goal: str
    role: str = "worker"
    cause: str
    """done, failed, reassigned, agreed, interrupted, gone, ended."""


class PlanStart(_Record, frozen=True, kw_only=True, tag="plan"):
    """An agent takes up a plan."""

    agent: str
    plan: int
    goal: str | None
    thing: str | None
    label: str | None
    """The goal's class."""
    units: int
    """Work left on the goal when the plan was taken up."""
    quorum: int
    """The goal's quorum at that time."""
    text: str
    """The plan in written form."""
    origin: Literal["fresh", "revised", "reused"]
    cause: str
    parsed: bool
    first_action_legal: bool
    dry_run_ok: bool
    predicted_steps: int
    length: int | None = None
    """Actions in the plan; None in logs that were written before it was kept."""


class PlanEnd(_Record, frozen=True, kw_only=True, tag="plan_end"):
    """A plan is over."""

    agent: str
    plan: int
    goal: str | None
    status: Literal["success", "failed", "interrupted", "superseded", "expired", "unfinished"]
    cause: str
    actions_done: int
    goal_done: bool
    units_left: int
    eased: dict[str, tuple[int, int]] | msgspec.UnsetType = msgspec.UNSET
    """Open goals that need fewer agents at once than when the plan was taken up, and how many then and now; left out
    where there are none, and of a plan that changed nothing in the world."""


class ActionStep(_Record, frozen=True, kw_only=True, tag="action"):
    """What one agent did in one step of the world, and what came of it."""

    agent: str
    verb: str
    args: tuple[str, ...]
    goal: str | None
    plan: int | None
    status: Literal["running", "done", "failed"]
    legal: bool
    effect: bool
    moved: bool
    reason: str = ""
    constraint: str | None = None
    blocker: str | None = None
    ready: str | None = None
    primitives: tuple[str, ...] = ()
    spent: bool = True
    """False where the action was passed over at no cost because its preconditions did not hold."""
    place: str | None = None
    """Where the agent stood when the step began, in written form; None if the world or an older log has no places."""
    aim: str | None = None
    """The place that it tried to enter in this step; None where it tried none."""


class AttemptMade(_Record, frozen=True, kw_only=True, tag="attempt"):
    """A joint act on a goal."""

    goal: str
    k: int
    have: dict[str, int]
    need: dict[str, int]
    participants: tuple[str, ...]
    success: bool


class GoalChange(_Record, frozen=True, kw_only=True, tag="goal"):
    """Something happened to a goal."""

    goal: str
    event: Literal["opened", "progress", "done", "lost"]
    delta: float
    participants: tuple[str, ...]


class StepDone(_Record, frozen=True, kw_only=True, tag="step"):
    """A step of the world is over."""

    ticks: int
    score: dict[str, float]


class DrawingState(_Record, frozen=True, kw_only=True, tag="frame"):
    """What a drawing of this moment needs, in the world's own plain form."""

    state: dict[str, Any]


class Truth(_Record, frozen=True, kw_only=True, tag="truth"):
    """What became true or false in the world since the last such record; the first one says all that is true."""

    true: tuple[str, ...] = ()
    """Facts, as everywhere here in written form."""
    false: tuple[str, ...] = ()


class Observe(_Record, frozen=True, kw_only=True, tag="observe"):
    """What an agent perceives, as changes against its last such record; the first one says all."""

    agent: str
    seen: tuple[str, ...] = ()
    """Facts that it perceives now and did not then."""
    unseen: tuple[str, ...] = ()
    """Facts that it perceived then and does not now: they are out of its sight, or no longer true."""


class HeldBelief(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that somebody believes."""

    fact: str
    probability: float = 1.0
    since: int = 0
    """Tick at which the belief was formed."""
    source: str = "own"
    """``own``, ``inferred``, or ``message:ID``."""


class Believe(_Record, frozen=True, kw_only=True, tag="belief"):
    """What an agent believes, as changes against its last such record about the same."""

    agent: str
    about: str | None = None
    """None for beliefs about the world (level 0); an agent, for what ``agent`` believes that this one holds (level 1).
    A probability below one half then says that it lacks the fact."""
    held: tuple[HeldBelief, ...] = ()
    """Taken up, or held with another probability, tick or source."""
    dropped: tuple[str, ...] = ()
    """Facts no longer held."""


class Predict(_Record, frozen=True, kw_only=True, tag="predict"):
    """What an agent expects."""

    agent: str
    subject: Literal["constraint", "conflict", "partner_goal", "plan_effect"]
    about: str
    """A goal, whose next joint act is meant (``constraint``); the agent or goal in conflict with it (``conflict``); a
    teammate (``partner_goal``); the number of a plan (``plan_effect``)."""
    value: str | float | tuple[str, ...] | None = None
    """The constraint that will not be met, None if all will be; the goal in conflict, None where that is left open; the
    goal that the teammate commits itself to next, or several, the likeliest first; the ticks that the plan takes."""
    confidence: float | None = None


class AgentLeft(_Record, frozen=True, kw_only=True, tag="gone"):
    """An agent left for good."""

    agent: str
    why: str


class TokensTaken(msgspec.Struct, frozen=True, kw_only=True):
    """What the questions of an episode took of what they might."""

    limit: int
    taken: int
    """As providers counted; of rules the words and other characters of prompts and answers."""


class EpisodeEnd(_Record, frozen=True, kw_only=True, tag="episode_end"):
    """The last record."""

    reason: Literal["all_done", "horizon", "lost", "budget", "quit", "error"]
    idle: dict[str, float] | msgspec.UnsetType = msgspec.UNSET
    """The score entries if nobody had done anything, where the world tells it: no agent and no method is told."""
    tokens: TokensTaken | msgspec.UnsetType = msgspec.UNSET
    """Left out where nothing limited them."""


Event: TypeAlias = (
    EpisodeStart
    | StageEntered
    | LlmCall
    | QuestionAsked
    | QuestionSkipped
    | ViewsShared
    | MessageSent
    | Deliver
    | Commit
    | Release
    | PlanStart
    | PlanEnd
    | ActionStep
    | AttemptMade
    | GoalChange
    | StepDone
    | DrawingState
    | Truth
    | Observe
    | Believe
    | Predict
    | AgentLeft
    | EpisodeEnd
)
