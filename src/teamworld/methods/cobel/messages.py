"""What is said: what a message is worth, how it is worded, and what is read from it.

A message saves steps in vain and steps lost where plans conflict; it costs the step in which it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from math import fsum
from types import MappingProxyType
from typing import Final, NamedTuple

from teamworld.language import (
    Action,
    AgentId,
    Entity,
    Fact,
    Facts,
    ParseError,
    Schema,
    parse_action,
    plain,
    read_belief,
    written_names,
)
from teamworld.methods.cobel.beliefs import LIKELY
from teamworld.methods.cobel.planning import (
    announced_intents,
    expect_alone,
    prior,
    stands,
    steps_to_goal,
    teammate_prospects,
)
from teamworld.methods.cobel.prospects import Prospect, first_actions, outlook
from teamworld.methods.cobel.situation import (
    MESSAGE,
    Assessment,
    BeliefUpdate,
    Intent,
    MessageDraft,
    Situation,
    Subplan,
)
from teamworld.methods.contract import Message
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import WAIT, Domain

#: Steps that a message takes its speaker.
STEP: Final = float(MESSAGE)
#: Steps ahead in which a danger is worth a warning: time to hear of it and to leave.
WARNED_AHEAD: Final = 30
#: Steps that are lost with an agent that is lost: more than any message costs.
LOST: Final = 1000.0

_FACTS = re.compile(r"(?:I know|Facts): (.{1,4000}?)\.(?:\s|$)")
_PLAN = re.compile(r"I will: (.{1,400}?)(?:, there in (\d{1,4}) steps?)?\.(?:\s|$)")
_ASK = re.compile(r"I ask ([\w, ]{1,400}): (.{1,400}?)\.(?:\s|$)")
_SINCE = re.compile(r"\s*\(step (\d{1,6})\)\s*$")


# ---- what is read: the zero-order and the first-order update


def read_messages(situation: Situation, teammate: AgentId, said: Iterable[Message]) -> BeliefUpdate:
    """Return the facts that some messages state, and a teammate's last plan, which is no fact."""
    schema, facts, since = situation.rules.schema, dict[Fact, None](), dict[Fact, int]()
    plan, first, asks = None, None, dict[AgentId, Subplan]()
    for message in said:
        for fact, step in read_facts(message.text, schema):
            facts[fact] = None
            if step is not None:
                since[fact] = step
        if message.sender == teammate:
            announced = read_plan(message, schema)
            if announced is not None:
                plan, first, asks = announced, read_steps_to_go(message), read_asks(message, schema)
    return BeliefUpdate(tuple(facts), plan, first, asks, since)


def read_facts(text: str, schema: Schema) -> list[tuple[Fact, int | None]]:
    """Return the facts that a text states in the form of ``word_message``, each with the step that it names."""
    facts = []
    for part in (part for match in _FACTS.finditer(text) for part in match[1].split("; ")):
        line, step = split_step(part)
        try:
            fact = read_belief(f"{schema.agents[0]} BELIEVE {written_names(line, schema.kinds)}", schema, (), (0,)).fact
        except (ParseError, ValueError):
            continue
        facts.append((fact, step))
    return facts


def split_step(line: str) -> tuple[str, int | None]:
    """Return a line without the step that it names at its end, and that step: ``(step 12)``."""
    when = _SINCE.search(line)
    return (line, None) if when is None else (line[: when.start()], int(when[1]))


def read_plan(message: Message, schema: Schema) -> Subplan | None:
    """Return the plan that a message announces in the form of ``word_message``, if any."""
    match = _PLAN.search(message.text)
    actions = None if match is None else _read_actions(match[1], schema)
    return Subplan(actions, message.goal) if actions else None


def read_steps_to_go(message: Message) -> int | None:
    """Return how many steps a message says its sender needs to where its plan begins."""
    match = _PLAN.search(message.text)
    return int(match[2]) if match is not None and match[2] is not None else None


def read_asks(message: Message, schema: Schema) -> dict[AgentId, Subplan]:
    """Return what a message asks others to do."""
    asks = dict[AgentId, Subplan]()
    for match in _ASK.finditer(message.text):
        actions = _read_actions(match[2], schema)
        if actions:
            part = Subplan(actions, match[2].partition(" for ")[2] or None)
            asks |= dict.fromkeys(match[1].replace(",", " ").split(), part)
    return asks


def _read_actions(text: str, schema: Schema) -> tuple[Action, ...] | None:
    text = text.partition(" for ")[0]
    try:
        return tuple(parse_action(written_names(part.strip(), schema.kinds)) for part in text.split(";"))
    except ParseError:
        return None


# ---- what is written


def draft_message(situation: Situation, assessment: Assessment) -> MessageDraft:
    """Return the message: what others lack, the subplan and who is to do what beside it, within the length."""
    subplan, options = situation.subplan, situation.options
    plan = subplan if assessment.announces and subplan and subplan.actions not in ((), (WAIT,)) else None
    asks = divide_work(situation, assessment) if plan is not None else {}
    facts = list(assessment.facts)

    def is_short() -> bool:
        return len(word_message(situation, facts, plan, asks)) <= options.length

    while facts and not is_short():
        facts.pop()
    asks = asks if is_short() else {}
    plan = plan if is_short() else None
    recipients: tuple[AgentId, ...] | None = None
    if options.to == "concerned" and len(situation.team) > 3:
        concerned = {*assessment.lacking, *assessment.against, *asks}
        recipients = tuple(teammate for teammate in situation.teammates if teammate in concerned) or None
    return MessageDraft(word_message(situation, facts, plan, asks), tuple(facts), plan, recipients, asks)


def divide_work(situation: Situation, assessment: Assessment) -> dict[AgentId, Subplan]:
    """Return what teammates are asked to do beside the agent's subplan: to join it, or what is best beside it.

    At a goal for several agents the nearest ones are asked to join, as many as are needed. Others whose likely plans
    conflict with the subplan are asked, in turn, for what is worth most to them of all that conflicts neither with it
    nor with what was asked of those before.
    """
    subplan, parts = situation.subplan, dict[AgentId, Prospect]()
    if subplan is None or not situation.own_options:
        return {}
    goal = situation.goals.get(subplan.goal) if subplan.goal is not None else None
    free = [teammate for teammate in situation.teammates if teammate not in situation.announced]
    if goal is not None and goal.quorum > 1:
        fit = [teammate for teammate in free if not goal.kinds or situation.team[teammate] in goal.kinds]
        fit.sort(key=lambda teammate: steps_to_goal(situation, teammate, goal.id))
        for teammate in fit[: goal.quorum - 1]:
            joining = [prospect for prospect in _prospects(situation, teammate) if prospect.goal == goal.id]
            if joining:
                parts[teammate] = max(joining, key=lambda prospect: prospect.rate)
    taken, cost = situation.own_options[:1], situation.domain.beliefs.conflict_cost
    for teammate in (teammate for teammate in assessment.against if teammate in free and teammate not in parts):
        beside = [
            prospect
            for prospect in _prospects(situation, teammate)
            if prospect.chance > 0
            and prospect.need == 1
            and all(cost(prospect.option, option, situation.facts) <= 0 for option in taken)
            and not any(prospect.goal is not None and prospect.goal == option.goal for option in taken)
        ]
        if beside:
            parts[teammate] = max(beside, key=lambda prospect: prospect.rate)
            taken.append(parts[teammate].option)
    most = situation.options.actions
    return {teammate: Subplan(part.actions[:most], part.goal) for teammate, part in parts.items()}


def _prospects(situation: Situation, teammate: AgentId) -> Iterable[Prospect]:
    return outlook(situation, teammate, situation.ascribed[teammate])


def dated(situation: Situation, fact: Fact) -> str:
    """Return a fact that the agent holds, with the step at which it was so where that is gone."""
    seen, t = situation.facts.seen, situation.view.t
    return f"{plain(fact)} (step {seen[fact]})" if seen.get(fact, t) < t else plain(fact)


def word_message(
    situation: Situation,
    facts: Sequence[Fact],
    plan: Subplan | None = None,
    asks: Mapping[AgentId, Subplan] = MappingProxyType({}),
) -> str:
    """Return a message in the form that ``read_messages`` reads.

    It states facts, each with its step where that is gone, the plan, and what others are asked to do.
    """
    parts = [f"I know: {'; '.join(dated(situation, fact) for fact in facts)}."] if facts else []
    if plan is not None:
        steps = steps_when_told(situation, plan)
        parts.append(f"I will: {plan.text}, there in {steps} step{'' if steps == 1 else 's'}.")
    return " ".join((*parts, *(f"I ask {teammates}: {part}." for teammates, part in group_asks(asks))))


def group_asks(asks: Mapping[AgentId, Subplan]) -> list[tuple[str, str]]:
    """Return who is asked for what, those together that are asked for the same."""
    groups: dict[str, list[AgentId]] = {}
    for teammate, part in asks.items():
        groups.setdefault(part.text, []).append(teammate)
    return [(", ".join(teammates), part) for part, teammates in groups.items()]


def steps_to_begin(situation: Situation, plan: Subplan) -> int:
    """Return the estimated steps until the first action of a subplan is done."""
    options = plan.options(situation.agent, situation.domain, situation.facts)
    return options[0].steps if options else 1


def steps_when_told(situation: Situation, plan: Subplan) -> int:
    """Return the same from when the subplan is told: the message takes its sender a step."""
    return steps_to_begin(situation, plan) + MESSAGE


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
        if is_new and len(word_message(situation, (*chosen, *group))) <= situation.options.length:
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


def with_containers(situation: Situation, facts: Iterable[Fact]) -> list[Fact]:
    """Return facts to be told, with the closed containers of rooms of which they say that they were searched.

    Who hears that a room was searched would take it for empty, and has not heard of what is shut in there.
    """
    words, known, facts_to_tell = situation.words, situation.facts, dict[Fact, None]()
    shut = [fact.subject for fact in known.about(words.access) if fact.value == words.closed] if words.access else []
    for fact in facts:
        facts_to_tell[fact] = None
        if fact.predicate == words.search:
            inside = [box for box in shut if not isinstance(box, str) and known.value(box, words.room) == fact.subject]
            facts_to_tell |= dict.fromkeys(
                more
                for box in inside
                for more in (Fact(box, words.room, fact.subject), Fact(box, words.access, words.closed))
                if more in known
            )
    return list(facts_to_tell)


# ---- what it is worth


class Estimate(NamedTuple):
    """What a message would save, by estimate."""

    facts: tuple[Fact, ...]
    """What could be told."""
    by_facts: Mapping[AgentId, float]
    """Steps that each teammate in sight is spared if it is told the facts."""
    by_plan: Mapping[AgentId, float]
    """Steps that are lost between the agent's plan and each teammate's likely ones."""


def estimate(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Estimate:
    """Return what a message would save, by its facts and by its plan.

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
    positive = [
        {teammate: round(gain, 1) for teammate, gain in gains.items() if gain > 0} for gains in (by_facts, by_plan)
    ]
    return Estimate(facts, *({teammate: gain for teammate, gain in gains.items() if gain > 0} for gains in positive))


def concerned_teammates(
    situation: Situation, known: Mapping[AgentId, Sequence[Intent]] | None = None
) -> tuple[AgentId, ...]:
    """Return the teammates that a message may spare steps, whatever they intend; none where that is too little.

    That is who is in sight and lacks what matters, and whose possible plans conflict with the agent's: as many as are
    predicted at most, those first that lack something, then those with most to lose.

    Args:
        situation: Of the agent, with its new subplan.
        known: The intents that count, where nobody is asked for them; else all that teammates could do.
    """
    facts, t = untold_facts(situation), situation.view.t
    ignorant = [
        teammate
        for teammate in situation.teammates
        if situation.last_met.get(teammate) == t and situation.missing_from(teammate, facts)
    ]
    own, announced = situation.own_options[:1], situation.own_announcement
    is_announced = announced is not None and announced.subplan == situation.subplan
    cost, most = situation.domain.beliefs.conflict_cost, dict[AgentId, float]()
    for teammate in situation.teammates if situation.options.foresee and own and not is_announced else ():
        if known is None:
            options = [prospect.option for prospect in teammate_prospects(situation, teammate).values()]
            intents = announced_intents(situation, teammate) if teammate in situation.announced else []
        else:
            options, intents = [], list(known.get(teammate, ()))
        options += [intent.option for intent in intents]
        most[teammate] = max((cost(own[0], option, situation.facts) for option in options), default=0.0)
    if not ignorant and fsum(most.values()) <= situation.options.theta + STEP:
        return ()
    concerned = [teammate for teammate in situation.teammates if teammate in ignorant or most.get(teammate, 0.0) > 0]
    concerned.sort(key=lambda teammate: (teammate not in ignorant, -most.get(teammate, 0.0)))
    return tuple(concerned[: situation.options.predicted])


def assess(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return whether a message saves more steps than it takes, by its facts and by its plan."""
    facts, ignorant, against = estimate(situation, intents)
    threshold = situation.options.theta + STEP
    if fsum(against.values()) <= threshold:  # a plan has to pay by itself
        against = {}
    saved = fsum((*ignorant.values(), *against.values()))
    reasons = [
        f"{words} {', '.join(f'{teammate} ({gain:g} steps)' for teammate, gain in gains.items())}"
        for words, gains in (("what I know spares", ignorant), ("my plan conflicts with likely ones of", against))
        if gains
    ]
    return Assessment(
        speaks=saved > threshold,
        saved=saved,
        lacking={teammate: situation.missing_from(teammate, facts) for teammate in ignorant},
        against=tuple(against),
        announces=bool(against),
        reason="; ".join(reasons) if saved > threshold else "",
    )


def assess_all(situation: Situation) -> Assessment:
    """Return all that could be told, for gates that do not assess it."""
    facts = untold_facts(situation)
    lacking = {agent: situation.missing_from(agent, facts) for agent in situation.teammates}
    return Assessment(False, lacking=lacking)


def _steps_lost(situation: Situation, intents: Iterable[Intent], *, is_expected: bool) -> float:
    """Return the steps that are lost between the agent's plan and a teammate's intents, if that one is not told of it.

    None are if the plan was announced, or with intents that would stand all the same; fewer with ``is_expected``, the
    likelier the agent was to plan so.
    """
    subplan, announced = situation.subplan, situation.own_announcement
    is_announced = announced is not None and announced.subplan == subplan
    if subplan is None or subplan.actions in ((), (WAIT,)) or is_announced or not situation.options.foresee:
        return 0.0
    planned, cost = situation.own_options[0], situation.domain.beliefs.conflict_cost
    alone = expect_alone(situation, situation.agent) if is_expected else ()
    predicted = {intent.option.action: intent.weight for intent in alone}
    yielding = (intent for intent in intents if not stands(situation, intent))
    lost = fsum(intent.weight * cost(planned, intent.option, situation.facts) for intent in yielding)
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
    return 0.0 if before is None or after is None else min(before - after, situation.view.steps_left)


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
    """Return whether a teammate before the agent in the team can say the same; its plan only the agent itself can."""
    before = takewhile(lambda agent: agent != situation.agent, situation.team)
    return not assessment.against and any(not situation.missing_from(teammate, assessment.facts) for teammate in before)


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
