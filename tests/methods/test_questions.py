"""What a method asks is what it declares, whatever else was imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from teamworld.methods import registry
from teamworld.methods.registry import kinds
from teamworld.reasoning.contract import Question

ASKED = {
    "camon": {"camon.lead", "camon.propose", "camon.review", "perception", "translation"},
    "capo": {
        *("capo.design", "capo.refine", "capo.present", "capo.judge", "capo.act"),
        *("perception", "translation"),
    },
    "cmas": {"cmas.plan", "perception", "translation"},
    "cobel": {
        *("cobel.zero_order", "cobel.first_order", "cobel.plan", "cobel.replan", "cobel.intents", "cobel.assess"),
        *("cobel.message", "cobel.act", "cobel.propose_rules", "cobel.review_rules"),
    },
    "coela": {
        *("coela.message", "coela.action", "coela.tell", "coela.think", "coela.plan"),
        *("perception", "translation"),
    },
    "dmas": {"dmas.turn", "perception", "translation"},
    "do_nothing": set(),
    "drwell": {
        *("drwell.propose", "drwell.commit", "drwell.chat", "drwell.choose"),
        *("drwell.draft", "drwell.revise", "drwell.reflect"),
    },
    "embodied": {
        *("embodied.talk", "embodied.act", "embodied.vote", "embodied.criticise", "embodied.coordinate"),
        *("perception", "translation"),
    },
    "greedy": set(),
    "hmas1": {"hmas1.plan", "hmas1.turn", "perception", "translation"},
    "hmas2": {"hmas2.plan", "hmas2.feedback", "perception", "translation"},
    "mhp": set(),
    "policy": set(),
    "random": set(),
    "react": {"react.act", "react.reflect", "translation"},
    "rhp": set(),
    "zero_shot": {"zero_shot.plan"},
}


@pytest.mark.parametrize("label", sorted(registry.BUILT_IN))
def test_the_questions_of_a_method(label: str) -> None:
    assert set(kinds([label])) == ASKED[label]


def test_those_of_several_methods_in_order() -> None:
    found = list(kinds(["zero_shot", "coela:silent", "drwell"]))
    assert found == sorted({*ASKED["zero_shot"], *ASKED["coela"], *ASKED["drwell"]})


def test_what_was_imported_before_makes_no_difference() -> None:
    show = "import json; from teamworld.methods.registry import kinds; print(json.dumps([*kinds(['coela'])]))"
    found = []
    for first in ("", "import teamworld.methods.camon.method, teamworld.methods.drwell.method; "):
        run = subprocess.run([sys.executable, "-c", first + show], capture_output=True, text=True, check=True)
        found.append(set(json.loads(run.stdout)))
    assert found == [ASKED["coela"]] * 2


def test_no_question_of_the_package_is_left_undeclared() -> None:
    declared = set(kinds().values())

    def below(base: type[Any]) -> Iterator[type[Any]]:
        for one in base.__subclasses__():
            yield one
            yield from below(one)

    ours = [one for one in below(Question) if one.__module__.startswith("teamworld.methods") and "kind" in vars(one)]
    assert ours
    assert [one for one in ours if one not in declared] == []
