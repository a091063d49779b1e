"""The base of domains whose rules read facts as a state: legality, options and expected effects from a few rules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from teamworld.errors import UserError, suggest
from teamworld.language import Action, ActionSchema, AgentId, Facts, GoalId, Param, Plan
from teamworld.worlds.base import scripted_team
from teamworld.worlds.base.executor import complete_action
from teamworld.worlds.contract import POSSIBLE, WAIT, Domain, Goal, Option, Verdict, View, talk

StateT = TypeVar("StateT")

#: The actions that exist in every world.
COMMON_SCHEMAS = (
    ActionSchema("wait", (), "Do nothing for 1 step.", example=WAIT),
    ActionSchema(
        "talk",
        (Param("steps", "count", low=1),),
        "Stay so many steps, as messages cost; sends nothing.",
        example=talk(1),
    ),
)


def check_form(action: Action, schemas: Iterable[ActionSchema]) -> Verdict:
    """Return whether there is such an action and its arguments are in their domains."""
    by_verb = {schema.verb: schema for schema in schemas}
    if action.verb not in by_verb:
        return Verdict(False, f"illegal: there is no action '{action.verb}'{suggest(action.verb, list(by_verb))}")
    try:
        by_verb[action.verb].complete(action)
    except UserError as error:
        return Verdict(False, f"illegal: {error}")
    return POSSIBLE


class StateDomain(Domain, Generic[StateT]):
    """The base of ``contract.Domain``: a world writes the rules on states, this class answers from facts by them."""

    # ---- what a world writes

    @abstractmethod
    def read(self, facts: Facts) -> StateT:
        """Return the state that facts tell of; compute it once for each collection (``Facts.derive``)."""

    @abstractmethod
    def write(self, state: StateT) -> Facts:
        """Return all facts of a state."""

    @abstractmethod
    def abilities(self, agent: AgentId, facts: Facts) -> Sequence[ActionSchema]:
        """Return what an agent can do, with the entities that it knows of as arguments."""

    @abstractmethod
    def list_goals(self, state: StateT) -> Sequence[Goal]:
        """Return the goals in a state."""

    @abstractmethod
    def list_candidates(self, agent: AgentId, state: StateT) -> Iterable[tuple[Action, GoalId | None]]:
        """Return actions that make sense for an agent, legal or not, each with its goal."""

    @abstractmethod
    def refuse(self, agent: AgentId, action: Action, state: StateT) -> str:
        """Return why the preconditions of a well-formed action do not hold; an empty string if they do."""

    @abstractmethod
    def apply(self, agent: AgentId, action: Action, state: StateT) -> StateT:
        """Return the state to expect after a legal action; the same object if nothing changes."""

    def describe(self, view: View) -> Iterable[str]:
        """Yield the lines of a view in words: what the agent perceives and what it remembers."""
        yield f"You are {view.agent}, a {view.kind}."
        yield from (f"{fact}." for fact in view.facts)
        yield from describe_recall(view)

    def pool(self, views: Mapping[AgentId, View]) -> Facts:
        """Return what the scripted team knows: of each subject what was seen last."""
        return Facts(tuple(scripted_team.pool_facts(views)))

    def is_urgent(self, plan: Plan) -> bool:
        """Return whether the scripted team prefers a plan to all that are not urgent."""
        return False

    # ---- what follows from it

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return the goals as they stand if the facts hold."""
        return self.list_goals(self.read(facts))

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return the candidate actions that are legal if the facts hold."""
        candidates = dict.fromkeys(self.list_candidates(agent, self.read(facts)))
        legal = [(action, goal) for action, goal in candidates if self.check(agent, action, facts).ok]
        return [Option(action, goal, self.estimate_steps(agent, action, facts)) for action, goal in legal]

    def complete_action(self, agent: AgentId, action: Action, facts: Facts) -> Action:
        """Return an action with the defaults of what was left out."""
        return complete_action(action, self.abilities(agent, facts))

    def check_form(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether there is such an action and its arguments are in their domains."""
        return check_form(action, self.abilities(agent, facts))

    def check(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether an action's preconditions hold."""
        verdict = self.check_form(agent, action, facts)
        reason = self.refuse(agent, action, self.read(facts)) if verdict.ok else verdict.reason
        return Verdict(False, reason) if reason else POSSIBLE

    def predict(self, agent: AgentId, action: Action, facts: Facts) -> Facts:
        """Return what to expect after an action that succeeds, if teammates play their part."""
        if not self.check(agent, action, facts).ok:
            return facts
        state = self.read(facts)
        after = self.apply(agent, action, state)
        return facts if after is state else self.write(after)

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return plans for the agents that are able and have none, see ``scripted_team.plan_greedily``."""
        return scripted_team.plan_greedily(self, views, running, self.pool(views), self.is_urgent) if views else {}


def describe_recall(view: View) -> Iterable[str]:
    """Yield a line for each fact that an agent remembers."""
    return (f"{fact}, last seen at step {view.recall.seen[fact]}." for fact in view.recall)
