"""Templates: versions and hashes, two parts, and no word of another agent outside a quotation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader, nodes

from teamworld.methods.registry import kinds
from teamworld.reasoning import prompts
from teamworld.reasoning.prompts import environment, template_info, template_text, template_versions, templates

HOME = Path(prompts.__file__).parents[1] / "methods"

#: All that templates may show without ``quoted``. Whoever adds to it says why no agent can write freely there.
SAFE = {
    # names that the world, the level or the method gave
    *("agent", "kind", "mate", "members", "partners", "message.sender", "goal.id", "schema.verb", "param.name", "name"),
    *("leader", "proposer", "line.sender", "chat.partner", "pair.agent", "row.agent", "row.kind", "goal.kinds"),
    # ids of tasks that are open: an answer that names another one is refused
    *("goal", "target", "best", "message.goal"),
    # ids of tasks that are open: an answer that names another one is taken to name none
    *("aim", "line.goal", "option.goal", "row.aim"),
    # numbers
    *("steps_left", "turn", "turns", "loop.index", "param.default", "message.t"),
    *("goal.quorum", "goal.capacity", "goal.units", "goal.weight"),
    *("option.steps", "outcome.start", "step.age"),
    *("entry.attempts", "entry.successes", "entry.mean_duration", "entry.team", "entry.earliest_start"),
    *("entry.latest_start", "entry.about_now.successes", "entry.about_now.attempts"),
    *("record.successes", "record.attempts", "record.mean_duration", "record.mean_team"),
    *("entry.record.successes", "entry.record.attempts", "entry.record.mean_duration"),
    # words of the world and of the memory
    *("scene", "schema.doc", "choices", "entry.verdict", "task"),
    *("outcome.status", "outcome.reason", "pair.state"),
    # words of the method: a sentence that counts tasks, the word that sends a message
    *("progress", "keyword"),
    # facts of the world in the method's sentences
    "report",
    # beliefs in written form, of subjects and values that the world's relations can state; a length in characters
    *("held", "length"),
    # actions in the language, in written form, possible for this agent now
    *("action", "entry.actions", "record.text", "option.action", "outcome.action", "doing", "row.doing"),
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
        case nodes.Filter(name="quoted" | "length"):  # a number, of whatever it is
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


def unquoted(text: str) -> set[str]:
    """Return what a template shows that is neither a quotation nor safe, and constructs that hide what they show."""
    tree = environment().parse(text)
    hiding = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.Import, nodes.FromImport, nodes.Extends)
    result = {type(node).__name__ for kind in hiding for node in tree.find_all(kind)}
    for output in tree.find_all(nodes.Output):
        for part in output.nodes:
            result.update(name for name in shown(part) if name not in SAFE)
    return result


@pytest.mark.parametrize("template", templates())
def test_no_template_shows_the_words_of_another_mind_outside_a_quotation(template: str) -> None:
    assert unquoted((HOME / template).read_text("utf-8")) == set()


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
    shown = "".join(template.blocks["user"](template.new_context({"values": {"thing": ["<thing>(0)"]}})))
    assert "- thing: <thing>(0)" in shown
