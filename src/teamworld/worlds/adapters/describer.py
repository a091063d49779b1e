"""What a user writes to make a world of a PettingZoo environment: a describer.

A describer is the domain of the world (the rules that everybody knows, see ``base.domain.StateDomain``) and says in
addition how observations read as facts and how macro-actions unroll to the environment's own actions. ``StateT`` is a
value that the user chooses: one moment, the whole of it or as much as somebody knows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from teamworld.language import Action, AgentId, Fact, Term
from teamworld.worlds.base.domain import StateDomain
from teamworld.worlds.base.executor import Result
from teamworld.worlds.contract import WAIT, Attempt, Goal, Outcome

StateT = TypeVar("StateT")


class ParallelEnvironment(Protocol):
    """What is used of a PettingZoo ``ParallelEnv``."""

    agents: list[str]
    """Who is in the running episode; empty when it is over."""
    possible_agents: list[str]

    def reset(self, seed: int | None = None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Start an episode; return observations and infos."""

    def step(
        self, actions: dict[str, Any], /
    ) -> tuple[Mapping[str, Any], Mapping[str, float], Mapping[str, bool], Mapping[str, bool], Mapping[str, Any]]:
        """Return observations, rewards, terminations, truncations and infos."""


class Look(NamedTuple, Generic[StateT]):
    """All that an agent may build its perception on."""

    observation: Any
    """Its observation, as the environment gave it."""
    info: Any
    """Its info, as the environment gave it."""
    known: StateT
    """What it knew before, at the start what no facts tell."""
    seen: Mapping[Term, int]
    """Places that it saw before, with the step of last sight."""
    t: int
    """Steps gone."""


class Sight(NamedTuple):
    """What an agent perceives now."""

    facts: Sequence[Fact]
    """All of them true; only facts ``UNSEEN`` may be about what nobody knows. These are not remembered."""
    places: Collection[Term] = ()
    """The places that it sees: what it remembers there (``AT``) and does not see is gone."""


@dataclass
class MacroAction:
    """A running action."""

    action: Action
    """With all its arguments."""
    start: int
    """Step at which it began."""
    primitive: str
    """What the agent did last."""
    spent: int = 0
    """Steps since it began."""
    stuck: int = 0
    """Steps in a row in which it neither moved the agent nor had an effect."""

    notes: dict[str, Any] = field(default_factory=dict)
    """What the describer keeps until the action ends, for example a way around."""

    @property
    def next_step(self) -> int:
        """The step that is to be done next."""
        return self.start + self.spent


class Describer(StateDomain[StateT]):
    """The base of describers. A user writes the rules of ``StateDomain`` and what stands here as abstract.

    What an agent perceives and does is a function of what its environment tells it: no method that is given an
    agent's knowledge is given the environment.
    """

    #: The environment's own actions by name.
    primitives: Mapping[str, Any]
    #: The name of the one that does nothing.
    idle: str
    #: Predicates that no longer hold if their subject is not where it was.
    placed: Collection[str] = ("AT", "HOLD")

    # ---- the environment's whole state: for the log, goals and metrics

    @abstractmethod
    def truth(self, env: Any, before: StateT | None) -> StateT:  # noqa: ANN401  (an environment of any kind)
        """Return the environment's state now, hidden things too.

        Args:
            env: The environment, after a step or a reset.
            before: The state before the step; None after a reset.
        """

    @abstractmethod
    def snapshot(self, state: StateT) -> Mapping[str, Any]:
        """Return what a drawing of a state needs: plain data."""

    # ---- what one agent perceives and does

    @abstractmethod
    def perceive(self, agent: AgentId, look: Look[StateT]) -> Sight:
        """Return what an agent perceives now."""

    @abstractmethod
    def unroll(self, agent: AgentId, skill: MacroAction, known: StateT) -> str:
        """Return the primitive by which an agent goes on with its action, by what it knows."""

    @abstractmethod
    def judge(self, agent: AgentId, skill: MacroAction, before: StateT, after: StateT) -> Result:
        """Return how an action stands after a step, by what its agent knew before it and knows after it."""

    # ---- what the log says of a step, by the truth; to be refined

    def place(self, agent: AgentId, state: StateT) -> Term | None:
        """Return where an agent is; None in worlds without places."""
        return None

    def outcome(self, agent: AgentId, primitive: str, before: StateT, after: StateT) -> Outcome:
        """Return what a step did to an agent and through it, as an outcome of waiting."""
        at = self.place(agent, before)
        return Outcome(WAIT, "done", primitives=(primitive,), place=at, moved=at != self.place(agent, after))

    def participants(self, goal: Goal, tried: Mapping[AgentId, MacroAction]) -> Iterable[AgentId]:
        """Yield who took part in what became of a goal in a step: those whose action names its thing."""
        return (agent for agent, skill in tried.items() if goal.thing is not None and goal.thing in skill.action.args)

    def attempts(self, tried: Mapping[AgentId, MacroAction], before: StateT, after: StateT) -> Iterable[Attempt]:
        """Yield the acts on goals that can fail on a constraint."""
        return ()

    def is_complete(self, state: StateT) -> bool:
        """Return whether there is nothing left to do."""
        return all(goal.state != "open" for goal in self.list_goals(state))

    def distance(self, first: AgentId, second: AgentId, state: StateT) -> float:
        """Return how far two agents are from one another, for messages of limited reach; 0 without cells."""
        here, there = self.place(first, state), self.place(second, state)
        if not (isinstance(here, tuple) and isinstance(there, tuple)):
            return 0.0
        return float(abs(here[0] - there[0]) + abs(here[1] - there[1]))
