"""Does a reasoner keep its contract?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from teamworld.reasoning.contract import Reasoner
from teamworld.record import QuestionAsked
from teamworld.seeding import Streams
from teamworld.testing.findings import Findings
from teamworld.testing.plays import Stage, play

#: The checks by name, each with what it wants in one line.
REASONER_CHECKS: Final = {
    "name": "It has a name.",
    "answers": "It answers every question with the question's own type, or says that it cannot by BadAnswer.",
}


def check_reasoner(make: Callable[[Streams], Reasoner], methods: tuple[str, ...] = ("drwell", "zero_shot")) -> None:
    """See that a reasoner keeps the contract of reasoners, in two short episodes of rooms.

    Args:
        make: Makes the reasoner of an episode from its streams of random numbers.
        methods: The methods that ask it.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
    """
    findings = Findings("reasoner", REASONER_CHECKS, ())
    for method in methods:
        try:
            played = play(method, Stage("rooms", "two", 0, 12), {}, make, listen=True)
        except Exception as error:  # noqa: BLE001  (whatever a mind raises where it should not)
            findings.add("answers", f"{method}: {type(error).__name__}: {error}")
            continue
        for complaint in played.complaints:
            if "answered with" in complaint:
                findings.add("answers", complaint)
        if not all(event.reasoner for event in played.events if isinstance(event, QuestionAsked)):
            findings.add("name", "its name is empty")
    findings.told()
