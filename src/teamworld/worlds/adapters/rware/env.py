"""The bare package as a PettingZoo environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from teamworld.language import Cell
from teamworld.worlds.adapters.gymnasium_team import GymnasiumTeam, make_registered
from teamworld.worlds.adapters.package import check_limit

#: The package that is wrapped.
PACKAGE = "rware"


class RwareEnv(GymnasiumTeam):
    """The robotic warehouse. Observations and rewards are the package's own, see ``docs/reference/worlds/rware.md``.

    The package requests shelves without end and does not tell one request from the next. Here requests are numbered in
    their order, and infos name what an observation shows without a name: the robots in the sensor's window, from left
    to right and from top to bottom (``seen``), and requested shelves there (``orders``: the number and the shelf's own
    slot by the cell that it is at now). Cells are (row, column).
    """

    def __init__(
        self,
        env: Any,  # noqa: ANN401  (the package is not typed)
        name: str,
        edit: Callable[[Any], None] | None = None,
        agent_indicator: bool = False,
    ) -> None:
        super().__init__(env, name, edit, agent_indicator)
        self.slots: dict[int, Cell] = {}
        """The slot of each shelf, by the package's number."""
        self.orders: list[int] = []
        """The shelf of each request, in the order in which they were made."""
        self.waiting: list[int] = []
        """The numbers of the requests that are not delivered, in the package's order."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode, see ``GymnasiumTeam.reset``."""
        self.orders, self.waiting, self.slots = [], [], {}
        return super().reset(seed, options)

    def observe(self) -> Sequence[Any]:
        """Return what each robot observes now."""
        return tuple(self.env._make_obs(robot) for robot in self.env.agents)

    def infos(self) -> Sequence[dict[str, Any]]:
        """Return whom each robot sees, and the numbers of the requested shelves that it sees."""
        env = self.env
        if not self.slots:
            self.slots = {shelf.id: (int(shelf.y), int(shelf.x)) for shelf in env.shelfs}
        self._number_requests()
        reach = env.sensor_range
        robots = sorted((robot.y, robot.x, name) for robot, name in zip(env.agents, self.possible_agents, strict=True))
        shelves = list(zip(env.request_queue, self.waiting, strict=True))
        return [
            {
                "seen": [n for y, x, n in robots if abs(y - robot.y) <= reach and abs(x - robot.x) <= reach],
                "orders": {
                    (int(shelf.y), int(shelf.x)): (number, self.slots[shelf.id])
                    for shelf, number in shelves
                    if abs(shelf.y - robot.y) <= reach and abs(shelf.x - robot.x) <= reach
                },
            }
            for robot in env.agents
        ]

    def _number_requests(self) -> None:
        """Number the requests that are new: the package puts them in the place of those that were delivered."""
        for place, shelf in enumerate(self.env.request_queue):
            if place == len(self.waiting):
                self.waiting.append(-1)
            if self.waiting[place] < 0 or self.orders[self.waiting[place]] != shelf.id:
                self.waiting[place] = len(self.orders)
                self.orders.append(shelf.id)


def parallel_env(
    level: str,
    max_steps: int | None = None,
    edit: Callable[[Any], None] | None = None,
    *,
    agent_indicator: bool = False,
) -> RwareEnv:
    """Return the PettingZoo environment of a level.

    Args:
        level: A name that the package registers: ``rware-tiny-2ag-v2``.
        max_steps: Steps after which an episode ends; the level's own if None.
        edit: See ``GymnasiumTeam``.
        agent_indicator: End each observation with a number for each agent, 1 for the agent itself.

    Raises:
        UserError: A package is not installed, there is no such level, or the limit is below 1.
    """
    check_limit(max_steps)
    settings = {} if max_steps is None else {"max_steps": max_steps}
    return RwareEnv(make_registered(PACKAGE, level, **settings), level, edit, agent_indicator)
