"""Answers of language models: the form that a request asks for, and how an answer is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from teamworld.reasoning.contract import Answer, BadAnswer, Flaw
from teamworld.reasoning.llm.contract import Completion, Form
from teamworld.reasoning.llm.lenient_json import FoundObjects, Tangled, find_objects

#: Longest complaint, in characters.
COMPLAINT = 300
#: Longest text in a field without a bound of its own: an id, an action.
LONGEST_NAME = 1000
#: The field with which answers begin, unless a run does without.
REASONING = "reasoning"
_TRIED = 100  # objects of one text, from the last
_WRAPS = 3  # layers round an answer
_SHOWN = 40  # characters of what came, in a complaint

#: Bounds are said in words: no strict form takes all of them, and models heed words.
_BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "pattern": "matching {}",
}
_WANTED: Mapping[Form, str] = {
    "schema": "answer with one JSON object",
    "tool": "give the arguments as one JSON object",
    "json": "answer with one JSON object and nothing else",
    "text": "put the answer as one JSON object between <answer> and </answer>",
}
#: A name or an action where the model can be held to it: ASCII that JSON needs not escape.
_NAME = r"^[ !#-\[\]-~]{1,200}$"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HALF = re.compile(r"[\ud800-\udfff]")
_NOTHING = re.compile(r"[\s\x00\ufeff\u200b-\u200f\u2060]|`{3,}\w*|<\|\w*\|>")
_FENCE = re.compile(r"^[\s\ufeff]*```\w*\s*|(?<!\s)\s*+```[\s\ufeff]*$")


class _Shape(NamedTuple):
    """What reading needs to know of an answer's model."""

    full: dict[str, Any]
    """Its JSON schema without references, bounds and all."""
    fields: tuple[str, ...]
    prose: frozenset[str]
    """Names of its free texts."""


#: Characters of a text at most where llama.cpp holds a model to its bounds: it takes no grammar that repeats more.
_LONGEST = 1000


@cache
def make_schema(model: type[BaseModel], *, bounds: bool = False, reasoning: bool = True) -> dict[str, Any]:
    """Return the JSON schema of an answer in the subset that the strict modes of all providers take.

    It is one object for all requests: nobody changes it.

    References are put in place, titles and defaults left out, no other fields allowed and all of them required; a
    field that may be null stays one. Bounds (``maxLength``, ``minimum``, ...) stand in words in the descriptions, for
    every form of the answer alike: OpenAI's strict mode takes no lengths, Anthropic's no bounds at all, and the
    answer is checked against its model anyway. Descriptions of objects are the docstrings of their models.

    Args:
        model: Of the answer.
        bounds: Keep the bounds as well, and bound names and actions, for llama.cpp, which holds a model to them.
        reasoning: Keep the field ``reasoning``, with which answers begin.

    Raises:
        TypeError: The model cannot be said so: it is recursive, a mapping, a tuple of fixed length, ...
    """
    schema = _strict(_shape(model).full, model.__name__, bounds)
    if reasoning or REASONING not in schema["properties"] or len(schema["properties"]) == 1:
        return schema  # where it is all that is asked for it stays
    kept = {name: part for name, part in schema["properties"].items() if name != REASONING}
    return {**schema, "properties": kept, "required": list(kept)}


def describe_form(form: Form, schema: Mapping[str, Any]) -> str:
    """Return what a prompt says about the form of the answer; nothing where the provider holds the model to it.

    Args:
        form: How the answer is asked for. Both ``json`` and ``text`` ask for JSON (JSON mode wants to read the
            word), ``text`` between tags, since nothing keeps such a model from talking.
        schema: From ``schema_of``.
    """
    if form in {"schema", "tool"}:
        return ""
    example = "{" + ", ".join(f"{json.dumps(name)}: ..." for name in schema["properties"]) + "}"
    if form == "json":
        first = f"Answer with one JSON object and nothing else, in this form: {example}"
    else:
        first = f"Give your answer as one JSON object between tags, in this form: <answer>{example}</answer>"
    return "\n".join([first, "All of its fields are needed:", *_describe_fields(schema, "")])


def read_answer(completion: Completion, model: type[Answer], form: Form) -> Answer:
    """Read the answer in a completion.

    Of several objects the last complete one that fits the model is taken: models think aloud, draft and correct
    themselves, and what they end with is what they settled on. Objects between ``<answer>`` tags go before others. An
    answer inside another object counts where that one has no field of the model: a tool call, ``{"answer": ...}``.

    What a model says is data. A free text, that is a string field with a ``max_length`` (and without a pattern or
    choices), is cut to that length, and loses control characters and halves of surrogate pairs; it is worth no
    re-ask. All other strings, ids and actions, are never altered: with such characters, or longer than
    ``LONGEST_NAME``, they are refused. So are numbers that are not finite.

    Args:
        completion: As it came.
        model: What the answer has to be.
        form: How it was asked for; it only shapes the complaint.

    Raises:
        BadAnswer: ``refused`` where the provider says so (a model that declines in words has given no JSON);
            ``cut`` where the token limit was hit before a complete answer; else ``empty``, ``json`` or ``schema``.
    """
    text, cut = completion.text, completion.finish == "length"
    shape = _shape(model)
    if completion.finish == "refused":
        raise _rejection("the answer was refused; answer the question as it is put", "refused", text)
    try:
        objects = find_objects(text, shape.prose)
    except Tangled:
        raise _rejection(f"too many braces and quotes to read it; {_wanted_form(form, shape)}", "json", text) from None
    misfits: list[tuple[dict[str, Any], str]] = []
    if not (cut and objects.open):
        layers = [layer for value in objects.objects[-_TRIED:] for layer in _unwrap(value, shape)]
        for value in reversed(layers[-_TRIED:]):
            fitted = _fit(value, model, shape)
            if isinstance(fitted, model):
                return fitted
            misfits.append((value, str(fitted)))
    if cut:
        complaint = f"the answer hit the token limit before it was complete; be brief, and {_wanted_form(form, shape)}"
        raise _rejection(complaint, "cut", text)
    if misfits:
        meant = [complaint for value, complaint in misfits if not value.keys().isdisjoint(shape.fields)]
        raise _rejection((meant or [misfits[0][1]])[0], "schema", text)
    flaw, complaint = _explain_missing_object(objects)
    raise _rejection(f"{complaint}; {_wanted_form(form, shape)}", flaw, text)


def _explain_missing_object(objects: FoundObjects) -> tuple[Flaw, str]:
    """Return what is wrong with a text in which no object was found."""
    if not _NOTHING.sub("", objects.rest):
        return "empty", "the answer is empty"
    if objects.open:
        return "json", "the JSON object is not complete"
    if (came := _describe_other_json(objects.rest)) is not None:
        return "schema", f"expected a JSON object, got {came}"
    if objects.broken is not None:
        where = f"the JSON object cannot be read from {_show_value(objects.broken[:_SHOWN])} on"
        return "json", f"{where} (is a comma, a quote or a backslash before one missing?)"
    return "json", "there is no JSON object in the answer"


def _rejection(complaint: str, flaw: Flaw, text: str) -> BadAnswer:
    return BadAnswer(_shorten(complaint, COMPLAINT), flaw, text)


def _wanted_form(form: Form, shape: _Shape) -> str:
    return f"{_WANTED[form]} with the fields {', '.join(shape.fields)}"


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


# The schema


@cache
def _shape(model: type[BaseModel]) -> _Shape:
    schema = model.model_json_schema()
    full = _inline_references(schema, schema.get("$defs", {}), ())
    return _Shape(full, tuple(full.get("properties", ())), frozenset(_prose_fields(full)))


def _inline_references(schema: Mapping[str, Any], defs: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """Return a schema with references put in place, without titles and defaults."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name in inside:
            raise TypeError(f"{name} holds itself: the schema of an answer cannot be recursive")
        schema, inside = {**defs[name], **schema}, (*inside, name)
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _inline_references(part, defs, inside) for name, part in value.items()}
        elif key == "items":
            plain[key] = _inline_references(value, defs, inside)
        elif key == "anyOf":
            plain[key] = [_inline_references(part, defs, inside) for part in value]
        elif key not in {"$ref", "$defs", "title", "default"}:
            plain[key] = value
    return plain


def _strict(schema: Mapping[str, Any], path: str, bounds: bool) -> dict[str, Any]:
    """Return a schema without references in the subset that every strict mode takes, with bounds if wanted."""
    strict: dict[str, Any] = {}
    words = [schema["description"]] if "description" in schema else []
    words += [bound.format(schema[key]) for key, bound in _BOUNDS.items() if key in schema]
    for key, value in schema.items():
        if key == "properties":
            strict[key] = {name: _strict(part, f"{path}.{name}", bounds) for name, part in value.items()}
            strict["required"] = list(value)
            strict["additionalProperties"] = False
        elif key == "items":
            strict[key] = _strict(value, f"{path}[]", bounds)
        elif key == "anyOf":
            strict[key] = [_strict(part, path, bounds) for part in value]
        elif key in {"type", "enum", "const"} or (bounds and key in _BOUNDS):
            strict[key] = min(value, _LONGEST) if key == "maxLength" else value
        elif key not in {"description", "required", "additionalProperties", *_BOUNDS}:
            raise TypeError(f"{path}: no strict mode takes {key} in the schema of an answer")
    if schema.get("type") == "object" and "properties" not in schema:
        raise TypeError(f"{path}: no strict mode takes a mapping; use a list of objects")
    if strict.keys().isdisjoint({"type", "anyOf", "enum", "const"}):
        raise TypeError(f"{path}: no strict mode takes a value of any type")
    if (
        bounds
        and schema.get("type") == "string"
        and schema.keys().isdisjoint({"maxLength", "pattern", "enum", "const"})
    ):
        strict["pattern"] = _NAME
    if words:
        strict["description"] = "; ".join(words)
    return strict


def _branches(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what a value may be."""
    return (schema, *schema.get("anyOf", ()))


def _part_schema(schema: Mapping[str, Any], key: str | int) -> Mapping[str, Any]:
    """Return the schema of a part of a value; an empty one where there is none."""
    for kind in _branches(schema):
        if isinstance(key, str) and key in kind.get("properties", ()):
            return kind["properties"][key]  # type: ignore[no-any-return]
        if isinstance(key, int) and "items" in kind:
            return kind["items"]  # type: ignore[no-any-return]
    return {}


def _prose_limit(schema: Mapping[str, Any]) -> int | None:
    """Return the longest length of a free text, None for everything else."""
    for kind in _branches(schema):
        if "maxLength" in kind and kind.keys().isdisjoint({"pattern", "enum", "format"}):
            return int(kind["maxLength"])
    return None


def _prose_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, part in schema.get("properties", {}).items():
        if _prose_limit(part) is not None:
            yield name
        yield from _prose_fields(part)
    for part in (*schema.get("anyOf", ()), schema.get("items")):
        yield from _prose_fields(part) if part else ()


def _describe_fields(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, part in schema.get("properties", {}).items():
        about = "; ".join(kind["description"] for kind in _branches(part) if "description" in kind)
        yield f"{indent}- {name} ({_describe_type(part)}){about and ': '}{about}"
        for inner in (*_branches(part), _part_schema(part, 0)):
            yield from _describe_fields(inner, indent + "  ")


def _describe_type(schema: Mapping[str, Any]) -> str:
    """Return what a value is, in words."""
    if "anyOf" in schema:
        return " or ".join(_describe_type(part) for part in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(choice) for choice in schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        return f"list of {_describe_type(schema['items'])}"
    return str(schema["type"])


# Fitting


def _unwrap(value: dict[str, Any], shape: _Shape, depth: int = _WRAPS) -> Iterator[dict[str, Any]]:
    """Yield an object and, where it has no field of the answer, the objects wrapped in it, text included."""
    yield value
    if not depth or not value.keys().isdisjoint(shape.fields):
        return
    for part in value.values():
        inner = part if isinstance(part, list) else [part]
        if isinstance(part, str) and part.lstrip().startswith("{"):
            try:
                inner = list(find_objects(part, shape.prose).objects)
            except Tangled:
                continue
        for wrapped in inner:
            if isinstance(wrapped, dict):
                yield from _unwrap(wrapped, shape, depth - 1)


def _fit(value: dict[str, Any], model: type[Answer], shape: _Shape) -> Answer | str:
    """Return the answer that an object is, or what keeps it from being one."""
    try:
        answer = model.model_validate(_tidy(value, shape.full))
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems = [_describe_problem(detail) for detail in details[:3]]
        return "; ".join([*problems, f"the fields are {', '.join(shape.fields)}"])
    return next(_find_unsafe(answer.model_dump(), shape.full, ""), answer)


def _tidy(value: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return a value with its free texts made fit; the schema bounds how deep it goes."""
    limit = _prose_limit(schema)
    if isinstance(value, str) and limit is not None:
        return _shorten(_HALF.sub("\ufffd", _CONTROL.sub(" ", value)), limit)
    if isinstance(value, dict) and schema:
        return {key: _tidy(part, _part_schema(schema, key)) for key, part in value.items()}
    if isinstance(value, list) and schema:
        return [_tidy(part, _part_schema(schema, 0)) for part in value]
    return value


def _find_unsafe(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:  # noqa: ANN401
    """Yield what no part of the program should have to deal with."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _find_unsafe(part, _part_schema(schema, key), f"{path}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _find_unsafe(part, _part_schema(schema, 0), f"{path}[{index}]")
    elif isinstance(value, (int, float)) and not abs(value) < 2**63:
        yield f"{path}: expected a number of ordinary size, got {_show_value(value)}"
    elif isinstance(value, str) and (_CONTROL.search(value) or _HALF.search(value)):
        yield f"{path}: expected text without control characters, got {_show_value(value)}"
    elif isinstance(value, str) and _prose_limit(schema) is None and len(value) > LONGEST_NAME:
        yield f"{path}: expected at most {LONGEST_NAME} characters, got {_show_value(value)}"


def _describe_problem(detail: ErrorDetails) -> str:
    """Return one of pydantic's errors in plain words: where, what was expected, what came."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{_shorten(part, _SHOWN)}" for part in detail["loc"])
    path = _HALF.sub("\ufffd", _CONTROL.sub(" ", path)).lstrip(".") or "the answer"
    if detail["type"] == "missing":
        return f"{path}: missing"
    if detail["type"] == "extra_forbidden":
        return f"{path}: no field of the answer"
    expected = detail["msg"].replace("Input should be", "expected", 1).replace("tuple", "list")
    return f"{path}: {_shorten(expected, 120)}, got {_show_value(detail['input'])}"


def _show_value(value: Any) -> str:  # noqa: ANN401
    """Return what came, in a few words that show no control characters."""
    if isinstance(value, str):
        return f"{value!r}" if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}… ({len(value)} characters)"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"the number {value}" if abs(value) < 2**63 else "a number out of range"


def _describe_other_json(text: str) -> str | None:
    """Return what a text is that is JSON, but no object; None where it is no JSON."""
    try:
        return _show_value(from_json(_FENCE.sub("", text)))
    except ValueError:
        return None
