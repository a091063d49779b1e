"""One step of a home: what everybody tries, in order, with what keeps it from happening.

Each agent does one thing a step; agent 1 goes first. In ``strict`` mode an agent handles what it sees and is CLOSE to,
as the agents of the reference do by themselves, give or take :data:`TOLERANCE`; in ``engine`` mode it may do so from
anywhere. Then it stands where the engine would put it: opening and putting back where walks to the furniture end,
taking and putting in where it was, unless that is too far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import dist
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.household import sight
from teamworld.worlds.household.homes.home import MOST_AGENTS, SEARCHED, Box, Episode, NodeId, Point, close
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import EMPTY, AgentId, Rules, State, body

Verb: TypeAlias = Literal[
    "walktowards", "grab", "open", "close", "putin", "putback", "send_message", "turnleft", "turnright", "wait"
]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
#: What handles a thing; all else walks, turns, talks or waits.
HANDLING: Final = ("grab", "open", "close", "putin", "putback")
_PUTTING: Final = ("putin", "putback")
#: Characters of a message that are delivered.
LONGEST_MESSAGE: Final = 500
#: Metres from the middle of a thing up to which one takes it from where one stands. In the recorded runs that was at
#: most 1.48 m; who went nearer came from 1.50 m or more, but for five grabs of 68, mostly by two agents in one place.
ARM: Final = 1.5
#: Metres beyond CLOSE from which ``strict`` still lets agents handle things. The engine checks no distance; its agents
#: do, by boxes that change with the pose. Calibrated on the recorded runs in apartment 3; in apartment 6, 0.2 will do.
TOLERANCE: Final = 0.5
#: Degrees of a turn.
TURN: Final = 30.0
#: Walks in a row that lead nowhere, and metres that are nowhere.
STUCK_WALKS, STUCK_SPAN = 5, 0.5

#: Why an action does nothing, and what that means of a thing.
REASONS: Final[Mapping[str, str]] = {
    "unknown": "there is no such thing",
    "unseen": "{thing} is not in sight, or was never seen",
    "not_close": "{thing} is out of reach",
    "no_way": "no way leads to {thing}",
    "hands_full": "no hand is free",
    "held": "somebody holds {thing}",
    "not_held": "it is not in the hands that should put it down",
    "not_grabbable": "no hand can take {thing}",
    "not_openable": "{thing} cannot be opened",
    "already_open": "{thing} is open",
    "already_closed": "{thing} is closed",
    "closed": "{thing} is closed, or lies in something that is",
    "no_container": "nothing can be put into {thing}",
    "no_surface": "nothing can be put on {thing}",
    "contested": "another agent was faster",
}


class PrimitiveAction(NamedTuple):
    """What one agent tries in one step."""

    verb: Verb = "wait"
    target: NodeId = 0
    """What it names first: where it walks, what it grabs, opens, closes or puts down."""
    onto: NodeId = 0
    """``putin``, ``putback``: the container or surface."""
    text: str = ""
    """``send_message``."""


WAIT: Final = PrimitiveAction()


class Done(NamedTuple):
    """What became of one agent's action."""

    act: PrimitiveAction
    reason: str = ""
    """Why it did nothing, a word of ``REASONS``; empty if it was done."""
    moved: bool = False
    """It stands elsewhere now."""
    redirected: NodeId | None = None
    """The room to which it was sent instead, having walked on the spot."""


class Happened(NamedTuple):
    """What happened in one step."""

    done: Mapping[AgentId, Done]
    contested: Mapping[NodeId, AgentId]
    """What several tried to handle, and who did."""


def step(state: State, acts: Mapping[AgentId, PrimitiveAction], rng: np.random.Generator) -> Happened:
    """Make one step; the state becomes the moment after it.

    All actions are judged by the moment before, since that is what agents know. Of those that can be done and name the
    same thing first, one drawn by a fair coin is done. The rest is done in the order of agents' numbers,
    unless an action before it in this step has made it impossible.

    Args:
        state: The moment before.
        acts: What each agent tries; whoever is missing waits.
        rng: For contested things, and for the rooms to which those are sent who walk on the spot.
    """
    tried = {agent: acts.get(agent, WAIT) for agent in state.points}
    handling = {agent: act for agent, act in tried.items() if act.verb in HANDLING}
    refused = {agent: refusal(state, agent, act) for agent, act in handling.items()}
    won = _contests({agent: act for agent, act in handling.items() if not refused[agent]}, rng)
    for agent, act in handling.items():
        if not refused[agent] and won.get(act.target, agent) != agent:
            refused[agent] = "contested"
    before = _moving(state, handling)
    state.said = {}
    done, handled = {}, False
    for agent, act in tried.items():
        if act.verb in HANDLING:
            reason = refused[agent] or (refusal(state, agent, act) if handled else "")
            done[agent] = Done(act, reason) if reason else _handle(state, agent, act)
            handled = handled or not reason
        else:
            done[agent] = _else(state, agent, act, rng)
    state.time += 1
    _look(state, before)
    return Happened(done, won)


def refusal(state: State, agent: AgentId, act: PrimitiveAction) -> str:
    """Return why an agent cannot handle something now, a word of ``REASONS``; empty if it can."""
    if act.verb not in HANDLING:
        return ""
    nodes, thing = state.home.nodes, _reached(act)
    if act.target not in nodes or thing not in nodes:
        return "unknown"
    if act.verb in _PUTTING and state.holder.get(act.target) != agent:
        return "not_held"
    if state.rules.mode == "engine":
        if state.closed(thing):
            return "unseen"
    elif not _in_sight(state, agent, thing):
        return "unseen"
    elif not state.close(agent, thing, TOLERANCE):
        return "not_close"
    if thing in state.holder:
        return "held"
    node, opens, is_open = nodes[thing], _opens(state, thing), thing in state.opened
    if act.verb == "putback":
        return "" if node.surface else "no_surface"
    if act.verb == "putin":
        if not (opens and node.container):
            return "no_container"  # what cannot be opened would hide a thing for ever
        return "closed" if state.rules.strict_put and not is_open else ""
    if act.verb == "grab" and not node.grabbable:
        return "not_grabbable"
    if act.verb != "grab" and not opens:
        return "not_openable"
    if act.verb == "close":
        return "" if is_open else "already_closed"
    if act.verb == "open" and is_open:
        return "already_open"
    return "" if state.hands[agent].free else "hands_full"


def _reached(act: PrimitiveAction) -> NodeId:
    """Return what has to be within reach: what is put onto or into, else what is named first."""
    return act.onto if act.verb in _PUTTING else act.target


def _in_sight(state: State, agent: AgentId, thing: NodeId) -> bool:
    """Whether an agent sees a thing, or stands in a doorway to a room from which it is seen.

    Where exactly a walk crosses the border of two rooms is known to a decimetre or two; a recorded agent that has just
    crossed it goes on to what it sees there, which ours must not be refused for being short of it.
    """
    if thing in sight.view(state, agent):
        return True
    rooms = state.floor.doorway(state.points[agent]) if state.rules.sight == "room" else ()
    return any(thing in state.shown(room) for room in rooms)


def _opens(state: State, node: NodeId) -> bool:
    """Whether something can be opened; doors stay as they are."""
    return state.home.nodes[node].opens and state.home.nodes[node].category != "Doors"


def _contests(tried: Mapping[AgentId, PrimitiveAction], rng: np.random.Generator) -> dict[NodeId, AgentId]:
    """Draw who handles each thing that several name first."""
    naming: dict[NodeId, list[AgentId]] = {}
    for agent, act in tried.items():
        naming.setdefault(act.target, []).append(agent)
    return {
        thing: agents[int(rng.integers(len(agents)))] for thing, agents in sorted(naming.items()) if len(agents) > 1
    }


def _handle(state: State, agent: AgentId, act: PrimitiveAction) -> Done:
    """Do what can be done where the engine would do it."""
    start = state.points[agent]
    thing = _reached(act)
    box = state.box(thing)
    aim = _aim(state, thing)
    if not _stays(state, agent, act.verb, box) and state.floor.reach(start, aim):
        state.put(agent, state.floor.end(aim))
    state.trail[agent] = ()
    _face(state, agent, state.points[agent], box)
    if act.verb == "grab":
        state.grab(agent, thing)
    elif act.verb == "open":
        state.open(thing)
    elif act.verb == "close":
        state.shut(thing)
    else:
        state.release(act.target, ("INSIDE" if act.verb == "putin" else "ON", act.onto))
    return Done(act, moved=state.points[agent] != start)


def _stays(state: State, agent: AgentId, verb: Verb, box: Box) -> bool:
    """Whether an agent handles something from where it stands, rather than from where walks to it end."""
    at = state.points[agent]
    if verb == "grab":
        return (at.x - box.x) ** 2 + (at.z - box.z) ** 2 <= ARM * ARM
    return verb == "putin" and close(body(at), box)


def _else(state: State, agent: AgentId, act: PrimitiveAction, rng: np.random.Generator) -> Done:
    """Walk, turn, talk or wait."""
    if act.verb == "walktowards":
        return _walk(state, agent, act, rng)
    state.trail[agent] = ()
    if act.verb in ("turnleft", "turnright"):
        by = TURN if act.verb == "turnright" else -TURN
        state.headings[agent] = round(state.headings[agent] + by, 2) % 360.0
    elif act.verb == "send_message":
        state.said[agent] = act.text[:LONGEST_MESSAGE]
    return Done(act)


def _walk(state: State, agent: AgentId, act: PrimitiveAction, rng: np.random.Generator) -> Done:
    """Walk up to a metre; from where an agent has walked on the spot, towards a random room."""
    target, start, rooms = act.target, state.points[agent], state.home.rooms
    if target not in state.home.nodes and target not in state.points:
        return Done(act, "unknown")
    strict = state.rules.mode == "strict"
    is_known = target in state.known[agent] or target in rooms
    if strict and not is_known and not _in_sight(state, agent, target):
        return Done(act, "unseen")
    trail, redirected = state.trail[agent], None
    if len(trail) == STUCK_WALKS and dist(trail[0], trail[-1]) < STUCK_SPAN and _span(trail) < STUCK_SPAN:
        redirected = target = rooms[int(rng.integers(len(rooms)))]
    aim = (state.last[agent].get(target) if strict else None) or _aim(state, target)
    end = state.floor.towards(start, aim)
    if end == start and not state.floor.reach(start, aim):
        return Done(act, "no_way", redirected=redirected)
    state.put(agent, end)
    state.trail[agent] = (*trail, end)[-STUCK_WALKS:]
    onwards = end if state.rules.sight == "room" else state.floor.towards(end, aim)
    if onwards != end:
        _face(state, agent, end, onwards)  # as the engine has it: along the rest of the way
    elif end != start:
        _face(state, agent, start, end)
    else:
        _face(state, agent, start, state.box(target) if isinstance(aim, int) else aim)
    return Done(act, moved=end != start, redirected=redirected)


def _aim(state: State, target: NodeId) -> NodeId | Box:
    """Return what to give the floor as target: the node, or the box of what is not where it was at the start."""
    return target if state.fixed(target) else state.box(target)


def _face(state: State, agent: AgentId, start: Point, to: Point | Box) -> None:
    angle = sight.heading(start, to.x, to.z)
    if angle is not None:
        state.headings[agent] = angle


def _span(trail: Sequence[Point]) -> float:
    """Return the largest distance between any two of some places, metres."""
    return max(dist(first, other) for first, other in combinations(trail, 2))


def _moving(state: State, handling: Mapping[AgentId, PrimitiveAction]) -> dict[NodeId, Point | Box]:
    """Return where all is that may be elsewhere after the step."""
    before: dict[NodeId, Point | Box] = dict(state.points)
    for thing, agent in state.holder.items():
        before[thing] = state.points[agent]
    for act in handling.values():
        if act.verb == "grab" and act.target in state.home.nodes and act.target not in before:
            before[act.target] = state.box(act.target)
    return before


def _look(state: State, before: Mapping[NodeId, Point | Box]) -> None:
    """Let everybody look around: what they know of now, and where they saw last what went out of their sight."""
    for agent in state.points:
        view, last, known = sight.view(state, agent), state.last[agent], state.known[agent]
        if last:
            for thing in view.intersection(last):
                del last[thing]
        for thing, at in before.items():
            if thing not in view and thing not in last and thing in known:
                last[thing] = at if isinstance(at, Box) else body(at)
        if not view <= known:
            state.known[agent] = known | view


def start(
    episode: Episode,
    floor: Floor,
    rng: np.random.Generator,
    *,
    agents: int = 2,
    rules: Rules = Rules(),  # noqa: B008 - a value that cannot change
    at: Mapping[AgentId, Point] | None = None,
) -> State:
    """Return the moment before the first step.

    Agents start at random free places of their rooms. Those beyond the rooms that the episode names start in rooms
    drawn without repetition, then with.

    Args:
        episode: The task.
        floor: Of its home.
        rng: For the places.
        agents: How many, 1 to 10.
        rules: The rules.
        at: Where agents start that start at given places, for example those of a recorded run.

    Raises:
        UserError: The number of agents is not from 1 to 10.
    """
    if not 1 <= agents <= MOST_AGENTS:
        raise UserError(f"a home has 1 to {MOST_AGENTS} agents, got {agents}")
    home, places = episode.home, at or {}
    starts = list(episode.starts[:agents])
    left = [room for room in home.rooms if room not in starts]
    while len(starts) < agents:
        starts.append(
            left.pop(int(rng.integers(len(left)))) if left else home.rooms[int(rng.integers(len(home.rooms)))]
        )
    drawn = {agent: floor.random(room, rng) for agent, room in enumerate(starts, 1)}
    points = {agent: places.get(agent, point) for agent, point in drawn.items()}
    classes = {
        *SEARCHED,
        *(need.name for need in episode.needs),
        *(home.nodes[need.target].name for need in episode.needs),
    }
    state = State(
        home,
        floor,
        rules,
        frozenset(node.id for node in home.nodes.values() if node.name in classes),
        points,
        {agent: floor.room(point) for agent, point in points.items()},
        dict.fromkeys(points, 0.0),
        dict.fromkeys(points, EMPTY),
        home.opened,
        known=dict.fromkeys(points, frozenset()),
        last={agent: {} for agent in points},
        trail=dict.fromkeys(points, ()),
        _shown=dict(home.shown),
    )
    _look(state, {})
    return state
