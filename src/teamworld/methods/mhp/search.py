"""Monte Carlo tree search over subgoals: which to carry out first.

A node is a state of the drawn world, a child one subgoal carried out completely. What is backed up is the value of a
rollout from the leaf; the cost of the way to the leaf does not count in the published form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

S = TypeVar("S")
M = TypeVar("M")
#: Score of a child that was not visited.
UNVISITED: Final = 1e6


class Transition(NamedTuple, Generic[S]):
    """What carrying out a subgoal costs, in units of the goal, and leads to."""

    cost: float
    state: S


class SearchProblem(Protocol[S, M]):
    """What is searched."""

    def subgoals(self, state: S) -> Sequence[M]:
        """Return what could be carried out next; nothing where all is done."""

    def carry_out(self, subgoal: M, state: S) -> Transition[S]:
        """Carry a subgoal out."""

    def units(self, state: S) -> int:
        """Return how much of the goal is done."""


class SearchSettings(NamedTuple):
    """What can be set about the search."""

    simulations: int = 100
    depth: int = 5
    """Subgoals carried out in a rollout, at most."""
    c_init: float = 0.1
    c_base: float = 1e6
    whole: bool = False
    """Whether what the way to the leaf gains and costs counts too, and subgoals are listed anew in each step of a
    rollout: not so in the published form."""


@dataclass(slots=True, eq=False)
class SearchNode(Generic[S, M]):
    """A state, by the subgoal that led to it; the state itself is made when it is first visited."""

    move: M | None = None
    state: S | None = None
    prior: float = 1.0
    spent: float = 0.0
    """The cost of the way to it."""
    visits: int = 0
    total: float = 0.0
    children: list[SearchNode[S, M]] | None = None
    """None until it is expanded."""


def score(parent: int, visits: int, total: float, prior: float, settings: SearchSettings) -> float:
    """Return what a child is selected by: its mean value, and a bonus where it was seldom visited.

    Args:
        parent: Visits of its parent.
        visits: Its own.
        total: Of the values backed up to it.
        prior: 1 / the number of children.
        settings: The constants.
    """
    if not visits:
        return UNVISITED
    bonus = math.log((1 + parent + settings.c_base) / settings.c_base) + settings.c_init
    return total / visits + bonus * prior * math.sqrt(parent) / (1 + visits)


def roll_out(problem: SearchProblem[S, M], state: S, depth: int, rng: np.random.Generator) -> float:
    """Carry out up to ``depth`` subgoals of a state in a random order; return what is gained, less what it costs.

    The first gain counts from nothing, not from what was done before, as published.
    """
    moves = problem.subgoals(state)
    value, before = 0.0, 0
    for index in rng.permutation(len(moves))[:depth].tolist():
        cost, state = problem.carry_out(moves[index], state)
        after = problem.units(state)
        value += after - before - cost
        before = after
    return value


def roll_out_whole(problem: SearchProblem[S, M], state: S, depth: int, rng: np.random.Generator) -> float:
    """Carry out up to ``depth`` subgoals, each drawn from those that are left; return what is done, less the cost."""
    total = 0.0
    for _ in range(depth):
        moves = problem.subgoals(state)
        if not moves:
            break
        cost, state = problem.carry_out(moves[int(rng.integers(len(moves)))], state)
        total += cost
    return problem.units(state) - total


def search(
    problem: SearchProblem[S, M],
    root: S,
    settings: SearchSettings,
    rng: np.random.Generator,
) -> tuple[M, ...]:
    """Return the most visited subgoals, one after the other; nothing where there is nothing to do.

    Args:
        problem: What is searched.
        root: The state now.
        settings: How long.
        rng: Shuffles rollouts and decides between equals.
    """
    top: SearchNode[S, M] = SearchNode(state=root)
    _expand(problem, top, root)
    for _ in range(settings.simulations):
        path = [top]
        while path[-1].children:
            path.append(_select(path[-1], path[-1].children, settings, rng))
        leaf = path[-1]
        state = _reach(problem, path)
        if leaf.children is None:
            _expand(problem, leaf, state)
        if settings.whole:
            value = roll_out_whole(problem, state, settings.depth, rng) - leaf.spent
        else:
            value = roll_out(problem, state, settings.depth, rng)
        for node in path:
            node.visits += 1
            node.total += value
    chosen: list[M] = []
    while top.children:
        most = max(child.visits for child in top.children)
        top = _draw([child for child in top.children if child.visits == most], rng)
        if top.move is not None:
            chosen.append(top.move)
    return tuple(chosen)


def _reach(problem: SearchProblem[S, M], path: Sequence[SearchNode[S, M]]) -> S:
    """Return the state at the end of a path; only the last one may be missing."""
    leaf = path[-1]
    if leaf.state is None:
        before = path[-2]
        assert before.state is not None
        assert leaf.move is not None
        cost, leaf.state = problem.carry_out(leaf.move, before.state)
        leaf.spent = before.spent + cost
    return leaf.state


def _expand(problem: SearchProblem[S, M], node: SearchNode[S, M], state: S) -> None:
    moves = problem.subgoals(state)
    node.children = [SearchNode(move, prior=1 / len(moves)) for move in moves]


def _select(
    parent: SearchNode[S, M],
    children: Sequence[SearchNode[S, M]],
    settings: SearchSettings,
    rng: np.random.Generator,
) -> SearchNode[S, M]:
    scores = [score(parent.visits, child.visits, child.total, child.prior, settings) for child in children]
    best = max(scores)
    return _draw([child for child, value in zip(children, scores, strict=True) if value == best], rng)


def _draw(nodes: Sequence[SearchNode[S, M]], rng: np.random.Generator) -> SearchNode[S, M]:
    return nodes[0] if len(nodes) == 1 else nodes[int(rng.integers(len(nodes)))]
