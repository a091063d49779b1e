"""Law of parity: a rule reads nothing but what its prompt says.

One place of a question is changed at a time: a fact that a view holds, an outcome of a history, a number, a word, an
element of a list. Where the prompt still reads the same, the rule has to answer the same, with the same random numbers;
where it does not, the rule knows something that the prompt hides.

A ``Hunt`` deals its changes out evenly over the kinds of places that questions have, and begins with the prompt, which
stops at the first line that reads otherwise: only then need no rule be asked.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from math import sqrt
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel

from teamworld.language import Action, Entity, Fact, Facts, plain, plain_names, show
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.reasoning.contract import Answer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import Prompt, render, render_pieces, tidy
from teamworld.seeding import generator
from teamworld.worlds.base.views import FactsView
from teamworld.worlds.contract import WorldSpec

#: Where a part is: the names and numbers on the way to it.
Path: TypeAlias = tuple[str | int, ...]
#: A kind of place: the names on the way to it, of facts the predicate, ``*`` for any element of a list.
Place: TypeAlias = tuple[str, ...]
#: Fields that hold what is the same for all agents of all episodes of a level, or of an episode, as the things that its
#: facts may name: no question knows more by them.
CONSTANT = frozenset({"domain", "options", "static", "headline", "world", "level", "memory", "schema"})

#: Of the changes that a prompt tells of, one in so many is put to the rule too, to see whether changes move answers.
SAMPLE = 8
#: Changes of a place, all told by prompts, after which it is changed half as often.
TOLD = 4
#: Values of earlier questions that are kept for each kind of place.
EARLIER = 12
#: The place of a change that takes a value which the same place held at another time.
EXCHANGED = "of another time"
#: How often a place is tried for a change that has not been made yet.
TRIES = 5


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
    remainder: Action | None
    steps_to_go: int | None
    since: int | None


def _read(view: FactsView[Any]) -> _Seen:
    holds = view.__dict__.get("_holds")
    if isinstance(holds, _Seen):
        return holds
    # Wildfire does not work out which of its facts an agent perceives now: all count as perceived.
    perceived, recall = (view.facts, view.recall) if len(view.facts) + len(view.recall) else (view.known, Facts())
    seen = {**view.known.seen, **recall.seen}
    running = view.remainder, view.steps_to_go, view.since
    return _Seen(tuple(perceived), tuple(recall), seen, tuple(view.history), view.t, view.steps_left, *running)


def rebuild_view(view: FactsView[Any], holds: _Seen) -> FactsView[Any]:
    """Return a view of the same agent at the same moment that holds other things.

    Whatever a world derives from facts, goals and options and words alike, is derived from these.
    """
    kind: Any = type(view)
    before = view.__dict__.get("_holds")
    made: FactsView[Any] = object.__new__(kind if before is not None else _altered(kind))
    made.__dict__.update(view.__dict__, _holds=holds)
    if before is None or any(getattr(before, name) is not getattr(holds, name) for name in ("facts", "recall", "seen")):
        facts, recall = Facts(holds.facts), Facts(holds.recall, holds.seen)
        known = Facts((*holds.facts, *holds.recall), holds.seen)
        made.__dict__["_made"] = {"facts": facts, "recall": recall, "known": known, "basis": known}
        if hasattr(kind, "state"):
            domain: Any = view._now.domain
            made.__dict__["_made"]["state"] = domain._state(known)  # as this world reads it from facts
    return made


@cache
def _altered(kind: Any) -> Any:  # noqa: ANN401  (a kind of view)
    names = ("facts", "recall", "known", "basis", *(["state"] if hasattr(kind, "state") else []))
    made = {name: property(partial(_take, "_made", itemgetter(name))) for name in names}
    held = {name: property(partial(_take, "_holds", attrgetter(name))) for name in _Seen._fields[3:]}
    return type(f"Altered{kind.__name__}", (kind,), made | held)


def _take(where: str, part: Callable[[Any], object], view: object) -> object:
    return part(view.__dict__[where])


# ---- the leaves of a question


#: Names and parts of a value.
Parts: TypeAlias = Sequence[tuple[str | int, Any]]


def _parts(value: object) -> Parts:
    """Return the parts of a value that is not a leaf; nothing for a leaf or a constant."""
    kind: Any = type(value)
    split = _splitter(kind)
    return () if split is None else split(value)


@cache
def _splitter(kind: Any) -> Callable[[Any], Parts] | None:  # noqa: ANN401  (a type of values)
    """Return what takes values of a type apart, None of a leaf; worked out once, as most values are of few types."""
    if issubclass(kind, FactsView):
        return lambda view: list(_read(view)._asdict().items())
    if issubclass(kind, Facts):
        return lambda facts: [("items", facts.items), ("seen", facts.seen)]
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return lambda value: list(zip(kind._fields, value, strict=True))
    if issubclass(kind, tuple | list):
        return lambda value: list(enumerate(value))
    if issubclass(kind, Mapping):
        return lambda value: list(enumerate(value.values()))
    if issubclass(kind, Action | Entity | Fact | BaseModel) or not dataclasses.is_dataclass(kind):
        return None
    names = [field.name for field in dataclasses.fields(kind) if field.init and field.name not in CONSTANT]
    return lambda value: [(name, getattr(value, name)) for name in names]


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
    if isinstance(value, WorldSpec) and len({*parts["agents"]}) < len(parts["agents"]):
        raise ValueError("no agent is in a team twice")
    return dataclasses.replace(value, **parts)


class _Rebuilder:
    """Rebuilds a question with another value in some places; a view that stands in it twice is rebuilt once."""

    def __init__(self, paths: Collection[Path] = (), other: object = None) -> None:
        self._paths, self._other = paths, other
        self._views: dict[int, Any] = {}

    def build(self, value: Any, path: Path = ()) -> Any:  # noqa: ANN401  (any value of a question)
        if path in self._paths:
            return self._other
        is_view = isinstance(value, FactsView)
        if is_view and id(value) in self._views:
            return self._views[id(value)]
        parts = _parts(value)
        if not parts:
            return value
        is_inside = not is_view or any(way[: len(path)] == path for way in self._paths)
        made = {name: self.build(part, (*path, name)) if is_inside else part for name, part in parts}
        same = all(made[name] is part for name, part in parts) and not (is_view and "_holds" not in value.__dict__)
        built = value if same else _with_parts(value, made)
        if is_view:
            self._views[id(value)] = built
        return built


class _ReadMarks(_Rebuilder):
    """Rebuilds a question so that it is noted which fields of it, of the knowledge in it and of views are read.

    A rule answers the same whatever stands in a field that it does not read.
    """

    def __init__(self) -> None:
        super().__init__()
        self._read: set[Path] = set()
        self._noted: set[Path] = set()
        self._at_views: set[Path] = set()

    def build(self, value: Any, path: Path = ()) -> Any:  # noqa: ANN401  (any value of a question)
        """Return the value with its readings noted."""
        is_view = isinstance(value, FactsView)
        if is_view and id(value) in self._views:
            return self._views[id(value)]
        parts = _parts(value)
        if not (is_view or (dataclasses.is_dataclass(value) and parts and hasattr(value, "__dict__"))):
            return super().build(value, path)
        kind: Any = type(value)
        made = object.__new__(_noting(kind))
        made.__dict__.update(value.__dict__)
        if is_view:
            self._views[id(value)] = made
            self._at_views.add(path)
        else:
            own = {field.name for field in dataclasses.fields(value)}
            for name in made.__dict__.keys() - own:
                del made.__dict__[name]  # what was worked out from fields is read from them again
            made.__dict__.update({name: self.build(part, (*path, name)) for name, part in parts})
        made.__dict__.update(_path=path, _read=self._read)
        self._noted.update((*path, name) for name, _ in parts)
        return made

    def is_read(self, path: Path) -> bool:
        """Return whether all noted fields on the way to a place were read; there may be other ways to a view."""
        ways = [path[:end] for end in range(1, len(path) + 1)]
        start = max((len(way) for way in ways if way in self._at_views), default=0)
        return all(way in self._read for way in ways[start:] if way in self._noted)


#: Which parts of a view are read with an attribute of another name.
_BEHIND: Mapping[str, Sequence[str]] = {
    "known": ("facts", "recall", "seen"),
    "basis": ("facts", "recall", "seen"),
    "state": ("facts", "recall", "seen"),
    "recall": ("recall", "seen"),
}


@cache
def _noting(kind: Any) -> Any:  # noqa: ANN401  (the class of a question, of knowledge or of a view)
    def note(self: object, name: str) -> Any:  # noqa: ANN401  (any attribute)
        if not name.startswith("__"):
            inner = object.__getattribute__(self, "__dict__")
            if "_read" in inner:
                inner["_read"].update((*inner["_path"], part) for part in _BEHIND.get(name, (name,)))
        return object.__getattribute__(self, name)

    return type(kind.__name__, (kind,), {"__getattribute__": note})


def _walk(value: object, met: set[int], path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield every part of a value and where it is, each view once."""
    if isinstance(value, FactsView):
        if id(value) in met:
            return
        met.add(id(value))
    yield path, value
    for name, part in _parts(value):
        yield from _walk(part, met, (*path, name))


class _Known:
    """What stands in a question more than once: all changes in all places, as it does in the world.

    Args:
        base: The question.
    """

    def __init__(self, base: object) -> None:
        parts = list(_walk(base, set()))
        self._knowledge = [(path, part) for path, part in parts if isinstance(part, AgentKnowledge)]
        self._views = [path for path, part in parts if isinstance(part, FactsView)]
        self._rules = "\n".join(dict.fromkeys(part.rules for _, part in parts if isinstance(part, WorldSpec)))
        alike = dict.fromkeys(
            part for _, part in parts if isinstance(part, str | Entity | Action | Fact) and part != ""
        )
        self.pool: Mapping[type, Sequence[Any]] = {
            of: [part for part in alike if isinstance(part, of)] for of in (str, Entity, Action, Fact)
        }
        """The words, things, actions and facts in the question, each once; no name or reason is an empty word."""

    def list_places(self, path: Path) -> Sequence[Path]:
        """Return where the same stands: what one agent knows may be given in several places, the time in all views."""
        if path[-1] in ("t", "steps_left") and path[:-1] in self._views:
            return [(*view, path[-1]) for view in self._views]
        for start, own in self._knowledge:
            if path[: len(start)] == start and len(path) > len(start):
                field, rest = str(path[len(start)]), path[len(start) :]
                same = [where for where, other in self._knowledge if self._is_twin(own, other, field)]
                return [(*where, *rest) for where in same]
        return [path]

    @staticmethod
    def _is_twin(own: AgentKnowledge, other: AgentKnowledge, field: str) -> bool:
        is_same = own is other or (own.agent == other.agent and hasattr(other, field))
        return is_same and bool(getattr(own, field) == getattr(other, field))

    def is_common(self, value: object) -> bool:
        """Return whether a value is a fact that the rules of the world tell, so that it is the same for everybody."""
        return isinstance(value, Fact) and plain(f"{show(value.subject)} {show(value.value)}") in self._rules


class _Spot(NamedTuple):
    """A part of a question that can be changed, as one of a kind of place."""

    path: Path
    value: Any
    at: int | None = None
    """The element that is to be left out; None for a change of the whole."""


def _spots(value: Any, path: Path, place: Place, met: set[int]) -> Iterator[tuple[Place, _Spot]]:  # noqa: ANN401
    """Yield all that can be changed in a value, by kinds of places; each view once."""
    if isinstance(value, FactsView):
        if id(value) in met:
            return
        met.add(id(value))
    parts = [(name, part) for name, part in _parts(value) if path or name != "respondent"]
    kind: Any = type(value)
    is_list = _is_list(kind)
    if path and not (is_list and not value) and not isinstance(value, FactsView | Facts) and (is_list or not parts):
        if is_list:
            labels = list(_labels(value))
            for at, label in enumerate(labels):
                yield (*place, label, "left out"), _Spot(path, value, at)
            # How actions ended is told in the order of time: no other order can be.
            if len(labels) > 1 and not isinstance(value, Mapping) and place[-1] != "history":
                yield (*place, "order"), _Spot(path, value)
        else:
            yield place, _Spot(path, value)
    if path and isinstance(path[-1], str) and _is_plain(value):
        yield (*place, EXCHANGED), _Spot(path, value)
    labels = list(_labels(value)) if is_list else [str(name) for name, _ in parts]
    for label, (name, part) in zip(labels, parts, strict=True):
        yield from _spots(part, (*path, name), (*place, label), met)


@cache
def _is_list(kind: Any) -> bool:  # noqa: ANN401  (a type of values)
    return issubclass(kind, Mapping) or (issubclass(kind, tuple | list) and not hasattr(kind, "_fields"))


def _labels(value: Any) -> Iterator[str]:  # noqa: ANN401  (a list or a mapping of a question)
    """Yield what kind of element each is: of facts the predicate; the last of a list apart, as it is read most."""
    last = len(value) - 1 if not isinstance(value, Mapping) and len(value) > 1 else None
    for at, element in enumerate(value):
        yield element.predicate if isinstance(element, Fact) else "last" if at == last else "*"


def _is_plain(value: object) -> bool:
    """Return whether a value stands for itself at any time: nothing in it reads a view."""
    return not any(isinstance(part, FactsView | Facts) or callable(part) for _, part in _walk(value, set()))


# ---- changes


#: Another value, and the change in words.
Change: TypeAlias = tuple[Any, str]


def _leave_out(value: Any, at: int) -> Change:  # noqa: ANN401  (a list or a mapping of a question)
    dropped = list(value)[at]
    words = f"without {str(dropped)[:80]}"
    if isinstance(value, Mapping):
        return {key: part for key, part in value.items() if key != dropped}, words
    return type(value)([*value[:at], *value[at + 1 :]]), words


def _changes(value: object, pool: Mapping[type, Sequence[Any]], rng: np.random.Generator) -> Change | None:
    """Return another value of the same form, and the change in words; None where there is none."""
    if isinstance(value, bool):
        return not value, f"{value} -> {not value}"
    if isinstance(value, int | float | np.integer):
        by = (1, -1, 2, 5, -5)[int(rng.integers(5))]
        other = type(value)(value + by)
        return (other, f"{value} -> {other}") if other >= 0 else None
    if isinstance(value, str | Entity | Action):
        others = [candidate for candidate in pool.get(type(value), ()) if plain(candidate) != plain(value)]
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
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        at, to = (int(place) for place in rng.choice(len(value), 2, replace=False))
        swapped = list(value)
        swapped[at], swapped[to] = swapped[to], swapped[at]
        return type(value)(swapped), f"{at} and {to} swapped"
    return None


def _at_home(value: Any, beside: Any) -> Any:  # noqa: ANN401  (any value of a question)
    """Return a value of another episode with what is constant in the episode of the value that it replaces."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type) or type(value) is not type(beside):
        return value
    kept = {field.name: getattr(beside, field.name) for field in dataclasses.fields(value) if field.name in CONSTANT}
    return dataclasses.replace(value, **kept) if kept else value


class Tally(NamedTuple):
    """What came of changing a question many times."""

    contexts: int
    """Changed questions, each once."""
    untold: int
    """Of these, those that read the same: the rule has to answer the same."""
    asked: int
    """Of these, those that the rule was asked: all that read the same, and a sample of the others."""
    moved: int
    """Of the questions that the rule was asked, those that it answered otherwise."""
    leaks: tuple[Leak, ...]


class _Context(NamedTuple):
    """What came of one change."""

    is_untold: bool
    is_asked: bool
    is_moved: bool
    leak: Leak | None


class Hunt:
    """Changes questions place by place, so that each kind of place of a kind of question gets its share.

    Places in which many parts stand get more, by the root of their number. Places of which the prompts tell every
    change get half, as no rule can hide anything there.

    Args:
        rng: Draws the parts and their changes.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.questions: Counter[str] = Counter()
        """That were asked, by kind; so are all counts."""
        self.contexts: Counter[str] = Counter()
        self.untold: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.moved: Counter[str] = Counter()
        self.leaks: list[Leak] = []
        self._rng = rng
        self._tried: Counter[tuple[str, Place]] = Counter()
        self._told: Counter[str] = Counter()
        self._untold: Counter[tuple[str, Place]] = Counter()
        self._earlier: defaultdict[tuple[str, Place], list[Any]] = defaultdict(list)
        self._met: set[tuple[int, Path, str]] = set()
        self._answers: dict[tuple[str, Prompt], tuple[int, str]] = {}

    def changed_places(self, kind: str) -> Mapping[Place, int]:
        """Return how often each kind of place of a kind of question was changed."""
        return {place: count for (of, place), count in self._tried.items() if of == kind}

    def check(self, question: Question[Any], changes: int) -> Tally:
        """Change a question in one place, so many times, and compare the prompts and the rule's answers.

        Raises:
            ValueError: The question does not have one prompt.
        """
        kind, base, marks = question.kind, _Rebuilder().build(question), _ReadMarks()
        answer, prompt = _answer(marks.build(base)), render(base)
        if not has_prompt(base, prompt):
            raise ValueError(f"{kind}: two prompts of one question differ")
        number, before = self._answers.setdefault((kind, prompt), (len(self._answers), str(answer)))
        leaks = [] if before == str(answer) else [Leak(kind, (), "at another time", (before[:300], str(answer)[:300]))]
        known = _Known(base)
        spots = self._sort_spots(kind, base, marks, known)
        contexts = [
            context
            for place, path, change in islice(self._draw(kind, spots, known.pool, number), changes)
            if (context := self._compare(base, place, known.list_places(path), change, answer, prompt)) is not None
        ]
        leaks += (context.leak for context in contexts if context.leak is not None)
        untold, asked, moved = (sum(map(itemgetter(at), contexts)) for at in range(3))
        tally = Tally(len(contexts), untold, asked, moved, tuple(leaks))
        self.contexts[kind] += tally.contexts
        self.untold[kind] += tally.untold
        self.asked[kind] += tally.asked
        self.moved[kind] += tally.moved
        self.leaks += leaks
        return tally

    def _sort_spots(
        self, kind: str, base: Question[Any], marks: _ReadMarks, known: _Known
    ) -> Mapping[Place, Sequence[_Spot]]:
        spots: defaultdict[Place, list[_Spot]] = defaultdict(list)
        for place, spot in _spots(base, (), (), set()):
            element = spot.value if spot.at is None else list(spot.value)[spot.at]
            if any(map(marks.is_read, known.list_places(spot.path))) and not known.is_common(element):
                spots[place].append(spot)
            earlier = self._earlier[kind, place]
            if place[-1] == EXCHANGED and all(spot.value != value for value in earlier):
                earlier.append(spot.value)
                del earlier[:-EARLIER]
        return {of: all_of for of, all_of in spots.items() if of[-1] != EXCHANGED or len(self._earlier[kind, of]) > 1}

    def _draw(
        self, kind: str, spots: Mapping[Place, Sequence[_Spot]], pool: Mapping[type, Sequence[Any]], base: int
    ) -> Iterator[tuple[Place, Path, Change]]:
        """Yield changes that were not made before, each of the kind of place that is furthest behind."""
        left = dict.fromkeys(spots, TRIES)
        while left:
            place = min(left, key=lambda place: self._share(kind, place, len(spots[place])))
            self._tried[kind, place] += 1
            spot = spots[place][int(self._rng.integers(len(spots[place])))]
            change = self._make(kind, place, spot, pool)
            if change is not None and (base, spot.path, change[1]) not in self._met:
                self._met.add((base, spot.path, change[1]))
                left[place] = TRIES
                yield place, spot.path, change
            else:
                left[place] -= 1
                if not left[place]:
                    del left[place]

    def _compare(
        self,
        base: Question[Any],
        place: Place,
        paths: Sequence[Path],
        change: Change,
        answer: BaseModel,
        prompt: Prompt,
    ) -> _Context | None:
        """Return what came of a change; None if it made what cannot be."""
        other, words = change
        try:
            changed = _Rebuilder(paths, other).build(base)
            is_untold = has_prompt(changed, prompt)
            self._told[base.kind] += not is_untold
            is_asked = is_untold or self._told[base.kind] % SAMPLE == 0
            after = _answer(changed) if is_asked else answer
        except Exception:  # noqa: BLE001  (two agents on one cell, an unknown name)
            return None
        self._untold[base.kind, place] += is_untold
        is_moved = after != answer
        answers = str(answer)[:300], str(after)[:300]
        leak = Leak(base.kind, paths[0], words, answers) if is_untold and is_moved else None
        return _Context(is_untold, is_asked, is_moved, leak)

    def _share(self, kind: str, place: Place, number: int) -> float:
        """Return how often a kind of place was changed, as a share of what it needs."""
        tried = self._tried[kind, place]
        is_told = tried >= TOLD and not self._untold[kind, place]
        return tried / sqrt(number) * (2 if is_told else 1)

    def _make(self, kind: str, place: Place, spot: _Spot, pool: Mapping[type, Sequence[Any]]) -> Change | None:
        if spot.at is not None:
            return _leave_out(spot.value, spot.at)
        if place[-1] != EXCHANGED:
            return _changes(spot.value, pool, self._rng)
        others = [value for value in self._earlier[kind, place] if value != spot.value]
        if not others:
            return None
        other = _at_home(others[int(self._rng.integers(len(others)))], spot.value)
        return other, f"{str(spot.value)[:80]} -> {str(other)[:80]}"


def check_parity(question: Question[Any], rng: np.random.Generator, changes: int) -> Tally:
    """Change a question in one place, so many times, and compare the prompts and the rule's answers."""
    return Hunt(rng).check(question, changes)


def _answer(question: Question[Any]) -> BaseModel:
    answer: BaseModel = question.rule(generator(0, "testing", "parity"))
    return answer


def has_prompt(question: Question[Any], prompt: Prompt) -> bool:
    """Return whether a prompt is that of a question; rendering stops at the first line in which they differ."""
    parts = zip(render_pieces(question), prompt, strict=True)
    return all(_reads(pieces, text) for pieces, text in reversed([*parts]))  # what is the case now differs more often


def _reads(pieces: Iterator[str], expected: str) -> bool:
    lines, last = (line.strip() for line in expected.split("\n") if line.strip()), ""
    whole = []
    for piece in pieces:
        whole.append(piece)
        *ended, last = (last + piece).split("\n")
        if any(plain_names(line).strip() != next(lines, None) for line in ended if line.strip()):
            return False
    return tidy("".join(whole)) == expected


class Pace(NamedTuple):
    """How often questions of a kind are changed."""

    changes: int
    """Of a question."""
    every: int = 1
    """One in so many questions is changed."""


class ParityMonitor:
    """A reasoner that passes questions on and changes each on the way.

    Args:
        inner: The reasoner that answers.
        changes: How often each question is changed.
        enough: Contexts of a kind after which it is let be, those of the hunt so far included.
        hunt: That of earlier episodes, which is gone on with.
        paces: Of kinds that are changed more often or less.
    """

    def __init__(
        self,
        inner: Reasoner,
        changes: int,
        enough: int | Mapping[str, int],
        hunt: Hunt | None = None,
        paces: Mapping[str, Pace] = MappingProxyType({}),
    ) -> None:
        self._inner, self._enough = inner, enough
        self._pace, self._paces = Pace(changes), paces
        self.hunt = Hunt(generator(0, "testing", "parity", "changes")) if hunt is None else hunt

    @property
    def name(self) -> str:
        """That of the reasoner."""
        return self._inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Change the question, then pass it on."""
        kind, pace = question.kind, self._paces.get(question.kind, self._pace)
        left = (self._enough if isinstance(self._enough, int) else self._enough[kind]) - self.hunt.contexts[kind]
        if left > 0 and self.hunt.questions[kind] % pace.every == 0:
            self.hunt.check(question, min(pace.changes, left))
        self.hunt.questions[kind] += 1
        return await self._inner.ask(question, tries)
