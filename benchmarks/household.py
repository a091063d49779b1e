"""How fast a home is: steps of scripted agents, ways through it, what is seen, PettingZoo, pictures; and its memory.

Run ``python benchmarks/household.py``; ``--quick`` for a look; ``--memory 10000`` plays so many episodes instead and
prints the memory of the process on the way; ``--data FOLDER`` plays the official set in place of homes of our own.
Times are CPU time of one thread. The bar is the project's: 20,000 agent-steps a second of the state alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from teamworld.seeding import generator
from teamworld.worlds.household import draw, drawing_data, physics, sight
from teamworld.worlds.household.env import parallel_env
from teamworld.worlds.household.homes import home_generator, official_episodes
from teamworld.worlds.household.pathfinding import Floor, Target
from teamworld.worlds.household.physics import WAIT, PrimitiveAction
from teamworld.worlds.household.state import Rules, State

if TYPE_CHECKING:
    from teamworld.worlds.household.homes.home import Episode, NodeId, Point
    from teamworld.worlds.household.homes.home import Home as Apartment

AGENTS = 2
BAR = 20_000


class Home(NamedTuple):
    """An episode with its floor."""

    episode: Episode
    floor: Floor


class Counting(Floor):
    """A floor that counts what it is asked for."""

    def __init__(self, home: Apartment) -> None:
        super().__init__(home)
        self.asked = 0
        self.met: set[tuple[Point, Target]] = set()

    def towards(self, at: Point, target: Target) -> Point:
        """Walk one step."""
        self.asked += 1
        self.met.add((at, target))
        return super().towards(at, target)


class Script:
    """What scripted agents know of an episode, and what they have still to do."""

    def __init__(self, episode: Episode, agents: int) -> None:
        self.episode = episode
        self.target = episode.needs[0].target
        self.verb: physics.Verb = "putin" if episode.needs[0].relation == "INSIDE" else "putback"
        self.places = {agent: list(episode.home.searched[agent - 1 :: agents]) for agent in range(1, agents + 1)}
        self.rooms = {agent: list(episode.home.rooms) for agent in range(1, agents + 1)}

    @cached_property
    def goods(self) -> list[NodeId]:
        """Things that the goal may want."""
        names = {need.name for need in self.episode.needs}
        return [node.id for node in self.episode.home.nodes.values() if node.name in names and node.grabbable]

    def act(self, state: State, agent: int) -> PrimitiveAction:
        """Deliver what is held; take what is seen; else open the next container, then look into the next room."""
        view, held = sight.view(state, agent), state.hands[agent].things
        if held:
            return self._there(state, agent, self.target, PrimitiveAction(self.verb, held[0], self.target))
        for thing in self.goods:
            if thing in view and thing not in state.holder and (state.place(thing) or ("", 0))[1] != self.target:
                return self._there(state, agent, thing, PrimitiveAction("grab", thing))
        places = self.places[agent]
        while places and places[0] in state.opened:
            places.pop(0)
        if places:
            return self._there(state, agent, places[0], PrimitiveAction("open", places[0]))
        rooms = self.rooms[agent]
        while rooms and state.rooms[agent] == rooms[0]:
            rooms.pop(0)
        return PrimitiveAction("walktowards", rooms[0]) if rooms else WAIT

    def _there(self, state: State, agent: int, node: NodeId, then: PrimitiveAction) -> PrimitiveAction:
        room = state.room(node)
        if state.rooms[agent] != room:
            return PrimitiveAction("walktowards", room)
        if node not in (sight.view(state, agent) if state.close(agent, node) else state.known[agent]):
            return PrimitiveAction("turnright")  # in visual mode: look around
        return then if state.close(agent, node) else PrimitiveAction("walktowards", node)


def play(home: Home, seed: int, rules: Rules, moments: list[State] | None = None) -> int:
    """Play an episode; return its steps. Moments are kept, every tenth."""
    rng = generator(seed, "bench")
    state = physics.start(home.episode, home.floor, rng, agents=AGENTS, rules=rules)
    script = Script(home.episode, AGENTS)
    while state.time < home.episode.steps and not state.done(home.episode.needs):
        physics.step(state, {agent: script.act(state, agent) for agent in state.points}, rng)
        if moments is not None and state.time % 10 == 0:
            moments.append(state.copy())
    return state.time


def again(home: Home, seed: int) -> Callable[[], int]:
    """Play an episode; return what plays it again from what its agents did: the steps of the state alone."""
    rng, script, acts = generator(seed, "bench"), Script(home.episode, AGENTS), list[dict[int, PrimitiveAction]]()
    state = physics.start(home.episode, home.floor, rng, agents=AGENTS)
    while state.time < home.episode.steps and not state.done(home.episode.needs):
        acts.append({agent: script.act(state, agent) for agent in state.points})
        physics.step(state, acts[-1], rng)

    def run() -> int:
        rng = generator(seed, "bench")
        state = physics.start(home.episode, home.floor, rng, agents=AGENTS)
        for given in acts:
            physics.step(state, given, rng)
            state.done(home.episode.needs)
        return AGENTS * len(acts)

    return run


def timed(call: Callable[[], int]) -> float:
    """Return how often a second, by CPU time; ``call`` says how often it did it."""
    begin = time.thread_time()
    done = call()
    return done / (time.thread_time() - begin)


def speeds(homes: list[Home], rounds: int) -> list[tuple[str, str]]:
    """Return names and figures."""
    runs = [again(home, seed) for home in homes for seed in range(rounds)]
    alone = [timed(lambda: sum(run() for run in runs)) for _ in range(3)]
    rows = [("agent-steps/s, the state alone", f"{statistics.median(alone):9,.0f}")]
    for name, rules in (
        ("room", Rules()),
        ("cone", Rules(sight="cone")),
        ("cone, occlusion", Rules(sight="cone", occlusion=True)),
    ):
        rates, steps = [], []
        for seed in range(rounds):
            begin = time.thread_time()
            found = [play(home, seed, rules) for home in homes]
            rates.append(AGENTS * sum(found) / (time.thread_time() - begin))
            steps += found
        figure = f"{statistics.median(rates):9,.0f}   ({statistics.mean(steps):.0f} steps an episode)"
        rows.append((f"agent-steps/s, scripted, {name}", figure))
    return rows


def parts(homes: list[Home], times: int) -> list[tuple[str, str]]:
    """Return names and figures of the parts."""
    moments: list[State] = []
    for seed, home in enumerate(homes):
        play(home, seed, Rules(sight="cone"), moments)
    rows = []
    for name, rules, call in (
        ("what is in the room", Rules(), sight.seen),
        ("what is ahead", Rules(sight="cone"), sight.cone),
        ("what is ahead and not hidden", Rules(sight="cone", occlusion=True), sight.cone),
    ):
        for state in moments:
            state.rules = rules

        def look(call: Callable[[State, int], Collection[int]] = call) -> int:
            return sum(len(call(state, agent)) > 0 for _ in range(times) for state in moments for agent in state.points)

        rate = timed(look)
        rows.append((name, f"{1e6 / rate:9.1f} us"))
    state = moments[len(moments) // 2]
    copies = timed(lambda: sum(state.copy().time >= 0 for _ in range(50 * times)))
    rows.append(("copy of a state", f"{1e6 / copies:9.1f} us"))
    return rows


def ways(homes: list[Home]) -> list[tuple[str, str]]:
    """Return how often questions for ways were answered before, and what an answer costs."""
    asked = known = 0
    for home in homes:
        floor = Counting(home.episode.home)
        for seed in range(10):
            play(Home(home.episode, floor), seed, Rules())
        asked, known = asked + floor.asked, known + floor.asked - len(floor.met)
    fresh = [Floor(home.episode.home) for home in homes]
    rng = np.random.default_rng(0)
    questions = [
        (floor, floor.random(home.episode.home.rooms[int(rng.integers(4))], rng), node)
        for floor, home in zip(fresh, homes, strict=True)
        for node in home.episode.home.searched
        for _ in range(20)
    ]
    first = timed(lambda: sum(floor.towards(at, node) is not None for floor, at, node in questions))
    again = timed(lambda: sum(floor.towards(at, node) is not None for floor, at, node in questions))
    homes_made = timed(lambda: sum(home_generator.home(90_000 + k) is not None for k in range(3)))
    return [
        ("steps of a walk answered before", f"{100 * known / asked:9.1f} % of {asked:,} in 10 episodes a home"),
        ("step of a walk, first time", f"{1e6 / first:9.1f} us"),
        ("step of a walk, again", f"{1e6 / again:9.1f} us"),
        ("home of our own", f"{1e3 / homes_made:9.1f} ms"),
    ]


def faces(steps: int) -> list[tuple[str, str]]:
    """Return what PettingZoo and a picture cost."""
    env, rng = parallel_env("dev-0"), np.random.default_rng(0)
    seen, _ = env.reset(seed=0)

    def walk() -> int:
        nonlocal seen
        for k in range(steps):
            if not env.agents:
                seen, _ = env.reset(seed=k)
            actions = {agent: int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))) for agent in env.agents}
            seen, *_ = env.step(actions)
        return AGENTS * steps

    walk()
    rate = timed(walk)
    episode = home_generator.episode(0)
    state = physics.start(episode, Floor(episode.home), generator(0, "bench"))
    fixed, moment = drawing_data.static(episode), drawing_data.snapshot(state, episode)
    moments = timed(lambda: sum(len(drawing_data.snapshot(state, episode)) > 0 for _ in range(500)))
    draw.frame(fixed, moment)
    pictures = timed(lambda: sum(draw.frame(fixed, moment).size > 0 for _ in range(5)))
    return [
        ("agent-steps/s, PettingZoo with masks", f"{rate:9,.0f}"),
        ("snapshot", f"{1e6 / moments:9.1f} us, {len(json.dumps(moment))} characters"),
        ("picture, 900 pixels wide", f"{1e3 / pictures:9.1f} ms"),
    ]


def memory(episodes: int) -> None:
    """Play episodes, a tenth of them in homes that are new, and print the memory at each tenth of the way."""
    process, homes, steps = psutil.Process(), [], 0
    begin = time.thread_time()
    for k in range(episodes):
        if k % 10 == 0:
            episode = home_generator.episode(k // 10 % 10_000)
            homes = [Home(episode, Floor(episode.home))]
        steps += play(homes[0], k, Rules(sight="cone" if k % 2 else "room"))
        if (k + 1) % (episodes // 10) == 0:
            rss = process.memory_info().rss / 1e6
            print(f"{k + 1:6,} episodes, {AGENTS * steps:10,} agent-steps: {rss:6.1f} MB", flush=True)
    print(f"{time.thread_time() - begin:.0f} s of CPU")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--memory", type=int, default=0, metavar="EPISODES", help="only the memory of so many")
    parser.add_argument("--data", type=Path, help="folder of the official set")
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    episodes = (
        [home_generator.episode(k) for k in range(10)] if given.data is None else official_episodes.episodes(given.data)
    )
    homes = [Home(episode, Floor(episode.home)) for episode in episodes]
    for home in homes:  # compiles, and learns the ways
        play(home, 0, Rules())
    rounds = 2 if given.quick else 5
    print(f"{len(homes)} homes, {AGENTS} agents, {rounds} rounds, medians; CPU time of one thread; bar {BAR:,}\n")
    for name, figure in (*speeds(homes, rounds), *parts(homes, rounds), *ways(homes), *faces(60 * rounds)):
        print(f"{name:40} {figure}")


if __name__ == "__main__":
    main()
