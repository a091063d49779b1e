"""A language model as a reasoner: questions become requests, completions become answers, every call goes on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from teamworld.reasoning.contract import Answer, BadAnswer, Call, Flaw, Question, Rejected, Reply, Sampling
from teamworld.reasoning.llm.answers import describe_form, make_schema, read_answer
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Form, Request, Turn, is_lost, lines
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.reasoning.prompts import render
from teamworld.seeding import salted_seed

#: Characters of an answer that could not be used that its model is shown again: its end, where the answer stands.
_SHOWN = 4000
#: Sampling seeds are below: all providers take them.
_SEEDS = 2**31
#: Changed fields of ``Sampling``, by kinds of questions with wildcards: ``drwell.*``.
Overrides: TypeAlias = Mapping[str, Mapping[str, Any]]


class CallSource(Protocol):
    """Where the calls of one episode come from: the record, a cache, a provider."""

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        """Return what came of a call; once it returns, the call is on record."""


class LanguageModel:
    """Answers questions by asking a language model; one object for each episode.

    Args:
        name: As the user named it.
        form: How the answer's form is asked for.
        line: Where calls go.
        overrides: How questions are sampled otherwise than published; later ones win.
        reasoning: Whether answers begin with the model's reasoning.
        salt: Makes a sampling seed another one; None: as it is.
    """

    def __init__(
        self,
        name: str,
        form: Form,
        line: CallSource,
        overrides: Overrides = MappingProxyType({}),
        *,
        reasoning: bool = True,
        salt: int | None = None,
    ) -> None:
        self._reasoning, self._salt = reasoning, salt
        self._name = name
        self._form = form
        self.line = line
        self._overrides = overrides
        self._endpoint = parse_endpoint(name)
        self.counts: Counter[tuple[str, str]] = Counter()
        """How often it was asked, by respondent and kind of question; reasoners that take turns share theirs."""

    @property
    def name(self) -> str:
        """As the user named it."""
        return self._name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Ask the model.

        Raises:
            BadAnswer: No answer came, or none that fits the answer's model.
        """
        place = (question.respondent, question.kind)
        self.counts[place] += not tries
        key = CallKey(*place, self.counts[place], len(tries))
        request = self.request(question, tries)
        record = await self.line.call(key, request)
        call = summarize_call(record)
        if record.completion is None:
            flaw: Flaw = "lost" if is_lost(record) else "none"
            raise BadAnswer(f"no answer came ({lines(record.faults[-1:])})", flaw, call=call)
        try:
            answer: Answer = read_answer(record.completion, question.answer, self._form)  # type: ignore[assignment]
        except BadAnswer as bad:
            raise BadAnswer(str(bad), bad.rejected.flaw, record.completion.text, call) from None
        return Reply(answer, call)

    def request(self, question: Question[Answer], tries: Sequence[Rejected]) -> Request:
        """Return the request of a question: its prompt, and for each earlier try the answer and what was wrong."""
        prompt = render(question, self._reasoning)
        schema = make_schema(question.answer, bounds=self._endpoint.provider == "gguf", reasoning=self._reasoning)
        form = describe_form(
            "json" if self._form == "schema" and not self._endpoint.shows_schema else self._form, schema
        )
        turns = [Turn("system", prompt.system), Turn("user", f"{prompt.user}\n\n{form}" if form else prompt.user)]
        for bad in tries:
            if bad.text.strip():  # providers refuse a turn in which nothing stands
                turns += [Turn("assistant", bad.text[-_SHOWN:]), Turn("user", reask_text(bad))]
            elif bad.flaw not in ("none", "lost"):  # nor do all take two turns of the user in a row
                turns[-1] = Turn("user", f"{turns[-1].text}\n\n{reask_text(bad)}")
        sampling = self._sampling(question)
        return Request(
            model=self._name,
            turns=tuple(turns),
            answer=question.answer.__name__,
            schema=schema,
            form=self._form,
            **sampling._asdict(),
        )

    def _sampling(self, question: Question[Answer]) -> Sampling:
        sampling = question.sampling
        for kinds, changes in self._overrides.items():
            if fnmatchcase(question.kind, kinds):
                sampling = sampling._replace(**changes)
        if sampling.seed is not None:
            sampling = sampling._replace(seed=salted_seed(sampling.seed, self._salt, below=_SEEDS))
        return sampling


def reask_text(bad: Rejected) -> str:
    """Return what a model is told of an answer of its that could not be used."""
    return f"This answer cannot be used: {bad.complaint}\nAnswer again, in the form asked for above."


def summarize_call(record: CallRecord) -> Call:
    """Return what stands of a call in the log."""
    if record.completion is None:
        return Call(record.request.model, None, None, None, None)
    usage = record.completion.usage
    return Call(record.request.model, usage.prompt, usage.cached, usage.output, usage.reasoning)
