"""Published results of CREW-Wildfire: GPT-4o as the mind of four methods, beside doing nothing (wildfire spec A15).

Scores are means and standard deviations over seeds; which deviation, and over how many seeds, is not stated for all
levels. The tables mix parameters of 2025 and 2026, and neither maps nor seeds of the reference are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

MIND: Final = "GPT-4o"
#: The methods that the paper compares, in the order of its table.
METHODS: Final = ("camon", "coela", "embodied", "hmas2")
IDLE: Final = "do_nothing"


class Reported(NamedTuple):
    """A published final score."""

    mean: float
    sd: float | None = None
    """Standard deviation; None where only the mean is given."""

    @property
    def text(self) -> str:
        """The score as it is printed: mean ± standard deviation."""
        return f"{self.mean:.10g}" if self.sd is None else f"{self.mean:.10g} ± {self.sd:.10g}"


Scores = Mapping[str, Mapping[str, Reported]]

_NIL: Final = Reported(0)
_LOCATE: Final = Reported(-1062.67, 248.61)
_DEPLOY: Final = Reported(-729.67, 387.07)
_ORDER: Final = (*METHODS, IDLE)
#: By level, in the order of ``_ORDER``.
_FINAL: Final[Mapping[str, tuple[Reported, ...]]] = {
    "cut_trees_sparse_small": (
        Reported(18.00, 0.00), Reported(14.00, 4.18), Reported(14.60, 2.07), Reported(17.40, 0.89), _NIL,
    ),
    "cut_trees_sparse_large": (
        Reported(72.00, 4.00), Reported(57.67, 25.00), Reported(50.33, 9.00), Reported(56.33, 13.00), _NIL,
    ),
    "cut_trees_lines_small": (Reported(30, 0), Reported(30, 0), Reported(30, 0), Reported(28.00, 2.65), _NIL),
    "cut_trees_lines_large": (
        Reported(94.33, 7), Reported(83.67, 24), Reported(90.33, 1), Reported(90.33, 6), _NIL,
    ),
    "scout_fire_small": (Reported(1.60, 0.89), _NIL, Reported(0.80, 0.84), Reported(1.20, 1.10), _NIL),
    "scout_fire_large": (_NIL,) * 5,
    "transport_firefighters_small": (Reported(6, 0), Reported(3, 5), Reported(4.6, 4), Reported(4.4, 5), _NIL),
    "transport_firefighters_large": (Reported(10, 0), Reported(8.33, 5), Reported(9.33, 2), Reported(8.33, 5), _NIL),
    "rescue_civilians_known_location_small": (
        Reported(3, 0), Reported(0.67, 0.58), Reported(2.67, 0.58), Reported(2.33, 0.58), _NIL,
    ),
    "rescue_civilians_known_location_large": (Reported(4, 5), _NIL, Reported(4.33, 3), Reported(4, 2), _NIL),
    "rescue_civilians_search_and_rescue": (_NIL,) * 5,
    "rescue_civilians_search_rescue_transport": (_NIL,) * 5,
    "suppress_fire_extinguish": (
        Reported(-593.33, 196.51), Reported(-635.00, 189.65), Reported(-636.33, 193.67), Reported(-624.33, 196.92),
        Reported(-679.67, 174.91),
    ),
    "suppress_fire_contain": (
        Reported(-736.67, 200.04), Reported(-751.33, 202.60), Reported(-757.33, 177.42), Reported(-739.00, 199.96),
        Reported(-780.67, 184.50),
    ),
    "suppress_fire_locate_and_suppress": (*(_LOCATE,) * 4, Reported(-1182.67, 248.61)),
    "suppress_fire_locate_deploy_suppress": (*(_DEPLOY,) * 4, Reported(-929.67, 387.07)),
    "full_game": (
        Reported(-5571.67, 3347.06), Reported(-5516.00, 3348.81), Reported(-5539.33, 3381.69),
        Reported(-5522.67, 3358.20), Reported(-5722.67, 3330.02),
    ),
}  # fmt: skip

#: Where ``FINAL`` is from: the scoring script of the authors' laboratory, 2026.
FINAL_SOURCE: Final = "wildfire A15.1"
#: Final score by level and method.
FINAL: Final[Scores] = MappingProxyType(
    {level: MappingProxyType(dict(zip(_ORDER, row, strict=True))) for level, row in _FINAL.items()}
)

#: Where ``EARLIER`` is from: the laboratory's scripts of the time of the preprint.
EARLIER_SOURCE: Final = "wildfire A15.2"
#: Earlier figures, of the levels where they differ.
EARLIER: Final[Scores] = MappingProxyType(
    {
        level: MappingProxyType(dict(zip(METHODS, row, strict=True)))
        for level, row in {
            "cut_trees_sparse_small": (Reported(18), Reported(17, 5), Reported(14.6, 3), Reported(18)),
            "cut_trees_lines_small": (Reported(29.33, 2), Reported(27.33, 4), Reported(28.67, 4), Reported(28.67, 4)),
            "scout_fire_small": (_NIL,) * 4,
            "scout_fire_large": (_NIL, _NIL, Reported(0.67, 2), Reported(0.67, 2)),
            "rescue_civilians_known_location_small": (
                Reported(1.6, 2), _NIL, Reported(1.6, 3), Reported(1.4, 1),
            ),
        }.items()
    }
)  # fmt: skip

#: Where ``MEAN_BCS`` is from: reported by readers of the paper.
MEAN_BCS_SOURCE: Final = "wildfire A15.3"
#: Mean Behavioural Competency Score.
MEAN_BCS: Final[Mapping[str, float]] = MappingProxyType({"camon": 0.35, "hmas2": 0.32, "embodied": 0.32, "coela": 0.25})
