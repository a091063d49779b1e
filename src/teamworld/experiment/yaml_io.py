"""Reading YAML that somebody else may have written: refused are keys given twice and texts that unfold without end."""

from __future__ import annotations

import yaml

from teamworld.errors import brief

#: Values that a file may have, those that stand for others unfolded.
MOST = 1_000_000


class RefusedYaml(yaml.MarkedYAMLError):
    """What is YAML by the letter, and surely not what was meant."""

    def __init__(self, problem: str, mark: yaml.Mark) -> None:
        super().__init__(problem=problem, problem_mark=mark)

    def describe(self) -> str:
        """Return where it is and what is wrong."""
        return "" if self.problem_mark is None else f"line {self.problem_mark.line + 1}: {self.problem}"


class _Loader(yaml.SafeLoader):
    """Looks at all of a document before anything is made of it."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _size(node, {})
        return node


def parse(text: str) -> object:
    """Return what a YAML text says.

    Raises:
        yaml.YAMLError: It is none; a mapping has a key twice; or it says more than ``MOST`` values once what is named
            by anchors stands wherever it is referred to.
        ValueError: A date or number is none.
    """
    content: object = yaml.load(text, _Loader)
    return content


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return how many values a node has; what stands in several places counts in each."""
    known = sizes.get(id(node))
    if known is not None:
        if not known:
            raise RefusedYaml("a value is a part of itself", node.start_mark)
        return known
    sizes[id(node)] = 0  # until it is known
    size = 1
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        size += sum(_size(part, sizes) for pair in node.value for part in pair)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_size(part, sizes) for part in node.value)
    if size > MOST:
        raise RefusedYaml(f"more than {MOST:,} values, anchors unfolded", node.start_mark)
    sizes[id(node)] = size
    return size


def _check_keys(node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        name = (key.tag, key.value)
        if name in lines:
            raise RefusedYaml(f"{brief(key.value)} is given twice, first in line {lines[name]}", key.start_mark)
        lines[name] = key.start_mark.line + 1
