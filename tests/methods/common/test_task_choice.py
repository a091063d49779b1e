"""The question which task to take: its rule, what is refused and why, and what a person chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.task_choice import ChooseTask, TaskChoice
from teamworld.seeding import generator
from teamworld.worlds.contract import Goal
from tests.toy import ToyWorld


@dataclass(frozen=True)
class Choose(ChooseTask):
    kind, template = "test.choose", "none"


@dataclass(frozen=True)
class ChooseLast(Choose):
    @property
    def tasks(self) -> Sequence[Goal]:
        return super().tasks[-1:]


def asked(form: type[ChooseTask], *units: int) -> ChooseTask:
    world = ToyWorld(jobs=tuple((left, 1) for left in units))
    world.reset(0)
    view = world.view("a")
    return form("a", {"a": view}, AgentKnowledge(view, world.domain, world.spec))


def test_the_rule_takes_the_best_of_the_tasks_that_are_left_to_choose_from() -> None:
    rng = generator(0, "test")
    for form, task in ((Choose, "job_0"), (ChooseLast, "job_1")):
        question = asked(form, 1, 3)
        answer = question.rule(rng)
        assert answer.task == task
        assert question.check(answer) is None


def test_who_has_no_task_stands_by() -> None:
    question = asked(Choose, 0)
    answer = question.rule(generator(0, "test"))
    assert answer == question.fallback() == TaskChoice(task=None, actions=("wait()",))
    assert question.check(answer) is None


def test_a_wrong_answer_is_told_what_there_is() -> None:
    question = asked(ChooseLast, 1, 3)
    wrong = TaskChoice(task="job_0", actions=("work(<job>(0), 1)",))
    assert question.check(wrong) == "there is no task 'job_0' for you; there are: job_1"
    assert question.check(TaskChoice(task="job_1", actions=())) == "a plan has 1 to 12 actions, got 0"
    assert asked(Choose, 0).check(wrong) == "there is no task 'job_0' for you; there are: none"


def test_a_person_chooses_from_the_tasks_and_their_plans() -> None:
    question = asked(Choose, 1, 3)
    assert question.offers("task", {}) == ["job_0", "job_1", None]
    assert question.offers("actions", {"task": "job_1"})[0] == ("work(<job>(1), 3)",)
    assert question.offers("actions", {"task": None}) == [("wait()",)]
    assert question.offers("reasoning", {}) == ()
