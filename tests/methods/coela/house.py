"""A small house in facts: what an agent knows of it, without a world behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from teamworld.language import Action, ActionSchema, Entity, Fact, Facts, Measures, Plan, Relation, parse_fact
from teamworld.methods.coela.situation import Situation, assess
from teamworld.methods.common.knowledge import Line, list_teammates
from teamworld.methods.contract import Message
from teamworld.worlds.base.beliefs import FullyObserved
from teamworld.worlds.contract import (
    POSSIBLE,
    BeliefRules,
    Domain,
    Goal,
    LatentVariable,
    Option,
    Outcome,
    Verdict,
    View,
    WorldSpec,
)

ROOMS = ("kitchen", "bedroom", "bathroom")
KITCHEN, BEDROOM, BATHROOM = (Entity(kind, number) for number, kind in enumerate(ROOMS, start=11))
TABLE, FRIDGE, CABINET = Entity("table", 20), Entity("fridge", 21), Entity("cabinet", 22)
RELATIONS = (
    Relation("AT", "agent", ROOMS, role="at"),
    Relation("HOLD", "agent", ("apple", "plate"), max_values=2, role="held"),
    *(Relation("EXPLORED", room, ("part", "all"), role="search", verbs=("explore",)) for room in ROOMS),
    *(Relation("STATE", box, ("open", "closed"), role="access") for box in ("fridge", "cabinet")),
    *(Relation("IN", kind, ROOMS, role="room") for kind in ("apple", "plate", "fridge", "cabinet", "table")),
    *(Relation("INSIDE", kind, ("fridge", "cabinet"), role="container") for kind in ("apple", "plate")),
    *(Relation("ON", kind, ("table",), role="surface") for kind in ("apple", "plate")),
)


def goal(kind: str, units: int, target: Entity = TABLE, relation: str = "ON") -> Goal:
    """Return the goal to bring some things of a kind."""
    name = f"{kind}_{relation.lower()}_{target.kind}"
    features = (("thing", kind), ("relation", relation), ("target", target.kind))
    state: Any = "open" if units else "done"
    return Goal(name, "put", target, features, units=units, capacity=max(1, units), state=state)


@dataclass
class House:
    """Both the view of one agent and the rules: what is known, what it could do, and what that would take."""

    known: Facts
    goals_now: Sequence[Goal]
    options: Sequence[Option] = ()
    agent: str = "Alice"
    recalled: Sequence[Fact] = ()
    relations: Sequence[Relation] = RELATIONS
    measures: Measures = field(default_factory=dict)
    kind: str = "helper"
    t: int = 8
    steps_left: int = 100
    is_able: bool = True
    history: Sequence[Outcome] = ()
    open_questions: Sequence[LatentVariable] = ()
    mate_ticks: int | None = None
    """What everything would take a team-mate; None: as long as the agent."""

    @property
    def facts(self) -> Facts:
        return Facts(tuple(fact for fact in self.known if fact not in self.recalled))

    @property
    def recall(self) -> Facts:
        return Facts(tuple(self.recalled), self.known.seen)

    @property
    def goals(self) -> Sequence[Goal]:
        return self.goals_now

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        return tuple(ActionSchema(verb, (), f"do {verb}") for verb in ("explore", "check", "fetch", "deliver"))

    @property
    def remainder(self) -> Action | None:
        return None

    @property
    def steps_to_go(self) -> int | None:
        return None

    @property
    def since(self) -> int | None:
        return None

    def check(self, action: Action) -> Verdict:
        return POSSIBLE

    def text(self, form: str = "plain") -> str:
        return "a house"


class OpenQuestions(FullyObserved):
    """What is open in the house."""

    def __init__(self, house: House) -> None:
        self._house = house

    def latent_variables(self, facts: Facts) -> Sequence[LatentVariable]:
        return self._house.open_questions

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        return 0.0


class Rules:
    """The rules of the house, for one agent with some facts."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.relations, self.measures = house.relations, house.measures

    def goals(self, given: Facts) -> Sequence[Goal]:
        return self._house.goals_now

    def options(self, agent: str, given: Facts) -> Sequence[Option]:
        return self._house.options

    def candidate_plans(self, goal: Goal | None, agent: str, given: Facts) -> Sequence[Plan]:
        return [Plan((Action("wait"),), None)]

    def check(self, agent: str, action: Action, given: Facts) -> Verdict:
        return POSSIBLE

    danger = None
    arrays = None
    hauling = None

    @property
    def beliefs(self) -> BeliefRules:
        return OpenQuestions(self._house)

    def estimate_steps(self, agent: str, action: Action, given: Facts) -> int:
        if agent != self._house.agent and self._house.mate_ticks is not None:
            return self._house.mate_ticks
        return next((option.steps for option in self._house.options if option.action == action), 1)

    def predict(self, agent: str, action: Action, given: Facts) -> Facts:
        """Fetching takes a thing up, delivering lays all down."""
        if action.verb == "deliver":
            return Facts(tuple(fact for fact in given if (fact.subject, fact.predicate) != (agent, "HOLD")))
        if action.verb == "fetch":
            return Facts((*given, Fact(agent, "HOLD", action.args[0])))
        return given

    def describe_goal(self, goal: Goal, agent: str, given: Facts) -> str:
        return f"{goal.units} missing"

    def ends_plan(self, action: Action, reason: str) -> bool:
        return False

    def plan_scripted_team(self, views: Mapping[str, View], running: Mapping[str, Plan]) -> Mapping[str, Plan]:
        return {}


def make_situation(*texts: str, goals: Sequence[Goal] = (), options: Sequence[Option] = (), **more: Any) -> Situation:
    """Return what Alice goes by, from facts in written form; ``seen`` gives the ticks of what is not seen now."""
    seen = {parse_fact(text): t for text, t in more.pop("seen", {}).items()}
    facts = tuple(map(parse_fact, texts))
    own = {name: more.pop(name) for name in ("open_questions", "mate_ticks", "history", "steps_left") if name in more}
    house = House(Facts(facts, seen), goals or (goal("apple", 2),), options, recalled=tuple(seen), **own)
    view: View = house
    return situate(view, Rules(house), {"Alice": "helper", "Bob": "helper"}, **more)


def situate(
    view: View,
    domain: Domain,
    kinds: Mapping[str, str],
    *,
    shared: bool = True,
    chat: Sequence[Message] = (),
    witnessed: Mapping[str, Iterable[Entity]] | None = None,
    shown: int = 0,
    **more: Any,
) -> Situation:
    """Return what an agent goes by, as the method makes it; ``chat`` is what was said, in order."""
    memory: Any = "team" if shared else "agent"
    spec = WorldSpec("house", "", tuple(kinds), kinds, 100, "Put things on the table.", memory=memory)
    said = tuple(Line(message.t, message.sender, None, message.whole, message.goal) for message in chat)
    draft = Situation(view, domain, spec, list_teammates(spec, view.agent, kinds), said=said, **more)
    return assess(draft, shown, witnessed or {})
