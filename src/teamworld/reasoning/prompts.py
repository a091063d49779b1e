"""Prompt templates: rendering a question, and the versions and hashes that go into a run.

A template begins with ``{# version N #}`` and has two blocks: ``system`` says what holds for every question of its
kind (the role, the rules, the form of the answer), ``user`` what is the case now, and asks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, FunctionLoader, StrictUndefined, meta

from teamworld.language import plain_names
from teamworld.reasoning.contract import Answer, Question
from teamworld.reasoning.untrusted_text import own_words, quoted

_HOME = "teamworld.methods"
#: Empty lines beyond one.
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_VERSION = re.compile(r"\{# version ([1-9][0-9]*) #\}\n")


class Prompt(NamedTuple):
    """A question as a model reads it."""

    system: str
    user: str

    @property
    def text(self) -> str:
        """Both parts as one."""
        return f"{self.system}\n\n{self.user}"

    def _repr_markdown_(self) -> str:
        return f"*system*\n\n{self.system}\n\n*user*\n\n{self.user}"


class TemplateInfo(NamedTuple):
    """Which template it was."""

    version: int
    """Counted up by whoever changes what it says."""
    hash: str
    """Of its text and the texts that it includes."""


@cache
def environment() -> Environment:
    """Return what all templates are rendered in. Values are shown as they are and never read as templates."""
    made = Environment(
        loader=FunctionLoader(lambda template: template_text(template)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
    )
    made.filters["quoted"] = quoted
    made.filters["own_words"] = own_words
    made.filters["plural"] = plural
    return made


def render(question: Question[Answer], reasoning: bool = True) -> Prompt:
    """Return the prompt of a question: its template, filled with the question and nothing else, in plain names.

    Args:
        question: What is asked.
        reasoning: Whether the answer begins with the respondent's reasoning.
    """
    return Prompt(*(tidy("".join(pieces)) for pieces in render_pieces(question, reasoning)))


def render_pieces(question: Question[Answer], reasoning: bool = True) -> list[Iterator[str]]:
    """Return the parts of a prompt as pieces that are rendered as they are read, and are not tidy yet.

    Args:
        question: What is asked.
        reasoning: Whether the answer begins with the respondent's reasoning.
    """
    template, context = environment().get_template(question.template), question.context() | {"reasoning": reasoning}
    return [template.blocks[name](template.new_context(context)) for name in Prompt._fields]


def tidy(text: str) -> str:
    """Return a part of a prompt with plain names and no empty lines beyond one."""
    return _GAPS.sub("\n\n", plain_names(text)).strip()


def plural(number: float, noun: str, many: str = "") -> str:
    """Return a number with what it counts: ``1 step``, ``2 steps``, ``2.5 steps``."""
    return f"{number:g} {noun if number == 1 else many or f'{noun}s'}"


def template_info(template: str) -> TemplateInfo:
    """Return version and hash of a template.

    Args:
        template: Its path under ``teamworld.methods``, or ``package:path``.

    Raises:
        ValueError: Its first line tells no version.
    """
    texts = list(_texts(template))
    version = _VERSION.match(texts[0])
    if version is None:
        raise ValueError(f"{template} does not begin with a line such as {{# version 1 #}}")
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        data = text.encode()
        digest.update(len(data).to_bytes(4, "little") + data)
    return TemplateInfo(int(version[1]), digest.hexdigest())


def template_text(template: str) -> str:
    """Return the text of a template: ``path`` under ``teamworld.methods``, or ``package:path`` in another package."""
    package, _, path = template.rpartition(":")
    return (files(package or _HOME) / path).read_text("utf-8")


def _texts(template: str) -> Iterator[str]:
    """Yield the text of a template, then those of the templates that it includes."""
    text = template_text(template)
    yield text
    for included in _included(text):
        if included is None:
            raise ValueError(f"{template} includes a template that is not named in it")
        yield from _texts(included)


def included_templates(template: str) -> Iterator[str]:
    """Yield the templates that a template includes, and those that these include."""
    for included in _included(template_text(template)):
        if included is not None:
            yield included
            yield from included_templates(included)


@lru_cache(maxsize=1024)
def _included(text: str) -> tuple[str | None, ...]:
    """Return the templates that a text includes; None of one that is not named in it."""
    return tuple(meta.find_referenced_templates(environment().parse(text)))


def templates() -> tuple[str, ...]:
    """Return the paths of all templates of the built-in methods."""
    folders = sorted((method for method in files(_HOME).iterdir()), key=lambda entry: entry.name)
    return tuple(
        f"{method.name}/prompts/{name}"
        for method in folders
        if (method / "prompts").is_dir()
        for name in sorted(entry.name for entry in (method / "prompts").iterdir())
        if name.endswith(".md.j2")
    )


def template_versions(others: Iterable[str] = ()) -> dict[str, TemplateInfo]:
    """Return version and hash of every template of the built-in methods and of others, by path: for a run's record."""
    return {template: template_info(template) for template in dict.fromkeys((*templates(), *others))}
