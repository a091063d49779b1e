"""Commands that compare methods: compare, evidence, forecast.

What they do stands in ``comparison_output``, which is imported when they are used: help is shown without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.options import DEFAULT_RUN, DEFAULT_SPEC, Flag, Int, Names, RunArguments, SpecArguments, split_names
from teamworld.errors import UserError

#: Not in the docstring: there, these names stand for parts of its own.
_METHODS = (
    "Two methods or more, or one to see beside the references; variants as drwell:no_memory. Or an experiment file "
    "ending in .yaml, which may name a grid of runs. Or folders of runs, grids and comparisons that exist: nothing is "
    "run, what stands there is compared."
)
_REFERENCES = (
    "Whether random, greedy (the world's scripted team) and silent (the methods when nobody hears a message) are run "
    "too."
)


def compare(
    *methods: Annotated[str, Parameter(help=_METHODS)],
    world: str | None = None,
    spec: SpecArguments = DEFAULT_SPEC,
    vary: Names = None,
    metrics: str | None = None,
    primary: str | None = None,
    references: Annotated[bool, Parameter(help=_REFERENCES)] = True,
    twin: Names = None,
    control: str | None = None,
    equal_tokens: Flag = False,
    out: Path | None = None,
    figures: Flag = False,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Compare methods on the same instances and seeds, beside random, scripted and silent teams.

    What is missing is run, what is there is used again. Prints values with intervals, paired differences as
    sentences, and writes tables (Markdown, LaTeX, CSV, Parquet) and figures into --out.

    Parameters
    ----------
    world:
        Name of a world (see: teamworld worlds), or suite:coordination-1 for a fixed set of instances over several
        worlds in which coordination matters; suite:coordination-1/test for its other half. [default: cube]
    vary:
        What varies from setting to setting, as FIELD=VALUE,VALUE,...: level=n1,n2,n4 or cube.agents=1,2,4 for team
        sizes, reasoner=rules,rules:noise=0.2, instances=1,2,3, an option as OWNER.OPTION=...; may be repeated.
    metrics:
        Names with commas (see: teamworld metrics), or all. [default: those of a results table]
    primary:
        The metric that the comparison is made for, or several with commas: their differences are corrected for one
        another alone. Name it before you look. [default: steps, or the world's own score where a level has one]
    twin:
        Play an inert twin of a method too, with commas or repeated for several: same layouts, same requests up to the
        first answer that differs, other random draws. What separates the two is noise; every difference is then
        shown beside this noise floor, and flagged where it lies within it.
    control:
        central plays one more row beside each method: one reasoner that plans for all bodies (cmas:free).
    equal_tokens:
        Give the control the tokens that its method took on the same instance, and print the ratio that it reached. With
        rules the words of prompts and answers are counted, as they would be sent.
    out:
        Folder of the comparison. [default: a name made from the arguments, under runs/]
    figures:
        Also draw values, frontiers, profiles, learning curves and curves over what varies (needs the extra: plots).
    json:
        Print one JSON object, and nothing else.
    """
    if not methods:
        raise UserError("which methods? expected at least one, such as: teamworld compare drwell zero_shot --seeds 20")
    from teamworld.cli import comparison_output
    from teamworld.experiment import comparison_runs, grid
    from teamworld.experiment.spec import load
    from teamworld.experiment.suites import suite
    from teamworld.methods import registry
    from teamworld.report.measurement import metric_names

    known = registry.names()
    if folders := [Path(name) for name in methods if name not in known and Path(name).is_dir()]:
        if len(folders) < len(methods):
            raise UserError("methods or folders of runs to compare: name the one or the other")
        named = {"world": world, "vary": vary, "twin": twin, "control": control, "equal-tokens": equal_tokens}
        if chosen := [*spec.fields(), *(name for name, value in named.items() if value)]:
            raise UserError(f"the runs in folders are what they are: leave out --{'/--'.join(sorted(chosen))}")
        comparison_output.compare_folders(
            folders, metrics, primary, out, options.processes, references=references, figures=figures, as_json=json
        )
        return 0
    fields = spec.fields() | {"methods": split_names(methods)}
    if world is not None:
        fields["world"] = world
    if vary:
        fields["grid"] = grid.axes(vary)
    if len(methods) == 1 and methods[0].endswith((".yaml", ".yml")):
        if extra := fields.keys() - {"methods"}:
            listed = "/--".join(sorted(extra)).replace("grid", "vary")
            raise UserError(f"an experiment file says it all: leave out --{listed} or write it into {methods[0]}")
        fields = load(Path(methods[0]))
    elif world is not None and world.startswith(suite.PREFIX):
        fields[grid.SUITE] = fields.pop("world").removeprefix(suite.PREFIX)
    elif "world" not in fields.get("grid", {}):
        fields.setdefault("world", "cube")
    metric_names(metrics)  # says what is wrong with it
    metric_names(primary)
    comparison_output.compare(
        fields,
        metrics,
        primary,
        out,
        options,
        comparison_runs.Beside(
            references,
            None if references else (),
            split_names(twin or ()),
            comparison_runs.control_kind(control, equal_tokens=equal_tokens),
        ),
        figures=figures,
        as_json=json,
    )
    return 0


def evidence(
    file: Path,
    *,
    out: Path | None = None,
    page: Path | None = None,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Make a page of evidence: several comparisons in one file, with tables, figures and what they support.

    The same command goes on where it stopped, and makes the same page again (needs the extra: plots).

    Parameters
    ----------
    file:
        YAML file of the page, such as experiments/evidence.yaml: what is compared, where, and why.
    out:
        Folder of the runs. [default: runs/NAME-OF-THE-FILE]
    page:
        The Markdown file to write; figures go into the folder images beside it. [default: evidence.md in --out]
    json:
        Print one JSON object with the paths, and nothing else.
    """
    from teamworld.cli import comparison_output

    comparison_output.make_evidence(file, out, page, options, as_json=json)
    return 0


def forecast(
    *pilot: Path,
    effect: str,
    power: float = 0.8,
    json: Flag = False,
    processes: Int = None,
) -> int:
    """Tell how many seeds a comparison takes to find a difference, and what they cost, from the runs of a pilot.

    Nothing is run. The variance of the difference is split into that of layouts and that of repeats in one layout.

    Parameters
    ----------
    pilot:
        Folders of runs or of a comparison with two methods or more, on a level that draws layouts.
    effect:
        The smallest difference that matters, as METRIC=NUMBER: steps=10 (see: teamworld metrics).
    power:
        How likely a difference of this size is to be found.
    json:
        Print one JSON object, and nothing else.
    processes:
        Processes that measure side by side. [default: as many as are worth it]
    """
    from teamworld.cli.monitor import dump
    from teamworld.experiment import comparison_runs
    from teamworld.report import forecast as forecasts
    from teamworld.report import measurement

    name, equals, number = effect.partition("=")
    try:
        size = abs(float(number))
    except ValueError:
        size = 0.0
    if not equals or not 0 < size < float("inf"):
        raise UserError(f"--effect takes METRIC=NUMBER, such as steps=10; got '{effect}'")
    if not 0.5 <= power < 1:
        raise UserError(f"--power is a number from 0.5 to below 1, got {power:g}")
    (metric,) = measurement.metric_names(name)[:1] or (None,)
    if metric is None:
        raise UserError(f"--effect takes METRIC=NUMBER, such as steps=10; got '{effect}'")
    if not pilot:
        raise UserError("which pilot? expected a folder, such as: teamworld forecast runs/compared --effect steps=10")
    parts = comparison_runs.recorded(list(pilot))
    measured = measurement.measure(parts, (metric, "calls", "tokens", "cost_usd"), processes)
    if not measured.episodes:
        raise UserError("no episode of the pilot is finished yet")
    made = forecasts.forecast(measured.episodes, metric, size, power)
    if json:
        dump({**made._asdict(), "needs": [need._asdict() for need in made.needs]})
    else:
        print("\n".join(forecasts.lines(made)))
    return 0
