"""Cost: calls, tokens, dollars and seconds (metrics spec, section 9).

Calls and tokens come from the log; dollars and seconds (K3 to K6) from the calls on record, because no log holds them.
A sum of which some part was not counted is null: what is not known is not 0. ``bill`` breaks the same down further and
says "at least" instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import fsum

from teamworld.metrics.bill import Count, Made, Slope, cost, grouped, growth, latency, tokens
from teamworld.metrics.decisions import paths, seconds_of
from teamworld.metrics.definition import NULL, Value, count, mean, only, share
from teamworld.metrics.episode import STAGES, Episode
from teamworld.record import LlmCall


def measure(episode: Episode, calls: Sequence[Made] | None = None) -> Mapping[str, Value]:
    """Measure what an episode took.

    Args:
        episode: The episode.
        calls: Its calls of language models on record; None where there is no record: then K3 to K6 are null.
    """
    made = episode.all(LlmCall)
    took = tokens(made)
    slopes = [slope.value for slope in _growth(made).values() if slope.value is not None]
    usd = _dollars(calls)
    both = _whole(took.prompt, took.output)
    return {
        "K1": count(len(made)),
        "K1.agent": share(len(made), len(episode.team)),
        "K1.step": share(len(made), episode.steps),
        "K2": both,
        "K2.prompt": _whole(took.prompt),
        "K2.cached": _whole(took.cached),
        "K2.output": _whole(took.output),
        "K2.reasoning": _whole(took.reasoning),
        "K3": usd,
        "K4.usd": NULL if usd.num is None else share(usd.num, episode.reached),
        "K4.tokens": NULL if both.num is None else share(both.num, episode.reached),
        **_seconds(episode, calls),
        "K7": mean(slopes),
        "K8": share(took.unusable.num, took.unusable.den),
        "K8.retries": share(took.retries.num, took.retries.den),
        "K9": share(took.cache.num, took.cache.den),
    }


def parts(episode: Episode) -> dict[str, Value]:
    """Return K1, K2 and K7 by mind, and K1 and K2 by kind of question, as there are in the episode.

    Their ids name the part in brackets, ``K2.prompt[purpose=drwell.draft]``; the definition is that of the id before.
    """
    made = episode.all(LlmCall)
    keys: dict[str, Callable[[LlmCall], str]] = {"agent": lambda call: call.agent, "purpose": lambda call: call.purpose}
    found: dict[str, Value] = {}
    for name, key in keys.items():
        groups = grouped(made, key)
        took = {part: tokens(some) for part, some in groups.items()}
        found |= {f"K1[{name}={part}]": count(len(some)) for part, some in groups.items()}
        found |= {f"K2[{name}={part}]": _whole(one.prompt, one.output) for part, one in took.items()}
        for kind in ("prompt", "cached", "output", "reasoning"):
            found |= {f"K2.{kind}[{name}={part}]": _whole(getattr(one, kind)) for part, one in took.items()}
    found |= {f"K7[agent={mind}]": share(slope.num, slope.den) for mind, slope in _growth(made).items()}
    return found


def _growth(calls: Sequence[LlmCall]) -> dict[str, Slope]:
    return {mind: growth(some) for mind, some in grouped(calls, lambda call: call.agent).items()}


def _whole(*counts: Count) -> Value:
    """Return a sum over all calls; null where there was none, or some were not counted."""
    if any(one.said < one.calls or not one.calls for one in counts):
        return NULL
    return count(sum(one.total for one in counts))


def _dollars(calls: Sequence[Made] | None) -> Value:
    """K3; null where a call that was answered has no price. Answers of a cache of earlier runs cost nothing."""
    if not calls:
        return NULL
    found = cost(calls)
    return count(found.usd) if found.priced == found.calls and found.calls + found.free else NULL


def _seconds(episode: Episode, calls: Sequence[Made] | None) -> dict[str, Value]:
    """K5 and K6. An agent that decided in a step waits for as long as the others still take."""
    names = ("K5.p50", "K5.p95", "K5.max", "K5.path", "K6", "K6.decision", "K6.waiting")
    if not calls:
        return dict.fromkeys(names, NULL)
    waited = latency(calls)
    found = dict.fromkeys(names, NULL)
    if waited.decisions:
        each = (waited.p50, waited.p95, waited.longest)
        found |= {name: only(value, waited.decisions) for name, value in zip(names[:3], each, strict=True)}
    seconds = seconds_of(episode, calls)
    if seconds is None:
        return found
    critical = paths(episode, seconds)
    own: defaultdict[tuple[int, str], float] = defaultdict(float)
    for question, time in seconds:
        if question.agent in episode.who:
            own[question.step, question.agent] += time
    stays = episode.stays
    ready = stays.stage == STAGES.index("W")
    entries = zip(stays.step[ready].tolist(), stays.agent[ready].tolist(), strict=True)
    decided = {*own, *((step, episode.team[agent]) for step, agent in entries)}
    deciding = fsum(own.values())
    # Rounding can make a path shorter than the only questions in it, by the last digit.
    waiting = fsum(max(0.0, critical.get(step, 0.0) - own.get((step, agent), 0.0)) for step, agent in decided)
    return found | {
        "K5.path": mean(critical.values()),
        "K6": share(waiting, deciding + waiting),
        "K6.decision": share(deciding, len(episode.team)),
        "K6.waiting": share(waiting, len(episode.team)),
    }
