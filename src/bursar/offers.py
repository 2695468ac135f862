"""What installed packages offer by entry point, and which package it is that offers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bursar.errors import SpecError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Offers = dict[str, tuple["EntryPoint", ...]]


def offers(group: str, *, taken: Callable[[str], bool]) -> Offers:
    """Every offer of a group by its name; names that are taken keep their meaning, whatever is installed."""
    from importlib.metadata import entry_points  # not for those who name what is bursar's own only

    found: Offers = {}
    for offer in entry_points(group=group):
        if not taken(offer.name):
            found[offer.name] = (*found.get(offer.name, ()), offer)
    return found


def the_only_one(name: str, found: Offers) -> EntryPoint | None:
    """The offer under a name, if there is one; `SpecError` where several packages offer it."""
    offered = found.get(name, ())
    if len(offered) > 1:
        packages = " and ".join(sorted(package(offer) for offer in offered))
        raise SpecError(f"{name} is offered by {packages}: a name has one meaning, uninstall one of them")
    return offered[0] if offered else None


def package(offer: EntryPoint) -> str:
    """The name of the package that offers it."""
    return offer.dist.name if offer.dist is not None else offer.value
