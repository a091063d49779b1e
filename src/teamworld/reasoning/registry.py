"""Reasoners by the name a user types.

A package adds a reasoner of its own with an entry point of the group ``teamworld.reasoners``, or it is named as
``MODULE:NAME``, see ``teamworld.plugins``. What is named is a class or function that is called once an episode with the
episode's generators (``seeding.Streams``), and with the text behind a further colon where there is one; it returns a
``contract.Reasoner``. A replay asks it again, so the same questions have to get the same answers.
"""

from __future__ import annotations

from inspect import iscoroutinefunction

from teamworld import plugins
from teamworld.errors import UserError, suggest
from teamworld.reasoning.contract import Reasoner
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.keys import scrub
from teamworld.reasoning.llm.model_names import is_model, parse_endpoint
from teamworld.reasoning.router import parse_routes
from teamworld.reasoning.rules import NoisyRules, RuleReasoner
from teamworld.seeding import Streams, generator

GROUP = "teamworld.reasoners"
#: Not a reasoner of its own: those of a recorded run answer again, from their record.
REPLAY = "replay"

#: Names of reasoners of this package.
RESERVED = ("rules", HUMAN, REPLAY, "mailbox", "gguf", "http", "https", "openai", "anthropic", "google")
#: What ``--reasoner`` takes, as a message lists it.
REASONERS = (
    *("rules", "rules:noise=RATE", "openai:MODEL", "anthropic:MODEL", "google:MODEL", "http://HOST:PORT/v1#MODEL"),
    *("gguf:FILE", "mailbox:DIR", HUMAN, REPLAY, "MODULE:NAME", "WHO=REASONER,..."),
)


def describe(name: str) -> str:
    """Return the reasoner in words: rules are called rules, a stand-in a stand-in."""
    routes = parse_routes(name)
    if len(routes) > 1:
        return "; ".join(f"{route.who}: {describe(route.name)}" for route in routes)
    name = routes[0].name
    if name == "rules":
        return "built-in rules, no language model"
    if name == HUMAN:
        return "a person, no language model"
    if name.startswith("rules:"):
        return f"stand-in {name}: rules that err, no language model"
    return name


def list_models(text: str) -> list[str]:
    """Return the language models that ``--reasoner`` names, each once, in order."""
    return [name for name in dict.fromkeys(route.name for route in parse_routes(text)) if is_model(name)]


def asks_someone(text: str) -> bool:
    """Return whether ``--reasoner`` names a language model or a person, whose answers stand on record."""
    return asks_person(text) or any(is_model(route.name) for route in parse_routes(text))


def asks_person(text: str) -> bool:
    """Return whether ``--reasoner`` names a person, who answers at a terminal or on a page of ``teamworld play``."""
    return any(route.name == HUMAN for route in parse_routes(text))


def check_name(text: str) -> None:
    """Check that ``--reasoner`` takes a text; raises ``UserError``."""
    for route in parse_routes(text):
        if route.name.partition(":")[0] == REPLAY:
            raise UserError(
                "replay answers for all reasoners of a run: --reasoner replay, or replay:DIR, and nothing else"
            )
        if is_model(route.name):
            parse_endpoint(route.name)
        elif route.name != HUMAN:
            make_reasoner(route.name, lambda *names: generator(0, *names))


def load(text: str) -> None:
    """Import the reasoners that ``--reasoner`` names as ``MODULE:NAME``; raises ``UserError``."""
    for route in parse_routes(text):
        if (reference := _reference(route.name)) is not None:
            try:
                plugins.load(reference)
            except UserError as error:
                raise UserError(scrub(str(error))) from error.__cause__


def is_plugin(name: str) -> bool:
    """Return whether a reasoner is another package's: named as ``MODULE:NAME``, or registered."""
    return _reference(name) is not None or name.partition(":")[0] in plugins.entry_names(GROUP)


def _reference(name: str) -> str | None:
    """Return the ``MODULE:NAME`` that a reasoner's name begins with, None for the names that this package knows."""
    known = is_model(name) or name.partition(":")[0] in ("rules", HUMAN, REPLAY)
    return None if known else plugins.reference(name)


def make_reasoner(name: str, streams: Streams) -> Reasoner:
    """Return the reasoner of that name for one episode, if it is not a language model; raises ``UserError``."""
    kind, colon, options = name.partition(":")
    if kind != "rules":
        return _make_plugin(name, streams)
    if not options:
        if colon:
            raise UserError(f"expected 'rules' or 'rules:noise=RATE', got '{name}'")
        return RuleReasoner(streams)
    option, _, value = options.partition("=")
    if option not in ("noise", "slips"):  # slips: as earlier versions spelt it
        raise UserError(f"unknown option '{option}' of reasoner 'rules'; it has: noise=RATE")
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise UserError(f"{option} is a rate from 0 to 1, got '{value}'")
    return NoisyRules(streams, rate, option)


def _make_plugin(name: str, streams: Streams) -> Reasoner:
    """Return the reasoner of another package for one episode; raises ``UserError``."""
    called = _reference(name) or name.partition(":")[0]
    offered = plugins.loaded(called) if _reference(name) else plugins.load_entry(GROUP, called)
    if offered is None:
        known = [*REASONERS, *plugins.entry_names(GROUP)]
        raise UserError(f"unknown reasoner '{scrub(name)}'{suggest(called, known)}")
    options = name[len(called) + 1 :]
    try:
        made = offered(streams, *([options] if options else []))  # type: ignore[operator]
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"the reasoner '{scrub(name)}' cannot be made: {type(error).__name__}: {error}") from error
    missing = [] if isinstance(getattr(made, "name", None), str) else ["name, a text"]
    missing += [] if iscoroutinefunction(getattr(made, "ask", None)) else ["async ask(question, tries)"]
    if missing:
        raise UserError(f"'{called}' is no reasoner: what it returns lacks {' and '.join(missing)}")
    reasoner: Reasoner = made
    return reasoner
