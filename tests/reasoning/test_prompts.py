"""Templates: versions and hashes, two parts, and no word of another agent outside a quotation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import Environment, FileSystemLoader, nodes

from teamworld.methods.registry import kinds
from teamworld.reasoning import prompts
from teamworld.reasoning.prompts import environment, template_info, template_text, template_versions, templates

HOME = Path(prompts.__file__).parents[1] / "methods"

#: All that templates may show without ``quoted``. Whoever adds to it says why no agent can write freely there.
SAFE = {
    # what an agent knows, as the shared blocks show it: names, numbers and words of the world
    *("me.agent", "me.kind", "me.step", "me.steps_left", "me.spec.task", "me.spec.rules", "me.situation"),
    *("me.describe_goal", "schema.verb", "schema.doc", "schema.needs", "schema.example", "line.step", "line.to"),
    *(
        "mate.agent",
        "mate.kind",
        "mates",
        "outcome.start",
        "outcome.status",
        "outcome.ending",
        "option",
        "option.steps",
    ),
    # actions that are known of; words of the method; whether a task is bound or said is told in its own words
    *("mate.said", "mate.doing", "me.doing", "me.announced", "me.released"),
    # names that the world, the level or the method gave
    *("agent", "kind", "mate", "message.sender", "line.sender", "goal.id", "param.name", "name", "whose"),
    *("q.respondent", "q.teammate", "q.leader", "q.proposer.agent", "entry.agent", "agent.agent", "q.opening"),
    *(
        "q.spec.agents",
        "q.situation.team",
        "me.nearer",
        "me.mark",
        "me.tell_late",
        "me.since",
        "names",
        "agents",
        "members",
    ),
    # who leads, by name: an answer that names somebody else is refused
    *("q.organisation.leaders", "proposal.leaders", "record.leaders"),
    # ids of tasks: an answer that names another one is refused, or is taken to name none
    *("goal", "message.goal", "line.goal", "option.goal", "turn.goal", "q.aim", "q.message.goal", "q.task", "q.then"),
    *("me.commitment", "me.running.goal", "mate.commitment", "q.joint_goal"),
    # CaPo: who discusses and who wrote the meta-plan, by name; how far it is, in words of the method; facts as above
    *("q.members", "q.by", "q.since", "q.agenda.round", "q.agenda.rounds", "q.done", "q.untold"),
    # who asked whom for what: names of the team, and tasks as above
    *("ask.goal", "ask.said", "ask.sender", "ask.to"),
    # actions in the language, in written form, possible for this agent now
    *("action", "record.text", "option", "option.action", "option.aim", "outcome.action", "turn.action"),
    # the shared record: names, words of the world, and orders as they were read
    *(
        "situations",
        "order.action",
        "order.goal",
        "order.became",
        "order.accepted",
        "order.state",
        "order.step",
        "order.by",
        "q.grid",
    ),
    *(
        "member.more",
        "member.last_goal",
        "task.at",
        "task.reader",
        "task.text",
        "task.aim",  # fixed words
        "task.goal.id",
        "q.record.open",
        "q.unheard",
    ),
    "q.missing",
    # actions as they were read from an agent's words; what cannot be read is a quotation
    *("q.written", "q.rather"),
    # DR. WELL: what its board and its library show
    *("one.agent", "one.goal", "one.had", "one.needed", "one.step", "q.record.members", "q.record.best", "q.worth"),
    *("q.describe_history", "describe_record", "describe_causes", "percent", "record", "entry.record", "entry.rate"),
    *("entry.record.causes", "entry.record.attempts", "entry.record.steps", "entry.share", "entry.steps", "q.goal"),
    *("q.page.more", "q.page.more_kinds", "q.unbound", "mean_steps", "q.turn", "q.turns"),
    # CoBel-World: subplans as the actions that were read from them (one without any is refused), and their steps
    *("q.subplan", "q.left", "q.given_up", "q.steps_to_begin", "until", "q.situation.paused"),
    *("q.situation.options.length", "q.situation.options.theta", "q.situation.options.actions"),
    # facts that the world's relations can state, whoever told them, and sentences of the method that are made of them
    *(
        "held",
        "fact",
        "things",
        "me.told_facts",
        "me.missed",
        "me.lost",
        "q.example",
        "q.unshared",
        "q.predicates.values",
        "q.report",
        "q.progress",
    ),
    # words of the world for values; why nothing could be read in an answer, in words of the method
    *("choices", "me.remark"),
    # numbers
    *("q.turns_left", "loop.index", "param.default", "message.t", "me.search", "steps", "cost", "turn.step"),
    *("q.longest", "q.term", "q.votes_at", "q.remember", "q.round", "q.rounds", "agent.characters", "agent.failed"),
    *("agent.idle", "agent.messages"),
    *("record.characters", "record.cost", "record.done", "record.episode", "record.goals", "record.horizon"),
    *("record.messages", "record.steps"),
}

#: The same of names that could hold anything elsewhere, by template.
SAFE_THERE = {
    # names of agents, and of things in messages that were read as facts
    "common/prompts/team.md.j2": {"me.team"},
    "coela/prompts/state.md.j2": {"me.told_before"},
    # things of the world
    "common/prompts/team_tasks.md.j2": {"thing"},
    # facts in written form, and words of the method; for intents tasks in words of the world, too
    "cobel/prompts/act.md.j2": {"line"},
    "cobel/prompts/beliefs.md.j2": {"line"},
    "cobel/prompts/intents.md.j2": {"line", "words"},
    "cobel/prompts/relations.md.j2": {"line"},
    "cobel/prompts/announced.md.j2": {"when"},
    # plans as the actions that were read from them
    "cobel/prompts/assess.md.j2": {"plan", "sight"},
    "cobel/prompts/message.md.j2": {"part"},
    # why a discussion is held, in words of the method with names; who told of its progress, and when
    "capo/prompts/discussion.md.j2": {"reason", "sender", "step"},
    "capo/prompts/meta_plan.md.j2": {"step"},
    # the letter or number of a plan; its task and its steps
    "coela/prompts/list.md.j2": {"mark", "note"},
    # the situation of an agent, in words of the world; whom an action waits for, and how long
    "common/prompts/options.md.j2": {"late"},
    "common/prompts/record.md.j2": {"who", "text", "late"},
    # who reads it, by name; what a leader made of it, in words of the method
    "common/prompts/said.md.j2": {"line", "line.became", "me.name_readers", "q.silence"},
    # what is read as an action before it is shown
    "hmas/prompts/feedback.md.j2": {"part.action", "opinion.action", "q.part.action"},
    "hmas/prompts/plan.md.j2": {"opinion"},
    # how an action ended and why, in words of the world
    "react/prompts/act.md.j2": {"outcome"},
    # what is seen, and who said something, in words of the method
    "embodied/prompts/talk.md.j2": {"q.new", "q.group"},
    "embodied/prompts/act.md.j2": {"q.group"},
    "cobel/prompts/mine.md.j2": {"why"},
}


def path(node: nodes.Node) -> str | None:
    """Return ``goal.id`` for the node of such an expression, else None."""
    match node:
        case nodes.Name():
            return node.name
        case nodes.Getattr():
            base = path(node.node)
            return None if base is None else f"{base}.{node.attr}"
        case _:
            return None


def shown(node: nodes.Node) -> Iterator[str]:
    """Yield what an expression may show, quotations left out."""
    name = path(node)
    if name is not None:
        yield name
        return
    match node:
        case nodes.Filter(name="quoted" | "own_words" | "length"):  # a number, of whatever it is
            return
        case nodes.CondExpr():
            yield from shown(node.expr1)
            if node.expr2 is not None:
                yield from shown(node.expr2)
        case _:
            children = list(node.iter_child_nodes())
            if not children and not isinstance(node, nodes.Const | nodes.TemplateData):
                yield type(node).__name__
            for child in children:
                yield from shown(child)


def unquoted(text: str, safe: Collection[str] = ()) -> set[str]:
    """Return what a template shows that is neither a quotation nor safe, and constructs that hide what they show."""
    tree = environment().parse(text)
    hiding = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.Import, nodes.FromImport, nodes.Extends)
    result = {type(node).__name__ for kind in hiding for node in tree.find_all(kind)}
    for output in tree.find_all(nodes.Output):
        for part in output.nodes:
            result.update(name for name in shown(part) if name not in SAFE and name not in safe)
    return result


@pytest.mark.parametrize("template", templates())
def test_no_template_shows_the_words_of_another_mind_outside_a_quotation(template: str) -> None:
    assert unquoted((HOME / template).read_text("utf-8"), SAFE_THERE.get(template, ())) == set()


@pytest.mark.parametrize(
    "text",
    [
        "{{ message.text }}",
        "{{ message.text | upper }}",
        "{{ 'x' ~ note }}",
        "{{ notes | join(', ') }}",
        "{{ agent if turn else message.text }}",
        "{{ message['text'] }}",
        "{{ goal.id ~ message.text[:5] }}",
        "{% set goal_id = message.text %}{{ goal_id }}",
        "{% macro show(x) %}{{ x }}{% endmacro %}",
        "{% filter upper %}{{ agent }}{% endfilter %}",
        "{{ message.text | quoted ~ message.text }}",
        "{{ chat[0] }}",
        "{{ reason }}",
    ],
)
def test_the_walk_over_the_templates_finds_what_is_not_quoted(text: str) -> None:
    assert unquoted(text)


def test_the_walk_lets_quotations_pass() -> None:
    assert unquoted("{{ message.text | quoted }}, {{ note | quoted(400) | upper }}, {{ 'x' ~ goal.id }}") == set()


def test_every_template_has_a_version_and_a_hash_of_its_own() -> None:
    result = template_versions()
    assert set(result) == set(templates()) >= {question.template for question in kinds().values()}
    assert len({hash for _, hash in result.values()}) == len(result)


def test_every_question_has_a_template_with_both_parts_and_every_template_a_user() -> None:
    used = set()
    for question in kinds().values():
        template = environment().get_template(question.template)
        assert set(template.blocks) == {"system", "user"}
        tree = environment().parse((HOME / question.template).read_text("utf-8"))
        outside = [node for node in tree.body if not isinstance(node, nodes.Block)]
        assert not "".join(
            part.data if isinstance(part, nodes.TemplateData) else "?"
            for node in outside
            for part in getattr(node, "nodes", [node])
        ).strip()
        used.add(question.template)
    for name in templates():
        for node in environment().parse((HOME / name).read_text("utf-8")).find_all(nodes.Include):
            assert isinstance(node.template, nodes.Const)
            used.add(node.template.value)
    assert used == set(templates())


def test_the_hash_tells_a_change_of_what_is_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Environment(loader=FileSystemLoader(tmp_path), autoescape=False)
    monkeypatch.setattr(prompts, "files", lambda _: tmp_path)
    monkeypatch.setattr(prompts, "environment", lambda: made)
    inner, middle, outer = (tmp_path / f"{name}.md.j2" for name in ("inner", "middle", "outer"))
    inner.write_text("{# version 1 #}\none", "utf-8")
    middle.write_text("{# version 1 #}\n{% include 'inner.md.j2' %}", "utf-8")
    outer.write_text("{# version 7 #}\n{% if x %}{% include 'middle.md.j2' %}{% endif %}", "utf-8")
    before = [template_info(name) for name in ("inner.md.j2", "middle.md.j2", "outer.md.j2")]
    assert before[2].version == 7
    inner.write_text("{# version 1 #}\ntwo", "utf-8")
    after = [template_info(name) for name in ("inner.md.j2", "middle.md.j2", "outer.md.j2")]
    assert all(old.hash != new.hash for old, new in zip(before, after, strict=True))
    outer.write_text("{% include x %}", "utf-8")
    with pytest.raises(ValueError, match="not named"):
        template_info("outer.md.j2")
    for text in ("no version", "{# version 0 #}\nx", "{# version one #}\nx", "\n{# version 1 #}\nx"):
        inner.write_text(text, "utf-8")
        with pytest.raises(ValueError, match="does not begin with"):
            template_info("inner.md.j2")


def test_the_page_on_prompts_tells_their_versions_and_hashes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "prompts.md").read_text("utf-8")
    told = re.findall(r"^\| `([a-z0-9_.]+)` \| (\d+) \| `([0-9a-f]+)` \|", page, re.MULTILINE)
    now = {kind: template_info(question.template) for kind, question in kinds().items()}
    assert {kind: (int(version), hash) for kind, version, hash in told} == now, (
        "changed? count the version up and tell it"
    )


TEMPLATE = (
    "{# version 3 #}\n{% block system %}\nBe brief.\n{% endblock %}\n"
    '{% block user %}\n{% include "common/prompts/values.md.j2" %}\n{% endblock %}\n'
)


def test_a_template_of_another_package_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "foreign_minds" / "prompts"
    folder.mkdir(parents=True)
    (tmp_path / "foreign_minds" / "__init__.py").write_text("", "utf-8")
    (folder / "ask.md.j2").write_text(TEMPLATE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    name = "foreign_minds:prompts/ask.md.j2"
    assert template_text(name) == TEMPLATE
    assert template_info(name).version == 3
    template = environment().get_template(name)
    me = SimpleNamespace(values={"thing": ["<thing>(0)"]}, lists_things=True)
    shown = "".join(template.blocks["user"](template.new_context({"me": me})))
    assert "- thing: <thing>(0)" in shown
