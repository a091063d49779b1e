"""The types by which the pages' sources read their data are those of the structs that Python encodes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from msgspec import inspect as shape

from teamworld.viewer.replay_types import FactChange

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("page_records", ROOT / "scripts" / "page_records.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_sources_are_those_of_the_structs(writer: ModuleType) -> None:
    text = (ROOT / "frontend" / "src" / "records.ts").read_text("utf-8")
    assert text == writer.records(), "run: python scripts/page_records.py"


class Whole(msgspec.Struct, omit_defaults=True):
    """A row."""

    name: str
    places: list[int | None]
    other: str | None = None
    count: int = 0


class Bare(msgspec.Struct, array_like=True):
    """A pair."""

    rows: dict[str, Whole]
    end: float | None = None


def test_what_may_be_left_out_is_optional_and_then_never_null(writer: ModuleType) -> None:
    assert writer._interface(shape.type_info(Bare)) == (
        "/** A pair. */\nexport type Bare = [rows: Record<string, Whole>, end: number | null];\n"
    )
    assert writer._interface(shape.type_info(Whole)) == (
        "/** A row. */\nexport interface Whole {\n  name: string;\n  places: (number | null)[];\n"
        "  other?: string;\n  count?: number;\n}\n"
    )


def test_docstrings_of_fields_come_along(writer: ModuleType) -> None:
    text = writer._interface(shape.type_info(FactChange))
    assert "  /** Empty of what is true. */\n  agent?: string;\n" in text


def test_a_type_without_a_form_is_refused(writer: ModuleType) -> None:
    with pytest.raises(TypeError, match="has a form in TypeScript"):
        writer._type(shape.type_info(bytes))
