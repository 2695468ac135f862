"""Reads the JSON form: lists of terms, the objects in them, and their fields, each error with its place."""

from __future__ import annotations

import re
from typing import Any

from bursar.composition import Composition
from bursar.errors import InputError, SpecError
from bursar.jobs.spec_names import build, class_of, fields_of, shape_of, unknown
from bursar.numerics.real import read_text

_DEEPEST = 20
_NUMBER = re.compile(r"[+-]?[\d.]")


def terms_of(form: Any, place: str, depth: int) -> Composition:
    """The composition that a list of terms means; ``place`` says in errors where the list stands."""
    if not isinstance(form, list):
        raise SpecError(f"{place} must be a list of terms")
    pairs = []
    for i, term in enumerate(form):
        where = f"{place}[{i}]"
        if not isinstance(term, dict) or set(term) != {"mechanism", "count"}:
            raise SpecError(f'{where} must be an object with "mechanism" and "count"')
        mechanism = _object(term["mechanism"], f"{where}.mechanism", depth + 1)
        pairs.append((mechanism, term["count"]))
    try:
        return Composition(pairs)
    except InputError as problem:
        raise SpecError(f"{place}: {problem}") from None


def _object(form: Any, place: str, depth: int) -> Any:
    """The mechanism or promise that an object means."""
    if depth > _DEEPEST:
        raise SpecError(f"{place} is nested more than {_DEEPEST} deep")
    if not isinstance(form, dict) or not isinstance(form.get("name"), str):
        raise SpecError(f'{place} must be an object with a "name"')
    cls = class_of(form["name"])
    if cls is None:
        raise SpecError(f"{place}: {unknown(form['name'])}")
    allowed = fields_of(cls)
    named = {}
    for field, value in form.items():
        if field == "name":
            continue
        if field not in allowed:
            raise SpecError(f"{place}: {form['name']} has no {field!r}; it takes {', '.join(allowed)}")
        named[field] = _plain(
            value, f"{place}.{field}", depth, verbatim=cls.name == "densities" and field in ("p", "q")
        )
    try:
        return build(cls, [], named)
    except SpecError:
        raise
    except InputError as problem:
        raise SpecError(f"{place}: {problem}") from None
    except TypeError as problem:
        raise SpecError(f"{place}: {shape_of(cls.name, cls, problem)}") from None


def _plain(value: Any, place: str, depth: int, *, verbatim: bool) -> Any:
    """A field's value: texts that look like numbers are numbers, unless they are taken as they are (formulas)."""
    if isinstance(value, dict):
        return _object(value, place, depth + 1)
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "mechanism" in item for item in value):
            return terms_of(value, place, depth + 1)
        return [_plain(item, f"{place}[{i}]", depth, verbatim=verbatim) for i, item in enumerate(value)]
    if isinstance(value, str) and not verbatim and _NUMBER.match(value):
        try:
            return read_text(value, place)
        except InputError as problem:
            raise SpecError(str(problem)) from None
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    raise SpecError(f"{place} cannot be {value!r}")
