"""What the command ``play`` does: seats, their pages, and the run that asks them."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from teamworld.cli import executions
from teamworld.errors import UserError, printable, suggest
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec
from teamworld.methods import registry as methods
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.registry import describe
from teamworld.reasoning.router import parse_routes
from teamworld.viewer.play.desk import PlayDesk
from teamworld.viewer.play.known_map import drawer
from teamworld.viewer.play.server import PlayServer
from teamworld.worlds import registry as worlds

#: Seconds that pages get to learn that the run is over.
_FAREWELL = 3.0


class PlaySession(NamedTuple):
    """A run with people in it."""

    experiment: ExperimentSpec
    seats: tuple[str, ...]
    """Whom people play."""
    team: Mapping[str, str]
    """The kind of each agent, in the team's order."""


def prepare(experiment: ExperimentSpec, seats: Sequence[str]) -> PlaySession:
    """Return the run in which people play some agents, the first of the team where none is named.

    Raises:
        UserError: The experiment cannot be run, or a person cannot play an agent of it.
    """
    label = experiment.methods[0]
    others = experiment.reasoner
    if any(route.name == HUMAN for route in parse_routes(others)):
        raise UserError("--as names whom people play: leave human out of --reasoner, which says who answers for others")
    experiment.load_plugins()
    method, team = methods.load(label), _team(experiment)
    people = tuple(dict.fromkeys(seats)) or (next(iter(team)),)
    able = (*team, *method.respondents)
    for who in people:
        if who not in able:
            raise UserError(
                f"--as takes who is asked in this team ({', '.join(able)}), got '{who}'{suggest(who, list(able))}"
            )
    parts = methods.parts_of(label)
    for place, agent in enumerate(team):
        if agent in people and not methods.method_class(part := parts[place % len(parts)]).questions:
            asking = [name for name in methods.ready_names() if methods.method_class(name).questions]
            raise UserError(
                f"{part} asks its agents nothing, so who plays {agent} would have nothing to say: choose a --method "
                f"that asks ({', '.join(asking)}), or deal them out, as in greedy+react"
            )
    rest = others if "=" in others and len(parse_routes(others)) > 1 else f"*={others}"
    reasoner = ",".join((*(f"{who}={HUMAN}" for who in people), rest))
    return PlaySession(experiment.model_copy(update={"reasoner": reasoner}), people, team)


def _team(experiment: ExperimentSpec) -> dict[str, str]:
    """Return the agents of the first episode, with the kind of each."""
    cell = experiment.cells()[0]
    seed = cell.world_seed(experiment.episode_numbers[0], experiment.instances)
    options = experiment.resolved().options[experiment.world]
    world = worlds.make(experiment.world, experiment.level, seed, experiment.step_limit, options)
    return {agent: world.spec.kinds[agent] for agent in world.spec.agents}


def run(session: PlaySession, out: Path | None, options: RunOptions, *, port: int, opens: bool, as_json: bool) -> None:
    """Open a page for each person, run to the end, and print the tables or the JSON of the run.

    Raises:
        UserError: The run cannot go on; the pages are told.
    """
    experiment = session.experiment
    words = f"{experiment.world} {experiment.level}: {experiment.methods[0]}"
    desk = PlayDesk(session.seats, words, drawer(experiment.world, session.team))
    with PlayServer(desk, port) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for agent in session.seats:
            address = server.address_of(agent)
            print(printable(f"{agent}: {address}"), file=sys.stderr)
            if opens:
                webbrowser.open(address)
        print(
            printable(
                f"For this machine only. Who answers: {describe(experiment.reasoner)}. ctrl-C stops; the same command "
                f"goes on."
            ),
            file=sys.stderr,
            flush=True,
        )
        note = "It was stopped. The command that began it goes on from here, at a new address."
        try:
            executions.execute(experiment, out, options, figures=False, as_json=as_json, desk=desk)
            note = "All is played and recorded: close this page; teamworld view shows the run."
        except UserError as error:
            note = f"It was stopped: {error}"
            raise
        finally:
            desk.finish(note)
            server.wait_for_pages(_FAREWELL)
            server.shutdown()
