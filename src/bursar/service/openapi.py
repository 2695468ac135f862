"""The description of the service, made from the endpoints themselves (OpenAPI 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from bursar import __version__, wire
from bursar.problems import OTHERS, REFUSALS
from bursar.service.endpoint import Endpoint
from bursar.service.permissions import MAY
from bursar.wire.verbs import JSON

_REF = "#/components/schemas/{name}"


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document of these endpoints."""
    verbs = [one.verb for one in endpoints]
    types = [verb.body for verb in verbs if verb.body is not None and verb.method == "POST"]
    types += [verb.answer for verb in verbs if verb.media == JSON]
    unique = list(dict.fromkeys([*(kind for kind in types if kind is not wire.Report), wire.Problem]))
    schemas, components = msgspec.json.schema_components(unique, ref_template=_REF)
    components["Problem"]["properties"]["code"]["enum"] = [*REFUSALS, *OTHERS]
    known = dict(zip(unique, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.verb.method.lower()] = _operation(one, known)
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
    verb = one.verb
    found: dict[str, Any] = {
        "operationId": f"{verb.method.lower()}_{one.path.strip('/').replace('/', '_')}",
        "summary": verb.summary,
        "security": [] if verb.anybody else [{"token": []}],
        "responses": {
            str(verb.status): {"description": "Done", "content": {verb.media: {"schema": _schema(verb.answer, known)}}},
            "default": {
                "description": "A problem, with its code",
                "content": {"application/problem+json": {"schema": known[wire.Problem]}},
            },
        },
    }
    if not verb.anybody:
        found["description"] = f"For {', '.join(role for role, may in MAY.items() if verb.name in may)}."
    if one.old is not None:
        found["deprecated"] = True
    if verb.body is not None and verb.method == "POST":
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": known[verb.body]}}}
    elif verb.body is not None:
        found["parameters"] = _parameters(verb.body)
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
