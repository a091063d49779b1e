"""Write the types of the data that pages are given, for TypeScript, from the structs that Python encodes.

    python scripts/page_records.py           writes frontend/src/records.ts

Nothing is written twice: the type of a field, whether it may be left out, and its docstring all come from the struct.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import inspect as shape

from teamworld.viewer.forks import AskedFork, PlayedFork
from teamworld.viewer.overview import Overview, SearchResult, ShownTable
from teamworld.viewer.play.desk import SeatState
from teamworld.viewer.replay_types import PackedPair, PackedReplay, Replay

TARGET: Final = Path(__file__).parents[1] / "frontend" / "src" / "records.ts"
_ROOTS: Final = (
    Replay,
    PackedReplay,
    PackedPair,
    Overview,
    ShownTable,
    SearchResult,
    SeatState,
    AskedFork,
    PlayedFork,
)
_HEAD: Final = "// Written by scripts/page_records.py from the structs that Python encodes. Do not edit.\n"


def main() -> None:
    """Write the file."""
    TARGET.write_text(records(), "utf-8")


def records() -> str:
    """Return the types as a TypeScript module, in the order in which they are first named."""
    infos = {info.cls: info for info in _structs(shape.multi_type_info(_ROOTS))}
    return "\n".join([_HEAD, *(_interface(info) for info in infos.values())])


def _structs(types: Iterable[shape.Type]) -> Iterator[shape.StructType]:
    """Yield all structs of some types, each before those of its fields; a struct may come several times."""
    seen = set[type]()

    def walk(one: shape.Type) -> Iterator[shape.StructType]:
        match one:
            case shape.StructType() if one.cls not in seen:
                seen.add(one.cls)
                yield one
                for field in one.fields:
                    yield from walk(field.type)
            case shape.ListType(item_type=item) | shape.VarTupleType(item_type=item):
                yield from walk(item)
            case shape.TupleType(item_types=parts) | shape.UnionType(types=parts):
                for part in parts:
                    yield from walk(part)
            case shape.DictType(value_type=value):
                yield from walk(value)
            case _:
                pass

    for one in types:
        yield from walk(one)


def _interface(info: shape.StructType) -> str:
    struct, docs = info.cls, _field_docs(info.cls)
    said = _comment(inspect.cleandoc(struct.__doc__ or ""), "")
    if info.array_like:
        parts = ", ".join(f"{field.encode_name}: {_type(field.type)}" for field in info.fields)
        return f"{said}export type {struct.__name__} = [{parts}];\n"
    lines = []
    for field in info.fields:
        is_optional = struct.__struct_config__.omit_defaults and not field.required
        kind = _type(field.type, has_null=not (is_optional and field.default is None))
        lines.append(_comment(docs.get(field.name, ""), "  "))
        lines.append(f"  {field.encode_name}{'?' if is_optional else ''}: {kind};\n")
    return f"{said}export interface {struct.__name__} {{\n{''.join(lines)}}}\n"


def _type(one: shape.Type, *, has_null: bool = True) -> str:
    match one:
        case shape.StructType():
            return one.cls.__name__
        case shape.IntType() | shape.FloatType():
            return "number"
        case shape.StrType():
            return "string"
        case shape.BoolType():
            return "boolean"
        case shape.NoneType():
            return "null"
        case shape.AnyType():
            return "unknown"
        case shape.LiteralType(values=values):
            return " | ".join(f'"{value}"' for value in sorted(values))
        case shape.ListType(item_type=item) | shape.VarTupleType(item_type=item):
            kind = _type(item)
            return f"({kind})[]" if "|" in kind else f"{kind}[]"
        case shape.TupleType(item_types=parts):
            return f"[{', '.join(map(_type, parts))}]"
        case shape.DictType(value_type=value):
            return f"Record<string, {_type(value)}>"
        case shape.UnionType(types=parts):
            kinds = [_type(part) for part in parts if has_null or not isinstance(part, shape.NoneType)]
            return " | ".join(kinds)
        case _:
            raise TypeError(f"expected a type that has a form in TypeScript, got {one}")


def _field_docs(struct: type) -> dict[str, str]:
    """Return the docstring below each field that has one."""
    docs = dict[str, str]()
    for base in reversed(struct.__mro__):
        if not base.__module__.startswith("teamworld."):
            continue
        [made] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        body = made.body if isinstance(made, ast.ClassDef) else []
        for field, below in pairwise(body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs[name] = inspect.cleandoc(text)
                case _:
                    pass
    return docs


def _comment(text: str, indent: str) -> str:
    if not text:
        return ""
    lines = text.replace("``", "`").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


if __name__ == "__main__":
    main()
