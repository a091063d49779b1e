"""Commands that ask what would have happened otherwise: fork, worth.

What they do is imported when they are used: help is shown without it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.options import DEFAULT_RUN, Flag, Int, RunArguments
from teamworld.errors import UserError
from teamworld.experiment.run_options import LOCAL

#: Continuations, orders and processes at most.
_MOST = 10_000


def fork(
    run: Path,
    *,
    episode: Int = 1,
    step: Int = None,
    change: Path | None = None,
    method: str | None = None,
    seed: Int = None,
    out: Annotated[Path | None, Parameter(name=("--out", "--output"))] = None,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Play a recorded episode again, and from a step on otherwise: one message, answer, plan or player is changed.

    All random numbers that the change does not touch are the same, and reasoners are asked only what they have not
    answered in the record. Up to the step the two logs are the same; without a change they are so byte for byte.
    The fork is a run like any other: report, view, replay and resume take it.

    A change file holds one of these, or a list:

        message: {agent: agent_0, drop: true}

        message: {agent: agent_0, number: 2, text: "I take block 3."}

        answer: {agent: agent_1, question: drwell.propose, answer: {goal: block_0, reason: It is near.}}

        plan: {agent: agent_1, plan: "plan for block_0 { wait() }"}

        hand_over: {agents: [agent_1], method: greedy}

    Examples:
        teamworld fork runs/first --episode 3 --step 12 --change late.yaml --out runs/late

        teamworld view runs/late --export late.html

    Parameters
    ----------
    run:
        Folder of the run.
    episode:
        Number of the episode.
    step:
        The step in which the change takes place, counted from 0 as everywhere in a log.
    change:
        File with the change, in YAML. [default: none, the episode is played as it was]
    method:
        Its method, where the run has several. [default: the first with a finished episode]
    seed:
        Its seed, where the run has several. [default: the first with a finished episode]
    out:
        Folder of the new run. [default: a name made from the arguments, beside the run]
    json:
        Print one JSON object, and nothing else.
    """
    if (step is None) != (change is None):
        raise UserError("--step says when the change of --change takes place: give both, or neither for a null fork")
    if step is not None and step < 0:
        raise UserError(f"--step is a number from 0, got {step}")
    options.refuse_shard()
    from teamworld.cli import fork_output
    from teamworld.experiment.fork import find_episode, read_changes
    from teamworld.experiment.store.folder import RunFolder

    changes = read_changes(change, step) if change is not None and step is not None else ()
    origin = find_episode(RunFolder(run), episode if episode is not None else 1, method, seed)
    fork_output.play_fork(origin, changes, out, options, as_json=json)
    return 0


def worth(
    run: Path,
    *,
    episode: Int = 1,
    method: str | None = None,
    seed: Int = None,
    continuations: Int = None,
    orders: Int = 20,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Measure what each message and each agent of an episode was worth, by forks without it.

    A message: what came out with it, less what comes out if nobody hears it. An agent: its Shapley value, against
    agents that wait; exact for teams of up to six, from drawn orders for larger ones.

    Where language models answered, every fork asks them anew from its change on, each in a run of its own under
    worth/ in the folder of the run: the same command goes on with what was stopped. Before the first call it says how
    many forks there are, and what the recorded episode took.

    Examples:
        teamworld worth runs/first --episode 3

        teamworld worth runs/first --continuations 50 --json

        teamworld worth runs/talk --continuations 3 --budget 5usd

    Parameters
    ----------
    run:
        Folder of the run.
    episode:
        Number of the episode.
    method:
        Its method, where the run has several. [default: the first with a finished episode]
    seed:
        Its seed, where the run has several. [default: the first with a finished episode]
    continuations:
        How often the episode goes on with other random numbers of its reasoner, where that draws any. [default: 20,
        with language models 3]
    orders:
        Orders of agents that are drawn, for teams of more than six.
    json:
        Print one JSON object, and nothing else.
    """
    for name, value, least in (("continuations", continuations, 2), ("orders", orders, 2)):
        if value is not None and not least <= value <= _MOST:
            raise UserError(f"--{name} is a number from {least} to {_MOST:,}, got {value}")
    options.refuse_shard()
    from teamworld.cli import fork_output
    from teamworld.experiment.fork import find_episode
    from teamworld.experiment.process_pool import processors
    from teamworld.experiment.store.folder import RunFolder

    origin = find_episode(RunFolder(run), episode if episode is not None else 1, method, seed)
    if options.engine == LOCAL and options.processes is None:
        options = replace(options, processes=processors())
    fork_output.measure_worth(origin, options, continuations=continuations, orders=orders or 20, as_json=json)
    return 0
