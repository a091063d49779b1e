"""The result of a suite: one line for each check that fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from teamworld.errors import UserError, suggest

Check = TypeVar("Check", bound=Callable[..., Any])


def checks_by_name(*checks: Check) -> dict[str, Check]:
    """Return checks by their names: ``same_seed`` is the check ``same-seed``."""
    return {check.__name__.lower().replace("_", "-"): check for check in checks}


def summarise(checks: Mapping[str, Callable[..., Any]]) -> dict[str, str]:
    """Return by name what each check demands: its docstring in one line."""
    return {name: " ".join((check.__doc__ or "").split()) for name, check in checks.items()}


def is_refused(call: Callable[[], object], error: type[Exception] = UserError) -> bool:
    """Return whether a call raises an error of a kind."""
    try:
        call()
    except error:
        return True
    return False


class Nonconformance(AssertionError):
    """A contract is not kept.

    Args:
        subject: What was checked: ``world rooms``.
        failures: For each failed check what is wrong, in one line.
    """

    def __init__(self, subject: str, failures: Mapping[str, str]) -> None:
        super().__init__("\n".join(f"{subject}: {check}: {problem}" for check, problem in failures.items()))
        self.failures = dict(failures)


class CheckReport:
    """Collects the first problem that each check finds.

    Args:
        subject: What is checked.
        checks: The names of all checks.
        skip: Checks to leave out.

    Raises:
        UserError: A check to leave out does not exist.
    """

    def __init__(self, subject: str, checks: Collection[str], skip: Collection[str]) -> None:
        for name in skip:
            if name not in checks:
                raise UserError(f"there is no check '{name}' to skip{suggest(name, sorted(checks))}")
        self._subject, self._skip = subject, frozenset(skip)
        self._failures: dict[str, str] = {}

    def is_due(self, check: str) -> bool:
        """Return whether a check is neither left out nor failed yet."""
        return check not in self._skip and check not in self._failures

    def add(self, check: str, problem: str) -> None:
        """Keep a problem of a check that is due."""
        if self.is_due(check):
            self._failures[check] = " ".join(problem.split())

    def run(self, check: str, function: Callable[[Any], Iterator[str]], subject: object) -> None:
        """Keep the first problem that a check yields; an exception is a problem too."""
        if not self.is_due(check):
            return
        try:
            problem = next(function(subject), None)
        except Exception as error:  # noqa: BLE001  (whatever a world or a method raises where it should not)
            problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            self.add(check, problem)

    def raise_failures(self) -> None:
        """Raise what was found.

        Raises:
            Nonconformance: A check failed.
        """
        if self._failures:
            raise Nonconformance(self._subject, self._failures)
