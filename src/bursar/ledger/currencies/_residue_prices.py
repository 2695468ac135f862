"""What releases cost on a residue line: whole numbers from a tariff, which is certified once for each rung.

A charge that is valid at an allowance is valid at every larger one (proofs/residue.md §3), so the charge at the nearest
rung below serves the whole band above it. Here is only arithmetic on what the tariff has; `_residue_appraiser` fills
it, which takes time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import isqrt
from typing import NamedTuple, TypeVar

from bursar.ledger.amounts import PARTS
from bursar.ledger.release import Release
from bursar.numerics.validate import MAX_COUNT

RUNGS = tuple(PARTS * isqrt(isqrt(2 ** (80 - j))) >> 20 for j in range(45))
"""Four to each halving of the allowance, down to a two-thousandth of it."""
_DESCENDING = tuple(-rung for rung in RUNGS)
_MOST = 100_000  # entries of a tariff
_WHOLE = 1000
"""A composition of more terms than this is only priced term by term."""

Key = TypeVar("Key")
Found = TypeVar("Found")


class Charge(NamedTuple):
    """Units of the allowance, and units of δ."""

    residue: int
    leak: int


class Stated(NamedTuple):
    """What a mechanism says of itself, whatever the allowance."""

    gaussian: bool
    """Whether it is the Gaussian mechanism: its square is its charge at any allowance, and in any order."""
    squares: int | None
    """μ² in units, where it is μ-GDP."""
    plain: tuple[int, int] | str
    """ε and δ in units, or why it has none."""
    knows_losses: bool
    """Whether its leak is that of its own losses, not of a promise beside another."""


class Missing(Exception):
    """The tariff does not have it yet."""


class Tariff:
    """What has been found, by the text of a mechanism or of a whole release."""

    def __init__(self) -> None:
        self.mechanisms: dict[str, Stated] = {}
        self.reasons: dict[str, str] = {}
        """Why a mechanism has no price by certificates; empty where it has."""
        self.charges: dict[tuple[str, int], Charge | None] = {}

    def stated(self, release: Release, term: int) -> Stated:
        """What a term of a release says; `Missing` where nobody has looked."""
        return _entry(self.mechanisms, release.terms[term][0])

    def reason(self, release: Release, term: int) -> str:
        """Why a term has no certificates; `Missing` where nobody has looked."""
        return _entry(self.reasons, release.terms[term][0])

    def charge(self, release: Release, term: int | None, band: int) -> Charge | None:
        """What one release of a term, or the whole (None), costs at a rung; `Missing` where nobody has looked."""
        return _entry(self.charges, (text_of(release, term), band))

    def part(self, releases: Sequence[Release]) -> Tariff:
        """As much as concerns these releases."""
        texts = {text for release in releases for text, _ in release.terms} | {release.text for release in releases}
        found = Tariff()
        found.mechanisms = {text: self.mechanisms[text] for text in texts if text in self.mechanisms}
        found.reasons = {text: self.reasons[text] for text in texts if text in self.reasons}
        found.charges = {key: charge for key, charge in list(self.charges.items()) if key[0] in texts}
        return found

    def learn(self, other: Tariff) -> None:
        """What was found elsewhere; what was found first is forgotten first."""
        for mine, new in (
            (self.mechanisms, other.mechanisms),
            (self.reasons, other.reasons),
            (self.charges, other.charges),
        ):
            mine.update(new)  # type: ignore[arg-type]
            while len(mine) > _MOST:
                mine.pop(next(iter(mine)), None)  # type: ignore[call-overload]


def _entry(table: Mapping[Key, Found], key: Key) -> Found:
    try:
        return table[key]
    except KeyError:
        raise Missing from None


def text_of(release: Release, term: int | None) -> str:
    """Of a term, or of the whole (None)."""
    return release.text if term is None else release.terms[term][0]


def price_of(tariff: Tariff, release: Release, left: int) -> Charge | None:
    """The cheaper of its releases one after another, and of all as one; None where neither has a price."""
    ways = [_sequence(tariff, release, left)]
    band = rung_below(left)
    if band is not None and _worth_it(tariff, release):
        ways.append(tariff.charge(release, None, band))
    return min((way for way in ways if way is not None), default=None)


def why_not(tariff: Tariff, release: Release) -> str:
    """Why some release has no price at all; empty where there is only too little left."""
    reasons = [tariff.reason(release, term) for term in range(len(release.terms))]
    return "; ".join(reason for reason in reasons if reason)


def squares(tariff: Tariff, release: Release) -> Charge | None:
    """Σμ², where every release is μ-GDP: valid at any allowance, and in any order."""
    found = 0
    for term, (_, count) in enumerate(release.terms):
        each = tariff.stated(release, term).squares
        if each is None:
            return None
        found += count * each
    return Charge(found, 0)


def alike(tariff: Tariff, release: Release, left: int) -> int:
    """How many from here are surely priced by the same rung."""
    band, charge = rung_below(left), price_of(tariff, release, left)
    if charge is None or not charge.residue:
        return MAX_COUNT
    if band is None or all_gaussian(tariff, release):
        return MAX_COUNT
    room = left - RUNGS[band]
    if release.count > 1 and (sequence := _sequence(tariff, release, left)) is not None:
        room -= sequence.residue  # its last release must be priced by that rung too
    return max(1, room // charge.residue + 1)


def _sequence(tariff: Tariff, release: Release, left: int) -> Charge | None:
    """All its releases one after another."""
    spent = leaked = 0
    for term in range(len(release.terms)):
        charge = _run(tariff, release, term, left - spent)
        if charge is None:
            return None
        spent, leaked = spent + charge.residue, leaked + charge.leak
    return Charge(spent, leaked)


def _run(tariff: Tariff, release: Release, term: int, left: int) -> Charge | None:
    """The equal releases of a term from an allowance of ``left`` units; where they do not fit, what they would ask."""
    count = release.terms[term][1]
    spent = leaked = 0
    while count:
        now = left - spent
        band = rung_below(now)
        charge = _plain(tariff.stated(release, term)) if band is None else tariff.charge(release, term, band)
        if charge is None:
            return None
        steps = count
        if band is not None and charge.residue:
            steps = min(count, (now - RUNGS[band]) // charge.residue + 1)
        if charge.residue * steps > now:
            return Charge(spent + count * charge.residue, leaked + count * charge.leak)
        spent, leaked, count = spent + steps * charge.residue, leaked + steps * charge.leak, count - steps
    return Charge(spent, leaked)


def _plain(stated: Stated) -> Charge | None:
    return None if stated.squares is None else Charge(stated.squares, 0)


def _worth_it(tariff: Tariff, release: Release) -> bool:
    """Whether the whole may cost less than the sum of its parts: Gaussians add up exactly."""
    if release.count == 1 or len(release.terms) > _WHOLE:
        return False
    return not all_gaussian(tariff, release)


def all_gaussian(tariff: Tariff, release: Release) -> bool:
    """Whether its charge is the sum of its squares, at whatever allowance."""
    return all(tariff.stated(release, term).gaussian for term in range(len(release.terms)))


def rung_below(left: int) -> int | None:
    """The rung at or below an allowance."""
    band = bisect_left(_DESCENDING, -left)
    return band if band < len(RUNGS) else None
