"""Check that names are those of the field: ``python scripts/check_names.py``.

Three rules, each with the reason that a stranger has to guess a file's content from its names:

- a public class has one meaning: its name stands in at most ``MODULES`` modules of the package;
- local names say what they hold: none of ``EMPTY_NAMES`` is a variable or a parameter;
- words that the field does not use (``WORDS``) are no part of a name, and stand in no page, docstring or help text.

Prints one line for each violation and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
#: Modules in which a public class of one name may stand.
MODULES: Final = 2
#: Names that say nothing of what they hold.
EMPTY_NAMES: Final = frozenset({"one", "found", "now", "told", "given", "some"})
#: Words that are out, with the word of the field that stands for them.
WORDS: Final = {
    "mind": "reasoner, or model",
    "minds": "reasoners, or models",
    "mate": "teammate",
    "mates": "teammates",
    "purse": "budget",
    "slips": "noise",
    "errand": "goal, or task",
    "errands": "goals, or tasks",
    "clash": "conflict",
    "clashes": "conflicts",
    "recipes": "candidate plans",
    "journal": "event log",
    "roster": "entities",
}
#: Where such a word stays because it stands on disk: in logs, in requests to models, in the grammar of belief rules.
ON_DISK: Final = {
    ("src/teamworld/language/rules.py", "mate"),
    ("src/teamworld/methods/cobel/questions.py", "mate"),
    ("src/teamworld/methods/embodied/questions.py", "mate"),
    ("src/teamworld/methods/embodied/questions.py", "mates"),
    ("src/teamworld/reasoning/rules.py", "slips"),
    ("src/teamworld/record/events.py", "roster"),
}
#: Classes of answers whose name goes into the requests to models.
SENT_CLASSES: Final = {"Proposal"}
_SPEC: Final = re.compile(r"\b(?:spec|specification) [A-Z]\d+|\b\w+ spec(?:,| section| \d| [A-Z]\d)")
#: Code in a page: it shows names, which are checked where they are defined, or values on disk, which stay.
_CODE: Final = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _words(name: str) -> list[str]:
    """Return the words of an identifier in lower case."""
    return [part.lower() for part in _PARTS.findall(name)]


def _identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of everything that a module names: classes, functions, parameters, variables, fields."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, lineno=line) | ast.FunctionDef(name=name, lineno=line):
                yield line, name
            case ast.AsyncFunctionDef(name=name, lineno=line):
                yield line, name
            case ast.arg(arg=name, lineno=line):
                yield line, name
            case ast.Name(id=name, ctx=ast.Store(), lineno=line):
                yield line, name
            case ast.Attribute(attr=name, ctx=ast.Store(), lineno=line):
                yield line, name


def _text_violations(path: Path, text: str) -> Iterator[str]:
    """Yield what is wrong in the prose of a page or module."""
    pattern = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
    for number, line in enumerate(text.splitlines(), 1):
        for match in pattern.finditer(line):
            if (str(path), match[0].lower()) in ON_DISK:
                continue
            yield f"{path}:{number}: '{match[0]}' is not a word of the field: say {WORDS[match[0].lower()]}"
        for match in _SPEC.finditer(line):
            yield f"{path}:{number}: '{match[0]}' refers to a document outside the repository"


def _prose(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def violations(root: Path) -> Iterator[str]:
    """Yield a line for each violation in the package and the pages of a checkout."""
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sorted((root / "src").rglob("*.py")):
        relative = path.relative_to(root)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(relative))
        for line, name in _identifiers(tree):
            if name in EMPTY_NAMES:
                yield f"{relative}:{line}: '{name}' does not say what it holds"
            for word in _words(name):
                if word in WORDS and (str(relative), word) not in ON_DISK:
                    yield f"{relative}:{line}: '{word}' in '{name}' is not a word of the field: say {WORDS[word]}"
        for text in _prose(tree):
            yield from _text_violations(relative, text)
    for name, places in sorted(classes.items()):
        if len(places) > MODULES and name not in SENT_CLASSES:
            yield f"class {name} has {len(places)} meanings: {', '.join(places)}"
    for path in sorted([*(root / "docs").rglob("*.md"), *root.glob("*.md")]):
        if path.name != "CHANGELOG.md" and "decisions" not in path.parts:  # these tell what was called otherwise
            text = _CODE.sub(lambda code: "\n" * code[0].count("\n"), path.read_text(encoding="utf-8"))
            yield from _text_violations(path.relative_to(root), text)


if __name__ == "__main__":
    lines = list(violations(ROOT))
    print("\n".join(lines) or "names: all well")
    sys.exit(1 if lines else 0)
