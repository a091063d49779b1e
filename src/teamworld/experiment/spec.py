"""What an experiment is: typed data with one definition for YAML, the command line and Python.

The YAML file is an ``ExperimentSpec`` as plain data, ``teamworld.run`` takes its fields by name, and the options of the
command line are made from its fields (``teamworld.cli.options``).
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from teamworld import plugins, yaml_io
from teamworld.errors import UserError, brief
from teamworld.experiment.fork_spec import Fork
from teamworld.experiment.run_options import RunOptions
from teamworld.methods.policy.naming import name_files
from teamworld.record import LogLevel
from teamworld.record.server import is_address, strip_password
from teamworld.worlds import registry as worlds

if TYPE_CHECKING:
    from numpy.random import Generator

    from teamworld.episode.message_delivery import MessageRule
    from teamworld.reasoning.allowance import TokenAllowance
    from teamworld.reasoning.llm.reasoner import Overrides
    from teamworld.seeding import Streams

#: Characters of a method's label in the name of a folder.
_LONGEST = 100
#: What a run's own experiment file holds beside the experiment.
RECORDED = ("versions", "prompts", "price_tables", "code", "packages", "registered", "shard")

#: ``native``: each method talks by the rule that it was published with. ``equal``: one rule holds for all.
MessageProtocol: TypeAlias = Literal["native", "equal"]
#: Where the episodes of a cell take place: in one instance of the level, each in a fresh one, or all cells in one that
#: is named by its seed.
Instances: TypeAlias = Literal["fixed", "fresh"] | Annotated[int, Field(ge=0, lt=2**63)]


class RunCell(NamedTuple):
    """One method with one seed: a run of episodes that share a memory."""

    method: str
    """Its label: ``drwell`` or ``drwell:no_memory``."""
    seed: int

    @property
    def name(self) -> str:
        """Name of the cell's folder and of its rows in the databases; fit for every file system."""
        method = self.method.replace(":", "-")
        if len(method) > _LONGEST:
            method = f"{method[:_LONGEST]}-{hashlib.blake2b(method.encode(), digest_size=3).hexdigest()}"
        return f"{method}-s{self.seed}"

    def world_seed(self, episode: int, instances: Instances) -> int:
        """Return the seed that places the world of an episode: the cell's, one of its own, or the one that is named."""
        if isinstance(instances, int):
            return instances
        if instances == "fixed":
            return self.seed
        return int(self._generator("instance", episode).integers(2**63))

    def streams(self, episode: int, salt: int | None = None) -> Streams:
        """Return the generators of an episode, by name; with a salt others, of which none places a layout."""
        place: tuple[str | int, ...] = ("episode", episode) if salt is None else ("salt", salt, "episode", episode)

        def streams(*names: str | int) -> Generator:
            return self._generator(*place, *names)

        return streams

    def _generator(self, *names: str | int) -> Generator:
        from teamworld.seeding import generator  # only here: it imports NumPy

        return generator(self.seed, *names)


class SamplingChange(BaseModel):
    """How questions are sampled otherwise than published; null leaves it to the provider."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    max_tokens: int = Field(default=1000, ge=1, le=1_000_000)
    seed: int | None = Field(default=None, ge=0, lt=2**31)

    @model_serializer
    def changes(self) -> dict[str, Any]:
        """Return what is changed; what was not given stays as published, also once it was written to a file."""
        return {name: value for name, value in self.__dict__.items() if name in self.model_fields_set}


class TokenLimit(BaseModel):
    """What the questions of one episode may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: int = Field(ge=0, lt=2**53)
    """At most, prompts and answers."""
    steps: int = Field(ge=0, lt=2**53)
    """Of the world, over which they are spread."""


class ExperimentSpec(BaseModel):
    """Worlds x methods x seeds x episodes, and everything that decides their outcome."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    world: str = Field(
        default="cube", description="Name of a world (see: teamworld worlds), or MODULE:NAME of one of your own."
    )
    level: str = Field(
        default="paper-n2",
        description="Level of the world (see: teamworld levels); left out, the world's own default: paper-n2 for cube.",
    )
    methods: tuple[str, ...] = Field(
        default=("drwell",),
        min_length=1,
        description="Coordination methods, or variants such as drwell:no_memory (see: teamworld methods), or "
        "MODULE:NAME of one of your own, or policy:FILE.onnx, a trained network; joined by + they share a team.",
    )
    reasoner: str = Field(
        default="rules",
        description="What answers the method's questions: rules (no key, no network); rules:noise=0.2, a stand-in that "
        "errs like a weak model; openai:MODEL, anthropic:MODEL, google:MODEL; any server that speaks OpenAI's "
        "protocol, as http://localhost:8000/v1#MODEL; gguf:FILE, a model file run by llama.cpp; mailbox:DIR, a folder "
        "where questions wait as files for answers as files; human; MODULE:NAME of one of your own. Several as "
        "WHO=REASONER,..., the first that fits: agent_0=rules,@drwell.propose=openai:SMALL,*=openai:LARGE. replay "
        "asks nobody and answers from the record in "
        "the run's folder, replay:DIR from another run's.",
    )
    answers: Literal["auto", "schema", "tool", "json", "text"] = Field(
        default="auto",
        description="How a language model is made to keep the form of an answer: schema, tool, json, text, or auto for "
        "the strictest that it supports.",
    )
    reasoning: Literal["on", "off"] = Field(
        default="on",
        description="Whether every answer of a language model begins with its reasoning, in a few sentences.",
    )
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a bad answer is asked again, with what was wrong, before a fallback takes its place.",
    )
    sampling: dict[str, SamplingChange] = Field(
        default_factory=dict,
        description="Changes of how language models are sampled, by kind of question with wildcards: "
        "{'*': {temperature: 0}}; as published where nothing is said.",
    )
    episodes: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="Episodes in a row; what a method learns in one it has in the next.",
    )
    seeds: tuple[int, ...] = Field(
        default=(0,),
        min_length=1,
        description="Seeds of the run, each with a memory of its own; a seed fixes the layout of seeded levels and "
        "names all random generators. Intervals and tests go by seeds.",
    )
    max_steps: int | None = Field(
        default=None,
        ge=1,
        le=10_000_000,
        description="Steps of the world after which an episode ends; left out, the level's own limit "
        "(see: teamworld levels).",
    )
    options: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Options of the world, the methods and the messages, by owner: {drwell: {task_identity: class}}. "
        "What is set for a method holds for its variants too; an owner such as drwell:mine makes a variant.",
    )
    instances: Instances = Field(
        default="fixed",
        description="fixed: the episodes of a seed take place in one instance of the level; fresh: each in one of its "
        "own; a number: all seeds in the instance of that seed (published layouts are always the same).",
    )
    memory: str | None = Field(
        default=None,
        description="Folder of a run whose world models the methods begin with (they are copied into the new run), or "
        "a PostgreSQL server (postgresql://USER@HOST/DATABASE), where what the methods learn is added, too.",
    )
    log_level: LogLevel = Field(
        default="play",
        description="play, or beliefs: logs also hold what is true, what agents perceive, and what methods say that "
        "they believe and predict. The metrics of beliefs need it.",
    )
    talk: MessageProtocol | None = Field(
        default=None,
        description="native: each method talks by its published rule; equal: all by one, that of the options of "
        "messages; left out: equal if there are any, else native.",
    )

    salt: int | None = Field(
        default=None,
        ge=0,
        lt=2**31,
        description="Makes all that is drawn in an episode (rules, methods, losses of messages, sampling seeds of "
        "calls) and cached answers others, on the same layouts with the same seeds; left out: as ever.",
    )
    allowances: dict[int, tuple[TokenLimit, ...]] = Field(
        default_factory=dict,
        description="Tokens that the questions of each episode may take, by seed and in the order of the episodes; a "
        "method that heeds them (cmas:free) then asks no more. Left out: no limit.",
    )
    fork: Fork | None = Field(
        default=None,
        description="The recorded episode that this one is a fork of, and what is changed in it (see: teamworld fork).",
    )

    @model_serializer(mode="wrap")
    def _as_ever(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what says nothing new: files of such runs stay what they were before it could be said."""
        fields: dict[str, Any] = plain(self)
        silent = {name: getattr(self, name) is None for name in ("talk", "salt", "fork")}
        silent |= {"reasoning": self.reasoning == "on", "allowances": not self.allowances}
        return {name: fields[name] for name in fields if not silent.get(name)}

    @model_validator(mode="before")
    @classmethod
    def _named_policies(cls, fields: object) -> object:
        """Make the files of ``policy:FILE`` options: labels of methods hold no path."""
        if not isinstance(fields, dict) or not isinstance(fields.get("methods"), list | tuple):
            return fields
        options = fields.get("options")
        if options is not None and not isinstance(options, dict):
            return fields
        named = name_files(fields["methods"], options or {})
        return {**fields, "methods": named.methods, **({"options": named.options} if named.options else {})}

    @model_validator(mode="before")
    @classmethod
    def _default_level(cls, fields: object) -> object:
        """Fill in the level that the world is played on unless told otherwise."""
        if not isinstance(fields, dict) or fields.get("level") is not None:
            return fields
        world = fields.get("world", cls.model_fields["world"].default)
        known = isinstance(world, str) and (world in worlds.names() or plugins.is_loaded(world))  # others: see build
        return {**fields, "level": worlds.module(world).DEFAULT_LEVEL} if known else fields

    @field_validator("reasoning", mode="before")
    @classmethod
    def _switch(cls, value: object) -> object:
        """YAML reads on and off as true and false."""
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else value

    @field_validator("methods", "seeds")
    @classmethod
    def _no_repeats(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(set(values)) < len(values):
            raise ValueError("each may be named once")
        return values

    @model_validator(mode="after")
    def _forks_alone(self) -> ExperimentSpec:
        if self.fork is not None and (len(self.methods), len(self.seeds), self.episodes) != (1, 1, 1):
            raise ValueError("a fork is one episode of one method and one seed")
        return self

    @field_validator("memory", mode="before")
    @classmethod
    def _plain(cls, folder: object) -> object:
        if is_address(folder):
            return strip_password(str(folder))
        return Path(folder).as_posix() if isinstance(folder, str | Path) else folder

    @field_validator("seeds")
    @classmethod
    def _from_zero(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if min(seeds) < 0 or max(seeds) >= 2**63:
            raise ValueError("a seed is a number from 0 to 2**63 - 1")
        return seeds

    def load_plugins(self) -> None:
        """Import the world, methods and reasoners that are named as ``MODULE:NAME``; raises ``UserError``."""
        from teamworld.experiment import spec_resolution  # only here: it imports worlds and methods

        spec_resolution.load_plugins(self)

    def resolved(self) -> ExperimentSpec:
        """Return the experiment with all options filled in, having loaded and tried everything that it names.

        Raises:
            UserError: An unknown world, level, method, reasoner or option, or a value that does not fit.
        """
        from teamworld.experiment.spec_resolution import resolve  # only here: it imports worlds and methods

        return resolve(self)

    @property
    def step_limit(self) -> int:
        """Steps after which an episode ends: those that are given, else the level's own; raises ``UserError``."""
        if self.max_steps is not None:
            return self.max_steps
        return worlds.step_limit(self.world, self.level, self.options.get(self.world, {}))

    @property
    def protocol(self) -> MessageProtocol:
        """By which rule messages go: each method's own, or one for all; raises ``UserError``."""
        from teamworld.experiment import message_protocol

        return message_protocol.protocol(self.talk, self.options.get("messages", {}))

    def message_rule(self, method: str) -> MessageRule:
        """Return the rule for the messages of a method; raises ``UserError``."""
        from teamworld.experiment import message_protocol

        price = worlds.talk_price(self.world)
        return message_protocol.rule(method, self.protocol, self.options.get("messages", {}), self.options, price)

    def overrides(self) -> Overrides:
        """Return the changes of sampling, in order."""
        return {kinds: change.changes() for kinds, change in self.sampling.items()}

    def allowance(self, cell: RunCell, episode: int) -> TokenAllowance | None:
        """Return what the questions of an episode may take, fresh; None where nothing limits them."""
        from teamworld.reasoning.allowance import TokenAllowance

        limits = self.allowances.get(cell.seed, ())
        if not self.allowances:
            return None
        if episode > len(limits):
            raise UserError(f"allowances: there is none for episode {episode} of seed {cell.seed}")
        return TokenAllowance(limits[episode - 1].tokens, limits[episode - 1].steps)

    @property
    def episode_numbers(self) -> range:
        """Numbers of the episodes of each cell: from 1 on; of a fork, that of the episode that it is forked from."""
        first = 1 if self.fork is None else self.fork.episode
        return range(first, first + self.episodes)

    @property
    def reasoners(self) -> tuple[str, ...]:
        """All that ``--reasoner`` could say of this run: its own, and those that a fork hands agents to."""
        return (self.reasoner, *(self.fork.reasoners if self.fork is not None else ()))

    @property
    def episode_count(self) -> int:
        """Episodes of all cells."""
        return len(self.methods) * len(self.seeds) * self.episodes

    def cells(self) -> list[RunCell]:
        """Return the cells in the order in which they are run."""
        return [RunCell(method, seed) for method in self.methods for seed in self.seeds]


def build(fields: Mapping[str, Any], *, imports: bool = True) -> ExperimentSpec:
    """Return the experiment of some plain data.

    Args:
        fields: Its fields.
        imports: Whether a world that is named as ``MODULE:NAME`` is imported where its default level is asked for; not
            where a run is read.

    Raises:
        UserError: They do not make an experiment.
    """
    carried = {field.name for field in dataclasses.fields(RunOptions)}
    for name in fields:
        if (field := str(name).replace("-", "_")) in carried:
            raise UserError(
                f"'{name}' says how a run is carried out and is no part of an experiment: leave it out, and give "
                f"--{field.replace('_', '-')} on the command line"
            )
    world = fields.get("world")
    if imports and fields.get("level") is None and isinstance(world, str) and plugins.reference(world) == world:
        worlds.load(world)
    try:
        return ExperimentSpec.model_validate(dict(fields))
    except ValidationError as error:
        from teamworld.methods.registry import option_error

        raise UserError(option_error("an experiment", ExperimentSpec, error)) from None


def load(path: Path) -> dict[str, Any]:
    """Return the plain data of an experiment file; raises ``UserError``."""
    data = yaml_io.load(path)
    if not isinstance(data, dict):
        raise UserError(f"{path} is no experiment: expected a mapping such as 'world: cube', got {type(data).__name__}")
    if odd := [name for name in data if not isinstance(name, str)]:
        raise UserError(f"{path} is no experiment: expected a text as the name of a field, got {brief(odd[0])}")
    return {name: value for name, value in data.items() if name not in RECORDED}
