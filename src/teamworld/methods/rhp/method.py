"""RHP, the rule-based hierarchical planner of TDW-MAT: a container first, then targets, then the way to the bed.

It asks no reasoner and says nothing. Each agent knows what it has seen and chooses alone; the actions of the world
carry it out. See the page on RHP for what differs from the published code and why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from teamworld.language import Action, AgentId, Entity, Plan
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.methods.rhp.options import VARIANTS, RhpOptions
from teamworld.worlds.contract import Haul, HaulingRules, View


class Rhp(Method):
    """Rule-based hierarchical planner."""

    name = "rhp"
    summary = "RHP: the rule-based planner of TDW-MAT, a container first, then targets; no reasoner is asked"
    options = RhpOptions
    _options: RhpOptions
    variants = VARIANTS
    requires = frozenset({"hauling"})

    async def begin(self, briefing: Briefing) -> None:
        """Keep the rules of the world, and a generator for each agent."""
        rules = briefing.domain.hauling
        if rules is None:
            raise TypeError("a world without hauling got to a method that requires it")
        self._rules = rules
        self._rngs = {agent: briefing.rng("rhp", agent) for agent in briefing.agents}

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let each agent choose by itself."""
        return {agent: self._decide(context.views[agent], self._rngs[agent]) for agent in context.free}

    def _decide(self, view: View, rng: np.random.Generator) -> Choice:
        haul = self._rules.survey(view.agent, view.known)
        steps = {option.action: option.steps for option in view.options}
        action = choose(self._rules, haul, view.t, self._options, steps, rng)
        goals = {option.action: option.goal for option in view.options}
        return Choice(Plan((action,), goals.get(action)))


def choose(
    rules: HaulingRules,
    haul: Haul,
    t: int,
    options: RhpOptions,
    steps: Mapping[Action, int],
    rng: np.random.Generator,
) -> Action:
    """Return what an agent does next.

    Args:
        rules: Of the world.
        haul: What the agent carries and knows to lie about.
        t: The tick.
        options: Of the method.
        steps: Estimated steps of actions, as far as they are known.
        rng: For its choices.
    """
    if haul.container is not None and haul.targets and haul.places:
        return rules.put(haul.targets[0], haul.container)
    is_full = not haul.hands_left
    if haul.container is not None and not haul.places:
        is_full = is_full or not options.free_hand
    if haul.held and (t > options.deliver_from or is_full or haul.is_enough):
        return rules.deliver() if haul.knows_place else rules.search("place")
    if haul.container is None and t < options.containers_until:
        return _fetch(rules, haul.containers, options, steps, rng) or rules.search("container")
    return _fetch(rules, haul.wanted if haul.hands_left else (), options, steps, rng) or rules.search("target")


def _fetch(
    rules: HaulingRules,
    things: Sequence[Entity],
    options: RhpOptions,
    steps: Mapping[Action, int],
    rng: np.random.Generator,
) -> Action | None:
    """Return the action that fetches one of the things, or None if there are none."""
    fetches = [rules.fetch(thing) for thing in things]
    if not fetches:
        return None
    if options.choice == "nearest":
        return min(fetches, key=lambda fetch: (steps.get(fetch, math.inf), str(fetch)))
    return fetches[int(rng.integers(len(fetches)))]
