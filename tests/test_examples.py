"""Examples run as they are told to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.heavy
def test_two_minds_are_compared(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "compare_models.py"), "rules", "rules:noise=0.2", "--seeds", "2"]
    done = subprocess.run(
        [*command, "--episodes", "1", "--out", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "rules:noise=0.2" in done.stdout
    assert done.stdout.count("not supported") == 2  # by two seeds nothing can be
