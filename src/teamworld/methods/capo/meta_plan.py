"""The meta-plan: three steps, each with what every agent does in it; as an answer, as the text of a message, and read.

The text is what is sent, so agents read a meta-plan from the text of the message that reached them, as anybody would.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from pydantic import Field, field_validator

from teamworld.language import AgentId, GoalId, plain_names
from teamworld.methods.common.answers import Reasoned, meant
from teamworld.methods.contract import StrictModel

#: Steps of a meta-plan: of the highest, of middle and of the lowest priority (CaPo's prompts).
STEPS: Final = 3
#: Entries of a meta-plan that are kept for one agent in one step: an answer may hold any number.
MOST: Final = 6
#: Characters of what an entry says.
LONGEST: Final = 200

_NAME = re.compile(r"[^\s().;]{1,80}")
_FOR = re.compile(rf"(?:^|\s)\(for ({_NAME.pattern})\)$")
_TASK = re.compile(rf"task ({_NAME.pattern})")


class PlanItem(StrictModel):
    """What one agent does in one step of the meta-plan; several items of a step may be done in any order."""

    step: int = Field(description="1, 2 or 3")
    agent: str = Field(description="name of the agent")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    action: str = Field(
        default="",
        description="one action in written form, or what to do in words; empty: all that the task takes",
        max_length=LONGEST,
    )

    @field_validator("step", mode="before")
    @classmethod
    def _read_step(cls, value: object) -> object:
        """Read a number in words such as "Step 2"."""
        number = re.search(r"\d+", value) if isinstance(value, str) else None
        return value if number is None else int(number[0][:3])


#: A meta-plan that can be followed: by step, then in the order in which it was written.
MetaPlan: TypeAlias = tuple[PlanItem, ...]


class PlanAnswer(Reasoned):
    """The meta-plan as an answer."""

    items: tuple[PlanItem, ...] = Field(description="what each agent does in steps 1, 2 and 3 of the meta-plan")


# ---- from an answer


def tidy_plan(items: Iterable[PlanItem], team: Collection[AgentId]) -> MetaPlan:
    """Return what can be followed of some items: for agents of the team, with something to do, in steps 1 to 3.

    A step beyond the third counts as the third, one before the first as the first. What is said twice counts once.
    """
    kept: dict[tuple[int, AgentId], dict[PlanItem, None]] = {}
    for item in items:
        action = " ".join(plain_names(meant(item.action)).split())[:LONGEST].strip(" .;")
        named = meant(item.goal or "")
        goal = named if _NAME.fullmatch(named) else None
        step = min(max(item.step, 1), STEPS)
        if item.agent in team and (action or goal):
            own = kept.setdefault((step, item.agent), {})
            if len(own) < MOST:
                own[PlanItem(step=step, agent=item.agent, goal=goal, action=action)] = None
    return tuple(item for key in sorted(kept, key=lambda key: key[0]) for item in kept[key])


def refuse_plan(items: Sequence[PlanItem], team: Sequence[AgentId]) -> str | None:
    """Return what is wrong with a meta-plan as it was answered; None if nothing is.

    It is for agents of the team, has all three steps, and says something for every agent.
    """
    unknown = [item.agent for item in items if item.agent not in team]
    if unknown:
        return f"there is no agent '{unknown[0][:80]}' in this team; there are: {', '.join(team)}"
    plan = tidy_plan(items, team)
    if not plan:
        return f"the meta-plan is empty: say for each of {', '.join(team)} what it does in steps 1 to {STEPS}"
    if left := [agent for agent in team if not items_of(plan, agent)]:
        return f"the meta-plan has nothing for {', '.join(left)}: say what each does in steps 1 to {STEPS}"
    return None


# ---- as the text of a message


def write_plan(plan: MetaPlan) -> str:
    """Return a meta-plan as the text of a message."""
    return " ".join(f"Step {item.step}, {item.agent}: {describe_item(item)}." for item in plan)


def describe_item(item: PlanItem) -> str:
    """Return what an item says to do."""
    if not item.action:
        return f"task {item.goal}"
    return f"{item.action} (for {item.goal})" if item.goal is not None else item.action


def read_plan(text: str, team: Collection[AgentId]) -> MetaPlan:
    """Return the meta-plan, or the part of one, that stands in the text of a message; empty where there is none."""
    if not team:
        return ()
    names = "|".join(map(re.escape, sorted(team, key=lambda name: (-len(name), name))))
    head = re.compile(rf"(?<!\w)Step ([1-{STEPS}]), ({names}): ")
    heads = list(head.finditer(text))
    ends = [*(match.start() for match in heads), len(text)][1:]
    says = (text[match.end() : end].strip(" .;") for match, end in zip(heads, ends, strict=True))
    items = [_read_item(int(match[1]), match[2], said) for match, said in zip(heads, says, strict=True)]
    return tidy_plan(items, team)


def _read_item(step: int, agent: AgentId, text: str) -> PlanItem:
    if (task := _TASK.fullmatch(text)) is not None:
        return PlanItem(step=step, agent=agent, goal=task[1])
    goal = _FOR.search(text)
    action = text if goal is None else text[: goal.start()]
    return PlanItem(step=step, agent=agent, goal=None if goal is None else goal[1], action=action)


# ---- parts


def items_of(plan: MetaPlan, agent: AgentId) -> MetaPlan:
    """Return what a meta-plan has for an agent, the first step first."""
    return tuple(sorted((item for item in plan if item.agent == agent), key=lambda item: item.step))


def by_step(plan: MetaPlan) -> Mapping[int, Mapping[AgentId, Sequence[PlanItem]]]:
    """Return the items by step, the first first, and by agent."""
    steps: dict[int, dict[AgentId, list[PlanItem]]] = {}
    for item in plan:
        steps.setdefault(item.step, {}).setdefault(item.agent, []).append(item)
    return dict(sorted(steps.items()))


def change_plan(plan: MetaPlan, changes: MetaPlan) -> MetaPlan:
    """Return a meta-plan with the items of some agents in some steps replaced by others."""
    replaced = {(item.step, item.agent) for item in changes}
    left = [item for item in plan if (item.step, item.agent) not in replaced]
    return tuple(sorted((*left, *changes), key=lambda item: item.step))
