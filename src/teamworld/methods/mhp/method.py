"""MHP, the classic planner of C-WAH: a belief, a tree search over what to bring next, a planner of single steps.

It asks no reasoner. Every step each agent takes in what it sees, keeps its subgoal or searches for another one, plans
the steps that carry it out, and does the first. See the page on MHP for what differs from the paper and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from teamworld.language import Action, AgentId, Cell, Fact, Facts, GoalId, Plan
from teamworld.methods.common.commitments import commit_to
from teamworld.methods.contract import (
    CARRY,
    WAIT,
    Briefing,
    Choice,
    Decision,
    DecisionContext,
    Message,
    Method,
)
from teamworld.methods.mhp.belief import Belief, NearestBelief
from teamworld.methods.mhp.carrying import CarryModel, PrimitiveStep, Subgoal
from teamworld.methods.mhp.inventory import Index, Inventory, make_inventory
from teamworld.methods.mhp.messages import Messenger
from teamworld.methods.mhp.options import VARIANTS, MhpOptions
from teamworld.methods.mhp.percept import Percept, perceive, sees_in_part
from teamworld.methods.mhp.search import SearchSettings, search
from teamworld.methods.mhp.trips import DELIVER, TripModel
from teamworld.worlds.contract import Domain, View


class Mhp(Method):
    """MCTS-based hierarchical planner."""

    name = "mhp"
    summary = "MHP: the classic planner of C-WAH, a tree search over what to bring next; no reasoner is asked"
    options = MhpOptions
    _options: MhpOptions
    variants = VARIANTS
    requires = frozenset({"entities"})
    talk = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """A message takes the speaker its step."""

    async def begin(self, briefing: Briefing) -> None:
        """Let each agent guess where everything is."""
        domain = briefing.domain
        inventory = make_inventory(briefing.entities, domain.goals(Facts()), domain.relations)
        self._planners = {
            agent: AgentPlanner(agent, inventory, domain, self._options, briefing.rng("mhp", agent))
            for agent in briefing.agents
        }

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """All agents plan anew in every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let each agent do the first step of its plan, or tell what it has to tell."""
        return {agent: self._planners[agent].decide(context) or WAIT for agent in context.free}


class AgentPlanner:
    """One agent.

    Args:
        agent: Who.
        inventory: What there is.
        domain: The rules that everybody knows.
        options: Of the method.
        rng: All that it draws comes from here.
    """

    def __init__(
        self, agent: AgentId, inventory: Inventory, domain: Domain, options: MhpOptions, rng: np.random.Generator
    ) -> None:
        self._agent, self._inventory, self._domain = agent, inventory, domain
        self._options, self._rng = options, rng
        self._in_part: bool | None = None
        """Whether it sees only what is ahead; None before its first look."""
        self._hands = min(options.hands, 2 if can_fill_closed(domain, inventory, agent) else 1)
        self._messenger = Messenger(agent, inventory, options.worth)
        self._subgoal: Subgoal | None = None
        self._commitment: GoalId | None = None
        self._put: PrimitiveStep | None = None
        """What it was to put down in the last step."""
        self._grounds: object = None
        """What the last search went by, where searches are repeated when it changes."""
        self._taken: set[Index] = set()
        """Things last seen in the hands of teammates."""
        self._positions: dict[Index, Cell] = {}

    def decide(self, context: DecisionContext) -> Decision | None:
        """Return what to do in this step; None for nothing. An agent that tells something does nothing else."""
        view = context.views[self._agent]
        if self._in_part is None:
            self._in_part = sees_in_part(view, self._inventory)
            self.belief = self._make_belief(in_part=self._in_part)
        if self._options.messages:
            self._messenger.hear(context.inbox(self._agent), self.belief)
        percept = perceive(view, self._inventory, in_part=self._in_part)
        if percept is None:
            return None
        self._update(percept, view)
        step = self._choose_step(percept)
        if self._options.messages and len(context.team) > 1:
            message = self._messenger.next_message(self._subgoal, percept, self.belief)
            if message is not None:
                self._say(context, message)
                return None
        self._put = step if step is not None and step.target is not None else None
        if step is None:
            return None
        action = self._action(step)
        running = context.running.get(self._agent)
        if running is not None and running.actions == (action,):
            return CARRY
        return Choice(Plan((action,), self._goal()), cause="step")

    def _make_belief(self, *, in_part: bool) -> Belief:
        """Guess where everything is, before anything is seen."""
        if self._options.look == "near":
            return NearestBelief(self._inventory, self._rng, self._domain, in_part=in_part)
        return Belief(self._inventory, self._rng, in_part=in_part)

    def _say(self, context: DecisionContext, message: Message) -> None:
        """Tell something; who tells a subgoal commits itself to its goal."""
        self._put = None
        context.post(message)
        if message.act == "commit" and message.goal != self._commitment:
            self._commitment = commit_to(context, self._agent, self._commitment, message.goal)

    def _update(self, percept: Percept, view: View) -> None:
        """Take in what is perceived, and what the last step has done out of sight."""
        put = self._put
        hidden = put is not None and put.entity not in percept.held and put.entity not in percept.place
        if put is not None and put.target is not None and hidden:
            self.belief.accept(put.entity, put.target)  # into something closed
        self._positions.update(percept.positions)
        free = {entity for entity in percept.place if entity not in percept.held_by_others}
        self._taken = (self._taken | percept.held_by_others) - free
        if isinstance(self.belief, NearestBelief):
            self.belief.look_from(view)
        self.belief.update(percept)

    # ---- what to do

    def _choose_step(self, percept: Percept) -> PrimitiveStep | None:
        """Return the next step, the subgoal being kept or chosen."""
        model = CarryModel(self.belief, percept, self._messenger.served)
        step = self._plan_trip(model, percept) if self._options.plans_trips else self._plan_carrying(model, percept)
        sought = self._sought(percept)
        if sought is not None and not percept.is_whole and sought not in percept.place:
            return PrimitiveStep(self._inventory.words.explore, percept.room)
        return step

    def _plan_carrying(self, model: CarryModel, percept: Percept) -> PrimitiveStep | None:
        """Keep the subgoal as long as it can be one, or something is in the hand; else search for another one."""
        settings = SearchSettings(self._options.simulations, self._options.depth)
        subgoals = model.subgoals(model.root)
        if self._subgoal not in subgoals and not (percept.held and self._subgoal is not None):
            if not subgoals:
                self._guess_satisfied(model)
            chosen = subgoals if len(subgoals) <= 1 else search(model, model.root, settings, self._rng)
            self._subgoal = chosen[0] if chosen else None
        if self._subgoal is None:
            return None
        steps = model.plan(self._subgoal, model.root).steps
        return steps[0] if steps else None

    def _guess_satisfied(self, model: CarryModel) -> None:
        """Guess anew what only a guess has at its target, since the goal is not reached."""
        for satisfied in model.satisfied:
            for thing in sorted(satisfied - self.belief.seen):
                self.belief.guess(thing)

    def _plan_trip(self, model: CarryModel, percept: Percept) -> PrimitiveStep | None:
        """Search anew whenever what there is to choose from, or where it is taken to be, has changed."""
        options, words = self._options, self._inventory.words
        taken = self._taken | {subgoal.thing for subgoal in self._messenger.served}
        trips = TripModel(
            model,
            self.belief,
            percept,
            hands=self._hands,
            costs=options.costs,
            taken=taken,
            positions=self._positions,
        )
        subgoals = trips.subgoals(trips.root)
        grounds = [(goal, goal.thing in percept.place, self.belief.place.get(goal.thing)) for goal in subgoals]
        if self._subgoal not in subgoals or grounds != self._grounds:
            if not subgoals:
                self._guess_satisfied(model)
            settings = SearchSettings(options.simulations, 2 * options.depth, c_init=1.0, whole=True)
            chosen = subgoals if len(subgoals) <= 1 else search(trips, trips.root, settings, self._rng)
            self._subgoal = chosen[0] if chosen else None
        self._grounds = grounds
        if self._subgoal is None:
            return None
        if self._subgoal != DELIVER:
            thing = self._subgoal.thing
            return (*model.approach(thing, model.root).steps, PrimitiveStep(words.grab, thing))[0]
        wanted = self._inventory.demands[trips.root.held[0].demand]
        steps = model.approach(wanted.target, model.root).steps
        if not steps and wanted.inside and len(percept.held) < 2 and wanted.target not in self.belief.opened:
            return PrimitiveStep(words.open, wanted.target)
        return (*steps, PrimitiveStep(words.put, percept.held[0], wanted.target))[0]

    def _sought(self, percept: Percept) -> Index | None:
        """Return what the agent has to see next: the thing, or the target of what it holds."""
        if self._subgoal is None:
            return None
        if self._subgoal == DELIVER or self._subgoal.thing in percept.held:
            demand = self._inventory.demand_of(percept.held[0]) if percept.held else None
            return self._inventory.demands[demand or 0].target
        return self._subgoal.thing

    def _goal(self) -> GoalId | None:
        if self._subgoal is None or self._subgoal == DELIVER:
            return None
        return self._inventory.demands[self._subgoal.demand].goal

    def _action(self, step: PrimitiveStep) -> Action:
        args = (step.entity,) if step.target is None else (step.entity, step.target)
        return Action(step.verb, tuple(self._inventory.entities[index] for index in args))


def can_fill_closed(domain: Domain, inventory: Inventory, agent: AgentId) -> bool:
    """Return whether things can be put into targets that are closed: else one hand must be left to open them."""
    words, room = inventory.words, inventory.entities[inventory.rooms[0]]
    for demand in inventory.demands:
        if demand.inside and demand.things:
            thing, target = inventory.entities[demand.things[0]], inventory.entities[demand.target]
            facts = (
                Fact(agent, words.at, room),
                Fact(agent, words.held, thing),
                Fact(agent, words.near, target),
                Fact(target, words.room, room),
                Fact(target, words.access, words.closed),
            )
            if not domain.check(agent, Action(words.put, (thing, target)), Facts(facts)).ok:
                return False
    return True
