"""Texts as tokens, counted the same on every machine, and texts that repeat earlier ones.

A token is a word (letters, digits and underscores in a row, of any script) or one other sign that is no space. That is
no provider's count: it counts the texts of all methods and reasoners alike.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

_TOKEN = re.compile(r"\w+|[^\w\s]")
#: Tokens in a row that are compared.
_RUN = 3
#: The likeness of a text that repeats another, 0.8, as a fraction: whole numbers compare exactly.
_NUM, _DEN = 4, 5


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text."""
    return _TOKEN.findall(text)


def grams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of three tokens of a text, in small letters; of a shorter one, all its tokens as one run."""
    words = tokenize(text.casefold())
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))


def is_alike(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> bool:
    """Whether the Jaccard likeness of two texts' ``grams`` is at least 0.8."""
    return _DEN * len(first & second) >= _NUM * len(first | second)


def repetitions(sent: Sequence[tuple[Hashable, str, Iterable[Hashable]]]) -> list[bool]:
    """Return of each text whether it repeats an earlier one of the same speaker to a common hearer.

    One repeats another if the Jaccard likeness of their ``grams`` is at least 0.8. Only texts that share one of
    their rarest runs are compared: two sets so alike have a common element among the ``n - ceil(0.8 n) + 1`` rarest
    of each.

    Args:
        sent: Speaker, text and hearers, in order.
    """
    texts = {text: grams(text) for text in dict.fromkeys(text for _, text, _ in sent)}
    common = Counter(gram for own in texts.values() for gram in own)
    rarest = {
        own: sorted(own, key=lambda gram: (common[gram], gram))[: len(own) - _enough(len(own)) + 1]
        for own in texts.values()
    }
    heard: defaultdict[tuple[Hashable, frozenset[tuple[str, ...]]], set[Hashable]] = defaultdict(set)
    rare: defaultdict[tuple[Hashable, tuple[str, ...]], list[frozenset[tuple[str, ...]]]] = defaultdict(list)
    repeated = []
    for speaker, text, to in sent:
        own, hearers = texts[text], set(to)
        if not hearers:
            repeated.append(False)
            continue
        mine = heard[speaker, own]
        is_repeated = bool(mine & hearers) or any(
            is_alike(own, other) and heard[speaker, other] & hearers
            for gram in rarest[own]
            for other in rare[speaker, gram]
        )
        repeated.append(is_repeated)
        if not mine:
            for gram in rarest[own]:
                rare[speaker, gram].append(own)
        mine |= hearers
    return repeated


def _enough(size: int) -> int:
    """Return the smallest overlap that a set of this size can have with one that is like it."""
    return -(-size * _NUM // _DEN)
