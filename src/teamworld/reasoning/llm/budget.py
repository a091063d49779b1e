"""Limits on what calls may cost: dollars, tokens, or both, for a run and for each of its episodes.

Where a limit applies depends on which answers came first. So it never ends a question in its fallback or an episode
early, which would let the cost change a log and a score: it stops the run, and the record lets the run go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import CallRecord, Usage
from teamworld.reasoning.llm.expense import Expense, call_expenses

_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*(usd|tok|ktok|mtok)", re.IGNORECASE | re.ASCII)
_TOKENS = {"tok": 1, "ktok": 1000, "mtok": 1_000_000}


class OutOfBudget(UserError):
    """A limit is reached; the same command with a larger one goes on."""


class BudgetLimit(NamedTuple):
    """The most that may be spent; None where there is no limit."""

    usd: float | None = None
    tokens: int | None = None
    """Prompt and output, whatever they cost."""

    def __str__(self) -> str:
        """As ``parse_limit`` reads it; empty where nothing is limited."""
        usd = [] if self.usd is None else [f"{Decimal(repr(self.usd)):f}usd"]
        return ",".join(usd + ([] if self.tokens is None else [f"{self.tokens}tok"]))


def parse_limit(text: str) -> BudgetLimit:
    """Return the limit of a text: ``5usd``, ``2Mtok``, ``300ktok``, ``5usd,2Mtok``.

    Raises:
        UserError: It is none, is zero, or limits the same thing twice.
    """
    amounts: dict[str, Decimal] = {}
    for part in text.split(","):
        match = _AMOUNT.fullmatch(part.strip())
        if match is None:
            raise UserError(
                f"a budget is an amount such as 5usd, 300ktok, 2Mtok, or 5usd,2Mtok for both; got '{text[:80]}'"
            )
        factor = _TOKENS.get(match[2].lower())
        unit, amount = ("tokens", Decimal(int(Decimal(match[1]) * factor))) if factor else ("usd", Decimal(match[1]))
        if unit in amounts:
            raise UserError(f"a budget limits dollars once and tokens once, got '{text[:80]}'")
        if not amount:
            raise UserError(f"a budget is more than nothing, got '{text[:80]}'; 'rules' as reasoner costs nothing")
        amounts[unit] = amount
    usd, tokens = amounts.get("usd"), amounts.get("tokens")
    return BudgetLimit(None if usd is None else float(usd), None if tokens is None else int(tokens))


class UsageTotal(NamedTuple):
    """What calls took of one unit, dollars or tokens."""

    total: float = 0.0
    """As the providers counted it."""
    estimated: float = 0.0
    """Of tries that nobody counted."""
    calls: int = 0
    """Calls that took something."""

    def plus(self, other: UsageTotal) -> UsageTotal:
        """Return both together."""
        return UsageTotal(self.total + other.total, self.estimated + other.estimated, self.calls + other.calls)

    @property
    def likely(self) -> float:
        """All of it."""
        return self.total + self.estimated

    @property
    def mean(self) -> float:
        """Of a call; what was taken counts as one where none is over yet."""
        return self.likely / max(self.calls, 1)


class Spent(NamedTuple):
    """What calls took; answers from a cache of earlier runs take nothing."""

    usd: UsageTotal = UsageTotal()
    """Without calls of which no price is known."""
    tokens: UsageTotal = UsageTotal()

    def plus(self, other: Spent) -> Spent:
        """Return both together."""
        return Spent(self.usd.plus(other.usd), self.tokens.plus(other.tokens))

    @property
    def call_count(self) -> Spent:
        """What to add when a call is over that took this: one call of each unit of which it took something."""
        return Spent(*(UsageTotal(calls=int(unit.likely > 0)) for unit in self))


#: The price of tokens in USD, of a model as the user named it and as its provider did; None where none is known.
Price: TypeAlias = Callable[[str, str, Usage], float | None]


def spent_on(expense: Expense, usd: float | None) -> Spent:
    """Return what a try took of a call that may go on."""

    def total(amount: float | None) -> UsageTotal:
        return UsageTotal(amount or 0.0) if expense.counted else UsageTotal(estimated=amount or 0.0)

    return Spent(total(usd), total(expense.tokens))


def spent_by(record: CallRecord, price: Price) -> Spent:
    """Return what a call on record took, all its tries together."""
    served = record.completion.served if record.completion else ""
    total = Spent()
    for expense in call_expenses(record):
        total = total.plus(spent_on(expense, price(record.request.model, served, expense.usage)))
    if record.usd is not None and not record.cached:  # as it was when the call was made
        total = total._replace(usd=total.usd._replace(total=record.usd))
    return total.plus(total.call_count)


class Budget:
    """Watches what calls cost, and refuses the next one before a limit is passed.

    The next call and those in flight count as the mean of the calls so far. Until the first has come back there is
    no mean, and later ones may cost more than it. So a call is checked twice: where it begins to wait for its turn
    (``reserve``), and whenever it is sent (``confirm``); a limit can be passed by the calls that were sent and are not
    back, never by more. Every ``reserve`` is followed by one ``charge``, also where no completion came; what a try took
    that came to nothing is taken at once (``take``). An answer from a cache of earlier runs takes neither. What no
    provider counted counts as it is estimated, so a limit holds there too.

    Args:
        limit: The most that may be spent.
        spent: What is on record already, when a run goes on.
        what: What is limited, as a message names it.
        option: What to give a larger limit with.
        within: A budget that holds besides: the run's, for an episode's.
    """

    def __init__(
        self,
        limit: BudgetLimit,
        spent: Spent = Spent(),  # noqa: B008  (a constant)
        what: str = "the run",
        option: str = "--budget",
        within: Budget | None = None,
    ) -> None:
        self.limit = limit
        self.spent = spent
        self.flying = 0
        """Calls in flight."""
        self._what = what
        self._option = option
        self._within = within

    def reserve(self) -> None:
        """Ask before a call.

        Raises:
            OutOfBudget: It would likely pass the limit.
        """
        for budget in self._nested():
            budget._check(budget.flying)
        for budget in self._nested():
            budget.flying += 1

    def confirm(self) -> None:
        """Ask again when a call is sent: others may have taken more meanwhile than was expected.

        Raises:
            OutOfBudget: It would likely pass the limit, whatever the others in flight take.
        """
        for budget in self._nested():
            budget._check(0)

    def take(self, spent: Spent) -> None:
        """Count what a try took whose call goes on."""
        for budget in self._nested():
            budget.spent = budget.spent.plus(spent)

    def charge(self, spent: Spent) -> None:
        """Count what of a call that was reserved before is not taken yet: it is over."""
        for budget in self._nested():
            budget.flying -= 1
        self.take(spent)

    def _nested(self) -> Iterator[Budget]:
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget._within

    def _check(self, flying: int) -> None:
        for unit, limit, spent in zip(BudgetLimit._fields, self.limit, self.spent, strict=True):
            if limit is None:
                continue
            if spent.likely + (flying + 1) * spent.mean > limit:
                others = f" with {flying} call{'s'[: flying - 1]} under way" if flying else ""
                guessed = (
                    f" ({_show(spent.estimated, unit)} by estimate: nobody counted them)" if spent.estimated else ""
                )
                raise OutOfBudget(
                    f"{self._what} has spent {_show(spent.likely, unit)}{guessed} of {_show(limit, unit)}{others}, and"
                    f" a call takes about {_show(spent.mean, unit)}: give the same command with a larger {self._option}"
                    f" to go on where it stopped"
                )


def _show(amount: float, unit: str) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".") + " usd" if unit == "usd" else f"{round(amount):,} tokens"


def check_prices(limits: Iterable[BudgetLimit], models: Iterable[str], priced: Callable[[str], bool]) -> None:
    """Check before the start that limits in dollars can be kept.

    Args:
        limits: All limits of a run.
        models: All models that it asks, as the user named them.
        priced: Whether the price of a model is known.

    Raises:
        UserError: A model's price is not known.
    """
    if all(limit.usd is None for limit in limits):
        return
    unknown = [model for model in dict.fromkeys(models) if not priced(model)]
    if unknown:
        raise UserError(
            f"a budget in usd needs a price of every model, and none is known of {', '.join(unknown)}: give its prices"
            f" in a file with --prices, or a budget in tokens, such as 2Mtok"
        )
