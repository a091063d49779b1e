"""The page of a reproduction of wildfire: what holds, figures, competencies, and a table for each level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from teamworld.report.competence import COMPETENCIES, PROVISIONAL, Seed
from teamworld.report.reproduce import wildfire_figures as figures
from teamworld.report.reproduce.page import picture, plain, table
from teamworld.report.reproduce.wildfire_checks import CLAIMS, VERDICTS, Check
from teamworld.report.reproduce.wildfire_figures import LABELS, Axis, Line
from teamworld.report.reproduce.wildfire_published import (
    EARLIER,
    EARLIER_SOURCE,
    FINAL,
    FINAL_SOURCE,
    IDLE,
    MEAN_BCS,
    MEAN_BCS_SOURCE,
    MIND,
)
from teamworld.report.reproduce.wildfire_results import (
    SCRIPTED,
    Outcome,
    Outcomes,
    Spread,
    competencies,
    difference,
    mean_competency,
    methods,
    of,
    points,
    published_share,
    share,
    spread,
)
from teamworld.report.statistics import Interval
from teamworld.report.tables import Table
from teamworld.worlds.wildfire.levels import PRESETS, describe_level, level_for

TITLE: Final = "# Wildfire: the published scores beside our runs"
#: What stands where nothing is published, or nothing can be said.
_NONE: Final = "–"
#: What the numbers of a claim are, where they are differences.
_MEANING: Final = {
    "3": ": its score less half of the scripted team's, paired by seed",
    "4a": ": points of trees, buildings and civilians saved, paired by seed",
    "4b": ": difference of score_reference, paired by seed",
    "5": ": difference of score_burnt, paired by seed",
}


class Made(NamedTuple):
    """Everything that a page tells."""

    command: str
    plan_seeds: str
    limits: Mapping[str, int]
    """Steps of an episode at most, by level."""
    methods: Sequence[str]
    found: Outcomes
    best: Mapping[str, float]
    seeds: Mapping[str, Sequence[Seed]]
    """By method, what competencies are counted from."""
    competence: Table
    checks: Sequence[Check]
    talk: str
    """Protocol and rules of messages in words."""
    again: Callable[[str], str]
    """The command that makes the table of a level."""

    @property
    def whole(self) -> bool:
        """Whether all 17 presets were run, so that means over levels can stand beside the published ones."""
        return set(self.found) == set(PRESETS)

    def compared(self) -> list[str]:
        """Return the methods but doing nothing, from which shares and competencies count."""
        return [method for method in self.methods if method != IDLE]


# ---- figures


def draw(target: Path, made: Made) -> list[tuple[Path, str]]:
    """Draw both figures; return files and captions."""
    target.mkdir(parents=True, exist_ok=True)
    shown = made.compared()
    scores = figures.dots(
        _share_lines(made),
        shown,
        Axis("share of the best: score, or damage averted", 0.0 if all(made.best.values()) else -0.5),
        target / "scores",
    )
    bcs = figures.dots(_competency_lines(made), shown, Axis("competency score", 0.0), target / "competencies")
    who = f"Ours: {made.plan_seeds}, built-in rules, no language model; published: {MIND}, other maps and seeds"
    return [
        (
            scores,
            "Scores as shares of the best. Above the line: score over the best possible one. Below it, where a fire is "
            "fought: the share of the damage of doing nothing that does not happen, cut trees counted as lost; left of "
            f"0 is worse than doing nothing, an arrow is off the axis. {who}.",
        ),
        (
            bcs,
            "Behavioural Competency Scores. 0 is doing nothing, 1 the best possible; only means over the competencies "
            "are published, and shown where all 17 levels were run. * provisional: of the full game alone, and not in "
            f"the mean. {who}.",
        ),
    ]


def _share_lines(made: Made) -> list[Line]:
    finite = [level for level in made.found if made.best[level]]
    fires = [level for level in made.found if not made.best[level]]
    return [
        Line(
            _short(level),
            {method: share(made.found[level], method, made.best[level]) for method in made.compared()},
            {
                method: value
                for method in made.compared()
                if (value := published_share(level, method, made.best[level])) is not None
            },
            above=bool(finite) and level in fires[:1],
        )
        for level in (*finite, *fires)
    ]


def _short(level: str) -> str:
    """Return a level's name as the figure has room for."""
    words = level
    for long, short in (
        ("suppress_fire_", ""), ("rescue_civilians_", "rescue "), ("cut_trees_", "cut "), ("_firefighters", ""),
        ("known_location", "known"), ("search_and_rescue", "search"), ("search_rescue_transport", "search transport"),
        ("locate_deploy_suppress", "locate, deploy"), ("locate_and_suppress", "locate"), ("scout_fire", "scout"),
    ):  # fmt: skip
        words = words.replace(long, short)
    return words.replace("_", " ")


def _competency_lines(made: Made) -> list[Line]:
    by_method = {method: competencies(made.seeds.get(method, ())) for method in made.compared()}
    lines = [
        Line(
            f"{name}{'*' if short in PROVISIONAL else ''}",
            {method: by_method[method][short] for method in by_method},
            {},
        )
        for short, name in COMPETENCIES.items()
    ]
    means = {method: mean_competency(made.seeds.get(method, ())) for method in by_method}
    return [*lines, Line("mean", means, MEAN_BCS if made.whole else {}, above=True)]


# ---- page


def page(path: Path, drawn: Sequence[tuple[Path, str]], made: Made) -> str:
    """Return the page.

    Args:
        path: Where it will stand.
        drawn: The figures with their captions.
        made: What it tells.
    """
    scores, bcs = (picture(file, path, caption) for file, caption in drawn)
    return "\n\n".join(
        [
            TITLE,
            _code(made.command),
            "**Ours are rules, theirs a language model.** What is called ours was decided by built-in rules; no "
            f"language model was asked. The published scores are {MIND}'s. Our maps are drawn from our own seeds and "
            "are not those of the Unity environment, and which parameters a published figure belongs to (2025 or 2026) "
            "is not stated. So the two stand beside each other for orientation: neither beats the other.",
            f"Ours: levels of the 2025 edition, {made.plan_seeds}, {made.talk or 'all talk freely'}. Each table names "
            "the step limit that was used. Values are means [95 % interval over seeds] with the sample standard "
            "deviation (n − 1). Where there is a best score, intervals are those of shares of it; of nothing but 0 and "
            "the maximum, Wilson's. Differences are paired by seed; where they are the same in all seeds, the interval "
            "has no width, which does not say that the next seed must agree. Random draws among the options that "
            "the world offers, which are whole tasks such as cutting a cell. Nothing below is entered by hand.",
            "## What holds",
            _summary(made.checks),
            _checklist(made.checks),
            "## Scores",
            scores,
            "## Competencies",
            bcs,
            table([LABELS.get(name, name) for name in made.competence.columns], made.competence.rows),
            f"*{made.competence.title}. {made.competence.caption}.*",
            _means(made),
            f"*The mean is over the competencies that the levels show, without the provisional one: ours of "
            f"{len(made.found)} of the 17 levels, n episodes; {MIND}'s of the paper's, as its readers report it "
            f"({MEAN_BCS_SOURCE}).*",
            _code(made.command),
            "## Levels",
            *(part for level in made.found for part in _level(level, made)),
        ]
    ) + "\n"  # fmt: skip


def _code(command: str) -> str:
    return f"```console\n{command}\n```"


def _summary(found: Sequence[Check]) -> str:
    """Return how often each claim holds."""
    rows = []
    for number, claim in CLAIMS.items():
        counts = Counter(one.verdict for one in found if one.number == number)
        if counts:
            rows.append((number, claim, *(str(counts[word]) for word in VERDICTS)))
    return table(("", "claim", *VERDICTS), rows)


def _checklist(found: Sequence[Check]) -> str:
    """Return a table for each claim; of methods, with a column for each."""
    parts = []
    for number, claim in CLAIMS.items():
        some = [one for one in found if one.number == number]
        by_level: dict[str, list[Check]] = {}
        for one in some:
            by_level.setdefault(one.level, []).append(one)
        columns = [LABELS[one.method] if one.method else "ours" for one in next(iter(by_level.values()), [])]
        rows = [(level, *(f"{one.found}: **{one.verdict}**" for one in row)) for level, row in by_level.items()]
        if rows:
            parts += [
                f"{number}. {claim[0].upper()}{claim[1:]}{_MEANING.get(number, '')}.",
                table(("level", *columns), rows),
            ]
    return "\n\n".join(parts)


def _means(made: Made) -> str:
    rows = []
    for method in made.compared():
        own = mean_competency(made.seeds.get(method, ()))
        theirs = f"{MEAN_BCS[method]:.2f}" if method in MEAN_BCS else _NONE
        rows.append((LABELS[method], _interval(own, "{:.2f}".format), _NONE if own is None else str(own.n), theirs))
    return table(("mean competency score", "ours, rules", "n", f"published, {MIND}"), rows)


def _interval(found: Interval | None, told: Callable[[float], str] = points) -> str:
    if found is None:
        return "none"
    bounds = f" [{told(found.low)}, {told(found.high)}]" if found.n > 1 else ""
    return f"{told(found.mean)}{bounds}"


def _level(level: str, made: Made) -> list[str]:
    """Return the part of one level: what it is, the command, the table, the paired differences."""
    best, found = made.best[level], made.found[level]
    fire = not best
    scores = ("score_reference", "score_burnt") if fire else ("score",)
    columns = ("method", *scores, "sd", "n", "steps", "messages", "questions",
               f"published, {MIND} ({FINAL_SOURCE[-5:]})",
               *((f"earlier ({EARLIER_SOURCE[-5:]})",) if level in EARLIER else ()),
               "− do nothing", "− scripted")  # fmt: skip
    own, limit = level_for(level), made.limits[level]
    cut = "" if limit == own.max_steps else f" (the level's own limit is {own.max_steps})"
    what = "best score 0: damage is counted" if fire else f"best score {best:g}"
    both = "; sd and differences are of score_reference, which counts cut trees as lost" if fire else ""
    return [
        f"### {level}",
        f"{describe_level(own)}. Step limit used: {limit}{cut}; {what}{both}.",
        _code(made.again(level)),
        table(columns, [_row(level, method, found, best) for method in methods(found)]),
    ]


def _row(level: str, method: str, found: Sequence[Outcome], best: float) -> tuple[str, ...]:
    own = of(found, method)
    reference = spread([one.reference for one in own], best)
    fire = own[0].destroyed is not None
    steps, messages, questions = (
        _mean([float(getattr(one, name)) for one in own]) for name in ("steps", "messages", "questions")
    )
    final = FINAL.get(level, {}).get(method)
    earlier = EARLIER.get(level, {}).get(method)
    return (
        LABELS[method],
        _interval(reference.interval),
        *((_interval(spread([one.burnt for one in own], best).interval),) if fire else ()),
        _NONE if reference.sd is None else f"{reference.sd:.3g}",
        str(reference.interval.n),
        steps,
        messages,
        questions,
        final.text if final else _NONE,
        *((earlier.text if earlier else _NONE,) if level in EARLIER else ()),
        *(_less(found, method, other) for other in (IDLE, SCRIPTED)),
    )


def _mean(numbers: Sequence[float]) -> str:
    return f"{sum(numbers) / len(numbers):.4g}"


def _less(found: Sequence[Outcome], method: str, other: str) -> str:
    """Return the paired difference of the scores of two methods."""
    if method == other:
        return ""
    paired = difference(found, method, other, lambda one: one.reference)
    if paired is None:
        return _NONE
    bounds = f" [{points(paired.low, '+')}, {points(paired.high, '+')}]" if paired.n > 1 else ""
    return f"{points(paired.difference, '+')}{bounds}"


# ---- numbers


def numbers(made: Made) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "mind": "built-in rules, no language model",
        "levels": {
            level: {
                "edition": level_for(level).edition,
                "max_steps": made.limits[level],
                "best": made.best[level],
                "episodes": plain(list(some)),
                "ours": {method: _spreads(of(some, method), made.best[level]) for method in methods(some)},
                "published": {"mind": MIND, "source": FINAL_SOURCE, "scores": plain(dict(FINAL.get(level, {})))},
                "earlier": {"mind": MIND, "source": EARLIER_SOURCE, "scores": plain(dict(EARLIER.get(level, {})))},
            }
            for level, some in made.found.items()
        },
        "competence": {
            "ours": {method: plain(competencies(made.seeds.get(method, ()))) for method in made.compared()},
            "mean": {method: plain(mean_competency(made.seeds.get(method, ()))) for method in made.compared()},
            "published_mean": {"mind": MIND, "source": MEAN_BCS_SOURCE, "scores": dict(MEAN_BCS)},
        },
        "checks": plain(list(made.checks)),
    }


def _spreads(own: Sequence[Outcome], best: float) -> dict[str, Any]:
    found: dict[str, Spread] = {
        name: spread([getattr(one, attribute) for one in own], best)
        for name, attribute in (("score_reference", "reference"), ("score_burnt", "burnt"))
    }
    return {name: {**plain(one.interval), "sd": one.sd} for name, one in found.items()}
