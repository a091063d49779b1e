"""What one agent remembers over an episode: message history, action history, and what teammates saw with it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from teamworld.language import AgentId, Fact, GoalId
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.contract import Message
from teamworld.worlds.contract import View


@dataclass
class AgentMemory:
    """The memory of one agent; nobody else reads it."""

    agent: AgentId
    options: CoelaOptions
    rng: np.random.Generator
    plan_rng: np.random.Generator
    """Draws plans where none could be read."""
    chat: deque[Message] = field(init=False)
    """What it heard and said, oldest first; once full the oldest goes."""
    acts: deque[str] = field(init=False)
    """What it did, in words, oldest first."""
    witnessed: dict[AgentId, set[Fact]] = field(default_factory=dict)
    """For each teammate what both of them saw when they were in sight of one another."""
    vain: Counter[GoalId] = field(default_factory=Counter)
    """Steps that it spent on each goal with actions that failed, more or less."""
    goal: GoalId | None = None
    """What its last action was for."""
    commitment: GoalId | None = None
    """What it told the others that it does."""
    spoke: bool = False
    """Whether it sent a message when it decided last."""
    decided: int = 0
    """Tick at which it decided last."""
    heard: set[int] = field(default_factory=set)
    """Numbers of the messages that reached it in this step."""

    def __post_init__(self) -> None:
        """Bound the histories."""
        self.chat = deque(maxlen=self.options.messages_kept or None)
        self.acts = deque(maxlen=self.options.actions_kept or None)

    def hear(self, inbox: Iterable[Message]) -> None:
        """Take in the messages that are new; its own, where they come back, are known."""
        for message in inbox:
            if message.sender != self.agent and message.id not in self.heard:
                self.heard.add(message.id)
                self.chat.append(message)

    def look(self, view: View, team: Iterable[AgentId]) -> None:
        """Note what the agent did since it decided last, and who sees what it sees now.

        Whoever is in sight is taken to see the same.
        """
        for outcome in view.history:
            if outcome.start < self.decided or outcome.action.verb == "talk":
                continue
            failed = outcome.status == "failed"
            why = f": {outcome.reason}" if outcome.reason else ""
            self.note_action(outcome.start, f"{outcome.action}, {outcome.status}{why}")
            if failed and self.goal is not None:  # jittered, so that two who wait for one another do not swap places
                ticks = max(1, view.t - outcome.start)
                self.vain[self.goal] += int(np.ceil(ticks * self.rng.uniform(0.5, 1.5)))
        self.decided = view.t
        named = {fact.subject for fact in view.facts}
        for teammate in team:
            if teammate != self.agent and teammate in named:
                self.witnessed.setdefault(teammate, set()).update(view.facts)

    def say(self, message: Message, t: int) -> None:
        """Remember a message that it sent."""
        self.chat.append(replace(message, t=t))
        self.note_action(t, "sent a message")

    def note_action(self, t: int, text: str) -> None:
        """Remember something that it did."""
        self.acts.append(f"t = {t}: {text}")

    @property
    def lines(self) -> tuple[str, ...]:
        """The action history."""
        return tuple(self.acts)
