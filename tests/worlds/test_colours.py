"""Colours of pictures keep apart for people who see colours otherwise (Machado, Oliveira and Fernandes, 2009)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from teamworld.worlds import registry

#: What linear red, green and blue look like without cones for long, for middle and for short waves (severity 1.0).
SEEN = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
#: Least difference in CIELAB of two kinds of one shape; 2.3 is just noticeable side by side.
LEAST = 8.0


def lab(colour: str, cones: str) -> npt.NDArray[np.float64]:
    """Return the CIELAB value (D65) of a colour as somebody sees it."""
    srgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    red, green, blue = np.clip(np.array(SEEN[cones]) @ linear, 0, 1)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("cones", SEEN)
@pytest.mark.parametrize(
    ("world", "level", "package"),
    [
        ("rooms", "three", None),
        ("overcooked", "cramped_room", "cogrid"),
        ("rware", "rware-tiny-2ag-v2", "rware"),
    ],
)
def test_kinds_of_one_shape_keep_apart(world: str, level: str, package: str | None, cones: str) -> None:
    if package is not None:
        pytest.importorskip(package)
    kinds = registry.make(world, level, 0, 40, {}).spec.static["kinds"]
    near = {}
    for first, other in combinations(kinds, 2):
        if kinds[first]["shape"] == kinds[other]["shape"]:
            colours = [lab(kinds[kind]["colour"], cones) for kind in (first, other)]
            near[first, other] = float(np.linalg.norm(colours[0] - colours[1]))
    assert near
    assert {pair: far for pair, far in near.items() if far < LEAST} == {}
