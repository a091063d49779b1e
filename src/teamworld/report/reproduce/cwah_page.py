"""The page of a reproduction of C-WAH: what holds, the table of teams, tasks, differences, and what was published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from teamworld.report.reproduce import cwah_figures as figures
from teamworld.report.reproduce.cwah_checks import Check
from teamworld.report.reproduce.cwah_published import (
    ABLATIONS,
    ABLATIONS_SOURCE,
    EARLIER,
    EARLIER_SOURCE,
    EPISODES,
    HORIZON,
    SPENT,
    SPENT_SOURCE,
    TABLE,
    TABLE_SOURCE,
    TASKS,
    TEAMS,
)
from teamworld.report.reproduce.cwah_results import (
    Mean,
    Outcome,
    Outcomes,
    Strata,
    by_level,
    by_task,
    difference,
    mean,
    messages,
    saved,
    steps,
)
from teamworld.report.reproduce.cwah_rows import ALONE, COELA, Row
from teamworld.report.reproduce.page import picture, plain, table
from teamworld.report.statistics import Interval, Paired

TITLE: Final = "# C-WAH: the published steps beside our runs"
#: What stands where nothing was published, or nothing can be said.
_NONE: Final = "–"
#: Who decides in a row of ours, and that it is no language model.
_BY: Final = {
    "planner": "a planner, no LLM",
    "script": "a script, no LLM",
    "inference": "exact inference, no LLM",
}
#: Level to task, of the official episodes.
_TASK_OF: Final = {f"official-{number}": task for number, task in EPISODES.items()}
#: With which rows all others are compared: label and number of agents.
_BESIDE: Final = (("mhp", 2), (COELA, 2))


class Made(NamedTuple):
    """Everything that a page tells."""

    command: str
    seeds: str
    """Which were run, in words."""
    rows: Sequence[Row]
    found: Outcomes
    """Episodes by the key of their row; rows that do not stand have none."""
    strata: Strata
    split: str | None
    """Of generated episodes; None of the official ones."""
    mind: str
    """In words."""
    cap: int | None
    checks: Sequence[Check] = ()

    def of(self, row: Row) -> Sequence[Outcome]:
        """Return the episodes of a row."""
        return self.found.get(row.key, ())

    def find(self, label: str, agents: int) -> Row | None:
        """Return a row that was run."""
        return next((row for row in self.rows if (row.method, row.agents) == (label, agents) and self.of(row)), None)

    def beside(self, row: Row) -> dict[str, Row]:
        """Return what a row is compared with, by what the table calls it."""
        others = {"MHP x2": self.find(*_BESIDE[0]), "CoELA": self.find(*_BESIDE[1])}
        others["full"] = None if row.full is None else self.find(row.full, row.agents) or self.find(row.full, 2)
        return {name: other for name, other in others.items() if other is not None and other != row and self.of(row)}

    def saved(self, row: Row) -> float | None:
        """Return what a team saves against one planner; None of that one, or where it was not run."""
        alone = self.find(*ALONE)
        return None if alone is None or alone == row else saved(self.of(row), self.of(alone))

    def decider(self, row: Row) -> str:
        """Return who decides, in words; what is no language model is called none."""
        if not row.asks:
            return _BY[row.by]
        if not any(one.questions for one in self.of(row)):
            return "nobody asked, no LLM"
        return "; ".join([*(_BY[one].removesuffix(", no LLM") for one in row.by.split(" and ")[1:]), self.mind])

    def decider_in_short(self, row: Row) -> str:
        """Return the same in a word or two."""
        if not self.of(row):
            return _NONE
        mind = "rules" if self.mind.startswith("built-in rules") else self.mind
        named = {"inference": "exact", "minds": mind}
        return " + ".join(named.get(one, one) for one in reversed(row.by.split(" and ")))

    def asks_model(self, row: Row) -> bool:
        """Whether a language model stands behind a row of ours."""
        return row.asks and any(one.total_tokens is not None for one in self.of(row))


def published(row: Row) -> dict[str, float]:
    """Return the published mean steps of such a team with symbolic observation, by mind and source."""
    found: dict[str, float] = {}
    for name in row.table:
        found[f"{TABLE[name].mind or 'planner'}, CoBel-World paper"] = TABLE[name].mean[0]
    if row.ablation is not None:
        found["GPT-4o, CoBel-World paper's ablation"] = ABLATIONS[row.ablation]
    if row.earlier is not None:
        found[f"{EARLIER[row.earlier].mind or 'planner'}, CoELA paper"] = EARLIER[row.earlier].symbolic
    return found


# ---- figure


def draw(target: Path, made: Made) -> list[tuple[Path, str]]:
    """Draw the figure, where what draws it is installed; return files and captions."""
    if not figures.ready():
        return []
    lines = [
        figures.Line(row.name, mean(made.of(row), made.strata).steps, {} if made.split else published(row))
        for row in made.rows
        if made.of(row)
    ]
    target.mkdir(parents=True, exist_ok=True)
    return [
        (
            figures.dots(lines, target / "steps"),
            f"Average steps of each team, fewer are better. Dots: ours, {made.seeds}, with 95 % intervals, no language "
            f"model unless the table says so. {_THEIRS if not made.split else ''}".strip(),
        )
    ]


_THEIRS: Final = "Hollow: published, symbolic observation; no interval was published."


# ---- page


def page(path: Path, drawn: Sequence[tuple[Path, str]], made: Made) -> str:
    """Return the page.

    Args:
        path: Where it will stand.
        drawn: The figure with its caption; empty where nothing draws.
        made: What it tells.
    """
    shown = [row for row in made.rows if made.of(row)]
    parts = [
        TITLE,
        f"```console\n{made.command}\n```",
        _intro(made),
        *(("## What holds", table(("", "claim", "found", "verdict"), made.checks)) if made.checks else ()),
        "## Teams",
        table(*teams(made)),
        _legend(made),
        *(picture(file, path, caption) for file, caption in drawn),
    ]
    if made.split is None:
        parts += ["## Tasks", table(*_tasks(made, shown)), _TASKS_TOLD]
    parts += ["## Differences", table(*_differences(made, shown)), _DIFFERENCES_TOLD]
    if made.split is None:
        parts += ["## Episodes", table(*_episodes(made, shown)), "## Published, for comparison", *_published()]
    return "\n\n".join(parts) + "\n"


_TASKS_TOLD: Final = (
    "*Mean steps of each task: over the seeds of each of its two episodes, then over the two. In published rows "
    "symbolic / visual observation; all of ours are symbolic.*"
)
_DIFFERENCES_TOLD: Final = (
    "*Row minus the team of the column, of pairs with the same episode and seed: difference [95 % bootstrap interval], "
    "p of a permutation test, not corrected for their number. Below 0 the row takes fewer. `full`: the team of "
    "which the row is a part or another form.*"
)


def _intro(made: Made) -> str:
    what = (
        f"The ten official test episodes with symbolic observation, {made.seeds}."
        if made.split is None
        else f"Episodes of our own generator, with symbolic observation: {made.seeds}. Nothing published stands beside "
        "them. `dev` is to tune on, `test` to report."
    )
    cap = "" if made.cap is None else f" No agent sends more than {made.cap} messages in an episode, in any team."
    return (
        f"{what} Where minds are asked: {made.mind}.{cap} **Published teams but MHP are language models; each row of "
        "ours says where it is none.** What is rules says how far the protocol comes with a mind that never errs, not "
        "what a model does, so the two stand beside each other for orientation. Nothing below is entered by hand."
    )


def teams(made: Made) -> tuple[list[str], list[list[str]]]:
    """Return columns and lines of the table of teams."""
    columns = ["team", "decided by", "steps", "failed", "messages", "message tokens", "total tokens", "saved"]
    columns += [] if made.split else ["published: CoBel-World paper", "its ablations", "CoELA paper"]
    return columns, [_team(made, row) for row in made.rows]


def _team(made: Made, row: Row) -> list[str]:
    beside = [] if made.split else [_table_told(row), _ablation_told(row), _earlier_told(row)]
    if not made.of(row):
        return [row.name, "not there yet", *[_NONE] * 6, *beside]
    told = mean(made.of(row), made.strata)
    share = made.saved(row)
    return [
        row.name,
        made.decider(row),
        _interval(told.steps),
        f"{told.failures} of {told.runs}",
        _interval(told.messages),
        _tokens(told),
        _NONE if told.total_tokens is None else f"{told.total_tokens.mean:,.0f}",
        _NONE if share is None else f"{100 * share:.0f} %",
        *beside,
    ]


def _tokens(told: Mean) -> str:
    sent = f"{told.message_tokens.mean:.0f}"
    return sent if told.written_tokens is None else f"{told.written_tokens.mean:.0f} written, {sent} sent"


def _interval(found: Interval, digits: int = 1) -> str:
    bounds = f" [{found.low:.{digits}f}, {found.high:.{digits}f}]" if found.n > 1 else ""
    return f"{found.mean:.{digits}f}{bounds}"


def _table_told(row: Row) -> str:
    found = [TABLE[name] for name in row.table]
    words = [
        f"{one.mean[0]} ({one.mind or 'planner'}{f', {one.tokens[0]:,} message tokens' if one.tokens else ''})"
        for one in found
    ]
    return "; ".join(words) or _NONE


def _ablation_told(row: Row) -> str:
    return _NONE if row.ablation is None else f"{ABLATIONS[row.ablation]} (GPT-4o)"


def _earlier_told(row: Row) -> str:
    if row.earlier is None:
        return _NONE
    one = EARLIER[row.earlier]
    share = f", saves {100 * one.saved[0]:.0f} %" if one.saved else ""
    return f"{one.symbolic} ({one.mind or 'planner'}{share})"


def _legend(made: Made) -> str:
    over = "each episode's seeds, then over the ten" if made.split is None else "episodes"
    several = any(len({one.seed for one in some}) > 1 for some in made.found.values())
    apart = "seeds resampled within episodes" if made.split is None and several else "episodes resampled"
    return (
        f"*Means over {over} [95 % bootstrap interval, {apart}]; a failure counts {HORIZON} steps and is counted. "
        "Messages and tokens: of an episode, all agents together. Message tokens: completion tokens of what writes "
        "messages, sent or not, where a language model writes them (the published figure is that one), and words and "
        "signs of what was sent, which is all that there is of other teams. Total tokens: prompts and completions "
        "of a language model. Saved: 1 − steps / steps of MHP x1, by episode.*"
    )


def _tasks(made: Made, shown: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for row in shown:
        tasks = by_task(made.of(row), _TASK_OF)
        own = mean(made.of(row), made.strata).steps
        lines.append([f"ours: {row.name}", made.decider(row), *(f"{tasks[task]:.0f}" for task in TASKS),
                      f"{own.mean:.0f}"])  # fmt: skip
    for one in TABLE.values():
        both = [f"{a} / {b}" for a, b in zip(one.symbolic, one.visual, strict=True)]
        lines.append([f"published: {one.team}", one.mind or "a planner", *both, f"{one.mean[0]} / {one.mean[1]}"])
    return ["team", "decided by", *TASKS, "mean"], lines


def _differences(made: Made, shown: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    columns = ["team", "steps − MHP x2", "steps − CoELA", "messages − CoELA", "steps − full", "messages − full", "full"]
    wanted = (("MHP x2", steps), ("CoELA", steps), ("CoELA", messages), ("full", steps), ("full", messages))
    lines = []
    for row in shown:
        beside = made.beside(row)
        cells = [_paired(_against(made, row, beside.get(name), value)) for name, value in wanted]
        lines.append([row.name, *cells, beside["full"].name if "full" in beside else _NONE])
    return columns, lines


def _against(made: Made, row: Row, other: Row | None, value: Callable[[Outcome], float]) -> Paired | None:
    return None if other is None else difference(made.of(row), made.of(other), made.strata, value)


def _paired(found: Paired | None) -> str:
    if found is None:
        return _NONE
    bounds = f" [{found.low:+.1f}, {found.high:+.1f}], p {found.p:.2g}" if found.n > 1 else ""
    return f"{found.difference:+.1f}{bounds}"


def _episodes(made: Made, shown: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for row in shown:
        found = by_level(made.of(row))
        lines.append([row.name, *(f"{found[level]:.0f}" for level in _TASK_OF)])
    return ["mean steps", *(f"{number} {task}" for number, task in EPISODES.items())], lines


def _published() -> list[str]:
    main = table(
        ("team", "mind", *TASKS, "mean", "message tokens"),
        [
            (one.team, one.mind or "a planner", *(f"{a} / {b}" for a, b in zip(one.symbolic, one.visual, strict=True)),
             f"{one.mean[0]} / {one.mean[1]}", f"{one.tokens[0]:,} / {one.tokens[1]:,}" if one.tokens else _NONE)
            for one in TABLE.values()
        ],
    )  # fmt: skip
    earlier = table(
        ("team", "mind", "symbolic", "visual"),
        [
            (
                one.team,
                one.mind or "a planner",
                *(
                    f"{number}{f' ({100 * one.saved[at]:.0f} % saved)' if one.saved else ''}"
                    for at, number in enumerate((one.symbolic, one.visual))
                ),
            )
            for one in EARLIER.values()
        ],
    )
    spent = table(
        ("run", "steps", "calls", "prompt tokens", "completion tokens", "total", "of which message completions"),
        [
            (name, f"{one.steps}", f"{one.calls}", f"{one.prompt:,}", f"{one.completion:,}", f"{one.total:,}",
             f"{one.messages:,}")
            for name, one in SPENT.items()
        ],
    )  # fmt: skip
    ablations = ", ".join(f"{name} {number}" for name, number in ABLATIONS.items())
    sizes = ", ".join(f"{agents} agents {number}" for agents, number in TEAMS.items())
    return [
        main,
        f"*CoBel-World paper, symbolic / visual observation ({TABLE_SOURCE}). Means are as printed: 48 and 71 of "
        "CoBel-World with GPT-4o come to 48.6 and 70.4 from its tasks.*",
        earlier,
        f"*CoELA paper ({EARLIER_SOURCE}); MHP is the mean of five runs, CoELA of one.*",
        f"Ablations of CoBel-World with GPT-4o, symbolic: {ablations}. By size of the team: {sizes} "
        f"({ABLATIONS_SOURCE}; the full team is another run than the main table's).",
        spent,
        f"*An episode with GPT-4o and symbolic observation, from files that the authors left ({SPENT_SOURCE}): another "
        "count than the printed tables, and the only one with all tokens.*",
    ]


# ---- terminal and numbers


def lines(made: Made) -> tuple[str, ...]:
    """Return the table of teams and the checks for a terminal."""
    columns, rows = teams(made)
    used = [at for at, name in enumerate(columns) if name in _ALWAYS or any(row[at] != _NONE for row in rows)]
    cells = [[line[at] for at in used] for line in ([_SHORT.get(name, name) for name in columns], *rows)]
    for line, row in zip(cells[1:], made.rows, strict=True):
        line[1] = made.decider_in_short(row)
    widths = [max(len(line[at]) for line in cells) for at in range(len(used))]
    found = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    told = [f"{one.number}  {one.claim}: {one.verdict} ({one.found})" for one in made.checks]
    what = "ten official episodes" if made.split is None else "generated episodes"
    head = f"C-WAH, {what}, {made.seeds}. Minds: {made.mind}. Planner, script, exact inference and rules are no LLM."
    return (head, "", *found, *[""] * bool(told), *told)


_ALWAYS: Final = ("team", "decided by", "steps", "failed", "messages", "message tokens")
_SHORT: Final = {"decided by": "by", "published: CoBel-World paper": "published", "message tokens": "tokens"}


def numbers(made: Made) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "paper": "cwah",
        "episodes": "official" if made.split is None else made.split,
        "seeds": made.seeds,
        "mind": made.mind,
        "cap": made.cap,
        "rows": [_numbers(made, row) for row in made.rows],
        "checks": plain([one._asdict() for one in made.checks]),
        "published": {
            "table": {"source": TABLE_SOURCE, "tasks": list(TASKS), "columns": plain(dict(TABLE))},
            "earlier": {"source": EARLIER_SOURCE, "rows": plain(dict(EARLIER))},
            "ablations": {"source": ABLATIONS_SOURCE, "steps": dict(ABLATIONS), "agents": plain(dict(TEAMS))},
            "spent": {"source": SPENT_SOURCE, "rows": plain({k: {**v._asdict(), "total": v.total}
                                                             for k, v in SPENT.items()})},
        },
    }  # fmt: skip


def _numbers(made: Made, row: Row) -> dict[str, Any]:
    own = made.of(row)
    fixed = {"method": row.method, "agents": row.agents, "name": row.name, "published": published(row)}
    if not own:
        return {**fixed, "decided_by": None, "llm": None, "steps": None, "runs": 0}
    told = mean(own, made.strata)
    return {
        **fixed,
        "decided_by": made.decider(row),
        "llm": made.asks_model(row),
        "steps": told.steps.mean,
        "steps_interval": [told.steps.low, told.steps.high],
        "runs": told.runs,
        "failures": told.failures,
        "messages": told.messages.mean,
        "messages_interval": [told.messages.low, told.messages.high],
        "message_tokens": told.message_tokens.mean,
        "written_tokens": None if told.written_tokens is None else told.written_tokens.mean,
        "total_tokens": None if told.total_tokens is None else told.total_tokens.mean,
        "questions": told.questions,
        "fallbacks": told.fallbacks,
        "saved": made.saved(row),
        "tasks": by_task(own, _TASK_OF) if made.split is None else None,
        "by_episode": by_level(own) if made.split is None else None,
        "episodes": plain(list(own)),
        "differences": {
            name: {"to": other.method, "agents": other.agents,
                   "steps": plain(difference(own, made.of(other), made.strata, steps)),
                   "messages": plain(difference(own, made.of(other), made.strata, messages))}
            for name, other in made.beside(row).items()
        },
    }  # fmt: skip
