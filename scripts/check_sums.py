"""Find every built-in ``sum`` of floats in the package: from Python 3.12 on it rounds otherwise than before.

Such a sum makes a log differ between interpreters. ``math.fsum`` is exact, and so the same on each. The types are
those that mypy infers in a copy in which every sum is revealed; a sum whose type is ``Any`` is not seen.

    python scripts/check_sums.py [FOLDER]
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_REVEALED = re.compile(r'^(.+?):(\d+)(?::\d+)?: note: Revealed type is "(.*)"$')


def reveal_sums(source: str) -> str:
    """Return a module in which the type of every call of ``sum`` is revealed, each on the line where it was."""
    lines = source.encode().split(b"\n")
    marks: list[tuple[int, int, int, bytes]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum":
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            marks.append((node.lineno, node.col_offset, 1, b"reveal_type("))
            marks.append((node.end_lineno, node.end_col_offset, 0, b")"))
    for line, column, _, mark in sorted(marks, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + mark + lines[line - 1][column:]
    return b"\n".join(lines).decode()


def float_sums(folder: Path) -> list[str]:
    """Return ``file:line`` of every sum of floats below a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        for path in folder.rglob("*.py"):
            copy = Path(temporary, path.relative_to(folder))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(reveal_sums(path.read_text("utf-8")), "utf-8")
        options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", "/dev/null", "--no-pretty"]
        told = subprocess.run(
            [sys.executable, "-m", "mypy", *options, "."], cwd=temporary, capture_output=True, text=True, check=False
        )
    revealed = [match for line in told.stdout.splitlines() if (match := _REVEALED.match(line))]
    if not revealed and told.returncode > 1:
        raise SystemExit(f"mypy ended with: {told.stderr or told.stdout}")
    found = {(match[1], int(match[2])) for match in revealed if re.search(r"\bfloat\b", match[3])}
    return [f"{folder / name}:{line}" for name, line in sorted(found)]


def main(folder: str = "src") -> int:
    """Print what was found; 1 if anything was."""
    found = float_sums(Path(folder))
    for place in found:
        print(f"{place}: a sum of floats differs between versions of Python; use math.fsum")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
