"""Compare two minds on the same seeds: completion, steps, tokens and dollars, with paired intervals.

python examples/compare_models.py http://localhost:8000/v1#small http://localhost:8000/v1#large --seeds 10
python examples/compare_models.py rules rules:noise=0.2
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import teamworld
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.cost import cost
from teamworld.report.comparison import LEVEL
from teamworld.report.statistics import paired


def play(mind: str, given: argparse.Namespace) -> tuple[list[EpisodeRow], Path]:
    """Run a mind, or go on where it stopped; return its episodes and its folder."""
    out = Path(given.out) / re.sub(r"[^A-Za-z0-9._-]+", "_", mind)
    rows = teamworld.run(
        given.world,
        level=given.level,
        method=given.method,
        reasoner=mind,
        episodes=given.episodes,
        seed=range(given.seeds),
        out=out,
        running=RunOptions(budget=given.budget),
    )
    return rows, out


def by_seed(rows: list[EpisodeRow], value: Callable[[EpisodeRow], float | None]) -> dict[int, float]:
    """Return the mean of a value over the episodes of each seed."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if (known := value(row)) is not None:
            found.setdefault(row.seed, []).append(known)
    return {seed: sum(values) / len(values) for seed, values in found.items()}


def main() -> None:
    """Play both and print the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("minds", nargs=2, help="as for --reasoner")
    parser.add_argument("--world", default="cube")
    parser.add_argument("--level", default="n4")
    parser.add_argument("--method", default="drwell")
    parser.add_argument("--episodes", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", help="of each mind, such as 2Mtok")
    parser.add_argument("--out", default="runs/compared")
    given = parser.parse_args()

    played = {mind: play(mind, given) for mind in given.minds}
    for mind, (rows, out) in played.items():
        with CallStore(out / "results.sqlite", readonly=True) as store:
            calls = store.rows()
        bill = cost(calls)
        tokens = sum((call.prompt_tokens or 0) + (call.output_tokens or 0) for call in calls)
        dollars = "no price known" if bill.value is None else f"{bill.value:.4f} USD"
        print(
            f"{mind}: {len(rows)} episodes, {len(calls):,} calls, {tokens:,} tokens, {dollars if calls else 'no bill'}"
        )
    one, other = (rows for rows, _ in played.values())
    measures: dict[str, Callable[[EpisodeRow], float | None]] = {
        "completion": lambda row: row.summary.completion,
        "steps": lambda row: float(row.summary.steps),
    }
    print(f"\n{given.minds[1]} minus {given.minds[0]}, mean and 95 % interval over {given.seeds} seeds")
    for name, value in measures.items():
        before, after = by_seed(one, value), by_seed(other, value)
        both = [seed for seed in before if seed in after]
        found = paired([(after[seed], 1.0) for seed in both], [(before[seed], 1.0) for seed in both])
        if found is not None:
            sure = "   supported" if found.p < LEVEL / len(measures) else "   not supported"  # Bonferroni
            told = f"[{found.low:.2f}, {found.high:.2f}]  p = {found.p:.2g}"
            print(f"{name:<12}{found.difference:>8.2f}  {told}{sure}")


if __name__ == "__main__":
    main()
