"""What the array interfaces of worlds share: the optional packages, and the checks of calls that come from learners.

Every world can be read and played without the extra ``[rl]``; only PettingZoo environments and spaces need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from teamworld.errors import UserError, brief

if TYPE_CHECKING:

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
        VectorBase, NEXT_STEP = type("VectorBase", (), {}), "NextStep"
    try:
        from pettingzoo import ParallelEnv as ParallelBase
    except ImportError as error:  # modules can be read without the extra; only making an environment needs it
        ParallelBase, _MISSING = type("ParallelBase", (), {}), error
    else:
        _MISSING = None

Info: TypeAlias = dict[str, Any]
RenderMode: TypeAlias = Literal["rgb_array", "ansi"]
RENDER_MODES: Final[tuple[RenderMode, ...]] = get_args(RenderMode)


def is_integer(value: object, least: int | None = None, most: int | None = None) -> bool:
    """Return whether a value is an integer (True and False are none) and within bounds, where there are any."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return bool((least is None or value >= least) and (most is None or value <= most))


def check_seed(seed: object, least: int | None = None) -> int:
    """Return a seed as an int.

    Raises:
        UserError: If it is not an integer, or below ``least``.
    """
    if not is_integer(seed, least):
        bound = "" if least is None else f" from {least} on,"
        raise UserError(f"seed must be an integer{bound} or None, got {brief(seed)}")
    return int(seed)  # type: ignore[call-overload, no-any-return]  # checked above


def check_pettingzoo() -> None:
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


def actions_in_order(actions: Mapping[str, Any], live: Sequence[str]) -> list[Any]:
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
