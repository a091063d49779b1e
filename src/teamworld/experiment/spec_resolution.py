"""Resolving an experiment: everything that it names is tried, and all options are filled in."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from teamworld import plugins
from teamworld.episode.compatibility import entities_for
from teamworld.errors import UserError, suggest
from teamworld.experiment import message_protocol
from teamworld.experiment.spec import ExperimentSpec, MessageProtocol, RunCell
from teamworld.methods import registry as methods
from teamworld.metrics.all_metrics import check_headline
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning import router
from teamworld.worlds import registry as worlds
from teamworld.yaml_io import read_none

#: So many seeds are tried before anything is written: a layout that cannot be placed shows early.
_TRIED = 20


def load_plugins(experiment: ExperimentSpec) -> None:
    """Import the world, methods and reasoners that are named as ``MODULE:NAME``; raises ``UserError``."""
    worlds.load(experiment.world)
    for method in experiment.methods:
        methods.load(method)
    for method in experiment.fork.methods if experiment.fork is not None else ():
        methods.load(method)
    for reasoner in experiment.reasoners:
        reasoners.load(reasoner)


def has_local_plugins(experiment: ExperimentSpec) -> bool:
    """Return whether it names what only this process has, such as a class of a notebook."""
    parts = [methods.method_of(part) for method in experiment.methods for part in methods.parts_of(method)]
    names = [
        experiment.world,
        *parts,
        *(route.name for text in experiment.reasoners for route in router.parse_routes(text)),
    ]
    return any(plugins.is_local(name) for name in names)


def resolve(experiment: ExperimentSpec) -> ExperimentSpec:
    """Return the experiment with its step limit and all options filled in, having tried everything that it names.

    Raises:
        UserError: An unknown world, level, method, reasoner or option, or a value that does not fit.
    """
    parts = [part for method in experiment.methods for part in methods.parts_of(method)]
    known = [experiment.world, "messages", *experiment.methods, *parts, *map(methods.method_of, parts)]
    for owner in experiment.options:
        if owner not in known:
            raise UserError(f"options for '{owner}', which is not part of this run{suggest(owner, known)}")
    load_plugins(experiment)
    if len({RunCell(method, 0).name.casefold() for method in experiment.methods}) < len(experiment.methods):
        raise UserError(f"two of {', '.join(experiment.methods)} would share a folder: run them apart")
    for reasoner in experiment.reasoners:
        reasoners.check_name(reasoner)
    world_options = experiment.options.get(experiment.world, {})
    for seed in _first_world_seeds(experiment):
        world = worlds.make(experiment.world, experiment.level, seed, experiment.step_limit, world_options)
    check_headline(world.spec)
    for method in experiment.methods:
        entities_for(methods.method_class(method), world)
        if (number := len(methods.parts_of(method))) > len(world.spec.agents):
            raise UserError(f"'{method}' are {number} methods for a team of {len(world.spec.agents)}: name fewer")
    _check_names(experiment, world.spec.agents)
    for method in experiment.fork.methods if experiment.fork is not None else ():
        entities_for(methods.method_class(method), world)
        methods.resolve(method, experiment.options)
    model = worlds.option_model(experiment.world)
    filled = {experiment.world: model.model_validate(read_none(model, world_options)).model_dump(mode="json")}
    for method in experiment.methods:
        filled[method] = methods.resolve(method, experiment.options).model_dump(mode="json")
    talk = _resolved_talk(experiment, filled)
    return experiment.model_copy(update={"max_steps": experiment.step_limit, "options": filled, "talk": talk})


def _resolved_talk(experiment: ExperimentSpec, filled: dict[str, dict[str, Any]]) -> MessageProtocol | None:
    """Fill in the options of the messages; return the protocol, None where only one rule could apply."""
    rules = {method: experiment.message_rule(method) for method in experiment.methods}
    if not message_protocol.differ(experiment.methods):
        filled["messages"] = rules[experiment.methods[0]].model_dump(mode="json")
        return None
    if experiment.protocol == "equal":
        filled["messages"] = rules[experiment.methods[0]].model_dump(mode="json")
    else:
        values = {name: getattr(rules[experiment.methods[0]], name) for name in experiment.options.get("messages", {})}
        filled |= {"messages": values} if any(values.values()) else {}
    return experiment.protocol


def _check_names(experiment: ExperimentSpec, agents: Collection[str]) -> None:
    """Check that named respondents and kinds of questions exist: a misspelt one would do nothing, unnoticed."""
    routes = router.parse_routes(experiment.reasoner)
    bodiless = [name for label in experiment.methods for name in methods.method_class(label).respondents]
    respondents = list(dict.fromkeys([*agents, *bodiless]))
    for share in routes:
        if share.respondent not in ("*", *respondents):
            raise UserError(
                f"--reasoner: no agent '{share.respondent}' in this run{suggest(share.respondent, respondents)}"
            )
    named = [("--reasoner", share.kinds) for share in routes] + [("--sampling", kinds) for kinds in experiment.sampling]
    asked = list(methods.kinds(experiment.methods))
    for option, kinds in named:
        if kinds != "*" and not any(fnmatchcase(kind, kinds) for kind in asked):
            known = any(fnmatchcase(kind, kinds) for kind in methods.kinds())
            where = f" in a run of {', '.join(experiment.methods)}" if known else ""
            raise UserError(f"{option}: no question{where} is of kind '{kinds}'{suggest(kinds, asked)}")


def _first_world_seeds(experiment: ExperimentSpec) -> list[int]:
    numbers = experiment.episode_numbers
    episodes = numbers if experiment.instances == "fresh" else numbers[:1]
    seeds = (
        RunCell("", seed).world_seed(episode, experiment.instances) for episode in episodes for seed in experiment.seeds
    )
    return list(islice(seeds, _TRIED))
