"""The pages: the replay, one file that holds everything and asks for nothing, and the list of a folder's episodes."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

import jinja2
import msgspec
from msgspec.structs import replace

from teamworld.metrics.failures import LABELS
from teamworld.viewer.replay_types import Differences, PackedPair, PackedReplay, Replay

#: What could end a script element or a line of one, and its form in a JSON string.
_ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def page(replay: Replay, *, served: bool = False) -> str:
    """Return a whole HTML document that shows an episode.

    It opens from disk. Its Content-Security-Policy allows no network at all, and of scripts and styles only
    those in it, by their hash. A world without a drawer gets everything but the picture.

    Args:
        replay: The episode.
        served: Whether it may ask the server that it comes from: for forks.
    """
    static = files("teamworld.viewer") / "static"
    drawer = "" if replay.undrawn else str(replay.static.get("drawer", replay.world))
    drawers = [file for file in _drawers() if file.name == f"{drawer}.js"]
    title = f"{replay.world} {replay.level}: {_name(replay)}"
    plain = replace(replay, questions=[], lines=[], knowledge=None, memory=None)
    scripts = [static / "replay.js", *drawers]
    return _render("replay", scripts, title=title, served=served, data=embedded(plain), packed=packed(replay))


def overview_page() -> str:
    """Return the HTML document that lists the episodes of a folder; it asks its own server for them and no one else."""
    static = files("teamworld.viewer") / "static"
    return _render("overview", [static / "overview.js"], title="teamworld", served=True, labels=LABELS)


def play_page() -> str:
    """Return the HTML document on which a person plays an agent; it asks its own server and no one else."""
    static = files("teamworld.viewer") / "static"
    return _render("play", [static / "play.js", *_drawers()], title="teamworld play", served=True)


def pair_page(first: Replay, second: Replay, differences: Differences) -> str:
    """Return a whole HTML document that shows two episodes side by side, each as its own page shows it.

    The two pages are frames of it, made from texts that it holds: they share its policy, which allows their scripts
    and styles beside its own, and nothing else.
    """
    static = files("teamworld.viewer") / "static"
    pages = page(first), page(second)
    names = _name(first), _name(second)
    return _render(
        "pair",
        [static / "pair.js"],
        allowed=pages,
        title=f"{first.world} {first.level}: {names[0]}; {names[1]}",
        heading=f"{first.world} · {first.level}",
        data=_pack(PackedPair(pages=pages, names=names, differences=differences)),
    )


def _drawers() -> list[Traversable]:
    """Return the scripts that draw worlds; each finds the page's own script before it."""
    return sorted((files("teamworld.viewer") / "static" / "worlds").iterdir(), key=lambda file: file.name)


def _render(
    name: str,
    scripts: Sequence[Traversable],
    *,
    title: str,
    served: bool = False,
    allowed: Iterable[str] = (),
    **values: str | Iterable[str],
) -> str:
    """Return a page from its template.

    Args:
        name: Of the template and of the style.
        scripts: Of the page, in their order.
        title: Of the window.
        served: Whether it may ask the server that it comes from.
        allowed: Pages whose scripts and styles may run in frames of this one.
        values: For the template.
    """
    static = files("teamworld.viewer") / "static"
    style = _text(static / "theme.css") + _text(static / f"{name}.css")
    texts = [_text(script) for script in scripts]
    more = [
        dict.fromkeys(source for text in allowed for source in _sources(text, kind)) for kind in ("script", "style")
    ]
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda part: _text(static / part)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(f"{name}.html").render(
        title=title,
        served=served,
        style=style,
        style_hashes=" ".join(dict.fromkeys([f"'{_hash(style)}'", *more[1]])),
        scripts=texts,
        script_hashes=" ".join(dict.fromkeys([*(f"'{_hash(text)}'" for text in texts), *more[0]])),
        **values,
    )


def embedded(replay: Replay) -> str:
    """Return the data as JSON that cannot end the script element it stands in."""
    return msgspec.json.encode(replay).decode().translate(_ESCAPES)


def packed(replay: Replay) -> str:
    """Return questions, their lines, knowledge and memory as JSON, deflated, in base64; nothing where there is none."""
    if not replay.questions and replay.knowledge is None and replay.memory is None:
        return ""
    rest = {name: getattr(replay, name) for name in PackedReplay.__struct_fields__}
    return _pack(PackedReplay(**rest))


def _name(replay: Replay) -> str:
    return f"{replay.method}, seed {replay.seed}, episode {replay.episode}"


def _pack(data: msgspec.Struct) -> str:
    return base64.b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode()


def _sources(text: str, kind: str) -> list[str]:
    """Return what the policy of a page allows as its scripts or styles."""
    policy = text.partition(f"{kind}-src ")[2].partition(";")[0]
    return policy.split()


def _text(file: Traversable) -> str:
    return file.read_text("utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows an inline element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
