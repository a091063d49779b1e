"""The original CoELA's list of plans, lettered from A, and how to read an answer that names one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from teamworld.language import Action, Entity, plain, plain_names, show
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.situation import Situation
from teamworld.worlds.contract import WAIT

#: What an agent answers to send the message that it has proposed.
KEYWORD: Final = "SEND_MESSAGE"
#: The same as the first of the options or plans.
SEND: Final = Action("send_message")
#: The plan to deliver what one holds to a place that one has not seen yet.
BLIND: Final = Action("find_place_and_deliver")
#: Characters of an answer that are read; what follows is talk.
LONGEST = 1000

_TAG = re.compile(r"<(action|plan|answer)>(.*?)(?:</\1>|$)", re.IGNORECASE | re.DOTALL)


def letter(index: int) -> str:
    """Return the letter of a plan, from 0: A to Z, then AA, AB and so on."""
    high, low = divmod(index, len(ascii_uppercase))
    return (letter(high - 1) if high else "") + ascii_uppercase[low]


def plan_text(plan: Action) -> str:
    """Return a plan as it stands in the list."""
    return KEYWORD if plan == SEND else plain(plan)


def list_plans(situation: Situation, options: CoelaOptions, message: bool) -> tuple[Action, ...]:
    """Return the plans that an agent chooses from: the message, if there is one, what can start now, and waiting."""
    plans = dict.fromkeys(option.action for option in situation.options if option.action != WAIT)
    holds = options.blind_delivery and situation.held(situation.agent)
    blind = holds and not any(situation.deliveries()) and find_room_search(situation) is not None
    return ((SEND,) if message else ()) + tuple(plans) + ((BLIND,) if blind else ()) + (WAIT,)


def find_room_search(situation: Situation) -> Action | None:
    """Return the first of the agent's looks into rooms, in one of which the place may be; None if there is none."""
    for option in situation.options:
        args = option.action.args
        if len(args) == 1 and isinstance(args[0], Entity) and args[0].kind in situation.words.rooms:
            return option.action
    return None


def read_plan(text: str, plans: Sequence[Action]) -> Action | None:
    """Return the plan that an answer names; None where it names none.

    Tried in turn: the text of a plan, the first in the list that stands in the answer; a letter in one of the forms
    ``option B``, ``B.``, ``B,``, ``(B)``, or alone; then any of its letter, its verb, and the name or number of a
    thing, the plan with most of them (of equals the first, and never the message).
    """
    tagged = _TAG.search(text)
    answer = (tagged[2] if tagged is not None else text)[:LONGEST].strip()
    words = plain_names(answer).lower()
    for plan in plans:
        if plan_text(plan).lower() in words:
            return plan
    for index, plan in enumerate(plans):
        if _lettered(letter(index)).search(answer):
            return plan
    marks = [(0 if plan == SEND else _count_marks(answer, letter(index), plan)) for index, plan in enumerate(plans)]
    most = max(marks, default=0)
    return plans[marks.index(most)] if most else None


def _lettered(mark: str) -> re.Pattern[str]:
    forms = (rf"[Oo]ption\s+{mark}(?![A-Za-z])", rf"(?<![\w.]){mark}[.,](?![\w.])", rf"\({mark}\)", rf"^\W*{mark}\W*$")
    return re.compile("|".join(forms))


def _count_marks(answer: str, mark: str, plan: Action) -> int:
    """Return how many of the marks of a plan stand in an answer: letter, verb, names and numbers of things."""
    verb = re.escape(plan.verb).replace("_", r"[_\s\-]")
    wanted = [rf"(?<![A-Za-z]){verb}(?![A-Za-z])"]
    for arg in plan.args:
        parts = (arg.kind, str(arg.id)) if isinstance(arg, Entity) else (show(arg),)
        wanted += [rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])" for part in parts]
    marks = sum(re.search(pattern, answer, re.IGNORECASE) is not None for pattern in wanted)
    alone = mark not in ("A", "I") and re.search(rf"(?<!\w){mark}(?!\w)", answer) is not None  # both are words too
    return marks + alone
