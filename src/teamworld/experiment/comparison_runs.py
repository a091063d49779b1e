"""The runs of a comparison: methods and reference teams on the same instances, aloud and in silence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from teamworld.experiment import grid
from teamworld.experiment.grid import GridRun
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.runner import run
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.results import EpisodeRow
from teamworld.methods import registry

RANDOM: Final = "random"
GREEDY: Final = "greedy"
#: Reference rows that stand beside every comparison: agents that draw at random, and the world's scripted team.
REFERENCES: Final = (RANDOM, GREEDY)
#: The third: the method itself when no agent hears a message. Talk has to beat silence to count as useful.
SILENT: Final = "silent"
#: Folder of a setting's run in which all is heard.
ALOUD: Final = "run"


class ComparisonRun(NamedTuple):
    """One run of a comparison."""

    folder: Path
    experiment: ExperimentSpec
    names: dict[str, str]
    """Of its methods, as the comparison calls them."""
    setting: GridRun

    @property
    def is_silent(self) -> bool:
        """Whether no agent hears a message."""
        return self.folder.name == SILENT


def settings(data: Mapping[str, Any], *, imports: bool = True) -> list[GridRun]:
    """Return the settings of a comparison: one for each combination of a grid, or one alone.

    Args:
        data: Fields of an experiment; what varies stands under ``grid``.
        imports: As for ``spec.build``.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    if grid.is_grid(data):
        return grid.expand(data, imports=imports)
    return [GridRun("", {}, build(data, imports=imports))]


def aloud(setting: GridRun, out: Path, *, references: bool) -> ComparisonRun:
    """Return the run of the methods that are compared, with the reference teams.

    Args:
        setting: Where.
        out: Folder of the comparison.
        references: Whether to add reference rows.
    """
    asked = setting.experiment
    methods = asked.methods + tuple(name for name in REFERENCES if references and name not in asked.methods)
    names = {method: method for method in methods}
    return ComparisonRun(out / setting.name / ALOUD, asked.model_copy(update={"methods": methods}), names, setting)


def in_silence(
    setting: GridRun, out: Path, spoke: Collection[str], wanted: Collection[str] | None = None
) -> ComparisonRun | None:
    """Return the run of the same methods when no agent hears a message, None if there is none to run.

    Args:
        setting: As for ``aloud``.
        out: Folder of the comparison.
        spoke: Methods that sent messages. Others would do the same in silence; the first method's row always stands.
        wanted: Methods to run in silence, whether they spoke or not; None for those above.
    """
    asked = setting.experiment
    own = [method for method in asked.methods if method not in REFERENCES]
    chosen = {*own[:1], *spoke} if wanted is None else wanted
    talkers = [method for method in own if method in chosen]
    if not talkers:
        return None
    gone = set(asked.methods) - set(talkers)  # a run refuses options of what is no part of it
    kept = {*talkers, *map(registry.method_of, talkers)}  # what is set for a method holds for its variants
    options = {owner: values for owner, values in asked.options.items() if owner not in gone or owner in kept}
    options["messages"] = {**options.get("messages", {}), "loss": 1.0}
    update = {"methods": tuple(talkers), "options": options, "talk": asked.protocol}  # which the loss does not change
    experiment = asked.model_copy(update=update)
    names = {method: silent_name(method, own) for method in talkers}
    return ComparisonRun(out / setting.name / SILENT, experiment, names, setting)


def planned(
    places: Sequence[GridRun], out: Path, *, references: bool, silent: Collection[str] | None
) -> Iterator[ComparisonRun]:
    """Yield the runs that a comparison can take: in silence those of all methods, for any may turn out to talk."""
    for setting in places:
        yield aloud(setting, out, references=references)
        quiet = in_silence(setting, out, setting.experiment.methods, silent)
        if quiet is not None:
            yield quiet


def run_all(
    places: Sequence[GridRun],
    out: Path,
    *,
    references: bool,
    silent: Collection[str] | None,
    progress: Callable[[EpisodeRow], None],
    budget: SharedBudget,
    watch: RunMonitor,
) -> list[ComparisonRun]:
    """Run what is missing of a comparison, use again what is there, and return its runs.

    Args:
        places: Its settings.
        out: Its folder.
        references: Whether random and scripted teams stand beside.
        silent: Methods that are run in silence too; None for all that talk, and the first.
        progress: Called with each episode.
        budget: How runs are carried out, and the budget that they share.
        watch: Told how many calls are in flight.

    Raises:
        UserError: A run cannot be made, or a limit was reached: the same call goes on.
    """

    def play(part: ComparisonRun) -> Sequence[EpisodeRow]:
        parts.append(part)
        return run(part.experiment, part.folder, progress, budget.options_for(part.folder, part.experiment), watch)

    parts: list[ComparisonRun] = []
    for setting in places:
        rows = play(aloud(setting, out, references=references))
        quiet = in_silence(setting, out, {row.method for row in rows if row.summary.messages}, silent)
        if quiet is not None:
            play(quiet)
    return parts


def silent_name(method: str, methods: Sequence[str]) -> str:
    """Return what a method in silence is called: ``silent`` for the first."""
    return SILENT if method == methods[0] else f"{SILENT}:{method}"


def silent_names(present: Sequence[str]) -> dict[str, str]:
    """Return by method what it is called in silence, where that was run."""
    own = [name for name in present if name not in REFERENCES and name.partition(":")[0] != SILENT]
    return {name: silent_name(name, own) for name in own if silent_name(name, own) in present}
