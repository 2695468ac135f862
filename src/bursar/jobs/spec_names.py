"""What names mean in written forms: the class of a name, the fields it takes, and the value that they make."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from bursar.errors import InputError, WrongCall, nearest
from bursar.guarantees import KINDS
from bursar.identity import is_foreign
from bursar.mechanisms import CATALOGUE
from bursar.mechanisms._foreign import named as naming
from bursar.mechanisms.plugins import plugin, plugins
from bursar.numerics.real import Real
from bursar.written import Written


def class_of(name: str) -> type[Written] | None:
    """The class of the catalogue, the promises or the plug-ins that a name means; None where there is none."""
    return CATALOGUE.get(name) or KINDS.get(name) or plugin(name)


def unknown(name: str) -> str:
    """What to say of a name that is not in the catalogue: the nearest one, and all of them."""
    known = [*CATALOGUE, *KINDS, *plugins()]
    return f"unknown name {name!r}{nearest(name, known)}; there are {', '.join(known)}"


def fields_of(cls: type[Written]) -> list[str]:
    """The names of the fields that a written form of the class may give."""
    return [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]


def build(cls: type[Written], unnamed: list[Any], named: dict[str, Any]) -> Any:
    """Call the constructor; the blocks of a parallel composition may come as one list, too."""
    if "blocks" in named:
        unnamed = [*unnamed, *named.pop("blocks")]
    if cls.name != "densities" and any(isinstance(item, (Real, str)) for item in unnamed):
        raise InputError(f"{cls.name} takes these by name: {', '.join(fields_of(cls))}")
    if not is_foreign(cls):
        return cls(*unnamed, **named)
    with naming(
        f"{cls.name} ({cls.__module__}.{cls.__qualname__}) cannot be made so; it takes {', '.join(fields_of(cls))}"
    ):
        return cls(*unnamed, **named)


def shape_of(name: str, cls: type[Written], problem: TypeError) -> str:
    """What the constructor takes, when it was called in the wrong shape."""
    said = str(problem.__cause__ if isinstance(problem, WrongCall) else problem)
    missing = re.findall(r"'(\w+)'", said) if "missing" in said else []
    lacks = f"{name} needs {' and '.join(missing)}" if missing else f"{name} was given the wrong arguments"
    return f"{lacks}; it takes {', '.join(fields_of(cls))}"
