"""How rules choose one action at a time: what each agent could do next, what that is worth, and who does what.

A ``Step`` is the first action of a plan for a goal that a dry run finds sound, with what the whole plan comes to. Its
worth is the goal's weight, times the share of the work that the plan does, over the ticks that it takes. ``spread``
hands out goals by worth an agent: a goal that takes two at once takes two, or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, Plan
from teamworld.methods.common.goals import workable
from teamworld.planning.simulate import dry_run, foresee
from teamworld.worlds.contract import WAIT, Domain, Goal, Option, View

#: Goals that are looked at closely for each agent: the nearest ones, as its options tell.
NEAREST = 6
#: Share of the work that a sound plan counts for where the world does not say what it does for the goal.
LITTLE = 0.01
#: By how much more the goal counts that an agent is at already, so that nobody wavers between equals.
STICK = 1.5


class Step(NamedTuple):
    """The first action of a plan, and what the plan comes to."""

    action: Action
    """With all arguments."""
    goal: GoalId | None
    ticks: int = 1
    """Estimated ticks of the whole plan, at least 1."""
    share: float = 0.0
    """Share of the goal's work that the plan does, from 0 to 1."""
    still: bool = False
    """The action changes nothing that can be foreseen."""
    hold: Action | None = None
    """What the plan begins with and was passed over, for it would change nothing: to hold one's place by."""

    @property
    def rate(self) -> float:
        """Share of the work that the plan does a tick."""
        return max(self.share, LITTLE * LITTLE if self.still else LITTLE) / self.ticks


# ---- what one agent could do next


def complete(action: Action, view: View) -> Action:
    """Return an action with its defaults, as ``View.abilities`` know them; as it is where they do not."""
    schema = next((schema for schema in view.abilities if schema.verb == action.verb), None)
    try:
        return action if schema is None else schema.complete(action)
    except UserError:
        return action


def step_toward(goal: Goal, view: View, domain: Domain, given: Facts | None = None) -> Step | None:
    """Return the best step toward a goal, or None where no plan for it can begin now.

    Of the plans that make sense the one that does the most of the goal's work a tick, then the most in all, then the
    first. What a plan begins with is passed over if it would change nothing, unless what comes next has just failed.

    Args:
        goal: An open goal that the agent's kind can work on.
        view: Of the agent.
        domain: The rules of its world.
        given: What is believed; what the agent knows if None. The step must be possible by what the agent knows.
    """
    given = view.known if given is None else given
    found = [step for step in given.derive(_Sound(goal, view.agent, domain)) if view.check(step.action).ok]
    best = max(found, key=lambda step: (step.rate, step.share), default=None)
    if best is None:
        return None
    action, hold = complete(best.action, view), None if best.hold is None else complete(best.hold, view)
    last = view.history[-1] if view.history else None
    failed = hold is not None and last is not None and last.status == "failed" and last.action == action
    return best._replace(action=hold if failed and hold is not None else action, hold=hold)


@dataclass(frozen=True)
class _Sound:
    """The steps of the sound plans of an agent for a goal; computed once for each collection of facts."""

    goal: Goal
    agent: AgentId
    domain: Domain

    def __call__(self, given: Facts) -> list[Step]:
        found = []
        for recipe in self.domain.candidate_plans(self.goal, self.agent, given):
            plan = foresee(recipe.actions, self.agent, given, self.domain).trimmed
            if plan.ok:
                hold = recipe.actions[0] if len(plan.actions) < len(recipe.actions) else None
                share = plan.share(self.goal)
                found.append(Step(plan.actions[0], self.goal.id, max(1, plan.ticks), share, plan.still, hold))
        return found


def steps(
    view: View, domain: Domain, goals: Mapping[GoalId, Goal] | None = None, told: Facts | None = None
) -> list[Step]:
    """Return the best step toward each of the nearest goals.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        goals: Open goals to choose among; those that the agent knows of and can work on if None.
        told: What is known of goals that the agent does not know itself.
    """
    own = {goal.id: goal for goal in workable(view)}
    wanted = own if goals is None else {name: own.get(name, goal) for name, goal in goals.items() if _fits(goal, view)}
    near = nearest(view.options)
    chosen = sorted(wanted, key=lambda name: near.get(name, 1 << 30))[:NEAREST]
    found = []
    for name in (name for name in wanted if name in chosen):
        if name in own or told is not None:
            step = step_toward(wanted[name], view, domain, None if name in own else told)
            found += [] if step is None else [step]
    return found


def idle_step(view: View, domain: Domain, barred: Collection[Action] = ()) -> Step:
    """Return the step of an agent that no goal needs: out of the way, or looking around.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        barred: Actions that cannot be taken, as somebody found.
    """
    for plan in domain.candidate_plans(None, view.agent, view.known):
        action = complete(dry_run(plan, view, domain).trimmed.actions[0], view)
        if action not in barred:
            return Step(action, None)
    return Step(WAIT, None)


def _fits(goal: Goal, view: View) -> bool:
    return not goal.kinds or view.kind in goal.kinds


def _unknown(goals: Mapping[GoalId, Goal], view: View) -> bool:
    """Return whether there is a goal for the agent's kind that it does not know to be workable."""
    own = {goal.id for goal in workable(view)}
    return any(name not in own and _fits(goal, view) for name, goal in goals.items())


def nearest(options: Iterable[Option]) -> dict[GoalId, int]:
    """Return for each goal the ticks of the nearest of some options that serve it."""
    near: dict[GoalId, int] = {}
    for option in options:
        if option.goal is not None:
            near[option.goal] = min(option.ticks, near.get(option.goal, option.ticks))
    return near


# ---- who does what


def spread(
    offers: Mapping[AgentId, Sequence[Step]],
    goals: Mapping[GoalId, Goal],
    staffed: Mapping[GoalId, int] | None = None,
    holding: Mapping[AgentId, GoalId | None] | None = None,
    others: int = 0,
) -> dict[AgentId, Step]:
    """Spread agents over goals, the one with the most worth an agent first; whoever is in no goal's need is left out.

    Args:
        offers: For each agent the steps that it could take.
        goals: The goals that these are for, in a fixed order.
        staffed: Agents that are on each goal and not among these.
        holding: What each of these is at already; that counts ``STICK`` times.
        others: Team-mates that may still join a goal, though nothing is known of what they will do.
    """
    staff, at = Counter(dict(staffed or {})), holding or {}
    free, found = dict(offers), dict[AgentId, Step]()
    while True:
        best: tuple[float, list[tuple[AgentId, Step]]] | None = None
        for goal in goals.values():
            worth, hands = _crew(goal, free, staff[goal.id], at, others)
            if hands and (best is None or worth > best[0]):
                best = worth, hands
        if best is None:
            return found
        for agent, step in best[1]:
            found[agent] = step
            staff[step.goal or ""] += 1
            del free[agent]


def _crew(
    goal: Goal, free: Mapping[AgentId, Sequence[Step]], staff: int, at: Mapping[AgentId, GoalId | None], others: int
) -> tuple[float, list[tuple[AgentId, Step]]]:
    """Return who would take on a goal next, and what that is worth for each of them; nobody where too few could."""
    if staff >= goal.places:
        return 0.0, []
    need = max(1, goal.quorum - staff)
    hands = [(agent, step) for agent, steps in free.items() for step in steps if step.goal == goal.id]
    hands = sorted(hands, key=lambda hand: (at.get(hand[0]) != goal.id, -hand[1].rate))[:need]
    if not hands or len(hands) + others < need:
        return 0.0, []
    stick = STICK if any(at.get(agent) == goal.id for agent, _ in hands) else 1.0
    return stick * goal.weight * min(step.rate for _, step in hands) / need, hands


def team_goals(views: Iterable[View]) -> dict[GoalId, Goal]:
    """Return the open goals that somebody knows of, by id; one that somebody knows to be over is none of them."""
    found: dict[GoalId, Goal] = {}
    over: set[GoalId] = set()
    for view in views:
        for goal in view.goals:
            (over.add(goal.id) if goal.state != "open" else found.setdefault(goal.id, goal))
    ahead = found.keys() - over
    return {name: found[name] for name in sorted(ahead) if ahead.isdisjoint(found[name].prerequisites)}


def pooled(views: Mapping[AgentId, View]) -> Facts:
    """Return what some agents know together: of each attribute what was seen last."""
    known: dict[tuple[Entity | str, str], tuple[float, list[Fact]]] = {}
    if len({id(view.known) for view in views.values()}) == 1:
        return next(iter(views.values())).known
    for view in views.values():
        own: dict[tuple[Entity | str, str], tuple[float, list[Fact]]] = {}
        for facts, now in ((view.facts, True), (view.recall, False)):
            for fact in facts:
                seen = float("inf") if now else float(facts.seen.get(fact, 0))
                own.setdefault((fact.subject, fact.predicate), (seen, []))[1].append(fact)
        for key, (seen, facts_of) in own.items():
            if key not in known or seen > known[key][0]:
                known[key] = seen, facts_of
    return Facts(tuple(fact for _, some in known.values() for fact in some))


def shared_out(
    views: Mapping[AgentId, View],
    domain: Domain,
    agents: Collection[AgentId],
    running: Mapping[AgentId, Plan],
    aims: Mapping[AgentId, GoalId | None],
    barred: Collection[tuple[AgentId, Action]] = (),
) -> dict[AgentId, Step]:
    """Return a step for each of some agents, as one mind would choose that knows what all of them know.

    Whoever is at a goal that it keeps goes on with what it does; but who is there before the others that the goal
    needs holds its place. Who is in no goal's need keeps out of the way.

    Args:
        views: Of all whose knowledge is shared.
        domain: The rules of their world.
        agents: Who is to be given a step.
        running: What each agent is doing; of those who are not to be given a step it is what they are counted on for.
        aims: What each was at when it last decided.
        barred: Steps that cannot be taken, as somebody found.
    """
    goals = team_goals(views.values())
    told = pooled(views) if any(_unknown(goals, views[agent]) for agent in agents) else None
    offers = {
        agent: [step for step in steps(views[agent], domain, goals, told) if (agent, step.action) not in barred]
        for agent in agents
    }
    staffed = Counter(plan.goal for agent, plan in running.items() if agent not in offers and plan.goal is not None)
    holding = {agent: running[agent].goal if agent in running else aims.get(agent) for agent in offers}
    chosen = spread(offers, goals, staffed, holding)
    found = {
        agent: chosen.get(agent) or idle_step(views[agent], domain, [no for whose, no in barred if whose == agent])
        for agent in offers
    }
    late = Counter[GoalId | None]()
    for step in chosen.values():
        late[step.goal] = max(late[step.goal], step.ticks)
    return {
        agent: step._replace(action=step.hold)
        if step.hold is not None and step.ticks + 1 < late[step.goal]
        else _kept(step, running.get(agent), agent, barred)
        for agent, step in found.items()
    }


def _kept(step: Step, plan: Plan | None, agent: AgentId, barred: Collection[tuple[AgentId, Action]]) -> Step:
    """Return what runs where it is for the goal of the step, else the step."""
    if plan is None or plan.goal != step.goal or not plan.actions or (agent, plan.actions[0]) in barred:
        return step
    return step._replace(action=plan.actions[0])


def alone(
    view: View,
    domain: Domain,
    staffed: Mapping[GoalId, int],
    others: int,
    running: Plan | None = None,
    aim: GoalId | None = None,
) -> Step:
    """Return the step of an agent that chooses for itself, knowing what team-mates said that they are at.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        staffed: Team-mates on each goal, as far as it knows.
        others: Team-mates of whom it does not know what they are at.
        running: What it is doing.
        aim: What it was at when it last decided.
    """
    goals = {goal.id: goal for goal in workable(view)}
    holding = {view.agent: running.goal if running is not None else aim}
    chosen = spread({view.agent: steps(view, domain)}, goals, staffed, holding, others)
    return _kept(chosen.get(view.agent) or idle_step(view, domain), running, view.agent, ())
