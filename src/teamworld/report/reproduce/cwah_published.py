"""Published results on the ten test episodes of C-WAH: steps, message tokens, ablations, calls and tokens in all.

Two papers, and averages that the authors of one of them left in their files. Steps are means over episodes; a failure
counts 250. Rows of tasks are means of two episodes, printed without decimals and without a spread, so that differences
of some ten steps between them say little (household spec B).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

#: Steps after which an episode ends, and what a failure counts (household spec A1, A11).
HORIZON: Final = 250
#: The task of each episode, by the number that papers give it (household spec A12).
EPISODES: Final[Mapping[int, str]] = MappingProxyType(
    {0: "tea", 5: "tea", 10: "dishes", 16: "dishes", 20: "meal", 26: "meal",
     30: "groceries", 32: "groceries", 40: "table", 49: "table"}
)  # fmt: skip
#: The tasks, in the papers' order.
TASKS: Final = tuple(dict.fromkeys(EPISODES.values()))


class Reported(NamedTuple):
    """A column of the table of the CoBel-World paper: average steps with symbolic and with visual observation."""

    team: str
    mind: str | None
    """The language model; None of planners."""
    symbolic: tuple[int, ...]
    """By task, in the order of ``TASKS``."""
    visual: tuple[int, ...]
    mean: tuple[int, int]
    """As printed: symbolic, visual."""
    tokens: tuple[int, int] | None = None
    """Message tokens an episode, of all agents: completion tokens of what writes messages, sent or not."""


#: Where ``TABLE`` is from: the main table of the CoBel-World paper (arXiv 2509.21981).
TABLE_SOURCE: Final = "household spec A15, CoBel-World spec A14"
#: The main table, by a short name. That its first two columns are one and two planners is the only reading that fits.
TABLE: Final[Mapping[str, Reported]] = MappingProxyType(
    {
        "mhp_1": Reported("MHP x1", None, (163, 106, 105, 113, 83), (206, 111, 181, 166, 95), (114, 152)),
        "mhp_2": Reported("MHP x2", None, (87, 70, 69, 64, 48), (102, 96, 95, 80, 79), (68, 90)),
        "qwen_coela": Reported(
            "CoELA", "Qwen3-32B", (91, 48, 66, 82, 69), (181, 95, 97, 108, 115), (71, 119), (1231, 1453)
        ),
        "qwen_capo": Reported(
            "CaPo", "Qwen3-32B", (101, 56, 87, 70, 65), (180, 187, 151, 168, 140), (76, 165), (5570, 4445)
        ),
        "qwen_cobel": Reported(
            "CoBel-World", "Qwen3-32B", (106, 49, 56, 82, 65), (105, 101, 97, 64, 97), (72, 93), (403, 416)
        ),
        "gpt_coela": Reported("CoELA", "GPT-4o", (82, 46, 68, 64, 56), (130, 76, 100, 82, 102), (63, 98), (938, 889)),
        "gpt_capo": Reported("CaPo", "GPT-4o", (85, 68, 66, 67, 45), (184, 75, 83, 93, 78), (66, 103), (7231, 4696)),
        "gpt_cobel": Reported(
            "CoBel-World", "GPT-4o", (53, 38, 49, 59, 44), (91, 64, 65, 57, 75), (48, 71), (377, 360)
        ),
    }
)

#: Means of ``TABLE`` that are not those of their tasks to within rounding: printed, and what the tasks come to (A15).
ODD_MEANS: Final[Mapping[tuple[str, str], tuple[int, float]]] = MappingProxyType(
    {("gpt_cobel", "symbolic"): (48, 48.6), ("gpt_cobel", "visual"): (71, 70.4)}
)


class Earlier(NamedTuple):
    """A row of the CoELA paper (arXiv 2307.02485): average steps, and what they save against one planner."""

    team: str
    mind: str | None
    symbolic: int
    visual: int
    saved: tuple[float, float] | None = None
    """Efficiency improvement, symbolic and visual, as a share."""


#: Where ``EARLIER`` is from: a summary that quotes the paper. MHP is the mean of five runs, CoELA of one.
EARLIER_SOURCE: Final = "household spec A15"
EARLIER: Final[Mapping[str, Earlier]] = MappingProxyType(
    {
        "mhp_1": Earlier("MHP", None, 111, 141),
        "mhp_2": Earlier("MHP + MHP", None, 75, 103, (0.33, 0.26)),
        "mixed": Earlier("MHP + CoELA", "GPT-4", 59, 94, (0.45, 0.34)),
        "coela": Earlier("CoELA + CoELA", "GPT-4", 57, 92, (0.49, 0.34)),
    }
)

#: Where ``ABLATIONS`` and ``TEAMS`` are from: symbolic observation, GPT-4o; the full team's run is not ``TABLE``'s.
ABLATIONS_SOURCE: Final = "CoBel-World spec A14"
#: Average steps of CoBel-World with parts taken out.
ABLATIONS: Final[Mapping[str, int]] = MappingProxyType({"full": 51, "no_sbr": 55, "no_bbc": 68})
#: Average steps of CoBel-World by number of agents.
TEAMS: Final[Mapping[int, int]] = MappingProxyType({2: 51, 3: 47, 4: 43})


class Spent(NamedTuple):
    """What a team took in an episode: averages of files that the authors left, symbolic observation, GPT-4o."""

    steps: float
    calls: int
    prompt: int
    """Tokens."""
    completion: int
    messages: int
    """Completion tokens of what writes messages."""

    @property
    def total(self) -> int:
        """All tokens."""
        return self.prompt + self.completion


SPENT_SOURCE: Final = "CoBel-World spec A12"
SPENT: Final[Mapping[str, Spent]] = MappingProxyType(
    {
        "cobel": Spent(51.1, 164, 112_515, 29_254, 335),
        "cobel, second run": Spent(54.6, 173, 119_560, 30_613, 339),
        "no_bbc": Spent(68.0, 201, 131_852, 31_671, 363),
        "no_sbr": Spent(55.2, 136, 97_396, 22_638, 13),
        "coela": Spent(51.6, 49, 30_240, 1_413, 813),
        "capo": Spent(67.7, 63, 90_339, 14_178, 7_668),
    }
)
