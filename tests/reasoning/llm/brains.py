"""What the test server's model answers: functions from a decoded request to text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def schema_of(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema that the request gives, natively, as a tool or in words; None if there is none."""
    if request.get("tools"):
        return dict(request["tools"][0]["function"]["parameters"])
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return dict(wanted["json_schema"]["schema"])
    text = "\n".join(str(message.get("content") or "") for message in request.get("messages", ()))
    fields = dict(_FIELD.findall(text.partition("All of its fields are needed:")[2]))
    if not fields:
        return None
    properties = {name: _part(kind.split(" or ")[0]) for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


#: A field of the answer as ``answers.told`` writes it into a prompt; those inside others are left out.
_FIELD = re.compile(r"^- (\w+) \(([^)]*)\)", re.MULTILINE)


def _part(kind: str) -> dict[str, Any]:
    if kind.startswith('"'):
        return {"const": json.loads(kind)}
    return {"type": "array" if kind.startswith("list of ") else kind}


def least(schema: object, root: Mapping[str, Any] | None = None) -> object:
    """Return a small instance of a schema: required fields only, first choices, shortest arrays."""
    if not isinstance(schema, Mapping):
        return None
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return least(target, root)
    for known in ("const", "default"):
        if known in schema:
            return schema[known]
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return least(schema[choice][0], root)
    if "allOf" in schema:
        return least(schema["allOf"][0], root)
    kind = schema.get("type", "object" if "properties" in schema else None)
    return _plain(kind[0] if isinstance(kind, list) else kind, schema, root)


def _plain(kind: str | None, schema: Mapping[str, Any], root: Mapping[str, Any]) -> object:
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: least(properties.get(name, {}), root) for name in schema.get("required", ())}
    if kind == "array":
        first = [least(item, root) for item in schema.get("prefixItems", ())]
        return first + [least(schema.get("items", {}), root) for _ in range(schema.get("minItems", 0) - len(first))]
    if kind == "string":
        return "x" * schema.get("minLength", 1)
    if kind in ("integer", "number"):
        if "exclusiveMinimum" in schema:
            return schema["exclusiveMinimum"] + 1
        return schema.get("minimum", min(0, schema.get("maximum", 0)))
    return False if kind == "boolean" else None


def minimal(request: dict[str, Any]) -> str:
    """Answer with the least instance of the schema; with a fixed word where none is asked for."""
    schema = schema_of(request)
    return "pong" if schema is None else json.dumps(least(schema))


def echo(request: dict[str, Any]) -> str:
    """Answer with the last message."""
    return str(request["messages"][-1]["content"])
