"""The questions of an episode for its page: what was asked, answered and refused, and the calls on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, price_of
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Turn
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.registry import describe
from teamworld.record import Event, QuestionAsked, QuestionSkipped
from teamworld.viewer.replay_types import AnswerFlaw, PromptTurn, QuestionRow, QuestionTry
from teamworld.viewer.shared_lines import SharedLines


class PricedCall(NamedTuple):
    """A call on record, and what it cost in USD; None where no price is known."""

    record: CallRecord
    usd: float | None


#: The calls of an episode, by which question and try they were made for.
EpisodeCalls: TypeAlias = Mapping[CallKey, PricedCall]


def read_calls(folder: RunFolder, cell: RunCell, episode: int) -> dict[CallKey, PricedCall]:
    """Return the calls of an episode, priced as on record or else at what is known now; the run is only read.

    There are none where Parquet tables stand in place of the record.

    Raises:
        UserError: The record is damaged.
    """
    if not folder.results_file.exists():
        return {}
    prices = Prices.load(None)
    with CallStore(folder.results_file, readonly=True) as store:
        costs = (price_of(row, prices) for row in store.rows(cell, episode))  # both are ordered by their keys
        records = store.records(cell, episode)
        return {key: PricedCall(record, usd) for (_, key, record), usd in zip(records, costs, strict=True)}


def list_questions(
    log: Iterable[Event], calls: EpisodeCalls, *, prompts: bool = True
) -> tuple[list[QuestionRow], list[str]]:
    """Return the questions of an episode in their order, and the lines that their texts are made of.

    Args:
        log: Its events.
        calls: Those on record; none where rules answered.
        prompts: Whether to keep what was sent, and the answers as they came.
    """
    lines, counts, rows = SharedLines(), Counter[tuple[str, str]](), list[QuestionRow]()
    for event in log:
        if isinstance(event, QuestionSkipped):
            rows.append(QuestionRow(step=event.step, agent=event.agent, kind=event.purpose, skipped=event.cause))
        elif isinstance(event, QuestionAsked):
            counts[event.agent, event.purpose] += 1
            key = CallKey(event.agent, event.purpose, counts[event.agent, event.purpose], 0)
            rows.append(
                QuestionRow(
                    step=event.step,
                    agent=event.agent,
                    kind=event.purpose,
                    reasoner=_in_words(event.reasoner),
                    answer=event.answer,
                    flaws=[AnswerFlaw(flaw=error.flaw, text=error.text) for error in event.errors],
                    fallback=event.fallback,
                    tries=_tries(key, calls, lines if prompts else None),
                )
            )
    return rows, lines.lines


def _in_words(reasoner: str) -> str:
    return describe(reasoner) if reasoner.partition(":")[0] in ("rules", "human") else reasoner


def _tries(key: CallKey, calls: EpisodeCalls, lines: SharedLines | None) -> list[QuestionTry]:
    tries, before = list[QuestionTry](), tuple[Turn, ...]()
    while (made := calls.get(key._replace(attempt=len(tries)))) is not None:
        request, done = made.record.request, made.record.completion
        usage = done.usage if done else None
        is_longer = before == request.turns[: len(before)]
        kept = len(before) if is_longer else 0
        tries.append(
            QuestionTry(
                kept=kept if lines else 0,
                turns=[PromptTurn(role=turn.role, text=lines.add(turn.text)) for turn in request.turns[kept:]]
                if lines
                else [],
                text=lines.add(done.text) if lines and done else [],
                finish=done.finish if done else "",
                served=done.served if done and done.served != request.model else "",
                prompt_tokens=usage.prompt if usage else None,
                cached_tokens=usage.cached if usage else None,
                output_tokens=usage.output if usage else None,
                reasoning_tokens=usage.reasoning if usage else None,
                usd=made.usd,
                seconds=round(made.record.seconds, 2),
                cached=made.record.cached,
                faults=[f"{fault.kind}: {fault.text}" for fault in made.record.faults],
            )
        )
        before = request.turns
    return tries
