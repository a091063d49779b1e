"""The symbolic world model on disk: one SQLite file, many readers and writers on one machine.

G_{k+1} = G_k ∪ ΔG_k: an episode's delta is stored under (run, episode) and replaces
an earlier attempt, so storing it again changes nothing, and the order of episodes does not matter.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import msgspec

from teamworld.errors import brief
from teamworld.memory.contract import OPEN, MemoryDelta, PlanInstance, Ranking, Reflection, TaskOutcome
from teamworld.memory.guidebook import CauseRow, PlanKey, PlanRow, TeamRow, WorldModel
from teamworld.memory.notes import recent_notes
from teamworld.memory.plan_statistics import PARTS, PlanStatistics
from teamworld.record.database import Database, Format

_MANY = 500  # values in one IN (...); SQLite takes at least 999 of them
# What is counted, as in ``guidebook``; the share of the work done is that of ``plan_statistics.done_share``.
_COUNTED = f"""
    SELECT e.id AS episode, i.prototype_id, i.lifted_id, i.goal, i.start_tick AS start,
           i.end_tick - i.start_tick AS steps, i.success, i.team, i.cause,
           CASE WHEN i.success THEN i.end_tick ELSE i.done_by END - i.start_tick AS done_in,
           NOT (i.success OR i.cause != '{OPEN}' OR i.progress OR i.credit) AS is_preparation,
           CASE WHEN i.done_by IS NOT NULL THEN {PARTS} ELSE
           MIN({PARTS}, i.credit + CASE WHEN i.units > 0 THEN MAX(0, i.progress * {PARTS} / i.units)
                                        ELSE i.success * {PARTS} END) END AS share
    FROM episodes e JOIN instances i ON i.episode_id = e.id WHERE e.run = ? AND NOT i.cut
"""
_ATTEMPT = """
    MAX(team) AS team, start, MAX(success) AS success, COALESCE(MIN(done_in), MAX(steps)) AS steps,
    MAX(share) AS share
"""
# The columns of ``PlanStatistics``.
_STATISTICS = """
    COUNT(*), SUM(success), SUM(steps), COALESCE(SUM(steps) FILTER (WHERE success), 0),
    MIN(steps) FILTER (WHERE success), MAX(steps) FILTER (WHERE success),
    MIN(start) FILTER (WHERE success), MAX(start) FILTER (WHERE success), SUM(share), SUM(team)
"""
_PLANS = f"""
    WITH counted AS ({_COUNTED}), attempts AS (
        SELECT prototype_id, lifted_id, {_ATTEMPT} FROM counted GROUP BY episode, goal, start, prototype_id, lifted_id
    ) SELECT prototype_id, lifted_id, team, {_STATISTICS} FROM attempts GROUP BY 1, 2, 3
"""
_TEAMS = f"""
    WITH counted AS ({_COUNTED}), attempts AS (
        SELECT t.task, {_ATTEMPT} FROM counted c
        JOIN prototypes p ON p.id = c.prototype_id JOIN tasks t ON t.id = p.task_id
        WHERE NOT c.is_preparation GROUP BY c.episode, t.id, c.goal, c.start
    ) SELECT task, team, {_STATISTICS} FROM attempts GROUP BY 1, 2
"""
_CAUSES = f"""
    WITH counted AS ({_COUNTED}), attempts AS (
        SELECT DISTINCT prototype_id, lifted_id, cause, episode, goal, start FROM counted
        WHERE cause != '' AND NOT is_preparation
    ) SELECT prototype_id, lifted_id, cause, COUNT(*) FROM attempts GROUP BY 1, 2, 3
"""
_PROTOTYPES = """
    SELECT p.id, t.task, p.actions FROM tasks t JOIN prototypes p ON p.task_id = t.id WHERE t.run = ?
"""
_EPISODES = "SELECT episode, completed, ticks FROM episodes WHERE run = ? AND episode <= ? ORDER BY episode"
_INSTANCES = """
    SELECT e.episode, i.agent, t.task, i.goal, a.text AS plan, l.text AS lifted, p.actions AS prototype, i.origin,
           i.start_tick AS start, i.end_tick AS "end", i.success, i.truncated, i.units, i.progress, i.team,
           i.communication, i.cause, i.cut, i.situation, i.quorum, i.credit, i.helped,
           i.done_by
    FROM episodes e
    CROSS JOIN instances i ON i.episode_id = e.id
    JOIN prototypes p ON p.id = i.prototype_id
    JOIN tasks t ON t.id = p.task_id
    JOIN plans a ON a.id = i.plan_id
    JOIN plans l ON l.id = i.lifted_id
    WHERE e.run = ? AND e.episode <= ?
    ORDER BY e.episode, i.place
"""
_OUTCOMES = """
    SELECT e.episode, t.task, o.goal, o.success, o.end_tick AS "end", o.done_order AS "order"
    FROM episodes e CROSS JOIN outcomes o ON o.episode_id = e.id JOIN tasks t ON t.id = o.task_id
    WHERE e.run = ? AND e.episode <= ?
    ORDER BY e.episode, o.place
"""
_REFLECTIONS = """
    SELECT e.episode, r.agent, r.tick, r.text FROM episodes e CROSS JOIN reflections r ON r.episode_id = e.id
    WHERE e.run = ? AND e.episode <= ? ORDER BY e.episode, r.place
"""
_LAST = 2**63 - 1

#: As ``language.prototype`` writes it.
_PROTOTYPE = re.compile(r"[a-z_][a-z0-9_]*( > [a-z_][a-z0-9_]*)*")

Value = TypeVar("Value", int, str)
Record = TypeVar("Record", PlanInstance, TaskOutcome, Reflection)

_FORMAT = Format(
    "world model",
    "memory.sqlite",
    application=0x7477_776D,  # "tw" and "wm"
    version=3,
    schema=(files("teamworld.memory") / "schema.sql").read_text("utf-8"),
)


class MemoryStore(Database):
    """The world models of all runs in one file. One connection for each process.

    Args:
        path: The file, created where there is none; its folder exists.
        readonly: Read only: a missing file is an error, ``commit`` is refused, and closing changes nothing.

    Raises:
        UserError: Not a world model, of another version, damaged, or not writable (with ``readonly``: not there).
            The file is left as it was.
    """

    def __init__(self, path: Path | str, *, readonly: bool = False) -> None:
        super().__init__(Path(path), _FORMAT, readonly=readonly)

    def commit(self, run: str, delta: MemoryDelta) -> None:
        """Store what an episode adds, in place of any earlier attempt of (run, episode).

        Raises:
            UserError: The file cannot be written; nothing of the delta is stored then.
        """
        with self.transaction() as db:
            db.execute("DELETE FROM episodes WHERE run = ? AND episode = ?", (run, delta.episode))
            cursor = db.execute(
                "INSERT INTO episodes (run, episode, completed, ticks) VALUES (?, ?, ?, ?)",
                (run, delta.episode, delta.completed, delta.ticks),
            )
            episode_id = cursor.lastrowid
            keys = {outcome.task for outcome in delta.tasks} | {instance.task for instance in delta.instances}
            tasks = _intern(db, "tasks", ("run", run), "task", keys)
            db.executemany(
                f"INSERT INTO outcomes VALUES ({', '.join('?' * 7)})",
                (
                    (episode_id, place, tasks[o.task], o.goal, o.success, o.end, o.order)
                    for place, o in enumerate(delta.tasks)
                ),
            )
            prototypes = _prototypes(db, tasks, delta.instances)
            texts = {instance.plan for instance in delta.instances} | {instance.lifted for instance in delta.instances}
            plans = _intern(db, "plans", None, "text", texts)
            db.executemany(
                f"INSERT INTO instances VALUES ({', '.join('?' * 23)})",
                (
                    (
                        *(episode_id, place, prototypes[i.task, i.prototype], i.agent, i.goal),
                        *(plans[i.plan], plans[i.lifted], i.origin, i.start, i.end, i.success, i.truncated),
                        *(i.units, i.progress, i.team, i.communication, i.cause, i.cut, i.situation, i.quorum),
                        *(i.credit, json.dumps(i.helped), i.done_by),
                    )
                    for place, i in enumerate(delta.instances)
                ),
            )
            db.executemany(
                "INSERT INTO reflections VALUES (?, ?, ?, ?, ?)",
                ((episode_id, place, r.agent, r.tick, r.text) for place, r in enumerate(delta.reflections)),
            )

    def discard(self, run: str, keep: Collection[int]) -> tuple[int, ...]:
        """Remove the deltas of a run's episodes that are not to be kept, and return which these were.

        A resumed run calls it with the episodes that have a result.
        """
        with self.transaction() as db:
            removed = tuple(sorted(set(_numbers(db, run)) - set(keep)))
            db.executemany("DELETE FROM episodes WHERE run = ? AND episode = ?", ((run, number) for number in removed))
        return removed

    def runs(self) -> tuple[str, ...]:
        """Return the names of the runs that have a delta here, in order."""
        with self.reading() as db:
            return tuple(run for (run,) in db.execute("SELECT DISTINCT run FROM episodes ORDER BY run"))

    def episodes(self, run: str) -> tuple[int, ...]:
        """Return the numbers of a run's episodes that have a delta here, in order."""
        with self.reading() as db:
            return tuple(_numbers(db, run))

    def world_model(self, run: str, ranking: Ranking = "expected") -> WorldModel:
        """Return what a run has learned so far, summed up by the database."""
        with self.reading() as db:
            names = _names(db, run)
            plans = db.execute(_PLANS, (run,)).fetchall()
            teams = db.execute(_TEAMS, (run,)).fetchall()
            causes = db.execute(_CAUSES, (run,)).fetchall()
            _check_numbers([*(row[2:] for row in plans), *(row[1:] for row in teams), *(row[3:] for row in causes)])
            texts = _texts(db, {lifted for _, lifted, *_ in plans})
            reports = [
                Reflection(agent=who, tick=t, text=text) for _, who, t, text in db.execute(_REFLECTIONS, (run, _LAST))
            ]
        rows = []
        for prototype, lifted, team, *counts in plans:
            task, actions = names[prototype]
            rows.append(PlanRow(PlanKey(task, team, texts[lifted], actions), PlanStatistics(*counts)))
        by_team = (TeamRow(task, team, PlanStatistics(*counts)) for task, team, *counts in teams)
        why = (CauseRow(names[prototype][0], texts[lifted], *rest) for prototype, lifted, *rest in causes)
        notes = recent_notes(report.text for report in reports)
        return WorldModel.from_rows(rows, by_team, why, ranking, notes, reports)

    def deltas(self, run: str, up_to: int | None = None) -> tuple[MemoryDelta, ...]:
        """Return a run's deltas by episode, as they were committed.

        Args:
            run: Name of the run.
            up_to: Number of the last episode to return; None for all.
        """
        where = (run, _LAST if up_to is None else up_to)
        with self.reading() as db:
            episodes = db.execute(_EPISODES, where).fetchall()
            _check_numbers(episodes)
            outcomes = _by_episode(db.execute(_OUTCOMES, where), TaskOutcome)
            instances = _by_episode(db.execute(_INSTANCES, where), PlanInstance)
            reflections = _by_episode(db.execute(_REFLECTIONS, where), Reflection)
        return tuple(
            MemoryDelta(
                episode=number,
                completed=bool(completed),
                ticks=ticks,
                tasks=tuple(outcomes.get(number, ())),
                instances=tuple(instances.get(number, ())),
                reflections=tuple(reflections.get(number, ())),
            )
            for number, completed, ticks in episodes
        )


def _numbers(db: sqlite3.Connection, run: str) -> Iterator[int]:
    rows = db.execute("SELECT episode FROM episodes WHERE run = ? ORDER BY episode", (run,))
    return (number for (number,) in rows)


def _names(db: sqlite3.Connection, run: str) -> dict[int, tuple[str, str]]:
    """Task and action names of each prototype of a run, by its row id."""
    names = {row: (str(task), str(actions)) for row, task, actions in db.execute(_PROTOTYPES, (run,))}
    for _, actions in names.values():
        check_prototype(actions)
    return names


def _check_numbers(rows: Iterable[Iterable[object]]) -> None:
    """See that what is counted are numbers, which a table of somebody else's need not hold: they stand in prompts."""
    for value in (value for row in rows for value in row):
        if not isinstance(value, int | None):
            raise msgspec.ValidationError(f"{brief(value)} is no count")


def check_prototype(actions: str) -> None:
    """See that a prototype is names of actions: it stands in prompts as it is."""
    if not _PROTOTYPE.fullmatch(actions):
        raise msgspec.ValidationError(f"{brief(actions)} names no actions")


def _chunks(values: Iterable[Value]) -> Iterator[list[Value]]:
    """Cut into lists that fit into one IN (...), in an order that does not depend on hashing."""
    ordered = sorted(values)
    return (ordered[at : at + _MANY] for at in range(0, len(ordered), _MANY))


def _intern(
    db: sqlite3.Connection, table: str, owner: tuple[str, str | int] | None, column: str, values: Collection[str]
) -> dict[str, int]:
    """Return the row id of each text, adding those that are new; ``owner`` is a column that all share."""
    scope = owner[1:] if owner is not None else ()
    columns, marks, where = (f"{owner[0]}, {column}", "?, ?", f"{owner[0]} = ? AND") if owner else (column, "?", "")
    ids: dict[str, int] = {}
    for chunk in _chunks(values):
        db.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", ((*scope, v) for v in chunk))
        query = f"SELECT {column}, id FROM {table} WHERE {where} {column} IN ({','.join('?' * len(chunk))})"
        ids.update(db.execute(query, (*scope, *chunk)))
    return ids


def _texts(db: sqlite3.Connection, wanted: Collection[int]) -> dict[int, str]:
    """Return plan texts by their row ids."""
    texts: dict[int, str] = {}
    for chunk in _chunks(wanted):
        texts.update(db.execute(f"SELECT id, text FROM plans WHERE id IN ({','.join('?' * len(chunk))})", chunk))
    return texts


def _prototypes(
    db: sqlite3.Connection, tasks: Mapping[str, int], instances: Iterable[PlanInstance]
) -> dict[tuple[str, str], int]:
    """Return the row id of each (task, prototype), adding those that are new."""
    names: dict[str, set[str]] = {}
    for instance in instances:
        names.setdefault(instance.task, set()).add(instance.prototype)
    return {
        (task, name): row
        for task, mine in sorted(names.items())
        for name, row in _intern(db, "prototypes", ("task_id", tasks[task]), "actions", mine).items()
    }


def _by_episode(rows: sqlite3.Cursor, kind: type[Record]) -> dict[int, list[Record]]:
    """Return records by episode, in the order of the rows, whose columns are named like the fields."""
    names = [column[0] for column in rows.description]
    records: dict[int, list[Record]] = {}
    for row in rows:
        fields = dict(zip(names, row, strict=True))
        if "helped" in fields:
            fields["helped"] = json.loads(fields["helped"])
        if "prototype" in fields:
            check_prototype(str(fields["prototype"]))
        record = msgspec.convert(fields, kind, strict=False)  # SQLite has no booleans
        records.setdefault(row[0], []).append(record)
    return records
