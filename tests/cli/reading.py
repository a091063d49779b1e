"""The commands that read a folder, for tests that put odd things into one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

#: Each with its arguments for a folder and a place to write to.
READING: dict[str, Callable[[Path, Path], list[str]]] = {
    "report": lambda folder, out: ["report", str(folder)],
    "failures": lambda folder, out: ["report", str(folder), "--failures"],
    "bill": lambda folder, out: ["report", str(folder), "--bill"],
    "figures": lambda folder, out: ["report", str(folder), "--figures"],
    "metrics": lambda folder, out: ["metrics", str(folder)],
    "view": lambda folder, out: ["view", str(folder), "--export", str(out / "page.html")],
    "replay": lambda folder, out: ["replay", str(folder)],
    "status": lambda folder, out: ["status", str(folder)],
    "compare": lambda folder, out: ["compare", str(folder), "--metrics", "steps"],
    "prompts": lambda folder, out: ["prompts", "drwell.propose", "--run", str(folder)],
    "memory": lambda folder, out: ["memory", str(folder), "--out", str(out / "model.json")],
}
