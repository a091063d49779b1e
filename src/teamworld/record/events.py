"""The kinds of records in an episode's log, and their fields (metrics spec, section 2).

No record holds wall time, latency or a path, so the same run writes the same bytes everywhere.
Facts, actions and plans stand in the written form of ``teamworld.language``.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

#: Version of the log format; a reader refuses newer ones.
SCHEMA = 2


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


class RelationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A relation or attribute that facts of the world can state."""

    predicate: str
    subject: str
    values: tuple[str, ...]


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


class Stage(_Record, frozen=True, kw_only=True, tag="stage"):
    """An agent enters a stage: R reasoning, W ready and waiting, X executing, I interrupted."""

    agent: str
    stage: Literal["R", "W", "X", "I"]


class AnswerError(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that could not be used."""

    flaw: Literal["none", "empty", "refused", "cut", "json", "schema", "intent"]
    """See ``teamworld.reasoning.contract.Flaw``."""
    text: str
    """What was wrong with it, as the mind was told."""


class LlmCall(_Record, frozen=True, kw_only=True, tag="llm_call"):
    """A language model was called; latency and price stand in ``results.sqlite``. Counts are null where unknown."""

    agent: str
    """The mind."""
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
    """A mind was asked and answered; errors are the answers that led to re-asks."""

    agent: str
    """The mind."""
    purpose: str
    reasoner: str
    answer: dict[str, Any]
    errors: tuple[AnswerError, ...] = ()
    fallback: bool = False


class Share(_Record, frozen=True, kw_only=True, tag="share"):
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
    goal: str | None
    facts: tuple[str, ...] = ()
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


class Frame(_Record, frozen=True, kw_only=True, tag="frame"):
    """What a drawing of this moment needs, in the world's own plain form."""

    state: dict[str, Any]


class Gone(_Record, frozen=True, kw_only=True, tag="gone"):
    """An agent left for good."""

    agent: str
    why: str


class EpisodeEnd(_Record, frozen=True, kw_only=True, tag="episode_end"):
    """The last record."""

    reason: Literal["all_done", "horizon", "budget", "quit", "error"]


Event: TypeAlias = (
    EpisodeStart
    | Stage
    | LlmCall
    | QuestionAsked
    | Share
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
    | Frame
    | Gone
    | EpisodeEnd
)
