"""Prediction and planning: what teammates intend by what they hold, and what to do beside that.

A teammate's intents are a Boltzmann distribution over its ``prospects``, updated by its steps and announced plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import exp, fsum
from typing import Final, TypeVar

from teamworld.language import Action, AgentId, Entity, GoalId
from teamworld.methods.cobel.prospects import Prospect, first_actions, outlook
from teamworld.methods.cobel.situation import Announcement, Intent, NextAction, Situation, Subplan
from teamworld.planning.candidates import complete_action
from teamworld.worlds.contract import WAIT, Goal, Option, View

#: Factor of the goal that the agent is at already, so that nobody wavers.
STICK: Final = 1.3
#: Share of its gain that a prospect keeps where others suffice: they may not come.
CROWDED: Final = 0.1
#: Share of its worth that a prospect keeps where others are sure to be first.
FLOOR: Final = 0.1
#: Utility that a place in the order of the world's options costs, relative to the best option.
RANK: Final = 0.02
#: Intents of each teammate that count into the agent's own plan.
COUNTED: Final = 8
#: What a teammate could do next that is looked at, and shown: what is worth most a step to it.
SHOWN: Final = 12
#: From this probability on a teammate counts as busy with another goal.
BUSY: Final = 0.5
#: Share of the worth of its own best subplan from which on an agent does what it is asked to do.
OBLIGING: Final = 0.5
#: By how much more something else must be worth to leave a subplan for it.
BETTER: Final = 1.2

H = TypeVar("H", bound=Hashable)


# ---- what a teammate intends: a posterior over its options


def prior(utilities: Mapping[H, float], tau: float) -> dict[H, float]:
    """Return how likely each option is to be chosen: P(h) in proportion to exp(U(h) / tau), tau above 0."""
    best = max(utilities.values(), default=0.0)
    return _normal({option: exp((utility - best) / tau) for option, utility in utilities.items()}, {})


def after_step(intents: Mapping[H, float], regrets: Mapping[H, float], beta: float) -> dict[H, float]:
    """Return the posterior once the agent was seen to act: P(h) times exp(-beta * regret).

    The regret is what the act loses if that were the intent, in steps: 0 for an intent that is not named.
    """
    losses = {option: regrets.get(option, 0.0) for option in intents}
    least = min((loss for option, loss in losses.items() if intents[option] > 0), default=0.0)
    weights = {option: p * exp(-beta * max(0.0, losses[option] - least)) for option, p in intents.items()}
    return _normal(weights, intents)


def after_word(intents: Mapping[H, float], announced: H, trust: float) -> dict[H, float]:
    """Return the posterior once a plan was announced, which is carried out with the probability ``trust``.

    The other intents share the rest.
    """
    if announced not in intents:
        others = {option: p * (1 - trust) for option, p in intents.items()}
        return others | {announced: trust if intents else 1.0}
    if len(intents) == 1:
        return dict(intents)
    wrong = (1 - trust) / (len(intents) - 1)
    weights = {option: p * (trust if option == announced else wrong) for option, p in intents.items()}
    return _normal(weights, intents)


def likeliest(intents: Mapping[H, float], most: int) -> list[tuple[H, float]]:
    """Return the likeliest intents, likeliest first and in the order of the table where equal."""
    return sorted(intents.items(), key=lambda entry: -entry[1])[:most]


def _normal(weights: dict[H, float], otherwise: Mapping[H, float]) -> dict[H, float]:
    """Return weights that add up to 1, or the other table where all are 0."""
    total = fsum(weights.values())
    return {option: weight / total for option, weight in weights.items()} if total > 0 else dict(otherwise)


def predict_intents(situation: Situation, teammate: AgentId, most: int) -> list[Intent]:
    """Return a teammate's likeliest next steps by what it holds, did and announced."""
    prospects = teammate_prospects(situation, teammate)
    rates = {action: prospect.rate for action, prospect in prospects.items()}
    joint = {action: prospect for action, prospect in prospects.items() if prospect.need > 1}
    if joint:
        partners = (agent for agent in situation.announced if agent != teammate)
        others = [intent for partner in partners for intent in announced_intents(situation, partner)]
        if situation.own_announcement is not None:
            others += _plan_intents(situation, situation.agent, situation.own_announcement.subplan)
        rates |= {action: p.gain / _agent_steps(situation, teammate, p, others) for action, p in joint.items()}
    announcement = situation.announced.get(teammate)
    intents = []
    for action, weight in likeliest(_posterior(situation, teammate, rates, announcement), most):
        prospect = prospects.get(action)
        if prospect is not None:
            actions = prospect.actions[: situation.options.actions]
            intents.append(Intent(teammate, prospect.option, weight, actions))
        elif announcement is not None:
            (actions, goal, _), steps = announcement.subplan, announcement.steps
            intents.append(Intent(teammate, Option(actions[0], goal, steps), weight, actions))
    return intents


def teammate_prospects(situation: Situation, teammate: AgentId) -> dict[Action, Prospect]:
    """Return what a teammate could do next by what it holds, worth most a step first."""
    prospects = first_actions(situation, teammate, situation.ascribed[teammate])
    best = sorted(prospects.items(), key=lambda entry: -entry[1].rate)[:SHOWN]
    return dict(best)


def _posterior(
    situation: Situation, agent: AgentId, rates: Mapping[Action, float], announcement: Announcement | None
) -> dict[Action, float]:
    """Return how likely an agent begins with each action, by its rates, its steps and its word."""
    options = situation.options
    top = max(rates.values(), default=0.0)
    order = sorted(rates, key=lambda action: -rates[action])  # of equals the first is taken first
    utilities = {a: (rates[a] / top if top > 0 else 0.0) - RANK * place for place, a in enumerate(order)}
    table = after_step(prior(utilities, options.tau), situation.regrets.get(agent, {}), options.beta)
    if announcement is not None and announcement.subplan.actions:
        actions = announcement.subplan.actions
        current = next((action for action in actions if action in table), actions[0])
        table = after_word(table, current, options.kept)
    return table


def expect_alone(situation: Situation, agent: AgentId) -> list[Intent]:
    """Return what an agent, itself included, may do next if it thinks of nobody else."""
    prospects = first_actions(situation, agent, situation.facts_of(agent))
    is_self = agent == situation.agent
    announcement = situation.own_announcement if is_self else situation.announced.get(agent)
    rates = {action: prospect.rate for action, prospect in prospects.items()}
    table = _posterior(situation, agent, rates, announcement)
    return [Intent(agent, prospects[a].option, weight) for a, weight in table.items() if a in prospects]


# ---- what to do


def announced_intents(situation: Situation, teammate: AgentId) -> list[Intent]:
    """Return the actions of an announced plan, each as likely as such a plan is kept to."""
    return _plan_intents(situation, teammate, situation.announced[teammate].subplan)


def _plan_intents(situation: Situation, agent: AgentId, subplan: Subplan) -> list[Intent]:
    options = subplan.options(agent, situation.domain, situation.facts)
    return [Intent(agent, option, situation.options.kept, subplan.actions) for option in options]


def expected_intents(situation: Situation, teammates: Iterable[AgentId]) -> list[Intent]:
    """Return what some teammates may do, where that is predicted."""
    if not situation.options.foresee:
        return []
    return [intent for teammate in teammates for intent in predict_intents(situation, teammate, COUNTED)]


def best_subplan(situation: Situation, others: Sequence[Intent]) -> Subplan:
    """Return the subplan that is worth most a step beside what others may do.

    What failed lately comes last, and so do goals for which too few agents are expected.
    """
    prospects = possible_prospects(situation)
    if not prospects:
        return Subplan((WAIT,))
    fresh = [prospect for prospect in prospects if not _is_vain(situation, prospect)] or prospects
    able = [prospect for prospect in fresh if _has_partners(situation, prospect, others)] or fresh
    best = max(able, key=lambda prospect: score(situation, prospect, others))
    asked = [prospect for prospect in able if _is_asked(situation, prospect)]
    if asked:
        obliging = max(asked, key=lambda prospect: score(situation, prospect, others))
        if score(situation, obliging, others) >= OBLIGING * score(situation, best, others):
            best = obliging
    return Subplan((*_retry_place(situation, best), *best.actions)[: situation.options.actions], best.goal)


def _is_vain(situation: Situation, prospect: Prospect) -> bool:
    """Return whether an action of a prospect failed or changed nothing lately; not if it begins by taking its place."""
    if not situation.vain or _retry_place(situation, prospect):
        return False
    return any(complete_action(action, situation.view) in situation.vain for action in prospect.actions)


def _has_partners(situation: Situation, prospect: Prospect, others: Sequence[Intent]) -> bool:
    """Return whether there are enough agents for a prospect, as far as is known of their plans."""
    if prospect.need <= 1:
        return True
    busy = {other.agent for other in others if other.weight >= BUSY and other.option.goal != prospect.goal}
    goal = situation.goals.get(prospect.goal) if prospect.goal is not None else None
    kinds = goal.kinds if goal is not None else ()
    fit = (teammate for teammate in situation.teammates if not kinds or situation.team[teammate] in kinds)
    return 1 + sum(teammate not in busy for teammate in fit) >= prospect.need


def _is_asked(situation: Situation, prospect: Prospect) -> bool:
    """Return whether a teammate asked the agent for what a prospect begins with, or for its goal.

    Of agents that ask each other, whoever has fewer steps to go by its own announcement is followed.
    """
    own = situation.own_announcement
    mine = None if own is None else _claim(situation, situation.agent, own, 0)
    first = complete_action(prospect.actions[0], situation.view)
    for teammate, plan in situation.announced.items():
        ask = plan.asks.get(situation.agent)
        if ask is None or (mine is not None and mine < _claim(situation, teammate, plan, 0)):
            continue
        if prospect.goal == ask.goal if ask.goal is not None else first in ask.actions[:1]:
            return True
    return False


def _retry_place(situation: Situation, prospect: Prospect) -> tuple[Action, ...]:
    """Return what takes the agent's place anew where its action has just failed: agents may block each other."""
    view, hold = situation.view, prospect.hold
    last = view.history[-1] if view.history else None
    failed = last is not None and last.status == "failed" and last.action == complete_action(prospect.actions[0], view)
    return (hold,) if failed and hold is not None and view.check(hold).ok else ()


def possible_prospects(situation: Situation) -> list[Prospect]:
    """Return the agent's prospects that can begin now, as it knows, but for what teammates have in hand."""
    prospects = outlook(situation, situation.agent, situation.facts)
    useful = (prospect for prospect in prospects if prospect.goal not in situation.in_hand)
    return [prospect for prospect in useful if situation.view.check(prospect.actions[0]).ok]


def score(situation: Situation, prospect: Prospect, others: Sequence[Intent]) -> float:
    """Return the worth of a prospect a step, beside what others may do.

    Rivals take away from what is left; partners at a goal that takes several are waited for.
    """
    ahead = [other for other in others if _goes_first(situation, other, prospect)]
    at_goal = prospect.near is not None  # then ``_uncrowded`` says what is left of it
    rivals = [other for other in ahead if not (at_goal and other.option.goal == prospect.goal)]
    keeps = 1.0
    if not prospect.own:
        goal = situation.goals.get(prospect.goal) if prospect.goal is not None else None
        keeps = _uncrowded(goal, _workers(ahead, prospect.goal)) * _unspoilt(situation, prospect.option, rivals)
    is_joint = prospect.need > 1
    stick = STICK if is_joint and prospect.goal == situation.last_goal else 1.0
    steps = _agent_steps(situation, situation.agent, prospect, others) if is_joint else prospect.steps
    return stick * prospect.gain * keeps * _credence(situation, prospect) / steps


def _credence(situation: Situation, prospect: Prospect) -> float:
    """Return how likely what a prospect rests on is true: the rest of ``trust`` is doubt about what was told."""
    about = set(prospect.actions[0].args)
    told_facts = (
        fact for fact in situation.told_facts if fact not in situation.inferred and isinstance(fact.subject, Entity)
    )
    return situation.options.trust if any(fact.subject in about or fact.value in about for fact in told_facts) else 1.0


def _uncrowded(goal: Goal | None, others: float) -> float:
    """Return the share of its gain that work keeps if so many others come first."""
    if goal is None or goal.units == goal.capacity > 1:  # one for each unit: whoever comes takes another
        return 1.0
    return min(1.0, max(CROWDED, goal.capacity - others))


def _unspoilt(situation: Situation, option: Option, others: Iterable[Intent]) -> float:
    """Return the share of an option's worth that is left beside likely intents."""
    cost, left = situation.domain.beliefs.conflict_cost, 1.0
    for other in others:
        whole = max(1, min(option.steps, other.option.steps))
        left *= 1 - other.weight * min(1.0, cost(option, other.option, situation.facts) / whole)
    return max(FLOOR, left)


def _agent_steps(situation: Situation, agent: AgentId, prospect: Prospect, others: Sequence[Intent]) -> float:
    """Return the agent-steps of all who lack at a joint goal, with those lost in waiting."""
    cost, goal = situation.domain.beliefs.conflict_cost, prospect.goal
    partners = [other for other in others if other.option.goal == goal]
    lost = fsum(other.weight * cost(prospect.option, other.option, situation.facts) for other in partners)
    if others and goal is not None:
        teammates = (teammate for teammate in situation.team if teammate != agent)
        arrivals = sorted(_arrival(situation, teammate, goal, others) for teammate in teammates)[: prospect.need - 1]
        late = arrivals[-1] if len(arrivals) == prospect.need - 1 else float(situation.view.steps_left)
        lost += max(0.0, late - steps_to_goal(situation, agent, goal))
    return (prospect.steps + lost) * max(1.0, prospect.need - _workers(others, goal))


def _arrival(situation: Situation, agent: AgentId, goal: GoalId, others: Sequence[Intent]) -> float:
    """Return when an agent is expected at a goal, after what else it may do."""
    prospects = first_actions(situation, agent, situation.facts_of(agent))
    busy = (other for other in others if other.agent == agent and other.option.goal != goal)
    before = fsum(
        weight * (prospects[option.action].steps if option.action in prospects else option.steps)
        for _, option, weight, _ in busy
    )
    return before + steps_to_goal(situation, agent, goal)


def steps_to_goal(situation: Situation, agent: AgentId, goal: GoalId) -> int:
    """Return the steps of an agent's nearest option for a goal.

    If none is known: those of the agent that thinks of it, else all steps that are left.
    """
    for nearest in (agent, situation.agent):
        prospects = outlook(situation, nearest, situation.facts)
        steps = [p.near for p in prospects if p.goal == goal and p.near is not None]
        if steps:
            return min(steps)
    return situation.view.steps_left


def _workers(others: Iterable[Intent], goal: GoalId | None) -> float:
    """Return how many teammates are expected to work on a goal."""
    return fsum(weight for _, option, weight, _ in others if option.goal == goal and option.action != WAIT)


def _goes_first(situation: Situation, other: Intent, prospect: Prospect) -> bool:
    """Return whether a teammate has fewer steps to go than the agent would have.

    Equals are decided by who announced first, then by the order of the team: if both gave way, they would change
    places for ever.
    """
    announcement, near = situation.announced.get(other.agent), other.option.steps
    far = prospect.first
    if prospect.near is not None and prospect.goal is not None and other.option.goal == prospect.goal:
        # Who is at the goal has much to do there: what counts is the way to it.
        far = prospect.near
        near = near if announcement is not None else steps_to_goal(situation, other.agent, prospect.goal)
    own = situation.own_announcement
    is_own = own is not None and _announces(situation, own, prospect)
    claim = _claim(situation, situation.agent, own if is_own else None, far)
    return _claim(situation, other.agent, announcement, near) < claim


def stands(situation: Situation, other: Intent) -> bool:
    """Return whether a teammate keeps a likely plan that conflicts with the agent's, if it is told of that.

    It does if it has fewer steps to go; see ``_goes_first``.
    """
    announcement, own = situation.announced.get(other.agent), situation.own_options[0]
    theirs = _claim(situation, other.agent, announcement, other.option.steps)
    return theirs < _claim(situation, situation.agent, None, own.steps)


def _claim(situation: Situation, agent: AgentId, announcement: Announcement | None, steps: int) -> tuple[int, int, int]:
    """Return by what agents whose plans conflict are ordered: who comes first keeps its own."""
    t, order = situation.view.t, list(situation.team)
    if announcement is None:
        return steps, t, order.index(agent)
    return announcement.claim(t), announcement.t, order.index(agent)


def _announces(situation: Situation, announcement: Announcement, prospect: Prospect) -> bool:
    """Return whether the agent's announcement is of a prospect: of its goal, else of its first action."""
    subplan, view = announcement.subplan, situation.view
    if subplan.goal is not None or prospect.goal is not None:
        return subplan.goal == prospect.goal
    begins = subplan.actions[:1]
    return bool(begins) and complete_action(begins[0], view) == complete_action(prospect.actions[0], view)


def must_yield(situation: Situation, teammates: Iterable[AgentId]) -> list[AgentId]:
    """Return to whose announced plans the rest of the agent's subplan has to give way."""
    cost, facts, yielded_to = situation.domain.beliefs.conflict_cost, situation.facts, list[AgentId]()
    left = remaining_actions(situation)
    options = [option for option in situation.own_options if option.action in left]
    own = situation.own_announcement
    is_own = own is not None and own.subplan == situation.subplan
    for teammate in (teammate for teammate in teammates if teammate in situation.announced):
        if _is_joined(situation, teammate):
            continue
        intents = announced_intents(situation, teammate)
        conflicts = any(cost(option, intent.option, facts) > 0 for option in options for intent in intents)
        claim = _claim(situation, situation.agent, own if is_own else None, options[0].steps if options else 0)
        if conflicts and _claim(situation, teammate, situation.announced[teammate], 0) < claim:
            yielded_to.append(teammate)
    return yielded_to


def _is_joined(situation: Situation, teammate: AgentId) -> bool:
    """Return whether a teammate announced the joint goal that the agent's subplan is for: it needs the agent there."""
    goal = situation.goals.get(situation.subplan.goal or "") if situation.subplan is not None else None
    announced = [plan.subplan.goal for plan in situation.announced.values()]
    return (
        goal is not None
        and situation.announced[teammate].subplan.goal == goal.id
        and announced.count(goal.id) < goal.quorum
    )


def next_action(situation: Situation) -> NextAction:
    """Return the next action of the subplan; none if it cannot start."""
    if situation.subplan is None:
        return NextAction(None)
    left = remaining_actions(situation)
    failed = {outcome.action for outcome in situation.outcomes if outcome.status == "failed"}
    if not left or left[0] in failed or not situation.view.check(left[0]).ok:
        return NextAction(None)
    return NextAction(left[0], situation.subplan.goal)


def remaining_actions(situation: Situation) -> tuple[Action, ...]:
    """Return the actions of the subplan that are not done."""
    done = Counter(outcome.action for outcome in situation.outcomes if outcome.status == "done")
    left, actions = list[Action](), situation.subplan.actions if situation.subplan is not None else ()
    for action in actions:
        if done[action] > 0 and not left:
            done[action] -= 1
        else:
            left.append(action)
    return tuple(left)


def updated_action(situation: Situation) -> NextAction:
    """Return the subplan's next action, or another one that what is new makes worth more."""
    following = next_action(situation)
    if following.action is None or not situation.news:
        return following
    others = [intent for teammate in situation.announced for intent in announced_intents(situation, teammate)]
    scores = {
        complete_action(prospect.actions[0], situation.view): (score(situation, prospect, others), prospect.goal)
        for prospect in sorted(possible_prospects(situation), key=lambda p: score(situation, p, others))
        if not _is_vain(situation, prospect)
    }
    if not scores:
        return following
    best, (worth, goal) = max(scores.items(), key=lambda entry: entry[1][0])
    kept, _ = scores.get(following.action, (0.0, None))
    return NextAction(best, goal) if worth > BETTER * kept else following


def forced_action(situation: Situation) -> tuple[NextAction, str] | None:
    """Return what comes next where that is no choice, with the cause in words; None where it is one."""
    subplan, left = situation.subplan, remaining_actions(situation)
    goal = situation.goals.get(subplan.goal) if subplan is not None and subplan.goal is not None else None
    if subplan is not None and subplan.actions and not left:
        return NextAction(None), "subplan carried out"
    if goal is not None and goal.state != "open":
        return NextAction(None), "task over"
    following = next_action(situation)
    if following.action is not None and not situation.news:
        return following, "nothing new"
    only = startable_actions(situation.view)
    if len(only) == 1 and following.action in (None, only[0]):
        return NextAction(only[0]), "one option"
    return None


def startable_actions(view: View) -> tuple[Action, ...]:
    """Return the options of an agent, complete with their defaults, without repetition."""
    options = (complete_action(option.action, view) for option in view.options)
    return tuple(dict.fromkeys(action for action in options if action.verb != "talk"))
