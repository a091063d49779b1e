"""What the array faces of worlds share: the optional packages, and the checks of calls that come from learners.

Every world can be read and played without the extra ``[rl]``; only PettingZoo environments and spaces need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from teamworld.errors import UserError

if TYPE_CHECKING:
    import numpy.typing as npt
    from gymnasium.spaces import Space

    class ParallelBase:
        """PettingZoo's parallel environment."""

    class VectorBase:
        """Gymnasium's vector environment."""

    NEXT_STEP: Any
    _MISSING: ImportError | None
else:
    try:
        from gymnasium.vector import AutoresetMode
        from gymnasium.vector import VectorEnv as VectorBase

        NEXT_STEP = AutoresetMode.NEXT_STEP
    except ImportError:  # without the extra there are no spaces, but the arrays are the same
        VectorBase, NEXT_STEP = object, "NextStep"
    try:
        from pettingzoo import ParallelEnv as ParallelBase
    except ImportError as error:  # modules can be read without the extra; only making an environment needs it
        ParallelBase, _MISSING = object, error
    else:
        _MISSING = None

RenderMode: TypeAlias = Literal["rgb_array", "ansi"]
RENDER_MODES: Final[tuple[RenderMode, ...]] = get_args(RenderMode)


def need_pettingzoo() -> None:
    """Check that a PettingZoo environment can be made.

    Raises:
        UserError: If the extra ``[rl]`` is not installed.
    """
    if _MISSING is not None:
        raise UserError(
            f"the PettingZoo interface needs packages that are not installed ({_MISSING}): "
            "run pip install 'teamworld[rl]'"
        )


def check_render_mode(mode: object) -> None:
    """Check what ``render`` is to return.

    Raises:
        UserError: If it is neither None nor one of ``RENDER_MODES``.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise UserError(
            f"render_mode must be None, 'rgb_array' or 'ansi', got {mode!r}: there is no window mode, so "
            "choose 'rgb_array' and show the arrays"
        )


def given_actions(actions: Mapping[str, Any], live: Sequence[str]) -> list[Any]:
    """Return the actions of all live agents, in their order.

    Raises:
        UserError: If it is no mapping with an action for each of them and for nobody else.
    """
    try:
        in_order = [actions[agent] for agent in live]
        complete = len(actions) == len(in_order)
    except (KeyError, TypeError, IndexError):
        complete = False
    if complete:
        return in_order
    names = list(actions) if hasattr(actions, "__iter__") else []
    missing = [agent for agent in live if agent not in names]
    unknown = [name for name in names if name not in live]
    problem = f"no action for {', '.join(missing[:3])}" if missing else f"actions for {unknown[:3]}"
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    raise UserError(f"expected a mapping with one action for each of the {len(live)} live agents, got {problem}{more}")


def reset_mask(options: Mapping[str, Any] | None, num_envs: int, begun: bool) -> npt.NDArray[np.bool_]:
    """Return which environments of a vector are to be reset: bool (E,).

    Args:
        options: Those of ``reset``.
        num_envs: E.
        begun: Whether there are episodes that could be left as they are.

    Raises:
        UserError: If an option is unknown or the mask cannot be used.
    """
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise UserError(f"options must be a dictionary or None, got {options!r}")
    if unknown := set(options) - {"reset_mask"}:
        raise UserError(f"the only option of reset is 'reset_mask', got {sorted(map(str, unknown))}")
    mask = np.asarray(options.get("reset_mask", np.ones(num_envs, np.bool_)))
    if mask.dtype != np.bool_ or mask.shape != (num_envs,) or not mask.any():
        raise UserError(
            f"reset_mask must be a bool array of shape ({num_envs},) with at least one True, got {mask.dtype} "
            f"of shape {mask.shape}"
        )
    if not (begun or mask.all()):
        raise UserError("no episode has begun: call reset() without a reset_mask first")
    return mask


def reset_seeds(seed: object, num_envs: int, begun: bool, whole: Callable[[object], int]) -> list[int | None]:
    """Return the seed of every environment of a vector, None where its stream goes on.

    Args:
        seed: s for s, s + 1, ...; or one for each; or None.
        num_envs: E.
        begun: Whether streams have begun; before that, None means 0.
        whole: Checks a seed.

    Raises:
        UserError: If a seed cannot be used, or there is not one for each environment.
    """
    if seed is None:
        return [None] * num_envs if begun else [*range(num_envs)]
    if isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim):
        seeds = [None if value is None else whole(value) for value in seed]
        if len(seeds) != num_envs:
            raise UserError(f"expected one seed for each of the {num_envs} environments, got {len(seeds)}")
        return seeds if begun else [env if value is None else value for env, value in enumerate(seeds)]
    first = whole(seed)
    return [first + env for env in range(num_envs)]


def spaces() -> Any:  # noqa: ANN401  (a module)
    """Return ``gymnasium.spaces``.

    Raises:
        UserError: If the extra ``[rl]`` is not installed.
    """
    try:
        import gymnasium.spaces
    except ImportError as error:
        raise UserError(f"spaces need Gymnasium ({error}): run pip install 'teamworld[rl]'") from None
    return gymnasium.spaces


def batched(space: Space[Any], num_envs: int) -> Space[Any]:
    """Return the space of ``num_envs`` elements of ``space``."""
    from gymnasium.vector.utils import batch_space

    return batch_space(space, num_envs)
