"""Read an action in free words as an action of the world; the same text always gives the same action."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from teamworld.errors import UserError
from teamworld.language import (
    Action,
    ActionSchema,
    Entity,
    Param,
    ParseError,
    Term,
    parse_action,
    plain,
    written_names,
)
from teamworld.worlds.contract import WAIT, Domain, View

#: Characters of a text that are read; what follows is talk.
LONGEST = 1000
#: How alike a text and the written form of an option have to be, from 0 to 1, to be taken for the same.
ALIKE = 0.85
#: Verbs of a text that are looked at.
MENTIONS = 12

_TAG = re.compile(r"<action>(.*?)(?:</action>|<action>|$)", re.IGNORECASE | re.DOTALL)
_QUOTES = " \t\r\n\"'`*«»\u201c\u201d\u2018\u2019.,;:!"
_NUMBERED = re.compile(
    r"(?:option|action|number|no\.?)?\s*#?(\d{1,4})(?:\s*[.):\-]\s*(.*))?", re.IGNORECASE | re.DOTALL
)
_NOTHING = re.compile(
    r"(do |take )?(nothing|no action|noop|no-op|none|wait|stay|idle)( for one (tick|step))?", re.IGNORECASE
)
_CELL = re.compile(r"[(\[]\s*(\d{1,6})\s*,\s*(\d{1,6})\s*[)\]]|row\s*(\d{1,6})\W+(?:and\s+)?col(?:umn)?\s*(\d{1,6})")
_COUNT = re.compile(r"(?<![\w.])(\d{1,6})(?![\w.]\w)")


def action_text(text: str) -> str:
    """Return what stands in the first pair of action tags, or the text, without quotation marks round it."""
    tagged = _TAG.search(text)
    return (tagged[1] if tagged is not None else text)[:LONGEST].strip(_QUOTES)


def read_action(text: str, view: View, domain: Domain, numbered: Sequence[Action] | None = None) -> Action | None:
    """Return the action that a text means, complete with its defaults; None where it cannot be told.

    Tried in turn: the written form; the number of an option, from 1; a verb with cells, names and numbers after it,
    if several verbs are named the first that can start; the option that is written most alike. The same text, view
    and options always give the same action. Whether it can start now is for ``View.check`` to say.

    Args:
        text: In any words, in tags or not.
        view: Of the agent that is to act.
        domain: The rules of its world.
        numbered: What the numbers stand for; the view's options if None.
    """
    words, schemas = action_text(text), {schema.verb: schema for schema in view.abilities if schema.verb != "talk"}
    if not words:
        return None
    options = [option.action for option in view.options] if numbered is None else list(numbered)
    if (reading := parse_written(words, schemas) or parse_written(_right_verb(words, schemas), schemas)) is not None:
        return reading
    number = _NUMBERED.fullmatch(words)
    if number is not None and 1 <= int(number[1]) <= len(options):
        rest = parse_written(number[2] or "", schemas)
        return rest or _whole(options[int(number[1]) - 1], schemas)
    if _NOTHING.fullmatch(words):
        return WAIT
    spoken = list(_spoken(words, schemas))
    able = (action for action in spoken if domain.check(view.agent, action, view.known).ok)
    if (reading := next(able, spoken[0] if spoken else _alike(words, options))) is None:
        return None
    return _whole(reading, schemas)


def _right_verb(text: str, schemas: Iterable[str]) -> str:
    """Return a written form with the verb that it nearly has: ``move_to_blok(...)`` is no ``move``."""
    verb, bracket, rest = text.partition("(")
    near = difflib.get_close_matches(verb.strip(), schemas, n=1, cutoff=ALIKE) if bracket else []
    return f"{near[0]}({rest}" if near else text


def _whole(action: Action, schemas: Mapping[str, ActionSchema]) -> Action:
    """Return an option with its defaults; as it is where the world offers it in no ability."""
    try:
        return schemas[action.verb].complete(action) if action.verb in schemas else action
    except UserError:
        return action


def parse_written(text: str, schemas: Mapping[str, ActionSchema]) -> Action | None:
    """Return the action of a text in written form, complete with its defaults; None if it is not in that form.

    Args:
        text: See ``read_written``.
        schemas: All that the agent can do, by verb.
    """
    try:
        return read_written(text, schemas)
    except UserError:
        return None


def read_written(text: str, schemas: Mapping[str, ActionSchema]) -> Action:
    """Return the action of a text in written form, complete with its defaults.

    Things may have their plain names, their exact ones or their numbers alone, in quotes or not; arguments may be named
    (``steps=3``); ``go(2, 3)`` is read as ``go((2, 3))``, and a verb alone as one without arguments.

    Args:
        text: May stand between quotation marks.
        schemas: All that the agent can do, by verb.

    Raises:
        UserError: There is no such action, or its arguments do not fit; says what was expected.
    """
    kinds = {choice.kind for schema in schemas.values() for param in schema.params for choice in param.choices
             if isinstance(choice, Entity)}  # fmt: skip
    words = written_names(text.strip(_QUOTES), kinds).replace("'", '"')
    said, bracket, rest = words.partition("(")
    verb = next((verb for verb in schemas if verb.lower() == said.strip().lower()), said.strip())
    if verb.lower() in ("wait", "noop") and rest.strip(" )") in ("", "1"):
        return WAIT
    words, schema = verb + bracket + rest, schemas.get(verb)
    if schema is not None and (named := re.fullmatch(r"\w+\s*\((.*)\)", words, re.DOTALL)) is not None:
        words = f"{verb}({_in_order(named[1], schema)})"
    refused: UserError | None = None
    for form in (words, re.sub(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)$", r"((\1, \2))", words), f"{words}()"):
        try:
            action = parse_action(form)
        except ParseError:
            continue
        if action.verb not in schemas:
            raise UserError(f"there is no action {action.verb}; there are: {', '.join(schemas)}")
        try:
            args = [_fit(arg, param) for arg, param in zip(action.args, schemas[action.verb].params, strict=False)]
            return schemas[action.verb].complete(Action(action.verb, (*args, *action.args[len(args) :])))
        except UserError as error:
            refused = refused or error
    known = f"such as {_form(schema)}" if schema is not None else f"there are: {', '.join(schemas)}"
    raise refused or UserError(f"'{text[:80]}' is no action in written form; {known}")


def _form(schema: ActionSchema) -> str:
    return schema.signature() if schema.example is None else plain(schema.example)


def _in_order(args: str, schema: ActionSchema) -> str:
    """Return arguments, some of which may be named, in the schema's order and without names."""
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", args)]
    named = [re.match(r"(\w+)\s*[=:]\s*(.+)$", part, re.DOTALL) for part in parts]
    by_name = {match[1]: match[2] for match in named if match is not None}
    names = [param.name for param in schema.params]
    if not by_name or not by_name.keys() <= set(names):
        return args
    rest = [part for part, match in zip(parts, named, strict=True) if match is None]
    values = rest + [by_name.get(name, "") for name in names[len(rest) :]]
    while values and not values[-1]:
        values.pop()
    return ", ".join(values) if all(values) else args


def _fit(arg: Term, param: Param) -> Term:
    """Return the value of a parameter that a slip of the pen stands for; the argument itself where there is none."""
    if arg in param.choices:
        return arg
    if param.kind == "count":
        is_whole = (isinstance(arg, str) and arg.isdecimal()) or (isinstance(arg, float) and arg == int(arg))
        return int(arg) if is_whole and isinstance(arg, str | float) else arg
    alike: list[Term]
    if isinstance(arg, int):
        alike = [choice for choice in param.choices if isinstance(choice, Entity) and choice.id == arg]
    else:
        alike = [choice for choice in param.choices if plain(choice).lower() == plain(arg).strip('"').lower()]
    return alike[0] if len(alike) == 1 else arg


def _spoken(text: str, schemas: Mapping[str, ActionSchema]) -> Iterator[Action]:
    """Yield the actions that are spoken of, in order: a verb, and what it needs in the words that follow it."""
    verbs = sorted(schemas.keys() - {"wait"}, key=len, reverse=True)  # "wait for him" is no action
    named = "|".join(re.escape(verb).replace("_", r"[_\s\-]") for verb in verbs)
    mentions = list(re.finditer(rf"(?<![A-Za-z]){'(' + named + ')'}(?![A-Za-z])", text, re.IGNORECASE)) if verbs else []
    for mention in mentions[:MENTIONS]:
        schema = schemas.get(re.sub(r"[\s\-]", "_", mention[1].lower()))
        if schema is None:
            continue
        rest, args = text[mention.start() :], list[Term]()  # "push block 3": the verb may end in a name
        for param in schema.params:
            value, rest = _argument(param, rest)
            if value is None:
                break
            args.append(value)
        try:
            yield schema.complete(Action(schema.verb, tuple(args)))
        except UserError:
            continue


def _argument(param: Param, text: str) -> tuple[Term | None, str]:
    """Return the first value for a parameter in a text, and the text without it."""
    if param.kind == "cell":
        cell = _CELL.search(text)
        if cell is None:
            return None, text
        row, column = (int(part) for part in cell.groups() if part is not None)
        return (row, column), _without(text, cell)
    if param.kind == "count":
        count = _COUNT.search(_CELL.sub(lambda cell: " " * len(cell[0]), text))
        return (None, text) if count is None else (int(count[1]), _without(text, count))
    mentions: list[tuple[int, int, Term, re.Match[str]]] = []
    for choice in param.choices:
        if (mention := re.search(_names(choice), text, re.IGNORECASE)) is not None:
            mentions.append((mention.start(), -len(mention[0]), choice, mention))
    if not mentions:
        return None, text
    _, _, value, mention = min(mentions, key=lambda entry: entry[:2])
    return value, _without(text, mention)


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _names(choice: Term) -> str:
    """Return a pattern for what people write for a value: ``<block>(3)``, ``block 3``, ``block_3``; a word."""
    if isinstance(choice, Entity):
        return rf"<?\s*{re.escape(choice.kind)}\s*>?\s*[_#(\s]?\s*{choice.id}\b\)?"
    return rf"(?<!\w){re.escape(str(choice))}(?!\w)"


def _alike(text: str, options: Sequence[Action]) -> Action | None:
    """Return the option that is written most alike; another number is another action, not a slip of the pen."""
    numbers = re.findall(r"\d+", text)
    forms = {form.lower(): action for action in options if re.findall(r"\d+", form := plain(action)) == numbers}
    near = difflib.get_close_matches(plain(text).lower(), list(forms), n=1, cutoff=ALIKE)
    return forms[near[0]] if near else None
