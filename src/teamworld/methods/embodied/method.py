"""The protocol of Embodied (arXiv 2403.12482) as CREW-Wildfire runs it, leaderless: talk, then act, at every step.

In a communication round the agents speak in turn: in private to teammates, and to all at once. Messages take no time
by the method's own rule. Then all choose an action at the same time. What was said can be read until the step after it.
Nothing runs for longer than a step unless its agent chooses the same again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from teamworld.language import AgentId, GoalId
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.prompt_context import team_by_kind
from teamworld.methods.common.single_action import aims_of, confirm_goal, decide_action, translate_action
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Briefing, Decision, DecisionContext, Message, Method
from teamworld.methods.embodied.options import VARIANTS, EmbodiedOptions
from teamworld.methods.embodied.questions import Decide, DialogueRecord, Line, Speak, Talk

#: Messages that could not be sent of which the speaker is told: an answer may hold any number.
TOLD = 10


class Embodied(Method):
    """Agents without a leader, that talk at every step."""

    name = "embodied"
    summary = "Embodied: no leader; each step a round of private and public talk, then one action each"
    options = EmbodiedOptions
    _options: EmbodiedOptions
    questions = (Speak, Decide, Perceive, Translate)
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Nobody has said anything."""
        self._turns = {agent: turn for turn, agent in enumerate(briefing.agents)}
        self._spec, self._domain = briefing.spec, briefing.domain
        self._aims: dict[AgentId, GoalId | None] = {}
        self._lines: defaultdict[AgentId, list[Line]] = defaultdict(list)
        self._heard: defaultdict[AgentId, set[int]] = defaultdict(set)
        self._ignored: defaultdict[AgentId, tuple[str, ...]] = defaultdict(tuple)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Everybody decides at every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let those who can act talk in turn, then choose their actions all at once."""
        scenes = await describe_views(context, self._options.perceive, context.free)
        rounds = self._options.rounds
        for number in range(1, rounds + 1):
            for agent in context.free:
                views, record = {agent: context.views[agent]}, self._record(context, agent, scenes)
                talk = await context.ask(Speak(agent, views, record, number, rounds, self._ignored[agent]))
                self._say(context, agent, talk)
        done = await context.together({agent: self._act(context, agent, scenes) for agent in context.free})
        self._aims |= aims_of(done)
        return done

    def _say(self, context: DecisionContext, agent: AgentId, talk: Talk) -> None:
        """Send what has words and somebody to hear it; the agent is told of the rest when it speaks next."""
        goal, teammates = (
            confirm_goal(talk.goal, [context.views[agent]]),
            [teammate for teammate in context.views if teammate != agent],
        )
        ignored, sent = dict[str, None](), set[AgentId]()
        for private in talk.private:
            if not private.text.strip():
                continue
            why = "that is yourself" if private.to == agent else "there is no such team-mate"
            if private.to in sent:
                why = "one private message at a time, the first was sent"
            if private.to not in teammates or private.to in sent:
                ignored[f"to {private.to}: {why}"] = None
                continue
            sent.add(private.to)
            context.post(Message(agent, "inform", private.text, goal, recipients=(private.to,)))
            self._lines[agent].append(Line(context.t, agent, private.to, private.text, goal))
        if talk.everybody.strip() and teammates:
            context.post(Message(agent, "inform", talk.everybody, goal))
            self._lines[agent].append(Line(context.t, agent, None, talk.everybody, goal))
        self._ignored[agent] = tuple(ignored)[:TOLD]

    async def _act(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> Decision:
        views, record = {agent: context.views[agent]}, self._record(context, agent, scenes)
        answer = await context.ask(Decide(agent, views, record))
        action = await translate_action(context, agent, answer.action, self._domain, self._options.translate)
        goal = confirm_goal(answer.goal, [context.views[agent]])
        return decide_action(action, context.views[agent], context.running.get(agent), goal, "chosen")

    def _record(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> DialogueRecord:
        """Return what both questions show an agent beside its view."""
        return DialogueRecord(
            domain=self._domain,
            team=team_by_kind(self._spec, context.views),
            scenes=scenes,
            aim=self._aims.get(agent),
            past=self._options.past,
            running=context.running.get(agent),
            lines=self._read(context, agent),
        )

    def _read(self, context: DecisionContext, agent: AgentId) -> tuple[Line, ...]:
        """Return what an agent said and heard and can still read: this step's talk, and that of the last steps."""
        lines, heard = self._lines[agent], self._heard[agent]
        new = [message for message in context.inbox(agent) if message.id not in heard and message.sender != agent]
        for message in new:
            heard.add(message.id)
            alone = [recipient for recipient in message.recipients or () if recipient != message.sender] == [agent]
            to = agent if alone and len(context.views) > 2 else None
            lines.append(Line(message.t, message.sender, to, message.text, message.goal))
        if any(message.t < context.t for message in new):  # late: own words may have been said before it, or after
            lines.sort(key=lambda line: (line.t, self._turns.get(line.sender, 0)))
        lines[:] = [line for line in lines if context.t - line.t <= self._options.remember]
        return tuple(lines)
