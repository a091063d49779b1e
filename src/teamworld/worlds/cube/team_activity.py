"""What the agents of a team do in one step, by block and face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from teamworld.language import Action, AgentId
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import block_of, count_of, word_of
from teamworld.worlds.cube.geometry import Place
from teamworld.worlds.cube.symbolic_state import SymbolicState

if TYPE_CHECKING:
    from teamworld.worlds.cube.skills import CubeSkill


@dataclass(frozen=True)
class TeamActivity:
    """The running skills of the team in one step."""

    skills: Mapping[AgentId, CubeSkill]

    @cached_property
    def unfinished_pushes(self) -> frozenset[Place]:
        """Faces with a pusher whose block has still to move.

        Read it after all skills have watched the step.
        """
        return frozenset(skill.place for skill in self.skills.values() if skill.is_unfinished)

    @cached_property
    def longest_push(self) -> Mapping[Place, int]:
        """For each face with pushers, the largest number of steps that one of them wants."""
        steps: dict[Place, int] = {}
        for skill in self.skills.values():
            if skill.verb == "push_block":
                steps[skill.place] = max(steps.get(skill.place, 0), count_of(skill.whole, 1))
        return steps

    def _of_verbs(self, *verbs: str) -> Mapping[Place, frozenset[AgentId]]:
        """Return for each face the agents with an action of some verbs there."""
        agents: dict[Place, frozenset[AgentId]] = {}
        for agent, skill in self.skills.items():
            if skill.verb in verbs:
                agents[skill.place] = agents.get(skill.place, frozenset()) | {agent}
        return agents

    @cached_property
    def engaged(self) -> Mapping[int, frozenset[AgentId]]:
        """For each block, the agents that push it or wait in a rendezvous there."""
        agents: dict[int, frozenset[AgentId]] = {}
        for place, those in self._of_verbs("push_block", "rendezvous").items():
            agents[place.block] = agents.get(place.block, frozenset()) | those
        return agents

    @cached_property
    def agent_counts(self) -> Mapping[int | None, int]:
        """For each block, how many agents run an action on it."""
        return Counter(skill.block for skill in self.skills.values())

    @cached_property
    def agents_in_rendezvous(self) -> Mapping[Place, frozenset[AgentId]]:
        """For each face, the agents in the rendezvous state."""
        return self._of_verbs("rendezvous")

    def comers(self, place: Place, moved: frozenset[AgentId]) -> frozenset[AgentId]:
        """Return the agents that wait at a face for partners, or walk to it and got on in this step."""
        walkers = (
            agent
            for agent, skill in self.skills.items()
            if skill.verb == "move_to_block" and (skill.block, word_of(skill.whole, 1)) == place
        )
        return self.agents_in_rendezvous.get(place, frozenset()) | moved.intersection(walkers)

    @cached_property
    def waiting(self) -> frozenset[AgentId]:
        """The agents that wait for teammates, in a rendezvous or anywhere."""
        return frozenset(a for a, skill in self.skills.items() if skill.verb in ("rendezvous", "wait_agents"))

    @cached_property
    def busy(self) -> int:
        """How many agents do anything but ``wait_agents``."""
        return sum(skill.verb != "wait_agents" for skill in self.skills.values())


def is_timely(state: SymbolicState, agent: AgentId, action: Action, running: Mapping[AgentId, Action]) -> bool:
    """Return whether what the team does lets an action be of use that an agent could begin.

    A push can move its block once those on their way have come and those who meet there push too. A rendezvous is of
    use where agents are missing or wait, and nobody there pushes: pushers do not count.

    Args:
        state: Where everything stands.
        agent: Who would act.
        action: What it would do.
        running: The running action of each busy agent.
    """
    block = block_of(action)
    face = None if block is None else geometry.face_of(state, agent, block)
    if action.verb not in ("push_block", "rendezvous") or block is None or face is None:
        return True
    there, need = geometry.aligned_agents(state, block, face), geometry.chain_weight(state, block, face)
    doing: dict[str, set[AgentId]] = {}
    for who, other in running.items():
        if block_of(other) == block and (who in there or other.args[1:2] == (face,)):
            doing.setdefault(other.verb, set()).add(who)
    meeting = doing.get("rendezvous", set()) - {agent}
    is_enough = len(there | doing.get("move_to_block", set())) >= need
    if action.verb == "push_block":
        return is_enough
    return not is_enough or ("push_block" not in doing and (bool(meeting) or len(there) < need))
