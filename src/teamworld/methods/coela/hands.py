"""What agents carry: how much they can, how much they do, and which actions take up or hand over."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import carrying_capacity, held_things
from teamworld.worlds.contract import Option


def full(now: Situation) -> bool:
    """Return whether the agent can hold no more."""
    return 0 < carrying_capacity(now.domain) <= len(held_things(now.me, now.given))


def kept(now: Situation, option: Option) -> int:
    """Return how many things the agent is expected to hold after an option."""
    return len(held_things(now.me, now.domain.after(now.me, option.action, now.given)))


def delivery(now: Situation, omit: Collection[str] = ()) -> Option | None:
    """Return the shortest option for a goal after which the agent holds less; None where it can deliver nothing."""
    return min(handing_over(now, omit), key=lambda option: option.ticks, default=None)


def handing_over(now: Situation, omit: Collection[str] = ()) -> Iterable[Option]:
    """Yield the options for goals after which the agent holds less than now."""
    has = len(held_things(now.me, now.given))
    if has:
        serving = (option for option in now.options if option.goal is not None and option.action.verb not in omit)
        yield from (option for option in serving if kept(now, option) < has)
