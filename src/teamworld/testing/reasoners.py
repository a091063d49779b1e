"""The conformance suite of reasoners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from teamworld.reasoning.contract import Reasoner
from teamworld.record import QuestionAsked
from teamworld.seeding import Streams
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.report import CheckReport

#: The checks by name, each with what it demands in one line.
REASONER_CHECKS: Final = {
    "name": "It has a name.",
    "answers": "It answers every question with the question's own type, or says that it cannot by BadAnswer.",
}


def check_reasoner(make: Callable[[Streams], Reasoner], methods: tuple[str, ...] = ("drwell", "zero_shot")) -> None:
    """Check that a reasoner keeps the contract of reasoners, in two short episodes of rooms.

    Args:
        make: Makes the reasoner of an episode from its streams of random numbers.
        methods: The methods that ask it.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
    """
    report = CheckReport("reasoner", REASONER_CHECKS, ())
    for method in methods:
        try:
            episode = play(method, Scenario("rooms", "two", 0, 12), {}, make, check_questions=True)
        except Exception as error:  # noqa: BLE001  (whatever a reasoner raises where it should not)
            report.add("answers", f"{method}: {type(error).__name__}: {error}")
            continue
        for complaint in episode.complaints:
            if "answered with" in complaint:
                report.add("answers", complaint)
        if not all(event.reasoner for event in episode.events if isinstance(event, QuestionAsked)):
            report.add("name", "its name is empty")
    report.raise_failures()
