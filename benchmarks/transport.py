"""How fast a house is: a look, a move, a way, environments with windows, episodes; and how often bodies get stuck.

Run ``python benchmarks/transport.py``; ``--quick`` for a look. ``--data FOLDER`` plays the published episodes in place
of houses of our own. ``--blocked`` then plays those of which the benchmark's repository keeps traces of two rule-based
agents, and prints the share of their forward moves that were blocked beside what the traces allow. ``--plans`` plays
the one of which a log of plans of two language agents is kept, and prints how long plans of each kind took beside the
log. Times are CPU time of one thread. Bars: a look under 60 us, 20,000 agent-steps a second with windows, an episode
of two planning agents under 0.4 s.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.language import Action, AgentId
from teamworld.methods.rhp.method import choose
from teamworld.methods.rhp.options import RhpOptions
from teamworld.record import Event, PlanEnd, PlanStart
from teamworld.record.log import read_log
from teamworld.seeding import generator
from teamworld.worlds.transport import navigation, physics, sight
from teamworld.worlds.transport import state as arrays
from teamworld.worlds.transport.env import vector_env
from teamworld.worlds.transport.sight import CHART_CELL, CHART_X, CHART_Z, Eyes, Moment
from teamworld.worlds.transport.state import FORWARD, LEFT, NONE, RIGHT, Primitive, Rules
from teamworld.worlds.transport.world import TransportWorld, make

#: Episodes with traces, and the shares of blocked forward moves that these allow (linear bounds of 2 x 2 agents).
TRACES = {1: (0.65, 0.86), 11: (0.53, 0.83)}
#: Kinds of plans in the log of plans, and what they are called here; messages have their price by a formula.
PLANS = {
    **{"go_to_room": "go", "explore_room": "explore", "transport": "deliver", "put_in": "put"},
    **{"grasp_target": "fetch", "grasp_container": "fetch"},
}
LOOK, STEPS, EPISODE = 60e-6, 20_000, 0.4


class Planner:
    """RHP, the rule-based planner of TDW-MAT, outside of an episode: no log, no messages."""

    def __init__(self, world: TransportWorld, seed: int) -> None:
        self.world, self.rules = world, world.domain.hauling
        self.rngs = {agent: generator(seed, "bench", agent) for agent in world.spec.agents}

    def choose(self, agent: AgentId) -> Action:
        """Return what to do next."""
        view = self.world.view(agent)
        steps = {option.action: option.steps for option in view.options}
        haul = self.rules.survey(agent, view.known)
        return choose(self.rules, haul, view.t, RhpOptions(), steps, self.rngs[agent])


class Played(NamedTuple):
    """An episode."""

    seconds: float
    delivered: int
    released: int
    moves: int
    blocked: int
    walks: list[float]
    """Frames a metre of ways to the bed, over the straight way along free floor."""


def play(world: TransportWorld, seed: int) -> Played:
    """Play an episode of planners."""
    planner, running, t = Planner(world, seed), dict[AgentId, tuple[Action, int, float, int]](), 0
    floor, walks, end, begin = Floor(world), list[float](), None, time.thread_time()
    while end is None:
        actions = {agent: planner.choose(agent) for agent in world.spec.agents if agent not in running}
        for agent, action in actions.items():
            held = sum(1 for _ in world.domain.read(world.view(agent).known).hands.get(agent, ()))
            running[agent] = action, t, floor.metres(agent) if action.verb == "deliver" else 0.0, held
        result = world.step(actions)
        end, t = result.end_reason, t + result.ticks
        for agent, outcome in result.outcomes.items():
            if outcome.status != "running" and agent in running:
                action, since, metres, held = running.pop(agent)
                if outcome.status == "done" and metres > 4.0:
                    walks.append((t - since - held * physics.DROP_FRAMES) / metres)
    seconds = time.thread_time() - begin - floor.seconds
    bodies, items = world._moment.state.agents, world._moment.state.items
    return Played(
        seconds,
        int(items["delivered"].sum()),
        int(items["released"].sum()),
        int(bodies["moves"].sum()),
        int(bodies["blocked"].sum()),
        walks,
    )


class Floor:
    """Ways along the true floor, by cells that share a side or a corner, an agent's width from obstacles."""

    def __init__(self, world: TransportWorld) -> None:
        import networkx as nx

        begin = time.thread_time()
        self.world, self.seconds = world, 0.0
        is_free = world._field.tall <= sight.LOWEST_OBSTACLE
        wide = is_free.copy()
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                wide &= np.roll(is_free, (i, j), (0, 1))
        self.graph = nx.Graph()
        for i, j in np.argwhere(wide & (world._field.room >= 0)).tolist():
            for k, m, far in ((1, 0, 1.0), (0, 1, 1.0), (1, 1, 2**0.5), (1, -1, 2**0.5)):
                if wide[i + k, j + m]:
                    self.graph.add_edge((i, j), (i + k, j + m), weight=far * CHART_CELL)
        bed = world._ground.bed_x, world._ground.bed_z
        goal = min(self.graph, key=lambda cell: np.hypot(*np.subtract(_place(cell), bed)))
        self.far = nx.single_source_dijkstra_path_length(self.graph, goal)
        self.seconds += time.thread_time() - begin

    def metres(self, agent: AgentId) -> float:
        """Return how far an agent is from the bed."""
        begin = time.thread_time()
        at = self.world._at(self.world._names.agent_numbers[agent])
        cell = min(self.far, key=lambda cell: np.hypot(*np.subtract(_place(cell), at)))
        self.seconds += time.thread_time() - begin
        return float(self.far[cell])


def _place(cell: tuple[int, int]) -> tuple[float, float]:
    return CHART_X + CHART_CELL * cell[0], CHART_Z + CHART_CELL * cell[1]


# ---- kernels


def moments(world: TransportWorld, seed: int, count: int) -> Iterable[Moment]:
    """Yield moments of agents that walk at random; the same arrays each time."""
    rng, (ground, field, _, _) = generator(seed, "bench"), world._moment
    state = arrays.begin(world.instance)
    knowledge = sight.begin(len(state.agents), len(state.items), len(ground.rooms))
    draws = np.ones((len(state.agents), len(state.items) + len(state.agents)))
    verbs = rng.choice([FORWARD, FORWARD, LEFT, RIGHT], 4 * count).tolist()
    for _ in range(count):
        for agent in range(len(state.agents)):
            if state.agents["verb"][agent] == NONE:
                physics.order(state, agent, Primitive(verbs.pop()))
        physics.run(ground, Rules(), state, 100)
        sight.look(ground, field, Eyes(), state, knowledge, draws)
        yield Moment(ground, field, state, knowledge)


def measure_kernels(world: TransportWorld, count: int) -> dict[str, float]:
    """Return seconds of a look of one agent, of the frames until a move ends, and of the search for a way."""
    look, run, search, eyes = [], [], [], Eyes()
    way = navigation.begin_way(world._ground)
    for at in moments(world, 0, count):
        ground, field, state, knowledge = at
        draws = np.ones((len(state.agents), len(state.items) + len(state.agents)))
        begin = time.thread_time()
        sight.look(ground, field, eyes, state, knowledge, draws)
        look.append((time.thread_time() - begin) / len(state.agents))
        copy = state.copy()
        physics.order(copy, 0, Primitive(FORWARD))
        begin = time.thread_time()
        physics.run(ground, Rules(), copy, 100)
        run.append(time.thread_time() - begin)
        navigation.forget_way(way)
        begin = time.thread_time()
        navigation.choose_move(way, knowledge.chart[0], knowledge.near[0], state, 0, ground.bed_x, ground.bed_z)
        search.append(time.thread_time() - begin)
    parts = {"look": look, "move": run, "search for a way": search}
    return {name: statistics.median(times[len(times) // 10 :]) for name, times in parts.items()}


def measure_environments(count: int, observation: str) -> float:
    """Return agent-steps a second of a vector of eight environments of two agents that act at random."""
    envs = vector_env("dev-3", 8, observation=observation)
    envs.reset(seed=0)
    actions = generator(0, "bench").choice([1, 1, 2, 3], size=(count, 8, 2))
    for action in actions[: count // 10]:
        envs.step(action)
    begin = time.thread_time()
    for action in actions:
        envs.step(action)
    return float(actions.size / (time.thread_time() - begin))


def timed(call: Callable[[], float]) -> float:
    """Return the best of three."""
    return max(call() for _ in range(3))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument("--data", help="the folder of the published sets")
    parser.add_argument("--blocked", action="store_true", help="only play the episodes with traces")
    parser.add_argument("--plans", action="store_true", help="only play the episode with a log of plans")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of these")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="an option of the world")
    chosen = parser.parse_args()
    options = {name: json.loads(value) for name, _, value in (part.partition("=") for part in chosen.set)}
    if chosen.data:
        options["data"] = chosen.data
    if chosen.blocked:
        tell_blocked(options, chosen.seeds)
        return
    if chosen.plans:
        tell_plans(options, chosen.seeds, Path(chosen.data))
        return
    count = 200 if chosen.quick else 2000
    level = "official-7" if chosen.data else "dev-3"
    kernels = measure_kernels(make(level, 0, 3000, options), count)
    print(f"a look of one agent: {kernels['look'] * 1e6:.0f} us (bar {LOOK * 1e6:.0f})")
    print(f"a move forward: {kernels['move'] * 1e6:.0f} us; a way: {kernels['search for a way'] * 1e6:.0f} us")
    for observation in ("both", "none"):
        speed = timed(lambda kind=observation: measure_environments(count, kind))  # type: ignore[misc]
        print(f"environments, observation {observation}: {speed:,.0f} agent-steps a second (bar {STEPS:,})")
    levels = [f"{'official' if chosen.data else 'dev'}-{number}" for number in range(4 if chosen.quick else 24)]
    played = [play(make(level, 0, 3000, options), 0) for level in levels]
    seconds = [episode.seconds for episode in played]
    print(
        f"two planners: median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s (bar {EPISODE}); "
        f"{statistics.fmean(episode.delivered for episode in played):.1f} of 10 targets delivered"
    )


def tell_blocked(options: dict[str, object], seeds: int) -> None:
    """Play the episodes with traces and print shares of blocked moves, and frames a metre of ways to the bed."""
    for number, (low, high) in TRACES.items():
        played = [play(make(f"official-{number}", seed, 3000, options), seed) for seed in range(seeds)]
        moves, blocked = (sum(getattr(episode, name) for episode in played) for name in ("moves", "blocked"))
        walks = [walk for episode in played for walk in episode.walks]
        print(
            f"episode {number}: {blocked / moves:.2f} of {moves / seeds / 2:.0f} forward moves an agent were blocked, "
            f"traces allow {low} to {high}; {statistics.median(walks) if walks else 0:.0f} frames a metre to the bed"
        )


def tell_plans(options: dict[str, object], seeds: int, data: Path) -> None:
    """Play the episode with a log of plans, with some noise, so that seeds differ; print the frames of each kind."""
    kept = json.loads((data / "reference_runs.json").read_text())["plan_timeline"]
    logged = [
        (PLANS[plan["kind"]], plan["duration"])
        for plan in chain(*kept["agents_timeline"].values())
        if plan["kind"] in PLANS
    ]
    fields = {
        "world": "transport",
        "level": f"official-{kept['episode_index']}",
        "methods": ["coela:tdwmat"],
        "reasoner": "rules:noise=0.2",
    }
    experiment = build(fields | {"seeds": list(range(seeds)), "options": {"transport": options}})
    with TemporaryDirectory() as folder:
        run(experiment, Path(folder))
        logs = [read_log(path) for path in sorted(Path(folder).glob("logs/*/*.zst"))]
        ours = [plan for log in logs for plan in durations(log)]
    print(f"episode {kept['episode_index']}, frames a plan: the log, ours over {seeds} seeds")
    for kind in dict.fromkeys(PLANS.values()):
        theirs, mine = ([frames for other, frames in plans if other == kind] for plans in (logged, ours))
        low, high = min(theirs), max(theirs)
        inside = sum(low <= frames <= high for frames in mine) / max(1, len(mine))
        print(
            f"{kind:8} {len(theirs):3} of {low} to {high}, median {statistics.median(theirs):.0f}; {len(mine):4} of "
            f"{min(mine, default=0)} to {max(mine, default=0)}, median {statistics.median(mine or [0]):.0f}, "
            f"{inside:.0%} inside"
        )


def durations(log: Iterable[Event]) -> Iterable[tuple[str, int]]:
    """Yield the kind of each plan that came to an end, and its frames."""
    begun: dict[tuple[str, int], tuple[str, int]] = {}
    for event in log:
        if isinstance(event, PlanStart):
            begun[event.agent, event.plan] = event.text.partition("{")[2].partition("(")[0].strip(), event.tick
        elif isinstance(event, PlanEnd) and event.status != "unfinished":
            verb, since = begun[event.agent, event.plan]
            yield verb, event.tick - since


if __name__ == "__main__":
    main()
