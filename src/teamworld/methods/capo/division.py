"""How a team divides its work into a meta-plan, by what one agent knows: the rule of the designer.

Agents that fetch things with several hands get, one after the other, the fetch or the look that is worth most a step;
what one gets no other does, and what is expected of each action counts for those after it. Other agents get tasks by
the allocation that all methods share, and who is in no task's need looks around, each somewhere else. An agent of whom
it is not known where it is counts as standing where the one who divides stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from teamworld.language import Action, AgentId, Fact, Facts, GoalId, Term, plain
from teamworld.methods.capo.following import commitments, is_open, is_settled, read_item
from teamworld.methods.capo.meta_plan import STEPS, MetaPlan, PlanItem
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.planning.allocation import PERSISTENCE, allocate_goals
from teamworld.planning.candidates import CandidateStep, find_steps, foresee_steps
from teamworld.planning.fetch import FetchOption, fetch_options, missing_things
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts, Option

#: Actions of an agent in one step of a meta-plan, where things are fetched: a step may hold several.
ROUNDS: Final = 2


# ---- the designer


def divide_work(
    me: DialogueKnowledge, members: Sequence[AgentId], before: MetaPlan = (), proposed: MetaPlan = ()
) -> MetaPlan:
    """Return a meta-plan; whoever has nothing to do in it waits.

    Args:
        me: What the agent knows that divides the work.
        members: The agents that it is for.
        before: The meta-plan so far: whoever is at something by it rather keeps it.
        proposed: What others proposed: it comes first, in its steps.
    """
    table = _Table(me, members, commitments(before, me), place_all(me, members), _first_actions(before, me))
    divide = _divide_fetching if me.words.hands > 1 else _divide_goals
    items = list(divide(table, [item for item in proposed if item.agent in members and _may_be_open(item, me)]))
    idle = [agent for agent in members if not any(item.agent == agent for item in items)]
    items += [PlanItem(step=1, agent=agent, action=plain(WAIT)) for agent in idle]
    return tuple(sorted(items, key=lambda item: (item.step, members.index(item.agent))))


def _may_be_open(item: PlanItem, me: DialogueKnowledge) -> bool:
    """Return whether a proposal is still to be done: who proposes it may know of a task that one does not know of."""
    return is_open(item, me) or (item.goal is not None and item.goal not in me.all_goals)


@dataclass(frozen=True)
class _Table:
    """What is divided among whom."""

    me: DialogueKnowledge
    members: Sequence[AgentId]
    at: Mapping[AgentId, GoalId]
    """The task that each is at by the meta-plan so far."""
    facts: Facts
    """What is known, with a place for every member."""
    doing: Mapping[AgentId, Action]
    """The action that each is at by the meta-plan so far."""

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return what an agent could do; nothing where the facts do not allow it to tell."""
        with suppress(ImpossibleFacts):
            return [option for option in self.me.domain.options(agent, facts) if option.action != WAIT]
        return ()

    @property
    def goals(self) -> Mapping[GoalId, Goal]:
        """The open goals."""
        return {goal.id: goal for goal in self.me.goals}

    @property
    def can_look(self) -> bool:
        """Whether there may be something to look for: not where the world says that nothing is unknown."""
        beliefs = self.me.domain.beliefs
        return beliefs is None or bool(beliefs.latent_variables(self.me.known))


def _without_waiting(goals: Mapping[GoalId, Goal]) -> dict[GoalId, Goal]:
    """Return the goals that wait for no other of them."""
    return {name: goal for name, goal in goals.items() if goals.keys().isdisjoint(goal.prerequisites)}


def _first_actions(plan: MetaPlan, me: DialogueKnowledge) -> dict[AgentId, Action]:
    first: dict[AgentId, Action] = {}
    for item in plan:
        action = read_item(item, me)
        if action is not None and is_open(item, me):
            first.setdefault(item.agent, action)
    return first


def place_all(me: DialogueKnowledge, members: Sequence[AgentId]) -> Facts:
    """Return what is known, with members of whom no place is known where the agent itself is."""
    words, known = me.words, me.known
    lost = [agent for agent in members if known.value(agent, words.at) is None]
    own = [fact for fact in known if fact.subject == me.agent and fact.predicate in (words.at, words.position)]
    return Facts((*known, *(Fact(agent, fact.predicate, fact.value) for agent in lost for fact in own)), known.seen)


# ---- with several hands


def _divide_fetching(table: _Table, proposed: Sequence[PlanItem]) -> Iterator[PlanItem]:
    me, facts, taken = table.me, table.facts, set[tuple[Term, ...]]()
    for number in range(STEPS * ROUNDS):
        step, doing = 1 + number // ROUNDS, table.doing if number == 0 else {}
        fixed = _given_actions(proposed, step, number % ROUNDS, me)
        chosen = _choose_round(table, facts, taken, fixed, doing)
        for agent, option in chosen.items():
            yield PlanItem(step=step, agent=agent, goal=option.goal, action=plain(option.action))
            if _is_exclusive(option.action, me):
                taken.add(option.action.args)
        for agent, option in chosen.items():
            with suppress(ImpossibleFacts):
                facts = me.domain.predict(agent, option.action, facts)


def _given_actions(
    proposed: Sequence[PlanItem], step: int, place: int, me: DialogueKnowledge
) -> dict[AgentId, PlanItem]:
    """Return what was proposed for each agent in a place of a step."""
    by_agent: dict[AgentId, list[PlanItem]] = {}
    for item in proposed:
        if item.step == step and read_item(item, me) is not None:
            by_agent.setdefault(item.agent, []).append(item)
    return {agent: items[place] for agent, items in by_agent.items() if place < len(items)}


def _choose_round(
    table: _Table,
    facts: Facts,
    taken: set[tuple[Term, ...]],
    fixed: Mapping[AgentId, PlanItem],
    doing: Mapping[AgentId, Action],
) -> dict[AgentId, Option]:
    """Return an action for each agent, what is worth most a step first; what several could do one does."""
    me = table.me
    wanted = missing_things(_without_waiting(table.goals).values(), facts, {}, me.words.held)
    offers = {agent: _rate_options(table, agent, facts, wanted) for agent in table.members}
    chosen, closed, left = dict[AgentId, Option](), set(taken), dict(wanted)

    def choose(agent: AgentId, option: Option, is_fetch: bool) -> None:
        chosen[agent] = option
        if _is_exclusive(option.action, me):
            closed.add(option.action.args)
        if is_fetch and option.goal is not None:
            left[option.goal] = left.get(option.goal, 0) - 1

    for agent, item in fixed.items():
        action = read_item(item, me)
        rated = next((offer for offer in offers[agent] if offer.option.action == action), None)
        if rated is not None:
            choose(agent, rated.option, _is_fetch(rated))
        elif action is not None:
            choose(agent, Option(action, item.goal, 1), is_fetch=False)
    while True:
        able = [
            (offer.rate * (PERSISTENCE if doing.get(agent) == offer.option.action else 1.0), agent, offer)
            for agent in table.members
            if agent not in chosen
            for offer in offers[agent]
            if offer.option.action.args not in closed
            and not (_is_fetch(offer) and left.get(offer.option.goal or "", 0) < 1)
        ]
        if not able:
            return chosen
        _, agent, offer = max(able, key=lambda rated: (rated[0], -table.members.index(rated[1])))
        choose(agent, offer.option, _is_fetch(offer))


def _rate_options(table: _Table, agent: AgentId, facts: Facts, wanted: Mapping[GoalId, int]) -> Sequence[FetchOption]:
    me = table.me
    with suppress(ImpossibleFacts):
        options = [option for option in table.options(agent, facts) if not is_settled(option.action, me, facts)]
        return fetch_options(agent, me.domain, facts, options, wanted, me.targets)
    return ()


def _is_fetch(offer: FetchOption) -> bool:
    """Return whether an option takes up a thing that a goal wants, or goes to one that somebody told of."""
    return offer.option.goal is not None and not offer.own and offer.chance >= 1.0


def _is_exclusive(action: Action, me: DialogueKnowledge) -> bool:
    """Return whether one agent is enough for what an action is about; several may bring things to one place."""
    return bool(action.args) and not any(arg in me.targets for arg in action.args)


# ---- with one hand


def _divide_goals(table: _Table, proposed: Sequence[PlanItem]) -> Iterator[PlanItem]:
    goals, offers, taken = dict(table.goals), _offers(table), set[Action]()
    for step in range(1, STEPS + 1):
        fixed = {item.agent: item for item in reversed(proposed) if item.step == step}
        staffed = Counter(item.goal for item in fixed.values() if item.goal is not None)
        able = _without_waiting(goals)
        free = {
            agent: [offer for offer in offers[agent] if offer.goal in able]
            for agent in table.members
            if agent not in fixed
        }
        chosen = allocate_goals(free, able, staffed, table.at if step == 1 else None)
        for agent in table.members:
            if agent in fixed:
                yield fixed[agent]
            elif agent in chosen:
                yield PlanItem(step=step, agent=agent, goal=chosen[agent].goal)
            elif (look := _find_look(table, agent, taken)) is not None:
                taken.add(look)
                yield PlanItem(step=step, agent=agent, action=plain(look))
        for goal in (*staffed, *(offer.goal for offer in chosen.values())):
            goals.pop(goal or "", None)


def _offers(table: _Table) -> dict[AgentId, list[CandidateStep]]:
    """Return the steps that each agent could take toward the goals nearest to it."""
    me, goals = table.me, table.goals
    offers: dict[AgentId, list[CandidateStep]] = {agent: [] for agent in table.members}
    for agent in table.members:
        with suppress(ImpossibleFacts):
            if agent == me.agent:
                offers[agent] = find_steps(me.view, me.domain, goals, me.known)
            else:
                offers[agent] = foresee_steps(agent, me.kind_of(agent), goals, me.domain, table.facts)
    return offers


def _find_look(table: _Table, agent: AgentId, taken: Collection[Action]) -> Action | None:
    """Return the nearest way to look around that no other agent has; None where there is nothing to look for."""
    looks = [
        option
        for option in (table.options(agent, table.facts) if table.can_look else ())
        if option.goal is None and option.steps > 1 and option.action not in taken
    ]
    return min(looks, key=lambda option: (option.steps, str(option.action))).action if looks else None
