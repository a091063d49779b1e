"""Random number generators named by what they are for.

A stream depends on the run's seed and on its names alone, so adding a new use of
randomness never shifts an existing one, and the order of use between agents does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

#: Makes a named stream: ``streams("rules", "drwell.propose", "agent_0")``.
Streams: TypeAlias = Callable[..., np.random.Generator]


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of the stream ``names`` under ``seed``.

    Args:
        seed: The seed of the run.
        names: What the numbers are for, for example ``"layout"`` or ``"rules", kind, agent, 3``.

    Returns:
        A PCG64 generator, equal on every machine for equal arguments.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in (seed, *names):
        text = f"{type(part).__name__}:{part}".encode()
        digest.update(len(text).to_bytes(4, "little") + text)
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest.digest(), "little")))


def salted_seed(seed: int, salt: int | None, *, below: int = 2**63) -> int:
    """Return the seed itself without a salt, else another one that follows from both.

    Args:
        seed: Of a run, or of how a call is sampled.
        salt: See ``ExperimentSpec.salt``.
        below: Bound of the result.
    """
    return seed if salt is None else int(generator(seed, "salt", salt).integers(below))
