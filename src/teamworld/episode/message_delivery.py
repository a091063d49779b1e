"""Messages: what may be said, who hears it and when, what it costs.

What is sent is what is counted: the facts beside the words of a message are part of its text here, so limits, costs,
logs, metrics and listeners have one and the same text.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from teamworld.language import AgentId
from teamworld.methods.contract import Message
from teamworld.record import Deliver, Event, MessageSent
from teamworld.seeding import Streams

#: Takes a message that is about to be sent and returns what is sent instead; None for nothing.
MessageEdit: TypeAlias = Callable[[Message], Message | None]

Branch = TypeVar("Branch")


@dataclasses.dataclass
class _Lane:
    """The numbers that a part of the team gives out: every so many-th, so that no number depends on who is first."""

    every: int
    message: int
    meeting: int


_lane: ContextVar[_Lane | None] = ContextVar("teamworld_lane", default=None)


class MessageRule(BaseModel):
    """One rule for all messages of a run, in meetings and as posts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ticks: int = Field(default=0, ge=0, description="steps that a message costs each payer")
    chars_per_tick: int | None = Field(
        default=None, ge=1, description="further steps by length: one for so many characters"
    )
    maximum: int | None = Field(
        default=None, ge=1, description="longest text in characters, facts that it tells included; the rest is cut"
    )
    recipients: int | None = Field(
        default=None,
        ge=1,
        description="most agents that a message goes to, the first in reach of those it is for",
    )
    most: int | None = Field(
        default=None, ge=1, description="most messages of an agent in an episode; what it would say beyond is not sent"
    )
    reach: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="how far a message carries, in the world's distance"
    )
    loss: float = Field(default=0.0, ge=0, le=1, description="probability that a recipient does not get it")
    echo: bool = Field(default=False, description="whether the sender receives its own messages")
    seen: Literal["now", "next"] = Field(
        default="now",
        description="when a message can be read: in the same step or the next; meetings are always heard at once",
    )
    paid_by: Literal["nobody", "speaker", "members"] = Field(
        default="nobody", description="who pays: nobody, the speaker, or all recipients too"
    )

    @model_validator(mode="after")
    def _somebody_pays(self) -> MessageRule:
        if self.paid_by == "nobody" and (self.ticks or self.chars_per_tick):
            raise ValueError("messages that cost ticks are paid by speaker or members: set paid_by")
        return self

    @model_serializer(mode="wrap")
    def _as_ever(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a bound that is not set: logs of such rules stay the bytes that they were before it could be."""
        fields: dict[str, Any] = plain(self)
        unset = [name for name in ("recipients", "most") if getattr(self, name) is None]
        return {name: fields[name] for name in fields if name not in unset}

    def in_words(self) -> str:
        """Return what sets it apart from free talk that reaches everybody; ``free`` if nothing does."""
        cost_words = f"{self.ticks} tick{'' if self.ticks == 1 else 's'} a message" if self.ticks else ""
        length = f"a tick for {self.chars_per_tick} characters" if self.chars_per_tick else ""
        parts = {
            " and ".join(filter(None, (cost_words, length))): self.paid_by != "nobody",
            f"paid by {'the speaker' if self.paid_by == 'speaker' else self.paid_by}": bool(cost_words or length),
            f"at most {self.maximum} characters": self.maximum is not None,
            f"to at most {self.recipients} agent{'' if self.recipients == 1 else 's'}": self.recipients is not None,
            f"at most {self.most} message{'' if self.most == 1 else 's'} an agent": self.most is not None,
            f"reach {self.reach:g}" if self.reach is not None else "": self.reach is not None,
            f"{self.loss:.3g} of all lost": self.loss > 0,
            "read in the next step": self.seen == "next",
            "echoed": self.echo,
        }
        return ", ".join(words for words, holds in parts.items() if holds and words) or "free"

    def cost(self, text: str) -> int:
        """Return the ticks that a text costs each payer."""
        if self.paid_by == "nobody":
            return 0
        by_length = math.ceil(len(text) / self.chars_per_tick) if self.chars_per_tick else 0
        return self.ticks + by_length


class Channel:
    """Carries messages in the order in which they are sent, and keeps what each agent owes for talk.

    Args:
        rule: The rule of the run.
        hears: Who is in range of a sender.
        streams: Makes the generators that decide losses.
        record: Writes an event to the log.
        edit: Changes messages before they are sent. One that is not sent keeps its number, so that the numbers of
            others, by which losses are drawn, stay the same.
    """

    def __init__(
        self,
        rule: MessageRule,
        in_range: Callable[[AgentId, float], Collection[AgentId]],
        streams: Streams,
        record: Callable[[Event], None],
        edit: MessageEdit = lambda message: message,
    ) -> None:
        self.rule = rule
        self.owed: Counter[AgentId] = Counter()
        """Ticks of talk that each agent still owes."""
        self._in_range = in_range
        self._streams = streams
        self._record = record
        self._edit = edit
        self._numbered = 0
        self._sent_by = Counter[AgentId]()
        self._meetings = 0
        self._inbox: defaultdict[AgentId, list[Message]] = defaultdict(list)

    @contextmanager
    def lanes(
        self, parts: Mapping[AgentId, Coroutine[Any, Any, Branch]]
    ) -> Iterator[Mapping[AgentId, Coroutine[Any, Any, Branch]]]:
        """Let parts of the team number what they say each in its own lane, whoever speaks first.

        Afterwards numbers go on behind the highest that was given out.
        """
        lanes = [_Lane(len(parts), self._numbered + at, self._meetings + at) for at in range(len(parts))]

        async def run(lane: _Lane, part: Coroutine[Any, Any, Branch]) -> Branch:
            _lane.set(lane)  # each task has its own copy of the context
            return await part

        yield {agent: run(lane, part) for lane, (agent, part) in zip(lanes, parts.items(), strict=True)}
        self._numbered = max([self._numbered, *(lane.message - lane.every + 1 for lane in lanes)])
        self._meetings = max([self._meetings, *(lane.meeting - lane.every + 1 for lane in lanes)])

    def may_speak(self, agent: AgentId) -> bool:
        """Return whether an agent has a message left."""
        return self.rule.most is None or self._sent_by[agent] < self.rule.most

    def post(self, message: Message, t: int) -> None:
        """Send a post to its recipients in reach, or to everybody in reach; nothing of one that has none left."""
        edited = self._number(message, t)
        if edited is None:
            return
        message = edited
        in_reach = self._in_reach(message.sender)
        recipients = self._among(
            in_reach if message.recipients is None else message.recipients, in_reach, message.sender
        )
        if self.rule.echo:
            recipients += (message.sender,)
        sent = self._send(message, recipients, None)
        for agent in self._arrivals(sent):
            self._inbox[agent].append(sent)

    def inbox(self, agent: AgentId, t: int) -> Sequence[Message]:
        """Return what the agent can read at tick ``t``, oldest first."""
        late = t if self.rule.seen == "next" else t + 1
        return tuple(message for message in self._inbox[agent] if message.t < late)

    def clear(self, agent: AgentId, t: int) -> None:
        """Forget what the agent could read when it decided at tick ``t``."""
        read = set(map(id, self.inbox(agent, t)))
        self._inbox[agent] = [message for message in self._inbox[agent] if id(message) not in read]

    def open_meeting(self, members: Sequence[AgentId], t: int) -> Meeting:
        """Open a meeting."""
        if (lane := _lane.get()) is not None:
            number, lane.meeting = lane.meeting, lane.meeting + lane.every
        else:
            number, self._meetings = self._meetings, self._meetings + 1
        return Meeting(self, tuple(members), t, number)

    def say(self, message: Message, members: Sequence[AgentId], t: int, meeting: int) -> tuple[Message, set[AgentId]]:
        """Speak in a meeting; return the message as sent and who heard it, the speaker included.

        Whoever has no message left is heard by nobody.
        """
        edited = self._number(dataclasses.replace(message, recipients=None), t)  # all members, unless that is changed
        if edited is None:
            return message, set()
        wanted = members if edited.recipients is None else [name for name in edited.recipients if name in members]
        recipients = self._among(wanted, self._in_reach(edited.sender), edited.sender)
        sent = self._send(edited, recipients, meeting)
        return sent, {message.sender, *self._arrivals(sent)}

    def _number(self, message: Message, t: int) -> Message | None:
        """Return a message with its number as it is to be sent, None where it is not sent."""
        if not self.may_speak(message.sender):
            return None
        if (lane := _lane.get()) is not None:
            number, lane.message = lane.message, lane.message + lane.every
        else:
            number, self._numbered = self._numbered, self._numbered + 1
        return self._edit(dataclasses.replace(message, id=number, t=t))

    def _in_reach(self, sender: AgentId) -> Collection[AgentId]:
        return self._in_range(sender, math.inf if self.rule.reach is None else self.rule.reach)

    def _among(
        self, wanted: Collection[AgentId], in_reach: Collection[AgentId], sender: AgentId
    ) -> tuple[AgentId, ...]:
        """Return the agents that a message is for and can reach, each once, in the order in which they are wanted."""
        near = frozenset(in_reach) - {sender}
        return tuple(agent for agent in dict.fromkeys(wanted) if agent in near)[: self.rule.recipients]

    def _send(self, message: Message, recipients: tuple[AgentId, ...], meeting: int | None) -> Message:
        sent = dataclasses.replace(message.within(self.rule.maximum), recipients=recipients)
        self._sent_by[sent.sender] += 1
        cost = self.rule.cost(sent.text)
        payers = {"nobody": (), "speaker": (sent.sender,), "members": (sent.sender, *recipients)}[self.rule.paid_by]
        for agent in dict.fromkeys(payers):  # whoever is echoed pays once
            self.owed[agent] += cost
        self._record(
            MessageSent(
                agent=sent.sender,
                id=sent.id,
                recipients=recipients,
                act=sent.act,
                text=sent.text,
                goal=sent.goal,
                facts=tuple(map(str, sent.facts)),
                room=meeting,
                ticks=cost,
                paid_by=self.rule.paid_by,
            )
        )
        return sent

    def _arrivals(self, sent: Message) -> list[AgentId]:
        """Deliver a message or lose it, by recipient; an echo is not lost: whoever spoke knows what."""
        arrived = []
        for agent in sent.recipients or ():
            risk = self.rule.loss > 0 and agent != sent.sender
            lost = risk and self._streams("loss", sent.id, agent).random() < self.rule.loss
            self._record(Deliver(agent=agent, message=sent.id, dropped=bool(lost)))
            if not lost:
                arrived.append(agent)
        return arrived


class Meeting:
    """A meeting: agents take turns, and what is said is heard by all members at once."""

    def __init__(self, channel: Channel, members: tuple[AgentId, ...], t: int, number: int) -> None:
        self._channel = channel
        self._members = members
        self._t = t
        self._number = number
        self._heard: defaultdict[AgentId, list[Message]] = defaultdict(list)

    @property
    def members(self) -> Sequence[AgentId]:
        """In speaking order."""
        return self._members

    def heard(self, agent: AgentId) -> Sequence[Message]:
        """What a member has heard here so far, its own words included."""
        return tuple(self._heard[agent])

    def say(self, message: Message) -> None:
        """Speak to the members.

        Raises:
            ValueError: The speaker is not a member.
        """
        if message.sender not in self._members:
            raise ValueError(f"{message.sender} is not in this meeting")
        sent, ears = self._channel.say(message, self._members, self._t, self._number)
        for agent in ears:
            self._heard[agent].append(sent)
