"""What a query charges a person: whole numbers of 10⁻⁹ ρ, rounded up, from that person's own data alone.

Two ways, and no others: a charge that looks at other people's data (a rank, a cap on the number of people, a norm that
is shared out) would break the guarantee, so that there is nothing here that could express one.

    Participation   whoever has a row is charged the ρ of the mechanism
    OwnNorm         ρ = v²/2σ² of a person's own value v, clipped to a norm: for Gaussian sums

Values are rounded to a grid whose step is a power of two, so that sums of them are exact and every engine finds the
same numbers, whatever the order of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bursar.cohorts.people.units import MOST, NANO
from bursar.errors import CostInvalid, InputError
from bursar.guarantees import ZCDP
from bursar.ledger.budget.amounts import exact, written
from bursar.ledger.budget.release import Release, release_of

_CELLS = 20  # bits of the grid within the norm
_SHARES = 40  # bits behind the point of a cell's price
_DEAREST = 2**41  # of a cell, so that products stay within 64 bits


@dataclass(frozen=True)
class Participation:
    """Everybody with a row is charged the same."""

    release: Release
    worst: int

    def fields(self) -> dict[str, Any]:
        """The query as the journal has it."""
        return self.release.request()

    @property
    def gaussian(self) -> bool:
        """Whether all of it is Gaussian noise."""
        return all(text.startswith("gaussian(") for text, _ in self.release.terms)


@dataclass(frozen=True)
class OwnNorm:
    """Everybody is charged for the square of their own clipped value."""

    column: str
    norm: Fraction
    sigma: Fraction
    step: Fraction
    """Of the grid: a power of two."""
    cells: int
    """How many steps fit into the norm."""
    price: int
    """Of the square of one step, in 2⁻⁴⁰ units."""
    gaussian = True

    @property
    def worst(self) -> int:
        """What the norm itself is charged."""
        return self.charge(self.cells)

    def charge(self, cells: int) -> int:
        """What a value of so many steps is charged."""
        return -(-cells * cells * self.price >> _SHARES)

    def fields(self) -> dict[str, Any]:
        """The query as the journal has it."""
        return {"sums": self.column, "norm": written(self.norm), "sigma": written(self.sigma)}


Query = Participation | OwnNorm


def participation(what: Any) -> Participation:
    """A mechanism that reads all rows of a person, and promises ρ-zCDP for a person."""
    release = release_of(what)
    total = Fraction(0)
    for promise, (text, count) in zip(release.promises(ZCDP), release.terms, strict=True):
        if promise.delta > 0:
            raise CostInvalid(f"{text} leaks with positive probability, and a person filter has no δ for that")
        total += count * Fraction(promise.rho)
    return Participation(release, units_of(total, "what"))


def own_norm(column: Any, norm: Any, sigma: Any) -> OwnNorm:
    """A Gaussian sum over a column: ``sigma`` is the noise itself, ``norm`` what a person's sum is clipped to."""
    if not isinstance(column, str) or not column:
        raise InputError(f"sums names the column that is added up, not {column!r}", argument="sums")
    most, noise = positive(norm, "norm"), positive(sigma, "sigma")
    power = math.floor(math.log2(most)) - _CELLS + 1
    step = Fraction(2) ** power
    while most / step > 2**_CELLS:
        step *= 2
    price = math.ceil(NANO * 2**_SHARES * step * step / (2 * noise * noise))
    if price > _DEAREST:
        raise InputError(
            f"norm {written(most)} with noise {written(noise)} is more than a person filter can count: add more noise",
            argument="sigma",
        )
    return OwnNorm(column, most, noise, step, math.floor(most / step), price)


def units_of(rho: Fraction, name: str) -> int:
    """A cost in units, rounded up."""
    units = math.ceil(rho * NANO)
    if units > MOST:
        raise InputError(f"{name} costs more than a person filter can count", argument=name)
    return units


def limit_of(rho: Any) -> int:
    """A budget in units, rounded down."""
    units = math.floor(exact(rho, "rho") * NANO)
    if not 1 <= units <= MOST:
        raise InputError(f"rho must lie between {1 / NANO} and {MOST // NANO}, not {rho}", argument="rho")
    return units


def positive(given: Any, name: str) -> Fraction:
    """An exact number above 0, of a size that can be meant."""
    value = exact(given, name)
    if not 0 < value <= 10**30 or value < Fraction(1, 10**30):
        raise InputError(f"{name} must be above 0, and between 1e-30 and 1e30, not {given}", argument=name)
    return value


def query_of(what: Any, sums: Any, norm: Any, sigma: Any) -> Query:
    """A query as people give it: a mechanism, or a sum with its norm and noise."""
    if (what is None) == (sums is None):
        raise InputError("give a mechanism, or sums= with norm= and sigma=: one of both", argument="what")
    if sums is None:
        for name, given in (("norm", norm), ("sigma", sigma)):
            if given is not None:
                raise InputError(f"{name} belongs to sums=; a mechanism says its own noise", argument=name)
        return participation(what)
    return own_norm(sums, norm, sigma)
