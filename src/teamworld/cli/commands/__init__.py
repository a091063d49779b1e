"""The commands a user types, by what they are for; importing them here makes them known to the application."""

from teamworld.cli.commands import look, play, tell
from teamworld.cli.commands.application import app

__all__ = ["app", "look", "play", "tell"]
