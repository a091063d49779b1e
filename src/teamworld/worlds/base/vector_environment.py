"""The base of vector environments: many episodes of one world, with Gymnasium's interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.base.array_interface import NEXT_STEP, Info, VectorBase, check_seed, is_integer

if TYPE_CHECKING:
    import numpy.typing as npt
    from gymnasium.spaces import Space

Environments = TypeVar("Environments")
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Observations: TypeAlias = "npt.NDArray[Any] | None"
VectorStep: TypeAlias = "tuple[Observations, npt.NDArray[np.float64], Flags, Flags, Info]"


def vector_metadata(name: str) -> dict[str, Any]:
    """Return the metadata of a vector environment, as Gymnasium reads it."""
    return {"name": name, "render_modes": [], "autoreset_mode": NEXT_STEP}


def make_environments(make: Callable[[int], Environments], num_envs: object, most: int, smaller: str) -> Environments:
    """Make a vector of environments.

    Args:
        make: Makes so many.
        num_envs: How many.
        most: How many there may be.
        smaller: What takes less memory, for the error message.

    Raises:
        UserError: If there cannot be so many.
    """
    if not is_integer(num_envs, 1, most):
        raise UserError(f"num_envs must be an integer from 1 to {most}, got {num_envs!r}")
    try:
        return make(int(num_envs))  # type: ignore[call-overload]  # checked above
    except MemoryError:
        raise UserError(f"{num_envs} environments do not fit into memory: take fewer, or {smaller}") from None


class TeamVectorEnv(VectorBase):
    """What vector environments share: seeds, resets and spaces; ``step`` is each world's own.

    Args:
        num_envs: Number of environments, E.
        num_agents: Number of agents of each, n.
        copy: Whether returned arrays are fresh.
    """

    spec: Any = None
    render_mode: str | None = None
    closed: bool = False

    def __init__(self, num_envs: int, num_agents: int, copy: bool) -> None:
        self.num_envs = num_envs
        self.num_agents = num_agents
        self._copy = copy
        self._has_begun = False

    # ---- what a world fills in

    @abstractmethod
    def _seed(self, env: int, seed: int) -> None:
        """Begin the stream of a seed in one environment."""

    @abstractmethod
    def _restart(self, envs: npt.NDArray[np.int32]) -> None:
        """Begin the next episode in some environments."""

    @abstractmethod
    def _observe(self) -> Observations:
        """Return what all see now."""

    def _infos(self) -> Info:
        return {}

    @abstractmethod
    def _team_action_space(self) -> Space[Any]:
        """Return what one team may do."""

    @abstractmethod
    def _team_observation_space(self) -> Space[Any]:
        """Return the space of the observations of one environment."""

    # ---- the interface

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observations, Info]:
        """Start new episodes and return their first observations and infos.

        Args:
            seed: s for the seeds s, s + 1, ...; or one seed for each environment; None to go on with the streams.
            options: ``{"reset_mask": bool array of shape (E,)}`` resets some environments and leaves the others as
                they are; nothing else is known.

        Raises:
            UserError: If a seed or an option cannot be used, or a level finds no place for what it holds.
        """
        envs = np.flatnonzero(self._reset_mask(options)).astype(np.int32)
        seeds = self._reset_seeds(seed)
        for env in envs.tolist():
            if (own_seed := seeds[env]) is not None:
                self._seed(env, own_seed)
        self._restart(envs)
        self._has_begun = True
        return self._observe(), self._infos()

    def _reset_mask(self, options: object) -> Flags:
        """Return which environments are to be reset: bool (E,)."""
        options = {} if options is None else options
        if not isinstance(options, Mapping):
            raise UserError(f"options must be a dictionary or None, got {options!r}")
        if unknown := set(options) - {"reset_mask"}:
            raise UserError(f"the only option of reset is 'reset_mask', got {sorted(map(str, unknown))}")
        mask = np.asarray(options.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise UserError(
                f"reset_mask must be a bool array of shape ({self.num_envs},) with at least one True, got {mask.dtype} "
                f"of shape {mask.shape}"
            )
        if not (self._has_begun or mask.all()):
            raise UserError("no episode has begun: call reset() without a reset_mask first")
        return mask

    def _reset_seeds(self, seed: object) -> list[int | None]:
        """Return the seed of every environment, None where its stream goes on; before streams begin, None means 0."""
        if seed is None:
            return [None] * self.num_envs if self._has_begun else [*range(self.num_envs)]
        if not (isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim)):
            first = check_seed(seed)
            return [first + env for env in range(self.num_envs)]
        seeds = [None if value is None else check_seed(value) for value in seed]
        if len(seeds) != self.num_envs:
            raise UserError(f"expected one seed for each of the {self.num_envs} environments, got {len(seeds)}")
        return seeds if self._has_begun else [env if value is None else value for env, value in enumerate(seeds)]

    def close(self, **kwargs: Any) -> None:
        """Note that the environments are no longer needed; there is nothing to close and ``kwargs`` are not used."""
        self.closed = True

    @cached_property
    def single_action_space(self) -> Space[Any]:
        """What one team may do."""
        return self._team_action_space()

    @cached_property
    def single_observation_space(self) -> Space[Any]:
        """The observations of one environment.

        Raises:
            UserError: If there are none.
        """
        return self._team_observation_space()

    @cached_property
    def action_space(self) -> Space[Any]:
        """What all teams may do."""
        return self._batched(self.single_action_space)

    @cached_property
    def observation_space(self) -> Space[Any]:
        """The observations of all environments."""
        return self._batched(self.single_observation_space)

    def _batched(self, space: Space[Any]) -> Space[Any]:
        from gymnasium.vector.utils import batch_space

        return batch_space(space, self.num_envs)
