"""Options of several commands, made from the types that define them: no option is written down twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from cyclopts import Parameter, Token

from teamworld.errors import UserError, suggest
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec, SamplingChange
from teamworld.yaml_io import parse_value

_MAX_SEEDS = 100_000


def _whole(_: object, tokens: Sequence[Token]) -> int:
    """Read a whole number; nothing is rounded."""
    text = tokens[0].value
    if not re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        raise ValueError(f"expected a whole number, got '{text}'")
    return int(text)


Int = Annotated[int | None, Parameter(converter=_whole)]
Names = Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())]
Flag = Annotated[bool, Parameter(negative=())]


def split_names(names: Iterable[str]) -> list[str]:
    """Return names that were given one by one or with commas."""
    return [part for name in names for part in name.split(",") if part]


def options_of(defined: type, **spellings: tuple[str, ...]) -> Any:  # noqa: ANN401  (a type made at run time)
    """Return a parameter type with the options of a dataclass: each field is one, its docstring the help.

    Args:
        defined: The dataclass; an option's value is an instance of it.
        spellings: Names of options that have several, by field.
    """
    hints = get_type_hints(defined)
    made = []
    for each in fields(defined):
        hint, names = hints[each.name], spellings.get(each.name)
        kinds = (hint, *get_args(hint))
        if bool in kinds:
            hint = Flag
        elif int in kinds:
            hint = Annotated[hint, Parameter(converter=_whole)]
        elif list[str] in kinds:
            hint = Annotated[Names, Parameter(name=names)] if names else Names
        made.append((each.name, hint, field(default=each.default)))
    options = make_dataclass(
        defined.__name__, made, bases=(defined,), namespace={"__module__": __name__}, frozen=True, kw_only=True
    )
    options.__doc__ = defined.__doc__
    return Annotated[options, Parameter(name="*")]


class SpecFields:
    """The fields of an experiment that were given on the command line."""

    def fields(self) -> dict[str, Any]:
        """Return them as plain data; raises ``UserError``."""
        values = {name: value for name, value in vars(self).items() if value is not None}
        if "sampling" in values:
            values["sampling"] = parse_sampling(values["sampling"])
        if "set" in values:
            values["options"] = parse_options(values.pop("set"))
        if (seeds := _seeds(values.pop("seed", None), values.pop("seeds", None))) is not None:
            values["seeds"] = seeds
        return values


#: Options whose form on the command line is another than in a file: type, name and help.
_OWN_FORMS: Mapping[str, Sequence[tuple[str, Any, str]]] = {
    "sampling": [
        (
            "sampling",
            Names,
            "A change of how language models are sampled, for all questions or some: temperature=0, "
            "drwell.draft.max_tokens=500, 'drwell.*.seed=1'; may be repeated. [default: as published]",
        )
    ],
    "seeds": [
        (
            "seed",
            Int,
            "Seed of the run: fixes the layout of seeded levels and names all random generators. [default: 0]",
        ),
        (
            "seeds",
            Int,
            "Number of seeds, counting up from --seed, each with a memory of its own; intervals and tests are over "
            "seeds. [default: 1]",
        ),
    ],
    "options": [
        (
            "set",
            Names,
            "An option of the world, a method or the messages as OWNER.OPTION=VALUE, for example "
            "drwell.task_identity=class or cube.view_radius=5; may be repeated. What is set for a method holds for its "
            "variants too; drwell:mine.explore=3 makes a variant of your own.",
        )
    ],
}


def _spec_options() -> Any:  # noqa: ANN401  (a type made at run time)
    """Return a parameter type with an option for each field of an experiment but those that are no option."""
    made = []
    for name, info in ExperimentSpec.model_fields.items():
        if name in ("world", "methods", "salt", "allowances", "fork"):
            continue
        whole = int in (info.annotation, *get_args(info.annotation))
        kind = Int if whole else str | None
        default = "" if info.default is None or name == "level" else f" [default: {info.default}]"
        plain = [(name, kind, f"{info.description}{default}")]
        for option, hint, text in _OWN_FORMS.get(name, plain):
            made.append((option, Annotated[hint, Parameter(help=text)], field(default=None)))
    options = make_dataclass(
        "SpecOptions", made, bases=(SpecFields,), namespace={"__module__": __name__}, frozen=True, kw_only=True
    )
    return Annotated[options, Parameter(name="*")]


if TYPE_CHECKING:
    RunArguments = RunOptions
    SpecArguments = SpecFields
else:
    RunArguments = options_of(RunOptions)
    SpecArguments = _spec_options()

#: What holds if nothing is said.
DEFAULT_RUN: RunOptions = get_args(RunArguments)[0]() if not TYPE_CHECKING else RunOptions()
DEFAULT_SPEC: SpecFields = get_args(SpecArguments)[0]() if not TYPE_CHECKING else SpecFields()


def _seeds(first: int | None, count: int | None) -> list[int] | None:
    if first is None and count is None:
        return None
    if count is not None and not 1 <= count <= _MAX_SEEDS:
        raise UserError(f"--seeds is a number from 1 to {_MAX_SEEDS}, got {count}")
    begin = first or 0
    return list(range(begin, begin + (count or 1)))


def parse_sampling(assignments: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the changes of sampling of ``[KIND.]FIELD=VALUE`` texts, by kind of question; raises ``UserError``."""
    changes: dict[str, dict[str, Any]] = {}
    for text in assignments:
        name, _, value = text.partition("=")
        kinds, _, change = name.rpartition(".")
        if not change or name == text:
            raise UserError(
                f"--sampling takes [KIND.]FIELD=VALUE, such as temperature=0 or drwell.draft.seed=1; got '{text}'"
            )
        if change not in (known := list(SamplingChange.model_fields)):
            raise UserError(f"--sampling {name}: unknown '{change}'{suggest(change, known)}")
        _assign(changes.setdefault(kinds or "*", {}), change, value, f"--sampling {name}")
    return changes


def parse_options(assignments: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the options of ``OWNER.OPTION=VALUE`` texts; values are read as YAML; raises ``UserError``."""
    options: dict[str, dict[str, Any]] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        owner, _, option = name.rpartition(".")
        if not (equals and owner and option):
            raise UserError(
                f"--set takes OWNER.OPTION=VALUE, such as drwell.explore=3 or drwell:mine.explore=3; got '{text}'"
            )
        _assign(options.setdefault(owner, {}), option, value, f"--set {name}")
    return options


def _assign(values: dict[str, Any], name: str, value: str, option: str) -> None:
    if name in values:
        raise UserError(f"{option} is given twice")
    values[name] = parse_value(value, option)
