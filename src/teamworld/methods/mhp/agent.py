"""One agent's planner: what it believes, what it is after, and the step that it does next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from teamworld.language import Action, AgentId, Cell, Fact, Facts, GoalId, Plan
from teamworld.methods.contract import CARRY, Choice, Decision, DecisionContext, Message
from teamworld.methods.mhp.belief import Belief
from teamworld.methods.mhp.errands import DELIVER, Errands
from teamworld.methods.mhp.model import Model, Step, Subgoal
from teamworld.methods.mhp.near import NearBelief
from teamworld.methods.mhp.options import MhpOptions
from teamworld.methods.mhp.search import Settings, search
from teamworld.methods.mhp.sight import Sight, glimpses, sight
from teamworld.methods.mhp.stock import Number, Stock
from teamworld.methods.mhp.talk import Talk
from teamworld.record import Commit, Release
from teamworld.worlds.contract import Domain, View


class Planner:
    """One agent.

    Args:
        agent: Who.
        stock: What there is.
        domain: The rules that everybody knows.
        options: Of the method.
        rng: All that it draws comes from here.
    """

    def __init__(
        self, agent: AgentId, stock: Stock, domain: Domain, options: MhpOptions, rng: np.random.Generator
    ) -> None:
        self._agent, self._stock, self._domain, self._options, self._rng = agent, stock, domain, options, rng
        self._ahead: bool | None = None
        """Whether it sees what is ahead only; None before its first look."""
        self._hands = min(options.hands, 2 if fills_closed(domain, stock, agent) else 1)
        self._settings = Settings(options.simulations, options.depth)
        self._talk = Talk(agent, stock, options.worth)
        self._subgoal: Subgoal | None = None
        self._bound: GoalId | None = None
        self._put: Step | None = None
        self._grounds: object = None
        """What the last search went by, where searches are repeated when it changes."""
        self._theirs: set[Number] = set()
        self._at: dict[Number, Cell] = {}

    def decide(self, context: DecisionContext) -> Decision | None:
        """Return what to do in this step; None for nothing. Whoever tells something does nothing else."""
        view = context.views[self._agent]
        if self._ahead is None:
            self._ahead = glimpses(view)
            self.belief = self._guess()
        if self._options.messages:
            self._talk.hear(context.inbox(self._agent), self.belief)
        seen = sight(view, self._stock, ahead=self._ahead)
        if seen is None:
            return None
        self._see(seen, view)
        step = self._step(seen)
        if self._options.messages and len(context.team) > 1:
            message = self._talk.due(self._subgoal, seen, self.belief)
            if message is not None:
                self._say(context, message)
                return None
        self._put = step if step is not None and step.verb == "put" else None
        if step is None:
            return None
        action = self._action(step)
        running = context.running.get(self._agent)
        if running is not None and running.actions == (action,):
            return CARRY
        return Choice(Plan((action,), self._goal()), cause="step")

    def _guess(self) -> Belief:
        """Guess where everything is, before anything is seen."""
        if self._options.look == "near":
            return NearBelief(self._stock, self._rng, self._domain, ahead=self._ahead is True)
        return Belief(self._stock, self._rng, ahead=self._ahead is True)

    def _say(self, context: DecisionContext, message: Message) -> None:
        """Tell something; whoever tells a subgoal binds itself to its goal."""
        self._put = None
        context.post(message)
        if message.act != "commit" or message.goal is None or message.goal == self._bound:
            return
        if self._bound is not None:
            goals = context.views[self._agent].goals
            done = any(goal.id == self._bound and goal.state == "done" for goal in goals)
            context.note(Release(agent=self._agent, goal=self._bound, cause="done" if done else "reassigned"))
        self._bound = message.goal
        context.note(Commit(agent=self._agent, goal=message.goal, cause="message"))

    def _see(self, seen: Sight, view: View) -> None:
        """Take in what is perceived, and what the last step has done out of sight."""
        put = self._put
        if put is not None and put.what not in seen.hands and put.what not in seen.place:
            self.belief.tell(put.what, put.onto)  # into something closed
        self._at.update(seen.at)
        self._theirs = (self._theirs | seen.taken) - {one for one in seen.place if one not in seen.taken}
        belief = self.belief
        if not isinstance(belief, NearBelief):
            belief.update(seen)
            return
        belief.look_from(view)
        before = dict(belief.place)
        belief.update(seen)
        if any(belief.place[one] != into for one, into in before.items() if one not in belief.seen):
            belief.again()

    # ---- what to do

    def _step(self, seen: Sight) -> Step | None:
        """Return the next step, the subgoal being kept or chosen."""
        model = Model(self.belief, seen, self._talk.served)
        step = self._errand(model, seen) if self._options.errands else self._bring(model, seen)
        sought = self._sought(seen)
        if sought is not None and not seen.whole and sought not in seen.place:
            return Step("explore", seen.room)
        return step

    def _bring(self, model: Model, seen: Sight) -> Step | None:
        """Keep the subgoal as long as it can be one, or something is in the hand; search for another one else."""
        found = model.subgoals(model.root)
        if self._subgoal not in found and not (seen.hands and self._subgoal is not None):
            if not found:
                self._unguess(model)
            chosen = found if len(found) <= 1 else search(model, model.root, self._settings, self._rng)
            self._subgoal = chosen[0] if chosen else None
        if self._subgoal is None:
            return None
        steps = model.bring(self._subgoal, model.root).steps
        return steps[0] if steps else None

    def _unguess(self, model: Model) -> None:
        """Guess anew what only a guess has at its target, since the goal is not reached."""
        for done in model.satisfied:
            for thing in sorted(done - self.belief.seen):
                self.belief.guess(thing)

    def _errand(self, model: Model, seen: Sight) -> Step | None:
        """Search anew whenever what there is to choose from, or where it is taken to be, has changed."""
        options = self._options
        theirs = self._theirs | {subgoal.thing for subgoal in self._talk.served}
        errands = Errands(model, self.belief, seen, hands=self._hands, costs=options.costs, theirs=theirs, at=self._at)
        found = errands.subgoals(errands.root)
        grounds = [(one, one.thing in seen.place, self.belief.place.get(one.thing)) for one in found]
        if self._subgoal not in found or grounds != self._grounds:
            if not found:
                self._unguess(model)
            settings = self._settings._replace(depth=2 * options.depth, whole=True, c_init=1.0)
            chosen: Sequence[Subgoal] = found if len(found) <= 1 else search(errands, errands.root, settings, self._rng)
            self._subgoal = chosen[0] if chosen else None
        self._grounds = grounds
        if self._subgoal is None:
            return None
        if self._subgoal != DELIVER:
            return (*model.find(self._subgoal.thing, model.root).steps, Step("grab", self._subgoal.thing))[0]
        thing = seen.hands[0]
        need = self._stock.needs[errands.root.hands[0].need]
        steps = model.find(need.target, model.root).steps
        if not steps and need.how == "INSIDE" and len(seen.hands) < 2 and need.target not in self.belief.opened:
            return Step("open", need.target)
        return (*steps, Step("put", thing, need.target))[0]

    def _sought(self, seen: Sight) -> Number | None:
        """Return what the agent has to see next: the thing, or the target of what it holds."""
        if self._subgoal is None:
            return None
        if self._subgoal == DELIVER or self._subgoal.thing in seen.hands:
            return self._stock.needs[self._held(seen)].target
        return self._subgoal.thing

    def _held(self, seen: Sight) -> int:
        needs = enumerate(self._stock.needs)
        return next((number for number, need in needs if seen.hands and seen.hands[0] in need.things), 0)

    def _goal(self) -> GoalId | None:
        if self._subgoal is None or self._subgoal == DELIVER:
            return None
        return self._stock.needs[self._subgoal.need].goal

    def _action(self, step: Step) -> Action:
        entities = self._stock.entities
        return Action(step.verb, (entities[step.what], *((entities[step.onto],) if step.verb == "put" else ())))


def fills_closed(domain: Domain, stock: Stock, agent: AgentId) -> bool:
    """Return whether things can be put into targets that are closed: else one hand must be left to open them."""
    for need in stock.needs:
        if need.how == "INSIDE" and need.things:
            thing, target, room = (stock.entities[one] for one in (need.things[0], need.target, stock.rooms[0]))
            given = (
                Fact(agent, "AT", room),
                Fact(agent, "HOLD", thing),
                Fact(agent, "NEAR", target),
                Fact(target, "IN", room),
                Fact(target, "STATE", "closed"),
            )
            if not domain.check(agent, Action("put", (thing, target)), Facts(given)).ok:
                return False
    return True
