"""What the suites have to say: one line for each check that fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from teamworld.errors import UserError, suggest


class Nonconformance(AssertionError):
    """A contract is not kept.

    Args:
        what: What was checked: ``world rooms``.
        findings: For each failed check what is wrong, in one line.
    """

    def __init__(self, what: str, findings: Mapping[str, str]) -> None:
        super().__init__("\n".join(f"{what}: {check}: {found}" for check, found in findings.items()))
        self.findings = dict(findings)


class Findings:
    """Keeps the first thing that each check found.

    Args:
        what: What is checked.
        known: The names of all checks.
        skip: Checks to leave out.

    Raises:
        UserError: One to leave out does not exist.
    """

    def __init__(self, what: str, known: Collection[str], skip: Collection[str]) -> None:
        for name in skip:
            if name not in known:
                raise UserError(f"there is no check '{name}' to skip{suggest(name, sorted(known))}")
        self._what, self._skip = what, frozenset(skip)
        self._found: dict[str, str] = {}

    def due(self, check: str) -> bool:
        """Return whether a check is still to be made."""
        return check not in self._skip and check not in self._found

    def add(self, check: str, found: str) -> None:
        """Keep what a check found, unless it is left out or has found something before."""
        if self.due(check):
            self._found[check] = " ".join(found.split())

    def ask(self, check: str, look: Callable[[Any], Iterator[str]], what: object) -> None:
        """Keep the first thing that a check finds; an exception is a finding too."""
        if not self.due(check):
            return
        try:
            found = next(look(what), None)
        except Exception as error:  # noqa: BLE001  (whatever a world or a method raises where it should not)
            found = f"{type(error).__name__}: {error}"
        if found is not None:
            self.add(check, found)

    def told(self) -> None:
        """Tell what was found.

        Raises:
            Nonconformance: Something was.
        """
        if self._found:
            raise Nonconformance(self._what, self._found)
