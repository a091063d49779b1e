"""What a test server did, held against what a run has on record and in its logs: call by call, fault by fault."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from teamworld.reasoning.llm.contract import Fault, Request
from teamworld.record import EpisodeStart, Event, LlmCall, QuestionAsked, encode, read_log
from tests.reasoning.llm.behaviour import FLAWED, HIDDEN, WHOLE, prompt_digest

#: What a fault of the server is to a client that sees it.
SEEN_AS = {
    "busy": "busy",
    "busy-after": "busy, told how long",
    **dict.fromkeys(("error", "gateway", "json", "type", "choiceless", "null", "inband"), "broken"),
    **dict.fromkeys(("drop", "drop-body", "cut"), "gone"),
    **dict.fromkeys(("stall", "stall-body"), "late"),
    **dict.fromkeys(("long", "moderated"), "refused"),
}
#: What is wrong with an answer, as a log names it; None: no answer came.
FLAWS = {
    "prose": "json",
    "schema": "schema",
    "empty": "empty",
    "refusal": "refused",
    "filter": "refused",
    "length": "cut",
    None: "none",
}
_GOOD = "good"
_SELECT = "SELECT cell, episode, request, text, finish, faults FROM calls"


class Kept(NamedTuple):
    """A call on record."""

    episode: str
    """Its log's path in the run's folder."""
    prompt: str
    """As the server knows it."""
    answer: str | None
    """'good', or what the server did to it; None where none came."""
    faults: tuple[str, ...]
    """On the way, as in ``SEEN_AS``."""


class Ledger(NamedTuple):
    """Both sides, and where they do not agree."""

    calls: int
    given_up: int
    """Calls that no try brought an answer for."""
    faults: dict[str, tuple[int, int]]
    """On the way, at the server and on record."""
    answers: dict[str, tuple[int, int]]
    """Whole answers, at the server and on record."""
    flaws: dict[str, tuple[int, int]]
    """Answers that could not be used, on record and in the logs; those not possible in the world left out."""
    hidden: int
    """Answers that the server itself let no client see: they may be paid, and have to be asked for again."""
    lost: int
    """Prompts whose answers were delivered and are not on record."""
    twice: int
    """Answers that were delivered once more than they are on record."""
    wrong: list[str]
    """Whatever does not agree, in words."""


def kept(out: Path) -> list[Kept]:
    """Return the calls on record, in the order in which they got there."""
    with contextlib.closing(sqlite3.connect(f"file:{out / 'results.sqlite'}?mode=ro", uri=True)) as db:
        return [
            Kept(
                f"logs/{cell}/{episode:04d}.jsonl.zst",
                prompt_of(msgspec.json.decode(request, type=Request)),
                None if finish is None else _answer(text, finish),
                tuple(map(_seen, msgspec.json.decode(faults, type=list[Fault]))),
            )
            for cell, episode, request, text, finish, faults in db.execute(f"{_SELECT} ORDER BY rowid")
        ]


def prompt_of(request: Request) -> str:
    """Return the digest of a request's prompt, as the server makes it."""
    return prompt_digest((turn.role, turn.text) for turn in request.turns)


def logs(out: Path) -> dict[str, bytes]:
    """Return the bytes of all logs of a run."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("logs/*/*.zst"))}


def plays(out: Path) -> dict[str, list[bytes]]:
    """Return the records of all logs of a run, but for what the run had set out to play by then: it may have grown."""
    return {path: play_of(out / path) for path in logs(out)}


def play_of(log: Path) -> list[bytes]:
    """Return the records of a log, but for what its run had set out to play by then."""
    return [*map(encode, _unregistered(read_log(log)))]


def _unregistered(log: Iterable[Event]) -> Iterator[Event]:
    for event in log:
        is_start = isinstance(event, EpisodeStart)
        yield msgspec.structs.replace(event, registered=msgspec.UNSET) if is_start else event


def balance(stats: Mapping[str, Any], out: Path) -> Ledger:
    """Hold the server's counters against the record of a run, and that against its logs."""
    record = kept(out)
    served = {prompt: Counter(outcomes) for prompt, outcomes in stats["outcomes"].items()}
    calls: defaultdict[str, list[Kept]] = defaultdict(list)
    for call in record:
        calls[call.prompt].append(call)
    wrong: list[str] = []
    lost = twice = 0
    for prompt in sorted(served.keys() | calls.keys()):
        there, here = _whole(served.get(prompt, Counter())), Counter(c.answer for c in calls[prompt] if c.answer)
        more = max(0, there.total() - here.total())
        lost += more > 0 and not here
        twice += more - (more > 0 and not here)
        if there != here:
            wrong.append(f"{prompt}: answers {dict(there)} were delivered, {dict(here)} are on record")
        met = _met(served.get(prompt, Counter()))
        recorded = Counter(fault for call in calls[prompt] for fault in call.faults)
        if met != recorded:
            wrong.append(f"{prompt}: it met {dict(met)}, on record are {dict(recorded)}")
    total = _sum(served.values())
    if abandoned := total["abandoned"]:
        wrong.append(f"{abandoned} answers were on their way when the client left")
    flaws, untold = _logged(record, out)
    return Ledger(
        calls=len(record),
        given_up=sum(call.answer is None for call in record),
        faults=_beside(_met(total), Counter(fault for call in record for fault in call.faults)),
        answers=_beside(_whole(total), Counter(call.answer for call in record if call.answer)),
        flaws=flaws,
        hidden=sum(total[fault] for fault in HIDDEN),
        lost=lost,
        twice=twice,
        wrong=wrong + untold,
    )


def _logged(record: list[Kept], out: Path) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Return the flaws on record and in the logs, and the episodes in which the two do not agree."""
    wrong, recorded = [], Counter[str]()
    for path in logs(out):
        events = list(read_log(out / path))
        calls = [call for call in record if call.episode == path]
        said = sum(isinstance(event, LlmCall) for event in events)
        if said != len(calls):
            wrong.append(f"{path} tells of {said} calls, {len(calls)} are on record")
        asked = [event for event in events if isinstance(event, QuestionAsked)]
        counts = Counter(error.flaw for event in asked for error in event.errors if error.flaw != "intent")
        if counts != (expected := Counter(FLAWS[call.answer] for call in calls if call.answer in FLAWS)):
            wrong.append(f"{path} tells of {dict(counts)}, on record are {dict(expected)}")
        recorded.update(counts)
    if missing := {call.episode for call in record} - logs(out).keys():
        wrong.append(f"calls are on record for {len(missing)} episodes without a log")
    return _beside(Counter(FLAWS[call.answer] for call in record if call.answer in FLAWS), recorded), wrong


def _whole(outcomes: Counter[str]) -> Counter[str]:
    """Return the whole answers among outcomes."""
    counts = Counter[str]()
    for outcome, count in outcomes.items():
        if outcome in WHOLE:
            counts[outcome if outcome in FLAWED else _GOOD] += count
    return counts


def _met(outcomes: Counter[str]) -> Counter[str]:
    """Return the faults among outcomes, as a client sees them."""
    counts = Counter[str]()
    for outcome, count in outcomes.items():
        if outcome not in WHOLE and outcome != "abandoned":
            counts[SEEN_AS[outcome]] += count
    return counts


def _seen(fault: Fault) -> str:
    return fault.kind if fault.retry_after is None else f"{fault.kind}, told how long"


def _answer(text: str, finish: str) -> str:
    """Return what the server did to an answer, 'good' if nothing."""
    if finish == "length":
        return "length"
    if finish == "refused":
        return "refusal" if text else "filter"
    if not text:
        return "empty"
    if text.startswith("I would rather"):
        return "prose"
    return "schema" if text.startswith('{"unexpected"') else _GOOD


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    total = Counter[str]()
    for counter in counters:
        total.update(counter)
    return total


def _beside(one: Counter[str], other: Counter[str]) -> dict[str, tuple[int, int]]:
    return {name: (one[name], other[name]) for name in sorted(one.keys() | other.keys())}
