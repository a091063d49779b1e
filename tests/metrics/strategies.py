"""Small valid logs at random: what can happen in an episode, in the order in which the loop writes it.

Nothing is assumed of a method or a world beyond what the log format says: a living agent has one act a step, one plan
at most, plans and messages have numbers of their own, what is done stays done.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from teamworld.record import (
    ActionStep,
    AgentLeft,
    AnswerError,
    AttemptMade,
    Commit,
    Deliver,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    LlmCall,
    MessageSent,
    PlanStart,
    QuestionAsked,
    Release,
    StageEntered,
    StepDone,
    ViewsShared,
)
from tests.metrics.logs import Status, act, ended, episode_start, goal_info, plan

NAMES: Final = ("ann", "ben", "cat", "dan")
GOALS: Final = ("g_one", "g_two", "g_three", "g_four")
#: A goal that nobody announced.
SURPRISE: Final = "g_new"
CONSTRAINTS: Final = ("dependency", "capability", "participation", "spatial", "temporal")
CAUSES: Final = ("done", "failed", "reassigned", "agreed", "interrupted", "a word of its own")
PLAN_CAUSES: Final = ("start", "idle", "goal_done", "resync", "timer", "repair")
PLACES: Final = ("(0, 0)", "(0, 1)", "(1, 0)")
ACTS: Final = ("inform", "request", "propose", "accept", "reject", "commit", "release", "ack", "other")
WORDS: Final = ("I", "go", "to", "the", "block", "now", "wait", "for", "me")
FACTS: Final = ("<block>(1) AT (0, 1)", "<block>(1) WEIGHT 2", "ann AT (1, 0)")


class Maker:
    """Makes one log, step by step."""

    def __init__(self, rng: Random, agents: int, goals: int, steps: int) -> None:
        self.rng = rng
        self.steps = steps
        self.team = list(NAMES[:agents])
        self.alive = list(self.team)
        self.goals = list(GOALS[:goals])
        #: How often things happen differs from log to log.
        habits = ("talk", "bind", "plan", "move", "work", "ready", "try")
        self.often = {what: rng.choice((0.01, 0.1, 0.4, 0.8)) for what in habits}
        self.placed = rng.random() < 0.8
        #: How often a provider does not count its tokens.
        self.uncounted = rng.choice((0.0, 0.0, 0.5))
        self.place = dict.fromkeys(self.team, PLACES[0])
        self.progress: dict[str, float] = {}
        self.over: set[str] = set()
        self.held: dict[str, str] = {}
        self.running: dict[str, PlanStart] = {}
        self.plans = self.messages = 0
        self.events: list[Any] = []
        self.step = self.tick = 0

    def chance(self, often: float) -> bool:
        return self.rng.random() < often

    def some(self, values: Sequence[str], least: int = 0) -> tuple[str, ...]:
        chosen = tuple(value for value in values if self.chance(0.5))
        return chosen if len(chosen) >= least else tuple(values[:least])

    def write(self, *events: Any) -> None:
        for event in events:
            placed = msgspec.structs.replace(event, seq=len(self.events), step=self.step, tick=self.tick)
            self.events.append(placed)

    def log(self) -> list[Event]:
        self.write(self._start())
        for _ in range(self.steps):
            if not self.alive:
                break
            self._talk()
            for agent in self.alive:
                self._decide(agent)
            acts = [self._act(agent) for agent in self.alive]
            self._meet(acts)
            self.write(*acts)
            self._world()
            ticks = self.rng.choice((1, 1, 1, 3))
            self.write(StepDone(ticks=ticks, score={"reward": self.rng.randint(-2, 2) / 2, "area_burnt": 3.0}))
            self.step, self.tick = self.step + 1, self.tick + ticks
        for agent in list(self.running):
            self._end_plan(agent, "unfinished", "horizon")
        if self.chance(0.7):
            self.write(*(Release(agent=agent, goal=goal, cause="ended") for agent, goal in self.held.items()))
        done = bool(self.goals) and all(self.progress.get(goal) == 1.0 for goal in self.goals)
        self.write(
            EpisodeEnd(reason="all_done" if done else self.rng.choice(("horizon", "quit")), idle={"reward": -2.5})
        )
        return self.events

    def _start(self) -> EpisodeStart:
        rng = self.rng
        goals = []
        for goal in self.goals:
            quorum = rng.randint(1, 3)
            places = quorum + rng.choice((0, 0, 1))
            weight = rng.choice((0.5, 1.0, 2.0))
            given: dict[str, Any] = {"deadline": rng.choice((None, 5)), "losable": goal != GOALS[0], "label": "job"}
            exclusive = places <= quorum
            goals.append(goal_info(goal, quorum, weight, places=places, exclusive=exclusive, units=4, **given))
        return episode_start(goals, self.team, schema=2, searches=("look",), horizon=3 * self.steps + rng.randint(0, 3))

    # ---- before the step

    def _talk(self) -> None:
        rng = self.rng
        while self.chance(self.often["talk"] / 2):
            sender = rng.choice(self.alive)
            recipients = self.some([agent for agent in self.alive if agent != sender])
            fields: dict[str, Any] = {
                "act": rng.choice(ACTS),
                "text": " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 6))),
            }
            fields |= {"goal": self._any_goal(), "facts": self.some(FACTS)}
            fields["reply_to"] = rng.choice((None, self.messages - 1)) if self.messages else None
            fields["room"] = rng.choice((None, 0))
            message = MessageSent(agent=sender, id=self.messages, recipients=recipients, **fields)
            self.messages += 1
            self.write(message)
            self.write(*(Deliver(agent=to, message=message.id, dropped=self.chance(0.2)) for to in recipients))
            if self.chance(0.5):
                self._ask(sender)

    def _ask(self, agent: str) -> None:
        """A question to a mind, with its calls."""
        purpose = self.rng.choice(("draft", "propose"))
        others = tuple(one for one in self.alive if one != agent)
        if others and self.chance(0.3):
            self.write(ViewsShared(agent=agent, purpose=purpose, views=others))
        tries = self.rng.randint(1, 3)
        for attempt in range(tries):
            tokens: dict[str, Any] = {"prompt_tokens": self._counted(100, 200), "cached_tokens": self._counted(0, 50)}
            tokens |= {"output_tokens": self._counted(10, 20), "reasoning_tokens": self._counted(0, 5)}
            usable = attempt == tries - 1
            self.write(LlmCall(agent=agent, purpose=purpose, model="test", usable=usable, attempt=attempt, **tokens))
        errors = (AnswerError(flaw="json", text="not JSON"),) * (tries - 1)
        self.write(QuestionAsked(agent=agent, purpose=purpose, reasoner="test", answer={}, errors=errors))

    def _counted(self, *counts: int) -> int | None:
        return None if self.chance(self.uncounted) else self.rng.choice(counts)

    def _any_goal(self) -> str | None:
        return self.rng.choice([None, *self.goals, *(goal for goal in self.progress if goal == SURPRISE)])

    def _decide(self, agent: str) -> None:
        if self.chance(self.often["bind"] / 2):
            self._bind(agent)
        running = agent in self.running
        stopped = running and self.chance(0.1)
        if stopped:
            self.write(StageEntered(agent=agent, stage="I"))
            if self.chance(0.3):
                return  # the talk goes on in the next step
        elif running and self.chance(self.often["plan"] / 2):
            self._end_plan(
                agent,
                self.rng.choice(("success", "failed", "failed", "superseded", "expired")),
                self.rng.choice(("why", "goal_open")),
            )
        if stopped or agent not in self.running:
            self.write(StageEntered(agent=agent, stage="R"), StageEntered(agent=agent, stage="W"))
            if self.chance(self.often["plan"]):
                if stopped:
                    self._end_plan(agent, "interrupted", "resync")
                self._plan(agent)
            self.write(StageEntered(agent=agent, stage="X"))

    def _bind(self, agent: str) -> None:
        if agent in self.held and self.chance(0.6):
            self.write(Release(agent=agent, goal=self.held.pop(agent), cause=self.rng.choice(CAUSES)))
        goal = self._any_goal()
        if goal is not None and self.chance(0.7):
            self.write(Commit(agent=agent, goal=goal))
            self.held[agent] = goal

    def _plan(self, agent: str) -> None:
        rng = self.rng
        goal = self.held.get(agent) if self.chance(0.5) else self._any_goal()
        fields: dict[str, Any] = {"quorum": rng.randint(0, 3), "text": f"plan {goal} {rng.randint(0, 1)}"}
        fields |= {"origin": rng.choice(("fresh", "revised", "reused")), "cause": rng.choice(PLAN_CAUSES)}
        fields |= {name: self.chance(0.8) for name in ("parsed", "first_action_legal", "dry_run_ok")}
        fields |= {"predicted_steps": rng.randint(1, 9), "length": rng.choice((None, 2, 3))}
        self.running[agent] = plan(agent, self.plans, goal, **fields)
        self.plans += 1
        self.write(self.running[agent])
        if self.chance(0.2):
            self.write(self._made(agent, self.running[agent], spent=False, legal=False, status="failed"))

    def _end_plan(self, agent: str, status: Status, cause: str) -> None:
        last = self.running.pop(agent)
        is_done = last.goal is not None and self.progress.get(last.goal) == 1.0
        fields = {"cause": cause, "actions_done": self.rng.randint(0, 2), "goal_done": is_done, "units_left": 0}
        self.write(ended(agent, last.plan, status, last.goal, **fields))

    # ---- the step

    def _made(self, agent: str, running: PlanStart | None, **given: Any) -> ActionStep:
        goal, number = (None, None) if running is None else (running.goal, running.plan)
        verb = self.rng.choice(("work", "talk", "look"))
        args = (self.rng.choice(("hall", "den")),) if verb == "look" else ()
        return act(agent, goal, verb=verb, args=args, plan=number, **given)

    def _act(self, agent: str) -> ActionStep:
        rng = self.rng
        plan = self.running.get(agent) if self.chance(0.9) else None
        legal = self.chance(0.9)
        aim = rng.choice([cell for cell in PLACES if cell != self.place[agent]]) if self.chance(0.6) else None
        moved = legal and aim is not None and self.chance(self.often["move"])
        act = self._made(
            agent,
            plan,
            legal=legal,
            status=rng.choice(("running", "done", "failed")) if legal else "failed",
            effect=legal and self.chance(self.often["work"] / 2),
            moved=moved,
            ready=rng.choice([None, *self.goals]) if self.chance(self.often["ready"]) else None,
            blocker=None if moved else rng.choice([None, "wall", *(one for one in self.alive if one != agent)]),
            place=self.place[agent] if self.placed else None,
            aim=aim if self.placed else None,
        )
        if moved and aim is not None:
            self.place[agent] = aim
        return act

    def _meet(self, acts: list[ActionStep]) -> None:
        """Let two agents stand in each other's way now and then."""
        if len(acts) < 2 or not self.placed or not self.chance(0.3):
            return
        one, two = acts[0], acts[1]
        if not (one.moved or two.moved) and one.legal and two.legal and one.place != two.place:
            acts[0] = msgspec.structs.replace(one, blocker=two.agent, aim=two.place, effect=False)
            acts[1] = msgspec.structs.replace(two, blocker=one.agent, aim=one.place, effect=False)

    def _world(self) -> None:
        rng = self.rng
        for goal in self.goals:
            if goal not in self.over and self.chance(self.often["try"]):
                self._attempt(goal)
            if goal not in self.over and self.chance(self.often["try"] / 2):
                self._change(goal)
        if SURPRISE not in self.progress and self.chance(0.05):
            self.write(GoalChange(goal=SURPRISE, event="opened", delta=0.0, participants=()))
            self.progress[SURPRISE] = 0.0
        if self.chance(0.02):
            self._leave(rng.choice(self.alive))

    def _attempt(self, goal: str) -> None:
        rng = self.rng
        k = rng.randint(1, 3)
        need = dict.fromkeys(self.some(CONSTRAINTS), k) | {"participation": k}
        have = {name: rng.randint(0, k) if self.chance(0.5) else k for name in need}
        success = have == need and self.chance(0.9)
        who = self.some(self.alive, 1)
        self.write(AttemptMade(goal=goal, k=k, have=have, need=need, participants=who, success=success))

    def _change(self, goal: str) -> None:
        rng, now = self.rng, self.progress.get(goal, 0.0)
        who = self.some(self.alive, 1)
        if self.chance(0.1):
            self.write(GoalChange(goal=goal, event="lost", delta=0.0, participants=()))
            self.over.add(goal)
            return
        delta = rng.choice((0.25, 0.5)) if now == 0.0 or self.chance(0.8) else -0.25
        self.progress[goal] = min(1.0, now + delta)
        if self.progress[goal] < 1.0:
            self.write(GoalChange(goal=goal, event="progress", delta=delta, participants=who))
            return
        self.over.add(goal)
        if self.chance(0.5):  # the last part of the way as a record of its own, as in CUBE
            self.write(GoalChange(goal=goal, event="progress", delta=1.0 - now, participants=who))
            now = 1.0
        self.write(GoalChange(goal=goal, event="done", delta=1.0 - now, participants=who))

    def _leave(self, agent: str) -> None:
        self.write(AgentLeft(agent=agent, why="lost"))
        self.alive.remove(agent)
        if agent in self.running:
            self._end_plan(agent, "failed", "gone")
        if agent in self.held:
            self.write(Release(agent=agent, goal=self.held.pop(agent), cause="gone"))


def made(rng: Random, agents: int = 4, goals: int = 4, steps: int = 12) -> list[Event]:
    """Return a log with so many agents (1 to 4), announced goals (0 to 4) and steps, fewer if all agents leave."""
    return Maker(rng, agents, goals, steps).log()


#: Short logs; a failing one is made small by its numbers of agents, goals and steps.
logs: st.SearchStrategy[list[Event]] = st.builds(
    made, st.integers(0, 10**9).map(Random), st.integers(1, 4), st.integers(0, 4), st.integers(0, 14)
)
