"""The command that reproduces a paper's figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from teamworld.cli.options import Flag, options_of, split_names
from teamworld.errors import printable
from teamworld.papers import PaperName, PaperOptions, prepare

if TYPE_CHECKING:
    PaperArguments = PaperOptions
else:
    PaperArguments = options_of(PaperOptions, method=("--method", "--methods"))
_DEFAULT: PaperOptions = get_args(PaperArguments)[0]() if not TYPE_CHECKING else PaperOptions()


def reproduce(
    paper: PaperName,
    *,
    out: Path | None = None,
    options: PaperArguments = _DEFAULT,
    json: Flag = False,
) -> int:
    """Make a paper's figures from own runs, beside the published values, with a page that says what holds.

    The same command on the same folder goes on where it stopped and draws again (needs the extras: plots,
    for cube also rl; cwah and tdwmat draw where plots is there).

    Parameters
    ----------
    paper:
        drwell: completion, steps, simulated seconds, commitments, world model and a checklist of trends.
        cube: baselines, cost of a step and of a macro-action; its times are measured on this machine.
        wildfire: final scores of seven methods on the 17 presets, competency scores and a checklist.
        cwah: steps and messages of planners and methods on the ten household episodes, which --data names.
        tdwmat: transport rates and messages of planners and methods on the 24 transport episodes, which --data names.
    out:
        Folder of the page, the figures and the runs. [default: runs/reproduce-PAPER]
    json:
        Print the numbers, ours and the published ones, as one JSON object, and nothing else.
    """
    from teamworld.cli.executions import tell_shard
    from teamworld.cli.monitor import dump, keyboard_for, progress_bar

    lists = options.level, options.method, options.references
    level, method, references = (split_names(names) if names else None for names in lists)
    keyboard = keyboard_for(options.reasoner)
    job = prepare(paper, replace(options, level=level, method=method, references=references), out, keyboard)
    # A bar that redraws itself would garble what a person reads and types.
    with progress_bar(hidden=keyboard is not None) as bar:
        task = bar.add_task("reproducing", total=job.size)
        result = job.run(lambda text: bar.update(task, advance=1, description=text))
    if result is None:
        tell_shard(job.folder, options.shard, as_json=json)
        return 0
    if json:
        dump(result.numbers)
        return 0
    print(printable("\n".join(result.lines)))
    print(printable(f"\nThe page with all figures and tables: {result.numbers['page']}"))
    return 0
