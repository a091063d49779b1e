"""A PettingZoo environment with a describer as a world of the contract."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Final, NamedTuple

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Facts, Term
from teamworld.worlds.adapters.describer import Describer, Look, MacroAction, ParallelEnvironment
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.memory import FactMemory, Perception
from teamworld.worlds.base.world import FactsWorld
from teamworld.worlds.contract import Goal, GoalEvent, Outcome, StepResult, WorldSpec

_NOTHING: Final = Facts()


class EnvironmentStep(NamedTuple):
    """One step: the state and the running actions before it, rewards, and who left."""

    before: Any
    known: Mapping[AgentId, Any]
    """What each agent with a running action knew."""
    running: Mapping[AgentId, MacroAction]
    primitives: Mapping[AgentId, str]
    reward: float
    gone: Mapping[AgentId, str]


class AdapterWorld(FactsWorld[Describer[Any], MacroAction, EnvironmentStep]):
    """One instance of another package's environment.

    Each episode is played in a new environment that is reset with the seed: some environments remember more of
    earlier episodes than their random numbers.

    Args:
        spec: What everybody knows before the first step; its agents are those of the environment.
        describer: The rules, and how observations read and actions unroll.
        make_env: Returns a new environment, always the same.
        seed: Of the first episode.

    Raises:
        UserError: The horizon is below 1, or the seed is negative, which environments refuse.
    """

    def __init__(
        self, spec: WorldSpec, describer: Describer[Any], make_env: Callable[[], ParallelEnvironment], seed: int = 0
    ) -> None:
        self._make_env = make_env
        super().__init__(spec, describer, seed=seed)

    def begin(self, seed: int) -> None:
        """Make a new environment, reset it with the seed, and let agents look."""
        if seed < 0:
            raise UserError(f"a seed of {self._spec.world} is a number from 0, got {seed}")
        self._env, agents, domain = self._make_env(), self._spec.agents, self._domain
        observations, infos = self._env.reset(seed=seed)
        self._is_over, self._alive, self._score = False, list(agents), 0.0
        self._memories = {agent: FactMemory(domain.placed, transient=("UNSEEN",)) for agent in agents}
        self._seen: dict[AgentId, dict[Term, int]] = {agent: {} for agent in agents}
        self._state = domain.truth(self._env, None)
        self._goals = {goal.id: goal for goal in domain.list_goals(self._state)}
        self._units = {goal.id: _units(goal) for goal in self._goals.values()}
        self._look(observations, infos, 0)

    def make_skill(self, agent: AgentId, action: Action) -> MacroAction:
        """Return a running action."""
        return MacroAction(action, self._t, self._domain.idle)

    def advance(self, running: Mapping[AgentId, MacroAction]) -> EnvironmentStep:
        """Let the environment do one step, and agents look."""
        domain, env, before = self._domain, self._env, self._state
        running = {agent: running[agent] for agent in self._alive if agent in running}  # not as they began
        known = {agent: domain.read(self.known(agent)) for agent in running}
        for agent, skill in running.items():
            is_idle = skill.action.verb in ("wait", "talk")
            skill.primitive = domain.idle if is_idle else domain.unroll(agent, skill, known[agent])
        primitives = {agent: running[agent].primitive if agent in running else domain.idle for agent in self._alive}
        observations, rewards, terminations, truncations, infos = env.step(
            {agent: domain.primitives[name] for agent, name in primitives.items()}
        )
        left = {agent: "terminated" for agent in self._alive if terminations[agent]}
        left |= {agent: "truncated" for agent in self._alive if truncations[agent] and agent not in left}
        self._is_over = len(left) == len(self._alive)
        gone = {} if self._is_over else left
        self._alive = [agent for agent in self._alive if agent not in gone]
        self._state = domain.truth(env, before)
        self._look(observations, infos, self._t + 1)
        return EnvironmentStep(before, known, running, primitives, float(fsum(rewards.values())), gone)

    def observe(self, agent: AgentId, change: EnvironmentStep) -> Outcome:
        """Return what the step did to an agent and through it."""
        return self._outcome(agent, change)._replace(start=self._t)

    def _outcome(self, agent: AgentId, change: EnvironmentStep) -> Outcome:
        return self._domain.outcome(agent, change.primitives[agent], change.before, self._state)

    def judge(self, agent: AgentId, skill: MacroAction, change: EnvironmentStep) -> Result:
        """Return how a running action stands after the step."""
        if agent in change.gone:
            return Result("failed", change.gone[agent])
        outcome = self._outcome(agent, change)
        skill.spent += 1
        skill.stuck = 0 if outcome.moved or outcome.effect else skill.stuck + 1
        if skill.action.verb == "talk":
            return DONE if skill.spent >= int(str(skill.action.args[0])) else RUNNING
        after = self._domain.read(self._memories[agent].perception.known)
        return self._domain.judge(agent, skill, change.known[agent], after)

    def conclude(self, change: EnvironmentStep) -> StepResult:
        """Return what the step did to the goals."""
        events = tuple(self._list_events(change))
        self._score += change.reward
        attempts = tuple(self._domain.attempts(change.running, change.before, self._state))
        return StepResult(1, {}, events, attempts, change.gone, {"reward": change.reward, "score": self._score})

    def is_complete(self) -> bool:
        """Return whether there is nothing left to do."""
        return self._domain.is_complete(self._state)

    def _end_reason(self, is_done: bool, t: int) -> Any:  # noqa: ANN401  (of the base)
        return "all_done" if is_done else "horizon" if self._is_over else super()._end_reason(is_done, t)

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._alive

    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent perceives and what it remembers."""
        return self._memories[agent].perception

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents that a message reaches."""
        self._check_agent(sender)
        others = (agent for agent in self._alive if agent != sender)
        return tuple(agent for agent in others if self._domain.distance(sender, agent, self._state) <= reach)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return self._domain.write(self._state)

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they truly stand, hidden ones too."""
        return self._domain.list_goals(self._state)

    def snapshot(self) -> Mapping[str, Any]:
        """Return what the describer's drawing needs."""
        return self._domain.snapshot(self._state)

    def _look(self, observations: Mapping[str, Any], infos: Mapping[str, Any], t: int) -> None:
        domain = self._domain
        for agent in self._alive:
            memory, seen = self._memories[agent], self._seen[agent]
            known = domain.read(memory.perception.known if t else _NOTHING)
            sight = domain.perceive(agent, Look(observations[agent], infos.get(agent, {}), known, seen, t))
            memory.look(sight.facts, t, sight.places)
            seen.update(dict.fromkeys(sight.places, t))

    def _list_events(self, change: EnvironmentStep) -> Iterator[GoalEvent]:
        """Yield what became of goals: progress in shares of their units at the start, then their end."""
        before = self._goals
        self._goals = {goal.id: goal for goal in self._domain.list_goals(self._state)}
        for name, goal in self._goals.items():
            whole, was = self._units.setdefault(name, _units(goal)), before.get(name)
            if was is None:
                yield GoalEvent(name, "opened", 0.0, ())
            elif was.state == "open":
                delta = (_units(was) - _units(goal)) / (whole or 1)
                who = tuple(self._domain.participants(goal, change.running)) if delta or goal.state != "open" else ()
                if delta:
                    yield GoalEvent(name, "progress", delta, who)
                if goal.state != "open":
                    yield GoalEvent(name, goal.state, 0.0, who)


def _units(goal: Goal) -> int:
    """Return the work left of a goal: none where it is done."""
    return 0 if goal.state == "done" else max(1, goal.units)
