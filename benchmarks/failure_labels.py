"""How well failure labels agree with a person who read the same episodes.

    python benchmarks/failure_labels.py LOGS LABELS [--list]

LOGS is a folder of logs, LABELS a JSON file: by name of the log its ``tags`` as somebody labelled them by hand, each
with ``label``, ``first`` and ``last`` step, ``agents``, ``sure`` and ``why``. A tag is right if a label by hand of the
same name lies within three steps of it and one agent is in both (or one of them names no agent); a label by hand is
found if a tag does the same. Labels by hand that are not sure count for nothing, nor do tags that agree with them
alone, nor labels that readers had no name for (``LATER``, where nobody used them). Prints precision and recall with
95 % intervals (Wilson 1927), and with ``--list`` what is wrong and what was missed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from teamworld.record import read_log
from teamworld.report.failures import tags
from teamworld.report.statistics import wilson

SLACK = 3
#: Labels that the first readers had no name for.
LATER = ("thing-race",)
Tag = Mapping[str, Any]


class Agreement(NamedTuple):
    """Of one episode."""

    name: str
    right: Sequence[Tag]
    wrong: Sequence[Tag]
    found: Sequence[Tag]
    missed: Sequence[Tag]


def is_same(one: Tag, other: Tag) -> bool:
    """Return whether two tags are about the same failure."""
    if one["label"] != other["label"]:
        return False
    overlap = one["first"] <= other["last"] + SLACK and other["first"] <= one["last"] + SLACK
    return overlap and (not one["agents"] or not other["agents"] or not set(one["agents"]).isdisjoint(other["agents"]))


def agreements(logs: Path, labels: Mapping[str, Mapping[str, Sequence[Tag]]]) -> Iterator[Agreement]:
    """Yield how far tags and labels by hand agree, episode by episode."""
    unnamed = set(LATER) - {tag["label"] for labelled in labels.values() for tag in labelled["tags"]}
    for name, labelled in sorted(labels.items()):
        made = [tag for tag in tags(list(read_log(logs / f"{name}.jsonl.zst"))) if tag["label"] not in unnamed]
        hand = labelled["tags"]
        sure = [tag for tag in hand if tag["sure"]]
        right = [tag for tag in made if any(is_same(tag, other) for other in sure)]
        wrong = [tag for tag in made if not any(is_same(tag, other) for other in hand)]
        found = [tag for tag in sure if any(is_same(tag, other) for other in made)]
        yield Agreement(name, right, wrong, found, [tag for tag in sure if tag not in found])


def share(part: int, whole: int) -> str:
    """Return a share with its interval."""
    if not whole:
        return "-"
    low, high = wilson(part / whole, whole)
    return f"{part}/{whole} = {part / whole:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--list", action="store_true", help="what is wrong and what was missed")
    options = parser.parse_args()
    results = list(agreements(options.logs, json.loads(options.labels.read_text("utf-8"))))
    counts = {part: Counter[str]() for part in ("right", "wrong", "found", "missed")}
    for result in results:
        for part, count in counts.items():
            count.update(tag["label"] for tag in getattr(result, part))
    print(f"{len(results)} episodes\n{'label':22}{'precision':34}recall")
    for label in (*sorted(set().union(*counts.values())), None):
        right, wrong, found, missed = (count.total() if label is None else count[label] for count in counts.values())
        print(f"{label or 'all':22}{share(right, right + wrong):34}{share(found, found + missed)}")
    for result in results if options.list else ():
        for part in ("wrong", "missed"):
            for tag in getattr(result, part):
                words = tag.get("why", tag.get("text"))
                span = f"{tag['first']}-{tag['last']}"
                print(
                    f"{result.name} {part}: {tag['label']} {span} {', '.join(tag['agents'])} [{tag['goal']}]: {words}"
                )


if __name__ == "__main__":
    main()
