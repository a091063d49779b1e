"""``teamworld reproduce wildfire``: final scores on the 17 presets from our runs, beside the published values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, get_args

from teamworld.errors import UserError, suggest
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, MessageProtocol, RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.papers import PaperName, PaperOptions, Progress
from teamworld.papers.reproduction import Check, PaperPlan, Reproduction, load_yaml
from teamworld.papers.wildfire.scores import (
    SCRIPTED,
    VERDICTS,
    EpisodeScore,
    LevelScores,
    comparable,
    difference_text,
    episode_score,
    idle_team,
    judge,
    points_text,
    published,
    reference,
)
from teamworld.reasoning.human import Terminal
from teamworld.record import read_log
from teamworld.report import competence
from teamworld.report.competence import COMPETENCIES, IDLE, PROVISIONAL, Competency, Seed
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS
from teamworld.report.statistics import Interval
from teamworld.report.tables import talk as describe_talk
from teamworld.worlds.wildfire.levels import PRESETS, Edition, Level, describe_level, level_for
from teamworld.worlds.wildfire.physics import best_score

#: The reference teams: one that does nothing, the scripted one, a random one.
REFERENCES: Final = (IDLE, SCRIPTED, "random")
#: What is run on each level unless the reference teams alone are asked for: those, and the methods of the paper.
METHODS: Final = (*REFERENCES, "coela", "camon", "hmas2", "embodied")
#: What can be run beside them.
OTHER_METHODS: Final = ("drwell", "zero_shot")
_REASONER: Final = "built-in rules, no language model"


@dataclass(frozen=True, kw_only=True)
class WildfirePlan(PaperPlan):
    """What to run."""

    paper: ClassVar[PaperName] = "wildfire"

    seeds: int = 10
    levels: tuple[str, ...] = PRESETS
    edition: Edition = "published"
    """Of all levels."""
    others: tuple[str, ...] = ()
    """Further methods, of ``OTHER_METHODS``."""
    references: tuple[str, ...] = ()
    """The levels on which only the reference teams play."""
    talk: MessageProtocol = "native"
    cap: int | None = None
    """Most steps of an episode; None: the level's own limit."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All that is run where not only the reference teams play."""
        return (*METHODS, *self.others)

    @property
    def size(self) -> int:
        """Episodes in all."""
        teams = [len(methods) for level in self.levels for _, methods in self.cells(level)]
        return sum(teams) * self.seeds

    def cells(self, level: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the run folders of a level, each with its methods."""
        full = self.played(level).full_name
        if level in self.references:
            return [(f"{full}-references", REFERENCES)]
        return [(full, METHODS), *((f"{full}-{method}", (method,)) for method in self.others)]

    def played(self, level: str) -> Level:
        """Return a level in the edition that is played."""
        return level_for(f"{level}@{self.edition}")

    def limit(self, level: str) -> int:
        """Return the steps of an episode at most."""
        own = self.played(level).max_steps
        return own if self.cap is None else min(own, self.cap)

    def runs(self, out: Path) -> list[tuple[Path, ExperimentSpec]]:
        """Return the runs of all levels."""
        return [
            (out / "runs" / name, self._experiment(level, methods))
            for level in self.levels
            for name, methods in self.cells(level)
        ]

    def _experiment(self, level: str, methods: Sequence[str]) -> ExperimentSpec:
        fields = {
            "world": "wildfire",
            "level": self.played(level).full_name,
            "methods": methods,
            "seeds": self.seed_range,
            "max_steps": self.limit(level),
            "talk": self.talk,
        }
        return build(fields)

    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run each level, and each further method on it, in a folder of its own in ``runs``."""
        levels: list[LevelScores] = []
        talks: list[str] = []
        for level in self.levels:
            episodes: list[EpisodeScore] = []
            for name, methods in self.cells(level):
                folder = RunFolder(out / "runs" / name)
                episodes += self._play(folder, level, methods, progress)
                talks.append(describe_talk(folder.experiment()))
            levels.append(LevelScores(level, best_score(self.played(level)), episodes))
        # Competency scores count from scores with cut trees as lost, as the published ones.
        scored = [
            competence.ScoredEpisode(score.method, (scores.level, "", score.seed, 1), score.reference)
            for scores in levels
            for score in scores.episodes
        ]
        talk = "; ".join(filter(None, dict.fromkeys(talks)))
        result = WildfireResult(self, levels, competence.seeds(scored), list(judge(levels)))
        page = {**_page_values(result), "talk": talk, "competence": competence.table(scored, _REASONER)}
        lines = [check.line for check in result.checks]
        return Reproduction(_draw(out / "figures", result), page, _numbers(result), lines)

    def _play(self, folder: RunFolder, level: str, methods: Sequence[str], progress: Progress) -> list[EpisodeScore]:
        rows = run(
            self._experiment(level, methods),
            folder.path,
            lambda row: progress(f"{level}, {row.method}, seed {row.seed}"),
        )
        logs = (read_log(folder.log(RunCell(row.method, row.seed), row.episode)) for row in rows)
        return [episode_score(row.method, row.seed, row.summary, log) for row, log in zip(rows, logs, strict=True)]


#: A small version in less than a minute: small levels and short episodes.
QUICK: Final = WildfirePlan(
    seeds=2, levels=("cut_trees_sparse_small", "transport_firefighters_small", "suppress_fire_contain"), cap=30
)


def plan(options: PaperOptions, terminal: Terminal | None = None) -> WildfirePlan:
    """Return what the options ask for; levels and methods in the order of the presets.

    Raises:
        UserError: There is no such level, method or protocol.
    """
    chosen = QUICK if options.quick else WildfirePlan()
    levels, edition = _read_levels(options.level) if options.level else (chosen.levels, chosen.edition)
    others, references = options.method or (), options.references or ()
    for level in references:
        if level not in levels:
            raise UserError(f"--references takes some of the levels that are run{suggest(level, list(levels))}")
    for method in others:
        if method not in OTHER_METHODS:
            raise UserError(
                f"--method takes what is run beside the paper's methods: {' or '.join(OTHER_METHODS)}; got '{method}'"
            )
    protocol = next((talk for talk in get_args(MessageProtocol) if talk == options.talk), chosen.talk)
    if options.talk not in (None, protocol):
        raise UserError(f"--talk is {' or '.join(get_args(MessageProtocol))}, got '{options.talk}'")
    return replace(
        chosen,
        seeds=options.seeds or chosen.seeds,
        levels=tuple(level for level in PRESETS if level in levels),
        edition=edition,
        references=tuple(level for level in PRESETS if level in references),
        others=tuple(method for method in OTHER_METHODS if method in others),
        talk=protocol,
    )


def _read_levels(names: Sequence[str]) -> tuple[tuple[str, ...], Edition]:
    """Return the levels of ``--level`` and their edition: ``full_game`` alone is of the published one."""
    levels, editions = list[str](), dict[Edition, str]()
    for name in names:
        level, _, edition = name.partition("@")
        if level not in PRESETS:
            raise UserError(f"--level: '{level}' is none of the 17 presets{suggest(level, list(PRESETS))}")
        levels.append(level)
        editions[level_for(f"{level}@{edition or 'published'}").edition] = name
    if len(editions) > 1:
        raise UserError(f"--level takes levels of one edition at a time, got {' and '.join(editions.values())}")
    return tuple(levels), next(iter(editions))


class WildfireResult(NamedTuple):
    """Everything that figures and page show."""

    plan: WildfirePlan
    levels: Sequence[LevelScores]
    seeds: Mapping[str, Sequence[Seed]]
    """By method, what competencies are counted from."""
    checks: Sequence[Check]

    @property
    def compared(self) -> list[str]:
        """The methods but doing nothing, from which shares and competencies count."""
        return [method for method in self.plan.methods if method != IDLE]

    @property
    def competencies(self) -> dict[str, dict[Competency, Interval | None]]:
        """The competency scores of each method."""
        return {method: competence.competencies(self.seeds.get(method, ())) for method in self.compared}

    @property
    def mean_competencies(self) -> dict[str, Interval | None]:
        """The mean competency score of each method."""
        return {method: competence.mean_competency(self.seeds.get(method, ())) for method in self.compared}


# ---- figures


def _draw(target: Path, result: WildfireResult) -> tuple[Path, ...]:
    """Draw both figures."""
    target.mkdir(parents=True, exist_ok=True)
    labels = load_yaml("wildfire", "labels")["methods"]
    panels = {method: labels[method] for method in result.compared}
    legend = "ours: rules, no language model; 95 % interval"
    low = 0.0 if all(scores.best for scores in result.levels) else -0.5
    # Not "½": its overlapping strokes are the one thing in these figures that is not drawn with the same bytes always.
    ticks = {"0": 0.0, "0.5": 0.5, "1": 1.0}
    score_axis = DotAxis("share of the best: score, or damage averted", (low, 1.0), ticks)
    competency_axis = DotAxis("competency score", (0.0, 1.0), ticks)
    return (
        draw_dots(_share_lines(result), panels, score_axis, legend, target / "scores"),
        draw_dots(_competency_lines(result), panels, competency_axis, legend, target / "competencies"),
    )


def _marks(values: Mapping[str, float | None]) -> dict[str, list[tuple[PublishedMark, float]]]:
    mark = PublishedMark(f"published: {load_yaml('wildfire', 'published')['reasoner']}", "D", COLOURS[5])
    return {method: [(mark, value)] for method, value in values.items() if value is not None}


def _share_lines(result: WildfireResult) -> list[DotLine]:
    lines = []
    finite = [scores for scores in result.levels if scores.best]
    fires = [scores for scores in result.levels if not scores.best]
    for scores in (*finite, *fires):
        name = scores.level
        for long, short in load_yaml("wildfire", "labels")["levels"].items():
            name = name.replace(long, short)
        ours = {method: scores.share(method) for method in result.compared}
        marks = _marks({method: scores.published_share(method) for method in result.compared})
        lines.append(DotLine(name, ours, marks, above=bool(finite) and scores in fires[:1]))
    return lines


def _competency_lines(result: WildfireResult) -> list[DotLine]:
    by_method = result.competencies
    lines = [
        DotLine(
            f"{name}{'*' if short in PROVISIONAL else ''}",
            {method: scores[short] for method, scores in by_method.items()},
            {},
        )
        for short, name in COMPETENCIES.items()
    ]
    # Published means are over all levels.
    marks = (
        _marks(load_yaml("wildfire", "published")["mean_competency"]["scores"])
        if set(result.plan.levels) == set(PRESETS)
        else {}
    )
    return [*lines, DotLine("mean", result.mean_competencies, marks, above=True)]


# ---- page and numbers


def _page_values(result: WildfireResult) -> dict[str, Any]:
    checks_by_number: dict[str, dict[str, list[Check]]] = {}
    for check in result.checks:
        checks_by_number.setdefault(check.number, {}).setdefault(str(check.level), []).append(check)
    return {
        "published": load_yaml("wildfire", "published"),
        "reported": published,
        "reasoner": _REASONER,
        "verdicts": VERDICTS,
        "verdict_counts": Counter((check.number, check.verdict) for check in result.checks),
        "checks_by_number": checks_by_number,
        "claims": load_yaml("wildfire", "claims")["claims"],
        "labels": load_yaml("wildfire", "labels")["methods"],
        "means": result.mean_competencies,
        "levels": result.levels,
        "presets": {level: result.plan.played(level) for level in result.plan.levels},
        "idle_teams": [idle_team(scores) for scores in result.levels if not scores.best],
        "comparable": comparable,
        "describe_level": describe_level,
        "points_text": points_text,
        "baselines": (IDLE, SCRIPTED),
        "difference_text": lambda scores, *methods: difference_text(scores.difference(*methods, reference)),
    }


def _numbers(result: WildfireResult) -> dict[str, Any]:
    paper, plan = load_yaml("wildfire", "published"), result.plan
    return {
        "seeds": plan.seed_range,
        "talk": plan.talk,
        "mind": _REASONER,
        "levels": {
            scores.level: {
                "edition": plan.edition,
                "max_steps": plan.limit(scores.level),
                "best": scores.best,
                "episodes": scores.episodes,
                "ours": {method: _spreads(scores, method) for method in scores.methods},
                **{
                    name: {
                        "mind": paper["reasoner"],
                        "source": paper[table]["source"],
                        "scores": published(table, scores.level),
                    }
                    for name, table in (("published", "final"), ("earlier", "earlier"))
                },
            }
            for scores in result.levels
        },
        "competence": {
            "ours": result.competencies,
            "mean": result.mean_competencies,
            "published_mean": {"mind": paper["reasoner"], **paper["mean_competency"]},
        },
        "checks": [check.to_json() for check in result.checks],
    }


def _spreads(scores: LevelScores, method: str) -> dict[str, Any]:
    names = {"score_reference": "reference", "score_burnt": "burnt"}
    if not scores.best:
        names |= {"damage": "destroyed", "trees_cut": "cut", "agents_lost": "lost"}
    spreads = {name: scores.spread(method, field) for name, field in names.items()}
    return {name: {**spread.interval._asdict(), "sd": spread.sd} for name, spread in spreads.items()}
