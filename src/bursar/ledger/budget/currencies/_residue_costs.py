"""What releases cost the Gaussian part of a split: whole numbers from a table, certified once for each level.

A charge that is valid at an allowance is valid at every larger one (proofs/residue.md §3), so the charge at the nearest
level below serves the whole band above it. Here is only arithmetic on what the table has; `_certificates` fills it,
which takes time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import isqrt
from typing import Any, NamedTuple

from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.budget.currencies.splits import CERTIFIED, SQUARES, UNUSED, Payment
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Split

LEVELS = tuple(PARTS * isqrt(isqrt(2 ** (80 - j))) >> 20 for j in range(45))
"""Allowances, four to each halving, down to a two-thousandth; all splits of a scope share them, and so certificates."""
_DESCENDING = tuple(-level for level in LEVELS)
_MOST, _MOST_PAYMENTS = 100_000, 4096  # entries of a table
_WHOLE = 1000
"""A composition of more terms than this is only priced term by term."""

Key = tuple[str, str, int]
"""What is asked (`term`, `why`, `charge` or `basis`), of which text, and at which level."""


class Charge(NamedTuple):
    """What one release costs a Gaussian part."""

    units: int
    """Of the allowance."""
    leak: int
    """Of δ, by its law."""
    certified: bool
    """Whether that is a certificate, and not the square of a Gaussian that dominates it."""


class Term(NamedTuple):
    """What a mechanism says of itself, whatever the allowance."""

    gaussian: bool
    """Whether it is the Gaussian mechanism, whose square is its price at every level."""
    squares: int | None
    """μ² in units of the allowance, where it is μ-GDP."""
    pure: tuple[int, int] | str
    """Its ε and its δ, in units, or why it has none."""
    knows_losses: bool
    """Whether its leak is that of its own losses, not of a promise beside another."""


class Missing(Exception):
    """The table does not have it yet."""


class Costs:
    """What has been found, by the text of a mechanism or of a whole release."""

    def __init__(self) -> None:
        self.table: dict[Key, Any] = {}
        self._terms: dict[str, tuple[Term, ...]] = {}
        self._payments: dict[tuple[str, int], Payment] = {}
        """What a Gaussian part pays for a whole release that begins and ends within the band of a level."""

    def get(self, kind: str, release: Release, term: int | None, level: int = 0) -> Any:
        """An entry of the table, of a term or of the whole (None); `Missing` where there is none."""
        try:
            return self.table[kind, text_of(release, term), level]
        except KeyError:
            raise Missing from None

    def terms(self, release: Release) -> tuple[Term, ...]:
        """What each of its terms says."""
        found = self._terms.get(release.text)
        if found is None:
            found = tuple(self.get("term", release, term) for term in range(len(release.terms)))
            _bound(self._terms, _MOST_PAYMENTS)
            self._terms[release.text] = found
        return found

    def why_not(self, release: Release) -> str:
        """Why some term has no price in either part; empty where there is only too little left."""
        neither = [isinstance(said.pure, str) and said.squares is None for said in self.terms(release)]
        reasons = [self.get("why", release, term) for term, none in enumerate(neither) if none]
        return "; ".join(reason for reason in reasons if reason)

    def part(self, releases: Sequence[Release]) -> dict[Key, Any]:
        """The part of the table that concerns these releases, for another process."""
        texts = {text for release in releases for text, _ in release.terms} | {release.text for release in releases}
        return {key: found for key, found in list(self.table.items()) if key[1] in texts}

    def learn(self, found: dict[Key, Any]) -> None:
        """What was found elsewhere; what was found first is forgotten first."""
        self.table.update(found)
        for key in list(self.table)[: max(0, len(self.table) - _MOST)]:
            self.table.pop(key, None)

    # ---- how a split pays

    def payment(self, release: Release, split: Split) -> Payment | None:
        """By the Gaussian part where that has a price and room; else each term by the part that can; None where some
        term has no room in either.
        """
        left, level = split.gaussian, level_below(split.gaussian)
        known = None if level is None else self._payments.get((release.text, level))
        if known is not None and level is not None and left - known.gaussian >= LEVELS[level]:
            return known
        found = self._by_gaussian(release, left, level)
        if found is None:
            return self._by_either(release, split)
        if level is not None and left - found.gaussian >= LEVELS[level]:
            _bound(self._payments, _MOST_PAYMENTS)
            self._payments[release.text, level] = found
        return found

    def late_payment(self, release: Release, split: Split) -> Payment | None:
        """Of a release that is charged after others which it may have come before. What has an ε (and perhaps a δ)
        of its own is paid by the pure part alone; the rest by squares where squares are all that has been paid, by
        certificates where nothing has.
        """
        parts: list[Payment] = []
        left, pure = split.gaussian, split.pure
        mode = split.mode
        for term in release.order:
            said = self.terms(release)[term]
            if not isinstance(said.pure, str):
                part = self._pure(release, term, said.pure)
                pure -= part.pure
            elif said.squares is not None and mode <= SQUARES:
                part = Payment(said.squares * release.terms[term][1], 0, SQUARES)
            elif mode == UNUSED and (run := self._run(release, term, left)) is not None:
                part = run
            else:
                return None
            left, mode = left - part.gaussian, max(mode, part.mode)
            if left < 0 or pure < 0:
                return None
            parts.append(part)
        return _together(parts)

    def _by_gaussian(self, release: Release, left: int, level: int | None) -> Payment | None:
        """All of it by the Gaussian part, one after another or as one, whichever is cheaper."""
        parts: list[Payment] = []
        rest, composed = left, None
        for term in release.order:
            part = self._run(release, term, rest)
            if part is None:
                break
            rest -= part.gaussian
            parts.append(part)
        sequence = _together(parts) if len(parts) == len(release.order) else None
        if level is not None and self._worth_composing(release):
            composed = self._composed(release, level)
        ways = [way for way in (sequence, composed) if way is not None and way.gaussian <= left]
        return min(ways, key=lambda way: way.gaussian, default=None)

    def asked(self, release: Release, left: int) -> int | None:
        """What the Gaussian part would be asked for, whether or not it has that much; None where it has no price."""
        spent = 0
        for term in release.order:
            part = self._run(release, term, max(left - spent, 0))
            if part is None:
                return None
            spent += part.gaussian
        return spent

    def _by_either(self, release: Release, split: Split) -> Payment | None:
        """Each term by the Gaussian part if it has room there, else by the pure one."""
        parts: list[Payment] = []
        gaussian, pure = split.gaussian, split.pure
        for term in release.order:
            part = self._run(release, term, gaussian)
            if part is None or part.gaussian > gaussian:
                said = self.terms(release)[term].pure
                if isinstance(said, str):
                    return None
                part = self._pure(release, term, said)
                if part.pure > pure:
                    return None
            gaussian, pure = gaussian - part.gaussian, pure - part.pure
            parts.append(part)
        return _together(parts)

    def _pure(self, release: Release, term: int, said: tuple[int, int]) -> Payment:
        """The equal releases of a term by the pure part."""
        count, (epsilon, delta) = release.terms[term][1], said
        leaks = (("pure", term, count * delta),) if delta else ()
        return Payment(0, count * epsilon, UNUSED, (term,), leaks)

    def _run(self, release: Release, term: int, left: int) -> Payment | None:
        """The equal releases of a term by the Gaussian part, one after another from an allowance of ``left`` units;
        where they do not fit, what they would ask. None where they have no price.
        """
        count = release.terms[term][1]
        said = self.terms(release)[term]
        if said.gaussian and said.squares is not None:
            return Payment(count * said.squares, 0, SQUARES)
        spent = leaked = certificates = 0
        while count:
            now = left - spent
            level = level_below(now)
            charge = self._charge(release, term, level, said)
            if charge is None:
                return None
            steps = count
            if level is not None and charge.units:
                steps = min(count, (now - LEVELS[level]) // charge.units + 1)
            if charge.units * steps > now:
                steps = count  # they do not fit: at this price they would ask so much
            spent, leaked, count = spent + steps * charge.units, leaked + steps * charge.leak, count - steps
            certificates += steps if charge.certified else 0
        if not certificates:
            return Payment(spent, 0, SQUARES)
        basis: Basis | None = self.get("basis", release, term)
        leaks = (("law", term, leaked),) if leaked else ()
        return Payment(spent, 0, CERTIFIED, (), leaks, certificates, () if basis is None else (basis,))

    def _charge(self, release: Release, term: int, level: int | None, said: Term) -> Charge | None:
        if level is None:
            return None if said.squares is None else Charge(said.squares, 0, False)
        found: Charge | None = self.get("charge", release, term, level)
        return found

    def _composed(self, release: Release, level: int) -> Payment | None:
        """All of a release as one, by its composed profile."""
        charge: Charge | None = self.get("charge", release, None, level)
        if charge is None:
            return None
        leaks = (("law", -1, charge.leak),) if charge.leak else ()
        return Payment(charge.units, 0, CERTIFIED, (), leaks, 1, (self.get("basis", release, None),))

    def _worth_composing(self, release: Release) -> bool:
        """Whether the whole may cost less than the sum of its parts: Gaussians add up exactly."""
        if release.count == 1 or len(release.terms) > _WHOLE:
            return False
        return not all(term.gaussian for term in self.terms(release))

    def leak(self, release: Release, payments: Sequence[Payment | None], slack: int) -> int:
        """What all these payments leak: what each law or promise says once, however many splits rest on it, and each
        certificate beside it. Of a term that several splits paid by certificates in part, the largest part has the
        others in it: certificates come first, squares where little is left.
        """
        found: dict[tuple[str, int], int] = {}
        certificates = 0
        for payment in payments:
            if payment is not None:
                certificates += payment.certificates
                for part, term, units in payment.leaks:
                    found[part, term] = max(units, found.get((part, term), 0))
        total = certificates * slack
        for (part, term), units in found.items():
            beside = found.get(("law", term), 0) if part == "pure" and self.terms(release)[term].knows_losses else 0
            # both speak of the same losses: the larger leak has the smaller one in it (proofs/residue.md §5)
            total += max(units - beside, 0)
        return total


def text_of(release: Release, term: int | None) -> str:
    """Of a term, or of the whole (None)."""
    return release.text if term is None else release.terms[term][0]


def level_below(left: int) -> int | None:
    """The level at or below an allowance."""
    level = bisect_left(_DESCENDING, -left)
    return level if level < len(LEVELS) else None


def _together(parts: Sequence[Payment]) -> Payment:
    if len(parts) == 1:
        return parts[0]
    return Payment(
        sum(part.gaussian for part in parts),
        sum(part.pure for part in parts),
        max((part.mode for part in parts), default=UNUSED),
        tuple(term for part in parts for term in part.terms),
        tuple(leak for part in parts for leak in part.leaks),
        sum(part.certificates for part in parts),
        tuple(dict.fromkeys(basis for part in parts for basis in part.bases)),
    )


def _bound(kept: dict[Any, Any], most: int) -> None:
    if len(kept) > most:
        kept.clear()
