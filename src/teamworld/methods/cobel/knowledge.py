"""What CoBel-World's prompts show: the shared blocks by what an agent believes, and its beliefs in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId, Term, plain, show
from teamworld.methods.cobel import planning
from teamworld.methods.cobel.prospects import Prospect
from teamworld.methods.cobel.situation import Announcement, Intent, Situation, Subplan
from teamworld.methods.common.knowledge import AgentKnowledge, Line, Teammate
from teamworld.planning.goals import open_goals
from teamworld.reasoning.prompts import plural
from teamworld.worlds.contract import Goal, LatentVariable, Option, Outcome

#: Values of what is not known that are named, the likeliest ones; how many more there are is said.
VALUES = 40
#: Facts of a teammate's beliefs that are named.
FACTS = 60
#: Missing things that are named of what a look may find.
NAMED = 2
#: Finished actions that an agent is shown of its own: what was in vain stands there beside them.
PAST = 3


@dataclass(frozen=True)
class Believed(AgentKnowledge):
    """What an agent knows, where it believes more than it has perceived: goals and options by its beliefs."""

    facts: Facts = field(default_factory=Facts)
    believed_goals: Sequence[Goal] = ()
    in_hand: Collection[GoalId] = ()
    """The open goals whose things enough teammates hold."""

    @property
    def goals(self) -> Sequence[Goal]:
        """The open goals, as they stand by what it believes."""
        return self.believed_goals

    def describe_goal(self, goal: Goal) -> str:
        """Return how a goal stands by what it believes."""
        return self.domain.describe_goal(goal, self.agent, self.facts)

    @property
    def is_alike(self) -> bool:
        """Whether names say nothing: not once somebody is lost, for plans rest on who is still there."""
        return len(self.team) + 1 == len(self.spec.agents) and super().is_alike

    @property
    def past(self) -> Sequence[Outcome]:
        """Its last finished actions, oldest first; what it said stands elsewhere."""
        return [outcome for outcome in self.view.history if outcome.action.verb != "talk"][-PAST:]

    @cached_property
    def options(self) -> Sequence[Option]:
        """What makes sense by what it believes and can begin, as it knows; what runs comes first.

        What teammates have in hand and can bring alone is left out.
        """
        if self.facts is self.view.known:
            options = list(super().options)
        else:
            own = {option.action: option for option in self.domain.options(self.agent, self.facts)}
            options = [option for option in own.values() if self.view.check(option.action).ok]
            options.sort(key=lambda option: option.action != self.doing)
        return [option for option in options if option.goal not in self.in_hand]


def knowledge(situation: Situation) -> Believed:
    """Return what the shared blocks show of a situation."""
    return Believed(
        view=situation.view,
        domain=situation.domain,
        spec=situation.spec,
        team=tuple(Teammate(teammate, situation.team[teammate]) for teammate in situation.teammates),
        running=situation.running,
        said=_lines(situation) if situation.options.store == "text" else (),
        facts=situation.facts,
        believed_goals=open_goals(situation.goals.values()),
        in_hand=situation.in_hand,
    )


def _lines(situation: Situation) -> tuple[Line, ...]:
    """Return the text of the dialogue, for stores that keep nothing else."""
    return tuple(Line(said.t, said.sender, said.recipients, said.text, said.goal) for said in situation.chat)


# ---- beliefs in words


def describe_told(situation: Situation) -> tuple[str, ...]:
    """Return what an agent holds beside what it perceived, and what of that it holds no longer."""
    held = set(situation.facts)
    news = [f"{_dated(fact, situation.facts)}{_source(situation, fact)}" for fact in situation.told_facts]
    gone = [f"no longer: {plain(fact)}" for fact in situation.view.known if fact not in held]
    return (*news, *gone)


def _source(situation: Situation, fact: Fact) -> str:
    return ", concluded from what you saw" if fact in situation.inferred else ""


def _dated(fact: Fact, facts: Facts) -> str:
    return f"{plain(fact)} (step {facts.seen[fact]})" if fact in facts.seen else plain(fact)


def describe_missing(latents: Iterable[LatentVariable]) -> tuple[str, ...]:
    """Return where what is not known may be, likeliest first; like things together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for latent in latents:
        alike.setdefault(_values(latent), []).append(latent.name)
    return tuple(f"{', '.join(names)}: {', '.join(values)}" for values, names in alike.items())


def _values(latent: LatentVariable) -> tuple[str, ...]:
    total = fsum(value.weight for value in latent.values)
    if total <= 0:
        return ("nobody knows",)
    best = sorted(latent.values, key=lambda value: -value.weight)
    alike: dict[tuple[str, str], list[str]] = {}
    for value in best[:VALUES]:
        share = f"{value.weight / total:.1%}".replace(".0%", "%")
        key = ("in", f", {share}") if value.area else (value.fact.predicate, f" {share}")
        alike.setdefault(key, []).append(value.area or plain(show(value.fact.value)))
    shown = [
        f"{predicate} {' or '.join(places)}{share}{' each' if len(places) > 1 else ''}"
        for (predicate, share), places in alike.items()
    ]
    more = [f"and {len(best) - VALUES} more"] if len(best) > VALUES else []
    return (*shown, *more)


def describe_difference(situation: Situation, teammate: AgentId) -> tuple[str, ...]:
    """Return what a teammate knows, as the agent believes: all that differs from what the agent itself holds.

    If it holds little, that is listed; if it holds most of what the agent does, what it lacks is.
    """
    own, theirs = situation.facts, situation.ascribed[teammate]
    if theirs is own:
        return (f"{teammate} knows all that you know.",)
    lacks = [fact for fact in own if fact not in theirs]
    last = [fact for fact in theirs if fact not in own and fact.subject == teammate]
    others = [fact for fact in theirs if fact not in own and fact.subject != teammate]
    if len(lacks) > len(theirs):
        return (f"{teammate} knows only this:", *_listed(theirs, theirs))
    lines = [f"{teammate} knows all that you know{', but not:' if lacks else '.'}", *_listed(lacks, own)]
    lines += ("It believes instead:", *_listed(others, theirs)) if others else ()
    return (*lines, *((f"Last known of {teammate}:", *_listed(last, theirs)) if last else ()))


def _listed(facts: Iterable[Fact], known: Facts) -> Sequence[str]:
    """Return facts by their subjects, each fact with its own step."""
    about: dict[Entity | str, dict[tuple[str, str], list[str]]] = {}
    for fact in facts:
        when = f" (step {known.seen[fact]})" if fact in known.seen else ""
        alike = about.setdefault(fact.subject, {})
        alike.setdefault((fact.predicate, when), []).append(plain(show(fact.value)))
    lines = []
    for subject, held in about.items():
        relations = (f"{relation} {', '.join(values)}{when}" for (relation, when), values in held.items())
        lines.append(f"- {plain(show(subject))}: {'; '.join(relations)}")
    return lines


# ---- what others do, in words


def describe_announced(situation: Situation) -> tuple[tuple[AgentId, str, str], ...]:
    """Return who announced which plan, and of each how old it is and how far its maker has to go."""
    lines, t = list[tuple[AgentId, str, str]](), situation.view.t
    for teammate, plan in situation.announced.items():
        asks = [f"; asks {who}: {_in_words(part)}" for who, part in plan.asks.items()]
        age = f"at step {plan.t}, {_to_go(plan, t)}"
        lines.append((teammate, age, f"{_in_words(plan.subplan)}{''.join(asks)}"))
    own = situation.own_announcement
    if own is not None:
        lines.append((situation.agent, f"at step {own.t}, {_to_go(own, t)}", _in_words(own.subplan)))
    return tuple(lines)


def _in_words(subplan: Subplan) -> str:
    """Return an announced plan; of one in words alone, by which rules go as if it were none, that it is no action."""
    return f"{subplan.text} (no action that can be read)" if subplan.words and not subplan.actions else subplan.text


def _to_go(plan: Announcement, t: int) -> str:
    steps = plan.steps_to_go(t)
    return f"{plural(steps, 'step')} to go" if steps else "under way"


def describe_options(situation: Situation, teammate: AgentId) -> tuple[str, ...]:
    """Return what a teammate could do next by what it holds, work first, and what its moves say of it."""
    lines, regrets = list[str](), situation.regrets.get(teammate, {})
    latents = situation.domain.beliefs.latent_variables(situation.ascribed[teammate])
    prospects = planning.teammate_prospects(situation, teammate)
    for action, prospect in sorted(prospects.items(), key=lambda entry: entry[1].goal is None):
        goal = f" for {prospect.goal}" if prospect.goal is not None else ""
        gain = _finds(prospect, latents) if prospect.goal is None and prospect.gain >= 0.01 else ""
        lost = regrets.get(action, 0.0)
        away = f"; its last moves led away ({plural(float(f'{lost:.2g}'), 'step')} lost)" if lost >= 0.05 else ""
        actions = "; ".join(map(plain, prospect.actions[: situation.options.actions]))
        late = ", more than are left" if prospect.steps > situation.view.steps_left else ""
        lines.append(f"`{actions}`{goal}, about {plural(prospect.steps, 'step')}{late}{gain}{away}")
    return tuple(lines)


def _finds(prospect: Prospect, latents: Iterable[LatentVariable]) -> str:
    """Return what a look is expected to find, by name where its place tells that: the likeliest there first."""
    place = prospect.actions[0].args[:1]
    likely = sorted(((_share(latent, place), latent.name) for latent in latents), key=lambda entry: -entry[0])
    there = [name for share, name in likely if share > 0]
    if len(there) == 1:
        return f", {prospect.chance:.0%} to find {there[0]}"
    named = f"{', '.join(there[:NAMED]) or 'what is missing'}{' and more' if len(there) > NAMED else ''}"
    if prospect.finds is not None:
        return f", finds {prospect.finds:.2g} of {named} on average (more than 1 counts as 1)"
    return f", {prospect.chance:.0%} to find any of {named}"


def _share(latent: LatentVariable, place: tuple[Term, ...]) -> float:
    """Return how likely a latent variable is at a place, of all its values."""
    here = fsum(value.weight for value in latent.values if (value.fact.value,) == place)
    return here / fsum(value.weight for value in latent.values) if here else 0.0


def describe_intent(situation: Situation, intent: Intent) -> str:
    """Return a likely plan of a teammate with its probability, and what both lose beside the agent's subplan."""
    cost = situation.domain.beliefs.conflict_cost
    own = situation.own_options[:1]
    lost = max((cost(option, intent.option, situation.facts) for option in own), default=0.0)
    words = f"{intent.weight:.0%}: {intent.subplan.text}, about {plural(intent.option.steps, 'step')}"
    if lost <= 0:
        return words
    first = f" (you need {own[0].steps}: its plan stands)" if planning.stands(situation, intent) else ""
    return f"{words}; if you also do yours, the two of you lose {plural(round(lost, 1), 'step')}{first}"
