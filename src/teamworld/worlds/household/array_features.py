"""What an agent sees as numbers, and which actions it knows to be possible: the arrays of the PettingZoo face.

A row stands for one node: the rooms first, then what the task is about (containers that are searched, things and
furniture of the goal's classes), each by id. What an agent does not see now is a row of zeros but for ``known``, so
nothing in its arrays depends on what is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import cos, radians, sin
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from teamworld.errors import UserError
from teamworld.worlds.household import physics, sight
from teamworld.worlds.household.homes.home import FAR, REACH, SEARCHED, Box, Episode, NodeId, Relation, can_be
from teamworld.worlds.household.interaction_points import SWINGS
from teamworld.worlds.household.physics import PrimitiveAction
from teamworld.worlds.household.state import BODY, Place

if TYPE_CHECKING:
    from teamworld.worlds.household.state import AgentId, State

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

#: Rows for nodes, and places for predicates of the goal; homes of our own take up to 31 and 5.
ROWS, NEEDS = 48, 6
#: Of the agent itself: metres, its heading, the share of the steps that is gone, and of its hands that are full.
OWN: Final = ("x", "z", "sin_heading", "cos_heading", "time", "hands")
#: Of each mate, by id; all 0 while it is not seen.
TEAMMATE: Final = ("seen", "x", "z", "sin_heading", "cos_heading", "hands")
#: Of each predicate of the goal: things asked for, and whether they go INSIDE the target.
NEED: Final = ("number", "inside")
#: Of each node: flags are 0 or 1; x and z are metres; ``parent`` is (row + 1) / ROWS of what it is in or on, 0 for none
#: that has a row; ``here`` means in the agent's room; ``need_k`` that it is of the class, ``target`` that of the goal.
FEATURES: Final = (
    "seen", "known", "room", "container", "target", "thing", "open", "x", "z", "close", "right_hand", "left_hand",
    "held_by_mate", "inside", "parent", "here", *(f"need_{k}" for k in range(NEEDS)), *SEARCHED,
)  # fmt: skip
#: Actions before those that name a row, and what can be done with a row: ``wait``, ``turnleft``, ``turnright``, then
#: ROWS of each of these.
PLAIN: Final = ("wait", "turnleft", "turnright")
ON_ROWS: Final = ("go", "open", "grab", "put")
ACTIONS: Final = len(PLAIN) + len(ON_ROWS) * ROWS

_AT: Final = {name: place for place, name in enumerate(FEATURES)}
_KNOWN, _OPEN, _CLOSE, _HERE = (_AT[name] for name in ("known", "open", "close", "here"))


def length(agents: int) -> int:
    """Return the numbers of an observation in a team of so many."""
    return len(OWN) + NEEDS * len(NEED) + (agents - 1) * len(TEAMMATE) + ROWS * len(FEATURES)


def field_names(agents: int) -> tuple[str, ...]:
    """Return what each number of an observation is called in a team of so many."""
    parts: list[tuple[str, tuple[str, ...]]] = [(f"need_{k}", NEED) for k in range(NEEDS)]
    parts += [(f"teammate_{k}", TEAMMATE) for k in range(agents - 1)]
    parts += [(f"node_{k}", FEATURES) for k in range(ROWS)]
    return (*OWN, *(f"{part}_{name}" for part, names in parts for name in names))


def nodes_of(observation: Floats) -> Floats:
    """Return the rows of nodes in an observation: (ROWS, len(FEATURES)), a view."""
    return observation[-ROWS * len(FEATURES) :].reshape(ROWS, len(FEATURES))


class Table:
    """The rows of an episode.

    Raises:
        UserError: If it has more nodes or predicates than there are places.
    """

    def __init__(self, episode: Episode) -> None:
        home = episode.home
        names = [need.name for need in episode.needs]
        targets = {need.target for need in episode.needs}
        classes = {*SEARCHED, *names, *(home.nodes[target].name for target in targets)}
        watched = [node.id for node in home.nodes.values() if node.name in classes]
        #: The node of each row.
        self.nodes: tuple[NodeId, ...] = (*home.rooms, *watched)
        #: The row of each node.
        self.row = {node: row for row, node in enumerate(self.nodes)}
        self._mine = frozenset(self.nodes)
        if len(self.nodes) > ROWS or len(names) > NEEDS:
            raise UserError(
                f"{episode.name}: the array face has {ROWS} rows for nodes and {NEEDS} for the goal, got "
                f"{len(self.nodes)} and {len(names)}: play it as a world"
            )
        self._relation: dict[NodeId, Relation] = {need.target: need.relation for need in episode.needs}
        self._steps = episode.steps
        self._wanted = np.zeros((NEEDS, len(NEED)), np.float32)
        for k, need in enumerate(episode.needs):
            self._wanted[k] = need.number, need.relation == "INSIDE"
        self._boxes = np.array([_flat(home.nodes[node].box) for node in self.nodes])
        self._rooms = np.array([home.room[node] for node in self.nodes])
        lying = {node: home.nodes[home.parent[node][1]] for node in watched if node in home.parent}
        self._swinging = frozenset(node for node in self.nodes if home.nodes[node].name in SWINGS)
        self._loose = frozenset(
            node for node in watched if home.nodes[node].grabbable or (node in lying and lying[node].grabbable)
        )
        self._never = np.array([not can_be(home.nodes[node]) for node in self.nodes])
        self._fixed = np.zeros((len(self.nodes), len(FEATURES)), np.float32)
        for row, number in enumerate(self.nodes):
            node = home.nodes[number]
            features = {
                "seen": 1, "known": 1, "room": number in home.rooms, "container": node.name in SEARCHED,
                "target": number in targets, "thing": node.grabbable, "x": node.box.x, "z": node.box.z,
            }  # fmt: skip
            if node.name in names:
                features[f"need_{names.index(node.name)}"] = 1
            if node.name in SEARCHED:
                features[node.name] = 1
            if number in home.parent:
                features |= self._placed(home.parent[number], home.rooms)
            for name, value in features.items():
                self._fixed[row, _AT[name]] = value

    def look(self, state: State, agent: AgentId) -> tuple[Floats, Mask]:
        """Return what an agent sees, and which actions it knows to be possible.

        Returns:
            ``length`` numbers: OWN, NEEDS x NEED, teammates x TEAMMATE, ROWS x FEATURES. And (ACTIONS,) int8, 1 or 0:
            the agent knows where it can go, to what it sees or saw; what in sight it can open, grab or put on.
        """
        view = sight.view(state, agent)
        out = np.zeros(length(len(state.points)), np.float32)
        out[: len(OWN)] = self._own(state, agent)
        at = len(OWN) + self._wanted.size
        out[len(OWN) : at] = self._wanted.reshape(-1)
        for teammate in state.points:
            if teammate != agent:
                if teammate in view:
                    x, z, right, ahead, _, hands = self._own(state, teammate)
                    out[at : at + len(TEAMMATE)] = 1.0, x, z, right, ahead, hands
                at += len(TEAMMATE)
        rows = nodes_of(out)
        known = [self.row[node] for node in state.known[agent] & self._mine]
        rows[known, _KNOWN] = 1.0
        nodes = list(view & self._mine)
        self._fill(state, agent, nodes, rows)
        close, handled = self._close(state, agent, nodes, (REACH, REACH + physics.TOLERANCE))
        rows[[self.row[node] for node in close], _CLOSE] = 1.0
        return out, self._mask(state, agent, known, handled if state.rules.mode == "strict" else nodes)

    def truth(self, state: State) -> Floats:
        """Return the whole moment: OWN of each agent, then ROWS x FEATURES as if all were seen, by nobody."""
        own = [self._own(state, agent) for agent in state.points]
        rows = np.zeros((ROWS, len(FEATURES)), np.float32)
        self._fill(state, None, self.nodes, rows)
        return np.concatenate([np.array(own, np.float32).reshape(-1), rows.reshape(-1)])

    def _own(self, state: State, agent: AgentId) -> tuple[float, float, float, float, float, float]:
        at, ahead = state.points[agent], radians(state.headings[agent])
        return at.x, at.z, sin(ahead), cos(ahead), state.time / self._steps, len(state.hands[agent].things) / 2

    def _fill(
        self, state: State, agent: AgentId | None, nodes: list[NodeId] | tuple[NodeId, ...], rows: Floats
    ) -> None:
        """Write the rows of some nodes."""
        seen = [self.row[node] for node in nodes]
        rows[seen] = self._fixed[seen]
        rows[[self.row[node] for node in state.opened.intersection(nodes)], _OPEN] = 1.0
        room = None if agent is None else state.rooms[agent]
        rows[seen, _HERE] = self._rooms[seen] == room if agent is not None else 0.0
        for node in self._loose.intersection(nodes):
            k, box, holder, place = self.row[node], state.box(node), state.holder.get(node), state.place(node)
            values: dict[str, float] = {"x": box.x, "z": box.z, "inside": 0.0, "parent": 0.0}
            if agent is not None:
                values["here"] = state.room(node) == room
            if holder is not None:
                hand = "right_hand" if state.hands[holder].right == node else "left_hand"
                values[hand if agent in (None, holder) else "held_by_mate"] = 1.0
            elif place is not None:
                values |= self._placed(place, state.home.rooms)
            for name, value in values.items():
                rows[k, _AT[name]] = value

    def _placed(self, place: Place, rooms: Collection[NodeId]) -> dict[str, float]:
        """Return what is told of where a node lies."""
        return {
            "inside": place[0] == "INSIDE" and place[1] not in rooms,
            "parent": (self.row.get(place[1], -1) + 1) / ROWS,
        }

    def _close(self, state: State, agent: AgentId, nodes: list[NodeId], reaches: Sequence[float]) -> list[list[NodeId]]:
        """Return for each distance which of some nodes are as near as CLOSE demands: ``State.close`` at once."""
        seen = [self.row[node] for node in nodes]
        x, z, width, depth = self._boxes[seen].T
        swung = state.opened & self._swinging
        for k, node in enumerate(nodes):
            if node in self._loose or node in swung:
                x[k], z[k], width[k], depth[k] = _flat(state.reached_box(node))
        at = state.points[agent]
        across, along = abs(at.x - x), abs(at.z - z)
        away = np.full(len(nodes), np.inf)
        for wide, deep in ((width, depth), (BODY[0], BODY[2])):
            right, ahead = np.maximum(across - wide / 2, 0.0), np.maximum(along - deep / 2, 0.0)
            away = np.minimum(away, right * right + ahead * ahead)
        away[(across * across + along * along > FAR * FAR) | self._never[seen]] = np.inf
        places = {node: self._searched(state, node) for node in self._loose.intersection(nodes)}
        near = []
        for reach in reaches:
            close = [nodes[k] for k in np.flatnonzero(away <= reach * reach).tolist()]
            more = [node for node, container in places.items() if container in close and node not in close]
            near.append(close + more)
        return near

    def _searched(self, state: State, node: NodeId) -> NodeId | None:
        """Return the container that is searched in which a node lies directly, if it does."""
        place = state.place(node)
        inside = place is not None and place[0] == "INSIDE" and state.home.nodes[place[1]].name in SEARCHED
        return place[1] if place is not None and inside else None

    def _mask(self, state: State, agent: AgentId, known: list[int], nodes: list[NodeId]) -> Mask:
        """Return which actions are known to be possible, those with things within reach being about ``nodes``."""
        mask = np.zeros(ACTIONS, np.int8)
        mask[0] = 1
        mask[1 : len(PLAIN)] = state.rules.sight == "cone"
        hands = state.hands[agent]
        go, open_, grab, put = mask[len(PLAIN) :].reshape(len(ON_ROWS), ROWS)
        go[known] = 1
        go[[self.row[thing] for thing in hands.things if thing in self.row]] = 0
        for node in nodes:
            row, kind = self.row[node], state.home.nodes[node]
            if node in state.holder:
                continue
            if kind.grabbable and hands.free:
                grab[row] = not physics.refusal(state, agent, PrimitiveAction("grab", node))
            if kind.opens and hands.free and node not in state.opened:
                open_[row] = not physics.refusal(state, agent, PrimitiveAction("open", node))
            if hands.things and (kind.container or kind.surface):
                put[row] = not physics.refusal(state, agent, self._put(state, agent, node))
        return mask

    def act(self, state: State, agent: AgentId, action: int) -> PrimitiveAction:
        """Return what an action means now; what names a row without a node is refused as unknown."""
        if action < len(PLAIN):
            return PrimitiveAction(("wait", "turnleft", "turnright")[action])
        verb, row = divmod(action - len(PLAIN), ROWS)
        node = self.nodes[row] if row < len(self.nodes) else 0
        if ON_ROWS[verb] == "put":
            return self._put(state, agent, node)
        return PrimitiveAction(("walktowards", "open", "grab")[verb], node)

    def _put(self, state: State, agent: AgentId, onto: NodeId) -> PrimitiveAction:
        """Return how the thing in the right hand, or else the left one, is put in or on something."""
        held = state.hands[agent].things
        kind = state.home.nodes.get(onto)
        inside = kind is not None and kind.container and kind.opens
        relation = self._relation.get(onto, "INSIDE" if inside else "ON")
        return PrimitiveAction("putin" if relation == "INSIDE" else "putback", held[0] if held else 0, onto)


def _flat(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.z, box.width, box.depth
