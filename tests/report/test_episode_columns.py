"""Columns say what the rows of episodes say, pooled one by one."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.all_metrics import HeadlineValue
from teamworld.metrics.definition import NULL, Value, metrics, only, pool, share
from teamworld.report.episode_columns import EpisodeColumns
from tests.report.test_tables import row

NAMES = ("completion", "steps", "messages", "damage_prevented")
Described = tuple[str, int, int, float | None, Value | None]
DESCRIBED = st.tuples(
    st.sampled_from(["greedy", "drwell"]),
    st.integers(0, 3),
    st.integers(1, 4),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from([NULL, share(1.5, 4.0), share(2.0, 0.0), Value(None, None, 3.0)]),
)


def make(described: Described) -> EpisodeRow:
    method, seed, episode, completion, first = described
    made = row(method, seed, episode, completion, 10 * episode)
    if first is None:
        return made
    headline = (HeadlineValue(NAMES[3], "", "high", "", first),)
    return made._replace(summary=msgspec.structs.replace(made.summary, headline=headline))


def value_of(own: EpisodeRow, metric: str) -> Value:
    headline = {part.metric: part.value for part in own.summary.headline}
    return headline[metric] if metric in headline else only(getattr(own.summary, metric, None))


@pytest.mark.parametrize("metric", NAMES)
@given(described=st.lists(DESCRIBED, max_size=12))
def test_each_seed_is_pooled_as_its_rows_are(metric: str, described: list[Described]) -> None:
    rows = list(map(make, described))
    columns = EpisodeColumns(iter(rows))
    assert len(columns) == len(rows)
    for method, own in columns.methods.items():
        for episode in (None, 1, 2):
            by_seed: dict[int, list[Value]] = {}
            for each in rows:
                if each.method == method and episode in (None, each.episode):
                    by_seed.setdefault(each.seed, []).append(value_of(each, metric))
            expected = [pool(metrics()[metric], values) for values in by_seed.values()]
            pooled = own.pool(metric, episode)
            assert pooled == expected or (not pooled and not any(unit.n for unit in expected))


def test_an_episode_of_each_kind_is_kept() -> None:
    rows = [make(("greedy", 0, 1, 1.0, None)), make(("greedy", 0, 2, 1.0, NULL)), make(("greedy", 0, 3, 0.0, NULL))]
    assert EpisodeColumns(rows).examples == rows[:2]
