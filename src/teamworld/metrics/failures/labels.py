"""The failure labels: each defined once (metrics spec, section 10; CUBE spec, A15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Label(NamedTuple):
    """What a failure label means."""

    name: str
    rule: str
    """The rule in words, with its thresholds."""
    diagnoses: str
    """What the team lacks where it shows."""
    source: str
    """Where the rule comes from."""
    refines: str | None = None
    """The label that the same spans carry too, where this one says more."""
    spatial: bool = False
    """Found by the world, from its snapshots; not there for worlds that offer no finder."""
    knowing: bool = False
    """Found in logs of the level ``beliefs`` alone."""


_M10, _A15 = "metrics spec 10", "CUBE A15"

_ALL = (
    Label("understaffed", "a joint act fails; too few take part", "staffing", f"{_M10}, D3"),
    Label("scattered", "a joint act fails; enough take part, too few are in place", "assembly", f"{_M10}, D3"),
    Label("out-of-step", "a joint act fails; enough are in place, too few act at once", "timing", f"{_M10}, D3"),
    Label("missing-prerequisite", "an act fails on what must hold before", "order of work", f"{_M10}, D3"),
    Label(
        "chain-too-heavy",
        "a push that would move the block alone fails, for the blocks in contact ahead weigh too much",
        "staffing that forgets the chain",
        f"{_A15} (P, F-fail)",
        "understaffed",
        True,
    ),
    Label(
        "blocked-destination",
        "a push fails because an agent, a wall or a block stands where the block would go",
        "looking ahead of the block",
        f"{_A15} (PE), B31",
        "missing-prerequisite",
        True,
    ),
    Label(
        "misalignment",
        "a push or a rendezvous is given up because the agent is not at the face",
        "keeping or reaching one's place",
        f"{_A15} (PE)",
        None,
        True,
    ),
    Label(
        "cell-race",
        "two or more agents go for one free cell in one step; one enters, the others stay",
        "sharing out of cells",
        f"{_M10}; {_A15} (P, PP)",
        None,
        True,
    ),
    Label(
        "occlusion",
        "for 3 steps an agent has no way to free cells of its face because agents stand in it, or one who is not at "
        "work there stands on a cell of the face that the team there needs while some of it wait",
        "making room",
        f"{_M10}; {_A15} (P, PP)",
        None,
        True,
    ),
    Label(
        "staging-congestion",
        "for 3 steps an agent cannot line up at a face that is short of hands: others hold every cell of it and shut "
        "off the queue",
        "spreading over faces",
        f"{_A15} (PE)",
        None,
        True,
    ),
    Label(
        "dynamic-blocking",
        "for 3 steps an agent on its way has none any more to cells that are free, after an agent or block moved in",
        "right of way",
        f"{_A15} (PE)",
        None,
        True,
    ),
    Label(
        "mutual-blocking",
        "for 3 steps agents stand in one another's way, in a circle",
        "right of way",
        f"{_A15} (PE: oscillation, mutual blocking)",
    ),
    Label(
        "vanishing-face",
        "a face that an agent goes to or plans for has no cell left after a block moved",
        "telling others what one pushes",
        f"{_M10}; {_A15} (P, PP)",
        None,
        True,
    ),
    Label(
        "stuck-object",
        "a block stands at the wall opposite the goal, or no agent can get at any of its faces",
        "care for what is still to be done",
        f"{_M10}; {_A15} (P, PP)",
        None,
        True,
    ),
    Label(
        "stale-plan",
        "the first failure of a plan is an action that cannot start, though the plan's dry run had passed and the "
        "agent has not itself finished the goal",
        "revising plans when the world changed",
        f"{_M10}; {_A15} (P, PP)",
    ),
    Label(
        "misaligned-intent",
        "one at work on a joint goal waits in place and gives up; a partner bound for it all the while comes up to 10 "
        "steps later, and the goal makes no progress meanwhile",
        "agreeing on a time",
        f"{_A15} (PE)",
    ),
    Label(
        "duplicate-work",
        "for more than 5 steps an agent works on a goal that is done, or that as many others as it takes had "
        "committed to before",
        "allocation",
        f"{_M10}, E10",
    ),
    Label("broken-word", "an agent takes up another goal while still committed", "reliability", f"{_M10}, D19"),
    Label(
        "free-rider",
        "contribution below 10 % of the mean, while more than 80 % of the agent's steps are idle or move",
        "sharing the work",
        f"{_M10}, D17, E7",
    ),
    Label(
        "thrash",
        "3 new plans for goals within 10 steps, each after one that did not succeed, without a step of work",
        "persistence",
        f"{_M10}, D16",
    ),
    Label(
        "deadlock",
        "for 8 steps nobody moves and nothing changes while goals are open",
        "breaking symmetry",
        f"{_M10}, D13; {_A15} (PE)",
    ),
    Label(
        "oscillation",
        "an agent stands at A, B, A, B in a row, or takes up plans A, B, A, B of which none succeeds",
        "persistence",
        f"{_M10}, D13; {_A15} (PE)",
    ),
    Label(
        "walked-into-fire",
        "a walker dies in a step in which it moved, and the cell that it left did not burn when the step was over",
        "looking where one goes",
        "wildfire spec A6, A13",
        spatial=True,
    ),
    Label(
        "overrun",
        "the fire kills a walker where it stood at the beginning of a step, and already burnt beside that cell then",
        "leaving in time",
        "wildfire spec A6, A13",
        spatial=True,
    ),
    Label(
        "break-too-late",
        "an agent gives up cutting because it burns beside it",
        "starting a firebreak in time, and far enough from the fire",
        "wildfire spec A4.4, B22",
        spatial=True,
    ),
    Label(
        "empty-flight",
        "a helicopter comes to the zone with nobody aboard while firefighters are still to be brought there",
        "waiting for riders",
        "wildfire spec A7, B26",
        spatial=True,
    ),
    Label("quit-early", "the team ends the episode with goals open", "knowing when to stop", f"{_M10}, O9"),
    Label("no-stop", "the episode goes on after the last goal is done", "knowing when to stop", f"{_M10}, O10"),
    Label("bad-format", "no answer of a mind could be used; its fallback stood in", "the model", f"{_M10}, K8"),
    Label(
        "unanswered",
        "nobody asked replies, or takes up the goal asked for, within 10 steps of a request",
        "listening",
        f"{_M10}, M9",
    ),
    Label(
        "chatter",
        "3 messages in a row among the same agents that bind nobody and repeat an earlier one (3-gram Jaccard >= 0.8) "
        "or facts told",
        "talk that tells nothing",
        f"{_M10}, M5, M6",
    ),
    Label(
        "false-belief",
        "an action fails while its agent believes something false about what it names, false since before its plan "
        "was made",
        "looking before acting",
        f"{_M10}, B3",
        knowing=True,
    ),
    Label(
        "ignored-input",
        "a true fact is news to an agent, whose next plan about it, within 10 steps, still goes by what it knew "
        "before, or is for a goal that the fact says is done",
        "heeding what is said",
        f"{_M10}, M7",
        knowing=True,
    ),
    Label(
        "withheld",
        "an action or a joint act fails while one who takes part knows something false about what it names, and a "
        "team-mate that knows better has never told",
        "telling what others lack",
        f"{_M10}, M10",
        knowing=True,
    ),
)

#: The labels by name, in the order in which they are listed.
LABELS: Final[Mapping[str, Label]] = {label.name: label for label in _ALL}
