"""What is asked in the four frameworks: of the planner a plan for all, of an agent what it thinks, or its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from teamworld.language import Action, AgentId, GoalId, Plan, plain
from teamworld.methods.common.answers import Reasoned, meant
from teamworld.methods.common.knowledge import AgentKnowledge, AgentQuestion
from teamworld.methods.common.single_action import (
    action_error,
    offer_values,
    perturb_action,
    read_act,
    write_act,
)
from teamworld.methods.common.team_record import TeamRecord
from teamworld.methods.hmas.plans import Assigned, TeamPlan, assign, find_objection
from teamworld.planning.action_parser import action_text
from teamworld.planning.allocation import choose_step
from teamworld.reasoning.contract import Question, RespondentId, Sampling
from teamworld.reasoning.untrusted_text import quoted

#: The reasoner without a body that plans for all.
PLANNER: RespondentId = "planner"
#: Rounds of a step that the planner is shown again: the published conversation holds eight messages.
SHOWN = 3
_RECORD = "stands of each agent in the record of the whole team (Chen et al., central planner)"


class Opinion(Reasoned):
    """What an agent thinks of its part in the plan."""

    accept: bool = Field(description="whether you accept your action")
    critique: str = Field(
        default="", description="if not: what is wrong with it, in one or two sentences; else empty", max_length=600
    )
    goal: GoalId | None = Field(default=None, description="if not: id of the task that you would rather serve, or null")
    action: str = Field(default="", description="if not: the action that you would take instead, or empty")


class Round(NamedTuple):
    """A plan of this step, and what the agents said of it."""

    plan: TeamPlan
    opinions: Mapping[AgentId, Opinion]


def write_action(text: str, me: AgentKnowledge) -> str:
    """Return the action that a text means to an agent for a prompt: in written form, else the text as a quotation."""
    action = read_act(text, me, listed=False)
    if action is None:
        return quoted(text, 200)
    return f"{'go on with ' if action == me.doing else ''}`{plain(action)}`"


@dataclass(frozen=True)
class PlanAll(Question[TeamPlan]):
    """What does every agent do next?"""

    record: TeamRecord
    rounds: tuple[Round, ...] = ()
    """The plans of this step so far; the last was not accepted by all."""
    ignored: tuple[str, ...] = ()
    """What of the last plan could not be used."""
    most: int = 1
    """Plans of a step; the last is carried out."""
    earlier: str = ""
    """The planner's reasons for the plan of the step before."""

    kind = "hmas2.plan"
    template = "hmas/prompts/plan.md.j2"
    answer = TeamPlan
    sampling = Sampling(temperature=0.0, max_tokens=3000)
    departures = MappingProxyType(
        {
            "who": "the planner has no body (Chen et al., central planner)",
            **dict.fromkeys(("situation", "team", "own", "options", "tasks"), _RECORD),
            "said": "agents speak to the planner in their feedback alone (Chen et al., HMAS-2)",
        }
    )

    def context(self) -> dict[str, Any]:
        """The question; mission and rules of the world are those that every agent knows."""
        return {"q": self, "me": self.record.first}

    @property
    def turn(self) -> str:
        """When the planner is asked, in words."""
        return "At every step you give each agent one action."

    @property
    def then(self) -> str:
        """What becomes of the plan, in words."""
        if self.most == 1:
            return "Your plan is carried out as it is."
        last = f"Of up to {self.most} plans of a step the last is carried out even if somebody objects."
        return f"Agents judge your plan; where one objects, make a better one. {last}"

    def rather(self, agent: AgentId, opinion: Opinion) -> str:
        """Return what an agent would rather do, in words."""
        member = self.record.of(agent)
        return quoted(opinion.action, 200) if member is None else write_action(opinion.action, member.me)

    @property
    def shown(self) -> Sequence[Round]:
        """The rounds that are shown again."""
        return self.rounds[-SHOWN:]

    def rule(self, rng: np.random.Generator) -> TeamPlan:
        """Allocate the tasks, without what agents cannot do; what they would rather do they do, one to a place."""
        barred: list[tuple[AgentId, Action]] = []
        rather: dict[AgentId, Plan] = {}
        for plan, opinions in self.shown:
            for agent, opinion in opinions.items():
                entry, member = plan.of(agent), self.record.of(agent)
                if opinion.accept or member is None:
                    continue
                action = None if entry is None else read_act(entry.action, member.me, listed=False)
                better = read_act(opinion.action, member.me, listed=False) if opinion.action else None
                if better is not None and self._has_place(opinion.goal, rather):
                    rather[agent] = Plan((better,), opinion.goal)
                if action is not None and (better is None or entry is None or opinion.goal in (None, entry.goal)):
                    barred.append((agent, action))
        rather = {agent: plan for agent, plan in rather.items() if (agent, plan.actions[0]) not in barred}
        steps = self.record.allocate([agent for agent in self.record.open if agent not in rather], barred, rather)
        kept = (Assigned(agent=name, goal=plan.goal, action=plain(plan.actions[0])) for name, plan in rather.items())
        entries = {entry.agent: entry for entry in (*kept, *assign(steps))}
        return TeamPlan(actions=tuple(entries[agent] for agent in self.record.open))

    def _has_place(self, goal_id: GoalId | None, taken: Mapping[AgentId, Plan]) -> bool:
        goal = None if goal_id is None else self.record.goals.get(goal_id)
        return goal is None or sum(plan.goal == goal_id for plan in taken.values()) < goal.capacity

    def check(self, answer: TeamPlan) -> str | None:
        """At least one of the agents has an action; who is left out does nothing for a step."""
        for agent in self.record.open:
            entry = answer.of(agent)
            if entry is not None and action_text(meant(entry.action)):
                return None
        return f"name exactly one action for each of {', '.join(self.record.open)}"

    def fallback(self) -> TeamPlan:
        """All go on with what they do; who does nothing has no action."""
        doing = {member.me.agent: member.me.running for member in self.record.members if member.is_open}
        return TeamPlan(
            actions=tuple(
                Assigned(agent=agent, goal=plan.goal, action=plain(plan.actions[0]))
                for agent, plan in doing.items()
                if plan is not None and plan.actions
            )
        )

    def perturb(self, answer: TeamPlan, rng: np.random.Generator) -> TeamPlan:
        """Forget an agent, or give it another of its options."""
        if not answer.actions:
            return answer
        index = int(rng.integers(len(answer.actions)))
        entry, actions = answer.actions[index], list(answer.actions)
        if rng.random() < 0.5:
            del actions[index]
        else:
            actions[index] = perturb_action(entry, entry.action, self.views[entry.agent], rng)
        return TeamPlan(actions=tuple(actions))


@dataclass(frozen=True)
class CmasPlan(PlanAll):
    """What does every agent do next? Nobody is heard on it."""

    runs_on: bool = False
    """Whether the planner is asked when an agent has nothing to do, and not at every step."""

    kind = "cmas.plan"

    @property
    def turn(self) -> str:
        """At every step, or when an agent is free."""
        if not self.runs_on:
            return super().turn
        return (
            "Whenever an agent has nothing to do you give it one action; at some other steps you are asked for one for "
            "each agent."
        )


@dataclass(frozen=True)
class Hmas1Plan(PlanAll):
    """What may every agent do next? The agents talk it over."""

    kind = "hmas1.plan"

    @property
    def then(self) -> str:
        """The dialogue."""
        return "The agents then talk your plan over, in turns, and may change it."


@dataclass(frozen=True)
class Judge(AgentQuestion[Opinion]):
    """Do I accept what the plan has for me?"""

    record: TeamRecord
    """What the others know; of nobody where agents see their own views alone."""
    plan: TeamPlan
    before: tuple[tuple[Assigned | None, Opinion], ...] = ()
    """Its parts in the plans of this step that were not accepted by all, and what it said of them."""

    kind = "hmas2.feedback"
    template = "hmas/prompts/feedback.md.j2"
    answer = Opinion
    sampling = Sampling(temperature=0.0, max_tokens=1500)
    departures = MappingProxyType({"said": "agents do not speak to one another (Chen et al., HMAS-2)"})

    @property
    def part(self) -> Assigned | None:
        """What the plan has for the agent."""
        return self.plan.of(self.respondent)

    def written(self, text: str) -> str:
        """Return the action that a text means, for the prompt."""
        return write_action(text, self.me)

    def rule(self, rng: np.random.Generator) -> Opinion:
        """Object to what cannot work by its own view, and where something else is clearly worth more."""
        objection = find_objection(self.me, self.plan)
        if objection is None:
            return Opinion(accept=True)
        better = objection.better
        return Opinion(accept=False, critique=objection.reason[:600], goal=better.goal, action=plain(better.action))

    def in_writing(self, answer: Opinion) -> Opinion:
        """Return an answer that names the action to take instead as everybody reads it."""
        return answer.model_copy(update={"action": write_act(answer.action, self.me)}) if answer.action else answer

    def check(self, answer: Opinion) -> str | None:
        """Who does not accept says why; what it would do instead can start."""
        if answer.accept:
            return None
        if not meant(answer.critique):
            return "say what is wrong with your action, or accept it"
        return action_error(answer.action, self.me) if meant(answer.action) else None

    def fallback(self) -> Opinion:
        """The plan stands."""
        return Opinion(accept=True)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Yes or no; the options and the tasks."""
        return (True, False) if field == "accept" else offer_values(field, self.view)

    def perturb(self, answer: Opinion, rng: np.random.Generator) -> Opinion:
        """Object to what is sound, or accept what is not."""
        return Opinion(accept=not answer.accept, critique="I would rather do something else." if answer.accept else "")


class TurnAnswer(Reasoned):
    """What an agent says in its turn."""

    text: str = Field(default="", description="what you say to all, in a sentence or two; may be empty", max_length=600)
    actions: tuple[Assigned, ...] = Field(
        default=(), description="the actions that you propose, yours or others' too; none to leave all as it stands"
    )
    final: bool = Field(
        default=False, description="true ends the talk: what then stands proposed is carried out, your actions included"
    )


@dataclass(frozen=True)
class DmasTurn(AgentQuestion[TurnAnswer]):
    """What do I say in my turn: who does what, and is it settled?"""

    record: TeamRecord
    """What all know; of nobody where agents see their own views alone."""
    members: tuple[AgentId, ...]
    """Who talks, in the order of the turns."""
    standing: TeamPlan
    """What stands proposed, as far as the agent heard: of each agent the last."""
    waiting: tuple[AgentId, ...]
    """Who has had no turn yet, the agent itself included."""
    turns_left: int
    """This one included."""
    reasons: str = ""
    """Those of the planner for what it proposed first."""

    kind = "dmas.turn"
    template = "hmas/prompts/turn.md.j2"
    answer = TurnAnswer
    sampling = Sampling(temperature=0.0, max_tokens=1500)
    opening: ClassVar[str] = ""
    """How the talk began, in words."""

    @property
    def others(self) -> TeamRecord:
        """What the others know."""
        return self.record.without(self.me)

    @property
    def unheard(self) -> tuple[AgentId, ...]:
        """Who else has had no turn yet."""
        return tuple(agent for agent in self.waiting if agent != self.respondent)

    @property
    def missing(self) -> tuple[AgentId, ...]:
        """Who has no action among those that stand."""
        return tuple(agent for agent in self.members if self.standing.of(agent) is None)

    def rule(self, rng: np.random.Generator) -> TurnAnswer:
        """Propose for all where one sees all and nothing stands, else for oneself; end it when all fits together."""
        proposed, text = self._proposal()
        named = {entry.agent: entry for entry in (*self.standing.actions, *proposed)}
        whole = all(agent in named for agent in self.members) and not self.unheard and self._fits(named)
        return TurnAnswer(text=text, actions=proposed, final=whole or self.turns_left == 1)

    def _proposal(self) -> tuple[tuple[Assigned, ...], str]:
        me = self.me
        if not self.standing.actions and self.record.members:
            return assign(self.record.allocate(self.members)), ""
        own = self.standing.of(me.agent)
        if own is not None:
            objection = find_objection(me, self.standing)
            if objection is None:
                return (), "Agreed."
            return assign({me.agent: objection.better}), objection.reason[:600]
        staffed = Counter(entry.goal for entry in self.standing.actions if entry.goal is not None)
        unsaid = sum(agent != me.agent for agent in self.missing)
        step = choose_step(me.view, me.domain, staffed, unsaid, me.running, me.commitment)
        chosen = assign({me.agent: step})
        objection = find_objection(me, TeamPlan(actions=(*self.standing.actions, *chosen)))
        if objection is None or unsaid:
            return chosen, ""
        return assign({me.agent: objection.better}), ""

    def _fits(self, named: Mapping[AgentId, Assigned]) -> bool:
        """Return whether no task that the agent knows of has fewer agents than it takes at once."""
        staff = Counter(entry.goal for entry in named.values())
        return all(not 0 < staff[goal.id] < goal.quorum for goal in self.me.goals)

    def check(self, answer: TurnAnswer) -> str | None:
        """Proposals are for agents who talk; the own one can start; who ends the talk leaves nobody out."""
        for entry in answer.actions:
            if entry.agent not in self.members:
                return f"there is no agent '{entry.agent[:80]}' in this talk; there are: {', '.join(self.members)}"
            if not meant(entry.action):
                return f"name one action for {entry.agent}"
            if entry.agent == self.respondent and (error := action_error(entry.action, self.me)) is not None:
                return error
        if self.turns_left == 1 and not answer.final:
            return "this is the last turn: end the talk (final: true)"
        left = [agent for agent in self.missing if all(entry.agent != agent for entry in answer.actions)]
        if answer.final and left:
            return f"nobody has proposed an action for {', '.join(left)}: name one for each before you end the talk"
        return None

    def fallback(self) -> TurnAnswer:
        """It says nothing; the last turn ends the talk with what stands."""
        return TurnAnswer(final=self.turns_left == 1)

    def perturb(self, answer: TurnAnswer, rng: np.random.Generator) -> TurnAnswer:
        """Forget a proposal, or take another of the agent's own options in place of what it proposes or accepts."""
        rest = tuple(entry for entry in answer.actions if entry.agent != self.respondent)
        forgets = len(rest) < len(answer.actions) and not answer.final and rng.random() < 0.5
        mine = TeamPlan(actions=(*answer.actions, *self.standing.actions)).of(self.respondent)
        other = () if forgets or mine is None else (perturb_action(mine, mine.action, self.view, rng),)
        return answer.model_copy(update={"actions": (*rest, *other)})


@dataclass(frozen=True)
class Hmas1Turn(DmasTurn):
    """What do I say to the planner's plan, and is it settled?"""

    kind = "hmas1.turn"
    opening = "A planner who knows what all know proposed the first actions. "
