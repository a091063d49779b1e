"""The command that writes results as Parquet: compact."""

from __future__ import annotations

from pathlib import Path

from teamworld.cli.options import Flag, Int, Names, split_names
from teamworld.errors import printable


def compact(folder: Path, *, tables: Names = None, processes: Int = None, json: Flag = False) -> int:
    """Write the results of a run, or of each run of a grid or a comparison, as Parquet files (extra: tables).

    They stand in the run's folder under parquet/: episodes, metrics, calls, messages and events, with a manifest. The
    same command brings them up to date once the run has grown, and goes on after a kill. DuckDB, polars and
    teamworld.load read them; report, metrics, compare and view do too, also where they alone are left.

    - All tables: `teamworld compact runs/many`
    - Without a look into logs: `teamworld compact runs/many --tables episodes,calls`

    Parameters
    ----------
    folder:
        Folder of the run, or of several.
    tables:
        Which tables, by repeating it or with commas; episodes is always among them. [default: all]
    processes:
        How many processes read logs. [default: one a processor, for more than 10,000 episodes]
    json:
        Print one JSON object, and nothing else.
    """
    from rich.console import Console

    from teamworld.cli.monitor import dump
    from teamworld.experiment import grid
    from teamworld.experiment.store import compaction
    from teamworld.experiment.store.folder import RunFolder

    chosen = compaction.choose_tables(None if tables is None else split_names(tables))
    runs = [RunFolder(path) for path, _ in grid.runs(folder)]
    written = []
    with Console(stderr=True).status("writing Parquet"):
        for run in runs:
            if run.results_file.exists() or run.path == folder:
                written.append(compaction.compact(run, chosen, processes))
    if json:
        dump({"runs": [{**made._asdict(), "folder": str(made.folder)} for made in written]})
        return 0
    for made in written:
        episodes = f"{made.episodes:,} episode{'' if made.episodes == 1 else 's'}"
        work = "nothing to do" if not made.written else f"{made.written} of {made.written + made.kept} batches written"
        size = f"{made.files:,} files, {made.bytes / 1e6:,.1f} MB"
        print(printable(f"{made.folder}/parquet: {episodes}, {size}; {work}"))
    return 0
