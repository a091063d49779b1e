"""Commands for results that prove themselves: capsule, verify, leaderboard.

Each imports what it needs when it is used: help is shown without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.options import Flag, Int
from teamworld.errors import UserError, printable

#: Differences that are printed; ``--json`` prints all.
_MOST = 100


def capsule(
    folder: Path,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    metrics: str | None = None,
    primary: str | None = None,
    json: Flag = False,
    processes: Int = None,
) -> int:
    """Pack a finished run, grid or comparison into one file that anybody can verify.

    It holds the code's digests, the versions of packages, the registered seeds, calls, logs and tables. The same folder
    gives the same bytes. Keys are not packed.

    Examples: `teamworld capsule runs/first -o first.tw`, `teamworld capsule runs/compared -o compared.tw`.

    Parameters
    ----------
    folder:
        Folder of the run, the grid or the comparison.
    out:
        The file to write, such as result.tw.
    metrics:
        Of a comparison: names with commas, as they were given to compare. [default: those of a results table]
    primary:
        Of a comparison: the metric that it was made for, as it was given to compare. [default: as compare's]
    json:
        Print one JSON object, and nothing else.
    processes:
        Processes that measure side by side. [default: as many as are worth it]
    """
    from teamworld.cli.monitor import dump
    from teamworld.report.capsule.packing import pack

    if out.is_dir() or not out.parent.is_dir():
        raise UserError(f"-o takes the name of a file in a folder that is there, such as result.tw; got {out}")
    packed = pack(folder, out, metrics, primary, processes)
    if json:
        dump({"capsule": str(out), **packed._asdict()})
        return 0
    for name in packed.other_tables:
        print(
            printable(f"{folder / name} says something else than the record: the capsule holds what the record gives")
        )
    size = f"{out.stat().st_size / 1000:,.0f} kB"
    print(printable(f"{out}: {_count(packed.episodes, 'episode')} of {_count(packed.runs, 'run')}, {size}"))
    print(f"seal {packed.seal}: publish it, and no other capsule can take the place of this one")
    print(printable(f"anybody can check it: teamworld verify {out}"))
    return 0


def verify(
    file: Path,
    *,
    trust: Flag = False,
    json: Flag = False,
    processes: Int = None,
) -> int:
    """Verify a capsule: play every episode again from its record, make every table again, say what differs.

    Needs no network and no key, and asks no model. Exit code 0: all of it holds; 1: something differs, with a line on
    each; 2: it is not a capsule.

    Examples: `teamworld verify result.tw`, `teamworld verify result.tw --json`.

    Parameters
    ----------
    file:
        The capsule.
    trust:
        Also import code and read files that the capsule names and that are not part of teamworld: they run with your
        rights.
    json:
        Print one JSON object, and nothing else; it lists all differences.
    processes:
        Processes that play side by side. [default: as many as are worth it]
    """
    from teamworld.cli.monitor import dump
    from teamworld.report.capsule import verification

    verified = verification.verify(file, trust=trust, processes=processes)
    if json:
        dump({"capsule": str(file), "verified": verified.holds, **verified._asdict()})
        return 0 if verified.holds else 1
    for line in verification.shown(verified.differences, _MOST):
        print(printable(line))
    for note in verified.notes:
        print(printable(f"note: {note}"))
    played = f"{_count(verified.episodes, 'episode')} of {_count(verified.runs, 'run')} played again"
    made = f"{_count(verified.tables, 'table')} made again"
    if verified.holds:
        print(f"verified: {played} to the same bytes, {made} without a difference")
        print("not proven: that a language model gave the recorded answers, what calls cost, how long they took")
    else:
        print(f"not verified: {_count(len(verified.differences), 'difference')}; {played}, {made}")
    print(f"seal {verified.seal}")
    return 0 if verified.holds else 1


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def leaderboard(
    *capsules: Path,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    primary: str | None = None,
    trust: Flag = False,
    json: Flag = False,
    processes: Int = None,
) -> int:
    """Write one static page that ranks the methods of capsules that verify and that played the same instances.

    The page needs no network and no script, and says what a capsule cannot prove.

    Examples: `teamworld leaderboard ours.tw theirs.tw -o page.html`.

    Parameters
    ----------
    capsules:
        The capsules; all must have played one set of instances.
    out:
        The page to write, such as page.html.
    primary:
        The metric that decides. [default: that of a comparison on these levels]
    trust:
        As for verify.
    json:
        Print one JSON object, and nothing else.
    processes:
        Processes that play side by side. [default: as many as are worth it]
    """
    if not capsules:
        raise UserError("which capsules? expected files such as: teamworld leaderboard ours.tw theirs.tw -o page.html")
    if out.suffix.lower() not in (".html", ".htm") or out.is_dir() or not out.parent.is_dir():
        raise UserError(f"-o takes the name of a web page in a folder that is there, such as page.html; got {out}")
    from rich.console import Console

    from teamworld.cli.monitor import dump
    from teamworld.plain_files import write_file
    from teamworld.report.capsule import leaderboard as boards

    with Console(stderr=True).status("verifying"):
        board = boards.make_board(capsules, primary, trust=trust, processes=processes)
    write_file(out, boards.page(board).encode())
    if json:
        dump({"page": str(out), "entries": [row._asdict() for row in board.rows]})
        return 0
    print(printable(board.about))
    for row in board.rows:
        cells = (f"{title} {cell}" for title, cell in zip(board.columns[2:], row.cells, strict=False))
        print(printable(f"{row.rank}. {row.label}: {'; '.join(cells)}"))
    print(printable(f"written: {out}"))
    return 0
