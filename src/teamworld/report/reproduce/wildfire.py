"""``teamworld reproduce wildfire``: final scores on the 17 presets from our runs, beside the published values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment import run
from teamworld.experiment.config import Cell
from teamworld.experiment.folder import Folder
from teamworld.experiment.message_protocol import Talk
from teamworld.record import read_log
from teamworld.report import competence
from teamworld.report.figure_style import need
from teamworld.report.reproduce import wildfire_page
from teamworld.report.reproduce.page import PAGE, Reproduction, check_folder
from teamworld.report.reproduce.wildfire_checks import Check, checks
from teamworld.report.reproduce.wildfire_page import TITLE, Made
from teamworld.report.reproduce.wildfire_published import IDLE
from teamworld.report.reproduce.wildfire_results import SCRIPTED, Outcome, outcome
from teamworld.report.tables import talk as talk_in_words
from teamworld.worlds.wildfire.levels import PRESETS, level_for
from teamworld.worlds.wildfire.physics import best_score

#: What is always run: who does nothing, the scripted team, chance, and the four methods that the paper compares.
METHODS: Final = (IDLE, SCRIPTED, "random", "coela", "camon", "hmas2", "embodied")
#: What can be run beside.
BESIDE: Final = ("drwell", "zero_shot")
#: The first seed, as of the other reproductions.
FIRST_SEED: Final = 42


class Plan(NamedTuple):
    """What is run."""

    seeds: int = 10
    levels: tuple[str, ...] = PRESETS
    beside: tuple[str, ...] = ()
    """Further methods, of ``BESIDE``."""
    talk: Talk = "native"
    cap: int | None = None
    """Most steps of an episode; None: the level's own limit."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All that is run on each level."""
        return (*METHODS, *self.beside)

    @property
    def work(self) -> int:
        """Episodes in all."""
        return len(self.levels) * len(self.methods) * self.seeds

    def limit(self, level: str) -> int:
        """Return the steps of an episode at most (B28)."""
        own = level_for(level).max_steps
        return own if self.cap is None else min(own, self.cap)


#: A look at everything in less than a minute: small levels and short episodes.
QUICK: Final = Plan(
    seeds=2, levels=("cut_trees_sparse_small", "transport_firefighters_small", "suppress_fire_contain"), cap=30
)


def chosen(plan: Plan, levels: Sequence[str] | None, beside: Sequence[str] | None) -> Plan:
    """Return a plan for some levels and further methods, in the order of the presets.

    Raises:
        UserError: One of them is none of those that can be run.
    """
    for level in levels or ():
        if level not in PRESETS:
            raise UserError(f"--level: '{level}' is none of the 17 presets{suggest(level, list(PRESETS))}")
    for method in beside or ():
        if method not in BESIDE:
            raise UserError(
                f"--method takes what is run beside the paper's methods: {' or '.join(BESIDE)}; got '{method}'"
            )
    return plan._replace(
        levels=tuple(level for level in PRESETS if level in levels) if levels else plan.levels,
        beside=tuple(method for method in BESIDE if method in (beside or ())),
    )


def reproduce(out: Path, plan: Plan, command: str, progress: Callable[[str], None] = lambda text: None) -> Reproduction:
    """Run everything on every level (or go on with it), and write figures and page.

    Args:
        out: Folder of the page; runs go into its folder ``runs``, each level into one of its own, and what is run
            beside into one for each level and method.
        plan: What to run.
        command: The command as typed, for the page.
        progress: Called after every episode with what it was.

    Raises:
        UserError: An extra is missing, or the folder holds another run.
    """
    need(matplotlib="plots")
    check_folder(out, "runs", TITLE)
    found: dict[str, list[Outcome]] = {}
    said: dict[str, str] = {}
    for level in plan.levels:
        found[level] = []
        for name, methods in ((level, METHODS), *((f"{level}-{method}", (method,)) for method in plan.beside)):
            folder = Folder(out / "runs" / name)
            found[level] += _played(folder, plan, level, methods, progress)
            said[talk_in_words(folder.experiment())] = level
    tops = {level: best_score(level_for(level)) for level in plan.levels}
    seeds = competence.seeds(_episodes(found))
    made = Made(
        command=command,
        plan_seeds=_seeds(plan),
        limits={level: plan.limit(level) for level in plan.levels},
        methods=plan.methods,
        found=found,
        best=tops,
        seeds=seeds,
        competence=competence.table(_episodes(found), "built-in rules, no language model"),
        checks=checks(found, tops),
        talk="; ".join(filter(None, said)),
        again=lambda level: _again(plan, level),
    )
    page = out / PAGE
    drawn = wildfire_page.draw(out / "figures", made)
    page.write_text(wildfire_page.page(page, drawn, made), "utf-8")
    return Reproduction(
        page,
        tuple(path for path, _ in drawn),
        {"paper": "wildfire", "seeds": list(_range(plan)), "talk": plan.talk} | wildfire_page.numbers(made),
        tuple(_said(one) for one in made.checks),
    )


def _said(one: Check) -> str:
    who = f", {one.method}" if one.method else ""
    return f"{one.number}  {one.level}{who}: {one.claim}: {one.verdict} ({one.found})"


def _played(
    folder: Folder, plan: Plan, level: str, methods: Sequence[str], progress: Callable[[str], None]
) -> list[Outcome]:
    rows = run(
        "wildfire",
        level=level,
        method=methods,
        seed=_range(plan),
        max_steps=plan.limit(level),
        talk=plan.talk,
        out=folder.path,
        progress=lambda row: progress(f"{level}, {row.method}, seed {row.seed}"),
    )
    return [
        outcome(row.method, row.seed, row.summary, read_log(folder.log(Cell(row.method, row.seed), row.episode)))
        for row in rows
    ]


def _episodes(found: Mapping[str, Sequence[Outcome]]) -> list[competence.Episode]:
    """Return what competency scores are counted from: scores with cut trees as lost, as the published ones."""
    return [
        competence.Episode(one.method, (level, "", one.seed, 1), one.reference)
        for level, some in found.items()
        for one in some
    ]


def _range(plan: Plan) -> range:
    return range(FIRST_SEED, FIRST_SEED + plan.seeds)


def _seeds(plan: Plan) -> str:
    seeds = _range(plan)
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def _again(plan: Plan, level: str) -> str:
    """Return the command that makes the table of one level alone."""
    words: list[Any] = ["teamworld reproduce wildfire --level", level, "--seeds", plan.seeds]
    words += ["--method", ",".join(plan.beside)] if plan.beside else []
    words += ["--talk", plan.talk] if plan.talk != "native" else []
    words += ["--quick"] if plan.cap is not None else []
    return " ".join(map(str, words))
