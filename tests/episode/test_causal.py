"""Agents ahead of each other: the log is that of lock-step to the byte, sooner, and nothing is asked in vain."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teamworld.episode.answers_ahead import AskedOtherwise
from teamworld.episode.causal import check_causal
from teamworld.errors import UserError
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, LostCall, Question, Rejected, Reply
from teamworld.reasoning.rules import NoisyRules
from teamworld.worlds.contract import Neighbours
from teamworld.worlds.wildfire.local_world import LocalWildfire
from tests.episode.schedules import Played, Slow, Wander, play, streams, wide

METHODS = ("react", "zero_shot", "zero_shot:draw")


def both(path: Path, method: str, seed: int, times: int, **world: int) -> tuple[Played, Played]:
    """Play an episode in lock-step and with agents ahead of each other."""
    reasoner = Wander(streams) if method == "react" else NoisyRules(streams, 0.5)
    lock_step, causal = (
        play(path, wide(seed, **world), method, Slow(deepcopy(reasoner), times), causal=is_causal)
        for is_causal in (False, True)
    )
    return lock_step, causal


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(method=st.sampled_from(METHODS), seed=st.integers(0, 30), times=st.integers(0, 10**6))
def test_whatever_time_answers_take_the_log_is_the_same(tmp_path: Path, method: str, seed: int, times: int) -> None:
    lock_step, causal = both(tmp_path / "log.zst", method, seed, times)
    assert causal.digest == lock_step.digest
    assert causal.calls == lock_step.calls
    assert causal.unused == 0
    assert causal.seconds <= lock_step.seconds + 1e-6


def test_agents_far_apart_wait_less(tmp_path: Path) -> None:
    lock_step, causal = both(tmp_path / "log.zst", "react", 1, 1, agents=8, size=400, steps=40)
    assert causal.digest == lock_step.digest
    assert causal.seconds < 0.8 * lock_step.seconds


def finished(path: Path, monkeypatch: pytest.MonkeyPatch, until: int | None) -> Played:
    """Play an episode to its early end; the world says that it goes on until a step, or what it works out."""
    with monkeypatch.context() as patch:
        if until is not None:
            patch.setattr(LocalWildfire, "goes_on_until", lambda world: until)
        world = wide(3, agents=3, size=120, targets=2, steps=80)
        return play(path, world, "react", Slow(NoisyRules(streams, 0.5), 1), causal=True)


def test_nothing_is_asked_in_vain_before_an_early_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = finished(tmp_path / "log.zst", monkeypatch, None)
    assert (played.reason, played.unused) == ("all_done", 0)
    careless = finished(tmp_path / "log.zst", monkeypatch, 80)
    assert careless.unused > 0
    assert careless.digest == played.digest


def test_bounds_that_promise_too_much_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalWildfire, "neighbours", lambda world, agent: Neighbours((), ()))
    with pytest.raises(AskedOtherwise, match="the bounds of this world are wrong"):
        [both(tmp_path / "log.zst", "react", seed, seed, size=100) for seed in range(6)]


class Dead(Wander):
    """Rules that lose the calls of an agent from some question on."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        reply = await super().ask(question, tries)
        if question.respondent == "firefighter_2" and self.counts[question.respondent, question.kind] > 1:
            raise LostCall("no way through")
        return reply


@pytest.mark.parametrize("causal", [False, True])
def test_a_lost_call_ends_the_episode_as_in_lock_step(tmp_path: Path, causal: bool) -> None:
    with pytest.raises(LostCall, match="no way through"):
        play(tmp_path / "log.zst", wide(1), "react", Slow(Dead(streams), 1), causal=causal)


@pytest.mark.parametrize("method", ["drwell", "coela", "embodied", "greedy"])
def test_methods_whose_agents_wait_for_each_other_are_refused(method: str) -> None:
    with pytest.raises(UserError, match=r"wait for one another.*leave out --schedule"):
        check_causal(methods.make(method, {}), wide(0))


def test_the_methods_whose_agents_decide_alone() -> None:
    alone = {name for name in methods.names() if methods.method_class(name).decides_alone}
    assert alone == {"react", "zero_shot"}
