"""The base of views: one moment of a world that is read by one agent, until the next step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from teamworld.errors import UserError, suggest
from teamworld.language import Action, ActionSchema, AgentId, Facts
from teamworld.worlds.contract import Goal, Option, Outcome, Verdict, View


class StaleView(RuntimeError):
    """A view was read after the world had moved on."""


class ViewSource(Protocol):
    """One moment of a world, shared by all views of it."""

    @property
    def t(self) -> int:
        """Ticks gone."""

    @property
    def horizon(self) -> int:
        """Ticks after which the episode ends."""

    @property
    def histories(self) -> Mapping[AgentId, Sequence[Outcome]]:
        """Finished actions of each agent, oldest first."""


Frame = TypeVar("Frame", bound=ViewSource)


class FrameView(Generic[Frame]):
    """What all views of ``contract.View`` have in common; reading one after the next step raises ``StaleView``.

    Args:
        agent: Whose view it is.
        frame: The moment.
        current: Returns the moment that the world is at.
    """

    def __init__(self, agent: AgentId, frame: Frame, current: Callable[[], Frame]) -> None:
        self._agent, self._frame, self._current = agent, frame, current

    @property
    def _now(self) -> Frame:
        if self._current() is not self._frame:
            raise StaleView(f"the view of {self._agent} at t = {self._frame.t} was read after the world moved on")
        return self._frame

    @property
    def agent(self) -> AgentId:
        """Whose view it is."""
        return self._agent

    @property
    def t(self) -> int:
        """Ticks gone."""
        return self._now.t

    @property
    def steps_left(self) -> int:
        """Ticks left."""
        return self._now.horizon - self._now.t

    @property
    def history(self) -> Sequence[Outcome]:
        """Its finished actions, oldest first."""
        return tuple(self._now.histories[self._agent])

    @property
    def remainder(self) -> Action | None:
        """Not told."""
        return None

    @property
    def steps_to_go(self) -> int | None:
        """Not told."""
        return None

    @property
    def since(self) -> int | None:
        """Not told."""
        return None


class FactsDomain(Protocol):
    """What a view of facts asks its world's domain."""

    def abilities(self, agent: AgentId, facts: Facts, /) -> Sequence[ActionSchema]:
        """Return what an agent can do."""

    def goals(self, facts: Facts, /) -> Sequence[Goal]:
        """Return the goals as they stand if the facts hold."""

    def options(self, agent: AgentId, facts: Facts, /) -> Sequence[Option]:
        """Return the actions that make sense for the agent if the facts hold."""

    def check(self, agent: AgentId, action: Action, facts: Facts, /) -> Verdict:
        """Return whether the action's preconditions hold if the facts hold."""


KnownDomain = TypeVar("KnownDomain", bound=FactsDomain)
#: What an agent perceives, what it remembers, and both.
FactParts: TypeAlias = tuple[Facts, Facts, Facts]


@dataclass(eq=False)
class FactsFrame(Generic[KnownDomain]):
    """One moment of a world in which all that an agent knows are facts, shared by all views of it."""

    t: int
    horizon: int
    domain: KnownDomain
    """The rules that everybody knows."""
    histories: Mapping[AgentId, Sequence[Outcome]]
    split: Callable[[AgentId], FactParts]
    """Returns what an agent perceives, what it remembers, and both."""
    _parts: dict[AgentId, FactParts] = field(default_factory=dict, init=False)

    def parts(self, agent: AgentId) -> FactParts:
        """Return what an agent perceives, what it remembers, and both; made when first asked for."""
        cached = self._parts.get(agent)
        if cached is None:
            cached = self._parts[agent] = self.split(agent)
        return cached


SharedFrame = TypeVar("SharedFrame", bound=FactsFrame[Any])
#: Returns facts without those about agents that are not kept.
LeaveOut: TypeAlias = Callable[[Facts, frozenset[AgentId]], Facts]


def leave_out(facts: Facts, kept: frozenset[AgentId]) -> Facts:
    """Return facts without those about agents that are not kept."""
    items = tuple(fact for fact in facts if not isinstance(fact.subject, str) or fact.subject in kept)
    return Facts(items, {fact: facts.seen[fact] for fact in items if fact in facts.seen})


class Narrowing:
    """Leaves agents out of views, so that what is made of a view stays bounded however large the team is.

    Views that share facts share them narrowed too, and whatever is derived from them once.

    Args:
        kept: The agents that stay: all that is read of a view reads nothing of the places of others.
    """

    def __init__(self, kept: Collection[AgentId]) -> None:
        self.kept = frozenset(kept)
        self._made: dict[tuple[int, LeaveOut], tuple[Facts, Facts]] = {}

    def apply(self, facts: Facts, leave: LeaveOut = leave_out) -> Facts:
        """Return facts about things and the agents that are kept; made once for each collection."""
        key = id(facts), leave
        if key not in self._made:
            self._made[key] = facts, leave(facts, self.kept)  # with the whole, whose id stays taken
        return self._made[key][1]


class FactsView(FrameView[SharedFrame]):
    """A view that answers from the agent's facts and the world's domain."""

    narrowing: Narrowing | None = None
    """Which agents it tells of; None: of all."""

    def narrowed(self, narrowing: Narrowing) -> Self:
        """Return the same view with some agents alone: goals, options, checks and words go by these."""
        other = copy.copy(self)
        other.narrowing = narrowing
        return other

    def _narrow(self, facts: Facts, leave: LeaveOut = leave_out) -> Facts:
        return facts if self.narrowing is None else self.narrowing.apply(facts, leave)

    @property
    def facts(self) -> Facts:
        """What it perceives now."""
        return self._narrow(self._now.parts(self._agent)[0])

    @property
    def recall(self) -> Facts:
        """What it perceived before and has not perceived otherwise since."""
        return self._narrow(self._now.parts(self._agent)[1])

    @property
    def known(self) -> Facts:
        """Both."""
        return self._narrow(self._now.parts(self._agent)[2])

    @property
    def goals(self) -> Sequence[Goal]:
        """The goals as far as it knows."""
        return self.domain.goals(self.known)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """What it can do, with what it knows of as arguments."""
        return self.domain.abilities(self._agent, self.known)

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as it knows."""
        return self.domain.options(self._agent, self.known)

    def check(self, action: Action) -> Verdict:
        """Return whether the action's preconditions hold, by what the agent knows."""
        return self.domain.check(self._agent, action, self.known)

    @property
    def domain(self) -> FactsDomain:
        """The rules that everybody knows."""
        domain: FactsDomain = self._now.domain
        return domain


def check_form(form: str, forms: Sequence[str]) -> None:
    """Check that a view can be told in a form of text.

    Raises:
        UserError: It cannot.
    """
    if form not in forms:
        raise UserError(f"a view has no text form '{form}'{suggest(form, list(forms))}")


class DescribedDomain(FactsDomain, Protocol):
    """A domain that puts views in words."""

    def describe(self, view: View, /) -> Iterable[str]:
        """Yield the lines of a view in words."""


@dataclass(eq=False)
class TeamFrame(FactsFrame[DescribedDomain]):
    """One moment of a world whose domain puts views in words."""

    kinds: Mapping[AgentId, str]
    unable: frozenset[AgentId]
    """Who cannot act now."""
    remainders: Mapping[AgentId, Action]
    """What is left of each running action, as an action."""
    steps_to_go: Mapping[AgentId, int]
    """Ticks that running actions still take, where that is known."""
    begun: Mapping[AgentId, int]
    """Ticks at which running actions began."""


class TeamView(FactsView[TeamFrame]):
    """``contract.View`` from the agent's facts and the world's domain."""

    @property
    def kind(self) -> str:
        """What kind of agent it is."""
        return self._now.kinds[self._agent]

    @property
    def is_able(self) -> bool:
        """False while it cannot act."""
        return self._agent not in self._now.unable

    @property
    def remainder(self) -> Action | None:
        """What is left of its running action, as an action."""
        return self._now.remainders.get(self._agent)

    @property
    def steps_to_go(self) -> int | None:
        """Ticks that its running action still takes, where that is known."""
        return self._now.steps_to_go.get(self._agent)

    @property
    def since(self) -> int | None:
        """Tick at which its running action began."""
        return self._now.begun.get(self._agent)

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        check_form(form, ["plain"])
        return "\n".join(self._now.domain.describe(self))
