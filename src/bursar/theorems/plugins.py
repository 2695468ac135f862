"""Theorems of your own, under names of their own: installed packages offer them by entry point.

    [project.entry-points."bursar.theorems"]
    my_bound = "my_package.theorems:MY_BOUND"

The object is a `Theorem` whose ``id`` is the entry point's name. It is asked where somebody names it, as in
``account(…, theorems=["basic", "my_bound"])``, and nowhere else: no number, plan or price changes because a package is
installed, and a ledger never asks it. Whoever names it answers for its proof; where it excludes what another theorem
proves, `ContradictionError` says so. `bursar.testing.check` holds it to the laws.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from bursar.composition import Composition
from bursar.errors import InputError, SpecError, described
from bursar.mechanisms._foreign import named
from bursar.offers import Offers, offers, package, the_only_one
from bursar.theorems import THEOREMS
from bursar.theorems._base import Abstain, Bound, Question, Theorem

GROUP = "bursar.theorems"


def plugin(name: str) -> Theorem | None:
    """The theorem that an installed package offers under this name; `SpecError` where it cannot be used."""
    return None if the_only_one(name, _offers()) is None else _loaded(name)


def plugins() -> list[str]:
    """The names that installed packages offer."""
    return sorted(_offers())


def guarded(theorem: Theorem, who: str) -> Theorem:
    """The theorem, whose faults are said in a sentence with its name."""

    def answer(composition: Composition, question: Question) -> Bound | Abstain:
        with named(f"{who} failed to answer"):
            found = theorem.answer(composition, question)
        if not isinstance(found, (Bound, Abstain)):
            raise InputError(f"{who} answers {described(found)}, which is neither a Bound nor an Abstain")
        return found

    return replace(theorem, answer=answer)


@cache
def _offers() -> Offers:
    ours = {theorem.id for theorem in THEOREMS}
    return offers(GROUP, taken=lambda name: name in ours)


@cache
def _loaded(name: str) -> Theorem:
    (offer,) = _offers()[name]
    who = f"{name} of {package(offer)}"
    try:
        with named(f"{who} cannot be loaded"):
            made = offer.load()
    except InputError as problem:
        raise SpecError(str(problem)) from problem
    if not isinstance(made, Theorem):
        raise SpecError(f"{who} cannot be used: it is {described(made)}, no bursar.theorems.Theorem")
    if made.id != name:
        raise SpecError(f"{who} cannot be used: it calls itself {made.id!r}")
    return guarded(made, who)
