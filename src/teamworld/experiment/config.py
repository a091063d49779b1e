"""What an experiment is: typed data with one definition for YAML, the command line and Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from teamworld.episode.talk import MessageRule
from teamworld.errors import UserError, suggest
from teamworld.methods import registry as methods
from teamworld.methods.registry import option_error
from teamworld.reasoning import registry as reasoners
from teamworld.seeding import generator
from teamworld.worlds import registry as worlds

#: So many seeds are tried before anything is written: a layout that cannot be placed shows early.
_TRIED = 20
#: What a run's own experiment file holds beside the experiment.
RECORDED = ("versions", "prompts")


class Cell(NamedTuple):
    """One method with one seed: a run of episodes that share a memory."""

    method: str
    seed: int

    @property
    def name(self) -> str:
        """Name of the cell's folder and of its rows in the databases."""
        return f"{self.method}-s{self.seed}"


class Experiment(BaseModel):
    """Worlds x methods x seeds x episodes, and everything that decides their outcome."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    world: str = Field(default="cube", description="name of the world")
    level: str = Field(default="paper-n2", description="level of the world")
    methods: tuple[str, ...] = Field(default=("drwell",), min_length=1, description="coordination methods")
    reasoner: str = Field(default="rules", description="the mind")
    episodes: int = Field(default=1, ge=1, le=1_000_000, description="episodes in a row with one memory")
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1, description="seeds")
    max_steps: int = Field(
        default=150, ge=1, le=10_000_000, description="steps of the world after which an episode ends"
    )
    options: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="options of the world, the methods and the messages, by name"
    )

    @field_validator("methods", "seeds")
    @classmethod
    def _no_repeats(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(set(values)) < len(values):
            raise ValueError("each may be named once")
        return values

    @field_validator("seeds")
    @classmethod
    def _from_zero(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if min(seeds) < 0 or max(seeds) >= 2**63:
            raise ValueError("a seed is a number from 0 to 2**63 - 1")
        return seeds

    def resolved(self) -> Experiment:
        """Return the experiment with all options filled in, having tried everything that it names.

        Raises:
            UserError: An unknown world, level, method, reasoner or option, or a value that does not fit.
        """
        known = [self.world, "messages", *self.methods]
        for owner in self.options:
            if owner not in known:
                raise UserError(f"options for '{owner}', which is not part of this run{suggest(owner, known)}")
        reasoners.make(self.reasoner, lambda *names: generator(0, *names))
        for seed in self.seeds[:_TRIED]:
            worlds.make(self.world, self.level, seed, self.max_steps, self.options.get(self.world, {}))
        model = worlds.option_model(self.world)
        filled = {self.world: model.model_validate(self.options.get(self.world, {})).model_dump(mode="json")}
        for method in self.methods:
            filled[method] = methods.resolve(method, self.options.get(method, {})).model_dump(mode="json")
        filled["messages"] = self.message_rule().model_dump(mode="json")
        return self.model_copy(update={"options": filled})

    def message_rule(self) -> MessageRule:
        """Return the rule for messages.

        Raises:
            UserError: An option does not exist or does not fit.
        """
        try:
            return MessageRule.model_validate(self.options.get("messages", {}))
        except ValidationError as error:
            raise UserError(option_error("messages", MessageRule, error)) from None

    def cells(self) -> list[Cell]:
        """Return the cells in the order in which they are run."""
        return [Cell(method, seed) for method in self.methods for seed in self.seeds]


def build(given: Mapping[str, Any]) -> Experiment:
    """Return the experiment of some plain data.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    try:
        return Experiment.model_validate(dict(given))
    except ValidationError as error:
        raise UserError(option_error("an experiment", Experiment, error)) from None


def load(path: Path) -> dict[str, Any]:
    """Return the plain data of an experiment file.

    Raises:
        UserError: It cannot be read or is no YAML mapping.
    """
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates that are none, bytes that are no text
        where = getattr(error, "problem_mark", None)
        place = f", line {where.line + 1}, column {where.column + 1}" if where is not None else ""
        raise UserError(f"{path} is no YAML{place}: {getattr(error, 'problem', None) or 'not text'}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} is no experiment: expected a mapping such as 'world: cube', got {type(data).__name__}")
    return {name: value for name, value in data.items() if name not in RECORDED}


def settings(assignments: list[str]) -> dict[str, dict[str, Any]]:
    """Return the options of ``OWNER.OPTION=VALUE`` texts; values are read as YAML.

    Raises:
        UserError: A text is not of this form.
    """
    options: dict[str, dict[str, Any]] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        owner, dot, option = name.partition(".")
        if not (equals and dot and owner and option):
            raise UserError(f"--set takes OWNER.OPTION=VALUE, such as drwell.task_identity=class; got '{text}'")
        if option in options.get(owner, {}):
            raise UserError(f"--set {name} is given twice")
        try:
            options.setdefault(owner, {})[option] = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise UserError(f"the value of --set {name} does not parse: '{value[:80]}'") from None
    return options
