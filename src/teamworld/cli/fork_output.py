"""Playing forks with a progress bar, and printing what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from teamworld.cli.monitor import dump, monitored, print_table, progress_bar
from teamworld.errors import printable
from teamworld.experiment.fork import ForkedEpisode, Origin, fork, fork_folder, make_experiment
from teamworld.experiment.fork_spec import ForkChange
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.prompts import plural
from teamworld.reasoning.registry import list_models
from teamworld.record import LlmCall
from teamworld.report import tables, worth
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.report.stored_worth import save_worth
from teamworld.report.tables import Table


def play_fork(
    origin: Origin, changes: Sequence[ForkChange], out: Path | None, options: RunOptions, *, as_json: bool
) -> None:
    """Play a fork and print it beside the episode that it is a fork of."""
    path = fork_folder(origin, changes) if out is None else out
    with monitored(1, make_experiment(origin, changes), options) as (step, monitor):
        played = fork(origin, changes, path, options, monitor)
        step(played.row)
    if as_json:
        names = {"run": str(path), "forked_from": str(origin.folder.path), "episode": origin.row.episode}
        rows = {"origin": played.origin.plain(), "fork": played.row.plain()}
        dump({**names, "first_difference": played.first_difference, **rows})
        return
    print_table(_beside(played))
    print(_in_words(played, changes))
    print(printable(f"Everything is recorded in {path}; look at it with: teamworld view {path} --export fork.html"))


def measure_worth(
    origin: Origin, options: RunOptions, *, continuations: int | None, orders: int, as_json: bool
) -> None:
    """Play the forks of an episode and print what its messages and agents were worth."""
    taken = _taken(origin, options)
    with progress_bar() as bar:
        task = bar.add_task("forks", total=None)

        def notice(line: str) -> None:
            bar.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            if taken and not done:
                notice(f"{total} forks; the recorded episode took {taken}, and each fork up to about as much")

        measured = worth.measure(
            origin,
            continuations=continuations or (3 if taken else 20),
            orders=orders,
            running=options,
            progress=progress,
            watch=RunMonitor(notice=notice),
        )
    try:
        kept = f"The replay shows it beside messages and agents: {save_worth(measured)}"
    except OSError as error:
        kept = f"It is not kept for the replay: {error}"
    if as_json:
        dump(worth.plain(measured))
        return
    for table in worth.tables(measured):
        print_table(table)
    print(f"{measured.forks} forks were played.")
    print(printable(kept))


def _taken(origin: Origin, options: RunOptions) -> str:
    """Return what an episode took of language models, in words; empty where none was asked."""
    if not any(map(list_models, origin.experiment.reasoners)):
        return ""
    prices = Prices.load(options.prices)
    with CallStore(origin.folder.results_file, readonly=True) as calls:
        spent = calls.spent(prices.price, origin.cell, origin.row.episode)
    asked = sum(isinstance(event, LlmCall) for event in origin.log)
    dollars = f", {spent.usd.likely:.4f} USD" if spent.usd.calls else ""
    return f"{plural(asked, 'call')}, {spent.tokens.likely:,.0f} tokens{dollars}"


def _beside(played: ForkedEpisode) -> Table:
    """Return a table of both episodes."""
    both = (played.origin, played.row)
    of_each = [tables.by_method(EpisodeColumns([row]), played.experiment) for row in both]
    columns = [name for name in of_each[0].columns if name in of_each[1].columns and name != "method"]
    lines = []
    for name, table in zip(("as recorded", "fork"), of_each, strict=True):
        cells = dict(zip(table.columns, table.rows[0], strict=True))
        lines.append((name, *(cells[column] for column in columns)))
    title = f"{played.experiment.world} {played.experiment.level}: episode {played.row.episode} of {played.row.cell}"
    return Table(title, ("", *columns), tuple(lines), "one episode each, no interval")


def _in_words(played: ForkedEpisode, changes: Sequence[ForkChange]) -> str:
    if played.first_difference is not None:
        return f"The logs are the same up to step {played.first_difference}, where they first differ."
    if played.origin.digest == played.row.digest:
        return "The logs are the same, byte for byte." + (" The change has changed nothing." if changes else "")
    return "The logs say the same; other code played this one."
