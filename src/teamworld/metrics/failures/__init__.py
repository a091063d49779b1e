"""Failure labels: which spans of an episode went wrong, and how.

``tags(log, finder)`` is a pure function of the log. A rule is a function from the table of events to failure spans;
``RULES`` lists those that need nothing but the log; a world adds those that need its cells
(``worlds.contract.FailureFinder``). Each label is defined once, in a line of ``labels.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from teamworld.metrics.definition import read_definitions
from teamworld.metrics.event_table import EventTable
from teamworld.metrics.failures import conduct, joint, knowledge
from teamworld.metrics.failures.steps import detailed_table, transitions
from teamworld.record import Believe, EpisodeStart, Event
from teamworld.worlds.base.failure_spans import FailureFinder, FailureSpan

Rule = Callable[[EventTable], Iterable[FailureSpan]]

#: The rules that read the log alone.
RULES: Final[Sequence[Rule]] = (
    joint.failed_attempts,
    joint.missing_prerequisites,
    joint.stale_plans,
    joint.misaligned_intents,
    joint.duplicate_work,
    joint.duplicate_search,
    joint.broken_words,
    conduct.free_riders,
    conduct.thrash,
    conduct.deadlocks,
    conduct.mutual_blocking,
    conduct.cell_races,
    conduct.thing_races,
    conduct.swings,
    conduct.plan_cycles,
    conduct.endings,
    conduct.bad_formats,
    conduct.unanswered,
    conduct.chatter,
    knowledge.false_beliefs,
    knowledge.ignored_inputs,
    knowledge.withheld,
)


class Label(NamedTuple):
    """What a failure label means."""

    name: str
    rule: str
    """The rule in words, with its thresholds."""
    diagnoses: str
    """What the team lacks where it shows."""
    source: str
    """Where the rule comes from."""
    refines: str | None
    """The label that the same spans carry too, where this one says more."""
    is_spatial: bool
    """Found by the world, from its snapshots; not there for worlds that offer no finder."""
    needs_beliefs: bool
    """Found in logs of the level ``beliefs`` alone."""
    metrics: str | None
    """Names of the metrics that count the same, separated by commas."""


#: The labels by name, in the order in which they are listed.
LABELS: Final = {label.name: label for label in read_definitions("failures/labels.csv", Label)}


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled span of an episode."""

    label: str
    first: int
    """First step, from 0."""
    last: int
    """Last step."""
    agents: tuple[str, ...]
    """Those held up or acting in vain, then those in their way; may be empty."""
    goal: str | None
    text: str
    """What happened, with its numbers."""
    source: str
    """Where the rule comes from."""


def tags(log: Iterable[Event], finder: FailureFinder | None = None) -> list[Tag]:
    """Return the tags of a finished episode, ordered by first step, then by label.

    Args:
        log: The episode's events.
        finder: The world's own rules (``worlds.registry.finder``); without it the labels that need cells and ways
            are left out.

    Raises:
        ValueError: The log has no start or no end, or the finder gives a label that is not defined.
    """
    table = detailed_table(log)
    spans = [span for rule in RULES for span in rule(table)]
    if finder is not None:
        spans += finder(table.start.static, table.team, transitions(table))
    unknown = {span.label for span in spans} - set(LABELS)
    if unknown:
        raise ValueError(f"not a failure label: {', '.join(sorted(unknown))}")
    return merged(spans)


def blind(log: Iterable[Event]) -> dict[str, str]:
    """Return the labels that a log cannot show, whatever happened, each with what it takes.

    Args:
        log: The episode's events; only as many are read as it takes to know.
    """
    events = iter(log)
    start = next(events, None)
    if not isinstance(start, EpisodeStart) or start.log_level == "play":
        return {label.name: "--log-level beliefs" for label in LABELS.values() if label.needs_beliefs}
    if any(isinstance(event, Believe) and event.about is None for event in events):
        return {}
    return {"false-belief": "a method that says what it believes"}


def merged(findings: Iterable[FailureSpan]) -> list[Tag]:
    """Return spans as tags; those of one label, goal and agents that touch or overlap become one."""
    place = {label: number for number, label in enumerate(LABELS)}
    spans: list[FailureSpan] = []
    for span in sorted(findings, key=lambda span: (place[span.label], span.goal or "", span.agents, span.first)):
        before = spans[-1] if spans else None
        same = before is not None and (before.label, before.goal, before.agents) == (span.label, span.goal, span.agents)
        if before is not None and same and span.first <= before.last + 1:
            changed = span.text != before.text and span.first > before.first and not before.text.endswith(_AT_FIRST)
            text = before.text + (_AT_FIRST if changed else "")
            spans[-1] = before._replace(last=max(before.last, span.last), text=text)
        else:
            spans.append(span)
    spans.sort(key=lambda span: (span.first, place[span.label], span.last, span.goal or "", span.agents))
    return [Tag(**span._asdict(), source=LABELS[span.label].source) for span in spans]


_AT_FIRST = " (at first)"
