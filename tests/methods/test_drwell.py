"""DR. WELL on CUBE: the protocol as it stands in the log, learning live and from the log, prompts and rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from msgspec.structs import replace

from teamworld.language import parse_plan
from teamworld.memory.contract import PlanInstance, PlanRecord, Ranking
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.common.knowledge import Line
from teamworld.methods.contract import Method
from teamworld.methods.drwell.method import DrWell
from teamworld.methods.drwell.negotiation_rules import worth_per_step
from teamworld.methods.drwell.options import DrWellOptions
from teamworld.methods.drwell.questions import Choose, CommitTo, Draft, Propose, TaskPlan
from teamworld.methods.drwell.words import describe_record
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.registry import make_reasoner
from teamworld.record import (
    Commit,
    EpisodeEnd,
    Event,
    MessageSent,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    QuestionSkipped,
    Release,
    ViewsShared,
)
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario
from teamworld.testing.episodes import play as play_scenario
from teamworld.worlds import registry as worlds
from tests.methods.asked import play_method, rules


class Spy(WorldModel):
    """A world model that keeps what was added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[PlanInstance] = []

    def add(self, instance: PlanInstance) -> None:
        self.added.append(instance)
        super().add(instance)

    def ranked(self, by: Ranking) -> Spy:
        return self


class Listening:
    """Passes questions on to the rules and keeps what it heard, with the prompt as it would be shown."""

    def __init__(self, inner: Reasoner) -> None:
        self.inner = inner
        self.asked: list[tuple[Question[Any], str]] = []

    @property
    def name(self) -> str:
        return "rules"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        self.asked.append((question, render(question).text))
        return await self.inner.ask(question, tries)


def streams(*names: str | int) -> np.random.Generator:
    return generator(3, *names)


def play(
    name: str = "drwell",
    level: str = "paper-n2",
    horizon: int = 150,
    world_options: dict[str, object] | None = None,
    memory: WorldModel | None = None,
    reasoner: Reasoner | None = None,
    **options: Any,
) -> tuple[list[Event], Method]:
    world = worlds.make("cube", level, 0, horizon, world_options or {})
    return play_method(
        world, reasoner or make_reasoner("rules", streams), name, memory, streams=streams, options=options
    )


def of(events: list[Event], kind: type[Any]) -> Iterator[Any]:
    return (event for event in events if isinstance(event, kind))


def test_each_meeting_proposes_in_turn_and_then_commits_in_turn() -> None:
    events, _ = play(level="n4")
    rooms: dict[int, list[MessageSent]] = {}
    for message in of(events, MessageSent):
        rooms.setdefault(message.room, []).append(message)
    assert len(rooms) >= 2
    for said in rooms.values():
        half = len(said) // 2
        assert [message.act for message in said[:half]] == ["propose"] * half
        assert all(message.act in {"commit", "other"} for message in said[half:])
        assert [message.agent for message in said[:half]] == [message.agent for message in said[half:]]
        assert [message.agent for message in said[:half]] == sorted(message.agent for message in said[:half])


def test_only_free_agents_meet() -> None:
    events, _ = play(level="n8", horizon=60)
    # A waiting plan ends when its agent is called back into the room, in the step of the meeting.
    ended = {(event.agent, event.step) for event in of(events, PlanEnd)}
    running: set[str] = set()
    for event in events:
        if isinstance(event, PlanStart):
            running.add(event.agent)
        elif isinstance(event, PlanEnd):
            running.discard(event.agent)
        elif isinstance(event, MessageSent):
            assert event.agent not in running or (event.agent, event.step) in ended


def test_every_commitment_is_released_once() -> None:
    events, _ = play()
    bound: dict[str, str] = {}
    for event in events:
        if isinstance(event, Commit):
            assert event.agent not in bound
            bound[event.agent] = event.goal
        elif isinstance(event, Release):
            assert bound.pop(event.agent) == event.goal
    assert bound == {}
    assert events[-1] == next(of(events, EpisodeEnd))


def test_what_is_learned_live_is_what_is_learned_from_the_log() -> None:
    for identity in ("id", "class"):
        memory = Spy()
        events, method = play(level="n4", memory=memory, task_identity=identity)
        delta = method.learn(events)
        assert delta is not None
        # The last plans end with the episode, when nobody watches any more; what was done after all is known only then.
        learned = [replace(instance, done_by=None) for instance in delta.instances]
        assert memory.added == learned[: len(memory.added)]
        assert all(instance.end == delta.ticks for instance in delta.instances[len(memory.added) :])
        assert len(memory.added) > 2
        keys = {instance.task for instance in delta.instances}
        assert all(("weight=" in key) == (identity == "class") for key in keys)


def test_no_agent_is_given_the_views_of_another() -> None:
    events, _ = play(level="n4", horizon=60)
    assert list(of(events, ViewsShared)) == []


def test_every_prompt_renders_and_shows_nothing_that_is_not_known() -> None:
    listening = Listening(make_reasoner("rules", streams))
    play(reasoner=listening)
    play(name="zero_shot", reasoner=listening)
    kinds = {question.kind for question, _ in listening.asked}
    assert kinds == {"drwell.propose", "drwell.commit", "drwell.draft", "zero_shot.plan"}
    for question, prompt in listening.asked:
        assert question.respondent in prompt
        assert "None" not in prompt
        assert "object at" not in prompt
    # With a short sight the far blocks stand in no prompt before they were seen.
    blind = Listening(make_reasoner("rules", streams))
    play(reasoner=blind, world_options={"view_radius": 2}, horizon=3)
    assert blind.asked
    # The mission names all blocks; situation and tasks tell no more of it than that.
    later = [prompt.partition("## Your situation")[2] for _, prompt in blind.asked]
    lines = {line for text in later for line in text.splitlines() if "block_2" in line}
    assert lines <= {"Not found: block_1 (weight 1), block_2 (weight 1)."}


def test_noise_is_caught_asked_again_and_on_record() -> None:
    events, _ = play(reasoner=make_reasoner("rules:noise=0.5", streams), horizon=100)
    asked = list(of(events, QuestionAsked))
    assert {event.reasoner for event in asked} == {"rules:noise=0.5"}
    assert any(event.errors for event in asked)
    sound, _ = play(horizon=100)
    assert not any(event.errors or event.fallback for event in of(sound, QuestionAsked))


class Mute:
    """Never gives a usable answer."""

    name = "mute"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        raise BadAnswer("nothing came")


@pytest.mark.parametrize("name", ["drwell", "zero_shot"])
def test_a_mind_that_never_answers_keeps_out_of_the_way_and_the_episode_ends(name: str) -> None:
    events, _ = play(name=name, reasoner=Mute(), horizon=30)
    assert next(of(events, EpisodeEnd)).reason == "horizon"
    assert all(event.fallback and len(event.errors) == 3 for event in of(events, QuestionAsked))
    assert not any(getattr(event, "effect", False) for event in events)


def test_plans_in_the_log_are_in_the_language_and_reviewed() -> None:
    events, _ = play()
    plans = list(of(events, PlanStart))
    for event in plans:
        assert parse_plan(event.text).goal == event.goal
        assert event.dry_run_ok
        assert event.first_action_legal
        assert event.predicted_steps > 0
    assert {event.origin for event in plans} >= {"fresh"}


class Returning(Listening):
    """The rules; one agent hands its task back when it first drafts a plan for it."""

    handed = False

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        reply = await super().ask(question, tries)
        if isinstance(question, Draft) and question.respondent == "agent_1" and not self.handed:
            self.handed = True
            return Reply(question.answer.model_validate({"actions": ["none"], "reason": "My way is blocked."}))  # type: ignore[arg-type]
        return reply


def test_a_task_can_be_handed_back_and_the_team_is_told() -> None:
    mind = Returning(make_reasoner("rules", streams))
    events, _ = play(reasoner=mind, level="n4")
    back = next(message for message in of(events, MessageSent) if message.act == "release")
    assert back.text == f"I hand {back.goal} back. My way is blocked."
    assert any(event.agent == "agent_1" and event.cause == "agreed" for event in of(events, Release))
    told = {question.respondent for question, prompt in mind.asked if f"handed {back.goal} back: «My way is" in prompt}
    assert "agent_1" in told  # it is reminded of it where it next names a task
    assert any(f"You handed {back.goal} back." in prompt for _, prompt in mind.asked)


class Apart(Listening):
    """Two agents at tasks of their own, of which one hands its task back."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        said: dict[str, Any] = {}
        if isinstance(question, Choose):
            alone = question.respondent == "agent_0"
            free = question.respondent in ("agent_0", "agent_1")
            said = {"goal": next((goal.id for goal in question.goals if (goal.quorum == 1) is alone and free), None)}
        elif isinstance(question, Draft) and question.respondent == "agent_0":
            said = {"actions": [], "reason": "I would rather not."}
        return Reply(question.answer.model_validate(said)) if said else await super().ask(question, tries)  # type: ignore[arg-type]


def test_who_hands_a_task_back_releases_nobody_from_another() -> None:
    events, _ = play("drwell:no_negotiation", reasoner=Apart(make_reasoner("rules", streams)), level="n4", horizon=2)
    assert {event.agent for event in of(events, Release) if event.cause == "agreed"} == {"agent_0"}
    assert {"agent_0", "agent_1"} <= {event.agent for event in of(events, Commit)}


def test_a_plan_that_is_none_needs_a_reason() -> None:
    mind = Listening(make_reasoner("rules", streams))
    play(reasoner=mind, horizon=40)
    draft = next(question for question, _ in mind.asked if isinstance(question, Draft))
    for none in (None, [], "none", ["null"], ["Nothing"]):
        answer = TaskPlan.model_validate({"actions": none})
        assert answer.actions == ()
        assert "why you hand the task back" in str(draft.check(answer))
        assert draft.check(answer.model_copy(update={"reason": "It burns."})) is None


class Stubborn(Listening):
    """The rules, but one agent commits to the heavy block, whatever the others do."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        if isinstance(question, CommitTo) and question.respondent == "agent_1":
            self.asked.append((question, render(question).text))
            return Reply(question.answer.model_validate({"goal": "block_0"}))  # type: ignore[arg-type]
        return await super().ask(question, tries)


def test_a_dissolved_commitment_is_told_to_its_holder_and_to_those_who_were_there() -> None:
    mind = Stubborn(make_reasoner("rules", streams))
    play(reasoner=mind)
    prompts = [(question.respondent, prompt) for question, prompt in mind.asked]
    assert any(agent == "agent_1" and "your commitment to block_0 was dissolved" in prompt for agent, prompt in prompts)
    assert any("Your commitment to block_0 was dissolved: it takes 2 at once and had 1." in text for _, text in prompts)


def test_a_task_that_one_knows_to_be_done_is_marked_beside_who_is_still_bound_to_it() -> None:
    world = worlds.make("cube", "paper-n2", 0, 150, {})
    view = world.view("agent_0")
    goals = [dataclasses.replace(goal, state="done") if goal.id == "block_2" else goal for goal in view.goals]
    shown: Any = SimpleNamespace(agent="agent_0", goals=goals)
    method = DrWell(DrWellOptions())
    method._spec, method._domain, method._released, method._aside = world.spec.public, world.domain, {}, set()
    context: Any = SimpleNamespace(views={"agent_0": shown}, team=("agent_0", "agent_1"), running={})
    for goal, doing, commitment in (("block_2", "bound to block_2, which is done", None), ("block_1", "", "block_1")):
        (mate,) = method._knowledge(context, "agent_0", {"agent_1": goal}).team
        assert (mate.doing, mate.commitment) == (doing, commitment)


def test_a_plan_is_told_of_open_tasks_that_nobody_is_bound_to() -> None:
    listening = Listening(make_reasoner("rules", streams))
    play(reasoner=listening, level="n4")
    drafts = [prompt for question, prompt in listening.asked if isinstance(question, Draft)]
    told = [prompt for prompt in drafts if "Bound to nobody: " in prompt]
    assert told
    for prompt in told:
        unbound = prompt.partition("Bound to nobody: ")[2].partition(".\n")[0].split(", ")
        team = prompt.partition("## Your team")[2].partition("##")[0]
        assert not any(f"task {goal}\n" in team for goal in unbound)


def test_questions_that_decide_nothing_are_not_asked_and_the_log_says_why() -> None:
    events, _ = play()
    asked = {(event.tick, event.purpose) for event in of(events, QuestionAsked)}
    skipped = {(event.tick, event.agent, event.purpose): event.cause for event in of(events, QuestionSkipped)}
    assert skipped[0, "agent_0", "drwell.revise"] == "nothing is known of the task"
    assert all((tick, purpose) not in asked for tick, _, purpose in skipped if purpose == "drwell.propose")
    # At the end the heavy block needs both: nobody is asked whether it takes part.
    forced = [event for event in of(events, Commit) if event.cause == "forced"]
    assert {event.goal for event in forced} == {"block_0"}
    for kind in ("drwell.propose", "drwell.commit"):
        assert all((event.tick, kind) not in asked for event in forced)
        assert all(skipped[event.tick, event.agent, kind] == "forced" for event in forced)
    # Whoever is alone hears no proposals and makes none.
    proposals = {tick for tick, purpose in asked if purpose == "drwell.propose"}
    for tick in proposals:
        assert len([e for e in of(events, QuestionAsked) if (e.tick, e.purpose) == (tick, "drwell.propose")]) > 1


def test_a_task_that_nobody_free_can_help_with_is_given_to_nobody() -> None:
    place = Scenario("wildfire", "rescue_civilians_search_and_rescue", 0, 40)
    events = [*play_scenario("drwell", place, {}).events]
    vain = {event.tick for event in of(events, QuestionSkipped) if "nothing can be done" in event.cause}
    assert vain  # all who are left to be rescued are carried then
    assert not [release for release in of(events, Release) if release.cause == "agreed"]  # nobody hands a task back


def test_nobody_meets_when_too_few_steps_are_left() -> None:
    events, _ = play(horizon=2)  # the nearest block is farther away than that
    assert not list(of(events, QuestionAsked))
    assert {event.cause for event in of(events, PlanStart)} == {"too few steps left"}


@pytest.mark.parametrize("name", ["drwell", "zero_shot", "greedy", "random"])
@pytest.mark.parametrize("level", ["n1", "n2", "n4", "n8"])
def test_every_method_runs_through_on_every_size(name: str, level: str) -> None:
    events, _ = play(name=name, level=level, horizon=60)
    assert next(of(events, EpisodeEnd)).reason in {"all_done", "horizon"}


@pytest.mark.parametrize("name", ["drwell", "zero_shot", "greedy", "random"])
def test_every_method_runs_through_with_a_short_sight(name: str) -> None:
    events, _ = play(name=name, level="n4", horizon=80, world_options={"view_radius": 3})
    assert next(of(events, EpisodeEnd)).reason in {"all_done", "horizon"}


def test_steps_are_not_estimated_for_a_task_that_the_agent_does_not_know() -> None:
    for seed in range(30, 50):  # in some of them one of the scouts knows an item that the other does not
        play_method(worlds.make("rooms", "three", seed, 8, {}), rules())


class Telling(Listening):
    """The rules, but the agents say of their proposals where something lies."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        reply = await super().ask(question, tries)
        if not isinstance(question, Propose):
            return reply
        said = {"agent_0": "block_0 needs both of us.", "agent_1": "Nothing new here."}[question.respondent]
        return Reply(reply.answer.model_copy(update={"reason": said}))


def test_a_plan_is_made_with_what_others_told_in_the_meeting_of_what_is_open() -> None:
    mind = Telling(make_reasoner("rules", streams))
    play(reasoner=mind)
    drafts = [(question, prompt) for question, prompt in mind.asked if isinstance(question, Draft)]
    mine = [prompt for question, prompt in drafts if question.respondent == "agent_1"]
    assert "«block_0 needs both of us.»" in mine[0]
    assert not any("Nothing new here." in prompt for _, prompt in drafts), "it names nothing that matters"
    assert not any("block_0 needs both" in prompt for question, prompt in drafts if question.respondent == "agent_0")
    over = Line(0, "agent_0", None, "block_2 lies at (1, 8).", "block_1")
    method, goals = DrWell(DrWellOptions()), [SimpleNamespace(id="block_2", thing=None, state="open", features=())]
    for state, kept in (("open", 1), ("done", 0)):
        goals[0].state = state
        method._told = {"agent_1": (over,)}
        method._hear(cast(Any, SimpleNamespace(views={"agent_1": SimpleNamespace(goals=goals, options=())})), None)
        assert len(method._told["agent_1"]) == kept, "what is over is forgotten"


def test_who_stepped_aside_and_was_not_asked_is_told_so() -> None:
    mind = Listening(make_reasoner("rules", streams))
    play(reasoner=mind)
    drafts = [(question, prompt) for question, prompt in mind.asked if isinstance(question, Draft)]
    last = [prompt for question, prompt in drafts if question.task == "block_0"]
    assert len(last) >= 2
    assert all(
        "block_0 is the only task that anybody free can do now, so it was given to you" in prompt for prompt in last[:2]
    )
    assert not any("so it was given to you" in prompt for question, prompt in drafts if question.task != "block_0")
    mind = Listening(make_reasoner("rules", streams))
    play(reasoner=mind, level="paper-n4")
    told = [prompt for _, prompt in mind.asked if "Being free, you stepped aside" in prompt]
    assert told
    assert all("You are doing `" in prompt for prompt in told)


def test_an_attempt_whose_actions_were_all_done_did_not_fail() -> None:
    record = PlanRecord("fetch > deliver", 1, 0, 5 / 6, 12.0, None, 1.0, (("goal_open", 1),))
    assert describe_record(record) == "1 attempt, all actions done, did 83.3 % of the work in 12 steps"
    blocked = record._replace(causes=(("no_way", 1),))
    assert describe_record(blocked) == "1 attempt did 83.3 % of the work in 12 steps; failed: no way 1x"
    both = record._replace(attempts=3, causes=(("goal_open", 2), ("no_way", 1)))
    told = "3 attempts did 83.3 % of the work in 12 steps on average, none finished it; "
    assert describe_record(both) == f"{told}all actions done, the task not 2x; failed: no way 1x"


def test_what_was_done_with_things_at_hand_says_nothing_of_a_search() -> None:
    world = worlds.make("household", "dev-tea", 0, 60, {})
    world.reset(0)
    view, entry = world.view("Alice"), WorldModel().guide("none")
    goal = view.goals[0]
    tried = entry._replace(attempts=1, successes=0, progress=5 / 6, steps=12.0)
    assert worth_per_step(goal, tried, view, world.domain) == worth_per_step(goal, entry, view, world.domain) > 0
