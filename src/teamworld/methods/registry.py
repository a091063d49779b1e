"""Methods by name: the built-in ones and those that other packages register.

A label names a method with its options: ``METHOD``, or ``METHOD:VARIANT`` for one of the method's variants
or one that a user makes by giving options for it. Labels joined by ``+`` name a team that is split among them.
METHOD is a name, or ``MODULE:NAME`` of a class that nobody registers, see ``teamworld.plugins``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from teamworld import plugins
from teamworld.errors import UserError, brief, expectation, suggest
from teamworld.methods.common.mixed_team import JOINT, Part, SplitOptions, split
from teamworld.methods.contract import Method
from teamworld.reasoning.contract import Question
from teamworld.yaml_io import read_none

#: The methods that ship with the package: name -> module and class.
BUILT_IN = {
    "camon": "teamworld.methods.camon.method:Camon",
    "capo": "teamworld.methods.capo.method:Capo",
    "cmas": "teamworld.methods.hmas.central:Cmas",
    "cobel": "teamworld.methods.cobel.method:Cobel",
    "coela": "teamworld.methods.coela.method:Coela",
    "dmas": "teamworld.methods.hmas.dialogue:Dmas",
    "do_nothing": "teamworld.methods.do_nothing.method:DoNothing",
    "drwell": "teamworld.methods.drwell.method:DrWell",
    "embodied": "teamworld.methods.embodied.method:Embodied",
    "greedy": "teamworld.methods.greedy.method:Greedy",
    "hmas1": "teamworld.methods.hmas.dialogue:Hmas1",
    "hmas2": "teamworld.methods.hmas.central:Hmas2",
    "mhp": "teamworld.methods.mhp.method:Mhp",
    "policy": "teamworld.methods.policy.method:Policy",
    "random": "teamworld.methods.random_team.method:RandomTeam",
    "react": "teamworld.methods.react.method:React",
    "rhp": "teamworld.methods.rhp.method:Rhp",
    "zero_shot": "teamworld.methods.zero_shot.method:ZeroShot",
}
#: Packages register their methods under this group of entry points.
GROUP = "teamworld.methods"
_VARIANT = re.compile(r"[a-z0-9_]{1,40}")


def names() -> list[str]:
    """Return the names of all methods."""
    return sorted({*BUILT_IN, *plugins.entry_names(GROUP)})


def ready_names() -> list[str]:
    """Return the names of the methods that play as they are: no option has to be given."""
    models = {name: method_class(name).options for name in names()}
    return [name for name in models if not any(field.is_required() for field in models[name].model_fields.values())]


def reference(part: str) -> str | None:
    """Return the ``MODULE:NAME`` that a label of one method begins with; None for one that is known by its name."""
    name = part.partition(":")[0]
    return None if name in BUILT_IN or ("." not in name and name in names()) else plugins.reference(part)


def method_of(label: str) -> str:
    """Return the name of the method that a label names."""
    return JOINT.join(reference(part) or part.partition(":")[0] for part in parts_of(label))


def parts_of(label: str) -> tuple[str, ...]:
    """Return the labels of the methods among which a team is split; of a team that has one, its label alone."""
    return tuple(label.split(JOINT))


def load(label: str) -> type[Method]:
    """Return the class of the method that a label names, importing it also where it is named as ``MODULE:NAME``.

    Raises:
        UserError: No such method, or it cannot be loaded.
    """
    for part in parts_of(label):
        if (text := reference(part)) is not None:
            plugins.load(text)
    return method_class(label)


def method_class(label: str) -> type[Method]:
    """Return the class of the method that a label names; ``load`` has to be called first for one of ``MODULE:NAME``.

    Raises:
        UserError: No such method.
    """
    if len(parts := parts_of(label)) > 1:
        return split([Part(part, method_class(part)) for part in parts])
    name = method_of(label)
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        method: type[Method] = getattr(importlib.import_module(module), attribute)
        return method
    offered = plugins.loaded(name) if reference(name) else plugins.load_entry(GROUP, name)
    if offered is None:
        raise UserError(f"unknown method '{name}'{suggest(name, names())}")
    return _checked(offered, name)


def may_learn(label: str) -> bool:
    """Return whether a method learns, without loading one that is named as ``MODULE:NAME``: it may."""
    return any(reference(part) is not None or method_class(part).learns for part in parts_of(label))


def _checked(offered: object, name: str) -> type[Method]:
    """Return what somebody else offers as a method, having seen that it is one; raises ``UserError``."""
    if not (isinstance(offered, type) and issubclass(offered, Method)):
        raise UserError(f"'{name}' is no method: expected a class that derives from {Method.__module__}.Method")
    missing = [part for part in ("name", "summary") if not isinstance(getattr(offered, part, None), str)]
    missing += ["decide"] if offered.decide is Method.decide else []
    missing += [] if hasattr(offered.options, "model_validate") else ["options, a pydantic model"]
    if missing:
        raise UserError(f"'{name}' is no method: it lacks {', '.join(missing)}")
    return offered


def resolve(label: str, options: Mapping[str, Mapping[str, Any]]) -> BaseModel:
    """Return the options of a label.

    The method's defaults give way to the options given for the method, these to what makes the variant,
    and that to the options given for the label.

    Args:
        label: ``METHOD`` or ``METHOD:VARIANT``.
        options: What is given, by method and by label; others are passed over.

    Raises:
        UserError: No such method, variant or option, or a value that does not fit.
    """
    if len(parts_of(label)) > 1:
        return _resolve_split(label, options)
    method, name = method_class(label), method_of(label)
    return _model(label, {**options.get(name, {}), **_preset(label, method, options), **options.get(label, {})})


def _resolve_split(label: str, options: Mapping[str, Mapping[str, Any]]) -> BaseModel:
    """Return the options of a split team: those of each method, as it would have them alone, and what is given here."""
    method_class(label)  # says first what cannot share a team
    parts, own_options = parts_of(label), options.get(label, {})
    own = SplitOptions.model_validate(_model(label, {"parts": {}, **own_options}), from_attributes=True).parts
    for part in own:
        if part not in parts:
            raise UserError(f"options of '{part}', which is no part of '{label}'{suggest(part, list(parts))}")
    filled = {}
    for part in parts:
        beside = {part: {**options.get(part, {}), **own[part]}} if part in own else {}
        filled[part] = resolve(part, {**options, **beside}).model_dump(mode="json")
        if make(part, filled[part]).learns_in(1):
            raise UserError(f"'{label}': {part} learns from the episodes of a whole team and cannot share one")
    return _model(label, {"parts": filled})


def make(label: str, options: Mapping[str, Any]) -> Method:
    """Return a new method with the given options alone, for one episode."""
    return method_class(label)(_model(label, options))


def _model(label: str, options: Mapping[str, Any]) -> BaseModel:
    model = method_class(label).options
    try:
        return model.model_validate(read_none(model, options))
    except ValidationError as error:
        raise UserError(option_error(f"method '{label}'", model, error)) from None


def _preset(label: str, method: type[Method], options: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what makes a variant.

    Raises:
        UserError: The method has no such variant, and nobody made one of this name.
    """
    name = method_of(label)
    colon, variant = label[len(name) :][:1], label[len(name) + 1 :]
    if not colon:
        return {}
    if not _VARIANT.fullmatch(variant):
        raise UserError(f"'{label}': a variant's name has 1 to 40 letters a-z, digits and '_', got '{variant}'")
    if variant in method.variants:
        return method.variants[variant].options
    if label in options:
        return {}
    if not method.options.model_fields:
        raise UserError(f"method '{name}' has no options, so no variants: leave out ':{variant}'")
    raise UserError(
        f"method '{name}' has no variant '{variant}'{suggest(variant, sorted(method.variants))} "
        f"(one of your own needs options, such as --set {label}.OPTION=VALUE)"
    )


def kinds(labels: Iterable[str] | None = None) -> dict[str, type[Question[Any]]]:
    """Return the questions by their kinds, ordered: those of the methods that some labels name, or of all methods."""
    asking = [method_class(label) for label in (names() if labels is None else labels)]
    questions = {question.kind: question for method in asking for question in method.questions}
    return dict(sorted(questions.items()))


def option_error(owner: str, model: type[BaseModel], error: ValidationError) -> str:
    """Return one line on the first thing wrong with some options."""
    first = error.errors()[0]
    option = ".".join(map(str, first["loc"]))[:80]
    if first["type"] == "extra_forbidden":
        return f"unknown option '{option}' of {owner}{suggest(option, list(model.model_fields))}"
    if first["type"] == "too_short":
        return f"option '{option}' of {owner}: at least one is needed, got none"
    says = expectation(first["msg"])
    if not option:
        return f"options of {owner}: {says}"
    return f"option '{option}' of {owner}: {says}, got {brief(first['input'])}"
