"""Conformance suites: does a world, a method or a mind keep its contract? One import, one call in a test.

    from teamworld.testing import check_world

    def test_my_world() -> None:
        check_world("my_world")

Each check has a name; what fails is told in one line a check, all of them in one ``Nonconformance``.
"""

from teamworld.testing.findings import Nonconformance
from teamworld.testing.methods import METHOD_CHECKS, check_method
from teamworld.testing.reasoners import REASONER_CHECKS, check_reasoner
from teamworld.testing.worlds import WORLD_CHECKS, check_world

__all__ = [
    "METHOD_CHECKS",
    "REASONER_CHECKS",
    "WORLD_CHECKS",
    "Nonconformance",
    "check_method",
    "check_reasoner",
    "check_world",
]
