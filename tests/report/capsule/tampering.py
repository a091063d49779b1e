"""Ways to change a capsule, each in several places; afterwards its manifest says that all of it is as it was packed.

So no digest of a member gives a change away: what finds it is the playing again, or that two members disagree.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml
import zstandard

from teamworld.errors import UserError
from teamworld.experiment.code_identity import dependencies_digest
from teamworld.experiment.registration import Registration
from teamworld.record.log import LogWriter, read_log
from teamworld.report.capsule.archive import digest_of, write_archive
from teamworld.report.capsule.rebuilt_tables import tables_of
from teamworld.report.capsule.verification import unpacked

Members = dict[str, bytes]
EXPERIMENT = "experiment.yaml"


class Tampering(NamedTuple):
    """One change of the members of a capsule."""

    name: str
    change: Callable[[Members], None]


def members_of(path: Path) -> Members:
    """Return the members of a capsule."""
    with zipfile.ZipFile(path) as source:
        return {name: source.read(name) for name in source.namelist()}


def write(path: Path, members: Members) -> None:
    """Write members as a capsule whose manifest names what they are now."""
    manifest = msgspec.json.decode(members["capsule.json"])
    manifest["files"] = {name: digest_of(data) for name, data in members.items() if name != "capsule.json"}
    write_archive(path, {**members, "capsule.json": msgspec.json.encode(manifest)})


def remake_tables(members: Members, scratch: Path) -> None:
    """Make the tables those of the other members, as who tampers carefully would; where they give none, they stay."""
    write(scratch, members)
    try:
        with unpacked(scratch) as capsule:
            made = dict(tables_of(capsule.folder, None, None, 1))
    except UserError:
        return
    for name in [name for name in members if name.startswith("tables/")]:
        del members[name]
    members.update({f"tables/{name}": data for name, data in made.items()})


# ---- reading and writing members


def unpack(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(data).read()


def lines_of(members: Members, name: str) -> list[Any]:
    data = unpack(members[name]) if name.endswith(".zst") else members[name]
    return [msgspec.json.decode(line) for line in data.splitlines()]


def put_lines(members: Members, name: str, lines: list[Any]) -> None:
    data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    members[name] = zstandard.compress(data) if name.endswith(".zst") else data


def put_log(members: Members, name: str, records: list[dict[str, Any]], scratch: Path) -> None:
    """Write a log as the package writes it, and let its row say that this is its digest."""
    path = scratch / "log.jsonl.zst"
    path.write_bytes(zstandard.compress(b"".join(msgspec.json.encode(r) + b"\n" for r in records)))
    events = list(read_log(path, whole=False))
    with LogWriter(path) as log:
        for event in events:
            log.write(event, event.step, event.tick)
        log.finish()
    members[name] = path.read_bytes()
    _, cell, file = name.split("/")
    rows = lines_of(members, "episodes.jsonl")
    for row in rows:
        if (row["cell"], row["episode"]) == (cell, int(file[:4])):
            row["digest"] = log.digest
    put_lines(members, "episodes.jsonl", rows)


def experiment_of(members: Members) -> dict[str, Any]:
    held: dict[str, Any] = yaml.safe_load(members[EXPERIMENT])
    return held


def put_experiment(members: Members, data: dict[str, Any]) -> None:
    members[EXPERIMENT] = yaml.safe_dump(data, sort_keys=False).encode()


def sealed_again(data: dict[str, Any]) -> None:
    """Make the digests of the registrations those of what they say."""
    before = ""
    for entry in data["registered"]:
        made = msgspec.convert({**entry, "digest": ""}, Registration).sealed(before)
        before = entry["digest"] = made.digest


def logs(members: Members) -> list[str]:
    return sorted(name for name in members if name.startswith("logs/"))


# ---- kinds of tampering with a run


def edited_records(members: Members, scratch: Path) -> Iterator[Tampering]:
    """A field of a record of a log says something else."""
    edits: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
        "another task": ("episode_start", lambda r: r.update(task="push harder")),
        "another seed": ("episode_start", lambda r: r.update(seed=r["seed"] + 7)),
        "another layout": ("episode_start", lambda r: r.update(world_seed=r["world_seed"] + 1)),
        "a longer horizon": ("episode_start", lambda r: r.update(horizon=r["horizon"] + 1)),
        "other code": ("episode_start", lambda r: r.update(code={**r["code"], "teamworld": "0" * 16})),
        "other packages": ("episode_start", lambda r: r.update(code={**r["code"], "dependencies": "0" * 16})),
        "another registration": ("episode_start", lambda r: r.update(registered="0" * 32)),
        "no registration": ("episode_start", lambda r: r.pop("registered")),
        "another answer": ("question", lambda r: r.update(answer={**r["answer"], "reason": "because"})),
        "a fallback": ("question", lambda r: r.update(fallback=not r.get("fallback", False))),
        "another action": ("action", lambda r: r.update(verb="wait", args=[])),
        "a later end": ("episode_end", lambda r: r.update(reason="quit" if r["reason"] != "quit" else "lost")),
    }
    kinds = {name: {record["kind"] for record in lines_of(members, name)} for name in logs(members)}
    for what, (kind, edit) in edits.items():
        for name in [name for name in kinds if kind in kinds[name]][:3]:

            def change(them: Members, kind: str = kind, edit: Callable[..., object] = edit, name: str = name) -> None:
                records = lines_of(them, name)
                edit(next(record for record in records if record["kind"] == kind))
                put_log(them, name, records, scratch)

            yield Tampering(f"log: {what} in {name}", change)


def moved_records(members: Members, scratch: Path) -> Iterator[Tampering]:
    """Records of a log are gone, twice there or in another order."""

    def dropped(records: list[Any]) -> list[Any]:
        return records[: len(records) // 2] + records[len(records) // 2 + 1 :]

    def doubled(records: list[Any]) -> list[Any]:
        return records[: len(records) // 2] + records[len(records) // 2 - 1 :]

    def cut(records: list[Any]) -> list[Any]:
        return records[:-3]

    for edit in (dropped, doubled, cut):
        for name in logs(members)[:3]:

            def change(them: Members, edit: Callable[[list[Any]], list[Any]] = edit, name: str = name) -> None:
                records = [dict(record) for record in edit(lines_of(them, name))]
                for number, record in enumerate(records):
                    record["seq"] = number
                put_log(them, name, records, scratch)

            yield Tampering(f"log: {edit.__name__} in {name}", change)


def swapped_logs(members: Members) -> Iterator[Tampering]:
    """A log stands in the place of another, and so do the rows, or not."""
    names = logs(members)
    for first, second in pairwise(names):

        def change(them: Members, first: str = first, second: str = second) -> None:
            them[first], them[second] = them[second], them[first]

        yield Tampering(f"swapped logs {first} {second}", change)

    def with_rows(them: Members) -> None:
        change(them)
        rows = lines_of(them, "episodes.jsonl")
        for name in ("digest", "summary"):
            rows[-1][name], rows[-2][name] = rows[-2][name], rows[-1][name]
        put_lines(them, "episodes.jsonl", rows)

    yield Tampering("swapped logs and rows", with_rows)


def edited_rows(members: Members) -> Iterator[Tampering]:
    """A row of the results says something else."""
    edits: dict[str, Callable[[dict[str, Any]], object]] = {
        "completion": lambda r: r["summary"].update(completion=1.0 - r["summary"]["completion"] / 2),
        "success": lambda r: r["summary"].update(success=not r["summary"]["success"]),
        "steps": lambda r: r["summary"].update(steps=r["summary"]["steps"] - 1),
        "reward": lambda r: r["summary"].update(reward=r["summary"]["reward"] + 1),
        "messages": lambda r: r["summary"].update(messages=r["summary"]["messages"] + 1),
        "digest": lambda r: r.update(digest="0" * 32),
        "seed": lambda r: r.update(seed=r["seed"] + 1),
        "method": lambda r: r.update(method="greedy"),
        "cell": lambda r: r.update(cell="greedy-s0"),
        "number": lambda r: r.update(episode=r["episode"] + 9),
    }
    for what, edit in edits.items():
        for at in (0, 3, -1):

            def change(them: Members, edit: Callable[..., object] = edit, at: int = at) -> None:
                rows = lines_of(them, "episodes.jsonl")
                edit(rows[at])
                put_lines(them, "episodes.jsonl", rows)

            yield Tampering(f"row {at}: {what}", change)


def dropped_parts(members: Members) -> Iterator[Tampering]:
    """A seed, a method or an episode is left out, more and more carefully."""

    def drop(them: Members, field: str, value: object, care: int) -> None:
        rows = [row for row in lines_of(them, "episodes.jsonl") if row[field] != value]
        put_lines(them, "episodes.jsonl", rows)
        held = {f"logs/{row['cell']}/{row['episode']:04d}.jsonl.zst" for row in rows}
        for name in logs(them):
            if name not in held:
                del them[name]
        data, name = experiment_of(them), {"seed": "seeds", "method": "methods", "episode": "episodes"}[field]
        for place in (data, *data["registered"])[: max(0, care)]:
            if field == "episode":
                place["episodes"] -= 1
            else:
                place[name].remove(value)
        if care > 1:
            sealed_again(data)
        put_experiment(them, data)

    for field, values in (("seed", (0, 1, 2)), ("method", ("drwell", "zero_shot")), ("episode", (2,))):
        for value in values:
            for care in (0, 1, 2):

                def change(them: Members, field: str = field, value: object = value, care: int = care) -> None:
                    drop(them, field, value, care)

                yield Tampering(f"dropped {field} {value}, care {care}", change)


def added_episodes(members: Members) -> Iterator[Tampering]:
    """An episode that is a copy of another stands beside the rest."""
    for name in logs(members)[:4]:
        for registered in (False, True):

            def change(them: Members, name: str = name, registered: bool = registered) -> None:
                _, cell, _ = name.split("/")
                them[f"logs/{cell}/0003.jsonl.zst"] = them[name]
                rows = lines_of(them, "episodes.jsonl")
                rows.append(next(row for row in rows if row["cell"] == cell) | {"episode": 3})
                put_lines(them, "episodes.jsonl", rows)
                if registered:
                    data = experiment_of(them)
                    data["episodes"] = data["registered"][0]["episodes"] = 3
                    sealed_again(data)
                    put_experiment(them, data)

            yield Tampering(f"added a copy of {name}{', registered' if registered else ''}", change)
    yield Tampering("added a log", lambda them: them.update({"logs/drwell-s0/0009.jsonl.zst": them[logs(them)[0]]}))
    yield Tampering("added a cell", lambda them: them.update({"logs/drwell-s9/0001.jsonl.zst": them[logs(them)[0]]}))
    yield Tampering("added a file", lambda them: them.update({"notes.txt": b"all is well"}))


def changed_rules(members: Members) -> Iterator[Tampering]:
    """The experiment says that it was played by other rules, with its registration made to fit or not."""
    edits: dict[str, Callable[[dict[str, Any]], object]] = {
        "steps": lambda data: data.update(max_steps=data["max_steps"] + 1),
        "level": lambda data: data.update(level="n2"),
        "noise": lambda data: data.update(reasoner="rules:noise=0.1"),
        "rules": lambda data: data.update(reasoner="rules"),
        "retries": lambda data: data.update(retries=data["retries"] + 1),
        "instances": lambda data: data.update(instances="fresh"),
        "log level": lambda data: data.update(log_level="beliefs"),
        "world": lambda data: data["options"]["cube"].update(step_cost=0.5),
        "method": lambda data: data["options"]["drwell"].update(explore=1),
        "messages": lambda data: data["options"].setdefault("messages", {}).update(loss=0.9),
        "python": lambda data: data["versions"].update(python="3.99"),
        "prompts": lambda data: next(iter(data["prompts"].values())).update(hash="0" * 16),
        "settings": lambda data: data["registered"][0].update(settings="0" * 32),
        "finished": lambda data: data["registered"][0].update(finished=5),
    }
    for what, edit in edits.items():
        for is_sealed in (False, True):

            def change(them: Members, edit: Callable[..., object] = edit, is_sealed: bool = is_sealed) -> None:
                data = experiment_of(them)
                edit(data)
                if is_sealed:
                    sealed_again(data)
                put_experiment(them, data)

            yield Tampering(f"changed rule: {what}{', sealed again' if is_sealed else ''}", change)


def other_locks(members: Members) -> Iterator[Tampering]:
    """The experiment says that it was played with other packages or other code."""
    (packages,) = experiment_of(members)["packages"].values()
    for at in range(0, len(packages), 3):
        for is_fitting in (False, True):

            def change(them: Members, at: int = at, is_fitting: bool = is_fitting) -> None:
                data = experiment_of(them)
                (lines,) = data["packages"].values()
                lines[at] = f"{lines[at].partition('==')[0]}==99.0"
                if is_fitting:
                    data["packages"] = {dependencies_digest(lines): lines}
                    data["code"][0]["dependencies"] = dependencies_digest(lines)
                put_experiment(them, data)

            yield Tampering(f"other lock: {packages[at]}{', its digest fitting' if is_fitting else ''}", change)

    def without(name: str) -> Callable[[Members], None]:
        return lambda them: put_experiment(them, {k: v for k, v in experiment_of(them).items() if k != name})

    yield from (Tampering(f"without {name}", without(name)) for name in ("packages", "registered", "code"))

    def code(them: Members) -> None:
        data = experiment_of(them)
        data["code"][0]["teamworld"] = "0" * 16
        put_experiment(them, data)

    yield Tampering("other code", code)


def edited_tables(members: Members) -> Iterator[Tampering]:
    """A table says something else than the record."""

    def another_digit(text: bytes) -> bytes:
        at = max(i for i, char in enumerate(text) if chr(char).isdigit())
        return text[:at] + (b"7" if text[at : at + 1] != b"7" else b"8") + text[at + 1 :]

    edits: dict[str, Callable[[bytes], bytes]] = {
        "a digit": another_digit,
        "no last line": lambda text: b"\n".join(text.split(b"\n")[:-2]) + b"\n",
        "a line more": lambda text: text + text.split(b"\n")[-2] + b"\n",
        "other ends of lines": lambda text: text.replace(b"\n", b"\r\n"),
        "empty": lambda text: b"",
    }
    for name in sorted(name for name in members if name.startswith("tables/")):
        for what, edit in edits.items():

            def change(them: Members, name: str = name, edit: Callable[[bytes], bytes] = edit) -> None:
                them[name] = edit(them[name])

            yield Tampering(f"{name}: {what}", change)
        yield Tampering(f"{name}: gone", lambda them, name=name: them.pop(name) and None)  # type: ignore[misc]
    yield Tampering("another table", lambda them: them.update({"tables/best.md": b"| we |\n"}))


def edited_calls(members: Members) -> Iterator[Tampering]:
    """What a model is said to have been asked, to have answered or to have cost is something else."""
    names = sorted(name for name in members if name.startswith("calls/"))
    edits: dict[str, Callable[[list[Any], int], object]] = {
        "answer": lambda calls, at: _answer(calls[at], reason="I am sure."),
        "question": lambda calls, at: calls[at]["record"]["request"]["turns"][-1].update(text="What now?"),
        "temperature": lambda calls, at: calls[at]["record"]["request"].update(temperature=1.5),
        "tokens": lambda calls, at: calls[at]["record"]["completion"]["usage"].update(prompt=1),
        "output": lambda calls, at: calls[at]["record"]["completion"]["usage"].update(output=1),
        "seconds": lambda calls, at: calls[at]["record"].update(seconds=1000.0),
        "model": lambda calls, at: calls[at]["record"]["request"].update(model="openai:gpt-9"),
        "respondent": lambda calls, at: calls[at]["key"].__setitem__(0, "agent_9"),
        "attempt": lambda calls, at: calls[at]["key"].__setitem__(3, 5),
        "finish": lambda calls, at: calls[at]["record"]["completion"].update(finish="refused"),
        "gone": lambda calls, at: calls.pop(at),
        "one more": lambda calls, at: calls.append(calls[at] | {"key": [*calls[at]["key"][:2], 99, 0]}),
    }
    for name in names:
        for what, edit in edits.items():
            for at in (0, -1):

                def change(them: Members, name: str = name, edit: Callable[..., object] = edit, at: int = at) -> None:
                    calls = lines_of(them, name)
                    edit(calls, at)
                    put_lines(them, name, calls)

                yield Tampering(f"{name} {at}: {what}", change)


def _answer(call: dict[str, Any], **fields: object) -> None:
    done = call["record"]["completion"]
    answer = msgspec.json.decode(done["text"])
    done["text"] = msgspec.json.encode({**answer, **fields}).decode()


def changed_plans(members: Members) -> Iterator[Tampering]:
    """The plan of a comparison says that something else was to be compared, or runs are gone."""
    edits: dict[str, Callable[[dict[str, Any]], object]] = {
        "fewer seeds": lambda plan: plan["seeds"].pop(),
        "more seeds": lambda plan: plan["seeds"].append(7),
        "fewer methods": lambda plan: plan["methods"].pop(),
        "level": lambda plan: plan.update(level="n2"),
        "steps": lambda plan: plan.update(max_steps=9),
        "retries": lambda plan: plan.update(retries=1),
        "reasoner": lambda plan: plan.update(reasoner="rules:noise=0.5"),
    }
    for what, edit in edits.items():

        def change(them: Members, edit: Callable[..., object] = edit) -> None:
            plan = yaml.safe_load(them["comparison.yaml"])
            edit(plan)
            them["comparison.yaml"] = yaml.safe_dump(plan).encode()

        yield Tampering(f"changed plan: {what}", change)

    def without(place: str) -> Callable[[Members], None]:
        def change(them: Members) -> None:
            for name in [name for name in them if name.startswith(place)]:
                del them[name]

        return change

    yield from (Tampering(f"without {place}", without(place)) for place in ("run/", "silent/", "comparison.yaml"))
