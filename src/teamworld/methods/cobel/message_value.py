"""What a message is worth, and what it says.

A message saves the ticks that a teammate would spend on what the agent knows to be in vain, and those that both would
spend on the same; it costs the step in which it is sent, and its length. Where agents fetch and bring, it is worth the
ticks by which the team is done earlier (``rollout``). A warning of danger saves more than any message costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from math import fsum, inf
from typing import Final, Generic, NamedTuple, TypeVar

from teamworld.language import Action, AgentId, Entity, Fact, Facts
from teamworld.methods.cobel import rollout
from teamworld.methods.cobel.beliefs import LIKELY
from teamworld.methods.cobel.inference import by_action, likeliest, outlook, prior
from teamworld.methods.cobel.situation import (
    Assessment,
    Intent,
    MessageDraft,
    Situation,
    Subplan,
    plan_options,
)
from teamworld.planning.fetch import wanted_kind
from teamworld.worlds.contract import WAIT, Domain, ImpossibleFacts, Option

T = TypeVar("T")

#: Ticks that a message takes its speaker: it takes the step.
STEP: Final = 1.0
#: Ticks a character: a message of 1,000 characters takes a tick to read and think over.
CHARACTER: Final = 0.001
#: Ticks after which what is foreseen of a teammate out of sight comes true half as often, by the development homes.
FADES: Final = 2.0
#: Things and places that are thought of telling at one assessment, at most.
CONSIDERED: Final = 8
#: Ticks of a search when all that was thought of came to nothing.
SEARCH: Final = 20.0
#: Actions of a teammate that are thought ahead at most, and the chance below which nothing is left to find.
AHEAD, RARE = 6, 0.05
#: Teammates, at most, of whom more than two actions are thought ahead.
FEW: Final = 3
#: Actions that a teammate may begin with, and those that it may go on with, the likeliest.
FIRST, OPEN = 3, 12
#: Reasons that are given, at most.
REASONS: Final = 3
#: Ticks ahead in which a danger is worth a warning: time to hear of it and to leave.
WARNED_AHEAD: Final = 30
#: Ticks that are lost with an agent that is lost: more than any message costs.
LOST: Final = 1000.0


class Choice(NamedTuple, Generic[T]):
    """What is worth telling."""

    items: tuple[T, ...]
    gain: float
    """Of all items together."""
    price: float
    """Of all items together."""

    def pays(self, threshold: float) -> bool:
        """Return whether the gain, less the items' price, exceeds the threshold."""
        return self.gain - self.price > threshold


def choose(
    items: Sequence[T], gain: Callable[[Sequence[T]], float], price: Callable[[T], float], budget: float = inf
) -> Choice[T]:
    """Choose what to tell, one item after another, each time the one that gains most for its price.

    An item is only taken while what it adds exceeds its price. Gains need not add up: each is what the
    item adds to those already taken, so the second of two items that say the same is worth nothing.

    Args:
        items: What could be told, in an order that settles ties.
        gain: What telling some items gains, in the order in which they were taken.
        price: What telling an item costs, above 0 or 0.
        budget: The most that all items may cost together.
    """
    taken: list[T] = []
    left = list(items)
    total, spent = 0.0, 0.0
    while left:
        prices = [price(item) for item in left]
        adds = [gain([*taken, item]) - total for item in left]
        paying = [n for n, cost in enumerate(prices) if adds[n] > cost and spent + cost <= budget]
        if not paying:
            break
        best = max(paying, key=lambda n: (adds[n] / prices[n] if prices[n] > 0 else inf, adds[n], -n))
        taken.append(left.pop(best))
        total, spent = total + adds[best], spent + prices[best]
    return Choice(tuple(taken), total, spent)


# ---- what could be told

#: Facts that are told together.
FactGroup = tuple[Fact, ...]


def untold_facts(situation: Situation) -> list[FactGroup]:
    """Return what the agent could tell: facts that matter to goals and that some teammate does not hold.

    Of each thing that goals are about, and of what they want any of, what is known of it; what the agent holds itself;
    and which places nothing is left in.
    """
    facts, domain, words = situation.facts, situation.domain, situation.words
    goals = [goal for goal in situation.goals.values() if goal.state == "open"]
    wanted = {goal.thing for goal in goals if goal.thing is not None}
    latents = [
        latent for held in (facts, *situation.ascribed.values()) for latent in domain.beliefs.latent_variables(held)
    ]
    values = [value.fact for latent in latents for value in latent.values]
    kinds = {wanted_kind(goal) for goal in goals}
    kinds |= {fact.subject.kind for fact in values if isinstance(fact.subject, Entity)}
    left = {value.fact.value for latent in situation.latents for value in latent.values}
    left |= {v.part_of.value for latent in situation.latents for v in latent.values if v.part_of is not None}
    places = {fact.value for fact in values if isinstance(fact.value, Entity)} - left
    groups: dict[object, list[Fact]] = {}
    for fact in facts:
        subject = fact.subject
        is_exact = fact.predicate in (words.position, words.near)  # where it is exactly, beside saying in what
        if is_exact or fact in situation.inferred or not situation.schema.statable(fact):
            continue
        if subject == situation.agent and fact.predicate == words.held:
            groups.setdefault(subject, []).append(fact)
        elif isinstance(subject, Entity) and (subject in wanted or subject.kind in kinds):
            groups.setdefault(subject, []).extend((*_of_place(fact, situation), fact))
        elif subject in places and fact.predicate not in (words.room, words.container, words.access):
            groups.setdefault(subject, []).append(fact)
    for group in list(groups.values()):  # who is told that a place was looked through is told all that matters in it
        for fact in [
            fact for fact in group if fact.predicate in (words.room, words.container) and fact.value in groups
        ]:
            groups[fact.value].extend(group)
    held_by = situation.ascribed.values()
    distinct = [tuple(dict.fromkeys(group)) for group in groups.values()]
    return [group for group in distinct if any(fact not in held for fact in group for held in held_by)][:CONSIDERED]


def _of_place(fact: Fact, situation: Situation) -> Iterable[Fact]:
    """Yield what is known of the place that a fact names, so that who is told of it can find it."""
    words = situation.words
    if isinstance(fact.value, Entity) and fact.predicate in (words.container, words.surface):
        for predicate in (words.room, words.access):
            value = situation.facts.value(fact.value, predicate)
            if value is not None:
                yield Fact(fact.value, predicate, value)


def _price(facts: Iterable[Fact]) -> float:
    """Return the ticks that it takes to say some facts."""
    return CHARACTER * sum(len(str(fact)) + 2 for fact in facts)


def _flat(groups: Iterable[FactGroup]) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(fact for group in groups for fact in group))


def _subjects(facts: Iterable[Fact]) -> str:
    return ", ".join(dict.fromkeys(str(fact.subject) for fact in facts))


# ---- what it is worth


def assess(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return what a message would save, in ticks, and of what."""
    return (assess_by_rollout if _is_simulated(situation) else assess_by_forecast)(situation, intents)


def assess_all(situation: Situation) -> Assessment:
    """Return all that could be told, unassessed: for gates that do not ask what it is worth."""
    facts = _flat(untold_facts(situation))
    lacking = {teammate: situation.missing_from(teammate, facts) for teammate in situation.teammates}
    return Assessment(False, lacking=lacking, announces=not _is_simulated(situation))


def _is_simulated(situation: Situation) -> bool:
    """Return whether the team can be simulated to the end."""
    return situation.options.foresee and rollout.applies(situation)


def assess_by_rollout(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return by how much earlier the team would be done, where that can be simulated to the end."""
    try:
        return _assess_by_rollout(situation, intents)
    except ImpossibleFacts:
        return Assessment(False)


def _assess_by_rollout(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    groups, options = untold_facts(situation), situation.options
    likely = _foreseen_share(situation)
    if not groups or likely <= RARE:
        return Assessment(False)
    team = rollout.Rollout(situation, intents, rollout.CHOICE)

    def gain(groups: Sequence[FactGroup]) -> float:
        return likely * team.ticks_saved(_flat(groups)) if groups else 0.0

    threshold = options.theta + STEP
    if gain(groups) <= threshold:  # not worth a step, whatever is told of it
        return Assessment(False)
    choice = choose(groups, gain, _price, CHARACTER * options.length)
    if not choice.pays(threshold):
        return Assessment(False)
    facts = _flat(choice.items)
    judge = rollout.Rollout(situation, intents, rollout.JUDGEMENT, team.travel)
    choice = choice._replace(gain=likely * judge.ticks_saved(facts))
    lacking = {
        teammate: lacks for teammate in situation.teammates if (lacks := situation.missing_from(teammate, facts))
    }
    return Assessment(
        speaks=choice.pays(threshold),
        saved=choice.gain,
        reasons=tuple(
            f"{teammate} does not know what I know of {_subjects(lacks)}" for teammate, lacks in lacking.items()
        )[:REASONS],
        lacking=lacking,
        announces=False,  # to announce the next action as well was tried, and cost steps
    )


def _foreseen_share(situation: Situation) -> float:
    """Return the share of what is foreseen that comes true: of a teammate out of sight, the less the longer."""
    gone = {teammate: situation.view.t - situation.last_met.get(teammate, 0) for teammate in situation.teammates}
    met = (ticks for teammate, ticks in gone.items() if situation.facts.value(teammate, situation.words.at) is not None)
    return fsum(0.5 ** (ticks / FADES) for ticks in met) / len(gone)


def assess_by_forecast(situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return what a message would save each teammate until something comes of what it does, and what both agents."""
    subplan, own = situation.subplan or Subplan(), situation.own_announcement
    is_news = subplan.actions and subplan.actions[0] != WAIT and not (own and own.subplan == subplan)
    plan = plan_options(situation.domain, situation.agent, subplan, situation.facts)[:1]
    planned = plan[0] if plan and is_news and situation.options.foresee else None
    forecasts = {
        teammate: _forecasts(situation, teammate, planned, intents.get(teammate, ()))
        for teammate in situation.teammates
    }

    def gains(facts: Sequence[Fact], *, announced: bool) -> dict[AgentId, float]:
        return {
            teammate: fsum(weight * forecast.gain(facts, announced=announced) for weight, forecast in weighted)
            for teammate, weighted in forecasts.items()
        }

    facts = _choose_facts(situation, lambda facts: fsum(gains(facts, announced=True).values()))
    by_both, by_facts = gains(facts, announced=True), gains(facts, announced=False)
    by_plan = {teammate: by_both[teammate] - by_facts[teammate] for teammate in situation.teammates}
    saved = fsum(by_both.values())
    ignorant = {teammate: gain for teammate, gain in by_facts.items() if gain > 0}
    against = {teammate: gain for teammate, gain in by_plan.items() if gain > 0}
    subjects = _subjects(facts)
    reasons = [
        (gain, f"{teammate} does not know what I know of {subjects}") for teammate, gain in ignorant.items() if facts
    ]
    reasons += [(gain, f"{teammate} may do {planned.action} too") for teammate, gain in against.items() if planned]
    return Assessment(
        speaks=saved > situation.options.theta + STEP + _price(facts),
        saved=saved,
        reasons=tuple(reason for _, reason in sorted(reasons, key=lambda entry: -entry[0])[:REASONS]),
        lacking={teammate: situation.missing_from(teammate, facts) for teammate in ignorant},
        against=tuple(against),
    )


def _choose_facts(situation: Situation, gain: Callable[[Sequence[Fact]], float]) -> tuple[Fact, ...]:
    """Return the facts that are worth telling."""
    groups, options = untold_facts(situation), situation.options

    def gain_of(groups: Sequence[FactGroup]) -> float:
        return gain([fact for group in groups for fact in group])

    if not groups or gain_of(groups) <= options.theta + STEP:  # not worth a step, whatever is told of it
        return ()
    base = gain_of(())
    choice = choose(groups, lambda groups: gain_of(groups) - base, _price, CHARACTER * options.length)
    return tuple(fact for group in choice.items for fact in group)


def _forecasts(
    situation: Situation, teammate: AgentId, planned: Option | None, intents: Sequence[Intent]
) -> list[tuple[float, _Forecast]]:
    """Return what a teammate may do, with probabilities, whatever it may have taken in hand since it was seen last."""
    return [
        (weight, _Forecast(situation, teammate, planned, intents, taken))
        for weight, taken in _possible_hands(situation, teammate)
        if weight > 0
    ]


def _possible_hands(situation: Situation, teammate: AgentId) -> list[tuple[float, tuple[Fact, ...]]]:
    """Return what a teammate may have taken in hand since it was seen last, with probabilities."""
    facts, words, t = situation.facts, situation.words, situation.view.t
    own = [fact for fact in facts if fact.subject == teammate]
    if words.hands < 2 or sum(fact.predicate == words.held for fact in own) >= words.hands:
        return [(1.0, ())]
    last = max((facts.seen.get(fact, t) for fact in own), default=0)
    targets = {goal.thing for goal in situation.goals.values()}
    subjects = [latent.values[0].fact.subject for latent in situation.latents if latent.values]
    things = [thing for thing in subjects if isinstance(thing, Entity) and thing not in targets]
    if not things or t <= last:
        return [(1.0, ())]
    chance = 1 - 0.5 ** ((t - last) / rollout.FIND)
    return [(1 - chance, ()), *((chance / len(things), (Fact(teammate, words.held, thing),)) for thing in things)]


class _Forecast:
    """What a teammate does until something comes of it, and what it saves if it is told something.

    It takes its prospects by their rate, as it believes; whether something comes of one is judged by what the agent
    holds. What the agent is about to do itself comes to nothing for others, in so far as the two conflict.

    Args:
        situation: The agent's.
        teammate: Who.
        planned: What the agent is about to do and has not announced, if anything.
        intents: What the teammate may do, as predicted.
        taken: What it may have taken in hand unseen.
    """

    def __init__(
        self,
        situation: Situation,
        teammate: AgentId,
        planned: Option | None,
        intents: Sequence[Intent],
        taken: tuple[Fact, ...],
    ) -> None:
        self._situation, self._teammate = situation, teammate
        facts, held = situation.facts, situation.ascribed[teammate]
        true = Facts((*facts, *taken), facts.seen) if taken else facts
        self._true = by_action(outlook(situation, teammate, true))
        self._left: dict[Action, float] = {}  # share of each action's worth that the agent's plan leaves
        if planned is not None:
            for action, prospect in self._true.items():
                lost = situation.domain.beliefs.conflict_cost(planned, prospect.option, facts)
                self._left[action] = 1 - min(1.0, lost / max(1, min(prospect.first, planned.steps)))
        worked = (p.actions[0].args[0] for p in self._true.values() if p.goal is not None and p.actions[0].args)
        things = [thing for thing in worked if isinstance(thing, Entity)]
        self._filled = {
            facts.value(thing, predicate)
            for thing in things
            for predicate in (situation.words.room, situation.words.container)
        }
        self._held = Facts((*held, *taken), held.seen) if taken else held
        prior_ = self._prior(self._held, {})
        seen = {intent.subplan.actions[0]: intent.weight for intent in intents if intent.subplan.actions}
        rest = max(0.0, 1 - fsum(seen.values())) / max(RARE, 1 - fsum(prior_.get(action, 0.0) for action in seen))
        # What its steps and words say for and against each action, beside what it holds.
        self._likelihood = {a: seen[a] / p if a in seen else rest for a, p in prior_.items()} if seen else {}
        self._before = self._cost(self._held, announced=False)

    def gain(self, facts: Sequence[Fact], *, announced: bool) -> float:
        """Return the ticks that are saved if the teammate is told some facts, and the agent's plan."""
        new = [fact for fact in facts if fact not in self._held]
        if not (new or (announced and self._left)):
            return 0.0
        held = self._situation.facts_after_telling(self._teammate, new, self._held) if new else self._held
        return self._before - self._cost(held, announced=announced)

    def _cost(self, held: Facts, *, announced: bool) -> float:
        """Return the expected ticks until something comes of what the teammate does, whatever it begins with."""
        prospects = by_action(outlook(self._situation, self._teammate, held))
        left = self._left if announced else {}
        likely = {a: p * self._likelihood.get(a, 1.0) for a, p in self._prior(held, left).items()}
        begins = likeliest(likely, FIRST)
        whole = fsum(weight for _, weight in begins)
        if whole <= 0:
            return SEARCH
        goes_on = [action for action, _ in likeliest(likely, OPEN)]
        gains = {a: prospects[a].rate * prospects[a].ticks * left.get(a, 1.0) for a in goes_on}
        return fsum(weight / whole * self._chain(action, dict(gains), held) for action, weight in begins)

    def _prior(self, held: Facts, left: Mapping[Action, float]) -> dict[Action, float]:
        """Return how likely it begins with each action, by what it holds; all alike where nothing is to be foreseen."""
        prospects = by_action(outlook(self._situation, self._teammate, held))
        options = self._situation.options
        if not options.foresee:
            return dict.fromkeys(prospects, 1 / len(prospects)) if prospects else {}
        rates = {action: prospect.rate * left.get(action, 1.0) for action, prospect in prospects.items()}
        top = max(rates.values(), default=0.0)
        return prior({action: rate / top for action, rate in rates.items()}, options.tau) if top > 0 else {}

    def _chain(self, action: Action, gains: dict[Action, float], facts: Facts) -> float:
        """Return the expected ticks if it begins with an action and goes on with what is then best a tick."""
        situation, agent, total, left = self._situation, self._teammate, 0.0, 1.0

        def steps(action: Action) -> int:
            return max(1, situation.domain.estimate_steps(agent, action, facts))

        for _ in range(AHEAD if len(situation.teammates) <= FEW else 2):
            del gains[action]
            total, left = total + left * steps(action), left * (1 - self._chance(action))
            if left < RARE:
                return total
            facts = situation.domain.predict(agent, action, facts)
            rates = {option: gain / steps(option) for option, gain in gains.items()}
            if not rates:
                break
            action = max(rates, key=lambda option: rates[option])
        return total + left * SEARCH

    def _chance(self, action: Action) -> float:
        """Return how likely something comes of an action, as the agent believes."""
        prospect = self._true.get(action)
        chance = 0.0 if prospect is None else prospect.chance
        if action.args and action.args[0] in self._filled:
            chance = 1.0
        return chance * self._left.get(action, 1.0)


# ---- who says it, and how


def others_can_say(situation: Situation, assessment: Assessment) -> bool:
    """Return whether a teammate before the agent in the team can say the same, as far as the agent knows.

    Who holds all the facts can tell them, and whose plan conflicts with the agent's can announce it: one message is
    enough. Where the team is simulated to the end everybody counts on what it tells itself, so nothing is left to
    others there.
    """
    if _is_simulated(situation):
        return False
    facts, against = assessment.facts, assessment.against
    return any(
        not situation.missing_from(teammate, facts)
        and (not against or (teammate in against and teammate not in situation.announced))
        for teammate in takewhile(lambda agent: agent != situation.agent, situation.team)
    )


def draft_message(situation: Situation, assessment: Assessment) -> MessageDraft:
    """Return the message: what the others do not know, and the agent's subplan, within the length."""
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
    """Return a message in the form that ``inference.read_plan`` reads."""
    parts = [f"I know: {'; '.join(map(str, facts))}."] if facts else []
    parts += [f"I will: {plan.text}."] if plan is not None else []
    return " ".join(parts)


# ---- warnings of danger


def harm_probability(domain: Domain, agent: AgentId, facts: Facts) -> float:
    """Return the probability that an agent is harmed soon where it is; 0 in worlds that harm nobody."""
    return 0.0 if domain.danger is None else domain.danger.harm_probability(agent, WARNED_AHEAD, facts)


def assess_danger(situation: Situation) -> Assessment:
    """Return whom the agent has to warn, and by which facts: teammates in danger where they are who cannot know it."""
    warnings = {teammate: _warning(situation, teammate) for teammate in situation.teammates}
    lacking = {teammate: facts for teammate, facts in warnings.items() if facts}
    reasons = tuple(f"{teammate} is in danger and does not know it" for teammate in lacking)
    return Assessment(bool(lacking), LOST * len(lacking), reasons[:REASONS], lacking, announces=False)


def _warning(situation: Situation, teammate: AgentId) -> tuple[Fact, ...]:
    """Return few facts by which a teammate learns of its danger: halves of them while one will do."""
    held = situation.ascribed[teammate]

    def danger_given(facts: Facts) -> float:
        return harm_probability(situation.domain, teammate, facts)

    def learned(facts: Sequence[Fact]) -> float:
        return danger_given(situation.facts_after_telling(teammate, facts))

    if held is situation.facts or danger_given(situation.facts) <= danger_given(held):
        return ()
    facts = [fact for fact in situation.facts if fact not in held and _is_newer(situation, teammate, fact)]
    best = learned(facts)
    if best <= danger_given(held):
        return ()
    while len(facts) > 1:
        middle = len(facts) // 2
        half = next((half for half in (facts[:middle], facts[middle:]) if learned(half) >= best), None)
        if half is None:
            break
        facts = half
    return tuple(facts)


def _is_newer(situation: Situation, teammate: AgentId, fact: Fact) -> bool:
    """Return whether what the agent knows of a fact's subject is newer than what the teammate knows of it.

    What the teammate probably sees for itself, it knows now.
    """
    if isinstance(fact.subject, str) or not situation.schema.statable(fact):
        return False
    if situation.domain.beliefs.observation_probability(fact, teammate, situation.facts) >= LIKELY:
        return False
    held, t = situation.ascribed[teammate], situation.view.t
    newest = max((held.seen.get(known, t) for known in held if known.subject == fact.subject), default=-1)
    return situation.facts.seen.get(fact, t) > newest
