"""Commands that tell what there is, and whether a mind can be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from teamworld.cli.commands.application import app
from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions

if TYPE_CHECKING:
    from pydantic import BaseModel


@app.command
def worlds() -> int:
    """List the worlds and their options, and those of the messages."""
    from teamworld.episode.messages import MessageRule
    from teamworld.worlds import registry

    lines: dict[str, str] = {}
    for name in registry.names():
        lines[name] = registry.summary(name)
        lines |= _options(name, registry.option_model(name))
    lines["messages"] = "what may be said, who hears it and what it costs, in every world"
    _listing(lines | _options("messages", MessageRule))
    return 0


@app.command
def levels(world: str = "cube") -> int:
    """List the levels of a world.

    Parameters
    ----------
    world:
        Name of the world.
    """
    from teamworld.worlds import registry

    _listing(registry.levels(world))
    return 0


@app.command
def methods() -> int:
    """List the coordination methods, their options, their own rules for messages and their variants."""
    from teamworld.experiment.message_protocol import rule
    from teamworld.methods import registry

    lines: dict[str, str] = {}
    for name in registry.names():
        found = registry.method_class(name)
        lines[name] = found.summary
        lines |= _options(name, found.options)
        if found.talk:
            lines[f"  --talk native ({name})"] = rule(name, "native", {}).in_words()
        lines |= {f"  {name}:{variant}": one.summary for variant, one in found.variants.items()}
    _listing(lines)
    return 0


@app.command
def doctor(
    *,
    reasoner: str,
    answers: str | None = None,
    key_env: str | None = None,
    timeout: float = 60.0,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Look whether a mind can be used: name, packages, key, server, model, forms of answers, a round trip.

    Asks each language model four small questions. Exits with 1 if something has to be done first.

    Parameters
    ----------
    reasoner:
        As for teamworld run; of a server's address the model may be missing, to see what it serves.
    answers:
        Form of the answers of the run to come: schema, tool, json or text. [default: the best for the model]
    key_env:
        Name of the environment variable that holds the key (never the key itself).
    timeout:
        Seconds to wait for one answer. [default: 60]
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli.doctoring import look
    from teamworld.reasoning.llm.contract import FORMS

    form = next((form for form in FORMS if form == answers), None)
    if answers not in (None, "auto") and form is None:
        raise UserError(f"--answers is one of auto, {', '.join(FORMS)}; got '{answers}'")
    return look(reasoner, form, RunOptions(key_env=key_env, timeout=timeout), as_json=json)


def _options(owner: str, model: type[BaseModel]) -> dict[str, str]:
    """Return one line for each option of a world, a method or the messages."""
    fields = model.model_fields.items()
    return {f"  --set {owner}.{name}={_yaml(field.default)}": field.description or "" for name, field in fields}


def _yaml(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _listing(lines: Mapping[str, str]) -> None:
    width = max(map(len, lines), default=0)
    for name, text in lines.items():
        print(f"{name:<{width}}  {text}".rstrip())
