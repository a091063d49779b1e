"""The protocol of Embodied (arXiv 2403.12482): agents talk, then act, at every step, in a team that is organised.

In a communication round the agents speak in turn: in private to teammates, and to all at once. Messages take no time
by the method's own rule. Then all choose an action at the same time. What was said can be read until the step after it,
the last message of each agent for longer; which tasks agents said they take, and what was asked of whom, stays known
until it is over. Nothing runs for longer than a step unless its agent chooses the same again. Who leads is a matter of
the organisation: nobody, the first agent, the first two, or whom the agents elect; between episodes a critic and a
coordinator may choose another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import AgentId, Entity, GoalId, plain
from teamworld.memory.contract import MemoryDelta
from teamworld.methods.common.answers import meant
from teamworld.methods.common.commitments import Announcements, commit_to
from teamworld.methods.common.knowledge import AgentKnowledge, Line, Teammate
from teamworld.methods.common.mentions import names_open, unknown_names
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.single_action import aims_of, confirm_goal, decide_action, translate_action
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Briefing, Decision, DecisionContext, Message, Method
from teamworld.methods.embodied.options import VARIANTS, EmbodiedOptions
from teamworld.methods.embodied.organisations import MUTE, Organisation, organise
from teamworld.methods.embodied.questions import Decide, Elect, Request, Speak, Talk
from teamworld.methods.embodied.reflection import (
    COORDINATOR,
    CRITIC,
    Coordinate,
    Criticise,
    read_records,
    record_episode,
)
from teamworld.reasoning.prompts import plural
from teamworld.record import Event, QuestionSkipped
from teamworld.worlds.contract import Outcome, View

#: Messages that could not be sent of which the speaker is told: an answer may hold any number.
TOLD = 10
#: Older messages that can still be read: at most ``NEW`` of things that the reader has not found itself, then the last
#: of each agent about what is not over, then the last of each.
KEPT, NEW = 4, 2
#: Messages of things not found that are remembered, the last of all: as things are found, older ones are read again.
REMEMBERED = 20
#: New things that an agent is told of by name.
NAMED = 3


class _News(NamedTuple):
    """What an agent reacts to by speaking."""

    heard: int
    """Messages so far."""
    last: Outcome | None
    """What it did last."""
    goals: tuple[tuple[GoalId, str, int], ...]
    """What it knows of them: their states, and how many agents they take."""
    things: frozenset[Entity | AgentId]
    """What things and agents it knows of."""
    ignored: tuple[str, ...]
    """What of its last answer could not be sent."""
    leader: AgentId | None


class Embodied(Method):
    """Agents that talk at every step, in a team with leaders or without."""

    name = "embodied"
    summary = "Embodied: each step a round of private and public talk, then one action each; with leaders or without"
    options = EmbodiedOptions
    _options: EmbodiedOptions
    questions = (Speak, Decide, Elect, Criticise, Coordinate, Perceive, Translate)
    respondents = (CRITIC, COORDINATOR)
    learns = True
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Nobody has said anything."""
        self._turns = {agent: turn for turn, agent in enumerate(briefing.agents)}
        self._spec, self._domain, self._agents = briefing.spec, briefing.domain, briefing.agents
        self._records = read_records(briefing.memory.reports) if self._options.reflect else ()
        self._chosen: Organisation | None = None
        self._leader: AgentId | None = None
        self._elected = 0
        self._aims: dict[AgentId, GoalId | None] = {}
        self._lines: defaultdict[AgentId, list[Line]] = defaultdict(list)
        self._last: defaultdict[AgentId, dict[AgentId, Line]] = defaultdict(dict)
        self._told: defaultdict[AgentId, dict[AgentId, Line]] = defaultdict(dict)
        self._new: defaultdict[AgentId, list[Line]] = defaultdict(list)
        self._heard: defaultdict[AgentId, set[int]] = defaultdict(set)
        self._ignored: defaultdict[AgentId, tuple[str, ...]] = defaultdict(tuple)
        self._announced: defaultdict[AgentId, Announcements] = defaultdict(Announcements)
        self._requests: defaultdict[AgentId, dict[tuple[AgentId, AgentId], Request]] = defaultdict(dict)
        self._committed: dict[AgentId, GoalId | None] = {}
        self._sent: dict[tuple[AgentId, int, str], tuple[GoalId, ...]] = {}
        self._private: set[tuple[AgentId, int, str]] = set()
        self._news: dict[AgentId, _News] = {}

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Everybody decides at every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let those who can act talk in turn, then choose their actions all at once."""
        scenes = await describe_views(context, self._options.perceive, context.free, self._domain, self._spec)
        await self._reflect(context)
        if self._options.rounds:
            await self._elect(context, scenes)
        for number in range(1, self._options.rounds + 1):
            for agent in context.free:
                await self._speak(context, agent, number, scenes)
        done = await context.together({agent: self._act(context, agent, scenes) for agent in context.free})
        self._aims |= aims_of(done)
        return done

    # ---- the organisation

    async def _reflect(self, context: DecisionContext) -> None:
        """Choose the organisation by the records of earlier episodes, once, before anybody talks."""
        if self._options.rounds and (records := self._records):
            self._records = ()
            criticism = await context.ask(Criticise(CRITIC, {}, self._spec, records))
            chosen = await context.ask(Coordinate(COORDINATOR, {}, self._spec, records, criticism))
            self._chosen = Organisation(chosen.text, chosen.leaders)

    def _organisation(self, context: DecisionContext) -> Organisation:
        if not self._options.rounds:
            return MUTE
        if self._chosen is not None:
            return self._chosen
        team = [agent for agent in self._agents if agent in context.team]
        return organise(self._options.organisation, team, self._leader)

    async def _elect(self, context: DecisionContext, scenes: Mapping[AgentId, str]) -> None:
        """Hold an election where there is no leader that can act, or its term is over."""
        if (
            self._chosen is not None
            or self._options.organisation != "elected"
            or len(context.views) < 2
            or not context.free
        ):
            return
        able = [agent for agent, view in context.views.items() if view.is_able]
        if self._leader in able and context.t - self._elected < self._options.term:
            return
        votes = Counter[AgentId]()
        for agent in context.free:
            vote = await context.ask(
                Elect(agent, *self._shown(context, agent, scenes), leader=self._leader, term=self._options.term)
            )
            text = f"I vote for {vote.leader}{f': {vote.reason}' if meant(vote.reason) else '.'}"
            if not vote.leader:
                text = f"{agent} did not vote."
            elif vote.leader in able:
                votes[vote.leader] += 1
            context.post(Message(agent, "other", text))
            self._lines[agent].append(Line(context.t, agent, None, text))
        standing = self._leader if self._leader in able else context.free[0]
        self._leader, self._elected = votes.most_common(1)[0][0] if votes else standing, context.t

    # ---- talk

    async def _speak(
        self, context: DecisionContext, agent: AgentId, number: int, scenes: Mapping[AgentId, str]
    ) -> None:
        """Ask an agent what it says, unless it is alone or knows nothing that it did not know when it spoke last."""
        me = self._knows(context, agent, scenes)
        news = self._known_now(context, agent)
        last = self._news.get(agent)
        cause = "alone" if not me.team else "nothing new" if last == news else ""
        if not context.may_speak(agent):
            cause = "no message left"
        if not cause and last is not None and last.heard == news.heard and _is_agreed(me):
            cause = "all are at the one task"
        if cause:
            context.note(QuestionSkipped(agent=agent, purpose=Speak.kind, cause=cause))
            return
        shown = self._shown(context, agent, scenes)
        new = "" if last is None else _describe_news(last, news)
        talk = await context.ask(Speak(agent, *shown, number, self._options.rounds, self._ignored[agent], new))
        self._say(context, agent, talk)
        self._news[agent] = news

    def _known_now(self, context: DecisionContext, agent: AgentId) -> _News:
        """Return what makes an agent speak again when it changes; what it began or stopped itself is no news."""
        view = context.views[agent]
        last = next((outcome for outcome in reversed(view.history) if not outcome.is_stopped), None)
        goals = tuple((goal.id, goal.state, goal.quorum) for goal in view.goals)
        held = (fact.value for fact in view.known)
        things = frozenset[Entity | AgentId](fact.subject for fact in view.known)
        things |= {thing for thing in held if isinstance(thing, Entity)}  # also what is in hands
        heard = len(self._heard[agent])
        return _News(heard, last, goals, things, self._ignored[agent], self._leader)

    def _say(self, context: DecisionContext, agent: AgentId, talk: Talk) -> None:
        """Send what has words and somebody to hear it; the agent is told of the rest when it speaks next."""
        own = [context.views[agent]]
        goals = tuple(goal for goal in dict.fromkeys(talk.goals) if confirm_goal(goal, own) is not None)
        teammates = [teammate for teammate in context.views if teammate != agent]
        ignored, sent = dict[str, None](), set[AgentId]()
        for private in talk.private:
            if not meant(private.text) and private.goal is None:
                continue
            why = "that is yourself" if private.to == agent else "there is no such teammate"
            if private.to in sent:
                why = "one private message at a time, the first was sent"
            if private.to not in teammates or private.to in sent:
                ignored[f"to {private.to}: {why}"] = None
                continue
            sent.add(private.to)
            asked = confirm_goal(private.goal, own)
            text = _with_words(private.text, f"Please take {asked}.", (asked,) if asked is not None else ())
            if asked is not None:
                request = Request(agent, private.to, asked, context.t)
                self._requests[agent][agent, private.to] = request
            context.post(Message(agent, "request" if asked else "inform", text, asked, recipients=(private.to,)))
            self._private.add((agent, context.t, text))
            self._keep(agent, Line(context.t, agent, (private.to,), text), own[0])
        text = _with_words(talk.everybody, f"I take {', then '.join(goals)}.", goals)
        if text and teammates:
            self._sent[agent, context.t, text] = goals
            context.post(Message(agent, "inform", text, goals[0] if goals else None))
            self._keep(agent, Line(context.t, agent, None, text), own[0])
            self._announced[agent].hear(agent, goals, context.t)
            first = goals[0] if goals else None
            self._committed[agent] = commit_to(context, agent, self._committed.get(agent), first)
        self._ignored[agent] = tuple(ignored)[:TOLD]

    def _keep(self, agent: AgentId, line: Line, view: View) -> None:
        """Keep what an agent said or heard: of each the last, and the last about what is open; what is new to it."""
        self._lines[agent].append(line)
        self._last[agent][line.sender] = line
        if names_open(line.text, view.goals):
            self._told[agent][line.sender] = line
        if line.sender != agent:
            self._new[agent].append(line)

    # ---- acting

    async def _act(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> Decision:
        view, me = context.views[agent], self._knows(context, agent, scenes)
        running = context.running.get(agent)
        if len(me.options) == 1:
            context.note(QuestionSkipped(agent=agent, purpose=Decide.kind, cause="one option"))
            return decide_action(me.options[0].action, view, running, me.options[0].goal, "one option", infer=False)
        answer = await context.ask(Decide(agent, *self._shown(context, agent, scenes)))
        action = await translate_action(context, me, answer.action, self._options.translate)
        return decide_action(action, view, running, confirm_goal(answer.goal, [view]), "chosen", infer=False)

    # ---- what an agent knows

    def _shown(
        self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]
    ) -> tuple[dict[AgentId, View], AgentKnowledge, Organisation, tuple[Request, ...], GoalId | None, int, int | None]:
        """Return what every question to an agent begins with."""
        again = self._elected + self._options.term
        is_elected = self._chosen is None and self._options.organisation == "elected" and self._leader is not None
        votes_again = is_elected and again < context.t + context.views[agent].steps_left
        return (
            {agent: context.views[agent]},
            self._knows(context, agent, scenes),
            self._organisation(context),
            self._asked(context, agent),
            self._aims.get(agent),
            self._options.remember,
            again if votes_again else None,
        )

    def _knows(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> AgentKnowledge:
        lines, view = self._read(context, agent), context.views[agent]
        standing = self._announced[agent].standing(view, context.team)
        team, own = [], standing.get(agent)
        for teammate in context.team:
            said = standing.get(teammate)
            if said is not None and teammate != agent:
                team.append(
                    Teammate(teammate, self._spec.kinds[teammate], "", said.goals[0], said.said, said.goals[1:])
                )
            elif teammate != agent:
                team.append(Teammate(teammate, self._spec.kinds[teammate]))
        return AgentKnowledge(
            view,
            self._domain,
            self._spec,
            team=tuple(team),
            running=context.running.get(agent),
            commitment=own.goals[0] if own is not None else None,
            announced=own.said if own is not None else None,
            then=own.goals[1:] if own is not None else (),
            said=lines,
            scene=scenes.get(agent),
        )

    def _asked(self, context: DecisionContext, agent: AgentId) -> tuple[Request, ...]:
        """Return what was asked of an agent, and it of others, without what it knows to be over."""
        over = {goal.id for goal in context.views[agent].goals if goal.state != "open"}
        requests = self._requests[agent]
        for key, request in list(requests.items()):
            if request.goal in over or request.sender not in context.team or request.to not in context.team:
                del requests[key]
        return tuple(requests.values())

    def _read(self, context: DecisionContext, agent: AgentId) -> tuple[Line, ...]:
        """Return what an agent said and heard and can still read.

        That is this step's talk and that of the last steps, and before it some messages of each agent: the last about
        a task or thing that is not over as far as the reader knows, and the last of each who was silent.
        """
        lines, heard = self._lines[agent], self._heard[agent]
        new = [message for message in context.inbox(agent) if message.id not in heard and message.sender != agent]
        for message in new:
            heard.add(message.id)
            alone = [recipient for recipient in message.recipients or () if recipient != message.sender] == [agent]
            is_private = (message.sender, message.t, message.text) in self._private or len(context.views) > 2
            line = Line(message.t, message.sender, (agent,) if alone and is_private else None, message.text)
            if message.act == "other":
                lines.append(line)  # a vote
            else:
                self._keep(agent, line, context.views[agent])
            if message.act == "request" and message.goal is not None:
                request = Request(message.sender, agent, message.goal, message.t)
                self._requests[agent][message.sender, agent] = request
                continue
            only = (message.goal,) if message.goal is not None else ()
            goals = self._sent.get((message.sender, message.t, message.text), only)
            self._announced[agent].hear(message.sender, goals, message.t)
        if any(message.t < context.t for message in new):  # late: own words may have been said before it, or after
            lines.sort(key=lambda line: (line.step, self._turns.get(line.sender, 0)))
        lines[:] = [line for line in lines if context.t - line.step <= self._options.remember]
        view = context.views[agent]
        is_new = unknown_names(view.known, view.goals)
        self._new[agent] = [line for line in self._new[agent] if is_new(line.text)][-REMEMBERED:]
        new_lines = [line for line in reversed(self._new[agent]) if line.sender in context.team][:NEW]
        open_lines = [line for sender, line in self._told[agent].items() if sender in context.team]
        last = [line for sender, line in self._last[agent].items() if sender in context.team]
        open_lines = sorted(
            (line for line in open_lines if names_open(line.text, view.goals)), key=lambda line: -line.step
        )
        last.sort(key=lambda line: -line.step)
        old = [line for line in dict.fromkeys((*new_lines, *open_lines, *last)) if line not in lines][:KEPT]
        return (*sorted(old, key=lambda line: (line.step, self._turns.get(line.sender, 0))), *lines)

    def learns_in(self, episode: int) -> bool:
        """Where it criticises and reflects, always."""
        return self._options.reflect

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Return the record of an episode and its costs; None where nobody criticises."""
        return record_episode(log, self._options.organisation, self._options.rounds) if self._options.reflect else None


def _is_agreed(me: AgentKnowledge) -> bool:
    """Return whether there is one task, everybody has said that it takes it, and all know the same."""
    tasks = {goal.id for goal in me.goals}
    return me.spec.memory == "team" and tasks == {me.commitment, *(teammate.commitment for teammate in me.team)}


def _describe_news(before: _News, current: _News) -> str:
    """Return what is new to an agent since it was last asked to speak, in words."""
    words = [plural(current.heard - before.heard, "message")] if current.heard != before.heard else []
    if current.last != before.last and current.last is not None:
        words.append(f"{plain(current.last.action)} {current.last.ending}")
    known = {goal: entry for goal, *entry in before.goals}
    for goal, state, quorum in current.goals:
        if known.get(goal) != [state, quorum]:
            at_once = f" and takes {quorum} agents at once" if state == "open" and quorum > 1 else ""
            words.append(f"{goal} is {'new' if state == 'open' and goal not in known else state}{at_once}")
    new_things = sorted(plain(thing) for thing in current.things - before.things)
    if new_things:
        words.append(f"{', '.join(new_things[:NAMED])}{' and more' if len(new_things) > NAMED else ''} first seen")
    if current.leader != before.leader and current.leader is not None:
        words.append(f"{current.leader} leads")
    return "; ".join(words)


def _with_words(text: str, words: str, goals: Collection[GoalId]) -> str:
    """Return a message that names its goals: what is sent is what is counted; empty where there is nothing to say."""
    text = meant(text)
    if all(goal in text for goal in goals):
        return text
    return f"{text} {words}".strip()
