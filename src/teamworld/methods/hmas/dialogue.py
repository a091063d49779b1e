"""DMAS and HMAS-1: at every step the agents talk in turns until one of them ends it with a plan for all.

In DMAS they begin with nothing, in HMAS-1 with the plan of a planner without a body. What somebody proposes for an
agent stands until another proposes something else for it. Whoever ends the talk has what stands carried out; the last
turn has to end it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from teamworld.language import AgentId, plain
from teamworld.methods.common.answers import meant
from teamworld.methods.common.informed import alone
from teamworld.methods.common.knowledge import AgentKnowledge, Line
from teamworld.methods.common.single_action import read_act
from teamworld.methods.common.team_record import TeamRecord
from teamworld.methods.contract import DecisionContext, Meeting, Message
from teamworld.methods.hmas.method import SHARED, Framework, as_plan
from teamworld.methods.hmas.options import DIALOGUE, DialogueOptions
from teamworld.methods.hmas.plans import Assigned, TeamPlan
from teamworld.methods.hmas.questions import PLANNER, DmasTurn, Hmas1Plan, Hmas1Turn, TurnAnswer
from teamworld.reasoning.contract import Question


class Dmas(Framework):
    """A dialogue of all, in turns; whoever ends it has spoken the plan."""

    name = "dmas"
    summary = "DMAS: the agents talk in turns at every step until one of them ends it with a plan for all"
    options = DialogueOptions
    _options: DialogueOptions
    questions: ClassVar[tuple[type[Question[Any]], ...]] = (DmasTurn, *SHARED)
    variants = DIALOGUE
    turn: type[DmasTurn] = DmasTurn
    by = "the team"

    async def _settle(self, context: DecisionContext, record: TeamRecord) -> TeamPlan:
        """Talk, beginning with nothing."""
        return await self._talk(context, record, TeamPlan(actions=()))

    async def _talk(self, context: DecisionContext, record: TeamRecord, opening: TeamPlan) -> TeamPlan:
        """Let the agents speak in turns until one of them ends it.

        Args:
            context: Where they meet.
            record: What all know.
            opening: What stands proposed at first, to all.
        """
        members = record.open
        meeting, heard = context.open_meeting(members), _Hearing(opening, members)
        spoken: set[AgentId] = set()
        turns = self._options.rounds * len(members)
        standing = opening
        for number in range(turns):
            agent = members[number % len(members)]
            member = record.of(agent)
            if member is None or (not context.may_speak(agent) and number < turns - 1):
                continue
            standing = heard.standing(meeting, agent)
            waiting = tuple(other for other in members if other not in spoken)
            is_shared = self._options.sees == "team"
            me = replace(member.me if is_shared else alone(member.me), said=_lines(meeting, agent))
            sees, views = (record, record.views) if is_shared else (TeamRecord(()), {agent: me.view})
            question = self.turn(agent, views, me, sees, members, standing, waiting, turns - number, self._reasons)
            answer = await context.ask(question)
            answer = answer.model_copy(update={"actions": _in_writing(answer, me, record)})
            spoken.add(agent)
            if len(members) == 1:
                heard = _Hearing(_with(standing, answer, members), members)
            elif self._say(meeting, agent, answer):
                heard.note(meeting, agent, answer)
            standing = _with(standing, answer, members)
            if answer.final:
                break
        return standing

    def _say(self, meeting: Meeting, agent: AgentId, answer: TurnAnswer) -> bool:
        """Say all of an answer, what is proposed as a part of the text; return whether there was anything to say."""
        proposed = "; ".join(
            f"{entry.agent} {entry.action}{f' for {entry.goal}' if entry.goal else ''}" for entry in answer.actions
        )
        parts = (meant(answer.text), f"I propose: {proposed}." if proposed else "", "Settled." if answer.final else "")
        text = " ".join(part for part in parts if part)
        own = next((entry.goal for entry in answer.actions if entry.agent == agent), None)
        if text:
            meeting.say(Message(agent, "propose" if proposed else "accept", text, own))
        return bool(text)


class Hmas1(Dmas):
    """A planner's plan for all, which the agents then talk over in turns."""

    name = "hmas1"
    summary = "HMAS-1: a central planner proposes actions for all each step, and the agents talk them over in turns"
    questions = (Hmas1Plan, Hmas1Turn, *SHARED)
    respondents = (PLANNER,)
    turn = Hmas1Turn

    async def _settle(self, context: DecisionContext, record: TeamRecord) -> TeamPlan:
        """Plan, then talk."""
        plan = await self._ask_planner(context, Hmas1Plan(PLANNER, record.views, record))
        return await self._talk(context, record, plan)


class _Hearing:
    """What stands proposed, as each agent heard: a message may be lost."""

    def __init__(self, opening: TeamPlan, members: Sequence[AgentId]) -> None:
        self._opening, self._members = opening, members
        self._answers: dict[int, TurnAnswer] = {}

    def note(self, meeting: Meeting, agent: AgentId, answer: TurnAnswer) -> None:
        """Keep the proposals of what an agent has just said, by the number of its message."""
        own = [message for message in meeting.heard(agent) if message.sender == agent]
        if own:
            self._answers[own[-1].id] = answer

    def standing(self, meeting: Meeting, agent: AgentId) -> TeamPlan:
        """Return what stands proposed as far as an agent heard."""
        standing = self._opening
        for message in meeting.heard(agent):
            if message.id in self._answers:
                standing = _with(standing, self._answers[message.id], self._members)
        return standing


def _with(standing: TeamPlan, answer: TurnAnswer, members: Sequence[AgentId]) -> TeamPlan:
    entries: Mapping[AgentId, Assigned] = {entry.agent: entry for entry in (*standing.actions, *answer.actions)}
    return as_plan(entries, members)


def _in_writing(answer: TurnAnswer, me: AgentKnowledge, record: TeamRecord) -> tuple[Assigned, ...]:
    """Return proposals in written form as far as they can be read; numbers stand for the speaker's own options."""
    written = []
    for entry in answer.actions:
        own, member = entry.agent == me.agent, record.of(entry.agent)
        action = None if member is None else read_act(entry.action, me if own else member.me, listed=own)
        written.append(entry if action is None else entry.model_copy(update={"action": plain(action)}))
    return tuple(written)


def _lines(meeting: Meeting, agent: AgentId) -> tuple[Line, ...]:
    said = meeting.heard(agent)
    return tuple(Line(message.t, message.sender, None, message.text) for message in said)
