"""Mechanisms of your own, under names of their own: installed packages offer them by entry point.

    [project.entry-points."bursar.mechanisms"]
    geometric_sum = "my_package.mechanisms:GeometricSum"

The class is a frozen dataclass that derives from `Mechanism`, its ``name`` is the entry point's, and its constructor
takes its fields by name. Then its text and JSON forms are read back as they were written, in every process that has the
package, and it can be charged. A name of the catalogue, of a promise or of another package is refused.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from bursar.errors import SpecError
from bursar.guarantees import KINDS
from bursar.mechanisms import CATALOGUE, Mechanism

GROUP = "bursar.mechanisms"
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def plugin(name: str) -> type[Mechanism] | None:
    """The mechanism that an installed package offers under this name; `SpecError` where it cannot be used."""
    offers = _offers().get(name, ())
    if not offers:
        return None
    if len(offers) > 1:
        packages = " and ".join(sorted(_package(offer) for offer in offers))
        raise SpecError(f"{name} is offered by {packages}: a name has one meaning, uninstall one of them")
    return _loaded(name)


def plugins() -> list[str]:
    """The names that installed packages offer."""
    return sorted(_offers())


def taken(name: str) -> bool:
    """Whether a name belongs to the catalogue or to the language itself."""
    return name in CATALOGUE or name in KINDS or name == "nothing"


@cache
def _offers() -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for offer in entry_points(group=GROUP):
        if not taken(offer.name):  # the catalogue's meaning never changes: `parse` does not even look here
            found[offer.name] = (*found.get(offer.name, ()), offer)
    return found


@cache
def _loaded(name: str) -> type[Mechanism]:
    (offer,) = _offers()[name]
    try:
        made = offer.load()
    except Exception as problem:  # foreign code
        raise SpecError(f"{name} of {_package(offer)} cannot be loaded: {problem!r}") from problem
    why = _unusable(name, made)
    if why:
        raise SpecError(f"{name} of {_package(offer)} cannot be used: {why}")
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
    return ""


def _package(offer: EntryPoint) -> str:
    return offer.dist.name if offer.dist is not None else offer.value
