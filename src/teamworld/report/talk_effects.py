"""What messages changed: the episodes in which a team acts otherwise when nobody hears a message.

Success over these alone tells whether talk helps; in all others it was without effect, whatever it said. After the
coordination-active episodes of Kaliyev and Maryanskyy (2026, arXiv 2606.20695).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from teamworld.metrics.definition import NULL

if TYPE_CHECKING:
    from teamworld.report.comparison import Sample


class TalkEffect(NamedTuple):
    """What a method's messages changed: its episodes beside the same ones in silence."""

    method: str
    silent: str | None
    """Name of the method in silence; None where that was not run, and all that follows is unknown."""
    episodes: int = 0
    """That both played."""
    changed: int = 0
    """Of these: in which agents acted otherwise in silence."""
    solved: int | None = None
    """Of the changed: in which the method did all that was asked; None where no goals are asked for."""
    solved_in_silence: int | None = None
    """The same of the method in silence."""
    chance: int | None = None
    """Episodes in which the method's twin acted otherwise, though it was heard; None without a twin."""


def talk_effects(
    samples: Iterable[Sample], silent: Mapping[str, str], twins: Mapping[str, str], methods: Iterable[str]
) -> Iterator[TalkEffect]:
    """Yield what talk changed in the episodes of each method that sent messages.

    Args:
        samples: Measured episodes.
        silent: By method its name in silence, where that was run.
        twins: By method its twin's name, likewise.
        methods: Those that are compared.
    """
    by_method: dict[str, dict[tuple[str, str, int], Sample]] = {}
    for sample in samples:
        by_method.setdefault(sample.method, {})[sample.instance, sample.setting, sample.episode] = sample
    for method in methods:
        own = by_method.get(method, {})
        if not any(sample.values.get("messages", NULL).value for sample in own.values()):
            continue
        if (name := silent.get(method)) is None:
            yield TalkEffect(method, None)
            continue
        other = by_method[name]
        both = [place for place in own if place in other]
        changed = [place for place in both if own[place].deeds != other[place].deeds]
        twin = by_method.get(twins.get(method, ""), {})
        chance = sum(own[place].deeds != twin[place].deeds for place in both if place in twin) if twin else None
        solved, solved_in_silence = (_solved([team[place] for place in changed]) for team in (own, other))
        yield TalkEffect(method, name, len(both), len(changed), solved, solved_in_silence, chance)


def _solved(samples: Sequence[Sample]) -> int | None:
    """Return how many episodes did all that was asked; None where that was not asked in any."""
    known = [value for sample in samples if (value := sample.values.get("success", NULL).value) is not None]
    return sum(value == 1.0 for value in known) if known else None


def talk_sentences(effects: Iterable[TalkEffect]) -> Iterator[str]:
    """Yield a sentence on each method that sent messages: what they changed, and success where they did."""
    for effect in effects:
        if effect.silent is None:
            yield (
                f"{effect.method} was not run in silence: in which episodes its talk changed anything, and success in "
                "these, is not known"
            )
            continue
        if not effect.changed:
            yield f"talk of {effect.method} changed what agents did in none of {effect.episodes} episodes"
            continue
        text = f"talk of {effect.method} changed what agents did in {effect.changed} of {effect.episodes} episodes"
        if effect.solved is not None and effect.solved_in_silence is not None:
            text += (
                f"; success in these: {effect.solved} of {effect.changed}, in silence {effect.solved_in_silence} of "
                f"{effect.changed}"
            )
        if effect.chance is not None:
            text += f"; chance alone changed it in {effect.chance}"
        yield text
