"""The command that lists what no team can beat."""

from __future__ import annotations

from pathlib import Path

from teamworld.cli.options import Flag, Int, Names, parse_options
from teamworld.errors import UserError


def bounds(
    world: str,
    *,
    level: str | None = None,
    seed: Int = 0,
    seeds: Int = 10,
    run: Path | None = None,
    set: Names = None,
    json: Flag = False,
) -> int:
    """List the steps that no team can beat in the instances of a level: a proven lower bound, or the optimum.

    Teams that know less, or do not plan as one, take more: the report of a run shows by how much (report --regret).

    Parameters
    ----------
    world:
        Name of a world.
    level:
        Level of the world (see: teamworld levels). [default: the world's own]
    seed:
        Seed of the first instance.
    seeds:
        So many instances, counting up from --seed.
    run:
        Folder of a run, a grid or a comparison: what was played best of these instances stands beside.
    set:
        An option of the world as WORLD.OPTION=VALUE; may be repeated.
    json:
        Print the table as one JSON object, and nothing else.
    """
    from teamworld.cli.monitor import dump, print_table
    from teamworld.experiment import grid
    from teamworld.experiment.store.folder import RunFolder
    from teamworld.report import regret
    from teamworld.worlds import registry as known_worlds

    module = known_worlds.load(world)
    options = parse_options(set or [])
    if odd := next((owner for owner in options if owner != world), None):
        raise UserError(f"--set takes options of the world here, such as {world}.OPTION=VALUE; got one of '{odd}'")
    if seeds is None or not 1 <= seeds <= 10_000 or seed is None or seed < 0:
        raise UserError(f"--seeds is a number from 1 to 10000 and --seed one from 0, got {seeds} and {seed}")
    chosen, own = level or module.DEFAULT_LEVEL, options.get(world, {})
    read = module.OPTIONS.model_validate
    known_worlds.make(world, chosen, seed, None, own)  # says what is wrong with them
    played = []
    for path, _ in grid.runs(run) if run is not None else ():
        if not RunFolder(path).is_begun:
            continue
        experiment = RunFolder(path).experiment()
        place = experiment.world, experiment.level
        if place == (world, chosen) and read(experiment.options.get(world, {})) == read(own):
            played.append((experiment, RunFolder(path).finished(experiment)))
    if run is not None and not played:
        raise UserError(f"{run} holds no run of {world} {chosen} with these options")
    numbers = range(seed, seed + seeds)
    table = regret.list_bounds(world, chosen, numbers, own, regret.find_best(played))
    if all(row[1] == "none" for row in table.rows):
        raise UserError(f"nothing is proven of {world} {chosen}")
    if json:
        dump(table.plain())
    else:
        print_table(table)
    return 0
