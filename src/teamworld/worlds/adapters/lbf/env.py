"""The bare package as a PettingZoo environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from teamworld.worlds.adapters.gymnasium_team import GymnasiumTeam, make_registered
from teamworld.worlds.adapters.package import check_limit

#: The package that is wrapped.
PACKAGE = "lbforaging"


class LbfEnv(GymnasiumTeam):
    """Level-based foraging. Observations and rewards are the package's own, see ``docs/reference/worlds/lbf.md``.

    Where foragers see only part of the field, positions in observations are relative and players unnamed: infos say
    where the agent is (``position``) and whom it sees, in the order of its observation (``seen``).
    """

    def observe(self) -> Sequence[Any]:
        """Return what each forager observes now."""
        return tuple(self.env.test_make_gym_obs())

    def infos(self) -> Sequence[dict[str, Any]]:
        """Return where each agent is and whom it sees; nothing where observations say so."""
        env = self.env
        if env.sight >= max(env.field_size):
            return [{} for _ in env.players]
        places = [player.position for player in env.players]
        return [
            {"position": (int(at[0]), int(at[1])), "seen": self._list_seen(number, places)}
            for number, at in enumerate(places)
        ]

    def _list_seen(self, number: int, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return the teammates that an observation holds: the package's window, which is wider at the borders."""
        sight, (row, col) = self.env.sight, places[number]
        top, left = row - min(sight, row), col - min(sight, col)
        return [
            self.possible_agents[other]
            for other, (r, c) in enumerate(places)
            if other != number and 0 <= r - top <= 2 * sight and 0 <= c - left <= 2 * sight
        ]


def parallel_env(
    level: str,
    max_steps: int | None = None,
    edit: Callable[[Any], None] | None = None,
    *,
    agent_indicator: bool = False,
) -> LbfEnv:
    """Return the PettingZoo environment of a level.

    Args:
        level: A name that the package registers: ``Foraging-8x8-2p-1f-v3``.
        max_steps: Steps after which an episode ends; the level's own if None.
        edit: See ``GymnasiumTeam``.
        agent_indicator: End each observation with a number for each agent, 1 for the agent itself.

    Raises:
        UserError: A package is not installed, there is no such level, or the limit is below 1.
    """
    check_limit(max_steps)
    settings = {} if max_steps is None else {"max_episode_steps": max_steps}
    return LbfEnv(make_registered(PACKAGE, level, **settings), f"lbf-{level}", edit, agent_indicator)
