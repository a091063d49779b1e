"""Tokens that the questions of an episode may take: equal means for methods that ask differently often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class TokenAllowance:
    """What the questions of an episode may take, and what they took so far.

    Args:
        limit: Tokens at most, prompts and answers.
        steps: Steps of the episode over which they are spread.
    """

    limit: int
    steps: int
    taken: int = 0
    """Tokens that were taken."""
    asked: int = 0
    """Answers that they were taken for, unusable ones among them."""

    def take(self, tokens: int) -> None:
        """Count an answer."""
        self.taken += tokens
        self.asked += 1

    def affords(self) -> bool:
        """Return whether one more question of the mean size fits; before the first, whether there is anything."""
        return self.limit > 0 and self.taken + self._mean <= self.limit

    def affords_step(self, step: int) -> bool:
        """Return whether one more fits into what is due by the end of a step, if tokens are spread evenly."""
        return self.affords() and self.taken + self._mean <= self.limit * min(1.0, (step + 1) / max(1, self.steps))

    @property
    def _mean(self) -> float:
        return self.taken / self.asked if self.asked else 0.0
