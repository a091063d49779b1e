"""Commands that list what there is, and check that a reasoner works: worlds, levels, methods, doctor.

Each imports what it needs when it is used: help is shown without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from teamworld.cli.options import Flag
from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

    from teamworld.reasoning.llm.contract import Form
    from teamworld.reasoning.llm.doctor import Check

_MARKS = {True: ("ok", "green"), False: ("no", "bold red"), None: ("--", "yellow")}


def worlds(*names: str) -> int:
    """List the worlds and their options, and those of the messages.

    Parameters
    ----------
    names:
        Only these; MODULE:NAME for one of your own. [default: all that ship or are registered]
    """
    from teamworld.episode.message_delivery import MessageRule
    from teamworld.worlds import registry as known_worlds

    lines: dict[str, str] = {}
    for name in names or known_worlds.names():
        lines[name] = known_worlds.load(name).SUMMARY
        lines |= _options(name, known_worlds.option_model(name))
    lines["messages"] = "what may be said, who hears it and what it costs, in every world"
    _print(lines | _options("messages", MessageRule))
    return 0


def levels(*worlds: str, headroom: Flag = False) -> int:
    """List the levels of worlds, each with the step limit that holds unless --max-steps is given.

    Headroom, where it was measured, is the share of its steps that the best silent team could save (of its damage where
    a fire is fought), with a 95 % interval: how much coordination can matter there.

    Parameters
    ----------
    worlds:
        Names of worlds, or MODULE:NAME of one of your own. [default: all that ship or are registered]
    headroom:
        Only levels and headroom, first the levels of which most is known to be saved, last those that were not
        measured, with the reason.
    """
    from teamworld.experiment.suites.suite import headrooms, unmeasured
    from teamworld.worlds import registry as known_worlds

    if headroom:
        for world in worlds:
            known_worlds.load(world)
        known = {place: own for place, own in headrooms().items() if not worlds or place[0] in worlds}
        order = sorted(known, key=lambda place: (-known[place].least[0], -known[place].most[0], place))
        lines = {" ".join(place): known[place].in_words() for place in order}
        reasons = {place: why for place, why in unmeasured().items() if not worlds or place[0] in worlds}
        _print(lines | {" ".join(place): f"not measured: {why}" for place, why in reasons.items()})
        return 0
    for world in worlds or known_worlds.names():
        known_worlds.load(world)
        if len(worlds) != 1:
            print(f"{world}:")
        _print_levels(world)
    return 0


def _print_levels(world: str) -> None:
    from teamworld.experiment.suites.suite import headrooms, unmeasured
    from teamworld.worlds import registry as known_worlds

    limits = {level: f"{known_worlds.step_limit(world, level, {}):,} steps" for level in known_worlds.levels(world)}
    width = max(map(len, limits.values()), default=0)
    stated = {place: f"headroom not measured: {why}" for place, why in unmeasured().items()}
    stated |= {place: headroom.in_words() for place, headroom in headrooms().items()}
    for level, line in known_worlds.levels(world).items():
        saved = f"; {stated[world, level]}" if (world, level) in stated else ""
        limits[level] = f"{limits[level]:>{width}}  {line}{saved}"
    _print(limits)


def methods(*names: str) -> int:
    """List the coordination methods, their options, their own rules for messages and their variants.

    Parameters
    ----------
    names:
        Only these; MODULE:NAME for one of your own. [default: all that ship or are registered]
    """
    from teamworld.experiment.message_protocol import rule
    from teamworld.methods import registry as known_methods

    lines: dict[str, str] = {}
    for name in names or known_methods.names():
        method = known_methods.load(name)
        lines[name] = method.summary
        lines |= _options(name, method.options)
        if method.talk:
            lines[f"  --talk native ({name})"] = rule(name, "native", {}).in_words()
        lines |= {f"  {name}:{variant}": settings.summary for variant, settings in method.variants.items()}
    _print(lines)
    return 0


def _options(owner: str, model: type[BaseModel]) -> dict[str, str]:
    """Return one line for each option of a world, a method or the messages."""
    lines = {}
    for name, field in model.model_fields.items():
        value = "VALUE" if field.is_required() else _yaml(field.default)
        lines[f"  --set {owner}.{name}={value}"] = field.description or ""
    return lines


def _yaml(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _print(lines: Mapping[str, str]) -> None:
    width = max(map(len, lines), default=0)
    for name, text in lines.items():
        print(f"{name:<{width}}  {text}".rstrip())


def schema() -> int:
    """Print the JSON Schema of a log's records; each line of a log is one record."""
    import json

    import msgspec

    from teamworld.record import SCHEMA, Event

    described = msgspec.json.schema(Event)
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"A record of a log, format {SCHEMA}"}
    print(json.dumps(title | described, indent=2))
    return 0


def completion(shell: Literal["bash", "zsh", "fish", "powershell"]) -> int:
    """Print a script that completes commands and options in a shell.

    bash: teamworld completion bash > ~/.local/share/bash-completion/completions/teamworld

    zsh: teamworld completion zsh > a folder of your fpath, as _teamworld

    fish: teamworld completion fish > ~/.config/fish/completions/teamworld.fish

    Parameters
    ----------
    shell:
        Which shell.
    """
    from teamworld.cli import application

    print(application().generate_completion(shell=shell))
    return 0


def doctor(
    reasoner: str,
    *,
    answers: str | None = None,
    key_env: str | None = None,
    timeout: float = 60.0,
    json: Flag = False,
) -> int:
    """Check that a reasoner works: name, packages, key, server, model, forms of answers, a round trip.

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
        Seconds to wait for one answer.
    json:
        Print one JSON object, and nothing else.
    """
    from rich.console import Console
    from rich.text import Text

    from teamworld.cli.monitor import dump
    from teamworld.reasoning.llm.contract import FORMS

    form = next((form for form in FORMS if form == answers), None)
    if answers not in (None, "auto") and form is None:
        raise UserError(f"--answers is one of auto, {', '.join(FORMS)}; got '{answers}'")
    results = dict(_examine(reasoner, form, RunOptions(key_env=key_env, timeout=timeout)))
    if json:
        dump({name: [check._asdict() for check in checks] for name, checks in results.items()})
    else:
        console = Console(highlight=False)
        for name, checks in results.items():
            console.print(name, markup=False)
            for check in checks:
                mark, style = _MARKS[check.ok]
                console.print(Text.assemble("  ", (mark, style), f"  {check.name}: {check.result}"), soft_wrap=True)
                if check.todo:
                    console.print(f"        {check.todo}", markup=False, soft_wrap=True)
    return int(any(check.ok is False for checks in results.values() for check in checks))


def _examine(text: str, form: Form | None, options: RunOptions) -> Iterator[tuple[str, list[Check]]]:
    """Yield what was found of each reasoner that ``--reasoner`` names."""
    from teamworld.reasoning import registry as reasoners
    from teamworld.reasoning.llm.doctor import Check, examine
    from teamworld.reasoning.llm.keys import scrub
    from teamworld.reasoning.router import parse_routes

    team = reasoners.list_models(text)
    if text.strip().partition(":")[0] == reasoners.REPLAY:
        yield text, [Check("reasoner", True, "the answers on record; nobody is asked")]
        return
    for name in dict.fromkeys(share.name for share in parse_routes(text)):
        if name in ("rules", "human") or name.startswith("rules:") or reasoners.is_plugin(name):
            reasoners.load(name)
            reasoners.check_name(name)
            yield name, [Check("reasoner", True, reasoners.describe(name))]
        else:
            checks = examine(name, key_env=options.key_env, form=form, read=options.timeout, team=team)
            yield scrub(name), asyncio.run(checks)
