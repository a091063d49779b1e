"""Conformance suites: check that a world, a method or a reasoner keeps its contract. One import, one call in a test.

    from teamworld.testing import check_world

    def test_my_world() -> None:
        check_world("my_world")

Each check has a name. A suite raises one ``Nonconformance`` with a line for each check that fails.
"""

from teamworld.testing.methods import METHOD_CHECKS, check_method
from teamworld.testing.reasoners import REASONER_CHECKS, check_reasoner
from teamworld.testing.report import Nonconformance
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
