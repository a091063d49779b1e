"""``teamworld reproduce cwah``: steps and messages on the ten episodes of C-WAH beside the published, or on our own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from teamworld.errors import UserError
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.config import Experiment, build
from teamworld.experiment.folder import Folder
from teamworld.experiment.reasoner_factory import Watch
from teamworld.experiment.run_options import Running
from teamworld.experiment.runner import run
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.human import HUMAN, Terminal
from teamworld.report.reproduce import cwah_page
from teamworld.report.reproduce.cwah_checks import checks
from teamworld.report.reproduce.cwah_page import TITLE, Made
from teamworld.report.reproduce.cwah_published import EPISODES, HORIZON
from teamworld.report.reproduce.cwah_results import Outcome, by_episode, outcome, together
from teamworld.report.reproduce.cwah_rows import Row, chosen
from teamworld.report.reproduce.page import PAGE, Reproduction, check_folder
from teamworld.worlds.household.levels import SPLITS

#: The first seed on the official episodes, as of the other reproductions.
FIRST_SEED: Final = 42
#: Episodes of our own: to tune on, or to report.
Split: TypeAlias = Literal["dev", "test"]
#: Seeds of a run folder: more generated episodes go on with what stands.
_TOGETHER: Final = 10
#: Folders from which processes of their own are worth their start.
_WORTH: Final = 8


class Generated(NamedTuple):
    """Episodes of our own, each of another seed."""

    split: Split
    seeds: range


class Plan(NamedTuple):
    """What is run."""

    data: Path | None = None
    """Folder, or pickle, of the official test set; None with generated episodes."""
    seeds: int = 5
    """On each official episode."""
    rows: tuple[Row, ...] = chosen(None)
    generated: Generated | None = None
    """Episodes of our own in the official ones' place."""
    reasoner: str = "rules"
    cap: int | None = None
    """Most messages of an agent in an episode, for all that are compared; None: no bound."""
    terminal: Terminal | None = None
    """Where a person answers that is one of the team."""

    @property
    def played(self) -> tuple[Row, ...]:
        """The rows that are run: the others' methods do not stand in this version."""
        return tuple(row for row in self.rows if row.stands)

    @property
    def episodes(self) -> int:
        """Episodes of a row."""
        return len(EPISODES) * self.seeds if self.generated is None else len(self.generated.seeds)

    @property
    def work(self) -> int:
        """Episodes in all."""
        return len(self.played) * self.episodes

    def places(self) -> list[tuple[str, range]]:
        """Return the levels with their seeds, as run folders hold them."""
        if self.generated is None:
            seeds = range(FIRST_SEED, FIRST_SEED + self.seeds)
            return [(f"official-{number}", seeds) for number in EPISODES]
        split, seeds = self.generated
        cuts = [at for at in range(seeds.start, seeds.stop) if at == seeds.start or at % _TOGETHER == 0]
        ends = [*cuts[1:], seeds.stop]
        return [(split, range(begin, end)) for begin, end in zip(cuts, ends, strict=True)]


#: A look at everything: a seed of each episode.
QUICK: Final = Plan(seeds=1)


def generated(text: str) -> Generated | None:
    """Return which episodes ``--episodes`` names: None for the official ones, else ``SPLIT:NUMBER`` or a range.

    The split has to be named, so that nobody looks at episodes of ``test`` by accident.

    Raises:
        UserError: It is none of these.
    """
    if text == "official":
        return None
    match = re.fullmatch(r"(\w+):(?:([0-9]{1,6})-)?([0-9]{1,6})", text)
    split = next((one for one in get_args(Split) if match is not None and match[1] == one), None)
    if match is None or split is None:
        raise UserError(
            f"--episodes is official, dev:NUMBER or test:NUMBER (dev to tune on, test to report), or a range such as "
            f"dev:100-149; got '{text}'"
        )
    first, last = (int(match[2]), int(match[3])) if match[2] else (0, int(match[3]) - 1)
    most = len(SPLITS[split])
    if not first <= last < most:
        raise UserError(f"--episodes {text}: {split} has episodes 0 to {most - 1}; expected one of them or more")
    return Generated(split, range(first, last + 1))


def reproduce(out: Path, plan: Plan, command: str, progress: Callable[[str], None] = lambda text: None) -> Reproduction:
    """Run every row (or go on with it), and write figure and page.

    Args:
        out: Folder of the page; runs go into its folder ``runs``, each row's into one of its own.
        plan: What to run.
        command: The command as typed, for the page.
        progress: Called after every episode with what it was.

    Raises:
        UserError: The data cannot be used, or the folder holds something else; then nothing was written.
    """
    check_folder(out, "runs", TITLE)
    jobs = [job for row in plan.played for job in _jobs(out, plan, row)]
    if not jobs:
        raise UserError(f"nothing to run: {', '.join(row.name for row in plan.rows)} does not stand in this version")
    _check(jobs)
    found: dict[str, list[Outcome]] = {row.key: [] for row in plan.played}
    for job, outcomes in _done(jobs, plan):
        found[job.row.key] += outcomes
        for one in outcomes:
            progress(f"{job.row.name}, {one.level}, seed {one.seed}")
    made = Made(
        command=command,
        seeds=_seeds(plan),
        rows=plan.rows,
        found={key: sorted(some, key=_place) for key, some in found.items()},
        strata=by_episode if plan.generated is None else together,
        split=None if plan.generated is None else plan.generated.split,
        mind=reasoners.in_words(plan.reasoner),
        cap=plan.cap,
    )
    made = made._replace(checks=checks(made.found, made.strata, official=plan.generated is None))
    page = out / PAGE
    drawn = cwah_page.draw(out / "figures", made)
    page.write_text(cwah_page.page(page, drawn, made), "utf-8")
    return Reproduction(page, tuple(path for path, _ in drawn), cwah_page.numbers(made), cwah_page.lines(made))


def _place(one: Outcome) -> tuple[int, int]:
    """Return where an episode comes: in the papers' order, then by seed."""
    number = one.level.partition("official-")[2]
    return (list(EPISODES).index(int(number)) if number else 0, one.seed)


def _seeds(plan: Plan) -> str:
    if plan.generated is None:
        last = FIRST_SEED + plan.seeds - 1
        return f"seeds {FIRST_SEED} to {last}" if plan.seeds > 1 else f"seed {last}"
    seeds = plan.generated.seeds
    return f"{len(seeds)} episodes of {plan.generated.split}, {seeds[0]} to {seeds[-1]}"


# ---- runs


class Job(NamedTuple):
    """A run: a row on one level."""

    row: Row
    path: Path
    experiment: Experiment


def _jobs(out: Path, plan: Plan, row: Row) -> list[Job]:
    # Of a row that asks nobody the runs are the same whatever the mind.
    reasoner = plan.reasoner if row.asks else "rules"
    world: dict[str, Any] = {"agents": row.agents}
    if plan.data is not None:
        world["data"] = str(plan.data)
    given: dict[str, Any] = {
        "world": "household",
        "methods": [row.method],
        "reasoner": reasoner,
        "max_steps": HORIZON,
        "options": {"household": world, **row.options()},
    }
    if plan.cap is not None:
        # Each method's own rule here, and the bound: the same for all.
        given["options"]["messages"] = {"ticks": 1, "paid_by": "speaker", "most": plan.cap}
        given["talk"] = "equal"
    return [
        Job(
            row,
            out / "runs" / row.key / f"{level}-s{seeds[0]}-{seeds[-1]}",
            build({**given, "level": level, "seeds": list(seeds)}),
        )
        for level, seeds in plan.places()
    ]


def _check(jobs: Sequence[Job]) -> None:
    """See that everything can be run, before anything is written.

    Raises:
        UserError: Something cannot: a level has no data, or a folder holds another run.
    """
    first = {job.row.key: job for job in reversed(jobs)}
    levels = {job.experiment.level: job for job in reversed(jobs)}
    for job in {job.path: job for job in (*first.values(), *levels.values())}.values():
        Folder(job.path).check(job.experiment.resolved())


def _done(jobs: Sequence[Job], plan: Plan) -> Iterator[tuple[Job, list[Outcome]]]:
    """Yield each job with what it came to, as they end; in processes where nobody has to be waited for."""
    nobody = not reasoners.models(plan.reasoner) and HUMAN not in plan.reasoner
    processes = process_pool.many(len(jobs), _WORTH, None) if nobody else 1
    if processes < 2:
        yield from (played(job, plan.terminal) for job in jobs)
    else:
        yield from process_pool.as_done(played, jobs, processes)


def played(job: Job, terminal: Terminal | None = None) -> tuple[Job, list[Outcome]]:
    """Run a job, or go on with it, and measure its episodes."""
    run(job.experiment, job.path, running=Running(processes=1), watch=Watch(terminal=terminal))
    folder = Folder(job.path)
    experiment = folder.experiment()
    return job, [
        outcome(experiment.level, one) for cell in experiment.cells() for one in episode_metrics.of_cell(folder, cell)
    ]
