"""Mechanisms of your own, under names of their own: installed packages offer them by entry point.

    [project.entry-points."bursar.mechanisms"]
    geometric_sum = "my_package.mechanisms:GeometricSum"

The class is a frozen dataclass that derives from `Mechanism` (from no class of the catalogue, whose noise it would
inherit), its ``name`` is the entry point's, and its constructor takes its fields by name and nothing else. Then its
text and JSON forms are read back as they were written, in every process that has the package, and it can be charged. A
name of the catalogue, of a promise or of another package is refused, and so is a class that compares itself in its own
way: two releases are one only if all their fields are the same (`bursar.identity`).
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cache

from bursar.errors import InputError, SpecError
from bursar.guarantees import KINDS
from bursar.mechanisms import CATALOGUE, Mechanism
from bursar.mechanisms._foreign import named
from bursar.offers import Offers, offers, package, the_only_one

GROUP = "bursar.mechanisms"
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def plugin(name: str) -> type[Mechanism] | None:
    """The mechanism that an installed package offers under this name; `SpecError` where it cannot be used."""
    return None if the_only_one(name, _offers()) is None else _loaded(name)


def plugins() -> list[str]:
    """The names that installed packages offer."""
    return sorted(_offers())


def taken(name: str) -> bool:
    """Whether a name belongs to the catalogue or to the language itself."""
    return name in CATALOGUE or name in KINDS or name == "nothing"


@cache
def _offers() -> Offers:
    return offers(GROUP, taken=taken)  # the catalogue's meaning never changes: `parse` does not even look here


@cache
def _loaded(name: str) -> type[Mechanism]:
    (offer,) = _offers()[name]
    try:
        with named(f"{name} of {package(offer)} cannot be loaded"):
            made = offer.load()
    except InputError as problem:
        raise SpecError(str(problem)) from problem
    why = _unusable(name, made)
    if why:
        raise SpecError(f"{name} of {package(offer)} cannot be used: {why}")
    kind: type[Mechanism] = made
    return kind


def _unusable(name: str, made: object) -> str:
    if not isinstance(made, type) or not issubclass(made, Mechanism):
        return "it is no class that derives from bursar.Mechanism"
    if not _NAME.match(name):
        return "a name has lower-case letters, digits and underscores"
    if getattr(made, "name", None) != name:
        return f"the class calls itself {getattr(made, 'name', None)!r}"
    parameters = getattr(made, "__dataclass_params__", None)
    if "__dataclass_params__" not in vars(made) or parameters is None or not parameters.frozen:
        return "it must be a frozen dataclass itself"
    inherited = next((base for base in made.__mro__[1:] if base in CATALOGUE.values()), None)
    if inherited is not None:
        return f"it derives from {inherited.__name__}, so it would inherit its noise: derive from Mechanism itself"
    return _compared(made) or _constructed(made)


def _compared(made: type[Mechanism]) -> str:
    """Why two values of a class may be equal though they are not the same; empty where they may not."""
    odd = [field.name for field in dataclasses.fields(made) if not field.compare]  # type: ignore[arg-type]
    if odd:
        return f"it leaves {', '.join(odd)} out of its comparison (compare=False)"
    plain = dataclasses.make_dataclass("Plain", _names(made), frozen=True)
    for name in ("__eq__", "__hash__"):
        mine, usual = (getattr(vars(kind).get(name), "__code__", None) for kind in (made, plain))
        if mine is None or usual is None or (mine.co_code, mine.co_names) != (usual.co_code, usual.co_names):
            return f"it has an {name} of its own, instead of the dataclass's"
    return ""


def _constructed(made: type[Mechanism]) -> str:
    """Why a class cannot be made again from its fields, or holds more than they say; empty where all is well."""
    fields = _names(made)
    try:
        taken_ones = list(inspect.signature(made.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return "its constructor does not say what it takes"
    if made.__new__ is not object.__new__:
        return "it has a __new__ of its own"
    by_name = {one.name for one in taken_ones if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    more = [str(one) for one in taken_ones if one.name not in by_name or one.name not in fields]
    if more:
        return f"its constructor takes {', '.join(more)}, which is no field, so its text would not say it"
    bare = {field.name for field in dataclasses.fields(made) if field.default is dataclasses.MISSING}  # type: ignore[arg-type]
    if missing := [name for name in fields if name not in by_name and name in bare]:
        return f"its constructor does not take its field {', '.join(missing)}: keep what is derived beside the fields"
    slots = [name for base in made.__mro__ for name in _slots(base) if name not in (*fields, "__dict__", "__weakref__")]
    return f"it keeps {', '.join(slots)} beside its fields" if slots else ""


def _names(made: type[Mechanism]) -> list[str]:
    return [field.name for field in dataclasses.fields(made)]  # type: ignore[arg-type]


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
