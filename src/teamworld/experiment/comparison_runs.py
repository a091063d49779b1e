"""The runs of a comparison: methods and reference teams on the same instances, aloud and in silence, and twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError, suggest
from teamworld.experiment import grid, shared_memory
from teamworld.experiment.grid import GridRun
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.runner import run
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import ExperimentSpec, RunCell, TokenLimit, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.experiment.token_use import team_use
from teamworld.methods import registry

RANDOM: Final = "random"
GREEDY: Final = "greedy"
#: Reference rows that stand beside every comparison: agents that draw at random, and the world's scripted team.
REFERENCES: Final = (RANDOM, GREEDY)
#: The third: the method itself when no agent hears a message. Talk has to beat silence to count as useful.
SILENT: Final = "silent"
#: A method once more with nothing changed but what is drawn: what separates the two is noise alone.
TWIN: Final = "twin"
#: One reasoner that plans for all bodies: what a team has to beat that spends as much. And the method that plays it.
CONTROL: Final = "central"
CONTROL_METHOD: Final = "cmas:free"
#: How a control is played: as it likes, or on the tokens that its team took on the same instance.
ControlKind: TypeAlias = Literal["unlimited", "equal"]


class Beside(NamedTuple):
    """What a comparison runs beside its methods."""

    references: bool = True
    """Random and scripted teams."""
    silent: Collection[str] | None = None
    """Methods that are run in silence too; None: all that talk, and the first."""
    twins: Collection[str] | None = ()
    """Methods that get a twin; None: all."""
    controls: ControlKind | None = None
    """How the controls of all methods are played; None: there are none."""


#: All that can stand there.
ALL_BESIDE: Final = Beside(twins=None, controls="unlimited")
#: Folder of a setting's run in which all is heard.
ALOUD: Final = "run"


class ComparisonRun(NamedTuple):
    """One run of a comparison."""

    folder: Path
    experiment: ExperimentSpec
    names: dict[str, str]
    """Of its methods, as the comparison calls them."""
    setting: GridRun
    estimated: ExperimentSpec | None = None
    """The experiment that takes as many tokens, where that is another one."""

    @property
    def is_silent(self) -> bool:
        """Whether no agent hears a message."""
        return self.folder.name == SILENT

    @property
    def is_aloud(self) -> bool:
        """Whether it is the run of the methods that are compared, and none that stands beside it."""
        run = self.folder, self.experiment
        return not (self.is_silent or is_twin(*run) or is_control(*run))


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
    experiment = build(data, imports=imports)
    shared_memory.refuse(experiment)
    return [GridRun("", {}, experiment)]


def recorded(folders: Sequence[Path], *, references: bool = True) -> list[ComparisonRun]:
    """Return the runs of some folders as those of a comparison; nothing is run.

    The runs of one grid, comparison or page of evidence stay in its settings. Runs of several folders meet where they
    were played in the same place; methods of one name go by their folders then, but reference teams stand once.

    Args:
        folders: Of runs, grids, comparisons or pages of evidence.
        references: Whether reference teams that were run beside other methods are among them.

    Raises:
        UserError: A folder holds no run, or none that has begun.
    """
    begun = [(folder, path) for folder in folders for path, _ in grid.runs(folder) if RunFolder(path).is_begun]
    if not begun:
        raise UserError(f"{', '.join(map(str, folders))}: no run has begun yet, nothing to compare")
    experiments = [RunFolder(path).experiment() for _, path in begun]
    if len(folders) == 1 and grid.kind_of(folders[0]) is not None:
        return _of_one_folder(folders[0], [path for _, path in begun], experiments, references=references)
    places = [_place(experiment) for experiment in experiments]
    names = {name: None for place in places for name in place if len({str(other.get(name)) for other in places}) > 1}
    parts: list[ComparisonRun] = []
    settings = [{name: place[name] for name in names if name in place} for place in places]
    met = Counter((str(values), m) for values, part in zip(settings, experiments, strict=True) for m in part.methods)
    for (_, path), values, experiment in zip(begun, settings, experiments, strict=True):
        earlier = {name for part in parts if part.setting.values == values for name in part.names.values()}
        methods = tuple(m for m in experiment.methods if m not in REFERENCES or (references and m not in earlier))
        label = path.as_posix()
        names_here = {m: m if m in REFERENCES or met[str(values), m] == 1 else f"{m} ({label})" for m in methods}
        if methods:
            kept = experiment.model_copy(update={"methods": methods})
            name = grid.name_of(values) if values else ""
            parts.append(ComparisonRun(path, kept, names_here, GridRun(name, values, kept)))
    return parts


def _of_one_folder(
    folder: Path, paths: Sequence[Path], experiments: Sequence[ExperimentSpec], *, references: bool
) -> list[ComparisonRun]:
    """Return the runs of a folder of several, in the settings that it has."""
    plan = grid.read_plan(folder)
    by_name = {part.name: part for part in grid.expand(plan, imports=False)} if grid.is_grid(plan) else {}
    is_grid, parts = grid.kind_of(folder) == "grid", []
    teams = {path.parent: part.methods for path, part in zip(paths, experiments, strict=True) if path.name == ALOUD}
    for path, experiment in zip(paths, experiments, strict=True):
        name = (path if is_grid else path.parent).relative_to(folder).as_posix().removeprefix(".")
        values = by_name[name].values if name in by_name else {}
        own = [method for method in experiment.methods if method not in REFERENCES]
        shown = experiment.model_copy(update={"methods": experiment.methods if references else tuple(own)})
        is_silent = not is_grid and path.name == SILENT
        has_twins = not is_grid and is_twin(path, experiment)
        names = {m: silent_name(m, own) if is_silent else twin_name(m) if has_twins else m for m in shown.methods}
        if not is_grid and is_control(path, experiment):
            team = own_methods(teams.get(path.parent, ()))
            controlled = next((method for method in team if control_folder(method) == path.name), None)
            if controlled is None:
                continue
            names = {CONTROL_METHOD: control_name(controlled, team)}
        if shown.methods and (references or not is_silent):
            parts.append(ComparisonRun(path, shown, names, GridRun(name, values, shown)))
    return parts


def _place(experiment: ExperimentSpec) -> dict[str, Any]:
    """Return where a run takes place: what two methods must share to be compared."""
    world = experiment.options.get(experiment.world, {})
    fields = ("world", "level", "max_steps", "instances")
    return {name: getattr(experiment, name) for name in fields} | {
        f"{experiment.world}.{name}": value for name, value in world.items()
    }


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
    quiet = _only(asked, talkers)
    options = {**quiet.options, "messages": {**quiet.options.get("messages", {}), "loss": 1.0}}
    update = {"options": options, "talk": asked.protocol}  # which the loss does not change
    experiment = quiet.model_copy(update=update)
    names = {method: silent_name(method, own) for method in talkers}
    return ComparisonRun(out / setting.name / SILENT, experiment, names, setting)


def _only(asked: ExperimentSpec, methods: Sequence[str]) -> ExperimentSpec:
    """Return the experiment with some of its methods alone: a run refuses what is set for no part of it."""
    gone = set(asked.methods) - set(methods)
    kept = {*methods, *map(registry.method_of, methods)}  # what is set for a method holds for its variants
    options = {owner: values for owner, values in asked.options.items() if owner not in gone or owner in kept}
    memory = asked.memory if any(map(registry.may_learn, methods)) else None
    return asked.model_copy(update={"methods": tuple(methods), "options": options, "memory": memory})


def twins(setting: GridRun, out: Path, wanted: Collection[str] | None) -> ComparisonRun | None:
    """Return the run of the twins of some methods, None if there are none.

    A twin has the same layouts, seeds and options, and sends the same requests until an answer, or a number that the
    method itself draws, differs. Streams of random numbers, sampling seeds and places in the cache of answers are
    others.

    Args:
        setting: As for ``aloud``.
        out: Folder of the comparison.
        wanted: The methods that get a twin; None: all.
    """
    asked = setting.experiment
    methods = [method for method in asked.methods if wanted is None or method in wanted]
    if not methods:
        return None
    salt = 1 if asked.salt is None else (asked.salt + 1) % 2**31
    experiment = _only(asked, methods).model_copy(update={"salt": salt})
    return ComparisonRun(out / setting.name / TWIN, experiment, {name: twin_name(name) for name in methods}, setting)


def check_twins(settings: Sequence[GridRun], wanted: Collection[str]) -> None:
    """See that the methods that are to have twins are compared; raises ``UserError``."""
    for method in wanted:
        known = list(dict.fromkeys(name for setting in settings for name in setting.experiment.methods))
        if method not in known:
            raise UserError(f"--twin: '{method}' is not compared here{suggest(method, known)}; name it a method too")


def control(
    setting: GridRun, out: Path, method: str, allowances: Mapping[int, tuple[TokenLimit, ...]] = MappingProxyType({})
) -> ComparisonRun:
    """Return the run of the control of a method: one reasoner that plans for all bodies.

    Args:
        setting: As for ``aloud``.
        out: Folder of the comparison.
        method: The team's.
        allowances: Tokens that it may take, see ``ExperimentSpec.allowances``; empty for no limit.
    """
    own = own_methods(setting.experiment.methods)
    experiment = _only(setting.experiment, (CONTROL_METHOD,)).model_copy(update={"allowances": dict(allowances)})
    names = {CONTROL_METHOD: control_name(method, own)}
    return ComparisonRun(out / setting.name / control_folder(method), experiment, names, setting)


def _allowances(setting: GridRun, out: Path, method: str) -> Mapping[int, tuple[TokenLimit, ...]] | None:
    """Return what the control of a method may take; None where its team asks nothing, so that nothing is equal."""
    asked, held = setting.experiment, RunFolder(control(setting, out, method).folder)
    limits: Mapping[int, tuple[TokenLimit, ...]] = held.experiment().allowances if held.is_begun else {}
    if not all(len(limits.get(seed, ())) >= asked.episodes for seed in asked.seeds):
        limits = team_use(RunFolder(out / setting.name / ALOUD), method)
    return limits if any(limit.tokens for own in limits.values() for limit in own) else None


def control_kind(control: str | None, *, equal_tokens: bool) -> ControlKind | None:
    """Return how controls are played, None where there are none; raises ``UserError``."""
    if control not in (None, CONTROL):
        raise UserError(f"--control: expected {CONTROL}, one reasoner that plans for all bodies, got '{control}'")
    if control is None:
        if equal_tokens:
            raise UserError(f"--equal-tokens limits a control: add --control {CONTROL}")
        return None
    return "equal" if equal_tokens else "unlimited"


def check_control(settings: Sequence[GridRun], kind: ControlKind | None, shard: str | None) -> None:
    """See that controls can be played, before anything is; raises ``UserError``."""
    if kind is None:
        return
    if shard is not None:
        raise UserError("--control goes by the tokens of whole runs: leave it out of a shard, and add it to the whole")
    for setting in settings:
        control(setting, Path(), setting.experiment.methods[0]).experiment.resolved()


def planned(places: Sequence[GridRun], out: Path, beside: Beside) -> Iterator[ComparisonRun]:
    """Yield the runs that a comparison can take: in silence those of all methods, for any may turn out to talk.

    Args:
        places: Its settings.
        out: Its folder.
        beside: What stands beside its methods. A control takes about what its team takes.
    """
    for setting in places:
        yield aloud(setting, out, references=beside.references)
        quiet = in_silence(setting, out, setting.experiment.methods, beside.silent)
        for part in (quiet, twins(setting, out, beside.twins)):
            if part is not None:
                yield part
        for method in own_methods(setting.experiment.methods) if beside.controls else ():
            yield control(setting, out, method)._replace(estimated=_only(setting.experiment, (method,)))


def run_all(
    places: Sequence[GridRun],
    out: Path,
    beside: Beside,
    *,
    progress: Callable[[EpisodeRow], None],
    budget: SharedBudget,
    watch: RunMonitor,
) -> list[ComparisonRun]:
    """Run what is missing of a comparison, use again what is there, and return its runs.

    Args:
        places: Its settings.
        out: Its folder.
        beside: What stands beside its methods.
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
        rows = play(aloud(setting, out, references=beside.references))
        # A shard does not see whether a method spoke in another one.
        spoke = setting.experiment.methods if budget.shard else {row.method for row in rows if row.summary.messages}
        for part in (in_silence(setting, out, spoke, beside.silent), twins(setting, out, beside.twins)):
            if part is not None:
                play(part)
        for method in own_methods(setting.experiment.methods) if beside.controls else ():
            allowances = {} if beside.controls == "unlimited" else _allowances(setting, out, method)
            if allowances is not None:
                play(control(setting, out, method, allowances))
    return parts


def silent_name(method: str, methods: Sequence[str]) -> str:
    """Return what a method in silence is called: ``silent`` for the first."""
    return SILENT if method == methods[0] else f"{SILENT}:{method}"


def is_twin(folder: Path, experiment: ExperimentSpec) -> bool:
    """Return whether the run in a folder is that of the twins of a comparison."""
    return folder.name == TWIN and experiment.salt is not None


def twin_name(method: str) -> str:
    """Return what the twin of a method is called."""
    return f"{TWIN}:{method}"


def is_control(folder: Path, experiment: ExperimentSpec) -> bool:
    """Return whether the run in a folder is that of a control of a comparison."""
    return folder.name.startswith(f"{CONTROL}-") and experiment.methods == (CONTROL_METHOD,)


def control_name(method: str, methods: Sequence[str]) -> str:
    """Return what the control of a method is called: ``central`` for the first."""
    return CONTROL if method == methods[0] else f"{CONTROL}:{method}"


def control_folder(method: str) -> str:
    """Return the name of the folder of a method's control."""
    return f"{CONTROL}-{RunCell(method, 0).name.removesuffix('-s0')}"


def own_methods(present: Iterable[str]) -> list[str]:
    """Return the methods that are compared: without reference teams, silent ones, twins and controls."""
    beside = (SILENT, TWIN, CONTROL)
    return [name for name in present if name not in REFERENCES and name.partition(":")[0] not in beside]


def control_names(present: Sequence[str]) -> dict[str, str]:
    """Return by method the name of its control, where that was run."""
    own = own_methods(present)
    return {name: control_name(name, own) for name in own if control_name(name, own) in present}


def silent_names(present: Sequence[str]) -> dict[str, str]:
    """Return by method what it is called in silence, where that was run."""
    own = own_methods(present)
    return {name: silent_name(name, own) for name in own if silent_name(name, own) in present}


def twin_names(present: Sequence[str]) -> dict[str, str]:
    """Return by method the name of its twin, where that was run."""
    return {name: twin_name(name) for name in present if twin_name(name) in present}
