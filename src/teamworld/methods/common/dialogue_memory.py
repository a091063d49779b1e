"""What one agent remembers over an episode: what was said, what is gone from where it was, what it spent in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from teamworld.language import AgentId, Entity, Fact, GoalId
from teamworld.language.rules import IN_HAND
from teamworld.methods.common.knowledge import Line
from teamworld.methods.contract import Message
from teamworld.worlds.contract import View


@dataclass
class DialogueMemory:
    """The memory of one agent; nobody else reads it."""

    agent: AgentId
    team: tuple[AgentId, ...]
    """All agents of the world, in order."""
    rng: np.random.Generator
    """Draws how much failures count."""
    kept: int = 0
    """Messages that it remembers, the newest; 0: all."""
    chat: list[Line] = field(default_factory=list)
    """What it heard and said, oldest first and of one step in the order of the team; once full the oldest goes."""
    lying: dict[Entity, Fact] = field(default_factory=dict)
    """Where it knew things to lie when it decided last."""
    gone: dict[Entity, tuple[Fact, int]] = field(default_factory=dict)
    """Where things lay that it has not found there since, and the step at which it noticed."""
    lost: Counter[GoalId] = field(default_factory=Counter)
    """Steps that it spent on each goal with actions that failed."""
    vain: Counter[GoalId] = field(default_factory=Counter)
    """The same, more or less: by how many steps the goal counts as farther."""
    goal: GoalId | None = None
    """What its last action was for."""
    commitment: GoalId | None = None
    """What it told the others that it does."""
    decided: int = 0
    """Step at which it decided last."""
    heard: set[int] = field(default_factory=set)
    """Numbers of the messages that reached it."""

    def hear(self, inbox: Iterable[Message]) -> None:
        """Take in the messages that are new; its own, where they come back, are known."""
        for message in inbox:
            if message.sender != self.agent and message.id not in self.heard:
                self.heard.add(message.id)
                self._note(message, message.t)

    def say(self, message: Message, step: int) -> None:
        """Remember a message that it sent."""
        self._note(message, step)

    def _note(self, message: Message, step: int) -> None:
        self.chat.append(Line(step, message.sender, None, message.whole, message.goal))
        self.chat.sort(key=lambda line: (line.step, self.team.index(line.sender)))  # the same order for everybody
        if self.kept:
            del self.chat[: -self.kept]

    def look(self, view: View) -> None:
        """Note what failed since it decided last, and what is gone; what it stopped itself did not fail."""
        ends = [*(outcome.start for outcome in view.history[1:]), view.t]
        for outcome, end in zip(view.history, ends, strict=False):
            is_failure = outcome.status == "failed" and not outcome.is_stopped
            if outcome.start < self.decided or not is_failure or self.goal is None:
                continue  # jittered, so that two who wait for one another do not swap places
            steps = max(1, end - outcome.start)
            self.lost[self.goal] += steps
            self.vain[self.goal] += int(np.ceil(steps * self.rng.uniform(0.5, 1.5)))
        self.decided = view.t
        self._miss(view)

    def _miss(self, view: View) -> None:
        """Note what is not where it was, and in no hand that the agent knows of."""
        held = {fact.value for fact in view.known if fact.predicate in IN_HAND}
        lies = (fact for fact in view.known if fact.predicate in ("IN", "INSIDE", "ON"))
        lying = {fact.subject: fact for fact in lies if isinstance(fact.subject, Entity)}
        located = {*lying, *held}
        gone = self.gone | {thing: (fact, view.t) for thing, fact in self.lying.items()}
        self.gone = {thing: entry for thing, entry in gone.items() if thing not in located}
        self.lying = lying
