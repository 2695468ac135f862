"""The description of the service, made from the endpoints themselves (OpenAPI 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from bursar import __version__, wire
from bursar.problems import OTHERS, REFUSALS
from bursar.service.endpoint import Endpoint
from bursar.service.permissions import MAY

_REF = "#/components/schemas/{name}"


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The whole document."""
    types = [one.asked for one in endpoints if one.asked is not None and one.method == "POST"]
    types += [one.answer for one in endpoints if one.media == "application/json"]
    unique = list(dict.fromkeys([*(kind for kind in types if kind is not wire.Report), wire.Problem]))
    schemas, components = msgspec.json.schema_components(unique, ref_template=_REF)
    components["Problem"]["properties"]["code"]["enum"] = [*REFUSALS, *OTHERS]
    known = dict(zip(unique, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bursar",
            "version": __version__,
            "description": "Keeps the accounts of differential privacy: account, plan, spend. Costs are text, keys "
            "make retries safe, refusals are problems with a code.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Endpoint, known: dict[Any, Any]) -> dict[str, Any]:
    roles = [role for role, verbs in MAY.items() if one.verb in verbs]
    found: dict[str, Any] = {
        "operationId": f"{one.method.lower()}_{one.path.strip('/').replace('/', '_')}",
        "summary": one.summary,
        "security": [{"token": []}] if one.verb is not None else [],
        "responses": {
            str(one.status): {"description": "Done", "content": {one.media: {"schema": _schema(one.answer, known)}}},
            "default": {
                "description": "A problem, with its code",
                "content": {"application/problem+json": {"schema": known[wire.Problem]}},
            },
        },
    }
    if one.verb is not None:
        found["description"] = f"For {', '.join(roles)}."
    if one.asked is not None and one.method == "POST":
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": known[one.asked]}}}
    elif one.asked is not None:
        found["parameters"] = _parameters(one.asked)
    return found


def _schema(answer: Any, known: dict[Any, Any]) -> Any:
    if answer is wire.Report:
        return {"type": "object"}
    return {"type": "string"} if answer is str else known[answer]


def _parameters(asked: Any) -> list[dict[str, Any]]:
    (_,), components = msgspec.json.schema_components([asked], ref_template=_REF)
    (schema,) = (value for name, value in components.items() if name == asked.__name__)
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": part}
        for name, part in schema["properties"].items()
    ]
