"""The rows of the table of C-WAH: which teams play, what decides for them, and what was published of such a team.

One list holds them all. A row whose method, or variant of one, does not stand in this version keeps its place with what
was published, and is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError, suggest
from teamworld.methods import registry

#: What decides: a planner or a script, which ask nobody; exact inference, which does neither; or minds that are asked.
Decider: TypeAlias = Literal[
    "planner", "script", "inference", "minds", "minds and planner", "minds and inference", "minds and script"
]


class Row(NamedTuple):
    """A team."""

    name: str
    """As the table shows it."""
    method: str
    """Its label."""
    agents: int
    by: Decider
    full: str | None = None
    """Label of the team that it is a part or another form of: the difference to that one is shown."""
    table: tuple[str, ...] = ()
    """Of the CoBel-World paper's columns."""
    earlier: str | None = None
    """Of the CoELA paper's rows."""
    ablation: str | None = None
    """Of the published ablations."""
    spent: str | None = None
    """Of the authors' files."""
    mixes: tuple[str, ...] = ()
    """Variants of the method that hold together, where its label names no variant of its own."""

    @property
    def key(self) -> str:
        """Name of the row, of its folder too."""
        return f"{self.method.replace(':', '_')}-x{self.agents}"

    @property
    def asks(self) -> bool:
        """Whether minds are asked."""
        return self.by.startswith("minds")

    def options(self) -> dict[str, dict[str, Any]]:
        """Return the options that make the row's label, by label; empty where the method knows it."""
        if not self.mixes:
            return {}
        variants = registry.method_class(self.method).variants
        return {self.method: {name: value for one in self.mixes for name, value in variants[one].options.items()}}

    @property
    def stands(self) -> bool:
        """Whether the method, and all that the label names of it, stands in this version."""
        try:
            registry.resolve(self.method, self.options())
        except (UserError, KeyError, ImportError):
            return False
        return True


def _exact(part: str, name: str) -> Row:
    """Return the row of a part of CoBel-World on exact inference."""
    label = f"cobel:exact_{part}"
    return Row(f"CoBel-World, exact, {name}", label, 2, "inference", "cobel:exact", mixes=("exact", part))


#: The form of CoELA that is published, with which others are compared.
COELA: Final = "coela:cwah"
#: The team of which shares of saved steps count.
ALONE: Final = ("mhp", 1)
#: All rows, from top to bottom.
ROWS: Final = (
    Row("MHP x1", "mhp", 1, "planner", table=("mhp_1",), earlier="mhp_1"),
    Row("MHP x2", "mhp", 2, "planner", table=("mhp_2",), earlier="mhp_2"),
    Row("MHP x2 with messages", "mhp:comm", 2, "planner", "mhp"),
    Row("MHP plus x1", "mhp:plus", 1, "planner", "mhp"),
    Row("MHP plus x2", "mhp:plus", 2, "planner", "mhp"),
    Row("scripted team, pooled knowledge", "greedy", 2, "script"),
    Row("CoELA", COELA, 2, "minds", table=("gpt_coela", "qwen_coela"), earlier="coela", spent="coela"),
    Row("CoELA, with options", "coela", 2, "minds", COELA),
    Row("CoELA, with options, silent", "coela:silent", 2, "minds", "coela"),
    Row("CaPo", "capo", 2, "minds", table=("gpt_capo", "qwen_capo"), spent="capo"),
    Row("CoBel-World, exact", "cobel:exact", 2, "inference", table=("gpt_cobel", "qwen_cobel"), spent="cobel"),
    _exact("silent", "silent"),
    _exact("no_bbc", "no BBC")._replace(ablation="no_bbc"),
    _exact("no_first_order", "no first order"),
    _exact("no_intents", "no intents"),
    _exact("no_rules", "no rules"),
    _exact("always", "always tells"),
    _exact("random", "tells at random"),
    Row("CoBel-World", "cobel", 2, "minds", table=("gpt_cobel", "qwen_cobel"), ablation="full", spent="cobel"),
    Row("CoBel-World, as published", "cobel:original", 2, "minds", "cobel", ablation="full"),
    Row("CoBel-World, silent", "cobel:silent", 2, "minds", "cobel"),
    Row("CoBel-World, no SBR", "cobel:no_sbr", 2, "minds", "cobel", ablation="no_sbr", spent="no_sbr"),
    Row("CoBel-World, no BBC", "cobel:no_bbc", 2, "minds", "cobel", ablation="no_bbc", spent="no_bbc"),
    Row("CoBel-World, text store", "cobel:text_store", 2, "minds", "cobel"),
    Row("CoBel-World, no first order", "cobel:no_first_order", 2, "minds", "cobel"),
    Row("CoBel-World, no rules", "cobel:no_rules", 2, "minds", "cobel"),
    Row("MHP + CoELA", f"mhp+{COELA}", 2, "minds and planner", earlier="mixed"),
    Row("CoELA + CoBel-World, exact", f"{COELA}+cobel:exact", 2, "minds and inference"),
)


def chosen(names: Sequence[str] | None) -> tuple[Row, ...]:
    """Return the rows of some labels, in the order of the table; all rows where none is named.

    A label that the table has not gets a row of two agents after the others. ``mhp_comm`` names ``mhp:comm`` too.

    Raises:
        UserError: There is no such method or variant.
    """
    if names is None:
        return ROWS
    known = {name: row.method for row in ROWS for name in (row.method, row.method.replace(":", "_"))}
    labels = list(dict.fromkeys(known.get(name, name) for name in names))
    found = [row for row in ROWS if row.method in labels]
    for row in found:
        if not row.stands and not row.mixes:
            registry.resolve(row.method, {})  # says what there is none of
    for label in labels:
        if label not in known.values():
            found.append(_row_of(label, list(known.values())))
    return tuple(found)


def _row_of(label: str, known: list[str]) -> Row:
    """Return the row of a label that the table has not; raises UserError."""
    parts = registry.parts_of(label)
    for part in parts:
        if registry.method_of(part) not in registry.names():
            raise UserError(f"--methods: there is no method '{part}'{suggest(part, [*known, *registry.names()])}")
    registry.resolve(label, {})
    asking = [bool(registry.method_class(part).questions) for part in parts]
    by: Decider = "minds" if all(asking) else "minds and script" if any(asking) else "script"
    return Row(label, label, 2, by)
