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

from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.budget.release import Release
from bursar.numerics.validate import MAX_COUNT

RUNGS = tuple(PARTS * isqrt(isqrt(2 ** (80 - j))) >> 20 for j in range(45))
"""Four to each halving of the allowance, down to a two-thousandth of it."""
_DESCENDING = tuple(-rung for rung in RUNGS)
_MOST, _MOST_SUMS = 100_000, 4096  # entries of a tariff
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


class Whole(NamedTuple):
    """The same of all the mechanisms of a release."""

    gaussian: bool
    squares: Charge | None
    plain: tuple[tuple[int, ...], tuple[int, ...]] | str
    """ε and δ of one release of each term, or why some term has none."""
    basic: dict[str, int]
    """Their sums."""
    knows_losses: bool


class Missing(Exception):
    """The tariff does not have it yet."""


class Tariff:
    """What has been found, by the text of a mechanism or of a whole release."""

    def __init__(self) -> None:
        self.mechanisms: dict[str, Stated] = {}
        self.reasons: dict[str, str] = {}
        """Why a mechanism has no price by certificates; empty where it has."""
        self.charges: dict[tuple[str, int], Charge | None] = {}
        self.sums: dict[tuple[str, int], Charge] = {}
        self.wholes: dict[str, Whole] = {}
        """What whole releases cost within a rung, one after another, and what they say: nothing that is not said of
        their mechanisms, but said at once.
        """

    def remember(self, release: Release, band: int, found: Charge) -> None:
        """Keep the sum that a release was found to ask at a rung."""
        if len(self.sums) > _MOST_SUMS:
            self.sums = {}
        self.sums[release.text, band] = found

    def whole(self, release: Release) -> Whole:
        """What a release says; `Missing` where nobody has looked at some term."""
        found = self.wholes.get(release.text)
        if found is None:
            found = _summed(release, [self.stated(release, term) for term in range(len(release.terms))])
            if len(self.wholes) > _MOST_SUMS:
                self.wholes = {}
            self.wholes[release.text] = found
        return found

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
        """The part of the tariff that concerns these releases."""
        texts = {text for release in releases for text, _ in release.terms} | {release.text for release in releases}
        found = Tariff()
        # another thread may forget an entry between two looks at it
        found.mechanisms = {text: kept for text in texts if (kept := self.mechanisms.get(text)) is not None}
        found.reasons = {text: reason for text in texts if (reason := self.reasons.get(text)) is not None}
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
            if len(mine) > _MOST:
                for key in list(mine)[: len(mine) - _MOST]:
                    mine.pop(key, None)  # type: ignore[call-overload]


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


def alike(tariff: Tariff, release: Release, left: int) -> int:
    """How many from here are surely priced by the same rung."""
    band, charge = rung_below(left), price_of(tariff, release, left)
    if charge is None or not charge.residue:
        return MAX_COUNT
    if band is None or tariff.whole(release).gaussian:
        return MAX_COUNT
    room = left - RUNGS[band]
    if release.count > 1 and (sequence := _sequence(tariff, release, left)) is not None:
        room -= sequence.residue  # its last release must be priced by that rung too
    return max(1, room // charge.residue + 1)


def _sequence(tariff: Tariff, release: Release, left: int) -> Charge | None:
    """All its releases one after another. Where they end above the rung that they begin at, that rung prices them all,
    whatever is left: the sum is remembered.
    """
    band = rung_below(left)
    known = tariff.sums.get((release.text, band)) if band is not None else None
    if known is not None and band is not None and left - known.residue >= RUNGS[band]:
        return known
    found = _one_by_one(tariff, release, left)
    if found is not None and band is not None and left - found.residue >= RUNGS[band]:
        tariff.remember(release, band, found)
    return found


def _one_by_one(tariff: Tariff, release: Release, left: int) -> Charge | None:
    spent = leaked = 0
    for term in release.order:
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
    return not tariff.whole(release).gaussian


def _summed(release: Release, stated: Sequence[Stated]) -> Whole:
    counts = [count for _, count in release.terms]
    squares = [one.squares for one in stated]
    every = [square for square in squares if square is not None]
    # Σμ², where every release is μ-GDP: valid at any allowance, and in any order
    charge = Charge(_total(counts, every), 0) if len(every) == len(squares) else None
    gaussian, knows = all(one.gaussian for one in stated), all(one.knows_losses for one in stated)
    plain = [one.plain for one in stated if not isinstance(one.plain, str)]
    if len(plain) < len(stated):
        return Whole(gaussian, charge, next(one.plain for one in stated if isinstance(one.plain, str)), {}, knows)
    epsilons, leaks = tuple(e for e, _ in plain), tuple(d for _, d in plain)
    basic = {"epsilon": _total(counts, epsilons), "delta": _total(counts, leaks)}
    return Whole(gaussian, charge, (epsilons, leaks), basic, knows)


def _total(counts: Sequence[int], each: Sequence[int]) -> int:
    return sum(count * unit for count, unit in zip(counts, each, strict=True))


def rung_below(left: int) -> int | None:
    """The rung at or below an allowance."""
    band = bisect_left(_DESCENDING, -left)
    return band if band < len(RUNGS) else None
