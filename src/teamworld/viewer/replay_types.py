"""What the page is given: an episode as plain data, ordered for looking up what holds at a step.

Moment ``t`` of the page shows frame ``t``, the world after ``t`` steps; step ``t`` leads from frame ``t`` to frame
``t + 1``. Intervals hold their start and not their end. Values that are not set are left out of the JSON.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

#: Version of the data; the page refuses others.
FORMAT = 1


class _Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Base of all rows; they are filled while the log is read."""


class ActionSpan(_Row, kw_only=True):
    """One action of one agent, from its first step to the one after its last."""

    start: int
    end: int
    action: str
    """In written form."""
    status: Literal["running", "done", "failed", "passed"]
    """How its last step left it; ``running`` if it was stopped, ``passed`` if it could not start and took no time."""
    reason: str = ""
    constraint: str | None = None
    blocker: str | None = None
    goal: str | None = None
    plan: int | None = None
    place: int | None = None
    """Which action of the plan it is, from 0."""
    legal: bool = True


class StepRecord(_Row, kw_only=True):
    """How an agent fared from a step on, until the next row."""

    step: int
    primitive: str = ""
    """Primitive moves of one step, with blanks between them."""
    moved: bool = False
    effect: bool = False
    """The world changed through it."""
    ready: str | None = None
    """The goal at which it stood in place, waiting for others."""
    blocker: str | None = None


class CommitmentSpan(_Row, kw_only=True):
    """A commitment of an agent to a goal."""

    start: int
    end: int
    goal: str
    role: str
    cause: str
    released: str
    """Why it ended."""


class Actor(_Row, kw_only=True):
    """One agent."""

    name: str
    kind: str
    spans: list[ActionSpan]
    paces: list[StepRecord]
    holds: list[CommitmentSpan]
    gone: int | None = None
    """The step from which it is no longer there."""
    gone_why: str = ""


class PlanRow(_Row, kw_only=True):
    """A plan that an agent took up."""

    agent: str
    plan: int
    start: int
    end: int
    goal: str | None = None
    actions: list[str]
    on_failure: Literal["default", "continue", "abort"] = "default"
    origin: str
    cause: str
    """Why it was taken up."""
    status: str
    """How it ended."""
    ended: str
    """Why it ended."""


class SentMessage(_Row, kw_only=True):
    """A message."""

    id: int
    step: int
    agent: str
    act: str
    text: str
    to: list[str] | None = None
    """None: to everybody else of the team."""
    goal: str | None = None
    room: int | None = None
    lost: list[str] = []
    """Recipients that it did not reach."""


class JointAct(_Row, kw_only=True):
    """A joint act that went the same way in every step from ``start`` on until ``end``."""

    start: int
    end: int
    goal: str
    k: int
    have: dict[str, int]
    need: dict[str, int]
    who: list[str]
    """Those who took part."""
    success: bool
    short: int = 0
    """How many more agents the least met constraint needed."""
    absent: list[str] = []
    """Of a failure: agents bound to the goal by commitment or plan that took no part, in the team's order."""


class FailureRow(_Row, kw_only=True):
    """A span of the episode that went wrong, by ``teamworld.metrics.failures``."""

    start: int
    end: int
    label: str
    agents: list[str]
    """Those held up or acting in vain, then those in their way."""
    goal: str | None = None
    text: str


class GoalRow(_Row, kw_only=True):
    """A goal and how far it got."""

    id: str
    kind: str = ""
    label: str = ""
    thing: str | None = None
    weight: float | None = None
    quorum: int | None = None
    progress: list[tuple[int, float]] = []
    """The share that is done, from a moment on."""
    done: int | None = None
    """The first moment at which it is done."""
    lost: int | None = None
    who: list[str] = []
    """Those who took part in the step that did it."""


class HeadlineRow(_Row, kw_only=True):
    """A measure that results of the level are told in first."""

    name: str
    """In words."""
    value: float | None
    unit: str
    definition: str
    """With the direction that is better."""


class EpisodeResult(_Row, kw_only=True):
    """How the episode went; null where there was nothing to count."""

    completion: float | None
    done: float
    weight: float
    steps: int
    horizon: int
    reason: str
    headline: list[HeadlineRow] = []
    """Beside completion and steps, which are told of every episode."""
    has_success: bool = True
    """Whether doing all goals is what the level asks."""


class PerceptionChange(_Row, kw_only=True):
    """What an agent perceives in a frame and did not in the one before, and the other way round, as facts in words."""

    frame: int
    agent: str
    seen: list[str] = []
    unseen: list[str] = []


class PromptTurn(_Row, kw_only=True):
    """One message of a prompt."""

    role: str
    text: list[int]
    """Where its lines are, see ``viewer.shared_lines``."""


class AnswerFlaw(_Row, kw_only=True):
    """An answer that could not be used."""

    flaw: str
    text: str
    """What was wrong with it, as the reasoner was told."""


class QuestionTry(_Row, kw_only=True):
    """One call of a language model or a person for a question; counts are those of its provider."""

    kept: int = 0
    """How many turns of the try before come first in the prompt."""
    turns: list[PromptTurn] = []
    """Those that follow; with ``kept``, all that was sent. Both empty where prompts are left out."""
    text: list[int] = []
    """The answer as it came, as where its lines are."""
    finish: str = ""
    """Empty where no answer came."""
    served: str = ""
    """The model that the provider says has answered, where it is another name than was asked for."""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    """Reasoning included."""
    reasoning_tokens: int | None = None
    usd: float | None = None
    """None where no price is known."""
    seconds: float = 0.0
    cached: bool = False
    """It came from a cache of earlier runs, at no cost."""
    faults: list[str] = []
    """What went wrong on the way."""


class QuestionRow(_Row, kw_only=True):
    """A question to a reasoner, or one that its protocol asks and that was not put."""

    step: int
    agent: str
    """Who was asked: an agent, or a respondent without a body."""
    kind: str
    reasoner: str = ""
    """Who answered, in words."""
    answer: dict[str, Any] = {}
    """The answer that counts, by field."""
    flaws: list[AnswerFlaw] = []
    """Of the answers before it."""
    fallback: bool = False
    """The answer is the one that stands in where no usable one came."""
    tries: list[QuestionTry] = []
    """Oldest first; empty where rules answered."""
    skipped: str = ""
    """Why it was not put; empty of all that were."""


class FactChange(_Row, kw_only=True):
    """Facts that became true, or that an agent came to perceive, in a frame, and those of which that is over."""

    frame: int
    agent: str = ""
    """Empty of what is true."""
    on: list[int] = []
    """Places in ``KnowledgeLog.facts``."""
    off: list[int] = []


class HeldFact(_Row, kw_only=True):
    """A fact that somebody believes."""

    fact: int
    chance: float = 1.0
    since: int = 0
    """Tick at which the belief was formed."""
    source: str = "own"


class BeliefChange(_Row, kw_only=True):
    """Beliefs that an agent took up or changed in a frame, and those that it dropped."""

    frame: int
    agent: str
    about: str | None = None
    """None for beliefs about the world; an agent, for what this one is believed to know."""
    held: list[HeldFact] = []
    dropped: list[int] = []


class KnowledgeLog(_Row, kw_only=True):
    """What is true, perceived and believed, as changes by frame."""

    facts: list[str]
    """In written form."""
    about: list[int]
    """By fact: facts with the same number are of one thing and one predicate, which has one value at a time, so that a
    later one replaces an earlier one; -1 of predicates that had several values at a time in this episode."""
    truth: list[FactChange]
    seen: list[FactChange]
    believed: list[BeliefChange]


class WorthRow(_Row, kw_only=True):
    """What a message, all messages or an agent was worth, by forks without it; see ``report.worth``."""

    message: int | None = None
    """Its id; None of an agent and of all messages."""
    agent: str | None = None
    values: dict[str, tuple[float, float, float]] = {}
    """By measure the mean and the bounds of its interval, which are the mean where there is only one continuation."""


class GuideLine(_Row, kw_only=True):
    """What the guidebook says of a task."""

    attempts: int
    successes: int
    progress: float | None = None
    """Mean share of the work that an attempt did."""
    steps: float | None = None
    """Mean steps of an attempt."""
    team: int | None = None
    """Recommended size."""
    verdict: str


class PlanLine(_Row, kw_only=True):
    """What the plan library says of a plan."""

    text: str
    """The plan with variables in place of what was particular to it."""
    attempts: int
    successes: int
    progress: float
    """Mean share of the work that an attempt did."""
    steps: float
    """Mean steps of an attempt."""


class AddedPlan(_Row, kw_only=True):
    """A plan of the episode, as the world model keeps it."""

    agent: str
    goal: str
    plan: str
    origin: str
    start: int
    """Tick."""
    end: int
    success: bool
    cause: str = ""
    """Why it ended without success."""


class TaskMemory(_Row, kw_only=True):
    """What is known of a task before an episode and after it."""

    task: str
    before: GuideLine
    after: GuideLine
    plans_before: list[PlanLine] = []
    """Best first."""
    plans_after: list[PlanLine] = []
    added: list[AddedPlan] = []
    """The episode's plans for it, in their order."""


class AddedNote(_Row, kw_only=True):
    """What an agent left for later episodes."""

    agent: str
    text: str


class EpisodeMemory(_Row, kw_only=True):
    """The symbolic world model before an episode and after it."""

    episodes: int
    """Earlier ones of the run that it was learned from."""
    tasks: list[TaskMemory] = []
    notes: list[str] = []
    """Of earlier episodes, the newest that are kept."""
    added: list[AddedNote] = []


class Replay(_Row, kw_only=True):
    """An episode."""

    format: int
    world: str
    level: str
    static: dict[str, Any]
    task: str
    method: str
    reasoner: str
    """The reasoner in words: rules are called rules."""
    seed: int
    episode: int
    result: EpisodeResult
    team: list[Actor]
    goals: list[GoalRow]
    plans: list[PlanRow]
    """By agent in the team's order, then by number."""
    messages: list[SentMessage]
    joints: list[JointAct]
    failures: list[FailureRow]
    """By start."""
    labels: dict[str, str]
    """The rule of each label that occurs, in words."""
    frames: list[dict[str, Any]]
    """One a step and one before the first, in the world's own form."""
    ticks: list[int] | None = None
    """Ticks before each frame; None where every step is one tick."""
    undrawn: str = ""
    """Why the drawing that the world declares in ``static`` cannot be made; its states are shown as tables then."""
    style: dict[str, Any] = {}
    """What the world's drawing reads beside its frames: colours, shapes, words."""
    reward: list[float] = []
    """The world's own score in each frame: the sum of its changes; empty where it never changed."""
    perceived: list[PerceptionChange] = []
    """What agents came to perceive and no longer do; empty unless the log was recorded at the level ``beliefs``."""
    questions: list[QuestionRow] = []
    """In the order of the log."""
    lines: list[str] = []
    """Of prompts and of answers as they came."""
    prompts: bool = True
    """Whether these are kept, where there are any."""
    worths: list[WorthRow] = []
    """Empty unless ``teamworld worth`` measured them."""
    fork: str = ""
    """Of a fork, where it was forked from and what was changed, in words."""
    knowledge: KnowledgeLog | None = None
    """None unless the log was recorded at the level ``beliefs``."""
    memory: EpisodeMemory | None = None
    """None unless the method keeps a world model and the run holds it."""


class Difference(_Row, kw_only=True):
    """What an agent did otherwise in one of two episodes in a step."""

    step: int
    agent: str
    kind: Literal["commitment", "plan", "message"]
    first: list[str] = []
    """In words, in its order; empty where it did nothing of the kind."""
    second: list[str] = []


class Differences(_Row, kw_only=True):
    """How two episodes of one instance differ."""

    first: int | None = None
    """The first step in which anything does; None if nothing does."""
    actions: list[int] = []
    """Steps in which some agent acts otherwise."""
    rows: list[Difference] = []
    """By step."""


class PackedReplay(msgspec.Struct, kw_only=True):
    """What a page unpacks once it is there; the rest of its ``Replay`` stands in it as it is."""

    questions: list[QuestionRow]
    lines: list[str]
    knowledge: KnowledgeLog | None
    memory: EpisodeMemory | None


class PackedPair(msgspec.Struct, kw_only=True):
    """Two pages side by side."""

    pages: tuple[str, str]
    """Whole documents."""
    names: tuple[str, str]
    differences: Differences
