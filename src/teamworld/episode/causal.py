"""An episode in which agents that cannot affect each other yet need not wait for each other's answers.

The episode itself is played step by step, as ever, and alone writes the log: what it records cannot depend on when
answers come. Beside it a scout plays the same episode in a world whose agents each have a clock
(``contract.LocalWorld``). There an agent goes on as soon as its own answer has come, and waits for others only where
the bounds of the world say that they may have to do with its next step. Each question is put once, by the scout or by
the episode, whoever comes to it first; the episode finds the answers that the scout has asked for.

The rule by which clocks run apart is that of conservative parallel simulation (Chandy and Misra, 1979), as AI
Metropolis applies it to agents (arXiv 2411.03519).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from typing import Any

from teamworld.episode.answers_ahead import AnswersAhead
from teamworld.episode.decision_context import Views
from teamworld.episode.event_recorder import EventRecorder
from teamworld.episode.loop import Episode
from teamworld.episode.message_delivery import Channel
from teamworld.episode.plan_execution import Ending, PlanExecution
from teamworld.episode.stages import Stages
from teamworld.errors import UserError
from teamworld.language import AgentId
from teamworld.methods.contract import Choice, Method
from teamworld.reasoning.contract import Reasoner
from teamworld.record import Event
from teamworld.worlds.contract import EndReason, Goal, LocalWorld, View, World


def check_causal(method: Method, world: World) -> LocalWorld:
    """Return the world in which a scout can run ahead of an episode.

    Raises:
        UserError: The method or the world has no such thing.
    """
    if not method.decides_alone:
        raise UserError(
            f"the schedule causal is for methods whose agents decide alone, and those of {method.name} wait for one "
            "another by its protocol: leave out --schedule, or take react or zero_shot"
        )
    local = world.local()
    if local is None:
        spec = world.spec
        raise UserError(
            f"the schedule causal is for worlds in which what agents do is felt only near them; in {spec.world}, level "
            f"{spec.level}, with these options somebody may learn at once of what happens anywhere: leave out "
            "--schedule, or take wildfire, a level of cutting trees without helicopters, with --set "
            "wildfire.shared_map=false"
        )
    return local


class CausalEpisode(Episode):
    """An ``Episode`` that asks ahead; its log is the same to the byte.

    Args:
        answers: Answers the scout; the reasoner is its ``in_turn``, or stands round that.
        episode: As for ``Episode``.
    """

    def __init__(self, answers: AnswersAhead, **episode: Any) -> None:
        super().__init__(**episode)
        self._answers = answers
        self._scouting: asyncio.Task[None] | None = None

    async def play(self) -> EndReason:
        """Run the episode to its end and return why it ended.

        Raises:
            UserError: The method or the world does not let agents run ahead.
            AskedOtherwise: What the world says of its bounds is wrong.
        """
        failure: BaseException | None = None
        try:
            over = await super().play()
        finally:
            if self._scouting is not None:
                self._scouting.cancel()
                (failure,) = await asyncio.gather(self._scouting, return_exceptions=True)
            await self._answers.close()
        if isinstance(failure, BaseExceptionGroup):
            raise failure.exceptions[0]
        return over

    async def _begin(self) -> None:
        await super()._begin()
        scout = _Scout(self, check_causal(self._method, self._world), self._answers.run_ahead())
        self._scouting = asyncio.create_task(self._scout(scout))

    async def _scout(self, scout: _Scout) -> None:
        try:
            await scout.run()
        finally:
            self._answers.stop()


class _NoRecord(EventRecorder):
    """Keeps no events.

    Args:
        step: Where its clocks stand.
    """

    def __init__(self, step: int) -> None:
        self.level, self.step, self.tick = "play", step, step

    @property
    def events(self) -> Sequence[Event]:
        """None."""
        return ()

    def record(self, event: Event) -> None:
        """Drop an event."""

    def flush(self) -> None:
        """Do nothing."""


class _Scout(Episode):
    """A copy of an episode in a world of clocks. Agents step in parties, each of those who must step together."""

    def __init__(self, episode: CausalEpisode, local: LocalWorld, reasoner: Reasoner) -> None:
        self.__dict__.update(vars(episode))
        shared = (episode._world.domain, episode._world.spec.public)
        self._method = deepcopy(episode._method, {id(part): part for part in shared})
        self._world = self._local = local
        self._reasoner = reasoner
        self._team, self._executions = tuple(episode._alive), {}
        self._channel = Channel(self._setting.messages, local.in_range, self._streams, lambda event: None)
        self._busy: set[AgentId] = set()
        self._waiters: defaultdict[AgentId, set[AgentId]] = defaultdict(set)
        """Who waits for whom: by the agent that has to step first."""
        self._last: set[AgentId] = set()
        """Who waits because the episode may be over where they are."""
        self._certain = 0
        """Steps after which the episode is certainly not over."""

    async def run(self) -> None:
        """Run to the end of the episode, or to where it may be over."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._send(self._team)

    def _send(self, agents: Iterable[AgentId]) -> None:
        """Let agents take their next steps whom nothing holds up."""
        held = set[AgentId]()
        for agent in agents:
            t = self._local.view(agent).t
            if agent in self._busy or agent in held or t >= self._local.spec.horizon:
                continue
            if t > self._certain:
                self._certain = self._local.goes_on_until()
            if t > self._certain:
                self._last.add(agent)
                continue
            party, first = self._gather(agent)
            if first is None:
                self._busy |= party
                self._group.create_task(self._step([member for member in self._team if member in party], t))
            else:
                held |= party
                self._waiters[first] |= party

    def _gather(self, agent: AgentId) -> tuple[set[AgentId], AgentId | None]:
        """Return who has to step with an agent, and whoever has to step before them; None if nobody."""
        party, unasked = {agent}, [agent]
        while unasked:
            near = self._local.neighbours(unasked.pop())
            for other in (*near.behind, *near.together):
                if other in near.behind or other in self._busy:
                    return party, other
            unasked += [other for other in near.together if other not in party]
            party.update(near.together)
        return party, None

    async def _step(self, party: Sequence[AgentId], t: int) -> None:
        """Let a party decide and take a step; then let all go on who waited for it."""
        part = copy(self)
        part._alive, part._recorder = list(party), _NoRecord(t)
        part._stages = Stages(party, part._recorder.record)
        part._advance(await part._choose_actions())
        self._busy.difference_update(party)
        ready = dict.fromkeys(party)
        for agent in party:
            ready |= dict.fromkeys(sorted(self._waiters.pop(agent, ())))
        if self._last and (certain := self._local.goes_on_until()) > self._certain:
            self._certain = certain
            ready |= dict.fromkeys(sorted(self._last))
            self._last.clear()
        self._send(ready)

    def _views(self) -> Views:
        return Views(self._team, self._world.view)

    def _take_up(self, agent: AgentId, choice: Choice, view: View, goals: Sequence[Goal]) -> None:
        self._executions[agent] = PlanExecution(0, choice.plan, self._world.domain.ends_plan)

    def _end_plan(self, agent: AgentId, ending: Ending | None) -> None:
        del self._executions[agent]

    def _show(self) -> None:
        """Draw nothing."""
