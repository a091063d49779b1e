"""Templates of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld.reasoning.prompts import environment, template_info, template_text

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
