"""What is said: what a message is worth, how it is worded, and what is read from it.

A message saves steps in vain and steps lost where plans conflict; it costs the step in which it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from math import fsum
from typing import Final

from teamworld.language import Action, AgentId, Entity, Fact, Facts, ParseError, parse_action
from teamworld.methods.cobel.beliefs import LIKELY
from teamworld.methods.cobel.planning import expect_alone, prior
from teamworld.methods.cobel.prospects import first_actions
from teamworld.methods.cobel.situation import Assessment, BeliefUpdate, Intent, MessageDraft, Situation, Subplan
from teamworld.methods.contract import Message
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import WAIT, Domain

#: Steps that a message takes its speaker.
STEP: Final = 1.0
#: Steps ahead in which a danger is worth a warning: time to hear of it and to leave.
WARNED_AHEAD: Final = 30
#: Steps that are lost with an agent that is lost: more than any message costs.
LOST: Final = 1000.0

_PLAN = re.compile(r"I will: (.{1,400}?)\.(?:\s|$)")


# ---- what is read: the zero-order and the first-order update


def read_messages(situation: Situation, teammate: AgentId, said: Iterable[Message]) -> BeliefUpdate:
    """Return the facts of some messages, and a teammate's last plan, which is no fact."""
    facts, plan = dict[Fact, None](), None
    for message in said:
        facts.update(dict.fromkeys(fact for fact in message.facts if situation.rules.schema.statable(fact)))
        if message.sender == teammate:
            plan = read_plan(message) or plan
    return BeliefUpdate(tuple(facts), plan)


def read_plan(message: Message) -> Subplan | None:
    """Return the plan that a message announces in the form of ``word_message``, if any."""
    match = _PLAN.search(message.text)
    if match is None:
        return None
    try:
        actions = tuple(parse_action(text.strip()) for text in match[1].partition(" for ")[0].split(";"))
    except ParseError:
        return None
    return Subplan(actions, message.goal)


# ---- what is written


def draft_message(situation: Situation, assessment: Assessment) -> MessageDraft:
    """Return the message: what others lack, and the subplan, within the length."""
    subplan, options = situation.subplan, situation.options
    plan = subplan if assessment.announces and subplan and subplan.actions not in ((), (WAIT,)) else None
    facts = list(assessment.facts)
    while facts and len(word_message(facts, plan)) > options.length:
        facts.pop()
    if len(word_message(facts, plan)) > options.length:
        plan = None
    recipients: tuple[AgentId, ...] | None = None
    if options.to == "concerned" and len(situation.team) > 3:
        concerned = {*assessment.lacking, *assessment.against}
        recipients = tuple(teammate for teammate in situation.teammates if teammate in concerned) or None
    return MessageDraft(word_message(facts, plan), tuple(facts), plan, recipients)


def word_message(facts: Sequence[Fact], plan: Subplan | None) -> str:
    """Return a message in the form that ``read_plan`` reads."""
    parts = [f"I know: {'; '.join(map(str, facts))}."] if facts else []
    parts += [f"I will: {plan.text}."] if plan is not None else []
    return " ".join(parts)


# ---- what could be told


def untold_facts(situation: Situation) -> tuple[Fact, ...]:
    """Return facts that matter to goals and that some teammate lacks, as many as fit into a message.

    They are of things that goals are about or want any of, of what the agent has in hand, and of searched places.
    """
    facts, domain, words = situation.facts, situation.domain, situation.words
    goals = open_goals(situation.goals.values())
    wanted = {goal.thing for goal in goals if goal.thing is not None}
    values: list[Fact] = []
    for held in (facts, *situation.ascribed.values()):
        for latent in domain.beliefs.latent_variables(held):
            values += [value.fact for value in latent.values]
    kinds = {wanted_kind(goal) for goal in goals}
    kinds |= {fact.subject.kind for fact in values if isinstance(fact.subject, Entity)}
    left = {value.fact.value for latent in situation.latents for value in latent.values}
    left |= {v.part_of.value for latent in situation.latents for v in latent.values if v.part_of is not None}
    places = {fact.value for fact in values if isinstance(fact.value, Entity)} - left
    groups: dict[object, list[Fact]] = {}
    for fact in facts:
        subject = fact.subject
        is_exact = fact.predicate in (words.position, words.near)  # where it is exactly, beside saying in what
        if is_exact or fact in situation.inferred or not situation.rules.schema.statable(fact):
            continue
        if subject == situation.agent and fact.predicate == words.held:
            groups.setdefault(subject, []).append(fact)
        elif isinstance(subject, Entity) and (subject in wanted or subject.kind in kinds):
            groups.setdefault(subject, []).extend((*_of_place(fact, situation), fact))
        elif subject in places and fact.predicate not in (words.room, words.container, words.access):
            groups.setdefault(subject, []).append(fact)
    held_by, chosen = situation.ascribed.values(), dict[Fact, None]()
    for group in groups.values():
        is_new = any(fact not in held for fact in group for held in held_by)
        if is_new and len(word_message((*chosen, *group), None)) <= situation.options.length:
            chosen |= dict.fromkeys(group)
    return tuple(chosen)


def _of_place(fact: Fact, situation: Situation) -> Iterable[Fact]:
    """Yield what is known of the place that a fact names, so that it can be found."""
    words = situation.words
    if isinstance(fact.value, Entity) and fact.predicate in (words.container, words.surface):
        for predicate in (words.room, words.access):
            value = situation.facts.value(fact.value, predicate)
            if value is not None:
                yield Fact(fact.value, predicate, value)


# ---- what it is worth


def assess(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return the steps that a message would save by its facts and by its plan.

    What a teammate out of sight does next is not foreseen, so its facts save that one nothing.
    """
    facts, t = untold_facts(situation), situation.view.t
    in_sight = [teammate for teammate in situation.teammates if situation.last_met.get(teammate) == t]
    by_facts = {agent: _steps_saved(situation, agent, facts, intents.get(agent, ())) for agent in in_sight}
    # No prompt of a plan shows what others will do: nobody expects it.
    is_asked = situation.options.by("plan") == "questions"
    by_plan = {
        teammate: _steps_lost(situation, intents.get(teammate, ()), is_expected=not is_asked)
        for teammate in (situation.teammates if is_asked else in_sight)
    }
    ignorant = {teammate: gain for teammate, gain in by_facts.items() if gain > 0}
    against = {teammate: gain for teammate, gain in by_plan.items() if gain > 0}
    threshold = situation.options.theta + STEP
    if fsum(against.values()) <= threshold:  # a plan has to pay by itself
        against = {}
    saved = fsum((*ignorant.values(), *against.values()))
    return Assessment(
        speaks=saved > threshold,
        saved=saved,
        lacking={teammate: situation.missing_from(teammate, facts) for teammate in ignorant},
        against=tuple(against),
        announces=bool(against),
    )


def assess_all(situation: Situation) -> Assessment:
    """Return all that could be told, for gates that do not assess it."""
    facts = untold_facts(situation)
    lacking = {agent: situation.missing_from(agent, facts) for agent in situation.teammates}
    return Assessment(False, lacking=lacking)


def _steps_lost(situation: Situation, intents: Iterable[Intent], *, is_expected: bool) -> float:
    """Return the steps that are lost between the agent's plan and a teammate's intents.

    None are if the plan was announced; fewer with ``is_expected``, the likelier the agent was to plan so.
    """
    subplan, announced = situation.subplan, situation.own_announcement
    is_announced = announced is not None and announced.subplan == subplan
    if subplan is None or subplan.actions in ((), (WAIT,)) or is_announced or not situation.options.foresee:
        return 0.0
    planned, cost = situation.own_options[0], situation.domain.beliefs.conflict_cost
    alone = expect_alone(situation, situation.agent) if is_expected else ()
    predicted = {intent.option.action: intent.weight for intent in alone}
    lost = fsum(intent.weight * cost(planned, intent.option, situation.facts) for intent in intents)
    return (1 - predicted.get(planned.action, 0.0)) * lost


def _steps_saved(situation: Situation, teammate: AgentId, facts: Sequence[Fact], intents: Sequence[Intent]) -> float:
    """Return the steps in vain that a teammate is spared if it is told some facts."""
    news, held = situation.missing_from(teammate, facts), situation.ascribed[teammate]
    if not news:
        return 0.0
    choices = _choices(situation, teammate, held)
    seen = {intent.option.action: intent.weight for intent in intents}
    rest = max(0.0, 1 - fsum(seen.values()))
    unseen = fsum(weight for action, weight in choices.items() if action not in seen)
    # What its moves and words say for and against each action, beside what it holds.
    likelihood = {
        action: seen[action] / weight if action in seen else rest / unseen
        for action, weight in choices.items()
        if seen and weight > 0
    }
    before = _steps_in_vain(situation, teammate, held, likelihood)
    after = _steps_in_vain(situation, teammate, situation.facts_after_telling(teammate, news), likelihood)
    return 0.0 if before is None or after is None else before - after


def _choices(situation: Situation, teammate: AgentId, held: Facts) -> dict[Action, float]:
    """Return how likely a teammate begins with each action, by what it holds."""
    rates = {action: prospect.rate for action, prospect in first_actions(situation, teammate, held).items()}
    top = max(rates.values(), default=0.0)
    if not situation.options.foresee or top <= 0:
        return dict.fromkeys(rates, 1.0)
    return prior({action: rate / top for action, rate in rates.items()}, situation.options.tau)


def _steps_in_vain(
    situation: Situation, teammate: AgentId, held: Facts, likelihood: Mapping[Action, float]
) -> float | None:
    """Return the steps that a teammate who holds this is expected to lose in its next action, if any."""
    weights = {a: weight * likelihood.get(a, 1.0) for a, weight in _choices(situation, teammate, held).items()}
    whole = fsum(weights.values())
    if whole <= 0:
        return None
    words, facts = situation.words, situation.facts
    considered, actual = (first_actions(situation, teammate, believed) for believed in (held, facts))
    things = [p.actions[0].args[0] for p in actual.values() if p.goal is not None and p.actions[0].args]
    filled = {  # places where a thing lies that a goal wants
        facts.value(thing, predicate)
        for thing in things
        if isinstance(thing, Entity)
        for predicate in (words.room, words.container)
    }
    in_vain = 0.0
    for action, weight in weights.items():
        is_filled = bool(action.args) and action.args[0] in filled
        chance = 1.0 if is_filled else actual[action].chance if action in actual else 0.0
        in_vain += weight / whole * (1 - chance) * considered[action].first
    return in_vain


def others_can_say(situation: Situation, assessment: Assessment) -> bool:
    """Return whether a teammate before the agent in the team can say the same."""
    facts, against = assessment.facts, assessment.against
    return any(
        not situation.missing_from(teammate, facts)
        and (not against or (teammate in against and teammate not in situation.announced))
        for teammate in takewhile(lambda agent: agent != situation.agent, situation.team)
    )


# ---- warnings of danger


def harm_probability(domain: Domain, agent: AgentId, facts: Facts) -> float:
    """Return the probability that an agent is harmed soon; 0 in worlds that harm nobody."""
    return 0.0 if domain.danger is None else domain.danger.harm_probability(agent, WARNED_AHEAD, facts)


def assess_danger(situation: Situation) -> Assessment:
    """Return which teammates are in danger and cannot know it, and the facts to warn them by."""
    warnings = {teammate: _warning(situation, teammate) for teammate in situation.teammates}
    lacking = {teammate: facts for teammate, facts in warnings.items() if facts}
    return Assessment(bool(lacking), LOST * len(lacking), lacking, announces=False)


def _warning(situation: Situation, teammate: AgentId) -> tuple[Fact, ...]:
    """Return few facts by which a teammate learns of its danger."""
    held = situation.ascribed[teammate]

    def danger(facts: Facts) -> float:
        return harm_probability(situation.domain, teammate, facts)

    def danger_told(facts: Sequence[Fact]) -> float:
        return danger(situation.facts_after_telling(teammate, facts))

    if held is situation.facts or danger(situation.facts) <= danger(held):
        return ()
    facts = [fact for fact in situation.facts if fact not in held and _is_newer(situation, teammate, fact)]
    best = danger_told(facts)
    half: list[Fact] | None = facts if best > danger(held) else []
    while half:
        facts, middle = half, len(half) // 2
        halves = (facts[:middle], facts[middle:]) if middle else ()
        half = next((half for half in halves if danger_told(half) >= best), None)
    return tuple(facts)


def _is_newer(situation: Situation, teammate: AgentId, fact: Fact) -> bool:
    """Return whether the agent knows something newer of a fact's subject than the teammate knows or sees."""
    if isinstance(fact.subject, str) or not situation.rules.schema.statable(fact):
        return False
    if situation.domain.beliefs.observation_probability(fact, teammate, situation.facts) >= LIKELY:
        return False
    held, t = situation.ascribed[teammate], situation.view.t
    newest = max((held.seen.get(known, t) for known in held if known.subject == fact.subject), default=-1)
    return situation.facts.seen.get(fact, t) > newest
