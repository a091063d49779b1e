"""The world model as a graph: G = (V, E) with episodes, tasks, plan prototypes and plan instances.

Nodes are tuples that name themselves, so the union of graphs is well defined:

| level | node | attributes |
| --- | --- | --- |
| universe | ``("universe",)`` | episodes, completed, completion_rate, ticks_min, ticks_mean, ticks_max, notes, tasks |
| episode | ``("episode", k)`` | completed, ticks, goals, done (task, tick, order), undone, reflections |
| task | ``("task", k, task)`` | success, goals, goals_done, end, order |
| prototype | ``("prototype", k, task, actions)`` | actions, attempts, successes |
| instance | ``("instance", k, task, actions, agent, start)`` | all of ``PlanInstance``, and duration |

Every node has ``level``. A second instance with the same identity (a plan that ended at the tick it
began) has its number, from 2, at the end of the tuple. Ticks are those of the world.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

import msgspec
import networkx as nx

from teamworld.memory.contract import MemoryDelta, PlanInstance, TaskKey, TaskOutcome
from teamworld.memory.notes import recent_notes
from teamworld.memory.plan_statistics import Attempt, PlanStatistics
from teamworld.memory.views import PlanDelta, TemplateContext, plan_deltas, template_contexts

Node: TypeAlias = tuple[str | int, ...]
Vertex: TypeAlias = tuple[Node, dict[str, Any]]
Pair: TypeAlias = tuple[Node, Node]
Sums: TypeAlias = dict[tuple[str, str], PlanStatistics]

#: Version of the JSON form; a reader refuses newer ones.
VERSION = 1
UNIVERSE: Node = ("universe",)

_FORMAT = "teamworld.memory.graph"


def build(deltas: Iterable[MemoryDelta]) -> nx.DiGraph[Node]:
    """Return the graph of what the deltas hold together; of two for one episode the later counts.

    The order of the episodes does not matter. Apart from the sums at the root, the graph of k + 1
    episodes is the union of the graph of k and of that of the last one.
    """
    nodes, edges = _elements(deltas)
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph


def _elements(deltas: Iterable[MemoryDelta]) -> tuple[list[Vertex], list[Pair]]:
    """The nodes with their attributes and the edges of G, parents before children."""
    episodes = {delta.episode: delta for delta in deltas}
    ordered = [episodes[number] for number in sorted(episodes)]
    sums = [_sums(delta) for delta in ordered]
    nodes: list[Vertex] = [(UNIVERSE, {**_universe(ordered), "tasks": _task_sums(ordered, sums)})]
    edges: list[Pair] = []
    for delta, prototypes in zip(ordered, sums, strict=True):
        _add_episode(nodes, edges, delta, prototypes)
    return nodes, edges


def _sums(delta: MemoryDelta) -> Sums:
    """Return how each (task, prototype) went in an episode, in order."""
    groups: dict[tuple[TaskKey, str], list[PlanInstance]] = defaultdict(list)
    for instance in delta.instances:
        groups[instance.task, instance.prototype].append(instance)
    return {key: PlanStatistics.of(*map(_alone, groups[key])) for key in sorted(groups)}


def _alone(instance: PlanInstance) -> Attempt:
    """Return an instance as an attempt of its own: the graph counts leaves."""
    return Attempt.of((instance,))


def _universe(deltas: list[MemoryDelta]) -> dict[str, Any]:
    completed = sum(delta.completed for delta in deltas)
    ticks = [delta.ticks for delta in deltas]
    return {
        "level": "universe",
        "episodes": len(deltas),
        "completed": completed,
        "completion_rate": completed / len(deltas) if deltas else None,
        "ticks_min": min(ticks, default=None),
        "ticks_mean": sum(ticks) / len(ticks) if ticks else None,
        "ticks_max": max(ticks, default=None),
        "notes": list(recent_notes(note.text for delta in deltas for note in delta.reflections)),
    }


def _task_sums(deltas: list[MemoryDelta], sums: list[Sums]) -> dict[TaskKey, dict[str, Any]]:
    """Per task over episodes: how many goals there were and were done, how plans went, and when it was done."""
    goals: Counter[TaskKey] = Counter()
    ends: dict[TaskKey, list[int]] = defaultdict(list)
    plans: dict[TaskKey, PlanStatistics] = defaultdict(PlanStatistics)
    for (task, _), statistics in chain.from_iterable(by_prototype.items() for by_prototype in sums):
        plans[task].merge(statistics)
    for delta in deltas:
        for outcome in delta.tasks:
            goals[outcome.task] += 1
            if outcome.success and outcome.end is not None:
                ends[outcome.task].append(outcome.end)
    return {
        task: {
            "goals": goals[task],
            "goals_done": len(ends[task]),
            "end_min": min(ends[task], default=None),
            "end_mean": sum(ends[task]) / len(ends[task]) if ends[task] else None,
            "end_max": max(ends[task], default=None),
            **_counts(plans[task]),
        }
        for task in sorted(goals.keys() | plans.keys())
    }


def _counts(statistics: PlanStatistics) -> dict[str, Any]:
    return {
        "attempts": statistics.attempts,
        "successes": statistics.successes,
        "rate": statistics.rate,
        "progress": statistics.progress,
        "duration_mean": statistics.mean_duration,
        "duration_min": statistics.shortest,
        "duration_max": statistics.longest,
    }


def _add_episode(nodes: list[Vertex], edges: list[Pair], delta: MemoryDelta, prototypes: Sums) -> None:
    """Add ΔG_k: the episode with all below it."""
    number = delta.episode
    episode: Node = ("episode", number)
    nodes.append((episode, _episode(delta)))
    edges.append((UNIVERSE, episode))
    for task, outcomes in _tasks(delta).items():
        nodes.append((("task", number, task), _task(outcomes)))
        edges.append((episode, ("task", number, task)))
    for (task, actions), statistics in prototypes.items():
        counts = {"attempts": statistics.attempts, "successes": statistics.successes}
        nodes.append((("prototype", number, task, actions), {"level": "prototype", "actions": actions, **counts}))
        edges.append((("task", number, task), ("prototype", number, task, actions)))
    seen: dict[Node, int] = {}
    for instance in delta.instances:
        prototype: Node = ("prototype", number, instance.task, instance.prototype)
        leaf: Node = ("instance", number, instance.task, instance.prototype, instance.agent, instance.start)
        seen[leaf] = count = seen.get(leaf, 0) + 1
        if count > 1:
            leaf = (*leaf, count)
        nodes.append((leaf, _leaf(instance)))
        edges.append((prototype, leaf))


def _episode(delta: MemoryDelta) -> dict[str, Any]:
    done = sorted((o for o in delta.tasks if o.success), key=lambda o: (o.order is None, o.order, o.goal))
    return {
        "level": "episode",
        "completed": delta.completed,
        "ticks": delta.ticks,
        "goals": len(delta.tasks),
        "done": [[o.task, o.end, o.order] for o in done],
        "undone": [o.task for o in delta.tasks if not o.success],
        "reflections": [{"agent": note.agent, "tick": note.tick, "text": note.text} for note in delta.reflections],
    }


def _tasks(delta: MemoryDelta) -> dict[TaskKey, list[TaskOutcome | None]]:
    """The tasks of an episode with the outcomes of their goals.

    A class may have several goals, and a goal may have changed its class on the way: then it counts
    under every class in which plans were made for it.
    """
    by_goal = {outcome.goal: outcome for outcome in delta.tasks}
    goals: dict[TaskKey, dict[str, None]] = {}
    for outcome in delta.tasks:
        goals.setdefault(outcome.task, {})[outcome.goal] = None
    for instance in delta.instances:
        goals.setdefault(instance.task, {})[instance.goal] = None
    return {task: [by_goal.get(goal) for goal in of_task] for task, of_task in goals.items()}


def _task(outcomes: list[TaskOutcome | None]) -> dict[str, Any]:
    done = [outcome for outcome in outcomes if outcome is not None and outcome.success]
    success = len(done) == len(outcomes)
    return {
        "level": "task",
        "success": success,
        "goals": len(outcomes),
        "goals_done": len(done),
        "end": max((o.end for o in done if o.end is not None), default=None) if success else None,
        "order": max((o.order for o in done if o.order is not None), default=None) if success else None,
    }


def _leaf(instance: PlanInstance) -> dict[str, Any]:
    fields = msgspec.structs.asdict(instance)
    for identity in ("episode", "task", "prototype"):  # as the node's own name says
        del fields[identity]
    fields["helped"] = list(instance.helped)
    return {"level": "instance", **fields, "duration": instance.duration}


def name(node: Node) -> str:
    """Return a node's identity as one text: its parts, joined by slashes."""
    text = "/".join(map(str, node))
    if "%" in text or text.count("/") >= len(node):  # a part has one of its own
        return "/".join(str(part).replace("%", "%25").replace("/", "%2F") for part in node)
    return text


def to_json(deltas: Iterable[MemoryDelta], *, views: bool = False) -> dict[str, Any]:
    """Return the graph as plain data in node-link form.

    ``format`` and ``version`` say what it is; ``nodes`` have ``id``, ``level`` and their attributes (None where there
    is no value); ``edges`` have ``source`` and ``target``.

    Args:
        deltas: What episodes added.
        views: Whether ``template_contexts`` and ``plan_deltas`` stand beside, see ``teamworld.memory.views``.
    """
    deltas = tuple(deltas)
    nodes, edges = _elements(deltas)
    contexts = template_contexts(deltas) if views else []
    beside = {
        "template_contexts": [_line(context) for context in contexts],
        "plan_deltas": [_line(difference) for difference in plan_deltas(contexts)],
    }
    names = {node: name(node) for node, _ in nodes}
    return {
        "format": _FORMAT,
        "version": VERSION,
        "directed": True,
        "nodes": [{"id": names[node], **data} for node, data in nodes],
        "edges": [{"source": names[source], "target": names[target]} for source, target in edges],
        **(beside if views else {}),
    }


def _line(view: TemplateContext | PlanDelta) -> dict[str, Any]:
    return {**view._asdict(), "context": view.context._asdict()}


def to_graphml(graph: nx.DiGraph[Node]) -> str:
    """Return the graph as GraphML, for Gephi, Cytoscape or yEd.

    Attributes are plain: lists and tables stand as JSON text, and what has no value is left out.
    """
    plain: nx.DiGraph[str] = nx.DiGraph()
    for node, data in graph.nodes(data=True):
        plain.add_node(name(node), **_plain(data))
    plain.add_edges_from((name(source), name(target)) for source, target in graph.edges)
    return "\n".join(nx.generate_graphml(plain)) + "\n"


def _plain(data: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    return {
        key: json.dumps(value) if isinstance(value, list | dict) else value
        for key, value in data.items()
        if value is not None
    }
