"""The original CoELA's list of plans, lettered from A, and how an answer is read that names one (C-WAH spec A14)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from teamworld.language import Action, Entity, show
from teamworld.methods.coela.hands import handing_over
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import held_things
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


def written(plan: Action) -> str:
    """Return a plan as it stands in the list."""
    return KEYWORD if plan == SEND else str(plan)


def available(now: Situation, options: CoelaOptions, message: bool) -> tuple[Action, ...]:
    """Return the plans that an agent chooses from: the message, if there is one, then what can start now."""
    hidden = {*options.omit, WAIT.verb}  # whoever has no plan waits, unasked
    plans = dict.fromkeys(option.action for option in now.options if option.action.verb not in hidden)
    blind = options.blind_delivery and held_things(now.me, now.given) and not any(handing_over(now, options.omit))
    aside = (BLIND,) if blind and look_for_place(now) is not None else ()
    return ((SEND,) if message else ()) + tuple(plans) + aside


def look_for_place(now: Situation) -> Action | None:
    """Return the first of the agent's looks into rooms, in one of which the place may be; None if there is none."""
    rooms = {one.subject for one in now.domain.relations if one.predicate == "EXPLORED"}
    actions = (option.action for option in now.options if len(option.action.args) == 1)
    return next((one for one in actions if isinstance(one.args[0], Entity) and one.args[0].kind in rooms), None)


def read_plan(text: str, plans: Sequence[Action]) -> Action | None:
    """Return the plan that an answer names; None where it names none.

    Tried in turn: the text of a plan, the first in the list that stands in the answer; a letter in one of the forms
    ``option B``, ``B.``, ``B,``, ``(B)``, or alone; then any of its letter, its verb, and the name or number of a
    thing, the plan with most of them (of equals the first, and never the message).
    """
    tagged = _TAG.search(text)
    said = (tagged[2] if tagged is not None else text)[:LONGEST].strip()
    plain = said.lower()
    for plan in plans:
        if written(plan).lower() in plain:
            return plan
    for index, plan in enumerate(plans):
        if _lettered(letter(index)).search(said):
            return plan
    marks = [(0 if plan == SEND else _marks(said, letter(index), plan)) for index, plan in enumerate(plans)]
    most = max(marks, default=0)
    return plans[marks.index(most)] if most else None


def _lettered(mark: str) -> re.Pattern[str]:
    forms = (rf"[Oo]ption\s+{mark}(?![A-Za-z])", rf"(?<![\w.]){mark}[.,](?![\w.])", rf"\({mark}\)", rf"^\W*{mark}\W*$")
    return re.compile("|".join(forms))


def _marks(said: str, mark: str, plan: Action) -> int:
    """Return how many of the marks of a plan stand in an answer: letter, verb, names and numbers of things."""
    verb = re.escape(plan.verb).replace("_", r"[_\s\-]")
    wanted = [rf"(?<![A-Za-z]){verb}(?![A-Za-z])"]
    for arg in plan.args:
        parts = (arg.kind, str(arg.id)) if isinstance(arg, Entity) else (show(arg),)
        wanted += [rf"(?<!\w){re.escape(part)}(?!\w)" for part in parts]
    found = sum(re.search(pattern, said, re.IGNORECASE) is not None for pattern in wanted)
    alone = mark not in ("A", "I") and re.search(rf"(?<!\w){mark}(?!\w)", said) is not None  # both are words too
    return found + alone
