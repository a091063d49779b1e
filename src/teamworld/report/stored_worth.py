"""What messages and agents of an episode were worth, kept beside its log, where the replay finds it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.plain_files import read_file, write_file
from teamworld.report.worth import EpisodeWorth, plain, worth_path

_MOST = 50_000_000  # bytes


class StoredInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A mean with its 95 % interval; of one continuation all three are the same."""

    mean: float
    low: float
    high: float
    n: int


class StoredWorth(msgspec.Struct, frozen=True, kw_only=True):
    """What one message or agent was worth."""

    name: str
    """``message 3``, ``all messages``, or the agent's."""
    completion: StoredInterval | None
    """None where the level has no goals."""
    steps: StoredInterval | None
    questions: StoredInterval | None


class WorthFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file: what ``teamworld worth --json`` prints, but for the folder, and of which log it is."""

    digest: str
    """Of the episode's log."""
    messages: tuple[StoredWorth, ...]
    agents: tuple[StoredWorth, ...]
    continuations: int


def save_worth(worth: EpisodeWorth) -> Path:
    """Write the worths of an episode into the folder of its run and return the file; raises ``OSError``."""
    origin = worth.origin
    path = worth_path(origin.folder, origin.cell, origin.row.episode)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {name: value for name, value in plain(worth).items() if name != "run"}
    write_file(path, msgspec.json.format(msgspec.json.encode(data | {"digest": origin.row.digest}), indent=1))
    return path


def load_worth(folder: RunFolder, cell: RunCell, episode: int, digest: str) -> WorthFile | None:
    """Return the worths of an episode; None if none were measured, or of another log than the one of this digest.

    Raises:
        UserError: The file is damaged.
    """
    path = worth_path(folder, cell, episode)
    if not path.exists():
        return None
    try:
        stored = _DECODER.decode(read_file(path, _MOST))
    except msgspec.DecodeError as error:
        raise UserError(f"{path} is damaged ({error}): delete it, or measure again with teamworld worth") from None
    return stored if stored.digest == digest else None


_DECODER = msgspec.json.Decoder(WorthFile)
