"""Monte Carlo tree search over subgoals (household spec A13): which to carry out first.

A node is a moment in the head, a child one subgoal carried out completely. What is backed up is the value of a roll-out
from the leaf; what the way to the leaf has cost does not count in the published form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

SearchState = TypeVar("SearchState")
Moment_co = TypeVar("Moment_co", covariant=True)
Move = TypeVar("Move")
#: Score of a child that was not visited.
UNVISITED: Final = 1e6


class Effect(Protocol[Moment_co]):
    """What carrying out a subgoal costs and leads to."""

    @property
    def cost(self) -> float:
        """In units of the goal."""

    @property
    def then(self) -> Moment_co:
        """The moment after."""


class Problem(Protocol[SearchState, Move]):
    """What is searched."""

    def subgoals(self, state: SearchState) -> Sequence[Move]:
        """Return what could be carried out next; nothing where all is done."""

    def bring(self, subgoal: Move, state: SearchState) -> Effect[SearchState]:
        """Carry it out."""

    def units(self, state: SearchState) -> int:
        """Return how much of the goal is done."""


class Settings(NamedTuple):
    """What can be set about the search."""

    simulations: int = 100
    depth: int = 5
    """Subgoals carried out in a roll-out, at most."""
    c_init: float = 0.1
    c_base: float = 1e6
    whole: bool = False
    """Whether what the way to the leaf gains and costs counts too, and subgoals are listed anew in each step of a
    roll-out: not so in the published form."""


class Node(Generic[SearchState, Move]):
    """A moment, by the subgoal that led to it; the moment itself is made when it is first visited."""

    __slots__ = ("children", "move", "prior", "spent", "state", "total", "visits")

    def __init__(self, move: Move | None = None, state: SearchState | None = None, prior: float = 1.0) -> None:
        self.move, self.state, self.prior = move, state, prior
        self.spent = 0.0
        """The cost of the way to it."""
        self.visits, self.total = 0, 0.0
        self.children: list[Node[SearchState, Move]] | None = None
        """None until it is expanded."""


def score(parent: int, visits: int, total: float, prior: float, settings: Settings) -> float:
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


def rollout(problem: Problem[SearchState, Move], state: SearchState, depth: int, rng: np.random.Generator) -> float:
    """Carry out up to ``depth`` subgoals of a moment in a random order; return what is gained, less what it costs.

    The first gain counts from nothing, not from what was done before: so it is published.
    """
    moves = problem.subgoals(state)
    value, before = 0.0, 0
    for index in rng.permutation(len(moves))[:depth].tolist():
        done = problem.bring(moves[index], state)
        state = done.then
        after = problem.units(state)
        value += after - before - done.cost
        before = after
    return value


def whole_rollout(
    problem: Problem[SearchState, Move], state: SearchState, depth: int, rng: np.random.Generator
) -> float:
    """Carry out up to ``depth`` subgoals, each drawn from those that are left; return what is done, less the cost."""
    cost = 0.0
    for _ in range(depth):
        moves = problem.subgoals(state)
        if not moves:
            break
        done = problem.bring(moves[int(rng.integers(len(moves)))], state)
        state, cost = done.then, cost + done.cost
    return problem.units(state) - cost


def search(
    problem: Problem[SearchState, Move], root: SearchState, settings: Settings, rng: np.random.Generator
) -> tuple[Move, ...]:
    """Return the most visited subgoals, one after the other; nothing where there is nothing to do.

    Args:
        problem: What is searched.
        root: The moment now.
        settings: How long.
        rng: Shuffles roll-outs and decides between equals.
    """
    top: Node[SearchState, Move] = Node(state=root)
    _expand(problem, top, root)
    for _ in range(settings.simulations):
        path = [top]
        while path[-1].children:
            path.append(_selected(path[-1], path[-1].children, settings, rng))
        leaf = path[-1]
        moment = _moment(problem, path)
        if leaf.children is None:
            _expand(problem, leaf, moment)
        if settings.whole:
            value = whole_rollout(problem, moment, settings.depth, rng) - leaf.spent
        else:
            value = rollout(problem, moment, settings.depth, rng)
        for node in path:
            node.visits += 1
            node.total += value
    chosen: list[Move] = []
    while top.children:
        most = max(child.visits for child in top.children)
        top = _one([child for child in top.children if child.visits == most], rng)
        if top.move is not None:
            chosen.append(top.move)
    return tuple(chosen)


def _moment(problem: Problem[SearchState, Move], path: Sequence[Node[SearchState, Move]]) -> SearchState:
    """Return the moment at the end of a path; only the last one may be missing."""
    leaf = path[-1]
    if leaf.state is None:
        before = path[-2]
        assert before.state is not None
        assert leaf.move is not None
        done = problem.bring(leaf.move, before.state)
        leaf.state, leaf.spent = done.then, before.spent + done.cost
    return leaf.state


def _expand(problem: Problem[SearchState, Move], node: Node[SearchState, Move], moment: SearchState) -> None:
    moves = problem.subgoals(moment)
    node.children = [Node(move, prior=1 / len(moves)) for move in moves]


def _selected(
    parent: Node[SearchState, Move],
    children: Sequence[Node[SearchState, Move]],
    settings: Settings,
    rng: np.random.Generator,
) -> Node[SearchState, Move]:
    scores = [score(parent.visits, one.visits, one.total, one.prior, settings) for one in children]
    best = max(scores)
    return _one([one for one, found in zip(children, scores, strict=True) if found == best], rng)


def _one(nodes: Sequence[Node[SearchState, Move]], rng: np.random.Generator) -> Node[SearchState, Move]:
    return nodes[0] if len(nodes) == 1 else nodes[int(rng.integers(len(nodes)))]
