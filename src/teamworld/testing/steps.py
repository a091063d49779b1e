"""Checks of a world between its steps and after each of them, by name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from teamworld.errors import UserError
from teamworld.language import Action, Entity, Fact, GoalId, parse_action, parse_fact
from teamworld.planning.goals import workable_goals
from teamworld.planning.simulate import dry_run
from teamworld.testing.walk import Pause, Stride, plain
from teamworld.worlds.contract import WAIT, Relation, talk

NONSENSE = Action("no_such_verb")


def views(here: Pause) -> Iterator[str]:
    """Views say whose they are and when; what is known is what is perceived and what is remembered."""
    spec = here.world.spec
    for agent, view in here.views.items():
        if (view.agent, view.kind, view.t, view.left) != (agent, spec.kinds[agent], here.t, spec.horizon - here.t):
            yield f"the view of {agent} at tick {here.t} says {view.agent}, {view.kind}, t {view.t}, left {view.left}"
        if set(view.facts) & set(view.recall):
            yield f"{agent} remembers what it perceives: {next(iter(set(view.facts) & set(view.recall)))}"
        if set(view.known) != set(view.facts) | set(view.recall):
            yield f"known of {agent} is not facts and recall together"
        if any(fact not in view.recall.seen or view.recall.seen[fact] > here.t for fact in view.recall):
            yield f"recall of {agent} holds a fact without the tick of last sight, or one from the future"


def facts(here: Pause) -> Iterator[str]:
    """Facts can be written and read back, and are of the relations that the domain declares."""
    relations = here.world.domain.relations
    for fact in here.one.known:
        if parse_fact(str(fact)) != fact:
            yield f"{fact} reads back as {parse_fact(str(fact))}"
        if not any(_stated(relation, fact) for relation in relations):
            yield f"{fact} is of no relation that domain.relations declares"


def _stated(relation: Relation, fact: Fact) -> bool:
    kind = fact.subject.kind if isinstance(fact.subject, Entity) else "agent"
    if (relation.predicate, relation.subject) != (fact.predicate, kind):
        return False
    value = fact.value
    if isinstance(value, Entity):
        return value.kind in relation.values
    if isinstance(value, tuple):
        return "cell" in relation.values
    if isinstance(value, str):
        return value in relation.values or "agent" in relation.values
    return "number" in relation.values


def truth(here: Pause) -> Iterator[str]:
    """What is perceived is true, but for UNSEEN facts: these say what nobody knows."""
    true = set(here.world.truth())
    for agent, view in here.views.items():
        wrong = [fact for fact in view.facts if fact.predicate != "UNSEEN" and fact not in true]
        if wrong:
            yield f"{agent} perceives {wrong[0]}, which truth() does not contain"


def goals(here: Pause) -> Iterator[str]:
    """Goals are well-formed, known ones are goals of the world, and follow from what is known."""
    world = here.world
    known = {goal.id for goal in world.goals()}
    if len(known) < len(world.goals()):
        yield "two goals have one id"
    for goal in world.goals():
        if goal.quorum < 1 or goal.places < goal.quorum or goal.units < 0 or goal.weight < 0:
            yield f"{goal.id}: quorum {goal.quorum}, places {goal.places}, units {goal.units}, weight {goal.weight}"
        if not set(goal.kinds) <= set(world.spec.kinds.values()):
            yield f"{goal.id} is for kinds that no agent has: {', '.join(goal.kinds)}"
        if not set(goal.prerequisites) <= known - {goal.id}:
            yield f"{goal.id} waits for goals that are none: {', '.join(goal.prerequisites)}"
    view = here.one
    if not {goal.id for goal in view.goals} <= known:
        yield f"{view.agent} knows goals that the world does not have"
    if list(view.goals) != list(world.domain.goals(view.known)):
        yield f"the goals of {view.agent} are not those that domain.goals makes of what it knows"


def abilities(here: Pause) -> Iterator[str]:
    """An agent can wait and talk; measures name every parameter of every action."""
    measures, view = here.world.domain.measures, here.one
    verbs = {schema.verb: schema for schema in view.abilities}
    if not {"wait", "talk"} <= set(verbs):
        yield f"{view.agent} cannot both wait and talk"
    for verb, schema in verbs.items():
        if verb not in measures or len(measures[verb]) != len(schema.params):
            yield f"domain.measures does not name each parameter of {schema.form()}"
        elif measures[verb] != tuple(param.measure for param in schema.params):
            yield f"domain.measures and the parameters of {schema.form()} do not agree"
        if not schema.doc:
            yield f"{schema.form()} says nothing about what it does"


def options(here: Pause) -> Iterator[str]:
    """Options are legal, written in full, estimated, and the same as the domain's."""
    view, domain = here.one, here.world.domain
    if not view.able:
        return
    known, schemas = {goal.id for goal in view.goals}, {schema.verb: schema for schema in view.abilities}
    if list(view.options) != list(domain.options(view.agent, view.known)):
        yield f"the options of {view.agent} are not those of the domain"
    for option in view.options:
        action = option.action
        verdict = view.check(action)
        if not verdict.ok:
            yield f"{view.agent} has the option {action}, but view.check says: {verdict.reason}"
        if parse_action(str(action)) != action:
            yield f"{action} reads back otherwise"
        if action.verb not in schemas:
            yield f"{view.agent} has the option {action} and no such ability"
        else:
            schemas[action.verb].complete(action)
        if option.ticks < 1:
            yield f"{action} is estimated at {option.ticks} ticks"
        if option.goal is not None and option.goal not in known:
            yield f"{action} serves {option.goal}, a goal that {view.agent} does not know"


def candidate_plans(here: Pause) -> Iterator[str]:
    """There is a plan for each goal that an agent can work on, and for none; the first for none can begin."""
    view, domain = here.one, here.world.domain
    if not view.able:
        return
    idle = domain.candidate_plans(None, view.agent, view.known)
    if not idle or not dry_run(idle[0], view, domain).first_legal:
        yield f"{view.agent} has no plan to keep out of the way that can begin"
    for goal in workable_goals(view):
        plans = domain.candidate_plans(goal, view.agent, view.known)
        if not plans:
            yield f"there is no recipe for {goal.id} for {view.agent}"
        elif any(plan.goal != goal.id or not plan.actions for plan in plans):
            yield f"a recipe for {goal.id} is for another goal, or empty"
        elif not any((run := dry_run(plan, view, domain)).ok for plan in plans):
            yield f"no recipe for {goal.id} passes the dry run of {view.agent}: {run.reason}"


def preconditions(here: Pause) -> Iterator[str]:
    """Whoever is able can wait and talk; nonsense is refused with a reason, never with an exception."""
    view = here.one
    if view.able and not (view.check(WAIT).ok and view.check(talk(2)).ok):
        yield f"{view.agent} may not wait or talk, by view.check"
    wrong = [NONSENSE, Action("wait", (1, 2, 3)), Action("talk", ("never",))]
    wrong += [Action(schema.verb, ("no_such_name",) * 9) for schema in view.abilities]
    for action in wrong:
        verdict = view.check(action)
        if verdict.ok or not verdict.word:
            yield f"view.check({action}) gives {verdict}"


def pure(here: Pause) -> Iterator[str]:
    """The domain has no state: the same facts give the same answers, and expected effects change nothing."""
    view, domain = here.one, here.world.domain
    before = list(view.known)
    for option in view.options[:4]:
        then = [list(domain.after(view.agent, option.action, view.known)) for _ in range(2)]
        if then[0] != then[1]:
            yield f"domain.after({option.action}) gives two answers"
        if domain.ticks(view.agent, option.action, view.known) < 1:
            yield f"domain.ticks({option.action}) is below 1"
    if list(view.known) != before:
        yield "domain.after changed what it was given"


def latent_variables(here: Pause) -> Iterator[str]:
    """What is open has values that exclude one another, with weights above 0; goals that it matters to are known."""
    view, domain = here.one, here.world.domain
    if lacks := _lacks(domain, "latent_variables"):
        yield lacks
        return
    found = domain.latent_variables(view.known)
    if list(found) != list(domain.latent_variables(view.known)):
        yield "domain.latent_variables gives two answers"
    if len({unknown.name for unknown in found}) < len(found):
        yield f"two unknowns of {view.agent} have one name: {', '.join(unknown.name for unknown in found)}"
    goals, relations = {goal.id for goal in domain.goals(view.known)}, domain.relations
    for unknown in found:
        facts = [value.fact for value in unknown.values]
        if not facts or len(set(facts)) < len(facts):
            yield f"{unknown.name} has {len(facts)} values, of which {len(set(facts))} are different ones"
        for value in unknown.values:
            if not (math.isfinite(value.weight) and value.weight > 0):
                yield f"{value.fact}, a value of {unknown.name}, has the weight {value.weight}"
            if value.fact in view.known:
                yield f"{view.agent} knows {value.fact}, and it is a value of the unknown {unknown.name}"
            for fact in (value.fact, value.within or value.fact):
                relation = next((relation for relation in relations if _stated(relation, fact)), None)
                if relation is None or relation.most != 1:
                    yield f"{fact}, a value of {unknown.name}, is of no relation that has one value at a time"
        if not set(unknown.goals) <= goals:
            yield f"{unknown.name} matters to goals that {view.agent} does not know: {', '.join(unknown.goals)}"


def _lacks(domain: object, member: str) -> str:
    """Return what to say where a domain lacks a member that says something of beliefs."""
    if callable(getattr(domain, member, None)):
        return ""
    return f"the domain has no {member}(): derive it from contract.FullyObserved if nothing that matters is hidden"


def _some_facts(here: Pause) -> list[Fact]:
    """Return facts to ask about: some that are known, and some that may be so."""
    domain, known = here.world.domain, here.one.known
    open_to = domain.latent_variables(known) if not _lacks(domain, "latent_variables") else ()
    return [*known][:40] + [value.fact for unknown in open_to for value in unknown.values][:20]


def observation_probability(here: Pause) -> Iterator[str]:
    """How likely a fact is perceived is a probability, the same each time."""
    domain, known = here.world.domain, here.one.known
    if lacks := _lacks(domain, "observation_probability"):
        yield lacks
        return
    for fact in _some_facts(here):
        for agent in here.alive[:3]:
            chance = domain.observation_probability(fact, agent, known)
            if not 0 <= chance <= 1 or chance != domain.observation_probability(fact, agent, known):
                then = domain.observation_probability(fact, agent, known)
                yield f"domain.observation_probability({fact}) for {agent} is {chance}, and then {then}"


def conflict_cost(here: Pause) -> Iterator[str]:
    """What is lost if two agents do both is a number of ticks from 0 on, whoever of the two does which."""
    domain, view = here.world.domain, here.one
    if lacks := _lacks(domain, "conflict_cost"):
        yield lacks
        return
    mate = here.views[here.alive[(here.turn + 1) % len(here.alive)]]
    for one in view.options[:6] if view.able else ():
        for other in mate.options[:6] if mate.able else ():
            lost, turned = domain.conflict_cost(one, other, view.known), domain.conflict_cost(other, one, view.known)
            if not (math.isfinite(lost) and lost >= 0) or lost != turned:
                yield f"{one.action} beside {other.action} loses {lost} ticks, the other way round {turned}"


def text(here: Pause) -> Iterator[str]:
    """The plain text names the agent and is the same twice; an unknown form is refused."""
    view = here.one
    if view.agent not in view.text() or view.text() != view.text("plain"):
        yield f"the text of {view.agent} does not name it, or plain is not the first form"
    try:
        view.text("no such form")
    except UserError:
        return
    yield "a text form that does not exist is not refused with a UserError"


def snapshot(here: Pause) -> Iterator[str]:
    """The snapshot is plain JSON data, and taking it changes nothing."""
    shown = dict(here.world.snapshot())
    if not plain(shown):
        yield "the snapshot is not plain JSON data (tuples and number keys do not come back as they were)"
    if shown != dict(here.world.snapshot()):
        yield "two snapshots of one moment differ"


def in_range(here: Pause) -> Iterator[str]:
    """All alive hear without a limit, nobody hears itself, who hears is heard, and more reach loses nobody."""
    world, alive = here.world, here.alive
    for sender in alive:
        if set(world.in_range(sender, math.inf)) != set(alive) - {sender}:
            yield f"{sender} does not reach all living others when reach is unlimited"
        reached = [set(world.in_range(sender, reach)) for reach in (0, 2, 5, 1000)]
        if any(not near <= far for near, far in pairwise(reached)) or sender in reached[-1]:
            yield f"{sender} reaches itself, or fewer with more reach"
        for mate in reached[2]:
            if sender not in world.in_range(mate, 5):
                yield f"{mate} hears {sender} from 5 away, but not the other way round"


def leaving(here: Pause) -> Iterator[str]:
    """Who is gone, or was never there, has no view and takes no orders."""
    for agent in (*here.gone, "nobody_of_this_name"):
        for what, call in (("view", here.world.view), ("order", lambda a: here.world.step({a: WAIT}))):
            try:
                call(agent)
            except UserError:
                continue
            yield f"{agent} is not there, but gets a {what}"


def outcomes(step: Stride) -> Iterator[str]:
    """Each agent alive when the step began has an outcome, nobody else has; what failed says why."""
    report = step.report
    if set(report.outcomes) != set(step.alive):
        yield f"outcomes of {', '.join(report.outcomes)} where {', '.join(step.alive)} were alive"
    if report.ticks < 1:
        yield f"a step took {report.ticks} ticks"
    for agent, outcome in report.outcomes.items():
        if (outcome.status == "failed") != bool(outcome.reason):
            yield f"{agent}: {outcome.action} is {outcome.status} with the reason '{outcome.reason}'"
        if outcome.primitives and len(outcome.primitives) != report.ticks:
            yield f"{agent}: {len(outcome.primitives)} primitives in a step of {report.ticks} ticks"
        if not outcome.legal and outcome.status != "failed":
            yield f"{agent}: {outcome.action} was refused and is {outcome.status}"
    if not set(report.gone) <= set(step.alive):
        yield f"gone: {', '.join(report.gone)}, but not all of them were there"


def running(step: Stride) -> Iterator[str]:
    """Without an order, what runs goes on."""
    for agent, action in step.running.items():
        outcome = step.report.outcomes.get(agent)
        if outcome is not None and outcome.action != action:
            yield f"{agent} got no order while {action} ran, and did {outcome.action}"


class Progress:
    """Events are about goals and members; the progress of what is done adds up to 1."""

    def __init__(self) -> None:
        self._sums: defaultdict[GoalId, float] = defaultdict(float)

    def __call__(self, step: Stride) -> Iterator[str]:
        """Look at one step."""
        known, team = {goal.id for goal in step.world.goals()}, set(step.world.spec.agents)
        for event in step.report.goals:
            self._sums[event.goal] += event.delta
            if event.goal not in known or not set(event.participants) <= team:
                yield f"{event} is about a goal or an agent that is not there"
            if event.event == "done" and abs(self._sums[event.goal] - 1) > 1e-6:
                yield f"{event.goal} is done, and its progress adds up to {self._sums[event.goal]:g}"
        for attempt in step.report.attempts:
            have, need = dict(attempt.have), dict(attempt.need)
            if have.keys() != need.keys() or any(have[name] > need[name] for name in have):
                yield f"{attempt} has more than it needs, or not the same constraints"
            if attempt.goal not in known or (attempt.success and have != need):
                yield f"{attempt} succeeded without what it needed, or is about no goal"
        if "reward" not in step.report.score:
            yield "the score has no reward: how much the world's own score changed in the step"
        for name, score in step.report.score.items():
            if not math.isfinite(score):
                yield f"the score {name} is {score}"


PAUSES: Final[Mapping[str, Callable[[Pause], Iterator[str]]]] = {
    "views": views,
    "facts": facts,
    "truth": truth,
    "goals": goals,
    "abilities": abilities,
    "options": options,
    "candidate-plans": candidate_plans,
    "preconditions": preconditions,
    "pure": pure,
    "latent-variables": latent_variables,
    "observation-probability": observation_probability,
    "conflict-cost": conflict_cost,
    "text": text,
    "snapshot": snapshot,
    "in-range": in_range,
    "leaving": leaving,
}
#: Each makes a check for one walk.
STRIDES: Final[Mapping[str, Callable[[], Callable[[Stride], Iterator[str]]]]] = {
    "outcomes": lambda: outcomes,
    "running": lambda: running,
    "progress": Progress,
}
