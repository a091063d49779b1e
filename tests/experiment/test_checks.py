"""What an experiment names is there: kinds of questions by method; and what is no part of an experiment is told."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import build
from teamworld.methods import registry
from teamworld.methods.drwell.method import DrWell


class Derived(DrWell):
    """A method of another package, which asks the questions of the one that it derives from."""


@pytest.mark.parametrize(
    ("methods", "kinds"),
    [
        (["drwell"], "drwell.*"),
        (["drwell:no_memory"], "drwell.propose"),
        (["greedy", "drwell:no_memory"], "drwell.propose"),
        (["drwell", "zero_shot"], "zero_shot.*"),
        (["greedy"], "*"),
        (["derived"], "drwell.propose"),
    ],
)
def test_kinds_of_the_methods_of_a_run_may_be_named(
    monkeypatch: pytest.MonkeyPatch, methods: list[str], kinds: str
) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "derived", f"{__name__}:Derived")
    reasoner = "rules" if kinds == "*" else f"@{kinds}=rules:noise=0.1,*=rules"
    build({"methods": methods, "reasoner": reasoner, "sampling": {kinds: {"seed": 1}}}).resolved()


@pytest.mark.parametrize(
    ("methods", "kinds", "says"),
    [
        (["greedy"], "drwell.*", "no question in a run of greedy is of kind 'drwell.*'; known: none"),
        (["zero_shot", "random"], "drwell.propose", "no question in a run of zero_shot, random is of kind"),
        (["drwell:no_memory"], "zero_shot.plan", "no question in a run of drwell:no_memory is of kind"),
        (["drwell:no_memory"], "drwell:no_memory.*", "no question is of kind"),
        (["drwell"], "drwell.propos", "no question is of kind 'drwell.propos'; did you mean 'drwell.propose'?"),
        (["greedy"], "drwell.propos", "no question is of kind 'drwell.propos'; known: none"),
    ],
)
def test_kinds_that_no_method_of_the_run_asks_are_refused(methods: list[str], kinds: str, says: str) -> None:
    given: list[dict[str, Any]] = [{"sampling": {kinds: {"seed": 1}}}]
    if ":" not in kinds:
        given.append({"reasoner": f"@{kinds}=rules,*=rules"})
    for some in given:
        with pytest.raises(UserError) as caught:
            build({"methods": methods} | some).resolved()
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(RunOptions)])
def test_how_a_run_is_carried_out_is_no_part_of_an_experiment(name: str) -> None:
    for written in (name, name.replace("_", "-")):
        with pytest.raises(UserError) as caught:
            build({"world": "cube", "speed": 3, written: "sk-secret"})
        assert f"give --{name.replace('_', '-')} on the command line" in str(caught.value)
        assert "sk-secret" not in str(caught.value)


def test_each_world_has_a_level_of_its_own() -> None:
    assert build({}).level == "paper-n2"
    assert build({"world": "rooms"}).level == "two"
    assert build({"world": "rooms", "level": None}).level == "two"
    assert build({"world": "rooms", "level": "one"}).level == "one"


def test_an_unknown_world_is_still_refused_in_its_own_words() -> None:
    with pytest.raises(UserError, match="there is no world 'roms'; did you mean 'rooms'"):
        build({"world": "roms"}).resolved()
    with pytest.raises(UserError, match="world"):
        build({"world": 3})
