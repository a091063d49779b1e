"""The replay of an episode: plain data from its log, and a page that shows them without a network."""

from teamworld.viewer.build import build
from teamworld.viewer.data import Replay
from teamworld.viewer.page import page

__all__ = ["Replay", "build", "page"]
