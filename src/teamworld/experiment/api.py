"""Running experiments from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from teamworld import plugins
from teamworld.errors import UserError, brief
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run as run_experiment
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.remote import local_folder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.methods import registry as methods
from teamworld.methods.contract import Method
from teamworld.reasoning.registry import RESERVED
from teamworld.worlds import registry as worlds


def register(name: str, thing: type | object) -> None:
    """Give a world, a method or a reasoner of your own a short name in this process.

    Records hold where it is defined, as ``MODULE:NAME``, so that other processes find it without the short name.

    Args:
        name: Lower-case letters, digits and ``_``, as names of the package's own worlds and methods are.
        thing: The class or module, see ``teamworld.worlds.registry``, ``teamworld.methods.registry`` and
            ``teamworld.reasoning.registry``.

    Raises:
        UserError: The name cannot be used, or is that of something else.
    """
    if name in {*worlds.names(), *methods.names(), *RESERVED}:
        raise UserError(f"'{name}' is a name of a world, method or reasoner that is installed: choose another")
    text = plugins.name_of(thing)
    if isinstance(thing, type) and issubclass(thing, Method):
        methods.method_class(text)
    elif hasattr(thing, "LEVELS"):
        worlds.module(text)
    plugins.register(name, text)


def run(
    world: str | ExperimentSpec | object = "cube",
    *,
    method: str | type[Method] | Iterable[str | type[Method]] | None = None,
    seed: int | Iterable[int] | None = None,
    out: Path | str,
    progress: Callable[[EpisodeRow], None] | None = None,
    running: RunOptions | None = None,
    **fields: Any,
) -> list[EpisodeRow]:
    """Run episodes, or continue a run that was stopped; the same as ``teamworld run``.

    Args:
        world: Name of a world, or a whole experiment. A world, a method or a reasoner may also be the class itself, as
            it stands in a module, a script or a notebook; only one in a module can be replayed by another process.
        method: One coordination method, or several: ``methods`` of the experiment.
        seed: One seed, or several: ``seeds`` of the experiment.
        out: Folder of the run, or a URL such as ``s3://BUCKET/FOLDER``.
        progress: Called with each finished episode.
        running: How to carry it out: budget, keys, calls in flight, cache.
        fields: Other fields of ``teamworld.experiment.spec.ExperimentSpec``, by name: ``level``, ``reasoner``,
            ``episodes``, ``max_steps``, ``options`` and so on.

    Returns:
        One row an episode, ordered by method, seed and episode.

    Raises:
        UserError: The arguments or the folder cannot be used.
    """
    if isinstance(world, ExperimentSpec):
        if method is not None or seed is not None or fields:
            raise UserError("run takes a whole experiment or its fields: leave out the other arguments")
        return run_experiment(world, local_folder(out), progress, running)
    try:
        folder = local_folder(out)
        if "\0" in str(folder):
            raise ValueError("it has a null character")
        folder.exists()  # says where no path can be
        if method is not None:
            several = [method] if isinstance(method, str | type) else list(method)
            fields["methods"] = [plugins.name_of(label) for label in several]
        if "reasoner" in fields:
            fields["reasoner"] = plugins.name_of(fields["reasoner"])
        if seed is not None:
            if isinstance(seed, str | bytes):
                raise UserError(f"run takes a seed or a list of them, such as seed=12; got the text {brief(seed)}")
            seeds: Iterable[Any] = [seed] if isinstance(seed, Integral) else seed  # type: ignore[assignment]
            fields["seeds"] = [int(number) if isinstance(number, Integral) else number for number in seeds]
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"{brief(str(out))} cannot be a folder: {error}"[:300]) from None
    except TypeError as error:
        raise UserError(f"run takes a seed or a list of them and a folder: {error}") from None
    chosen = {name: value for name, value in fields.items() if value is not None}
    return run_experiment(build({**chosen, "world": plugins.name_of(world)}), folder, progress, running)
