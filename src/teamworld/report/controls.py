"""Equal means: one reasoner that plans for all bodies, on the tokens that a team took on the same instance.

After arXiv 2604.02460: a team of agents that reason costs more than one, so it has to beat one that may spend as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from teamworld.report.comparison import Sample


class ControlUse(NamedTuple):
    """What a control took of the tokens of its team."""

    method: str
    """The team's."""
    control: str
    episodes: int
    limit: int
    """Tokens that the team took in these."""
    taken: int
    """By the control."""

    @property
    def ratio(self) -> float | None:
        """Which share of the team's tokens the control took; None where the team took none."""
        return self.taken / self.limit if self.limit else None


def control_uses(samples: Iterable[Sample], controls: Mapping[str, str]) -> Iterator[ControlUse]:
    """Yield what each control took that had a limit.

    Args:
        samples: Measured episodes.
        controls: By method the name of its control, where that was run.
    """
    limited = [sample for sample in samples if sample.tokens is not None]
    for method, control in controls.items():
        counts = [sample.tokens for sample in limited if sample.method == control and sample.tokens is not None]
        if counts:
            limit, taken = (sum(count[at] for count in counts) for at in (0, 1))
            yield ControlUse(method, control, len(counts), limit, taken)


def control_sentences(uses: Iterable[ControlUse]) -> Iterator[str]:
    """Yield a sentence on what each control took."""
    for use in uses:
        if use.ratio is not None:
            where = f"{use.episodes} episode{'s'[: use.episodes - 1]}"
            yield (
                f"{use.control} plans for all bodies on the tokens of {use.method}: it took {use.ratio:.2f} of them "
                f"({use.taken:,} of {use.limit:,} in {where}; of rules the words and other characters of prompts and "
                "answers as they would be sent, of language models what their providers counted)"
            )
