"""Law of parity: a rule reads nothing but what its prompt says.

One leaf of a question is changed at a time: a fact that a view holds, an outcome of a history, a number, a word, an
element of a list. If the rule then answers otherwise, with the same random numbers, the prompt has to read otherwise
too; where it does not, the rule knows something that the prompt hides.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel

from teamworld.language import Action, Entity, Fact, Facts, plain
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.reasoning.contract import Answer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.seeding import generator
from teamworld.worlds.base.views import FactsView

#: Where a leaf is: the names and places on the way to it.
Path: TypeAlias = tuple[str | int, ...]
#: Fields that hold what is the same for all agents of all episodes of a level: no question knows more by them.
CONSTANT = frozenset({"domain", "options", "static", "headline", "world", "level", "memory"})

#: How much more often than others those parts are changed on which most depends.
WEIGHTS: Mapping[str, int] = {
    **{"views": 4, "facts": 6, "recall": 3, "history": 6, "items": 4},
    **{"status": 4, "reason": 4, "action": 2},
}
#: How often a list itself is changed, not one of its elements.
STOP = 0.3


class Leak(NamedTuple):
    """A change that moved the rule's answer and left the prompt as it was."""

    kind: str
    path: Path
    change: str
    answers: tuple[str, str]
    """Before and after."""

    def __str__(self) -> str:
        """Return the finding in a line."""
        return f"{self.kind}: {'.'.join(map(str, self.path))} {self.change}: {self.answers[0]} -> {self.answers[1]}"


class _Seen(NamedTuple):
    """What a view holds, as plain values."""

    facts: tuple[Fact, ...]
    recall: tuple[Fact, ...]
    seen: Mapping[Fact, int]
    history: tuple[Any, ...]
    t: int
    steps_left: int


def _read(view: FactsView[Any]) -> _Seen:
    # Wildfire does not work out which of its facts an agent perceives now: all count as perceived.
    perceived, recall = (view.facts, view.recall) if len(view.facts) + len(view.recall) else (view.known, Facts())
    seen = {**view.known.seen, **recall.seen}
    return _Seen(tuple(perceived), tuple(recall), seen, tuple(view.history), view.t, view.steps_left)


def rebuild_view(view: FactsView[Any], holds: _Seen) -> FactsView[Any]:
    """Return a view of the same agent at the same moment that holds other things.

    Whatever a world derives from facts, goals and options and words alike, is derived from these.
    """
    facts, recall = Facts(holds.facts), Facts(holds.recall, holds.seen)
    known = Facts((*holds.facts, *holds.recall), holds.seen)
    parts: dict[str, Any] = {
        **{"facts": facts, "recall": recall, "known": known, "basis": known},
        **{"history": holds.history, "t": holds.t, "steps_left": holds.steps_left},
    }
    kind = type(view)
    if hasattr(kind, "state"):
        domain: Any = view._now.domain
        parts["state"] = domain._state(known)  # as this world reads it from facts
    altered = type(f"Altered{kind.__name__}", (kind,), {name: _constant(value) for name, value in parts.items()})
    made: FactsView[Any] = object.__new__(altered)
    made.__dict__.update(view.__dict__)
    return made


def _constant(value: object) -> property:
    return property(lambda _: value)


# ---- the leaves of a question


def _parts(value: object) -> Sequence[tuple[str | int, Any]]:
    """Return the parts of a value that is not a leaf; nothing for a leaf or a constant."""
    if isinstance(value, FactsView):
        return list(_read(value)._asdict().items())
    if isinstance(value, Facts):
        return [("items", value.items), ("seen", dict(value.seen))]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(name, getattr(value, name)) for name in value._fields]
    if isinstance(value, tuple | list):
        return list(enumerate(value))
    if isinstance(value, Mapping):
        return [(at, value[key]) for at, key in enumerate(value)]
    if isinstance(value, Action | Entity | Fact | BaseModel):
        return []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value) if field.init)
        return [(name, getattr(value, name)) for name in fields if name not in CONSTANT]
    return []


def _with_parts(value: Any, parts: Mapping[Any, Any]) -> Any:  # noqa: ANN401  (any value of a question)
    """Return a value with other parts."""
    if isinstance(value, FactsView):
        return rebuild_view(value, _Seen(**parts))
    if isinstance(value, Facts):
        return Facts(parts["items"], parts["seen"])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(**parts)
    if isinstance(value, tuple | list):
        return type(value)(parts.values())
    if isinstance(value, Mapping):
        return dict(zip(value, parts.values(), strict=True))
    if isinstance(value, AgentKnowledge) and value.scene is not None and parts["scene"] == value.view.text():
        parts = {**parts, "scene": parts["view"].text()}  # the rules put a view in the world's own words
    return dataclasses.replace(value, **parts)


class _Rebuilder:
    """Rebuilds a question with one change; a view that stands in it twice changes in both places."""

    def __init__(self, path: Path = (), change: Callable[[Any], Any] | None = None) -> None:
        self._path, self._change = path, change
        self._views: dict[int, Any] = {}

    def build(self, value: Any, path: Path = ()) -> Any:  # noqa: ANN401  (any value of a question)
        if path == self._path and self._change is not None:
            return self._change(value)
        is_view = isinstance(value, FactsView)
        if is_view and id(value) in self._views:
            return self._views[id(value)]
        parts = _parts(value)
        if not parts:
            return value
        made = {name: self.build(part, (*path, name)) for name, part in parts}
        same = all(made[name] is part for name, part in parts)
        built = value if same and not is_view else _with_parts(value, made)
        if is_view:
            self._views[id(value)] = built
        return built


def _walk(value: object, met: set[int]) -> Iterator[object]:
    """Yield every part of a value, each view once."""
    if isinstance(value, FactsView):
        if id(value) in met:
            return
        met.add(id(value))
    yield value
    for _, part in _parts(value):
        yield from _walk(part, met)


def _pick(value: Any, rng: np.random.Generator) -> tuple[Path, Any]:  # noqa: ANN401  (any value of a question)
    """Draw a part of a value, level by level, so that the many facts of a view are not all that is ever changed."""
    path: Path = ()
    while parts := [(name, part) for name, part in _parts(value) if path or name != "respondent"]:
        if isinstance(value, tuple | list | Mapping) and not hasattr(value, "_fields") and rng.random() < STOP:
            break
        weights = np.array([WEIGHTS.get(str(name), 1) for name, _ in parts], float)
        weights[-1] *= 2  # what came last is read most
        name, value = parts[int(rng.choice(len(parts), p=weights / weights.sum()))]
        path = (*path, name)
    return path, value


# ---- changes


def _changes(value: object, pool: Mapping[type, Sequence[Any]], rng: np.random.Generator) -> Any:  # noqa: ANN401
    """Return another value of the same form, and the change in words; None where there is none."""
    if isinstance(value, bool):
        return not value, f"{value} -> {not value}"
    if isinstance(value, int | float | np.integer):
        by = (1, -1, 2, 5, -5)[int(rng.integers(5))]
        other = type(value)(value + by)
        return (other, f"{value} -> {other}") if other >= 0 else None
    if isinstance(value, str | Entity | Action):
        others = [candidate for candidate in pool[type(value)] if plain(candidate) != plain(value)]
        if not others:
            return None
        other = others[int(rng.integers(len(others)))]
        return other, f"{value} -> {other}"
    if isinstance(value, Fact):
        alike = [fact.value for fact in pool[Fact] if fact.predicate == value.predicate and fact.value != value.value]
        if isinstance(value.value, tuple) and rng.random() < 0.5:
            alike = [(value.value[0] + int(rng.integers(-2, 3)), value.value[1] + int(rng.integers(-2, 3)))]
        if not alike:
            return None
        fact = Fact(value.subject, value.predicate, alike[int(rng.integers(len(alike)))])
        return fact, f"{value} -> {fact}"
    if isinstance(value, tuple | list) and not hasattr(value, "_fields") and value:
        at = int(rng.integers(len(value)))
        if rng.random() < 0.7 or len(value) == 1:
            return type(value)([*value[:at], *value[at + 1 :]]), f"without {str(value[at])[:80]}"
        to = int(rng.integers(len(value)))
        swapped = list(value)
        swapped[at], swapped[to] = swapped[to], swapped[at]
        return type(value)(swapped), f"{at} and {to} swapped"
    if isinstance(value, Mapping) and value:
        dropped = list(value)[int(rng.integers(len(value)))]
        return {key: part for key, part in value.items() if key != dropped}, f"without {str(dropped)[:80]}"
    return None


class Tally(NamedTuple):
    """What came of changing a question many times."""

    contexts: int
    """Changed questions that a rule could answer."""
    moved: int
    """Of these, those that the rule answered otherwise."""
    leaks: tuple[Leak, ...]


def check_parity(question: Question[Any], rng: np.random.Generator, changes: int) -> Tally:
    """Change a question in one place, so many times, and compare the rule's answers and the prompts."""
    base = _Rebuilder().build(question)
    answer, prompt = _answer(base), render(base).text
    pool: dict[type, list[Any]] = defaultdict(list)
    for part in _walk(base, set()):
        if isinstance(part, str | Entity | Action | Fact) and part not in pool[type(part)]:
            pool[type(part)].append(part)
    contexts, moved, leaks = 0, 0, list[Leak]()
    for _ in range(changes):
        path, part = _pick(base, rng)
        change = _changes(part, pool, rng)
        if change is None:
            continue
        other, words = change
        try:
            changed = _Rebuilder(path, partial(_take, other)).build(base)
            after = _answer(changed)
            hidden = after != answer and render(changed).text == prompt
        except Exception:  # noqa: BLE001  (a change may make what cannot be: two agents on one cell, an unknown name)
            continue
        contexts += 1
        moved += after != answer
        if hidden:
            leaks.append(Leak(question.kind, path, words, (str(answer)[:300], str(after)[:300])))
    return Tally(contexts, moved, tuple(leaks))


def _take(other: object, _: object) -> object:
    return other


def _answer(question: Question[Any]) -> BaseModel:
    answer: BaseModel = question.rule(generator(0, "testing", "parity"))
    return answer


class ParityMonitor:
    """A reasoner that passes questions on and changes each on the way.

    Args:
        inner: The reasoner that answers.
        changes: How often each question is changed.
        enough: Contexts of a kind after which it is let be.
    """

    def __init__(self, inner: Reasoner, changes: int, enough: int) -> None:
        self._inner, self._changes, self._enough = inner, changes, enough
        self._rng = generator(0, "testing", "parity", "changes")
        self.contexts: Counter[str] = Counter()
        self.moved: Counter[str] = Counter()
        self.leaks: list[Leak] = []

    @property
    def name(self) -> str:
        """That of the reasoner."""
        return self._inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Change the question, then pass it on."""
        if self.contexts[question.kind] < self._enough:
            tally = check_parity(question, self._rng, self._changes)
            self.contexts[question.kind] += tally.contexts
            self.moved[question.kind] += tally.moved
            self.leaks += tally.leaks
        return await self._inner.ask(question, tries)
