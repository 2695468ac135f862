"""Pages of names: what can be imported, with signature and docstring, room by room."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import bursar as b

ANSWERS = {
    **dict.fromkeys(("Share", "Split"), "bursar.jobs.split"),
    **dict.fromkeys(("SamplingAssumed", "Training"), "bursar.jobs.training"),
    "Curve": "bursar.jobs.curve",
    "Band": "bursar.jobs.curve_points",
    "Cell": "bursar.jobs.sweep",
    **dict.fromkeys(("Quote", "Reservation"), "bursar.ledger.receipt"),
}
"""What jobs and the ledger answer with, and where that is."""
GROUPS = ("__version__", "errors", "lecture", "plot")
"""Names of the top level that are no things of their own."""
ROOMS = {
    "bursar.errors": "All errors, as one tree",
    "bursar.guarantees": "Promises, and the arrows between them",
    "bursar.jobs": "What the jobs answer with",
    "bursar.ledger": "What the ledger answers with",
    "bursar.lecture": "The lecture, executable",
    "bursar.plot": "Pictures",
    "bursar.theorems": "What a theorem is, and what it answers",
    "bursar.testing": "The laws, for mechanisms and theorems of your own",
    "bursar.cohorts": "Budgets for many at once",
    "bursar.client": "A client of the service",
    "bursar.adapters.google": "dp_accounting, jax-privacy",
    "bursar.adapters.opendp": "OpenDP",
    "bursar.adapters.tables": "pandas and polars",
}
LATER = {"bursar.adapters.jax": "jax-privacy", "bursar.adapters.opacus": "Opacus"}
"""Rooms that load packages which not everybody has: their docstrings are read from the source."""


def members(room: str) -> dict[str, Any]:
    """The public names of a room."""
    if room == "bursar":
        return {name: getattr(b, name) for name in b.__all__ if name not in GROUPS}
    if room in ("bursar.jobs", "bursar.ledger"):
        homes = {name: home for name, home in ANSWERS.items() if home.startswith(f"{room}.")}
        return {name: getattr(importlib.import_module(home), name) for name, home in sorted(homes.items())}
    module = importlib.import_module(room)
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if isinstance(value, (type, FunctionType)) and value.__module__.startswith(room) and not name.startswith("_")
    ]
    return {name: getattr(module, name) for name in names}


def page(room: str, level: str) -> list[str]:
    """Every name of a room, as sections of a page."""
    parts: list[str] = []
    for name, value in members(room).items():
        home = ANSWERS[name] if room in ("bursar.jobs", "bursar.ledger") else room
        parts += [f"{level} `{name}`", "", f"`{home}.{name}{_signature(value)}`", "", prose(inspect.getdoc(value)), ""]
        parts += [item(f"`{name}{_signature(one)}`: {first(inspect.getdoc(one))}") for name, one in _methods(value)]
        parts.append("")
    return parts


def top() -> str:
    """The page of the top level."""
    head = ["# Everything at the top level", "", "`import bursar as b`, then `b.NAME`. Why each name is here says"]
    return "\n".join([*head, "[Names](names.md).", "", *page("bursar", "##")])


def rooms() -> str:
    """The page of the rooms."""
    parts = ["# Everything else that is public", "", "Names that are used from a room of their own.", ""]
    for room, title in ROOMS.items():
        parts += [
            f"## {title}: `{room}`",
            "",
            prose(inspect.getdoc(importlib.import_module(room))),
            "",
            *page(room, "###"),
        ]
    for room, title in LATER.items():
        source = inspect.cleandoc(_docstring(room))
        parts += [f"## {title}: `{room}`", "", prose(source), ""]
    return "\n".join(parts)


def item(text: str) -> str:
    """An item of a list, in lines of up to 120 characters."""
    return textwrap.fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _docstring(room: str) -> str:
    import ast
    from importlib.util import find_spec

    spec = find_spec(room)
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        return ast.get_docstring(ast.parse(file.read())) or ""


def _signature(value: Any) -> str:
    """The signature, without quotes, addresses and the module of what is annotated."""
    if isinstance(value, property):
        return ""
    if isinstance(value, type) and issubclass(value, BaseException) and "__init__" not in vars(value):
        return ""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"<function [\w.]*<lambda> at 0x\w+>", "…", re.sub(r": '([^']*)'", r": \1", text))
    text = re.sub(r"<function ([\w.]+) at 0x\w+>|<([\w.]+) object at 0x\w+>", r"\1\2", text)
    text = re.sub(r"<(\w+)\.(\w+): [^>]*>", r"\1.\2", text)
    return re.sub(r"\(self, |\(self\)", lambda found: "(" if found[0].endswith(" ") else "()", text).partition(" ->")[0]


def _methods(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, type):
        return
    for name, one in vars(value).items():
        plain = one.__func__ if isinstance(one, (classmethod, staticmethod)) else one
        if not name.startswith("_") and isinstance(plain, (FunctionType, property)) and inspect.getdoc(plain):
            yield name, plain


def first(text: str | None) -> str:
    """The first paragraph in one line."""
    return prose(" ".join((text or "").split("\n\n")[0].split()))


def prose(text: str | None) -> str:
    """A docstring as Markdown: code has single backticks."""
    return (text or "").replace("``", "`")
