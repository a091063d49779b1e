"""Comparing methods on the command line: runs, tables, sentences, files, figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from teamworld.cli.running import default_folder, expect_all, watched
from teamworld.experiment import grid
from teamworld.experiment.running import Running
from teamworld.report import compare_tables, study
from teamworld.report.compare import MAIN, Comparison, Sample, claims, enough
from teamworld.report.compare_tables import plain
from teamworld.report.tables import rich_tables


def compare(
    asked: Mapping[str, Any],
    out: Path | None,
    running: Running,
    *,
    wanted: str | None,
    references: bool,
    figures: bool,
    as_json: bool,
) -> None:
    """Run what is missing, compare, print, and write the files.

    Args:
        asked: Fields of an experiment; what varies stands under ``grid``.
        out: Folder of the comparison; None: one with a name made from what is asked.
        running: How runs are carried out.
        wanted: Ids of metrics with commas; None for those of a results table.
        references: Whether reference rows stand beside.
        figures: Whether figures are drawn too.
        as_json: Whether to print one JSON object, and nothing else.

    Raises:
        UserError: Something asked for cannot be used, or a limit was reached.
    """
    names = study.named(wanted, references=references)
    found = study.settings(asked)
    for setting in found:
        setting.experiment.resolved()  # all of them, before the first begins
    first = found[0].experiment
    folder = out if out is not None else _default(found, references)
    grid.claim(folder, asked, "comparison")
    methods = len(first.methods) + references * (len(study.REFERENCES) + len(first.methods))
    total, silent = methods * len(first.seeds) * first.episodes * len(found), None if references else ()
    planned = study.planned(found, folder, references=references, silent=silent)
    told = expect_all([(part.folder, part.experiment) for part in planned], running)
    with watched(total, first, running, told=told) as (step, watch):
        parts = study.run_all(
            found,
            folder,
            references=references,
            silent=silent,
            progress=step,
            running=running,
            watch=watch,
        )
    with Console(stderr=True).status("measuring"):
        samples = list(study.samples(parts, names))
        comparison = study.compared(samples, names)
        settings = _by_setting(samples, names) if len(found) > 1 else {}
    asked_of = [one.experiment for one in found]
    caption, where = compare_tables.caption(asked_of), compare_tables.where(asked_of)
    tables = [compare_tables.table(comparison, names, caption)]
    tables += [compare_tables.by_setting(settings, name, caption) for name in MAIN if settings and name in names]
    compare_tables.write(folder, comparison, tables, settings, where)
    if figures:
        _draw(folder, comparison, samples, names, caption, found)
    if as_json:
        each = {"settings": [{"setting": name, **plain(one)} for name, one in settings.items()]} if settings else {}
        print(json.dumps({"run": str(folder), **where, **plain(comparison), **each}, allow_nan=False))
        return
    for table in tables:
        print(table.title)
        for part in rich_tables(table, Console().width):
            Console().print(part)
    print(f"{tables[0].caption}\n")
    main = [name for name in names if name in MAIN] or names
    for sentence in claims(comparison._replace(paired=tuple(p for p in comparison.paired if p.metric in main)), main):
        print(sentence)
    others = [pair.supported for pair in comparison.paired if pair.metric not in main]
    if others:
        print(
            f"of {len(others)} differences in other metrics {sum(others)} are supported; all are in "
            f"{folder / 'comparison.md'}"
        )
    instances = len(first.seeds) * len(found)
    family = max((pair.family for pair in comparison.paired if pair.metric in main), default=0)
    if family and instances < enough(family):
        print(
            f"with {instances} instances none of these {family} differences can be supported, whatever it is: take "
            f"{enough(family)} or more, or fewer methods and --metrics"
        )
    print(f"\nTables (Markdown, LaTeX, CSV, with polars Parquet) and runs are in {folder}")


def _by_setting(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Comparison]:
    """Return the comparison of each setting alone; what pairs settings is measured in the comparison of all."""
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.setting, []).append(sample)
    return {name: study.compared(some, names) for name, some in by_name.items()}


def _default(found: Sequence[study.Setting], references: bool) -> Path:
    asked = [setting.experiment.model_dump(mode="json") for setting in found]
    told = json.dumps([*asked, references], sort_keys=True).encode()
    name = f"compare-{hashlib.blake2b(told, digest_size=4).hexdigest()}"
    return default_folder(found[0].experiment).with_name(name)


def _draw(
    folder: Path,
    comparison: Comparison,
    samples: Sequence[Sample],
    names: Sequence[str],
    caption: str,
    settings: Sequence[study.Setting],
) -> None:
    from teamworld.report.compare_figures import draw

    varied = {setting.name: setting.values for setting in settings}
    for path in draw(comparison, samples, names, caption, folder / "figures", varied):
        Console(stderr=True).print(f"drawn: {path}", highlight=False, soft_wrap=True)
