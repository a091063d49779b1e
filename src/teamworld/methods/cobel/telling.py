"""What a message is worth, and what it says (CoBel-World spec B3.5).

A message saves the ticks that a team-mate would spend on what the agent knows to be in vain, and those that both would
spend on the same; it costs the step in which it is sent, and its length. Where agents fetch and bring, it is worth the
ticks by which the team is done earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from math import fsum, inf
from typing import Final, Generic, NamedTuple, TypeVar

from teamworld.language import Action, AgentId, Entity, Fact, Facts
from teamworld.methods.cobel import ahead
from teamworld.methods.cobel.engine import Assessment, Intent, Letter, Misaligned, Situation, Subplan
from teamworld.methods.cobel.exact import by_action, options_of, outlook
from teamworld.methods.cobel.posterior import likeliest, prior
from teamworld.planning.fetch import HOLD, carrying_capacity, wanted_kind
from teamworld.worlds.contract import WAIT, Option

T = TypeVar("T")

#: Ticks that a message takes its speaker: it takes the step (spec A8).
STEP: Final = 1.0
#: Ticks after which what is foreseen of a team-mate out of sight comes true half as often, by the development homes.
FADES: Final = 2.0
#: Ticks a character: a message of full length takes a tick to read and think over.
CHARACTER: Final = 0.001
#: Things and places that are thought of telling at one assessment, at most.
LOOKED: Final = 8
#: Ticks of a search when all that was thought of came to nothing.
SEARCH: Final = 20.0
#: Actions of a team-mate that are thought ahead at most, and the chance below which nothing is left to find.
AHEAD, RARE = 6, 0.05
#: Team-mates, at most, of whom more than two actions are thought ahead.
FEW: Final = 3
#: Actions that a team-mate may begin with, and those that it may go on with, the likeliest.
FIRST, OPEN = 3, 12
#: Reasons that are given, at most (spec A11).
REASONS: Final = 3
#: How things are said to be in places.
_PLACES: Final = ("IN", "INSIDE")
#: Predicates that are not worth telling: where exactly something is, beside saying in what.
_UNTOLD: Final = frozenset({"POSITION", "NEAR"})


class Chosen(NamedTuple, Generic[T]):
    """What is worth telling."""

    items: tuple[T, ...]
    gain: float
    """Of all items together."""
    price: float
    """Of all items together."""

    def pays(self, threshold: float, price: float = 0.0) -> bool:
        """Whether to send it: if the gain, less the items' price, exceeds the threshold and the price of sending."""
        return self.gain - self.price > threshold + price


def choose(
    items: Sequence[T],
    gain: Callable[[Sequence[T]], float],
    price: Callable[[T], float],
    room: float = inf,
) -> Chosen[T]:
    """Choose what to tell, one item after another, each time the one that gains most for its price.

    An item is only taken while what it adds exceeds its price. Gains need not add up: each is what the
    item adds to those already taken, so the second of two items that say the same is worth nothing.

    Args:
        items: What could be told, in an order that settles ties.
        gain: What telling some items gains, in the order in which they were taken.
        price: What telling an item costs, above 0 or 0.
        room: The most that all items may cost together.
    """
    taken: list[T] = []
    open_items = list(items)
    total, spent = 0.0, 0.0
    while open_items:
        prices = [price(item) for item in open_items]
        adds = [gain([*taken, item]) - total for item in open_items]
        pay = [n for n, cost in enumerate(prices) if adds[n] > cost and spent + cost <= room]
        if not pay:
            break
        best = max(pay, key=lambda n: (adds[n] / prices[n] if prices[n] > 0 else inf, adds[n], -n))
        taken.append(open_items.pop(best))
        total, spent = total + adds[best], spent + prices[best]
    return Chosen(tuple(taken), total, spent)


class Item(NamedTuple):
    """Facts that are told together."""

    facts: tuple[Fact, ...]

    @property
    def price(self) -> float:
        """Ticks."""
        return CHARACTER * sum(len(str(fact)) + 2 for fact in self.facts)


def assessed(now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return what a message would save, in ticks, and of what (spec B3.5)."""
    return (by_plays if _ends(now) else by_courses)(now, intents)


def everything(now: Situation) -> Assessment:
    """Return all that could be told, unassessed: for gates that do not ask what it is worth."""
    told = _facts(items(now))
    misaligned = tuple(Misaligned(mate, lacking(now, mate, told), 0.0) for mate in now.mates)
    return Assessment(False, misaligned=misaligned, plan=not _ends(now))


def _ends(now: Situation) -> bool:
    """Return whether the team can be played to the end in thought."""
    return now.options.foresee and ahead.applies(now)


def by_courses(now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return what a message would save each team-mate until something comes of what it does, and what both of us."""
    subplan = now.subplan or Subplan()
    news = subplan.actions and subplan.actions[0] != WAIT and not (now.mine and now.mine.subplan == subplan)
    mine = options_of(now.domain, now.me, subplan, now.given)[:1] if news and now.options.foresee else []
    minds = {mate: Courses(now, mate, mine, intents.get(mate, ())) for mate in now.mates}
    told = _telling(now, minds)
    both = {mate: mind.gain(told, announced=True) for mate, mind in minds.items()}
    facts = {mate: mind.gain(told, announced=False) for mate, mind in minds.items()}
    saved = fsum(both.values())
    price = STEP + CHARACTER * sum(len(str(fact)) + 2 for fact in told)
    plans = {mate: both[mate] - facts[mate] for mate in now.mates}
    lacks = f"does not know what I know of {_names(told)}"
    reasons = [(gain, f"{mate} {lacks}") for mate, gain in facts.items() if gain > 0 and told]
    reasons += [(gain, f"{mate} may do {mine[0].action} too") for mate, gain in plans.items() if gain > 0 and mine]
    clashing = any(gain > 0 for gain in plans.values())
    return Assessment(
        clash=saved > now.options.theta + price,
        kind=("both" if told else "plans") if clashing else ("knowledge" if told else "none"),
        severity=saved,
        reasons=tuple(reason for _, reason in sorted(reasons, key=lambda one: -one[0])[:REASONS]),
        misaligned=tuple(Misaligned(mate, lacking(now, mate, told), gain) for mate, gain in facts.items() if gain > 0),
        against=tuple(mate for mate, gain in plans.items() if gain > 0),
    )


def by_plays(now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    """Return by how much earlier the team would be done, where that can be played to the end (see ``ahead``)."""
    try:
        return _played(now, intents)
    except (LookupError, ValueError, TypeError, ArithmeticError):  # somebody was told what makes no sense
        return Assessment(False)


def _played(now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
    news = items(now)
    sure = _sure(now)
    if not news or sure <= RARE:
        return Assessment(False)
    team = ahead.Ahead(now, intents, ahead.CHOICE)

    def gain(some: Sequence[Item]) -> float:
        return sure * team.saved(_facts(some)) if some else 0.0

    if gain(news) <= now.options.theta + STEP:  # not worth a step, whatever is told of it
        return Assessment(False)
    chosen = choose(news, gain, lambda item: item.price, CHARACTER * now.options.length)
    told = _facts(chosen.items)
    if not chosen.pays(now.options.theta, STEP):
        return Assessment(False)
    chosen = chosen._replace(gain=sure * ahead.Ahead(now, intents, ahead.JUDGEMENT, team.ways).saved(told))
    lacks = [(mate, facts) for mate in now.mates if (facts := lacking(now, mate, told))]
    return Assessment(
        clash=chosen.pays(now.options.theta, STEP),
        kind="knowledge" if lacks else "none",
        severity=chosen.gain,
        reasons=tuple(f"{mate} does not know what I know of {_names(facts)}" for mate, facts in lacks[:REASONS]),
        misaligned=tuple(Misaligned(mate, facts, chosen.gain) for mate, facts in lacks),
        plan=False,  # to announce the next action as well was tried, and cost steps
    )


def _sure(now: Situation) -> float:
    """Return the share of what is foreseen that comes true: of a team-mate out of sight, the less the longer."""
    known = [now.given.value(mate, "AT") is not None for mate in now.mates]
    gone = [now.view.t - now.met.get(mate, 0) for mate in now.mates]
    return fsum(0.5 ** (ticks / FADES) for ticks, met in zip(gone, known, strict=True) if met) / len(gone)


def _facts(some: Iterable[Item]) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(fact for item in some for fact in item.facts))


def _names(facts: Iterable[Fact]) -> str:
    return ", ".join(dict.fromkeys(str(fact.subject) for fact in facts))


def _clash(now: Situation, mine: Sequence[Option], other: Option) -> float:
    return max((now.domain.conflict_cost(one, other, now.given) for one in mine), default=0.0)


def _telling(now: Situation, minds: Mapping[AgentId, Courses]) -> tuple[Fact, ...]:
    """Return the facts that are worth telling."""
    news = items(now)

    def gain(some: Sequence[Item]) -> float:
        facts = [fact for item in some for fact in item.facts]
        return fsum(mind.gain(facts, announced=True) for mind in minds.values())

    if not news or gain(news) <= now.options.theta + STEP:  # not worth a step, whatever is told of it
        return ()
    none = gain(())
    chosen = choose(news, lambda some: gain(some) - none, lambda item: item.price, CHARACTER * now.options.length)
    return tuple(fact for item in chosen.items for fact in item.facts)


class Courses:
    """What a team-mate may do, whatever it may have found and taken in hand since it was seen last."""

    def __init__(self, now: Situation, mate: AgentId, mine: Sequence[Option], intents: Sequence[Intent]) -> None:
        hands = _hands(now, mate)
        self._each = [(weight, _Course(now, mate, mine, intents, taken)) for weight, taken in hands if weight > 0]

    def gain(self, facts: Sequence[Fact], *, announced: bool) -> float:
        """Return the expected ticks that are saved if it is told some facts, and the agent's plan."""
        return fsum(weight * one.gain(facts, announced=announced) for weight, one in self._each)


def _hands(now: Situation, mate: AgentId) -> list[tuple[float, tuple[Fact, ...]]]:
    """Return what a team-mate may have taken in hand since it was seen last, with probabilities (spec B3.2)."""
    most, given = carrying_capacity(now.domain), now.given
    own = [fact for fact in given if fact.subject == mate]
    if most < 2 or sum(fact.predicate == HOLD for fact in own) >= most:
        return [(1.0, ())]
    last = max((given.seen.get(fact, now.view.t) for fact in own), default=0)
    open_ = [unknown.values[0].fact.subject for unknown in now.unknowns if unknown.values]
    things = [
        one for one in open_ if isinstance(one, Entity) and not any(one == goal.thing for goal in now.goals.values())
    ]
    if not things or now.view.t <= last:
        return [(1.0, ())]
    found = 1 - 0.5 ** ((now.view.t - last) / ahead.FIND)
    return [(1 - found, ()), *((found / len(things), (Fact(mate, HOLD, thing),)) for thing in things)]


class _Course:
    """What a team-mate does one after the other until something comes of it, and what it saves if it is told something.

    It takes its prospects by their rate, as it believes; whether something comes of one is judged by what the agent
    holds. What the agent is about to do itself comes to nothing for others, in so far as it clashes.
    """

    def __init__(
        self,
        now: Situation,
        mate: AgentId,
        mine: Sequence[Option],
        intents: Sequence[Intent],
        taken: tuple[Fact, ...],
    ) -> None:
        self._now, self._mate = now, mate
        given = Facts((*now.given, *taken), now.given.seen) if taken else now.given
        self._true = by_action(outlook(now, mate, given))
        self._kept = {
            action: 1 - min(1.0, _clash(now, mine, one.option) / max(1, min(one.first, mine[0].steps)))
            for action, one in self._true.items()
            if mine
        }
        things = [
            one.option.action.args[0] for one in self._true.values() if one.goal is not None and one.actions[0].args
        ]
        self._holding = {
            now.given.value(thing, predicate) for thing in things if isinstance(thing, Entity) for predicate in _PLACES
        }
        self._held = Facts((*now.minds[mate], *taken), now.minds[mate].seen) if taken else now.minds[mate]
        prior = self._prior(self._held, {})
        seen = {one.subplan.actions[0]: one.weight for one in intents if one.subplan.actions}
        rest = max(0.0, 1 - fsum(seen.values())) / max(RARE, 1 - fsum(prior.get(one, 0.0) for one in seen))
        # What its steps and words say for and against each action, beside what it holds.
        self._speaks = (
            {one: seen[one] / chance if one in seen else rest for one, chance in prior.items()} if seen else {}
        )
        self._before = self._cost(self._held, announced=False)

    def gain(self, facts: Sequence[Fact], *, announced: bool) -> float:
        """Return the ticks that are saved if the team-mate is told some facts, and the agent's plan."""
        held = self._held
        new = [fact for fact in facts if fact not in held]
        if not (new or (announced and self._kept)):
            return 0.0
        if new:
            gone = set(self._now.schema.displaced(held, new))
            held = Facts((*(fact for fact in held if fact not in gone), *new), held.seen)
        return self._before - self._cost(held, announced=announced)

    def _cost(self, held: Facts, *, announced: bool) -> float:
        """Return the expected ticks until something comes of what the team-mate does, whatever it begins with."""
        found = by_action(outlook(self._now, self._mate, held))
        seen = self._kept if announced else {}
        likely = {one: chance * self._speaks.get(one, 1.0) for one, chance in self._prior(held, seen).items()}
        best = likeliest(likely, FIRST)
        whole = fsum(weight for _, weight in best)
        if whole <= 0:
            return SEARCH
        some = likeliest(likely, OPEN)
        gains = {action: found[action].rate * found[action].ticks * seen.get(action, 1.0) for action, _ in some}
        return fsum(weight / whole * self._chain(action, dict(gains), held) for action, weight in best)

    def _prior(self, held: Facts, seen: Mapping[Action, float]) -> dict[Action, float]:
        """Return how likely it begins with each action, by what it holds; all alike where nothing is to be foreseen."""
        found = by_action(outlook(self._now, self._mate, held))
        if not self._now.options.foresee:
            return dict.fromkeys(found, 1 / len(found)) if found else {}
        rates = {action: one.rate * seen.get(action, 1.0) for action, one in found.items()}
        top = max(rates.values(), default=0.0)
        return prior({one: rate / top for one, rate in rates.items()}, self._now.options.tau) if top > 0 else {}

    def _chain(self, action: Action, gains: dict[Action, float], at: Facts) -> float:
        """Return the expected ticks if it begins with an action and goes on with what is then best a tick."""
        domain, total, left = self._now.domain, 0.0, 1.0
        for _ in range(AHEAD if len(self._now.mates) <= FEW else 2):
            del gains[action]
            total, left = (
                total + left * max(1, domain.estimate_steps(self._mate, action, at)),
                left * (1 - self._chance(action)),
            )
            if left < RARE:
                return total
            at = domain.predict(self._mate, action, at)
            rates = {one: gain / max(1, domain.estimate_steps(self._mate, one, at)) for one, gain in gains.items()}
            if not rates:
                break
            action = max(rates, key=lambda one: rates[one])
        return total + left * SEARCH

    def _chance(self, action: Action) -> float:
        """Return how likely something comes of an action, as the agent believes."""
        true = self._true.get(action)
        chance = 0.0 if true is None else true.chance
        if action.args and action.args[0] in self._holding:
            chance = 1.0
        return chance * self._kept.get(action, 1.0)


def lacking(now: Situation, mate: AgentId, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return which of some facts a team-mate does not hold, as far as the agent knows."""
    held = now.minds[mate]
    return tuple(fact for fact in facts if fact not in held)


def items(now: Situation) -> list[Item]:
    """Return what the agent could tell: facts that matter to goals and that some team-mate does not hold.

    Of each thing that goals are about, and of what they want any of, what is known of it; what the agent holds itself;
    and which places nothing is left in.
    """
    wanted = {goal.thing for goal in now.goals.values() if goal.thing is not None and goal.state == "open"}
    kinds = {wanted_kind(goal) for goal in now.goals.values() if goal.state == "open"}
    opens = [unknown for given in (now.given, *now.minds.values()) for unknown in now.domain.latent_variables(given)]
    values = [value.fact for unknown in opens for value in unknown.values]
    kinds |= {fact.subject.kind for fact in values if isinstance(fact.subject, Entity)}
    left = {value.fact.value for unknown in now.unknowns for value in unknown.values}
    left |= {value.part_of.value for unknown in now.unknowns for value in unknown.values if value.part_of is not None}
    places = {fact.value for fact in values if isinstance(fact.value, Entity)} - left
    parts: dict[object, list[Fact]] = {}
    for fact in now.given:
        subject = fact.subject
        if fact.predicate in _UNTOLD or fact in now.guessed or not now.schema.statable(fact):
            continue
        if subject == now.me and fact.predicate == HOLD:
            parts.setdefault(now.me, []).append(fact)
        elif isinstance(subject, Entity) and (subject in wanted or subject.kind in kinds):
            parts.setdefault(subject, []).extend((*_about(fact, now.given), fact))
        elif subject in places and fact.predicate not in ("IN", "INSIDE", "STATE"):
            parts.setdefault(subject, []).append(fact)
    for facts in list(parts.values()):  # who is told that a place was looked through is told all that matters in it
        for fact in [fact for fact in facts if fact.predicate in _PLACES and fact.value in parts]:
            parts[fact.value].extend(facts)
    lacking_ = [tuple(dict.fromkeys(facts)) for facts in parts.values()]
    return [Item(facts) for facts in lacking_ if any(f not in now.minds[m] for f in facts for m in now.mates)][:LOOKED]


def _about(fact: Fact, given: Facts) -> Iterable[Fact]:
    """Yield what is known of the place that a fact names, so that who is told of it can find it."""
    if isinstance(fact.value, Entity) and fact.predicate in ("INSIDE", "ON"):
        for predicate in ("IN", "STATE"):
            value = given.value(fact.value, predicate)
            if value is not None:
                yield Fact(fact.value, predicate, value)


def others_say(now: Situation, found: Assessment) -> bool:
    """Return whether a team-mate can say the same, as far as the agent knows, who comes before it in the team.

    Who holds all the facts can tell them, and whose plan clashes with the agent's can announce it: one word is enough.
    Where the team is played to the end everybody counts on what it tells itself, so nothing is left to others there.
    """
    if _ends(now):
        return False
    facts = [fact for one in found.misaligned for fact in one.facts]
    return any(
        all(fact in now.minds[mate] for fact in facts)
        and (not found.against or (mate in found.against and mate not in now.announced))
        for mate in takewhile(lambda one: one != now.me, now.team)
    )


def letter(now: Situation, found: Assessment) -> Letter:
    """Return the message: what the others do not know, and the agent's subplan (spec A8), within the length."""
    told = found.plan and now.subplan is not None and now.subplan.actions not in ((), (WAIT,))
    plan = now.subplan if told else None
    facts = list(dict.fromkeys(fact for one in found.misaligned for fact in one.facts))
    while facts and len(worded(facts, plan)) > now.options.length:
        facts.pop()
    if len(worded(facts, plan)) > now.options.length:
        plan = None
    to: tuple[AgentId, ...] | None = None
    if now.options.to == "concerned" and len(now.team) > 3:
        concerned = {*(one.mate for one in found.misaligned), *found.against}
        to = tuple(mate for mate in now.mates if mate in concerned) or None
    return Letter(worded(facts, plan), tuple(facts), plan, to)


def worded(facts: Sequence[Fact], plan: Subplan | None) -> str:
    """Return a message in the form that ``read_plan`` reads."""
    told = [f"I know: {'; '.join(map(str, facts))}."] if facts else []
    told += [f"I will: {plan.text}."] if plan is not None else []
    return " ".join(told)
