"""Does the team learn? DR. WELL against zero-shot on paper-n2, on the rules and on the stand-in that errs.

Prints, over the seeds: completion and steps by episode, and the paired intervals behind each claim.

    python benchmarks/learning.py --seeds 20 --out runs/learning
"""

from __future__ import annotations

import argparse
from pathlib import Path

from teamworld import run
from teamworld.experiment.store.results import EpisodeRow
from teamworld.report.statistics import Interval, mean_interval, paired_interval, slope

EPISODES = 10


def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def by_seed(rows: list[EpisodeRow], method: str) -> dict[int, list[EpisodeRow]]:
    """Return each seed's episodes in order."""
    found: dict[int, list[EpisodeRow]] = {}
    for row in rows:
        if row.method == method:
            found.setdefault(row.seed, []).append(row)
    return found


def show(name: str, interval: Interval | None) -> None:
    """Print an interval."""
    if interval is not None:
        print(f"{name}: {interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}] (n = {interval.n})")


def learning(rows: list[EpisodeRow]) -> None:
    """Print what is claimed of learning on the rules."""
    team, alone = by_seed(rows, "drwell"), by_seed(rows, "zero_shot")
    for name, seeds in (("drwell", team), ("zero_shot", alone)):
        print(f"{name}: by episode, completion and steps")
        for episode in range(EPISODES):
            done = [found[episode].summary.completion for found in seeds.values()]
            steps = [found[episode].summary.steps for found in seeds.values()]
            print(f"  {episode + 1:2d}  {mean(done):.3f}  {mean([float(x) for x in steps]):6.1f}  worst {max(steps)}")
    late = [row for found in team.values() for row in found[4:]]
    print(f"episodes after the fourth with all blocks: {sum(row.summary.success for row in late)} of {len(late)}")
    last = sorted(max(row.summary.steps for row in found[7:]) for found in team.values())
    middle = sorted(mean([float(row.summary.steps) for row in found[7:]]) for found in team.values())
    print(f"most steps in the last three episodes, worst seed: {last[-1]}")
    print(f"mean steps in the last three episodes, median seed: {middle[len(middle) // 2]:.1f}")
    final = {s: mean([float(r.summary.steps) for r in f[7:]]) for s, f in team.items()}
    final_alone = {s: mean([float(r.summary.steps) for r in f[7:]]) for s, f in alone.items()}
    first = {s: mean([float(r.summary.steps) for r in f[:2]]) for s, f in team.items()}
    show(
        "steps, drwell minus zero_shot, last three",
        paired_interval([final[s] for s in team], [final_alone[s] for s in team]),
    )
    show("steps, drwell, episodes 1-2 minus 8-10", paired_interval([first[s] for s in team], [final[s] for s in team]))
    show(
        "zero_shot, slope of steps per episode",
        mean_interval([slope([float(r.summary.steps) for r in f]) for f in alone.values()]),
    )
    show(
        "zero_shot, slope of completion per episode",
        mean_interval([slope([r.summary.completion for r in f]) for f in alone.values()]),
    )


def noise(rows: list[EpisodeRow]) -> None:
    """Print what is claimed under noise."""
    team, alone = by_seed(rows, "drwell"), by_seed(rows, "zero_shot")
    one = [mean([row.summary.completion for row in team[seed]]) for seed in team]
    other = [mean([row.summary.completion for row in alone[seed]]) for seed in team]
    print(f"completion: drwell {mean(one):.3f}, zero_shot {mean(other):.3f}")
    show("completion, drwell minus zero_shot", paired_interval(one, other))


def main() -> None:
    """Run both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/learning"))
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    for reasoner, tell in (("rules", learning), ("rules:noise=0.2", noise)):
        print(f"\n== {reasoner}")
        out = given.out / reasoner.replace(":", "_").replace("=", "_")
        tell(
            run("cube", method=["drwell", "zero_shot"], reasoner=reasoner, episodes=EPISODES, seed=list(seeds), out=out)
        )


if __name__ == "__main__":
    main()
