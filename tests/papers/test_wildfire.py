"""``teamworld reproduce wildfire``: published values, scores from logs, shares and intervals, checks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import teamworld
from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.papers import PaperOptions
from teamworld.papers.reproduction import Check, load_yaml
from teamworld.papers.wildfire import METHODS, OTHER_METHODS, WildfirePlan, plan
from teamworld.papers.wildfire.scores import (
    VERDICTS,
    EpisodeScore,
    LevelScores,
    Reported,
    comparable,
    episode_score,
    idle_team,
    judge,
    published,
    reference,
)
from teamworld.record import StepDone, read_log
from teamworld.report.competence import IDLE
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import PRESETS, level_for
from teamworld.worlds.wildfire.world import WildfireWorld

CUT, FIRE = "cut_trees_sparse_small", "suppress_fire_contain"
BEST = {CUT: 18.0, FIRE: 0.0}
CLAIMS = load_yaml("wildfire", "claims")
PAPER = load_yaml("wildfire", "published")
FINAL, EARLIER = (
    {level: published(table, level) for level in PAPER[table]["scores"]} for table in ("final", "earlier")
)
MEAN_BCS = PAPER["mean_competency"]["scores"]


def episode(method: str, seed: int, score: float, destroyed: float | None = None) -> EpisodeScore:
    return EpisodeScore(method, seed, score, score, destroyed, 10, 0, 0)


def some(method: str, *scores: float, fire: bool = False) -> list[EpisodeScore]:
    return [episode(method, seed, score, -score if fire else None) for seed, score in enumerate(scores)]


def scores_of(*episodes: EpisodeScore, level: str = CUT) -> LevelScores:
    return LevelScores(level, BEST[level], episodes)


# ---- published values


def test_the_published_scores_are_those_of_the_17_presets() -> None:
    assert set(FINAL) == set(PRESETS)
    assert all(set(row) == {*MEAN_BCS, IDLE} for row in FINAL.values())
    assert set(EARLIER) < set(PRESETS)
    assert all(set(row) == set(MEAN_BCS) for row in EARLIER.values())


@pytest.mark.parametrize("level", PRESETS)
def test_no_published_score_is_above_the_best(level: str) -> None:
    top = physics.best_score(level_for(level))
    for reported in (*FINAL[level].values(), *EARLIER.get(level, {}).values()):
        assert reported.mean <= top
        assert reported.sd is None or reported.sd >= 0
    assert (FINAL[level][IDLE].mean == 0) == bool(top)


def test_some_values_stand_where_the_source_has_them() -> None:
    assert FINAL[CUT]["coela"] == Reported(14, 4.18)
    assert FINAL["full_game"]["hmas2"].text == "-5522.67 ± 3358.2"
    assert FINAL["rescue_civilians_known_location_large"]["coela"].text == "0"
    assert len({FINAL["suppress_fire_locate_and_suppress"][method] for method in MEAN_BCS}) == 1
    assert EARLIER["scout_fire_large"]["hmas2"] == Reported(0.67, 2)
    assert MEAN_BCS == {"camon": 0.35, "hmas2": 0.32, "embodied": 0.32, "coela": 0.25}


def test_published_shares_count_from_doing_nothing_where_a_fire_is_fought() -> None:
    assert scores_of().published_share("coela") == pytest.approx(14 / 18)
    assert scores_of(level=FIRE).published_share("camon") == pytest.approx(44 / 780.67)
    assert scores_of().published_share("random") is None
    assert LevelScores("no_such_level", 18, ()).published_share("camon") is None


# ---- scores from logs


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, list[EpisodeRow], list[physics.Score]]:
    """Return a short run on fire, and what the world itself said at the end of each episode."""
    worlds: list[WildfireWorld] = []
    folder = RunFolder(tmp_path_factory.mktemp("wildfire") / "run")
    with pytest.MonkeyPatch.context() as patch:
        reset = WildfireWorld.reset

        def kept(self: WildfireWorld, seed: int) -> None:
            worlds[:] = [*(world for world in worlds if world is not self), self]
            reset(self, seed)

        patch.setattr(WildfireWorld, "reset", kept)
        methods = [IDLE, "greedy"]
        rows = teamworld.run("wildfire", level=FIRE, method=methods, seed=42, max_steps=30, out=folder.path)
    return folder, rows, [physics.score(world.incident) for world in worlds[-2:]]


def test_the_score_of_a_log_is_the_worlds_own(played: tuple[RunFolder, list[EpisodeRow], list[physics.Score]]) -> None:
    folder, rows, said = played
    for row, score in zip(rows, said, strict=True):
        log = list(read_log(folder.log(RunCell(row.method, row.seed), row.episode)))
        score_of_log = episode_score(row.method, row.seed, row.summary, log)
        assert (score_of_log.reference, score_of_log.burnt) == score
        assert score_of_log.steps == sum(isinstance(event, StepDone) for event in log)
        assert score_of_log.destroyed is not None
        assert score_of_log.destroyed >= 0
    assert said[0].reference < 0  # something burnt: the comparison is not one of zeros
    assert said[1].reference < said[1].burnt  # and trees were cut


def test_damage_by_fire_cut_trees_and_agents_lost_are_the_parts_of_the_score(
    played: tuple[RunFolder, list[EpisodeRow], list[physics.Score]],
) -> None:
    folder, rows, _ = played
    for row in rows:
        made = episode_score(row.method, row.seed, row.summary, read_log(folder.log(RunCell(row.method, row.seed), 1)))
        assert made.destroyed is not None
        assert made.cut is not None
        assert made.lost is not None
        assert made.reference == -made.destroyed - made.cut - 20 * made.lost
        assert made.burnt == -made.destroyed - 20 * made.lost


def test_the_published_idle_teams_lose_what_the_differences_to_methods_show() -> None:
    """Damage by fire of doing nothing is what is left of its score without its agents, where the table shows them."""
    for level, lost in PAPER["idle_agents_lost"]["teams"].items():
        row = FINAL[level]
        gaps = [round(score.mean - row[IDLE].mean, 2) for method, score in row.items() if method != IDLE]
        assert 20.0 * lost in gaps
        assert lost <= sum(level_for(f"{level}@published").team.counts[:2])
        scores = scores_of(*some(IDLE, -50.0, -70.0, fire=True), level=FIRE)._replace(level=level)
        episodes = [score._replace(lost=1.0) for score in scores.episodes]
        idle = idle_team(scores._replace(episodes=episodes))
        assert idle.published_damage == pytest.approx(-row[IDLE].mean - 20 * lost)
        assert (idle.damage.interval.mean, idle.lost.interval.mean) == (60.0, 1.0)
        assert f"holds {lost} agents lost, {20 * lost} points" in comparable(scores, IDLE)
    fire, cut = scores_of(level=FIRE), scores_of()
    assert "not known" in comparable(fire, IDLE)
    assert comparable(cut, IDLE).startswith("yes")
    assert comparable(fire, "camon").startswith("no")
    assert comparable(fire, "greedy") == "nothing published"


def test_a_log_without_scores_is_refused(played: tuple[RunFolder, list[EpisodeRow], list[physics.Score]]) -> None:
    folder, rows, _ = played
    log = list(read_log(folder.log(RunCell(IDLE, 42), 1)))
    empty = [event for event in log if not isinstance(event, StepDone)]
    with pytest.raises(UserError, match="do_nothing, seed 42, has no score"):
        episode_score(IDLE, 42, rows[0].summary, empty)


# ---- shares, intervals, competencies


def test_shares_of_the_best() -> None:
    made = scores_of(*some(IDLE, 0, 0), *some("a", 9, 18)).share("a")
    assert made is not None
    assert (made.mean, made.n) == (0.75, 2)
    fire = scores_of(
        *some(IDLE, -100, -300), *some("a", -50, -150), *some("b", -200, -300), episode("c", 9, -1), level=FIRE
    )
    averted, worse = fire.share("a"), fire.share("b")
    assert averted is not None
    assert worse is not None
    assert averted.mean == 0.5
    assert worse.mean == pytest.approx(-0.25)  # sum of (s - b) over sum of (0 - b): -100 / 400
    assert fire.share("c") is None  # nobody did nothing on its seed
    assert scores_of(*some(IDLE, 0, 0), *some("a", 0, 0), level=FIRE).share("a") is None  # nothing could be lost


def test_a_spread_tells_mean_sd_and_n() -> None:
    made = scores_of(*some("a", -1.0, -2.0, -6.0), level=FIRE).spread("a", "reference")
    assert (made.interval.mean, made.interval.n) == (-3.0, 3)
    assert made.sd == pytest.approx(7**0.5)
    assert made.interval.low < -6
    assert made.interval.high == 0  # Student's of three would go on
    sure = scores_of(*some("a", *[18.0] * 10)).spread("a", "reference")
    assert sure.sd == 0
    assert sure.interval[1:] == (18.0, 18.0, 10)  # a score is no yes or no: all alike is all that can be said
    assert scores_of(*some("a", 0.0, 0.0, 18.0)).spread("a", "reference").interval.low >= 0
    assert scores_of(*some("a", 4.0)).spread("a", "reference") == ((4.0, 4.0, 4.0, 1), None)
    with pytest.raises(ValueError, match="no mean"):
        scores_of().spread("a", "reference")


def test_differences_are_paired_by_seed() -> None:
    scores = scores_of(*some("b", 9, 19, 29, 1000), *reversed(some("a", 10, 20, 30)))
    made = scores.difference("a", "b", reference)
    assert made is not None
    assert (made[:3], made.n) == ((1.0, 1.0, 1.0), 3)
    half = scores.difference("a", "b", reference, 0.5)
    assert half is not None
    assert half.difference == pytest.approx(20 - 9.5)
    assert scores.difference("a", "nobody", reference) is None


# ---- checks


def verdicts(results: Sequence[Check], number: str) -> set[str]:
    return {check.verdict for check in results if check.number == number}


def team(level: str, scores: dict[str, Sequence[float]]) -> LevelScores:
    rest = scores.get("rest", (0.0, 0.0, 0.0))
    episodes = [some(method, *scores.get(method, rest), fire=level == FIRE) for method in METHODS]
    return scores_of(*(score for own in episodes for score in own), level=level)


def test_checks_hold_where_everything_is_as_it_should_be() -> None:
    cut = team(CUT, {IDLE: (0, 0, 0), "rest": (18, 18, 18)})
    fire = team(FIRE, {IDLE: (-90, -100, -110), "rest": (-10, -21, -29)})
    made = list(judge([cut, fire]))
    assert {check.verdict for check in made} == {"holds"}
    assert {check.number for check in made} == set(CLAIMS["claims"])
    assert {check.method for check in made if check.number == "3"} == set(MEAN_BCS)


@pytest.mark.parametrize(
    ("number", "level", "scores", "verdict"),
    [
        ("1", CUT, {IDLE: (0, 1, 0)}, "does not hold"),
        ("2", CUT, {"greedy": (18, 17, 18)}, "does not hold"),
        ("3", CUT, {"greedy": (18, 18, 18), "coela": (0, 3, 0)}, "does not hold"),
        ("3", CUT, {"greedy": (18, 18, 18), "coela": (0, 18, 18)}, "not decided"),
        ("3", CUT, {"greedy": (18, 18, 18), "coela": (9, 9, 9)}, "holds"),
        ("3", CUT, {"greedy": (18,), "coela": (9,), "rest": (9,)}, "one seed"),
        ("4a", FIRE, {IDLE: (-10, -10, -10), "greedy": (-10, -10, -10)}, "same"),
        ("4a", FIRE, {IDLE: (-10, -10, -10), "greedy": (-30, -29, -31)}, "does not hold"),
        ("4b", FIRE, {IDLE: (-10, -20, -30), "greedy": (-15, -15, -28)}, "not decided"),
        ("5", FIRE, {IDLE: (-10, -20, -30), "coela": (-20, -31, -40)}, "does not hold"),
    ],
)
def test_a_check_sees_what_does_not_hold(
    number: str, level: str, scores: dict[str, Sequence[float]], verdict: str
) -> None:
    who = [
        check for check in judge([team(level, scores)]) if check.number == number and check.method in (None, "coela")
    ]
    assert [check.verdict for check in who] == [verdict]
    assert verdict in VERDICTS


def test_own_agents_do_not_count_as_what_was_destroyed() -> None:
    """The scripted team loses agents, which the score charges, and saves what stands."""
    scores = [episode(IDLE, seed, -100.0, 100.0 + seed) for seed in range(4)]
    scores += [episode("greedy", seed, -120.0, 60.0) for seed in range(4)]
    scores += [episode(method, seed, -100.0, 100.0) for method in MEAN_BCS for seed in range(4)]
    made = list(judge([scores_of(*scores, level=FIRE)]))
    assert verdicts(made, "4a") == {"holds"}
    assert verdicts(made, "4b") == {"does not hold"}


def test_the_levels_of_the_checks_exist() -> None:
    assert {*CLAIMS["small"], *CLAIMS["reachable"]} <= set(PRESETS)
    assert all(physics.best_score(level_for(level)) for level in CLAIMS["small"])


# ---- plans


def test_a_plan_names_levels_in_their_order_and_counts_its_work() -> None:
    small = plan(PaperOptions(seeds=2, level=[FIRE, CUT], method=["zero_shot", "drwell"]))
    assert small.levels == (CUT, FIRE)
    assert small.methods == (*METHODS, *OTHER_METHODS)
    assert small.size == 2 * 9 * 2
    assert plan(PaperOptions()) == WildfirePlan()
    assert WildfirePlan().levels == PRESETS
    short = WildfirePlan(cap=30)
    assert (WildfirePlan().limit(FIRE), short.limit(FIRE)) == (100, 30)
    assert short.limit("transport_firefighters_small") == 15
    assert set(WildfirePlan(others=OTHER_METHODS).methods) == set(load_yaml("wildfire", "labels")["methods"])
    assert (small.edition, small.played(FIRE).full_name) == ("published", f"{FIRE}@published")
    earlier = plan(PaperOptions(level=[f"{CUT}@2025", f"{FIRE}@2025"]))
    assert (earlier.levels, earlier.edition, earlier.played(FIRE)) == ((CUT, FIRE), "2025", level_for(FIRE))
    assert (WildfirePlan().limit("full_game"), earlier.limit("full_game")) == (300, 120)
    with pytest.raises(UserError, match="one edition at a time, got .*@2025 and full_game"):
        plan(PaperOptions(level=[f"{CUT}@2025", "full_game"]))
    brief = plan(PaperOptions(seeds=2, level=[FIRE, CUT], references=[FIRE], method=["drwell"]))
    assert brief.size == (8 + 3) * 2
    with pytest.raises(UserError, match="some of the levels that are run"):
        plan(PaperOptions(level=[CUT], references=[FIRE]))
    with pytest.raises(UserError, match="no edition '2024'"):
        plan(PaperOptions(level=[f"{CUT}@2024"]))
    with pytest.raises(UserError, match="none of the 17 presets; did you mean"):
        plan(PaperOptions(level=["suppress_fire_contian"]))
    with pytest.raises(UserError, match="drwell or zero_shot; got 'greedy'"):
        plan(PaperOptions(method=["greedy"]))
