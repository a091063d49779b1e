"""Reasoners by the name a user types."""

from __future__ import annotations

from teamworld.errors import UserError, suggest
from teamworld.reasoning.contract import Reasoner
from teamworld.reasoning.rules import Rules, Slips
from teamworld.seeding import Streams

#: What ``--reasoner`` takes, with one line each.
REASONERS = {
    "rules": "the built-in rules; no key, no network",
    "rules:slips=RATE": "a stand-in that errs like a weak model at the given rate (0 to 1); not a language model",
}


def in_words(name: str) -> str:
    """Return the mind in words: what is rules is called rules, a stand-in a stand-in."""
    if name == "rules":
        return "built-in rules, no language model"
    if name.startswith("rules:"):
        return f"stand-in {name}: rules that err, no language model"
    return name


def make(name: str, streams: Streams) -> Reasoner:
    """Return the reasoner of that name for one episode.

    Raises:
        UserError: No such reasoner, or an option that it does not have.
    """
    kind, _, options = name.partition(":")
    if kind != "rules":
        raise UserError(f"unknown reasoner '{name}'{suggest(kind, list(REASONERS))}")
    if not options:
        if name != kind:
            raise UserError(f"expected 'rules' or 'rules:slips=RATE', got '{name}'")
        return Rules(streams)
    option, _, value = options.partition("=")
    if option != "slips":
        raise UserError(f"unknown option '{option}' of reasoner 'rules'; it has: slips=RATE")
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise UserError(f"slips is a rate from 0 to 1, got '{value}'")
    return Slips(streams, rate)
