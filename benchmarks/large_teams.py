"""What does a method's protocol cost as the team grows? Prompts, calls, tokens, the critical path, and our own time.

Rules answer each question after a drawn time, log-normal with a median of 4 s and a shape of 0.5, on a clock that jumps
to the next answer: an hour of waiting takes no time. The critical path of a step is worked out apart from that, from
what was asked of whom in which part of the team and from which questions have turns by the protocol. The clock goes on
by our own processor time too, writing prompts included, but not by that of the rules and of counting tokens: so wall
time is that of one core of this machine that has nothing else to do.

Tokens are those of o200k_base where the package bpe-openai is installed; else characters / 2.5. Every question is
counted, or every so many-th of a kind with ``--every``.

    python benchmarks/large_teams.py --save large-teams.json --page docs/results/large-teams.md
    python benchmarks/large_teams.py --places cube:n256:3 --methods hmas2 --every 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count as count_from
from math import exp, fsum, log
from pathlib import Path
from typing import Any, NamedTuple

from prompt_sizes import counter

from teamworld.episode.loop import Episode, Setting
from teamworld.experiment.message_protocol import rule as message_rule
from teamworld.experiment.spec import RunCell
from teamworld.language import Action, AgentId
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.common.neighbourhoods import LARGE, divide, find_place, in_neighbourhoods
from teamworld.methods.contract import InNeighbourhoods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import LogWriter
from teamworld.report.figure_style import WIDTH, bare, figure, legend_below, look, save
from teamworld.seeding import generator
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import StepResult, World

sys.path.insert(0, str(Path(__file__).parents[1]))  # the clock stands among the tests
from tests.reasoning.llm import virtual

PLACES = ("cube:n8:4", "cube:n16:4", "cube:n64:4", "cube:n256:4", "wildfire:darpa_500:4")
METHODS = ("drwell", "coela", "cobel", "hmas2", "camon", "embodied")
#: Questions that have turns by the protocol; what else is asked in a step is asked of all at the same time.
TURNS: Mapping[str, Collection[str]] = {
    "drwell": ("drwell.propose", "drwell.commit"),
    "coela": ("coela.message", "coela.action"),
    "cobel": (),
    "hmas2": ("hmas2.plan",),
    "camon": ("camon.lead", "camon.propose", "camon.review"),
    "embodied": ("embodied.talk",),
}
MEDIAN, SHAPE = 4.0, 0.5
BAR_TOKENS, BAR_WALL = 8000, 1.1
#: What the page holds between these is written by this script.
BEGINS, ENDS = "<!-- begin of the table -->", "<!-- end of the table -->"


class Enough(Exception):
    """As many steps were played as were to be."""


class Call(NamedTuple):
    """A question and how long its answer took."""

    step: int
    kind: str
    respondent: str
    seconds: float
    tokens: int | None


class Simulated:
    """Rules that take their time, and count what they are asked.

    Args:
        rules: They answer.
        count: Returns the tokens of a text.
        every: Of each kind of question every so many-th is counted.
    """

    name = "rules"

    def __init__(self, rules: RuleReasoner, count: Callable[[str], int], every: int) -> None:
        self._rules, self._count, self._every = rules, count, every
        self.calls: list[Call] = []
        self.counting = 0.0
        self._asked: dict[str, int] = defaultdict(int)
        self._numbers: dict[tuple[str, str], int] = defaultdict(int)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Count the prompt, wait, and answer by the rules."""
        who, kind = question.respondent, question.kind
        text = render(question).text
        begun = time.process_time()
        tokens = self._count(text) if self._asked[kind] % self._every == 0 else None
        self._asked[kind] += 1
        self._numbers[who, kind] += 1
        self.counting += time.process_time() - begun
        rng = generator(0, "benchmark", "answer", kind, who, self._numbers[who, kind])
        seconds = exp(log(MEDIAN) + SHAPE * float(rng.standard_normal()))
        self.calls.append(Call(next(iter(question.views.values())).t, kind, who, seconds, tokens))
        begun = time.process_time()
        answer = await self._rules.ask(question, tries)  # at once; a language model would take none of our time
        self.counting += time.process_time() - begun
        await asyncio.sleep(seconds)
        return answer


def measure(place: str, method: str, count: Callable[[str], int], every: int) -> dict[str, Any]:
    """Return what a few steps of a method take."""
    name, level, steps = place.split(":")
    options, cell = methods.resolve(method, {}), RunCell(method, 0)
    limit = worlds.step_limit(name, level, {})
    streams, world = cell.streams(1), worlds.make(name, level, 0, limit, {})
    world.reset(0)
    parts = split(world, options)
    mind = Simulated(RuleReasoner(streams), count, every)
    setting = Setting(0, 0, 1, {}, message_rule(method, "native", {}))
    player = in_neighbourhoods(methods.make(method, options.model_dump()))

    async def play() -> float:
        started = asyncio.get_running_loop().time()
        short = stop_after(world, int(steps))
        with tempfile.TemporaryDirectory() as scratch, LogWriter(Path(scratch) / "log.zst") as lines, suppress(Enough):
            await Episode(short, player, mind, WorldModel(), lines, streams, setting).play()
        return asyncio.get_running_loop().time() - started

    begun = time.process_time()
    clock = virtual.run(play(), lambda: time.process_time() - begun - mind.counting)
    own = time.process_time() - begun - mind.counting
    path = fsum(chain(mind.calls, parts, TURNS[method]))
    tokens = [call.tokens for call in mind.calls if call.tokens is not None]
    kinds = {call.kind: max(c.tokens or 0 for c in mind.calls if c.kind == call.kind) for call in mind.calls}
    return {
        "agents": len(world.spec.agents),
        "neighbourhoods": len(parts),
        "calls": len(mind.calls) / int(steps),
        "tokens": len(mind.calls) / len(tokens) * sum(tokens) / int(steps) if tokens else 0,
        "longest": kinds,
        "path": path / int(steps),
        "clock": clock / int(steps),
        "own": own / int(steps),
        "ratio": clock / path if path else None,
    }


def stop_after(world: World, steps: int) -> World:
    """Return a world that ends an episode early, with its own limit still ahead."""
    step, taken = world.step, count_from(1)

    def limited(orders: Mapping[AgentId, Action]) -> StepResult:
        result = step(orders)
        if next(taken) >= steps:
            raise Enough
        return result

    world.step = limited  # type: ignore[method-assign]
    return world


def split(world: World, options: object) -> list[tuple[AgentId, ...]]:
    """Return the parts of the team that have turns of their own."""
    agents = world.spec.agents
    most = options.neighbourhood if isinstance(options, InNeighbourhoods) else None
    if most is None or len(agents) <= LARGE:
        return [tuple(agents)]
    return divide({agent: find_place(world.view(agent)) for agent in agents}, most)


def chain(calls: Iterable[Call], parts: Sequence[Sequence[AgentId]], turns: Collection[str]) -> list[float]:
    """Return the critical path of each step in seconds, by the protocol: that of the part that takes longest."""
    part_of = {agent: number for number, agents in enumerate(parts, 1) for agent in agents}
    by_step: dict[int, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        _, dot, number = call.respondent.partition(".")
        by_step[call.step][part_of.get(call.respondent, int(number) if dot else 1)].append(call)
    return [max(_length(part, turns) for part in of_parts.values()) for of_parts in by_step.values()]


def _length(calls: Iterable[Call], turns: Collection[str]) -> float:
    """Return how long a part takes in a step: turns one after another, between them all agents at the same time."""
    lengths: list[float] = []
    at_once: dict[str, list[float]] = defaultdict(list)
    for call in calls:
        if call.kind in turns:
            lengths += [max(map(fsum, at_once.values()), default=0.0), call.seconds]
            at_once.clear()
        else:
            at_once[call.respondent].append(call.seconds)
    return fsum([*lengths, max(map(fsum, at_once.values()), default=0.0)])


def main() -> int:
    """Print the table, and whether the bars hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", nargs="+", default=PLACES, metavar="WORLD:LEVEL:STEPS")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--every", type=int, default=1, help="count the tokens of every so many-th question of a kind")
    parser.add_argument("--save", type=Path, help="write the table as JSON; what it holds already stays")
    parser.add_argument("--page", type=Path, help="put tables and figure of what the JSON holds into this page")
    args = parser.parse_args()
    unit, count = counter()
    table = json.loads(args.save.read_text("utf-8")) if args.save and args.save.exists() else {}
    print(f"{unit}; calls, tokens and seconds are those of a step")
    print("place method | agents parts | calls | tokens | critical path, s | clock, s | own, s | wall / path | longest")
    failed = False
    for place in args.places:
        for method in args.methods:
            row = table[f"{place} {method}"] = measure(place, method, count, args.every)
            longest = max(row["longest"].values(), default=0)
            ratio = row["ratio"] or 0.0
            failed |= longest > BAR_TOKENS or ratio > BAR_WALL
            print(
                f"{place} {method} | {row['agents']} {row['neighbourhoods']} | {row['calls']:.0f} "
                f"| {row['tokens']:.0f} | {row['path']:.1f} | {row['clock']:.1f} | {row['own']:.2f} | {ratio:.3f} "
                f"| {row['longest']}",
                flush=True,
            )
            if args.save:
                args.save.write_text(json.dumps(table, indent=1), "utf-8")
    if args.page:
        write_page(args.page, table, unit)
    return int(failed)


# ---- the page


def write_page(page: Path, table: Mapping[str, Any], unit: str) -> None:
    """Put the tables and the figure of some rows between the page's marks; what stands around them is left alone."""
    image = page.parents[1] / "images" / "large_teams"
    draw(table, image)
    rows = [(*name.split(" "), row) for name, row in table.items()]
    lines = [
        f"Tokens: {unit}. All figures but the longest prompt are those of a step.",
        "",
        "| world, method | agents | neighbourhoods | longest prompt | calls | tokens | critical path, s "
        "| own processor, s | wall over path |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for place, method, row in rows:
        kind, longest = max(row["longest"].items(), key=lambda entry: entry[1], default=("none", 0))
        own, ratio = ("" if row[name] is None else f"{row[name]:.2f}" for name in ("own", "ratio"))
        lines.append(
            f"| `{place.rpartition(':')[0]}`, {method} | {row['agents']} | {row['neighbourhoods']} "
            f"| {longest:,} (`{kind}`) | {row['calls']:,.0f} | {row['tokens']:,.0f} "
            f"| {row['path']:.0f} | {own} | {ratio} |"
        )
    lines += ["", f"![Calls and critical path by agents](../images/{image.name}.svg)"]
    before, _, rest = page.read_text("utf-8").partition(BEGINS)
    page.write_text(f"{before}{BEGINS}\n{chr(10).join(lines)}\n{ENDS}{rest.partition(ENDS)[2]}", "utf-8")


def draw(table: Mapping[str, Any], stem: Path) -> None:
    """Draw calls, tokens and critical path of a step by the number of agents, in CUBE."""
    panels = {"calls": "calls a step", "tokens": "prompt tokens a step", "path": "critical path of a step, s"}
    with figure(WIDTH, 2.6) as drawn:
        for axes, (field, title) in zip(drawn.subplots(1, len(panels)), panels.items(), strict=True):
            for number, method in enumerate(METHODS):
                rows = [row for name, row in table.items() if name.startswith("cube") and name.endswith(f" {method}")]
                points = sorted((row["agents"], row[field]) for row in rows)
                axes.plot([x for x, _ in points], [y for _, y in points], label=method, **look(number))
            axes.set(xscale="log", yscale="log", xlabel="agents", title=title)
            bare(axes, "both")
        legend_below(drawn, len(METHODS))
        save(drawn, stem)


if __name__ == "__main__":
    sys.exit(main())
