"""What one agent of CaPo remembers: the dialogue, the meta-plan as it has it, and what each told of its progress."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from teamworld.language import Action, AgentId, Entity
from teamworld.methods.capo.meta_plan import MetaPlan, read_plan
from teamworld.methods.common.dialogue_memory import DialogueMemory
from teamworld.methods.common.knowledge import Line
from teamworld.methods.common.told_facts import read_told
from teamworld.methods.contract import Act, Message
from teamworld.worlds.contract import Domain

#: By which act the messages of a discussion are told apart.
PROGRESS: Act = "inform"
PLAN: Act = "propose"
REFUSAL: Act = "reject"


@dataclass(kw_only=True)
class PlannerMemory(DialogueMemory):
    """The memory of one agent; nobody else reads it."""

    domain: Domain
    """The rules of its world, by which facts are read."""
    plan: MetaPlan = ()
    """The meta-plan that reached it last."""
    since: int = 0
    """The step at which it did."""
    by: AgentId | None = None
    """Who wrote it."""
    progress: dict[AgentId, Line] = field(default_factory=dict)
    """What each agent told last of its progress."""
    talk: list[Line] = field(default_factory=list)
    """What else was said, in the order of speaking."""
    reported: set[Entity] = field(default_factory=set)
    """Things that it was told of."""
    remainder: Action | None = None
    """What was left of its running action when it stopped for a discussion; None where that is all of it."""

    def attend(self, messages: Iterable[Message]) -> None:
        """Take in what was said in a discussion, its own words included."""
        for message in messages:
            if message.id in self.heard:
                continue
            self.heard.add(message.id)
            line = self._take(message)
            if message.act == PROGRESS:
                self.progress[message.sender] = line
            elif message.act == PLAN:
                self.hold(read_plan(message.text, self.team), message.sender, message.t)
            else:
                self.talk.append(line)

    def hold(self, plan: MetaPlan, by: AgentId, step: int) -> None:
        """Take a meta-plan in the place of the one before."""
        self.plan, self.by, self.since = plan, by, step

    def overhear(self, messages: Iterable[Message]) -> None:
        """Take in what agents of other methods said, in a team that is split among methods."""
        for message in messages:
            if message.sender != self.agent and message.id not in self.heard:
                self.heard.add(message.id)
                self.talk.append(self._take(message))

    def _take(self, message: Message) -> Line:
        self._note(message, message.t)
        reported = read_told(message.whole, self.domain) if message.sender != self.agent else ()
        self.reported |= {
            thing for fact in reported for thing in (fact.subject, fact.value) if isinstance(thing, Entity)
        }
        return Line(message.t, message.sender, None, message.whole, message.goal)
