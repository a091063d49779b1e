"""Whether the minds of a run can be used, on the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from teamworld.experiment.run_options import RunOptions
from teamworld.reasoning import registry
from teamworld.reasoning.llm.contract import Form
from teamworld.reasoning.llm.doctor import Check, examine
from teamworld.reasoning.llm.keys import scrub
from teamworld.reasoning.registry import REPLAY
from teamworld.reasoning.router import parse_routes

_MARKS = {True: ("ok", "green"), False: ("no", "bold red"), None: ("--", "yellow")}


def look(text: str, form: Form | None, running: RunOptions, *, as_json: bool) -> int:
    """Examine each mind that ``--reasoner`` names; return 0 if all can be used, else 1.

    Raises:
        UserError: The text is none that ``--reasoner`` takes.
    """
    found = dict(_examined(text, form, running))
    if as_json:
        print(json.dumps({name: [check._asdict() for check in checks] for name, checks in found.items()}))
    else:
        console = Console(highlight=False)
        for name, checks in found.items():
            console.print(name, markup=False)
            for check in checks:
                mark, style = _MARKS[check.ok]
                console.print(Text.assemble("  ", (mark, style), f"  {check.name}: {check.result}"), soft_wrap=True)
                if check.todo:
                    console.print(f"        {check.todo}", markup=False, soft_wrap=True)
    return int(any(check.ok is False for checks in found.values() for check in checks))


def _examined(text: str, form: Form | None, running: RunOptions) -> Iterator[tuple[str, list[Check]]]:
    team = registry.list_models(text)
    if text.strip().partition(":")[0] == REPLAY:
        yield text, [Check("mind", True, "the answers on record; nobody is asked")]
        return
    for name in dict.fromkeys(share.name for share in parse_routes(text)):
        if name in ("rules", "human") or name.startswith("rules:"):
            registry.check_name(name)
            yield name, [Check("mind", True, registry.describe(name))]
        else:
            checks = examine(name, key_env=running.key_env, form=form, read=running.timeout, team=team)
            yield scrub(name), asyncio.run(checks)
