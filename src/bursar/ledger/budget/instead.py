"""What would pass in place of a release that was refused: the same with more noise, or fewer of them.

It is found by asking what the scopes would decide, on their states as somebody has found them: nothing is promised
beyond that moment, and nothing is written.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from time import thread_time
from typing import NamedTuple

from bursar.errors import BursarError, PerChargeCap
from bursar.ledger.budget.currencies import HELD, SPENT, Currency, Price
from bursar.ledger.budget.currencies._step import State
from bursar.ledger.budget.deciding import Seen, decided
from bursar.ledger.budget.refusals import UNCAPPED, Caps, within_cap, within_caps
from bursar.ledger.budget.release import Release, release_of

_NOISE = {
    **dict.fromkeys(("gaussian", "discrete_gaussian"), ("sigma", True)),
    **dict.fromkeys(("laplace", "discrete_laplace"), ("scale", True)),
    **dict.fromkeys(("randomized_response", "exponential"), ("epsilon", False)),
}
"""Mechanisms whose prices are found at once: the number that says how much noise there is, and whether more is less."""
_TERM = re.compile(r"(\w+)\((\w+)=([0-9.e/-]+)([^()]*)\)\Z")
_DOUBLINGS = 30
_NEAR = 1.02
"""How close the noise that is named comes to the least."""
_SECONDS = 2.0
"""Of the processor, after which no other price is asked for: whoever prints a refusal does not wait."""


class _Asker(NamedTuple):
    """Who would be told: on which scopes, by which rules of a service, and until when it may be counted."""

    seen: Seen
    caps: Caps
    end: float

    @property
    def late(self) -> bool:
        """Whether enough was counted."""
        return thread_time() > self.end

    def passes(self, release: Release) -> bool:
        """Whether it would be charged."""
        return passes(self.seen, release, self.caps)


def instead(seen: Seen, release: Release, caps: Caps = UNCAPPED) -> str | None:
    """The text of a release of the same kind that would pass now; None where none is known, or it takes long to find.
    ``caps`` are the rules of a service; that for what sits reserved is there for reservations alone.
    """
    if release.delta is not None or len(release.terms) != 1:
        return None
    (term, count), found = release.terms[0], None
    parts = _TERM.match(term)
    asker = _Asker(seen, caps, thread_time() + _SECONDS)
    noise, grows = _NOISE.get(parts[1], ("", True)) if parts else ("", True)
    try:
        if parts and noise == parts[2]:
            found = _noisier(asker, parts, count, grows)
        return found or _fewer(asker, term, count)
    except BursarError:  # whatever has no price is no advice
        return None


def _noisier(asker: _Asker, parts: re.Match[str], count: int, grows: bool) -> str | None:
    """The same with as little more noise as passes, to three digits."""
    name, noise, value, rest = parts.groups()

    def text(times: float) -> str:
        scaled = Decimal(float(Fraction(value)) * (times if grows else 1 / times))
        context = Context(prec=3, rounding=ROUND_CEILING if grows else ROUND_FLOOR)
        many = f"*{count}" if count > 1 else ""
        return f"{name}({noise}={context.plus(scaled).normalize():f}{rest}){many}"

    def passing(times: float) -> bool:
        return asker.passes(release_of(text(times)))

    low, high = 1.0, 2.0
    for _ in range(_DOUBLINGS):
        if asker.late:
            return None
        if passing(high):
            break
        low, high = high, 2 * high
    else:
        return None
    while high > _NEAR * low and not asker.late:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if passing(middle) else (middle, high)
    return text(high)


def _fewer(asker: _Asker, term: str, count: int) -> str | None:
    """Fewer of the same."""
    one = release_of(term)
    if count == 1 or asker.late or not asker.passes(one) or asker.late:
        return None
    fits = min(scope.currency.fits(one, state) for scope, state in asker.seen)
    many = min(fits, count - 1)
    text = term if many == 1 else f"{term}*{many}"
    return text if asker.passes(release_of(text)) else None


def passes(seen: Seen, release: Release, caps: Caps = UNCAPPED) -> bool:
    """Whether these scopes would admit it as they are, and a service's rules too."""
    found, refusal = decided(seen, release, SPENT if caps.reserved is None else HELD, price=_found)
    try:
        for one in found:
            if caps.reserved is None:
                within_cap(caps.charge, one)
            else:
                within_caps(caps, one)
    except PerChargeCap:
        return False
    return refusal is None


def _found(currency: Currency, release: Release, state: State) -> Price:
    return currency.price(release, state)
