"""The failures that worlds find have definitions, and every definition of that kind a world that finds it."""

from __future__ import annotations

from teamworld.metrics.failures import LABELS
from teamworld.worlds.cube import failures as cube
from teamworld.worlds.wildfire import goals


def test_every_rule_gives_labels_that_are_defined_as_spatial() -> None:
    names = {rule.__name__.removeprefix("find_").replace("_", "-") for rule in (*cube.RULES, *goals.RULES)}
    assert {name for name, label in LABELS.items() if label.is_spatial} == names
