"""The failure labels: each defined once, in a line of ``labels.csv``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files
from typing import Final, NamedTuple

import msgspec


class Label(NamedTuple):
    """What a failure label means."""

    name: str
    rule: str
    """The rule in words, with its thresholds."""
    diagnoses: str
    """What the team lacks where it shows."""
    source: str
    """Where the rule comes from."""
    refines: str | None
    """The label that the same spans carry too, where this one says more."""
    is_spatial: bool
    """Found by the world, from its snapshots; not there for worlds that offer no finder."""
    needs_beliefs: bool
    """Found in logs of the level ``beliefs`` alone."""
    metrics: str | None
    """Names of the metrics that count the same, separated by commas."""


def _labels() -> Mapping[str, Label]:
    rows = csv.reader(files("teamworld.metrics.failures").joinpath("labels.csv").read_text("utf-8").splitlines()[1:])
    labels = [msgspec.convert([text or None for text in row], Label, strict=False) for row in rows]
    return {label.name: label for label in labels}


#: The labels by name, in the order in which they are listed.
LABELS: Final[Mapping[str, Label]] = _labels()
