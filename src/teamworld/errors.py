"""The one exception that means: the input is wrong, the program is not."""

import reprlib

_SHOWN = 80  # characters of a value in a message
#: Pydantic's words and ours, in the order in which they are replaced.
_PLAIN = {
    "Field required": "it is missing",
    "Input should be": "expected",
    "a valid integer": "a whole number",
    "a valid tuple": "a list",
    "a valid ": "a ",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel, _BRIEF.maxstring, _BRIEF.maxother, _BRIEF.maxlong = 3, _SHOWN, _SHOWN, _SHOWN


class UserError(ValueError):
    """Input that cannot be used: one line that says what was expected, what came, and what to do.

    The command line prints the message and exits with code 2; nothing is lost or half written.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split())))


def printable(text: str) -> str:
    """Return a text that a terminal shows and does not obey: other control characters than ends of lines are blanks."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)


def brief(value: object) -> str:
    """Return a value as a message quotes it: as Python writes it, cut where it is long."""
    text = _BRIEF.repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def suggest(name: str, known: list[str]) -> str:
    """Return ``"; did you mean 'x'?"`` when a known name is near, else the known names."""
    import difflib  # only on the way to an error message

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(known) or 'none'}"


def expectation(message: str) -> str:
    """Return what pydantic says of a value, in the words of our other messages: what was expected."""
    plain = message.removeprefix("Value error, ").partition(", unable to ")[0]
    for theirs, ours in _PLAIN.items():
        plain = plain.replace(theirs, ours, 1)
    return plain
