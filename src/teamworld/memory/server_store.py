"""The symbolic world model on a PostgreSQL server: many readers and writers on many machines.

What an episode added is one document under (run, episode), written whole in one statement: nothing is half there, and
writing it again changes nothing. It is summed up where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from teamworld.memory.contract import MemoryDelta, Ranking
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.notes import recent_notes
from teamworld.memory.store import check_prototype
from teamworld.record.server import PATIENCE, Login, Server

_COMMIT = """
    INSERT INTO teamworld.deltas AS held (run, episode, delta) VALUES (%s, %s, %s)
    ON CONFLICT (run, episode) DO UPDATE SET delta = excluded.delta WHERE held.delta <> excluded.delta
"""
_DISCARD = "DELETE FROM teamworld.deltas WHERE run = %s AND NOT episode = ANY(%s) RETURNING episode"
_RUNS = "SELECT DISTINCT run FROM teamworld.deltas ORDER BY run"
_EPISODES = "SELECT episode FROM teamworld.deltas WHERE run = %s ORDER BY episode"
_DELTAS = "SELECT delta FROM teamworld.deltas WHERE run = %s AND episode <= %s ORDER BY episode"
_TOPIC = """
    SELECT run, delta FROM teamworld.deltas WHERE run >= %s AND run < %s ORDER BY run, episode
"""
_LAST = 2**63 - 1


class ServerStore:
    """The world models of all runs on one server; see ``memory.store.MemoryStore`` for the same in a file.

    Args:
        login: Where the server is.
        patience: As of ``record.server.Server``.
        notice: As of ``record.server.Server``.

    Raises:
        UserError: The server cannot be used.
    """

    def __init__(
        self, login: Login, patience: float = PATIENCE, notice: Callable[[str], None] = lambda line: None
    ) -> None:
        self.server = Server(login, "world model", patience, notice)

    def commit(self, run: str, delta: MemoryDelta) -> None:
        """Store what an episode adds, in place of any earlier attempt of (run, episode).

        Raises:
            UserError: The server cannot be used; nothing of the delta is stored then.
            ValidationError: The delta is not one that could be read again.
        """
        text = msgspec.json.encode(delta).decode()
        msgspec.json.decode(text, type=MemoryDelta)
        self.server.execute(_COMMIT, (run, delta.episode, text))

    def discard(self, run: str, keep: Collection[int]) -> tuple[int, ...]:
        """Remove the deltas of a run's episodes that are not to be kept, and return which these were."""
        return tuple(sorted(episode for (episode,) in self.server.execute(_DISCARD, (run, list(keep)))))

    def runs(self) -> tuple[str, ...]:
        """Return the names of the runs that have a delta here, in order."""
        return tuple(run for (run,) in self.server.execute(_RUNS))

    def episodes(self, run: str) -> tuple[int, ...]:
        """Return the numbers of a run's episodes that have a delta here, in order."""
        return tuple(episode for (episode,) in self.server.execute(_EPISODES, (run,)))

    def deltas(self, run: str, up_to: int | None = None) -> tuple[MemoryDelta, ...]:
        """Return a run's deltas by episode, as they were committed; of None to the last."""
        rows = self.server.execute(_DELTAS, (run, _LAST if up_to is None else up_to))
        return tuple(self._decode(text) for (text,) in rows)

    def topic(self, name: str) -> dict[str, list[MemoryDelta]]:
        """Return the deltas of all runs whose names begin with a topic and a slash, by run and in order."""
        deltas: dict[str, list[MemoryDelta]] = {}
        for run, text in self.server.execute(_TOPIC, (f"{name}/", f"{name}0")):  # 0 follows the slash
            deltas.setdefault(run, []).append(self._decode(text))
        return deltas

    def world_model(self, run: str, ranking: Ranking = "expected") -> WorldModel:
        """Return what a run has learned so far."""
        deltas = self.deltas(run)
        reports = [report for delta in deltas for report in delta.reflections]
        notes = recent_notes(report.text for report in reports)
        model = WorldModel.from_rows([], [], [], ranking, notes, reports)
        for delta in deltas:
            for instance in delta.instances:
                model.add(instance)
        return model

    def close(self) -> None:
        """Let go of the server."""
        self.server.close()

    def __enter__(self) -> ServerStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _decode(self, text: str) -> MemoryDelta:
        try:
            delta = msgspec.json.decode(text, type=MemoryDelta)
            for instance in delta.instances:
                check_prototype(instance.prototype)
        except msgspec.MsgspecError as error:
            raise self.server.explain_damage(error) from None
        return delta
