"""What an agent is shown beside the record of its team: tasks and options by what all know together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from teamworld.language import Entity, plain
from teamworld.methods.camon.questions import LeaderQuestion, Proposal, Propose, ReviewProposal
from teamworld.methods.common.informed import Informed, alone, has_hand
from teamworld.methods.common.team_record import MOST, TeamRecord
from teamworld.methods.hmas.questions import Judge, Opinion, PlanAll
from teamworld.planning.allocation import pool_facts
from teamworld.planning.fetch import find_chances, wanted_kind
from teamworld.reasoning.contract import Question
from teamworld.reasoning.prompts import render
from teamworld.testing.episodes import Scenario
from teamworld.worlds.contract import Option
from tests.methods.single_steps import played, prompts

HOUSE = Scenario("household", "dev-tea", 0, 60)
UNKNOWN = "not seen yet"


def watch(label: str, look: Callable[[Any], None], stage: Scenario = HOUSE) -> None:
    """Play an episode by the rules and look at each question as it is asked: views tell of the moment alone."""

    def says(question: Question[Any]) -> None:
        look(question)

    played(label, says, stage)


@pytest.mark.heavy
def test_a_judge_reads_tasks_as_all_know_them_and_not_that_it_does_not_know_where_a_teammate_is() -> None:
    news: list[str] = []

    def look(question: Question[Any]) -> None:
        if isinstance(question, Judge):
            me, text = question.me, render(question).user
            assert isinstance(me, Informed)
            assert UNKNOWN not in text
            together = pool_facts(me.shared)
            for goal in me.goals:
                line = plain(me.domain.describe_goal(goal, me.agent, together))
                assert line in text
                news.extend([line] if line != plain(me.domain.describe_goal(goal, me.agent, me.view.known)) else [])

    watch("hmas2", look)
    assert news, "nobody ever learns anything from the record"


def test_who_reads_no_record_is_shown_its_own_knowledge() -> None:
    texts: list[str] = []

    def look(question: Question[Any]) -> None:
        if isinstance(question, Judge):
            assert not isinstance(question.me, Informed)
            texts.append(render(question).user)

    watch("hmas2:own", look, HOUSE._replace(horizon=3))
    assert any(UNKNOWN in text for text in texts)


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["hmas2", "camon"])
def test_options_that_the_record_makes_pointless_are_left_out(label: str) -> None:
    left_out: list[Entity] = []

    def look(question: Question[Any]) -> None:
        if not isinstance(question, Judge | ReviewProposal):
            return
        me = question.me if isinstance(question, Judge) else question.proposer
        assert isinstance(me, Informed)
        known = me.together
        held = {fact.value for fact in known.about("HOLD") if fact.subject != me.agent}
        assert not any(held & {*option.action.args} for option in me.options if option.action != me.doing)
        for option in (option for option in alone(me).options if option not in me.options):
            (place,) = option.action.args
            assert isinstance(place, Entity)
            looked = known.value(place, "EXPLORED") == "all" or known.value(place, "STATE") == "open"
            assert place in held or looked or known.value(place, "ON") is not None or is_all_known(me)
            left_out.append(place)

    watch(label, look)
    assert left_out


def places_of(me: Informed) -> dict[Entity, object]:
    """Return where things are known to lie by what all know together."""
    return {
        fact.subject: fact.value
        for word in ("IN", "ON", "INSIDE")
        for fact in me.together.about(word)
        if isinstance(fact.subject, Entity)
    }


def is_all_known(me: Informed) -> bool:
    """Return whether all things that open goals lack are known to lie somewhere, or to be in hands."""
    where = places_of(me)
    held = [fact.value.kind for fact in me.together.about("HOLD") if isinstance(fact.value, Entity)]
    for goal in me.goals:
        kind = str(wanted_kind(goal))
        lying = [thing for thing, place in where.items() if thing.kind == kind and place != goal.thing]
        if goal.thing not in where or held.count(kind) + len(lying) < goal.units:
            return False
    return True


@pytest.mark.heavy
def test_nothing_is_looked_for_once_all_that_is_missing_is_known() -> None:
    checked: list[Option] = []

    def look(question: Question[Any]) -> None:
        me = question.proposer if isinstance(question, ReviewProposal) else getattr(question, "me", None)
        if isinstance(me, Informed) and is_all_known(me):
            holders = set(places_of(me).values())
            offered = [option.action.args[0] for option in me.options if option.action.verb == "check"]
            assert set(offered) <= holders
            checked.extend(alone(me).options)

    watch("camon", look)
    assert any(option.action.verb == "check" for option in checked), "alone the agent would go on looking"


@pytest.mark.heavy
def test_of_many_options_a_record_lists_where_most_may_be_found_a_step() -> None:
    cut: list[str] = []

    def look(question: Question[Any]) -> None:
        record = question.record if isinstance(question, PlanAll) else TeamRecord(())
        for member in record.members:
            me, looks = member.me, [option for option in member.me.options if option.action.verb == "check"]
            if member.more and len(looks) > MOST and isinstance(me, Informed):
                targets = {goal.thing for goal in me.goals if goal.thing is not None}
                chances = find_chances(me.domain, me.together, {goal.id for goal in me.goals}, targets)
                rates = {
                    option: chances.get(place, 0.0) / option.steps
                    for option in looks
                    for place in option.action.args
                    if isinstance(place, Entity)
                }
                best = max(rates, key=rates.__getitem__)
                assert best in member.options
                cut.append(me.agent)

    watch("hmas2", look)
    assert cut


def test_a_choice_by_number_is_passed_on_in_written_form() -> None:
    answer = Proposal(action="1", message="It is near.")
    _, asked = played("camon", {Propose: answer}, HOUSE._replace(horizon=3))
    review = prompts(asked, "camon.review")[0]
    assert "would do «1»" not in review
    assert "would do «explore(" in review or "would do «check(" in review
    later = "".join(prompts(asked, "camon.lead"))
    assert "I propose 1." not in later


def test_what_an_agent_would_rather_do_is_no_bare_number() -> None:
    def look(question: Question[Any]) -> None:
        if isinstance(question, Judge):
            rather = question.in_writing(Opinion(accept=False, critique="No.", action="1"))
            assert rather.action == plain(question.me.options[0].action)
            assert question.in_writing(Opinion(accept=True)).action == ""

    watch("hmas2", look, HOUSE._replace(horizon=2))


@pytest.mark.heavy
def test_steps_of_a_task_are_of_the_agent_that_is_named_and_has_a_hand_for_it() -> None:
    full: list[str] = []

    def look(question: Question[Any]) -> None:
        if isinstance(question, PlanAll):
            text = render(question).user
            for task in question.record.tasks:
                nearest = f" (soonest: {task.reader})" if task.is_near and task.at != (task.reader,) else ""
                assert f"{nearest}: {plain(task.text)}" in text
                free = [member.me.agent for member in question.record.members if has_hand(member.me)]
                assert task.reader in free or not free
                full.extend(agent for agent in task.at if agent not in free)

    watch("hmas2", look)
    assert full, "nobody at a task ever has its hands full"


@pytest.mark.parametrize("label", ["camon", "camon:no_orders"])
def test_where_nobody_can_be_ordered_there_is_no_field_for_orders(label: str) -> None:
    fields: set[bool] = set()

    def look(question: Question[Any]) -> None:
        if isinstance(question, LeaderQuestion):
            assert ("orders" in question.answer.model_fields) is question.may_order
            assert question.may_order or "order" not in render(question).system.partition("## Mission")[0]
            fields.add(question.may_order)

    watch(label, look, HOUSE._replace(horizon=4))
    assert fields == {label == "camon"}
