"""How two episodes of one instance differ: the first step at which they do, and who planned or said something else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from teamworld.errors import UserError
from teamworld.viewer.replay_types import Actor, Difference, Differences, Replay

Kind: TypeAlias = Literal["commitment", "plan", "message"]
#: What is compared agent by agent, in the order in which it is listed.
KINDS: Final[tuple[Kind, ...]] = ("commitment", "plan", "message")
#: By step and agent, what it did of a kind, in words.
_Acts = dict[tuple[int, str], list[str]]


def find_differences(first: Replay, second: Replay) -> Differences:
    """Return how two episodes of one instance differ.

    They differ in a step if somebody does, plans, says or binds itself to something else in it, or if the world is
    another after it. Questions are left aside: other methods ask others.

    Raises:
        UserError: They are not of one instance: another world, level, team or start.
    """
    _check_instance(first, second)
    order = {actor.name: place for place, actor in enumerate(first.team)}
    rows = []
    for kind in KINDS:
        left, right = _acts(first, kind), _acts(second, kind)
        for step, agent in left.keys() | right.keys():
            if (own := left.get((step, agent), [])) != (other := right.get((step, agent), [])):
                rows.append(Difference(step=step, agent=agent, kind=kind, first=own, second=other))
    rows.sort(key=lambda row: (row.step, KINDS.index(row.kind), order.get(row.agent, len(order)), row.agent))
    actions = _other_actions(first, second)
    steps = [row.step for row in rows[:1]] + actions[:1] + _first_unlike(first.frames, second.frames)
    return Differences(first=min(steps, default=None), actions=actions, rows=rows)


def _check_instance(first: Replay, second: Replay) -> None:
    for name, own, other in (
        ("world", first.world, second.world),
        ("level", first.level, second.level),
        ("team", ", ".join(_names(first)), ", ".join(_names(second))),
        ("seed", first.seed, second.seed),
    ):
        if own != other:
            raise UserError(f"two episodes side by side are of one instance: the {name} is {own}, and {other}")
    if (first.static, first.frames[0]) != (second.static, second.frames[0]):
        raise UserError(
            f"two episodes side by side are of one instance: {first.method}, episode {first.episode}, and "
            f"{second.method}, episode {second.episode}, begin in other states"
        )


def _names(replay: Replay) -> list[str]:
    return [actor.name for actor in replay.team]


def _acts(replay: Replay, kind: Kind) -> _Acts:
    """Return what each agent did of a kind in each step."""
    acts: _Acts = {}
    for step, agent, words in _listed(replay, kind):
        acts.setdefault((step, agent), []).append(words)
    return acts


def _listed(replay: Replay, kind: Kind) -> Iterable[tuple[int, str, str]]:
    if kind == "commitment":
        return ((hold.start, actor.name, hold.goal) for actor in replay.team for hold in actor.holds)
    if kind == "plan":
        plans = replay.plans
        return (
            (row.start, row.agent, f"{f'for {row.goal}: ' if row.goal else ''}{'; '.join(row.actions)}")
            for row in plans
        )
    return (
        (row.step, row.agent, f"{'' if row.to is None else 'to {}: '.format(', '.join(row.to) or 'nobody')}{row.text}")
        for row in replay.messages
    )


def _other_actions(first: Replay, second: Replay) -> list[int]:
    """Return the steps in which some agent does something else."""
    others = {actor.name: actor for actor in second.team}
    steps = set[int]()
    for actor in first.team:
        own, other = _by_step(actor), _by_step(others[actor.name])
        steps |= {step for step in own.keys() | other.keys() if own.get(step) != other.get(step)}
    return sorted(steps)


def _by_step(actor: Actor) -> dict[int, str]:
    """Return the action of an agent by step; no plan and nothing to do are the same."""
    return {step: span.action for span in actor.spans for step in range(span.start, span.end)}


def _first_unlike(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> list[int]:
    """Return the first step that leads to other states, or that only one of them has; nothing if there is none."""
    for step in range(max(len(first), len(second)) - 1):
        if first[step + 1 : step + 2] != second[step + 1 : step + 2]:
            return [step]
    return []
