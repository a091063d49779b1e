"""A question to a person as a page shows it: panels to read, a form to fill in, all made from what the prompt shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from pydantic_core import PydanticUndefined

from teamworld.language import ParseError, parse_action, plain
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.reasoning.contract import Question
from teamworld.reasoning.human import fields_in_order, is_list, printable_line, show_offer
from teamworld.reasoning.prompts import Prompt

#: What a field holds: one of its offers; words; texts, each a line; yes or no; a number; rows of fields; other JSON.
FieldKind = Literal["choice", "text", "lines", "flag", "number", "rows", "json"]
#: Offers of one field that are shown; a field that takes any value takes others all the same.
_MOST_OFFERS = 200
_HEADING = re.compile(r"^## +(.*)$", re.MULTILINE)


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a prompt."""

    head: str
    """Empty for what stands before the first heading."""
    text: str


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A value to choose."""

    value: Any
    words: str
    note: str = ""
    """What is known of it, such as its steps."""


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of an answer."""

    name: str
    words: str
    """What is to be filled in."""
    kind: FieldKind
    is_required: bool = True
    is_nullable: bool = False
    longest: int | None = None
    """In characters."""
    default: Any = None
    offers: tuple[Offer, ...] = ()
    is_open: bool = False
    """A choice that takes other values than its offers: an action in written form."""
    fields: tuple[FormField, ...] = ()
    """Of each row."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A question."""

    kind: str
    title: str
    """What it is about, in a line."""
    ask: str
    """The question itself."""
    panels: tuple[Panel, ...]
    """What is the case now."""
    rules: tuple[Panel, ...]
    """What holds for every question of its kind."""
    form: tuple[FormField, ...]
    complaints: tuple[str, ...]
    """What was wrong with earlier answers."""


def make_sheet(question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> Sheet:
    """Return a question as a page shows it: its prompt and its form, and nothing else."""
    body, _, ask = prompt.user.rpartition("\n\n")
    if not body or "## " in ask:
        body, ask = prompt.user, ""
    return Sheet(
        kind=question.kind,
        title=(type(question).__doc__ or question.kind).partition("\n")[0],
        ask=ask.strip(),
        panels=_panels(body),
        rules=_panels(prompt.system),
        form=make_form(question, {}),
        complaints=tuple(complaints),
    )


def _panels(text: str) -> tuple[Panel, ...]:
    first, *rest = _HEADING.split(text)
    parts = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    return tuple(Panel(head=head.strip(), text=body.strip()) for head, body in parts if head or body.strip())


def make_form(question: Question[Any], answered: Mapping[str, Any]) -> tuple[FormField, ...]:
    """Return the fields of an answer, in the order in which a person decides.

    Args:
        question: What is asked.
        answered: The values of fields so far, on which the offers of others depend.
    """
    schema = question.answer.model_json_schema()
    definitions = schema.get("$defs", {})
    notes = _notes(question)
    made = []
    for name, info in fields_in_order(question):
        offers = question.offers(name, answered)[:_MOST_OFFERS]
        default = None if info.default is PydanticUndefined else info.default
        field = _field(name, schema["properties"][name], definitions, required=info.is_required(), default=default)
        if field.fields:
            field = msgspec.structs.replace(field, fields=tuple(_suggested(part, question) for part in field.fields))
        if offers:
            kind: FieldKind = "lines" if is_list(info) else "choice"
            shown = [_offer(offer, notes) for offer in offers]
            of_actions = kind == "lines" or any(map(_is_action, offers))
            if of_actions:
                shown += _moves(question, {offer.words for offer in shown})
            field = msgspec.structs.replace(
                field, kind=kind, offers=tuple(shown), is_open=kind == "choice" and of_actions
            )
        made.append(field)
    return tuple(made)


def _suggested(part: FormField, question: Question[Any]) -> FormField:
    """Return a field of a row with what it could name: an agent, a goal or an action that the question shows."""
    views = question.views.values()
    match part.name:
        case "agent":
            names: Iterable[str] = question.views
        case "goal":
            names = (goal.id for view in views for goal in view.goals if goal.state == "open")
        case "action":
            names = (plain(option.action) for view in views for option in view.options)
        case _:
            names = ()
    offers = tuple(Offer(value=name, words=name) for name in dict.fromkeys(names))
    return msgspec.structs.replace(part, offers=offers[:_MOST_OFFERS])


def _offer(offer: object, notes: Mapping[str, str]) -> Offer:
    words = show_offer(offer)
    value = list(offer) if isinstance(offer, tuple | list) else offer
    return Offer(value=value, words=plain(words) if isinstance(offer, str) else words, note=notes.get(plain(words), ""))


def _is_action(offer: object) -> bool:
    if not isinstance(offer, str):
        return False
    try:
        parse_action(offer)
    except ParseError:
        return False
    return True


def _moves(question: Question[Any], taken: Collection[str]) -> list[Offer]:
    """Return the primitive actions that an agent can do now, where its world has some and the agent can name them."""
    if not isinstance(question, AgentQuestion) or (arrays := question.domain.arrays) is None:
        return []
    verbs = {schema.verb for schema in question.me.abilities}
    able = [action for action in arrays.actions if action.verb in verbs and question.view.check(action).ok]
    return [
        Offer(value=str(action), words=plain(action), note="single move")
        for action in able
        if plain(action) not in taken
    ]


def _notes(question: Question[Any]) -> dict[str, str]:
    """Return what the prompt's list of options says of each: its steps."""
    view = question.views.get(question.respondent)
    options = () if view is None else view.options
    return {plain(option.action): f"about {option.steps} step{'' if option.steps == 1 else 's'}" for option in options}


def _field(
    name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], *, required: bool, default: object
) -> FormField:
    """Return a field by its JSON schema."""
    nullable = False
    if "anyOf" in schema:
        others = [part for part in schema["anyOf"] if part.get("type") != "null"]
        nullable = len(others) < len(schema["anyOf"])
        schema = {**schema, **others[0]} if len(others) == 1 else schema
    words = schema.get("description", "")
    schema = _resolve(schema, definitions)
    kind, offers, fields = _kind(schema, definitions)
    return FormField(
        name=name,
        words=words,
        kind=kind,
        is_required=required,
        is_nullable=nullable,
        longest=schema.get("maxLength"),
        default=default,
        offers=offers,
        fields=fields,
    )


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref", "").rpartition("/")[2]
    resolved: Mapping[str, Any] = definitions.get(reference, schema)
    return resolved


def _kind(
    schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> tuple[FieldKind, tuple[Offer, ...], tuple[FormField, ...]]:
    """Return the kind of a field with what it offers and, of rows, the fields of each."""
    if "enum" in schema:
        return "choice", tuple(Offer(value=value, words=str(value)) for value in schema["enum"]), ()
    match schema.get("type"):
        case "string":
            return "text", (), ()
        case "boolean":
            return "flag", (), ()
        case "integer" | "number":
            return "number", (), ()
        case "array":
            item = _resolve(schema.get("items", {}), definitions)
            if item.get("type") == "string":
                return "lines", (), ()
            if item.get("type") == "object" and "properties" in item:
                needed = item.get("required", ())
                fields = tuple(
                    _field(name, part, definitions, required=name in needed, default=part.get("default"))
                    for name, part in item["properties"].items()
                )
                return "rows", (), fields
    return "json", (), ()


def read_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a page sends them, with every text as one line of characters that can be printed."""
    return {name: _clean(value) for name, value in values.items()}


def _clean(value: object) -> object:
    match value:
        case str():
            return printable_line(value)
        case list():
            return [_clean(part) for part in value]
        case dict():
            return {str(name): _clean(part) for name, part in value.items()}
    return value
