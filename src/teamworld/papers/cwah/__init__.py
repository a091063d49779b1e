"""``teamworld reproduce cwah``: steps and messages on the ten episodes of C-WAH beside the published, or on our own."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from teamworld.errors import UserError
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.cwah.results import CwahResult, draw, numbers, terminal_lines, write_page
from teamworld.papers.cwah.teams import TeamEpisode, TeamRow, choose_rows, horizon, official_tasks, team_episode
from teamworld.papers.page import Reproduction, check_folder, seeds_text
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.human import HUMAN, Terminal
from teamworld.worlds.household.levels import SPLITS

#: Episodes of our own: to tune on, or to report.
Split: TypeAlias = Literal["dev", "test"]
#: Seeds of a run folder: a larger number of generated episodes goes on with what is there.
_SEEDS_PER_FOLDER: Final = 10
#: Folders from which processes of their own are worth their start.
_MIN_PARALLEL: Final = 8


class Generated(NamedTuple):
    """Episodes of our own, each of another seed."""

    split: Split
    seeds: range


class CwahPlan(NamedTuple):
    """What to run."""

    data: Path | None = None
    """Folder, or pickle, of the official test set; None with generated episodes."""
    seeds: int = 5
    """On each official episode."""
    rows: tuple[TeamRow, ...] = choose_rows(None)
    generated: Generated | None = None
    """Episodes of our own in place of the official ones."""
    reasoner: str = "rules"
    cap: int | None = None
    """Most messages of an agent in an episode, for all that are compared; None: no bound."""
    terminal: Terminal | None = None
    """Where a person answers who is part of a team."""

    @property
    def available(self) -> tuple[TeamRow, ...]:
        """The rows that are run: the other methods are not in this version."""
        return tuple(row for row in self.rows if row.is_available)

    @property
    def size(self) -> int:
        """Episodes in all."""
        return len(self.available) * sum(len(seeds) for _, seeds in self.places())

    def places(self) -> list[tuple[str, range]]:
        """Return the levels with their seeds, as run folders hold them."""
        if self.generated is None:
            seeds = range(FIRST_SEED, FIRST_SEED + self.seeds)
            return [(f"official-{number}", seeds) for number in official_tasks()]
        split, seeds = self.generated
        begins = [seed for seed in seeds if seed == seeds.start or seed % _SEEDS_PER_FOLDER == 0]
        return [(split, range(a, b)) for a, b in zip(begins, [*begins[1:], seeds.stop], strict=True)]

    @property
    def seeds_in_words(self) -> str:
        """The seeds in words."""
        if self.generated is None:
            return seeds_text(range(FIRST_SEED, FIRST_SEED + self.seeds))
        seeds = self.generated.seeds
        return f"{len(seeds)} episodes of {self.generated.split}, {seeds[0]} to {seeds[-1]}"


class RowRun(NamedTuple):
    """A row on one level with some seeds: one run folder."""

    row: TeamRow
    path: Path
    experiment: ExperimentSpec


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for.

    Raises:
        UserError: The options do not fit together, or name what there is not.
    """
    generated = None if options.episodes is None else parse_episodes(options.episodes)
    if generated is None and options.data is None:
        raise UserError(
            "reproduce cwah needs --data PATH, the folder of the C-WAH test set, which this package has not; "
            "--episodes dev:50 plays episodes of our own"
        )
    if generated is not None:
        for name, value in {"--data": options.data, "--seeds": options.seeds, "--quick": options.quick}.items():
            if value:
                raise UserError(
                    f"{name} belongs to the official episodes: leave it out with --episodes {options.episodes}"
                )
    if options.data is not None and not options.data.exists():
        raise UserError(f"--data {options.data}: there is no such folder or file")
    if options.cap is not None and options.cap < 1:
        raise UserError(f"--cap is a number of messages from 1 on, got {options.cap}")
    plan = CwahPlan(
        data=None if options.data is None else options.data.resolve(),
        seeds=options.seeds or (1 if options.quick else CwahPlan().seeds),
        rows=choose_rows(options.method),
        generated=generated,
        reasoner=options.reasoner or "rules",
        cap=options.cap,
        terminal=terminal,
    )
    return Job(partial(reproduce, out, plan, command), plan.size)


def parse_episodes(text: str) -> Generated | None:
    """Return which episodes ``--episodes`` names: None for the official ones, else ``SPLIT:NUMBER`` or a range.

    The split has to be named, so that nobody looks at episodes of ``test`` by accident.

    Raises:
        UserError: It is none of these.
    """
    if text == "official":
        return None
    match = re.fullmatch(r"(\w+):(?:([0-9]{1,6})-)?([0-9]{1,6})", text)
    split = next((name for name in get_args(Split) if match is not None and match[1] == name), None)
    if match is None or split is None:
        raise UserError(
            f"--episodes is official, dev:NUMBER or test:NUMBER (dev to tune on, test to report), or a range such as "
            f"dev:100-149; got '{text}'"
        )
    first, last = (int(match[2]), int(match[3])) if match[2] else (0, int(match[3]) - 1)
    count = len(SPLITS[split])
    if not first <= last < count:
        raise UserError(f"--episodes {text}: {split} has episodes 0 to {count - 1}; expected one of them or more")
    return Generated(split, range(first, last + 1))


def reproduce(out: Path, plan: CwahPlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run every row in ``runs``, each in a folder of its own; write figure and page."""
    check_folder(out, "runs", "cwah")
    runs = [row_run for row in plan.available for row_run in _runs(out, plan, row)]
    if not runs:
        raise UserError(f"nothing to run: {', '.join(row.name for row in plan.rows)} is not in this version")
    _check(runs)
    episodes: dict[str, list[TeamEpisode]] = {row.key: [] for row in plan.available}
    for row_run, results in _run_all(runs, plan):
        episodes[row_run.row.key] += results
        for episode in results:
            progress(f"{row_run.row.name}, {episode.level}, seed {episode.seed}")
    result = CwahResult(
        seeds=plan.seeds_in_words,
        rows=plan.rows,
        episodes={key: sorted(own, key=_place) for key, own in episodes.items()},
        split=None if plan.generated is None else plan.generated.split,
        reasoner=reasoners.describe(plan.reasoner),
        cap=plan.cap,
    )
    drawn = draw(out / "figures", result) if importlib.util.find_spec("matplotlib") else None
    page = write_page(out, command, result, drawn)
    return Reproduction(page, () if drawn is None else (drawn,), numbers(result), terminal_lines(result))


def _place(episode: TeamEpisode) -> tuple[int, int]:
    """Return where an episode comes: in the papers' order, then by seed."""
    number = episode.level.partition("official-")[2]
    return (list(official_tasks()).index(int(number)) if number else 0, episode.seed)


def _runs(out: Path, plan: CwahPlan, row: TeamRow) -> list[RowRun]:
    # Runs of a row that asks nobody are the same whatever the reasoner.
    reasoner = plan.reasoner if row.asks else "rules"
    world: dict[str, Any] = {"agents": row.agents}
    if plan.data is not None:
        world["data"] = str(plan.data)
    fields: dict[str, Any] = {
        "world": "household",
        "methods": [row.method],
        "reasoner": reasoner,
        "max_steps": horizon(),
        "options": {"household": world, **row.options()},
    }
    if plan.cap is not None:
        # Without a cap each method talks by its own rule; with one, all by the same.
        fields["options"]["messages"] = {"ticks": 1, "paid_by": "speaker", "most": plan.cap}
        fields["talk"] = "equal"
    return [
        RowRun(
            row,
            out / "runs" / row.key / f"{level}-s{seeds[0]}-{seeds[-1]}",
            build({**fields, "level": level, "seeds": list(seeds)}),
        )
        for level, seeds in plan.places()
    ]


def _check(runs: Sequence[RowRun]) -> None:
    """Check that everything can be run, before anything is written.

    Raises:
        UserError: Something cannot: a level has no data, or a folder holds another run.
    """
    first_of_row = {row_run.row.key: row_run for row_run in reversed(runs)}
    first_of_level = {row_run.experiment.level: row_run for row_run in reversed(runs)}
    tried = {row_run.path: row_run for row_run in (*first_of_row.values(), *first_of_level.values())}
    for row_run in tried.values():
        RunFolder(row_run.path).check(row_run.experiment.resolved())


def _run_all(runs: Sequence[RowRun], plan: CwahPlan) -> Iterator[tuple[RowRun, list[TeamEpisode]]]:
    """Yield each run with its episodes, as they end; in processes where nobody has to be waited for."""
    waits = bool(reasoners.list_models(plan.reasoner)) or HUMAN in plan.reasoner
    processes = 1 if waits else process_pool.many(len(runs), _MIN_PARALLEL, None)
    if processes < 2:
        yield from (run_row(row_run, plan.terminal) for row_run in runs)
    else:
        yield from process_pool.as_done(run_row, runs, processes)


def run_row(row_run: RowRun, terminal: Terminal | None = None) -> tuple[RowRun, list[TeamEpisode]]:
    """Run a row on a level, or go on with it, and measure its episodes."""
    run(row_run.experiment, row_run.path, running=RunOptions(processes=1), watch=RunMonitor(terminal=terminal))
    folder = RunFolder(row_run.path)
    experiment = folder.experiment()
    return row_run, [
        team_episode(experiment.level, measured)
        for cell in experiment.cells()
        for measured in episode_metrics.of_cell(folder, cell)
    ]
