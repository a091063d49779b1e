"""The worth of messages and agents: Shapley values that are known, and forks of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.fork import ForkPlayer, find_episode
from teamworld.experiment.fork_spec import ForkChange
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.summary import summarise
from teamworld.report import worth
from teamworld.report.statistics import Interval, mean_interval
from teamworld.report.stored_worth import load_worth, save_worth
from teamworld.report.worth import Coalition, draw_orders, measure, shapley, shapley_in_order
from teamworld.seeding import generator

#: The airport game (Littlechild and Owen 1973): a coalition is worth the runway that its largest member needs. Each
#: piece of the runway is shared evenly by those who need it, which is their Shapley value.
NEEDS = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 7.0, "e": 7.0, "f": 9.0, "g": 12.0}


def airport(coalition: Coalition) -> float:
    return max((NEEDS[agent] for agent in coalition), default=0.0)


def noisy_airport(number: int, at: int) -> Callable[[Coalition], float]:
    """Return the game with luck in what each coalition is worth, the same whenever it is asked for."""
    rng = generator(number, "tests", "worth", at)
    luck: dict[Coalition, float] = {}
    return lambda coalition: airport(coalition) + luck.setdefault(coalition, float(rng.normal(0.0, 3.0)))


def known_values() -> dict[str, float]:
    lengths = sorted(set(NEEDS.values()))
    pieces = [(low, high) for low, high in zip((0.0, *lengths), lengths, strict=False)]
    users = {high: [agent for agent, need in NEEDS.items() if need >= high] for _, high in pieces}
    return {
        agent: sum((high - low) / len(users[high]) for low, high in pieces if agent in users[high]) for agent in NEEDS
    }


def test_exact_values_are_those_of_the_airport_game_and_add_up() -> None:
    values = shapley(tuple(NEEDS), airport)
    assert values == pytest.approx(known_values())
    assert sum(values.values()) == pytest.approx(airport(frozenset(NEEDS)))


def test_the_mean_over_all_orders_is_the_exact_value() -> None:
    agents = tuple(NEEDS)[:5]
    orders = list(permutations(agents))
    mean = {a: np.mean([shapley_in_order(order, airport)[a] for order in orders]) for a in agents}
    assert mean == pytest.approx(shapley(agents, airport))


@pytest.mark.heavy
def test_intervals_hold_the_known_values_in_93_to_97_of_100_runs() -> None:
    """Toy worlds whose outcome is a matter of luck: drawn orders, and noise on each coalition's value."""
    known, agents, inside, total = known_values(), tuple(NEEDS), 0, 0
    for number in range(1000):
        added: dict[str, list[float]] = {agent: [] for agent in agents}
        for at, order in enumerate(draw_orders(agents, 20, number)):
            for agent, worth_of_it in shapley_in_order(order, noisy_airport(number, at)).items():
                added[agent].append(worth_of_it)
        agent = agents[number % len(agents)]
        interval = mean_interval(added[agent])
        assert interval is not None
        inside += interval.low <= known[agent] <= interval.high
        total += 1
    assert 0.93 <= inside / total <= 0.97


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("worth") / "run"
    run("rooms", level="two", method="coela", seed=1, max_steps=30, out=path)
    return path


def by_name(parts: tuple[worth.Worth, ...]) -> Mapping[str, worth.Worth]:
    return {part.name: part for part in parts}


def steps_of(part: worth.Worth) -> float:
    interval = part.differences["steps"]
    assert interval is not None
    return interval.mean


def test_worths_are_differences_of_forks_and_never_to_send_is_the_silent_row(out: Path, tmp_path: Path) -> None:
    origin = find_episode(RunFolder(out), 1)
    measured = measure(origin)
    player, steps = ForkPlayer(origin, tmp_path), origin.row.summary.steps
    assert len(measured.messages) == origin.row.summary.messages + 1 > 2
    for part in measured.messages[:-1]:
        assert part.step is not None
        number = sum(other.sender == part.sender and other.step == part.step for other in _until(measured, part))
        change = {"step": part.step, "message": {"agent": part.sender, "number": number, "recipients": []}}
        without = summarise(player.play([ForkChange.model_validate(change)]).events).steps
        assert steps_of(part) == steps - without
    silent = _silent(tmp_path / "silent")
    assert steps_of(measured.messages[-1]) == steps - silent.summary.steps

    alone: dict[Coalition, float] = {}
    for acting in (frozenset[str](), *map(frozenset, (("agent_0",), ("agent_1",), ("agent_0", "agent_1")))):
        idle = [agent for agent in origin.start.team if agent not in acting]
        hand_over = {"step": 0, "hand_over": {"agents": idle, "method": "do_nothing"}}
        changes = [ForkChange.model_validate(hand_over)] if idle else []
        alone[acting] = summarise(player.play(changes).events).steps
    expected = shapley(origin.start.team, alone.__getitem__)
    assert {name: steps_of(part) for name, part in by_name(measured.agents).items()} == pytest.approx(expected)


def test_worths_are_kept_beside_the_log_and_known_by_it(out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    folder = RunFolder(copy)
    origin = find_episode(folder, 1)
    place = (folder, origin.cell, 1)
    assert load_worth(*place, origin.row.digest) is None
    interval = Interval(1.5, 1.0, 2.0, 4)
    parts = {"completion": None, "steps": interval, "questions": interval}
    measured = worth.EpisodeWorth(
        origin,
        (worth.Worth("message 0", 0, "agent_0", "a", parts), worth.Worth("all messages", None, None, "", parts)),
        (worth.Worth("agent_0", None, None, "", parts),),
        7,
        4,
        None,
    )
    path = save_worth(measured)
    found = load_worth(*place, origin.row.digest)
    assert found is not None
    assert [part.name for part in (*found.messages, *found.agents)] == ["message 0", "all messages", "agent_0"]
    kept = found.messages[0].steps
    assert kept is not None
    assert (kept.mean, kept.low, kept.high, kept.n, found.messages[0].completion) == (*interval, None)
    assert load_worth(*place, "another") is None, "of a log that was played again since"
    assert str(tmp_path) not in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace('"mean": 1.5', '"mean": "1.5"'))
    with pytest.raises(UserError, match="is damaged.*measure again"):
        load_worth(*place, origin.row.digest)


def _until(measured: worth.EpisodeWorth, part: worth.Worth) -> tuple[worth.Worth, ...]:
    return measured.messages[: measured.messages.index(part) + 1]


def _silent(path: Path) -> EpisodeRow:
    """Play the run as comparisons do in silence: everything is said, and all of it is lost."""
    loss = {"messages": {"loss": 1.0}}
    (row,) = run("rooms", level="two", method="coela", seed=1, max_steps=30, options=loss, talk="native", out=path)
    return row


@pytest.mark.heavy
def test_continuations_of_a_reasoner_that_errs_give_intervals_and_the_command_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    run("rooms", level="two", method="coela", reasoner="rules:noise=0.5", max_steps=30, out=path)
    assert command(["worth", str(path), "--continuations", "3", "--processes", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["continuations"] == 3
    assert {part["steps"]["n"] for part in (*shown["messages"], *shown["agents"])} == {3}
    spread = [part["questions"]["high"] - part["questions"]["low"] for part in shown["agents"]]
    assert max(spread) > 0
    assert command(["worth", str(path), "--continuations", "2", "--processes", "1"]) == 0
    text = capsys.readouterr().out
    assert "worth of messages" in text
    assert "Shapley values against agents that wait, all orders" in text


@pytest.mark.heavy
def test_large_teams_have_values_from_drawn_orders(tmp_path: Path) -> None:
    run("cube", level="n8", method="greedy", max_steps=4, out=tmp_path / "run")
    origin = find_episode(RunFolder(tmp_path / "run"), 1)
    measured = measure(origin, orders=2)
    assert (measured.orders, len(measured.agents), measured.messages) == (2, len(origin.start.team), ())
    assert all(part.differences["steps"] is not None for part in measured.agents)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--episode", "5"], "has no finished episode 5"),
        (["--continuations", "1"], "--continuations is a number from 2 to 10,000, got 1"),
        (["--orders", "0"], "--orders is a number from 2"),
    ],
)
def test_bad_input_is_refused_in_a_line(
    out: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert command(["worth", str(out), *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
