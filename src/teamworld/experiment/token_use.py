"""How many tokens a team's questions took in each episode of a run: what a control may take there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from teamworld.errors import UserError
from teamworld.experiment.metered_reasoner import MeteredReasoner
from teamworld.experiment.replay import replaying
from teamworld.experiment.spec import TokenLimit
from teamworld.experiment.store.folder import RunFolder
from teamworld.reasoning.allowance import TokenAllowance
from teamworld.reasoning.contract import Reasoner


def team_use(folder: RunFolder, method: str) -> dict[int, tuple[TokenLimit, ...]]:
    """Return what a method's episodes of a finished run took, by seed and in order: they are played again.

    Nobody is asked: answers of language models are on record.

    Args:
        folder: The run.
        method: Its label.

    Raises:
        UserError: An episode is missing, or does not play again as it was.
    """
    experiment = folder.experiment().resolved()
    used: dict[int, list[TokenLimit]] = {seed: [] for seed in experiment.seeds}
    finished = [(cell, row) for cell, row in folder.finished(experiment) if cell.method == method]
    if len(finished) < len(experiment.seeds) * experiment.episodes:
        raise UserError(
            f"{folder.path} lacks an episode of {method}, which may have ended in an error: its control has no budget "
            "there; the same command with --repeat-errors plays it again"
        )
    meters: list[TokenAllowance] = []

    def metered(reasoner: Reasoner) -> Reasoner:
        meters.append(TokenAllowance(0, 0))
        return MeteredReasoner(reasoner, meters[-1], reasoning=experiment.reasoning == "on")

    with (
        tempfile.TemporaryDirectory(prefix="teamworld-") as scratch,
        replaying(folder, experiment, Path(scratch), metered) as replay_one,
    ):
        for cell, row in finished:
            played = replay_one(cell, row)
            if played.difference is not None:
                raise UserError(f"{played.log} does not play again as it was, so its tokens are not known")
            used[cell.seed].append(TokenLimit(tokens=meters[-1].taken, steps=row.summary.steps))
    return {seed: tuple(limits) for seed, limits in used.items()}
