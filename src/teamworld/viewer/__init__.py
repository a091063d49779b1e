"""The replay of an episode: plain data from its log, and a page that shows them without a network."""

from teamworld.viewer.html_export import page
from teamworld.viewer.replay_data import build
from teamworld.viewer.replay_types import Replay

__all__ = ["Replay", "build", "page"]
