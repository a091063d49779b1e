"""Budgets: read as typed, never passed by more than what is under way, and counted on where a run stopped."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.reasoning.llm.budget import (
    Budget,
    BudgetLimit,
    OutOfBudget,
    Spent,
    UsageTotal,
    check_prices,
    parse_limit,
    spent_by,
)
from teamworld.reasoning.llm.contract import CallRecord, Fault, Usage
from teamworld.reasoning.llm.expense import estimate_tokens, prompt_characters
from tests.reasoning.llm.records import failed, record, request

# ---- limits as typed


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5usd", BudgetLimit(5.0, None)),
        ("0.25usd", BudgetLimit(0.25, None)),
        ("2Mtok", BudgetLimit(None, 2_000_000)),
        ("300ktok", BudgetLimit(None, 300_000)),
        ("0.3ktok", BudgetLimit(None, 300)),
        ("1.1Mtok", BudgetLimit(None, 1_100_000)),
        ("17tok", BudgetLimit(None, 17)),
        ("5usd,2Mtok", BudgetLimit(5.0, 2_000_000)),
        (" 2mtok , 5 USD ", BudgetLimit(5.0, 2_000_000)),
    ],
)
def test_limits_are_read(text: str, limit: BudgetLimit) -> None:
    assert parse_limit(text) == limit


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "usd", "5eur", "-5usd", "5usd,", "5usd;2Mtok", "1e3usd", "nanusd", "infusd", "5 5usd", "5.usd"),
        *(
            ".5usd",
            "$5",
            "٣usd",
            "5usd\n2Mtok",
            "9" * 400 + "usd",
            "0usd",
            "0tok",
            "0.1tok",
            "5usd,0tok",
            "5usd,6usd",
            "1ktok,1Mtok",
        ),
    ],
)
def test_what_is_no_limit_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError, match="a budget") as caught:
        parse_limit(text)
    assert "\n" not in str(caught.value)


LIMITS = st.builds(BudgetLimit, st.none() | st.floats(1e-9, 1e9), st.none() | st.integers(1, 10**15 - 1)).filter(any)


@given(LIMITS)
@example(BudgetLimit(1e-05, None))
def test_a_limit_is_written_as_it_is_read(limit: BudgetLimit) -> None:
    assert parse_limit(str(limit)) == limit


@given(st.text(max_size=20) | st.text("0123456789.,usdktoM ", max_size=12))
def test_any_text_is_a_limit_or_refused(text: str) -> None:
    try:
        limit = parse_limit(text)
    except UserError:
        return
    assert all(part is None or part > 0 for part in limit)
    assert any(limit)


# ---- watching


def unpriced(model: str, served: str, usage: Usage) -> None:
    """Return no price."""


def charge(budget: Budget, one: CallRecord) -> None:
    """End a call that was reserved."""
    budget.charge(spent_by(one, unpriced))


def use(budget: Budget, *records: CallRecord) -> None:
    """Make calls one after another."""
    for one in records:
        budget.reserve()
        charge(budget, one)


def test_the_call_that_would_pass_the_limit_is_refused() -> None:
    budget = Budget(parse_limit("1usd"))
    use(budget, record(0.3), record(0.3), record(0.3))
    with pytest.raises(OutOfBudget) as caught:
        budget.reserve()
    assert str(caught.value) == (
        "the run has spent 0.9 usd of 1 usd, and a call takes about 0.3 usd: "
        "give the same command with a larger --budget to go on where it stopped"
    )
    assert budget.flying == 0


def test_calls_under_way_count_as_the_mean_of_those_before() -> None:
    budget = Budget(parse_limit("1ktok"))
    use(budget, record(tokens=100), record(tokens=200))
    for _ in range(4):  # 300, then 150 each: 4 make 900, a fifth 1,050
        budget.reserve()
    with pytest.raises(OutOfBudget, match="300 tokens of 1,000 tokens with 4 calls under way.* about 150 tokens"):
        budget.reserve()
    charge(budget, record(tokens=10))  # cheaper than thought: there is room again
    budget.reserve()
    assert budget.flying == 4


def test_either_limit_is_enough() -> None:
    for text in ("0.5usd,1Mtok", "100usd,200tok"):
        budget = Budget(parse_limit(text))
        use(budget, record(0.4, 150))
        with pytest.raises(OutOfBudget):
            budget.reserve()


def test_without_a_limit_nothing_is_refused() -> None:
    budget = Budget(BudgetLimit())
    use(budget, *[record(1e6, 10**9)] * 3, record(None, None))
    assert (budget.spent.usd.total, budget.spent.tokens.total) == (3e6, 3e9)


def test_what_never_reached_a_model_and_what_a_cache_had_take_nothing() -> None:
    budget = Budget(parse_limit("1usd,1ktok"))
    use(budget, failed(), failed("busy"), record(0.25, 100))
    assert budget.spent == Spent(UsageTotal(0.25, 0, 1), UsageTotal(100, 0, 1))
    assert spent_by(record(5.0, 100, cached=True), unpriced) == Spent()
    assert budget.flying == 0


def test_what_a_failed_try_counted_is_charged() -> None:
    lost = Fault(kind="broken", text="no choices", usage=Usage(prompt=70, output=8))
    call = CallRecord(request=request(), completion=None, faults=(lost, lost))
    assert spent_by(call, unpriced).tokens == UsageTotal(156, 0, 1)


def test_what_nobody_counted_is_estimated_from_what_was_sent_and_came() -> None:
    uncounted = record(tokens=None)
    prompt = estimate_tokens(prompt_characters(uncounted.request))
    assert spent_by(uncounted, unpriced).tokens == UsageTotal(0, prompt + 10, 1)
    late = CallRecord(request=request(), completion=None, faults=(Fault(kind="late", text="", usage=Usage()),))
    assert spent_by(late, lambda *_: 2.0) == Spent(UsageTotal(0, 2.0, 1), UsageTotal(0, prompt + 100, 1))
    budget = Budget(BudgetLimit(tokens=2 * prompt))
    use(budget, uncounted)
    with pytest.raises(OutOfBudget, match=rf"{prompt + 10} tokens \({prompt + 10} tokens by estimate: nobody counted"):
        budget.reserve()


def test_an_episode_has_a_limit_of_its_own_within_the_run() -> None:
    run = Budget(parse_limit("1usd"))
    first = Budget(parse_limit("0.5usd"), what="episode 1", option="--episode-budget", within=run)
    second = Budget(parse_limit("0.8usd"), what="episode 2", option="--episode-budget", within=run)
    use(first, record(0.2), record(0.2))
    with pytest.raises(OutOfBudget, match=r"^episode 1 has spent 0.4 usd of 0.5 usd.* larger --episode-budget"):
        first.reserve()
    use(second, record(0.2), record(0.2))
    second.reserve()
    assert (first.flying, second.flying, run.flying) == (0, 1, 1)
    with pytest.raises(
        OutOfBudget, match=r"^the run has spent 0.8 usd of 1 usd with 1 call under way.* larger --budget"
    ):
        second.reserve()
    assert (second.flying, run.flying) == (1, 1)  # a refused call is under way nowhere
    assert run.spent.usd == UsageTotal(pytest.approx(0.8), 0.0, 4)  # type: ignore[arg-type]


COSTS = st.lists(st.integers(1, 100), min_size=1, max_size=60)


@given(COSTS, st.integers(1, 8), st.integers(1, 1500), st.randoms(use_true_random=False))
def test_a_limit_is_passed_by_no_more_than_the_calls_under_way(
    costs: list[int], together: int, limit: int, order: random.Random
) -> None:
    budget = Budget(BudgetLimit(tokens=limit))
    waiting, spent, over, refused = [cost + 10 for cost in costs], 0, 0, False
    flying: list[int] = []
    while flying or (waiting and not refused):
        if waiting and not refused and len(flying) < together:
            try:
                budget.reserve()
                flying.append(waiting.pop())
                assert spent < limit
                continue
            except OutOfBudget:
                refused = True
        if flying:
            under_way = sum(flying)
            cost = flying.pop(order.randrange(len(flying)))
            over = over or (under_way if spent + cost > limit else 0)
            spent += cost
            charge(budget, record(tokens=cost))
    assert budget.spent.tokens.total == spent
    assert spent <= limit + over
    if len(set(costs)) == 1 and together == 1:
        assert spent <= max(limit, costs[0] + 10)  # equal calls never pass it, but for a first that is too dear


@given(COSTS, st.integers(0, 60), st.integers(1, 3000))
def test_a_run_that_goes_on_stops_where_it_would_have_stopped(costs: list[int], killed: int, limit: int) -> None:
    def stopped(budget: Budget, costs: list[int]) -> int:
        for number, cost in enumerate(costs):
            try:
                budget.reserve()
            except OutOfBudget:
                return number
            charge(budget, record(tokens=cost + 10))
        return len(costs)

    whole, first = Budget(BudgetLimit(tokens=limit)), Budget(BudgetLimit(tokens=limit))
    end = stopped(first, costs[:killed])
    again = Budget(BudgetLimit(tokens=limit), spent=first.spent)
    assert stopped(whole, costs) == end + stopped(again, costs[end:])
    assert whole.spent == again.spent


def test_a_larger_limit_goes_further() -> None:
    ends = []
    for limit in (100, 200, 400, 800):
        budget = Budget(BudgetLimit(tokens=limit))
        with pytest.raises(OutOfBudget):
            use(budget, *[record(tokens=40)] * 30)
        ends.append(budget.spent.tokens.total)
    assert ends == [80, 200, 400, 800]


# ---- before the start


def test_a_limit_in_dollars_needs_prices() -> None:
    models = ["openai:gpt-4o", "http://localhost:8000/v1#qwen3", "http://localhost:8000/v1#qwen3"]
    with pytest.raises(UserError) as caught:
        check_prices([parse_limit("2Mtok"), parse_limit("5usd")], models, lambda model: model.startswith("openai"))
    assert "none is known of http://localhost:8000/v1#qwen3: give its prices" in str(caught.value)
    check_prices([parse_limit("2Mtok"), BudgetLimit()], models, lambda model: False)
    check_prices([parse_limit("5usd")], models, lambda model: True)
    check_prices([parse_limit("5usd")], [], lambda model: False)


def test_a_call_is_asked_for_again_when_it_is_sent() -> None:
    run = Budget(BudgetLimit(tokens=100))
    episode = Budget(BudgetLimit(tokens=1000), within=run)
    for _ in range(3):
        episode.reserve()  # nobody knows yet what a call takes
    episode.confirm()
    charge(episode, record(tokens=60))
    with pytest.raises(OutOfBudget, match=r"the run has spent 60 tokens of 100 tokens, and a call"):
        episode.confirm()
    assert run.flying == episode.flying == 2  # they are charged still


def test_others_under_way_do_not_stop_a_call_that_was_let_through() -> None:
    budget = Budget(BudgetLimit(tokens=100), Spent(tokens=UsageTotal(40, 0, 2)))
    for _ in range(3):
        budget.reserve()
    budget.confirm()
    with pytest.raises(OutOfBudget, match="3 calls under way"):
        budget.reserve()
