"""What a run set out to play, registered before its first call: a seed that is left out later is missed.

The first record of every log holds the digest of the registration that was in force when the episode began. A run that
grows registers anew, and each registration names the one before: seeds that were added after a look at the results
show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from teamworld.experiment.spec import ExperimentSpec

#: Fields of an experiment of which a run may get more.
GROWING: Final = frozenset({"methods", "seeds", "episodes", "allowances"})
#: Options that name files: trained networks, homes, scenes, maps.
FILES: Final = frozenset({"file", "data", "map_file"})


class Registration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run was to play, from some episode on."""

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    episodes: int
    """Of each method with each seed."""
    settings: str
    """Digest (BLAKE2) of all else that decides how these methods play, see ``what_decides``."""
    finished: int = 0
    """Episodes of the run that were finished before, and could be looked at."""
    digest: str = ""
    """Of all of this and of the registration before."""

    def sealed(self, before: str) -> Registration:
        """Return it with its digest, which follows that of the one before (empty for the first)."""
        fields = msgspec.to_builtins(msgspec.structs.replace(self, digest=before))
        return msgspec.structs.replace(self, digest=_digest(fields))


def what_decides(experiment: ExperimentSpec, methods: Iterable[str]) -> dict[str, object]:
    """Return by name what decides how some methods play, however many cells and episodes there are."""
    fields = experiment.model_dump(exclude={*GROWING, "options", "talk"})
    owners = {owner: experiment.options[owner] for owner in (experiment.world, *methods)}
    rules = {method: experiment.message_rule(method).model_dump() for method in methods}
    return (
        fields
        | {f"{owner}.{name}": value for owner, values in owners.items() for name, value in values.items()}
        | {f"messages.{name} of {owner}": value for owner, rule in rules.items() for name, value in rule.items()}
    )


def settings_digest(experiment: ExperimentSpec, methods: Sequence[str], versions: Mapping[str, str]) -> str:
    """Return the digest of what decides how some methods of a resolved experiment play, and on which versions.

    Of a file it holds only that one was named: its path is of one machine, and the logs name it by what it holds.
    """
    fields = what_decides(experiment, sorted(methods))
    named = {name: value is not None for name, value in fields.items() if name.rpartition(".")[2] in FILES}
    return _digest([fields | named, versions])


def register(
    held: Sequence[Registration], experiment: ExperimentSpec, versions: Mapping[str, str], finished: int
) -> tuple[Registration, ...]:
    """Return the registrations of a run, with one more where the experiment goes beyond the last.

    Args:
        held: Those that it has.
        experiment: What is to be played from now on, resolved.
        versions: Of this package and of Python, when the run began.
        finished: How many episodes of the run are finished.
    """
    last = held[-1] if held else None
    if last is not None and _size(last) == _size(experiment):
        return tuple(held)
    entry = Registration(
        methods=experiment.methods,
        seeds=experiment.seeds,
        episodes=experiment.episodes,
        settings=settings_digest(experiment, experiment.methods, versions),
        finished=finished,
    )
    return (*held, entry.sealed(last.digest if last is not None else ""))


def _size(plan: Registration | ExperimentSpec) -> tuple[frozenset[str], frozenset[int], int]:
    return frozenset(plan.methods), frozenset(plan.seeds), plan.episodes


def _digest(data: object) -> str:
    return hashlib.blake2b(msgspec.json.encode(data, order="deterministic", enc_hook=str), digest_size=16).hexdigest()
