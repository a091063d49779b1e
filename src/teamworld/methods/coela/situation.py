"""What an agent of COELA goes by when it decides: what it knows, was told and could tell, and what teammates do.

The prompts show it, and the rules read the same. Messages are read as everybody reads them, from their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from teamworld.language import AgentId, Entity, Fact, GoalId, plain
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import Teammate
from teamworld.methods.common.told_facts import read_told
from teamworld.planning.fetch import wanted_kind
from teamworld.worlds.contract import Goal


@dataclass(frozen=True)
class Situation(DialogueKnowledge):
    """One agent at one decision."""

    witnessed: Mapping[AgentId, tuple[Entity, ...]] = field(default_factory=dict)
    """For each teammate the things that matter to goals and that both of them saw."""
    unshared: tuple[Fact, ...] = ()
    """What it knows of use that a teammate was not told and did not see with it: wanted things, then searches."""
    remark: str = ""
    """Why its last decision came to nothing, in words."""
    can_tell: bool = True
    """Whether it may send a message now."""

    # ---- what it could tell

    @cached_property
    def untold(self) -> Sequence[Fact]:
        """What it knows of the things of open goals and nobody has told, in the order of the world."""
        known_to_all = {fact for line in self.lines for fact in read_told(line.text, self.domain)}
        things = {goal.thing for goal in self.goals}
        return [fact for fact in self.known if fact.subject in things and fact not in known_to_all]

    @cached_property
    def news(self) -> tuple[object, ...]:
        """What a message could tell: as long as it stays the same, there is nothing new."""
        facts = frozenset(fact for fact in self.known if isinstance(fact.subject, Entity))
        heard = [(line.step, line.sender) for line in self.lines if line.sender != self.agent]
        newest = max((step for step, _ in heard), default=0)
        last = frozenset(line for line in heard if line[0] == newest)
        return facts, last, tuple(self.intents.items()), tuple(self.lost.items())

    # ---- who knows what

    @cached_property
    def reported(self) -> frozenset[Entity]:
        """The things that somebody told something of."""
        told_facts = (fact for line in self.lines for fact in read_told(line.text, self.domain))
        return frozenset(fact.subject for fact in told_facts if isinstance(fact.subject, Entity))

    @property
    def told_before(self) -> Sequence[str]:
        """The things that tasks are about and that somebody told of in a message that is not shown any more."""
        facts = (fact for line in self.earlier for fact in read_told(line.text, self.domain))
        told_of = dict.fromkeys(fact.subject for fact in facts)
        things = {goal.thing for goal in self.goals}
        return [plain(thing) for thing in told_of if isinstance(thing, Entity) and thing in things]

    def knows_of(self, teammate: AgentId, goal: Goal) -> bool:
        """Return whether a teammate must know of a goal: of what it is about it was told, or the two saw it together.

        Everybody knows of goals that are about no thing, or about any thing of a kind.
        """
        if self.is_shared or goal.thing is None or wanted_kind(goal) is not None:
            return True
        return self.knows_about(teammate, goal.thing)

    def knows_about(self, teammate: AgentId, thing: Entity) -> bool:
        """Return whether a teammate must know something of a thing: it was told, or the two saw it together."""
        return self.is_shared or thing in self.reported or thing in self.witnessed.get(teammate, ())

    def others(self, teammate: AgentId, but: GoalId) -> Sequence[Goal]:
        """Return the other open goals with room that a teammate knows of and can work on."""
        kind = next(member.kind for member in self.team if member.agent == teammate)
        key = kind if self.is_shared else teammate
        if key not in self._choices:
            fit = (goal for goal in self._with_room if not goal.kinds or kind in goal.kinds)
            self._choices[key] = tuple(goal for goal in fit if self.knows_of(teammate, goal))
        return [goal for goal in self._choices[key] if goal.id != but]

    @cached_property
    def _choices(self) -> dict[str, tuple[Goal, ...]]:
        return {}

    @cached_property
    def _with_room(self) -> Sequence[Goal]:
        waiting = {goal.id for goal in self.goals}
        return [
            goal
            for goal in self.goals
            if waiting.isdisjoint(goal.prerequisites) and self.staffed[goal.id] < goal.capacity
        ]


def assess(
    draft: Situation, shown: int = 0, witnessed: Mapping[AgentId, Iterable[Entity]] = MappingProxyType({})
) -> Situation:
    """Return a situation with what was said read: who takes what, and which lines are still shown word by word.

    What a teammate said last that it takes is believed while that goal is open and for twice as long as the longest of
    the agent's options and the work left would take: whoever said it may have met with something else.

    Args:
        draft: It knows the team and all that was said, in ``said``.
        shown: The newest lines that stay in ``said``; 0: all. The agent's last announcement stays too.
        witnessed: For each teammate the things that both of them saw, and rooms that it was seen in.
    """
    longest = max((option.steps for option in draft.options), default=1)
    last = {line.sender: line for line in draft.said if line.goal is not None}

    def take(teammate: Teammate) -> Teammate:
        line = last.get(teammate.agent)
        goal = None if line is None else draft.all_goals.get(line.goal or "")
        if line is None or goal is None or goal.state != "open" or draft.step - line.step > 2 * (longest + goal.units):
            return teammate
        return teammate._replace(commitment=goal.id, said=line.step)

    own = last.get(draft.agent)
    goal = None if own is None else draft.all_goals.get(own.goal or "")
    state = "" if goal is None else goal.state
    first = max(0, len(draft.said) - shown) if shown else 0
    old, new = draft.said[:first], draft.said[first:]
    if own in old:
        old, new = tuple(line for line in old if line is not own), (own, *new) if own is not None else new
    return replace(
        draft,
        team=tuple(map(take, draft.team)),
        commitment=own.goal if own is not None and state == "open" else None,
        announced=own.step if own is not None and state == "open" else None,
        released=f"{own.goal}, which you said that you take, is {state or 'gone'}." if own and state != "open" else "",
        earlier=old,
        said=new,
        unshared=() if draft.is_shared else tuple(_unshared(draft, witnessed)),
        witnessed={
            teammate: _of_use(draft, witnessed.get(teammate, ())) for teammate in draft.teammates if not draft.is_shared
        },
    )


def _unshared(draft: Situation, witnessed: Mapping[AgentId, Iterable[Entity]]) -> Iterable[Fact]:
    """Yield what an agent knows that a teammate was not told and did not see with it: wanted things, then searches."""
    words, known = draft.words, draft.known
    here = {teammate: known.value(teammate, words.at) for teammate in draft.teammates}  # who is in a room sees it
    met = {teammate: set(witnessed.get(teammate, ())) for teammate in here}
    kinds = {wanted_kind(goal) for goal in draft.goals}

    def is_news(thing: object) -> bool:
        if not isinstance(thing, Entity) or thing in draft.reported:
            return False
        return not all(thing in met[teammate] or thing == here[teammate] for teammate in here)

    for fact in (fact for word in (words.room, words.container, words.surface) if word for fact in known.about(word)):
        things = isinstance(fact.subject, Entity) and (fact.subject.kind in kinds or fact.subject in draft.targets)
        if things and fact.value not in draft.targets and is_news(fact.subject):
            yield fact
    for word, value in ((words.search, words.seen), (words.access, words.opened)):
        for fact in known.about(word) if word else ():
            if fact.value == value and is_news(fact.subject):
                yield fact


def _of_use(draft: Situation, things: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return those of some things that matter to goals."""
    kinds = {wanted_kind(goal) for goal in draft.goals}
    return tuple(thing for thing in things if thing in draft.targets or thing.kind in kinds)
