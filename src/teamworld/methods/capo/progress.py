"""What an agent tells of its progress when a discussion begins: a text without a reasoner, with facts beside it.

The text is CoELA's progress paragraph, in worlds with rooms to explore; elsewhere how many tasks are done and what the
agent does. The facts are what it has seen itself and nobody has told yet: of itself, of what goals are about or want,
and of places that it has looked through.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from teamworld.language import Entity, Fact, Role, Term, plain
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.progress_report import count_done, report_progress
from teamworld.methods.common.team_record import name_agent
from teamworld.methods.common.told_facts import STATE_OF_AGENTS, read_told
from teamworld.planning.fetch import wanted_kind
from teamworld.reasoning.prompts import plural

#: Facts that one message tells at most.
MAX_FACTS: Final = 60
#: Roles of relations about things that are not told: what is near changes with every step, and a map shows the rest.
_UNTOLD: Final[tuple[Role, ...]] = ("near", "map")


def tell_progress(me: DialogueKnowledge) -> str:
    """Return how far the team is, as an agent tells it: in its own name."""
    report = report_progress(me)
    doing = f"You are doing {plain(me.doing)}." if me.doing is not None else ""
    parts = (f"{plural(me.step, 'step')} used.", count_done(me) if report is None else report, doing)
    return name_agent(" ".join(filter(None, parts)), me.agent)


def find_untold(me: DialogueKnowledge) -> tuple[Fact, ...]:
    """Return what an agent has seen, still believes, and nobody told last, in the order of the world.

    Of itself it tells all, or nothing where it told the same last: what it does not tell of is not in its hands. Where
    all know what one of them sees there is nothing to tell.
    """
    if me.is_shared:
        return ()
    believed, reported = set(me.known), _told_last(me)
    things = _things_of_use(me) | {subject for subject, _ in reported if isinstance(subject, Entity)}
    seen = [fact for fact in me.view.known if fact in believed and _can_tell(fact, things, me)]
    own = [fact for fact in seen if fact.subject == me.agent]
    is_same = set(own) == {fact for facts in reported.values() for fact in facts if fact.subject == me.agent}
    untold = [
        fact
        for fact in seen
        if fact.subject != me.agent and fact not in reported.get((fact.subject, fact.predicate), ())
    ]
    return (*(() if is_same else own), *untold)[:MAX_FACTS]


def _things_of_use(me: DialogueKnowledge) -> set[Entity]:
    """Return what the team's work is about: what goals are about or want, what names these, and places to look into."""
    goals, words = me.all_goals.values(), me.words
    about, kinds = {goal.thing for goal in goals}, {wanted_kind(goal) for goal in goals}
    places = words.rooms | words.containers
    return {
        fact.subject
        for fact in me.view.known
        if isinstance(fact.subject, Entity)
        and (fact.subject in about or fact.subject.kind in kinds | places or fact.value in about)
    }


def _told_last(me: DialogueKnowledge) -> dict[tuple[Term, str], set[Fact]]:
    """Return what was told last of each thing and agent, by predicate; of who spoke of itself all that it said then."""
    last: dict[tuple[Term, str], set[Fact]] = {}
    for line in me.lines:
        reported: dict[tuple[Term, str], set[Fact]] = {}
        for fact in read_told(line.text, me.domain, me.spec.agents, STATE_OF_AGENTS):
            reported.setdefault((fact.subject, fact.predicate), set()).add(fact)
        if any(subject == line.sender for subject, _ in reported):
            last = {about: facts for about, facts in last.items() if about[0] != line.sender}
        last |= reported
    return last


def _can_tell(fact: Fact, things: Collection[Entity], me: DialogueKnowledge) -> bool:
    """Return whether a fact is about the agent itself, or about one of some things; where places are all know."""
    subject, words = fact.subject, me.words
    kind = subject.kind if isinstance(subject, Entity) else "agent"
    about = (fact.predicate, kind)
    role = next((known.role for known in me.domain.relations if (known.predicate, known.subject) == about), None)
    if not isinstance(subject, Entity):
        return subject == me.agent and role in STATE_OF_AGENTS
    if subject not in things or role in (None, *_UNTOLD):
        return False
    is_place = kind in words.rooms | words.containers and subject not in me.targets
    return not is_place or fact.predicate in (words.search, words.access, words.room)
