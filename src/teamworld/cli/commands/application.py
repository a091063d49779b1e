"""The application, and the types of options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, Token

from teamworld import __version__
from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions

_EPILOGUE = """
- Start with: `teamworld run cube --method drwell --episodes 10 --out runs/first`
- Then: `teamworld report runs/first --figures`
"""

app = App(
    name="teamworld",
    version=__version__,
    help="Teams of agents in embodied worlds: run them, compare them, see why they fail.",
    help_epilogue=_EPILOGUE,
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # told by main, with what to do
)


def _whole(_: object, tokens: Sequence[Token]) -> int:
    """Read a whole number; nothing is rounded."""
    text = tokens[0].value
    if not re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        raise ValueError(f"expected a whole number, got '{text}'")
    return int(text)


Int = Annotated[int | None, Parameter(converter=_whole)]
Names = Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())]


@dataclass(frozen=True, kw_only=True)
class _Carrying(RunOptions):
    __doc__ = RunOptions.__doc__
    processes: Int = RunOptions.processes
    calls: Annotated[int, Parameter(converter=_whole)] = RunOptions.calls
    jobs: Annotated[int, Parameter(converter=_whole)] = RunOptions.jobs


RunningOptions = Annotated[_Carrying, Parameter(name="*")]
#: Everything as it is if nothing is said.
DEFAULTS = _Carrying()


@dataclass(frozen=True, kw_only=True)
class _Playing:
    """What is played: everything of an experiment but its world and its methods.

    Args:
        level: Level of the world (see: teamworld levels). [default: the world's own, paper-n2 for cube]
        reasoner: The reasoner that answers the method's questions: rules (no key, no network); rules:noise=0.2, a
            stand-in that errs like a weak model; openai:MODEL, anthropic:MODEL, google:MODEL; any server that speaks
            OpenAI's protocol, as http://localhost:8000/v1#MODEL; gguf:FILE, a model file run by llama.cpp; human.
            Several as WHO=REASONER,..., the first that fits: agent_0=rules,@drwell.propose=openai:SMALL,*=openai:LARGE.
            replay asks nobody and answers from the record in --out, replay:DIR from another run's. [default: rules]
        answers: How a language model is made to keep the form of an answer: schema, tool, json, text, or auto for the
            strictest that it supports. [default: auto]
        retries: How often a bad answer is asked again, with what was wrong, before a fallback stands. [default: 2]
        sampling: A change of how language models are sampled, for all questions or some: temperature=0,
            drwell.draft.max_tokens=500, 'drwell.*.seed=1'; may be repeated. [default: as published]
        episodes: Episodes in a row; what a method learns in one it has in the next. [default: 1]
        seed: Seed of the run: fixes the layout of seeded levels and names all random generators. [default: 0]
        seeds: So many seeds, counting up from --seed, each with a memory of its own; intervals and tests go by them.
            [default: 1]
        max_steps: Steps of the world after which an episode ends. [default: 150]
        set: An option of the world, a method or the messages as OWNER.OPTION=VALUE, for example
            drwell.task_identity=class or cube.view_radius=5; may be repeated. What is set for a method holds for
            its variants too; drwell:mine.explore=3 makes a variant of your own.
        instances: fixed: the episodes of a seed take place in one instance of the level; fresh: each in one of its
            own; a number: all seeds in the instance of that seed (published layouts are always the same).
            [default: fixed]
        memory: Folder of a run whose world models the methods begin with. They are copied into the new run.
        log_level: play, or beliefs: logs also hold what is true, what agents perceive, and what methods say that they
            believe and predict. The metrics of beliefs need it. [default: play]
        talk: native: each method talks by its published rule; equal: all by one, that of --set messages.OPTION=VALUE.
            [default: equal if an option of the messages is set, else native]
    """

    level: str | None = None
    reasoner: str | None = None
    answers: str | None = None
    retries: Int = None
    sampling: Names = None
    episodes: Int = None
    seed: Int = None
    seeds: Int = None
    max_steps: Int = None
    set: Names = None
    instances: str | None = None
    memory: Path | None = None
    log_level: str | None = None
    talk: str | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of an experiment that were given.

        Raises:
            UserError: One of them cannot be read.
        """
        from teamworld.experiment.config import samplings, settings

        told = {
            "level": self.level,
            "reasoner": self.reasoner,
            "answers": self.answers,
            "retries": self.retries,
            "sampling": samplings(self.sampling) if self.sampling else None,
            "episodes": self.episodes,
            "seeds": _counted(self.seed, self.seeds),
            "max_steps": self.max_steps,
            "options": settings(self.set) if self.set else None,
            "instances": self.instances,
            "memory": self.memory,
            "log_level": self.log_level,
            "talk": self.talk,
        }
        return {name: value for name, value in told.items() if value is not None}


def _counted(first: int | None, count: int | None) -> list[int] | None:
    if first is None and count is None:
        return None
    if count is not None and not 1 <= count <= 100_000:
        raise UserError(f"--seeds is a number from 1 to 100000, got {count}")
    begin = first or 0
    return list(range(begin, begin + (count or 1)))


PlayingOptions = Annotated[_Playing, Parameter(name="*")]
#: Nothing said.
UNSAID = _Playing()
