"""The command by which people play in a team: play.

What it does is imported when it is used: help is shown without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.options import DEFAULT_RUN, DEFAULT_SPEC, Flag, Int, Names, RunArguments, SpecArguments, split_names


def play(
    world: str,
    *,
    seats: Annotated[Names, Parameter(name="--as")] = None,
    method: str = "drwell",
    spec: SpecArguments = DEFAULT_SPEC,
    out: Path | None = None,
    port: Int = None,
    no_browser: Flag = False,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Play agents of a team yourself, in the browser on this machine, while the others play by a method.

    Each person has a page of their own, at an address that nobody else is told. It shows what this agent sees,
    remembers and was told, and nothing else, and asks what the method asks its agents: which task, which action or
    plan, what to say. An answer that is impossible is refused with the reason. If the page is closed, open the same
    address again; if the command is stopped, the same command goes on after the last answer. The run is recorded like
    any other: report, view, replay, fork and compare take it, and it says that a person answered.

    Examples:
        teamworld play cube --as agent_1

        teamworld play household --as Alice,Bob --method coela

        teamworld play transport --as Bob --method cobel --reasoner openai:gpt-4o

    Parameters
    ----------
    world:
        Name of a world (see: teamworld worlds).
    seats:
        The agents that people play, with commas between; each gets a page. [default: the first of the team]
    method:
        Coordination method of the team (see: teamworld methods).
    out:
        Folder of the run. [default: a name made from the arguments, under runs/]
    port:
        Of the pages. [default: any that is free]
    no_browser:
        Only print the addresses of the pages.
    json:
        Print one JSON object with every episode, and nothing else.
    """
    options.refuse_shard()
    from teamworld.cli import play_session
    from teamworld.experiment.spec import build

    experiment = build({**spec.fields(), "world": world, "methods": [method]})
    session = play_session.prepare(experiment, split_names(seats or ()))
    play_session.run(session, out, options, port=port or 0, opens=not no_browser, as_json=json)
    return 0
