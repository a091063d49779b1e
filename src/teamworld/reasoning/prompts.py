"""Prompt templates: rendering a question, and the hashes that go into a run."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from teamworld.reasoning.contract import Answer, Question

_HOME = "teamworld.methods"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(_HOME, "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,
    )


def render(question: Question[Answer]) -> str:
    """Return the prompt of a question: its template, filled with its context and nothing else."""
    return _environment().get_template(question.template).render(question.context())


def prompt_hashes() -> dict[str, str]:
    """Return a short hash of every prompt template of the built-in methods, by path."""
    root = files(_HOME)
    hashes = {}
    for method in sorted(root.iterdir(), key=lambda entry: entry.name):
        folder = method / "prompts"
        if not folder.is_dir():
            continue
        for template in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if template.name.endswith(".md.j2"):
                text = template.read_bytes()
                hashes[f"{method.name}/{template.name}"] = hashlib.blake2b(text, digest_size=8).hexdigest()
    return hashes
