"""``teamworld reproduce wildfire``: final scores on the 17 presets from our runs, beside the published values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from teamworld.errors import UserError, suggest
from teamworld.experiment.api import run
from teamworld.experiment.message_protocol import MessageProtocol
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.claims import Check
from teamworld.papers.page import NOTHING, Reproduction, check_folder, data, interval_text, plain, seeds_text, write
from teamworld.papers.wildfire.scores import (
    IDLE,
    SCRIPTED,
    VERDICTS,
    EpisodeScore,
    ScoresByLevel,
    checks,
    competencies,
    difference,
    episode_score,
    mean_competency,
    methods,
    of,
    points,
    points_of,
    published,
    published_share,
    share,
    spread,
)
from teamworld.reasoning.human import Terminal
from teamworld.record import read_log
from teamworld.report import competence
from teamworld.report.competence import COMPETENCIES, PROVISIONAL, Seed
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS, need
from teamworld.report.tables import Table
from teamworld.report.tables import talk as talk_in_words
from teamworld.worlds.wildfire.levels import PRESETS, describe_level, level_for
from teamworld.worlds.wildfire.physics import best_score

#: What is always run: a team that does nothing, the scripted one, a random one, and the methods of the paper.
METHODS: Final = (IDLE, SCRIPTED, "random", "coela", "camon", "hmas2", "embodied")
#: What can be run beside them.
OTHER_METHODS: Final = ("drwell", "zero_shot")
LABELS: Final = {
    "do_nothing": "do nothing",
    "greedy": "scripted",
    "random": "random",
    "coela": "COELA",
    "camon": "CAMON",
    "hmas2": "HMAS-2",
    "embodied": "Embodied",
    "drwell": "DR. WELL",
    "zero_shot": "zero-shot",
}
_REASONER: Final = "built-in rules, no language model"


class WildfirePlan(NamedTuple):
    """What to run."""

    seeds: int = 10
    levels: tuple[str, ...] = PRESETS
    others: tuple[str, ...] = ()
    """Further methods, of ``OTHER_METHODS``."""
    talk: MessageProtocol = "native"
    cap: int | None = None
    """Most steps of an episode; None: the level's own limit."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All that is run on each level."""
        return (*METHODS, *self.others)

    @property
    def size(self) -> int:
        """Episodes in all."""
        return len(self.levels) * len(self.methods) * self.seeds

    @property
    def range(self) -> range:
        """The seeds."""
        return range(FIRST_SEED, FIRST_SEED + self.seeds)

    @property
    def seeds_in_words(self) -> str:
        """The seeds in words."""
        return seeds_text(self.range)

    def limit(self, level: str) -> int:
        """Return the steps of an episode at most."""
        own = level_for(level).max_steps
        return own if self.cap is None else min(own, self.cap)

    def command(self, level: str) -> str:
        """Return the command that makes the table of one level alone."""
        words: list[Any] = ["teamworld reproduce wildfire --level", level, "--seeds", self.seeds]
        words += ["--method", ",".join(self.others)] if self.others else []
        words += ["--talk", self.talk] if self.talk != "native" else []
        words += ["--quick"] if self.cap is not None else []
        return " ".join(map(str, words))


#: A small version in less than a minute: small levels and short episodes.
QUICK: Final = WildfirePlan(
    seeds=2, levels=("cut_trees_sparse_small", "transport_firefighters_small", "suppress_fire_contain"), cap=30
)


class WildfireResult(NamedTuple):
    """Everything that figures and page show."""

    plan: WildfirePlan
    scores: ScoresByLevel
    best: Mapping[str, float]
    seeds: Mapping[str, Sequence[Seed]]
    """By method, what competencies are counted from."""
    competence: Table
    checks: Sequence[Check]
    talk: str
    """Protocol and rules of messages in words."""

    @property
    def compared(self) -> list[str]:
        """The methods but doing nothing, from which shares and competencies count."""
        return [method for method in self.plan.methods if method != IDLE]


def choose(plan: WildfirePlan, levels: Sequence[str] | None, others: Sequence[str] | None) -> WildfirePlan:
    """Return a plan for some levels and further methods, in the order of the presets.

    Raises:
        UserError: One of them is none of those that can be run.
    """
    for level in levels or ():
        if level not in PRESETS:
            raise UserError(f"--level: '{level}' is none of the 17 presets{suggest(level, list(PRESETS))}")
    for method in others or ():
        if method not in OTHER_METHODS:
            raise UserError(
                f"--method takes what is run beside the paper's methods: {' or '.join(OTHER_METHODS)}; got '{method}'"
            )
    return plan._replace(
        levels=tuple(level for level in PRESETS if level in levels) if levels else plan.levels,
        others=tuple(method for method in OTHER_METHODS if method in (others or ())),
    )


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for.

    Raises:
        UserError: There is no such level, method or protocol.
    """
    plan = choose(QUICK if options.quick else WildfirePlan(), options.level, options.method)
    protocol = next((talk for talk in get_args(MessageProtocol) if talk == options.talk), plan.talk)
    if options.talk not in (None, protocol):
        raise UserError(f"--talk is {' or '.join(get_args(MessageProtocol))}, got '{options.talk}'")
    plan = plan._replace(seeds=options.seeds or plan.seeds, talk=protocol)
    return Job(partial(reproduce, out, plan, command), plan.size)


def reproduce(out: Path, plan: WildfirePlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run everything in ``runs``, each level and further method in a folder of its own; write figures and page."""
    need(matplotlib="plots")
    check_folder(out, "runs", "wildfire")
    scores: dict[str, list[EpisodeScore]] = {}
    talks: list[str] = []
    for level in plan.levels:
        scores[level] = []
        for name, names in ((level, METHODS), *((f"{level}-{method}", (method,)) for method in plan.others)):
            folder = RunFolder(out / "runs" / name)
            scores[level] += _run(folder, plan, level, names, progress)
            talks.append(talk_in_words(folder.experiment()))
    tops = {level: best_score(level_for(level)) for level in plan.levels}
    # Competency scores count from scores with cut trees as lost, as the published ones.
    episodes = [
        competence.ScoredEpisode(score.method, (level, "", score.seed, 1), score.reference)
        for level, own in scores.items()
        for score in own
    ]
    result = WildfireResult(
        plan,
        scores,
        tops,
        competence.seeds(episodes),
        competence.table(episodes, _REASONER),
        checks(scores, tops),
        "; ".join(filter(None, dict.fromkeys(talks))),
    )
    drawn = draw(out / "figures", result)
    page = _write(out, command, result)
    return Reproduction(page, drawn, _numbers(result), tuple(check.line for check in result.checks))


def _run(
    folder: RunFolder, plan: WildfirePlan, level: str, names: Sequence[str], progress: Progress
) -> list[EpisodeScore]:
    rows = run(
        "wildfire",
        level=level,
        method=names,
        seed=plan.range,
        max_steps=plan.limit(level),
        talk=plan.talk,
        out=folder.path,
        progress=lambda row: progress(f"{level}, {row.method}, seed {row.seed}"),
    )
    return [
        episode_score(
            row.method, row.seed, row.summary, read_log(folder.log(RunCell(row.method, row.seed), row.episode))
        )
        for row in rows
    ]


# ---- figures


def draw(target: Path, result: WildfireResult) -> tuple[Path, ...]:
    """Draw both figures."""
    target.mkdir(parents=True, exist_ok=True)
    panels = {method: LABELS[method] for method in result.compared}
    legend = "ours: rules, no language model; 95 % interval"
    low = 0.0 if all(result.best.values()) else -0.5
    ticks = {"0": 0.0, "½": 0.5, "1": 1.0}
    score_axis = DotAxis("share of the best: score, or damage averted", (low, 1.0), ticks)
    competency_axis = DotAxis("competency score", (0.0, 1.0), ticks)
    return (
        draw_dots(_share_lines(result), panels, score_axis, legend, target / "scores"),
        draw_dots(_competency_lines(result), panels, competency_axis, legend, target / "competencies"),
    )


def _mark(value: float | None) -> list[tuple[PublishedMark, float]]:
    label = f"published: {data('wildfire', 'published')['reasoner']}"
    return [] if value is None else [(PublishedMark(label, "D", COLOURS[5]), value)]


def _share_lines(result: WildfireResult) -> list[DotLine]:
    finite = [level for level in result.scores if result.best[level]]
    fires = [level for level in result.scores if not result.best[level]]
    return [
        DotLine(
            _short(level),
            {method: share(result.scores[level], method, result.best[level]) for method in result.compared},
            {method: _mark(published_share(level, method, result.best[level])) for method in result.compared},
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


def _competency_lines(result: WildfireResult) -> list[DotLine]:
    by_method = {method: competencies(result.seeds.get(method, ())) for method in result.compared}
    lines = [
        DotLine(
            f"{name}{'*' if short in PROVISIONAL else ''}",
            {method: by_method[method][short] for method in by_method},
            {},
        )
        for short, name in COMPETENCIES.items()
    ]
    means = {method: mean_competency(result.seeds.get(method, ())) for method in by_method}
    # Published means are over all levels.
    whole = set(result.scores) == set(PRESETS)
    marks = {method: _mark(value) for method, value in _published_means().items() if whole}
    return [*lines, DotLine("mean", means, marks, above=True)]


def _published_means() -> dict[str, float]:
    means: dict[str, float] = data("wildfire", "published")["mean_competency"]["scores"]
    return means


# ---- page


def _write(out: Path, command: str, result: WildfireResult) -> Path:
    published_content = data("wildfire", "published")
    checks_by_number: dict[str, dict[str, list[Check]]] = {}
    for check in result.checks:
        checks_by_number.setdefault(check.number, {}).setdefault(str(check.level), []).append(check)
    return write(
        "wildfire",
        out,
        command,
        result=result,
        published=published_content,
        model=published_content["reasoner"],
        reasoner=_REASONER,
        verdicts=VERDICTS,
        verdict_counts=Counter((check.number, check.verdict) for check in result.checks),
        checks_by_number=checks_by_number,
        claims=data("wildfire", "claims")["claims"],
        labels=LABELS,
        means={method: mean_competency(result.seeds.get(method, ())) for method in result.compared},
        interval_text=interval_text,
        presets={level: level_for(level) for level in result.scores},
        describe_level=describe_level,
        level_rows={
            level: [_row(level, method, scores, result.best[level]) for method in methods(scores)]
            for level, scores in result.scores.items()
        },
    )


def _row(level: str, method: str, scores: Sequence[EpisodeScore], top: float) -> list[str]:
    own = of(scores, method)
    reference = spread([score.reference for score in own], top)
    fire = own[0].destroyed is not None
    steps, messages, questions = (
        f"{sum(getattr(score, name) for score in own) / len(own):.4g}" for name in ("steps", "messages", "questions")
    )
    final = published("final").get(level, {}).get(method)
    earlier = published("earlier").get(level, {}).get(method)
    return [
        LABELS[method],
        interval_text(reference.interval, points),
        *([interval_text(spread([score.burnt for score in own], top).interval, points)] if fire else []),
        NOTHING if reference.sd is None else f"{reference.sd:.3g}",
        str(reference.interval.n),
        steps,
        messages,
        questions,
        final.text if final else NOTHING,
        *([earlier.text if earlier else NOTHING] if level in published("earlier") else []),
        *(_difference(scores, method, other) for other in (IDLE, SCRIPTED)),
    ]


def _difference(scores: Sequence[EpisodeScore], method: str, other: str) -> str:
    """Return the paired difference of the scores of two methods."""
    if method == other:
        return ""
    result = difference(scores, method, other, lambda score: score.reference)
    return NOTHING if result is None else points_of(result)


# ---- numbers


def _numbers(result: WildfireResult) -> dict[str, Any]:
    content = data("wildfire", "published")
    plan, seeds = result.plan, result.seeds

    def reported(table: str, level: str) -> dict[str, Any]:
        scores = plain(published(table).get(level, {}))
        return {"mind": content["reasoner"], "source": content[table]["source"], "scores": scores}

    return {
        "paper": "wildfire",
        "seeds": list(plan.range),
        "talk": plan.talk,
        "mind": _REASONER,
        "levels": {
            level: {
                "edition": level_for(level).edition,
                "max_steps": plan.limit(level),
                "best": result.best[level],
                "episodes": plain(list(scores)),
                "ours": {method: _spreads(of(scores, method), result.best[level]) for method in methods(scores)},
                "published": reported("final", level),
                "earlier": reported("earlier", level),
            }
            for level, scores in result.scores.items()
        },
        "competence": {
            "ours": {method: plain(competencies(seeds.get(method, ()))) for method in result.compared},
            "mean": {method: plain(mean_competency(seeds.get(method, ()))) for method in result.compared},
            "published_mean": {"mind": content["reasoner"], **content["mean_competency"]},
        },
        "checks": [check.to_json() for check in result.checks],
    }


def _spreads(own: Sequence[EpisodeScore], top: float) -> dict[str, Any]:
    spreads = {
        name: spread([getattr(score, attribute) for score in own], top)
        for name, attribute in (("score_reference", "reference"), ("score_burnt", "burnt"))
    }
    return {name: {**plain(result.interval), "sd": result.sd} for name, result in spreads.items()}
