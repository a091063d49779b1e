"""Checks of a world before and after each of its steps, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from itertools import pairwise
from typing import Final, TypeAlias

from teamworld.language import Action, Schema, parse_action, parse_fact
from teamworld.planning.goals import workable_goals
from teamworld.planning.simulate import dry_run
from teamworld.testing.random_walk import AfterStep, BeforeStep, is_plain_json
from teamworld.testing.report import checks_by_name, is_refused
from teamworld.worlds.base.picture import find_fault
from teamworld.worlds.contract import WAIT, BeliefRules, talk

BeforeStepCheck: TypeAlias = Callable[[BeforeStep], Iterator[str]]
AfterStepCheck: TypeAlias = Callable[[AfterStep], Iterator[str]]

#: Actions that no world knows, or that have wrong arguments.
ILLEGAL_ACTIONS: Final = (Action("no_such_verb"), Action("wait", (1, 2, 3)), Action("talk", ("never",)))


def views(moment: BeforeStep) -> Iterator[str]:
    """Views name their agent and time; what is known is what is perceived and what is remembered."""
    spec = moment.world.spec
    for agent, view in moment.views.items():
        head = agent, spec.kinds[agent], moment.t, spec.horizon - moment.t
        if (view.agent, view.kind, view.t, view.steps_left) != head:
            shown = f"{view.agent}, {view.kind}, t {view.t}, steps_left {view.steps_left}"
            yield f"the view of {agent} at tick {moment.t} says {shown}"
        if set(view.facts) & set(view.recall):
            yield f"{agent} remembers what it perceives: {next(iter(set(view.facts) & set(view.recall)))}"
        if set(view.known) != set(view.facts) | set(view.recall):
            yield f"known of {agent} is not facts and recall together"
        if any(fact not in view.recall.seen or view.recall.seen[fact] > moment.t for fact in view.recall):
            yield f"recall of {agent} holds a fact without the tick of last sight, or one from the future"


def facts(moment: BeforeStep) -> Iterator[str]:
    """Facts can be written and read back, and are of the relations that the domain declares."""
    schema = Schema(moment.world.domain.relations, moment.world.spec.agents)
    for fact in moment.sampled_view.known:
        if parse_fact(str(fact)) != fact:
            yield f"{fact} reads back as {parse_fact(str(fact))}"
        if not schema.statable(fact):
            yield f"{fact} is of no relation that domain.relations declares"


def truth(moment: BeforeStep) -> Iterator[str]:
    """Perceived facts are true, except what nobody knows (UNSEEN) and to whom it falls to look there (FOR)."""
    true = set(moment.world.truth())
    for agent, view in moment.views.items():
        wrong = [fact for fact in view.facts if fact.predicate not in ("UNSEEN", "FOR") and fact not in true]
        if wrong:
            yield f"{agent} perceives {wrong[0]}, which truth() does not contain"


def goals(moment: BeforeStep) -> Iterator[str]:
    """Goals are well-formed, known ones are goals of the world, and follow from what is known."""
    world = moment.world
    known = {goal.id for goal in world.goals()}
    if len(known) < len(world.goals()):
        yield "two goals have one id"
    for goal in world.goals():
        if goal.quorum < 1 or goal.capacity < goal.quorum or goal.units < 0 or goal.weight < 0:
            yield f"{goal.id}: quorum {goal.quorum}, capacity {goal.capacity}, units {goal.units}, weight {goal.weight}"
        if not set(goal.kinds) <= set(world.spec.kinds.values()):
            yield f"{goal.id} is for kinds that no agent has: {', '.join(goal.kinds)}"
        if not set(goal.prerequisites) <= known - {goal.id}:
            yield f"{goal.id} waits for goals that are none: {', '.join(goal.prerequisites)}"
    view = moment.sampled_view
    if not {goal.id for goal in view.goals} <= known:
        yield f"{view.agent} knows goals that the world does not have"
    if list(view.goals) != list(world.domain.goals(view.known)):
        yield f"the goals of {view.agent} are not those that domain.goals makes of what it knows"


def abilities(moment: BeforeStep) -> Iterator[str]:
    """An agent can wait and talk; measures name every parameter of every action."""
    measures, view = moment.world.domain.measures, moment.sampled_view
    verbs = {schema.verb: schema for schema in view.abilities}
    if not {"wait", "talk"} <= set(verbs):
        yield f"{view.agent} cannot both wait and talk"
    for verb, schema in verbs.items():
        if verb not in measures or len(measures[verb]) != len(schema.params):
            yield f"domain.measures does not name each parameter of {schema.signature()}"
        elif measures[verb] != tuple(param.measure for param in schema.params):
            yield f"domain.measures and the parameters of {schema.signature()} do not agree"
        if not schema.doc:
            yield f"{schema.signature()} says nothing about what it does"


def options(moment: BeforeStep) -> Iterator[str]:
    """Options are legal, written in full, estimated, and some of the domain's, in its order."""
    view, domain = moment.sampled_view, moment.world.domain
    if not view.is_able:
        return
    known, schemas = {goal.id for goal in view.goals}, {schema.verb: schema for schema in view.abilities}
    own = list(view.options)
    if own != [option for option in domain.options(view.agent, view.known) if option in own]:
        yield f"the options of {view.agent} are not options of the domain, in its order"
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
        if option.steps < 1:
            yield f"{action} is estimated at {option.steps} ticks"
        if option.goal is not None and option.goal not in known:
            yield f"{action} serves {option.goal}, a goal that {view.agent} does not know"


def candidate_plans(moment: BeforeStep) -> Iterator[str]:
    """There is a plan for each goal that an agent can work on, and for no goal; the first for no goal can begin."""
    view, domain = moment.sampled_view, moment.world.domain
    if not view.is_able:
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


def preconditions(moment: BeforeStep) -> Iterator[str]:
    """An able agent can wait and talk; nonsense is refused with a reason, never with an exception."""
    view = moment.sampled_view
    if view.is_able and not (view.check(WAIT).ok and view.check(talk(2)).ok):
        yield f"{view.agent} may not wait or talk, by view.check"
    wrong = [Action(schema.verb, ("no_such_name",) * 9) for schema in view.abilities]
    for action in (*ILLEGAL_ACTIONS, *wrong):
        verdict = view.check(action)
        if verdict.ok or not verdict.word:
            yield f"view.check({action}) gives {verdict}"


def pure(moment: BeforeStep) -> Iterator[str]:
    """The domain has no state: the same facts give the same answers, and expected effects change nothing."""
    view, domain = moment.sampled_view, moment.world.domain
    before = list(view.known)
    for option in view.options[:4]:
        then = [list(domain.predict(view.agent, option.action, view.known)) for _ in range(2)]
        if then[0] != then[1]:
            yield f"domain.after({option.action}) gives two answers"
        if domain.estimate_steps(view.agent, option.action, view.known) < 1:
            yield f"domain.ticks({option.action}) is below 1"
    if list(view.known) != before:
        yield "domain.after changed what it was given"


def _for_beliefs(check: Callable[[BeforeStep, BeliefRules], Iterator[str]]) -> BeforeStepCheck:
    """Leave a check out where the domain does not declare the capability ``beliefs``."""

    @wraps(check)
    def checked(moment: BeforeStep) -> Iterator[str]:
        rules = moment.world.domain.beliefs
        if rules is not None:
            yield from check(moment, rules)

    return checked


@_for_beliefs
def latent_variables(moment: BeforeStep, rules: BeliefRules) -> Iterator[str]:
    """Latent variables have values that exclude one another, with weights above 0; their goals are known."""
    view, domain = moment.sampled_view, moment.world.domain
    variables = rules.latent_variables(view.known)
    if list(variables) != list(rules.latent_variables(view.known)):
        yield "latent_variables gives two answers"
    if len({variable.name for variable in variables}) < len(variables):
        yield f"two unknowns of {view.agent} have one name: {', '.join(variable.name for variable in variables)}"
    goals, schema = {goal.id for goal in domain.goals(view.known)}, Schema(domain.relations)
    for variable in variables:
        facts = [value.fact for value in variable.values]
        if not facts or len(set(facts)) < len(facts):
            yield f"{variable.name} has {len(facts)} values, of which {len(set(facts))} are different ones"
        for value in variable.values:
            if not (math.isfinite(value.weight) and value.weight > 0):
                yield f"{value.fact}, a value of {variable.name}, has the weight {value.weight}"
            if value.fact in view.known:
                yield f"{view.agent} knows {value.fact}, and it is a value of the unknown {variable.name}"
            for fact in (value.fact, value.part_of or value.fact):
                relation = schema.of(fact)
                if relation is None or relation.max_values != 1:
                    yield f"{fact}, a value of {variable.name}, is of no relation that has one value at a time"
        if not set(variable.goals) <= goals:
            yield f"{variable.name} matters to goals that {view.agent} does not know: {', '.join(variable.goals)}"


@_for_beliefs
def observation_probability(moment: BeforeStep, rules: BeliefRules) -> Iterator[str]:
    """How likely a fact is perceived is a probability, the same each time."""
    known = moment.sampled_view.known
    variables = rules.latent_variables(known)
    for fact in [*known][:40] + [value.fact for variable in variables for value in variable.values][:20]:
        for agent in moment.alive[:3]:
            chances = [rules.observation_probability(fact, agent, known) for _ in range(2)]
            if not 0 <= chances[0] <= 1 or chances[0] != chances[1]:
                yield f"observation_probability({fact}) for {agent} is {chances[0]}, and then {chances[1]}"


@_for_beliefs
def conflict_cost(moment: BeforeStep, rules: BeliefRules) -> Iterator[str]:
    """The conflict cost of two options is a number of steps from 0 on, whichever agent takes which."""
    view = moment.sampled_view
    teammate = moment.views[moment.alive[(moment.turn + 1) % len(moment.alive)]]
    for own in view.options[:6] if view.is_able else ():
        for other in teammate.options[:6] if teammate.is_able else ():
            cost = rules.conflict_cost(own, other, view.known)
            swapped = rules.conflict_cost(other, own, view.known)
            if not (math.isfinite(cost) and cost >= 0) or cost != swapped:
                yield f"{own.action} beside {other.action} loses {cost} ticks, the other way round {swapped}"


def text(moment: BeforeStep) -> Iterator[str]:
    """The plain text names the agent and is the same twice; an unknown form is refused."""
    view = moment.sampled_view
    if view.agent not in view.text() or view.text() != view.text("plain"):
        yield f"the text of {view.agent} does not name it, or plain is not the first form"
    if not is_refused(lambda: view.text("no such form")):
        yield "a text form that does not exist is not refused with a UserError"


def snapshot(moment: BeforeStep) -> Iterator[str]:
    """The snapshot is plain JSON data that its drawer can draw, and taking it changes nothing."""
    shown = dict(moment.world.snapshot())
    if not is_plain_json(shown):
        yield "the snapshot is not plain JSON data (tuples and number keys do not come back as they were)"
    if shown != dict(moment.world.snapshot()):
        yield "two snapshots of one moment differ"
    spec = moment.world.spec
    if "drawer" in spec.static and (fault := find_fault(spec.static, [shown], len(spec.agents))):
        yield f"what it declares for its drawing cannot be drawn: {fault}"


def in_range(moment: BeforeStep) -> Iterator[str]:
    """Unlimited reach covers all living teammates; reach is mutual, never includes oneself, and grows with range."""
    world, alive = moment.world, moment.alive
    for sender in alive:
        if set(world.in_range(sender, math.inf)) != set(alive) - {sender}:
            yield f"{sender} does not reach all living others when reach is unlimited"
        reached = [set(world.in_range(sender, reach)) for reach in (0, 2, 5, 1000)]
        if any(not near <= far for near, far in pairwise(reached)) or sender in reached[-1]:
            yield f"{sender} reaches itself, or fewer with more reach"
        for teammate in reached[2]:
            if sender not in world.in_range(teammate, 5):
                yield f"{teammate} hears {sender} from 5 away, but not the other way round"


def leaving(moment: BeforeStep) -> Iterator[str]:
    """An agent that is gone or unknown has no view and takes no actions."""
    for agent in (*moment.gone, "nobody_of_this_name"):
        if not is_refused(partial(moment.world.view, agent)):
            yield f"{agent} is not there, but gets a view"
        if not is_refused(partial(moment.world.step, {agent: WAIT})):
            yield f"{agent} is not there, but gets an order"


def outcomes(step: AfterStep) -> Iterator[str]:
    """Exactly the agents alive when the step began have an outcome; what failed says why, what runs has not ended."""
    result = step.result
    if set(result.outcomes) != set(step.alive):
        yield f"outcomes of {', '.join(result.outcomes)} where {', '.join(step.alive)} were alive"
    if result.ticks < 1:
        yield f"a step took {result.ticks} ticks"
    for agent, outcome in result.outcomes.items():
        if outcome.status != "done" and (outcome.status == "failed") != bool(outcome.reason):
            yield f"{agent}: {outcome.action} is {outcome.status} with the reason '{outcome.reason}'"
        if outcome.primitives and len(outcome.primitives) != result.ticks:
            yield f"{agent}: {len(outcome.primitives)} primitives in a step of {result.ticks} ticks"
        if not outcome.legal and outcome.status != "failed":
            yield f"{agent}: {outcome.action} was refused and is {outcome.status}"
    if not set(result.gone) <= set(step.alive):
        yield f"gone: {', '.join(result.gone)}, but not all of them were there"


def running(step: AfterStep) -> Iterator[str]:
    """Without a new action, the running one goes on."""
    for agent, action in step.running.items():
        outcome = step.result.outcomes.get(agent)
        if outcome is not None and outcome.action != action:
            yield f"{agent} got no order while {action} ran, and did {outcome.action}"


def progress(step: AfterStep) -> Iterator[str]:
    """Events are about goals and agents of the team; the progress of a goal that is done adds up to 1."""
    known, team = {goal.id for goal in step.world.goals()}, set(step.world.spec.agents)
    for event in step.result.goals:
        if event.goal not in known or not set(event.participants) <= team:
            yield f"{event} is about a goal or an agent that is not there"
        if event.event == "done" and abs(step.progress[event.goal] - 1) > 1e-6:
            yield f"{event.goal} is done, and its progress adds up to {step.progress[event.goal]:g}"
    for attempt in step.result.attempts:
        have, need = dict(attempt.have), dict(attempt.need)
        if have.keys() != need.keys() or any(have[name] > need[name] for name in have):
            yield f"{attempt} has more than it needs, or not the same constraints"
        if attempt.goal not in known or (attempt.success and have != need):
            yield f"{attempt} succeeded without what it needed, or is about no goal"
    if "reward" not in step.result.score:
        yield "the score has no reward: how much the world's own score changed in the step"
    for name, score in step.result.score.items():
        if not math.isfinite(score):
            yield f"the score {name} is {score}"


BEFORE_STEP_CHECKS: Final[Mapping[str, BeforeStepCheck]] = checks_by_name(
    *(views, facts, truth, goals, abilities, options, candidate_plans, preconditions, pure),
    *(latent_variables, observation_probability, conflict_cost, text, snapshot, in_range, leaving),
)
AFTER_STEP_CHECKS: Final[Mapping[str, AfterStepCheck]] = checks_by_name(outcomes, running, progress)
