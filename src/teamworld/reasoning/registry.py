"""Reasoners by the name a user types."""

from __future__ import annotations

from teamworld.errors import UserError, suggest
from teamworld.reasoning.contract import Reasoner
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.keys import scrub
from teamworld.reasoning.llm.model_names import is_model, parse_endpoint
from teamworld.reasoning.router import parse_routes
from teamworld.reasoning.rules import NoisyRules, RuleReasoner
from teamworld.seeding import Streams, generator

#: Not a reasoner of its own: those of a recorded run answer again, from their record.
REPLAY = "replay"

#: What ``--reasoner`` takes, as a message lists it.
REASONERS = (
    *("rules", "rules:noise=RATE", "openai:MODEL", "anthropic:MODEL", "google:MODEL", "http://HOST:PORT/v1#MODEL"),
    *("gguf:FILE", HUMAN, REPLAY, "WHO=REASONER,..."),
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


def make_reasoner(name: str, streams: Streams) -> Reasoner:
    """Return the reasoner of that name for one episode, if it is not a language model; raises ``UserError``."""
    kind, colon, options = name.partition(":")
    if kind != "rules":
        raise UserError(f"unknown reasoner '{scrub(name)}'{suggest(kind, list(REASONERS))}")
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
