"""Reflections: what agents told the team when they revised their plans, read from the log."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.memory.contract import Reflection
from teamworld.memory.notes import MOST, clean_note, note_key
from teamworld.methods.drwell.questions import Reflect
from teamworld.record import Event, QuestionAsked

#: Kinds of questions whose answers may hold a note; logs of earlier versions have the first.
_KINDS = ("drwell.revise", Reflect.kind)


def reflections(log: Iterable[Event]) -> tuple[Reflection, ...]:
    """Return what an episode adds to the shared notes: its newest notes, each once, in the order of telling."""
    notes: dict[str, Reflection] = {}
    for event in log:
        if isinstance(event, QuestionAsked) and event.purpose in _KINDS and not event.fallback:
            text = clean_note(str(event.answer.get("reflection", "")))
            if key := note_key(text):
                notes.pop(key, None)  # said again, it counts as new
                notes[key] = Reflection(agent=event.agent, tick=event.tick, text=text)
    return tuple(notes.values())[-MOST:]
