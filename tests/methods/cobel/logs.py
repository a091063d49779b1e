"""Episodes at the log level ``beliefs``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from teamworld.episode.loop import Episode, Setting
from teamworld.experiment import message_protocol
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Event, LogWriter
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario


def beliefs(label: str, stage: Scenario, folder: Path) -> Sequence[Event]:
    """Play an episode and return its log."""

    def streams(*names: str | int) -> np.random.Generator:
        return generator(stage.seed, *names)

    options = methods.resolve(label, {}).model_dump(mode="json")
    rule = message_protocol.rule(label, "native", {})
    setting = Setting(stage.seed, stage.seed, 1, options, rule, log_level="beliefs")
    with LogWriter(folder / "log.jsonl.zst") as log:
        method = methods.make(label, options)
        episode = Episode(stage.make(), method, RuleReasoner(streams), WorldModel(), log, streams, setting)
        asyncio.run(episode.play())
        log.finish()
        return tuple(log.events)
