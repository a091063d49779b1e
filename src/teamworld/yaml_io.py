"""Reading YAML that somebody else may have written: refused are keys given twice and texts that unfold without end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import yaml

from teamworld.errors import UserError, brief
from teamworld.plain_files import read_file

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

#: Values that a file may have, those that stand for others unfolded.
MOST = 1_000_000
#: Bytes of a file: more than any that says what is run.
LARGEST = 10_000_000


#: Characters of a number: what is longer is none that an option takes, and those to the base of 60, such as 1:30, take
#: long to read.
_LONGEST_NUMBER = 100
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class RefusedYaml(yaml.YAMLError):
    """What is YAML by the letter, and surely not what was meant."""

    def __init__(self, problem: str, node: yaml.Node) -> None:
        super().__init__(f"line {node.start_mark.line + 1}: {problem}")


class _Loader(yaml.SafeLoader):
    """Looks at all of a document before anything is made of it."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _count_values(node, {})
        return node


def parse(text: str) -> Any:  # noqa: ANN401  (whatever it says)
    """Return what a YAML text says.

    Raises:
        yaml.YAMLError: It is none; a mapping has a key twice; or it says more than ``MOST`` values once what is named
            by anchors stands wherever it is referred to.
        ValueError: A date or number is none.
    """
    return yaml.load(text, _Loader)


def load(path: Path) -> Any:  # noqa: ANN401
    """Return what a YAML file says.

    Raises:
        UserError: It cannot be read, or one line on where it is no YAML.
    """
    try:
        return parse(read_file(path, LARGEST).decode("utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UserError:
        raise
    except RefusedYaml as error:
        raise UserError(f"{path}: {error}") from None
    except RecursionError:
        raise UserError(f"{path} is not valid YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: dates that are none, bytes that are no text
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else error
        raise UserError(f"{path} is not valid YAML{place}: {problem}") from None


def parse_value(text: str, option: str) -> Any:  # noqa: ANN401
    """Return what the value of an option of the command line says.

    Raises:
        UserError: It is no YAML.
    """
    try:
        return parse(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UserError(f"the value of {option} does not parse: '{text[:80]}'") from None


def read_none(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with None for the word none, where an option may be None and is no text."""
    optional = {
        name for name, field in model.model_fields.items() if _takes(field, type(None)) and not _takes(field, str)
    }
    return {name: None if name in optional and value == "none" else value for name, value in values.items()}


def _takes(field: FieldInfo, kind: type) -> bool:
    """Whether a value of a type can be what a field holds, as far as its annotation tells."""
    parts = get_args(field.annotation) or (field.annotation,)
    return kind in parts or any(get_origin(part) is Literal and kind is str for part in parts)


def _count_values(node: yaml.Node, counts: dict[int, int]) -> int:
    """Return how many values a node has; what stands in several places counts in each."""
    if id(node) in counts:
        if not counts[id(node)]:
            raise RefusedYaml("a value is a part of itself", node)
        return counts[id(node)]
    counts[id(node)] = 0  # until it is known
    if isinstance(node, yaml.ScalarNode) and node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
        raise RefusedYaml(f"a number of more than {_LONGEST_NUMBER} characters", node)
    parts = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        parts = [part for pair in node.value for part in pair]
    count = 1 + sum(_count_values(part, counts) for part in parts)
    if count > MOST:
        raise RefusedYaml(f"more than {MOST:,} values, anchors unfolded", node)
    counts[id(node)] = count
    return count


def _check_keys(node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            name = (key.tag, key.value)
            if name in lines:
                raise RefusedYaml(f"{brief(key.value)} is given twice, first in line {lines[name]}", key)
            lines[name] = key.start_mark.line + 1
