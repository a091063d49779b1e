"""What do the parts of DR. WELL bring? Its variants on paper-n2, and its task identities where layouts change.

Built-in rules, and a stand-in of rules that err; no language model. For each method: completion and steps over
all episodes and the last three, and messages, with 95 % bootstrap intervals over seeds, and the paired
differences to the full method (variant minus drwell, same seeds). A "*" marks a difference whose interval excludes 0.
Only these may be claimed, each by itself: the table holds many intervals, and none is corrected for that.

    nice python benchmarks/ablations.py --seeds 20 --out runs/ablations
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from teamworld import run
from teamworld.experiment.store.results import EpisodeRow
from teamworld.report.statistics import Interval, mean_interval, paired_interval

EPISODES = 10
LAST = 3
FULL = "drwell"
VARIANTS = (
    FULL,
    "drwell:no_memory",
    "drwell:guidebook_only",
    "drwell:library_only",
    "drwell:no_negotiation",
    "drwell:no_revision",
    "drwell:free_chat",
    "drwell:class_identity",
    "drwell:freeze_5",
    "drwell:alone",
    "zero_shot",
)
#: Variants that no method names: frozen after half of the episodes; neither talk nor memory.
OWN = {"drwell:freeze_5": {"freeze_after": 5}, "drwell:alone": {"negotiation": "none", "memory": "none"}}
IDENTITIES = (FULL, "drwell:class_identity", "drwell:no_memory")
#: ``reflections`` is left out: the rules write none and read none, so its logs are those of drwell.


class Part(NamedTuple):
    """One run of the comparison."""

    title: str
    name: str
    arguments: dict[str, Any]
    against: tuple[str, ...] = (FULL,)
    """Methods that the others are compared to."""


PARTS = (
    Part(
        "paper-n2, built-in rules, no language model",
        "rules",
        {"level": "paper-n2", "method": VARIANTS, "reasoner": "rules", "options": OWN},
    ),
    Part(
        "paper-n2, stand-in rules:noise=0.2 (rules that err, no language model)",
        "noise",
        {"level": "paper-n2", "method": VARIANTS, "reasoner": "rules:noise=0.2", "options": OWN},
    ),
    *(
        Part(
            f"{level}, a fresh instance for each episode, built-in rules, no language model",
            f"fresh-{level}",
            {"level": level, "method": IDENTITIES, "reasoner": "rules", "instances": "fresh"},
            (FULL, "drwell:no_memory"),
        )
        for level in ("n2", "n4")
    ),
)


class Measure(NamedTuple):
    """One number of an episode, averaged over some of a seed's episodes."""

    name: str
    value: Callable[[EpisodeRow], float | None]
    first: int
    """First episode that counts."""
    digits: int


MEASURES = (
    Measure("completion", lambda row: row.summary.completion, 1, 3),
    Measure("completion, last three", lambda row: row.summary.completion, EPISODES - LAST + 1, 3),
    Measure("steps", lambda row: float(row.summary.steps), 1, 1),
    Measure("steps, last three", lambda row: float(row.summary.steps), EPISODES - LAST + 1, 1),
    Measure("messages", lambda row: float(row.summary.messages), 1, 1),
)


def by_seed(rows: Sequence[EpisodeRow], method: str, measure: Measure) -> list[float]:
    """Return the mean of a measure over the episodes of each seed, in the order of seeds."""
    found: dict[int, list[float]] = {}
    for row in rows:
        value = measure.value(row)
        if row.method == method and row.episode >= measure.first and value is not None:
            found.setdefault(row.seed, []).append(value)
    return [sum(found[seed]) / len(found[seed]) for seed in sorted(found)]


def excludes_zero(interval: Interval) -> bool:
    """Whether a difference may be claimed."""
    return interval.n > 1 and (interval.low > 0 or interval.high < 0)


def compared(rows: Sequence[EpisodeRow], methods: Sequence[str], against: Sequence[str]) -> list[dict[str, Any]]:
    """Return one line a method and measure: its interval, and the paired differences to those it is compared to."""
    lines = []
    for measure in MEASURES:
        found = {method: by_seed(rows, method, measure) for method in methods}
        for place, method in enumerate(methods):
            interval = mean_interval(found[method])
            assert interval is not None
            line: dict[str, Any] = {"measure": measure.name, "method": method, **interval._asdict(), "minus": {}}
            for other in against:
                # Each pair once: a later one of the compared is not set against an earlier one again.
                twice = other in methods[place:] and method in against
                if not twice and (difference := paired_interval(found[method], found[other])) is not None:
                    line["minus"][other] = {**difference._asdict(), "excludes_zero": excludes_zero(difference)}
            lines.append(line)
    return lines


def shown(interval: dict[str, Any], digits: int) -> str:
    """Return an interval in words."""
    return f"{interval['mean']:.{digits}f} [{interval['low']:.{digits}f}, {interval['high']:.{digits}f}]"


def table(lines: Sequence[dict[str, Any]], measures: Sequence[Measure]) -> str:
    """Return the lines as a Markdown table: methods down, measures across, differences in a row of their own."""
    digits = {measure.name: measure.digits for measure in MEASURES}
    names = [measure.name for measure in measures]
    cells: dict[str, dict[str, str]] = {}
    for line in lines:
        if (name := line["measure"]) in names:
            cells.setdefault(line["method"], {})[name] = shown(line, digits[name])
            for other, difference in line["minus"].items():
                mark = " *" if difference["excludes_zero"] else ""
                minus = cells.setdefault(f"{line['method']} - {other}", {})
                minus[name] = shown(difference, digits[name]) + mark
    rows = [("method", *names), ("---",) * (len(names) + 1)]
    rows += [(method, *(found[name] for name in names)) for method, found in cells.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def play(part: Part, seeds: Sequence[int], out: Path) -> list[dict[str, Any]]:
    """Run one part, or go on with it, and compare."""
    rows = run("cube", **part.arguments, episodes=EPISODES, seed=seeds, out=out / part.name)
    return compared(rows, part.arguments["method"], part.against)


def main() -> None:
    """Run all parts and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="parts that run at the same time")
    parser.add_argument("--only", choices=[part.name for part in PARTS], action="append")
    parser.add_argument("--out", type=Path, default=Path("runs/ablations"))
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    given = parser.parse_args()
    seeds = list(range(given.first_seed, given.first_seed + given.seeds))
    parts = [part for part in PARTS if not given.only or part.name in given.only]
    with ProcessPoolExecutor(given.jobs) as pool:
        tasks = [pool.submit(play, part, seeds, given.out) for part in parts]
        results = [(part, task.result()) for part, task in zip(parts, tasks, strict=True)]
    if given.json:
        print(json.dumps({part.name: {"title": part.title, "seeds": seeds, "lines": lines} for part, lines in results}))
        return
    for part, lines in results:
        print(f"\n{part.title}; {EPISODES} episodes, {len(seeds)} seeds from {seeds[0]}\n")
        print(table(lines, MEASURES))


if __name__ == "__main__":
    main()
