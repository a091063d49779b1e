"""How the kernels of worlds are compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

Kernel = TypeVar("Kernel", bound="Callable[..., Any]")


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, keep the machine code on disk, and release the interpreter lock while running.

    The code is kept in ``__pycache__`` beside the source, else in the user's cache directory, or where
    ``NUMBA_CACHE_DIR`` says. If none can be written, every process compiles anew.
    """
    try:
        kernel = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = numba.njit(nogil=True)(function)
    return cast("Kernel", kernel)


#: Leave out what Python needs to call a function; numba's stubs do not know these.
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; it compiles faster than one that Python can call, too."""
    return cast("Kernel", numba.njit(nogil=True, **_INNER)(function))
