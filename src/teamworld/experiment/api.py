"""Running experiments from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from teamworld.errors import UserError
from teamworld.experiment.config import Instances, build
from teamworld.experiment.message_protocol import MessageProtocol
from teamworld.experiment.results import EpisodeRow
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run as run_experiment
from teamworld.reasoning.retry import RETRIES
from teamworld.record import LogLevel


def run(
    world: str = "cube",
    *,
    level: str | None = None,
    method: str | Sequence[str] = "drwell",
    reasoner: str = "rules",
    answers: str = "auto",
    retries: int = RETRIES,
    sampling: Mapping[str, Mapping[str, Any]] | None = None,
    episodes: int = 1,
    seed: int | Sequence[int] = 0,
    max_steps: int = 150,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    instances: Instances = "fixed",
    memory: Path | str | None = None,
    log_level: LogLevel = "play",
    talk: MessageProtocol | None = None,
    out: Path | str,
    progress: Callable[[EpisodeRow], None] = lambda row: None,
    running: RunOptions | None = None,
) -> list[EpisodeRow]:
    """Run episodes, or go on with a run that was stopped; the same as ``teamworld run``.

    Args:
        world: Name of a world.
        level: Level of the world; the one that the world is played on unless told otherwise.
        method: One coordination method, or several; ``drwell:no_memory`` names a variant of one.
        reasoner: ``rules``, a language model such as ``openai:gpt-4o`` or ``http://HOST:PORT/v1#MODEL``, or
            several as ``WHO=REASONER,...``.
        answers: How a language model is made to keep the form of an answer: ``schema``, ``tool``, ``json``, ``text``,
            or ``auto`` for the strictest that it supports.
        retries: How often a bad answer is asked again before a fallback stands.
        sampling: Changes of sampling by kind of question, with wildcards: ``{"*": {"temperature": 0}}``.
        episodes: Episodes in a row with one memory.
        seed: One seed, or several.
        max_steps: Steps of the world after which an episode ends.
        options: Options by owner, for example ``{"drwell": {"task_identity": "class"}}``. Those of a method hold
            for its variants too; ``{"drwell:mine": {"explore": 3}}`` makes a variant of one's own.
        instances: ``fixed``: the episodes of a seed take place in one instance of the level; ``fresh``: each in
            one of its own; a number: all seeds in the instance of that seed. Published layouts are always the same.
        memory: Folder of a run whose world models the methods begin with; they are copied.
        log_level: ``play``, or ``beliefs``: logs also hold what is true, what agents perceive, and what methods say
            that they believe and predict. The metrics of beliefs need it.
        talk: ``native``: each method talks by its published rule; ``equal``: all by one, that of the options of
            ``messages``. Left out, it is equal if there are any, else native.
        out: Folder of the run.
        progress: Called with each finished episode.
        running: How to carry it out: budget, keys, calls in flight, cache.

    Returns:
        One row an episode, ordered by method, seed and episode.

    Raises:
        UserError: The arguments or the folder cannot be used.
    """
    try:
        folder = Path(out)
        given: dict[str, Any] = {
            "world": world,
            "level": level,
            "methods": method if isinstance(method, Sequence) and not isinstance(method, str) else [method],
            "reasoner": reasoner,
            "answers": answers,
            "retries": retries,
            "sampling": sampling or {},
            "episodes": episodes,
            "seeds": [seed] if isinstance(seed, Integral) else seed,
            "max_steps": max_steps,
            "options": options or {},
            "instances": instances,
            "memory": memory,
            "log_level": log_level,
            "talk": talk,
        }
        given["seeds"] = [int(one) if isinstance(one, Integral) else one for one in given["seeds"]]
    except TypeError as error:
        raise UserError(f"run takes a seed or a list of them and a folder: {error}") from None
    return run_experiment(build(given), folder, progress, running)
