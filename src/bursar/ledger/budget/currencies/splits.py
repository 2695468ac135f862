"""Splits: how an (ε, δ) target is divided between pure releases and Gaussian-like ones.

A split (s, w) of the target gives its *pure part* the share s of ε and its *Gaussian part* the allowance B² of the
Gaussian that meets (ε − s·ε, w·δ). A release is paid on every split that lives, by one of the two parts; a split that
cannot pay is given up for good; a release that no split can pay is refused. Beside the listed splits stands the pure
one, which has all of ε and needs no δ (proofs/residue.md §5).

Here is the arithmetic of their states, in whole units: what a split pays is decided in `residue`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.errors import InputError, described
from bursar.ledger.budget.amounts import exact, written
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Split, Splits

LINE = "splits"
"""The line that keeps all splits of a scope."""
MOST = 12
GIVEN_UP, UNUSED, SQUARES, CERTIFIED = range(4)
"""How a Gaussian part has paid so far: not at all, by squares of Gaussians alone, or by certificates too; or that the
split has been given up.
"""
DEAD = Split(0, 0, 0, GIVEN_UP)


class Share(NamedTuple):
    """The part of ε and the part of δ that a split has."""

    epsilon: Fraction
    delta: Fraction


DEFAULT = tuple(
    Share(Fraction(epsilon), Fraction(delta))
    for epsilon, delta in [
        ("0", "0.92"),
        *((share, "0.01") for share in ("1/20", "1/10", "1/5", "3/10", "2/5", "1/2", "3/5", "4/5")),
    ]
)
"""Gaussians alone keep 99 % of what the undivided target has for them, and a few coarse pure releases leave room."""


def shares_of(given: Any) -> tuple[Share, ...]:
    """Splits as people give them: pairs of a share of ε and a share of δ."""
    if not isinstance(given, (list, tuple)) or not 1 <= len(given) <= MOST:
        raise _refused(f"name 1 to {MOST} splits, each a share of ε with a share of δ, not {described(given)}")
    found = tuple(sorted(_share(one) for one in given))
    if len({share.epsilon for share in found}) < len(found):
        raise _refused("two splits have the same share of ε")
    if sum(share.delta for share in found) > 1:
        raise _refused("the splits have more than all of δ together")
    return found


def _share(given: Any) -> Share:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise _refused(f"a split is a share of ε with a share of δ, such as 1/20 and 0.01, not {described(given)}")
    epsilon, delta = (exact(one, "splits") for one in given)
    if not (0 <= epsilon < 1 and 0 < delta <= 1):
        raise _refused(
            f"a split's share of ε lies from 0 to below 1, its share of δ above 0 and up to 1, not {described(given)}"
        )
    return Share(epsilon, delta)


def _refused(why: str) -> InputError:
    return InputError(why, argument="splits")


def as_texts(shares: Iterable[Share]) -> list[list[str]]:
    """Splits as the terms of a scope have them."""
    return [[written(share.epsilon), written(share.delta)] for share in shares]


class Payment(NamedTuple):
    """How a split pays a release."""

    gaussian: int = 0
    pure: int = 0
    mode: int = UNUSED
    """How its Gaussian part pays."""
    terms: tuple[int, ...] = ()
    """The terms of the release that its pure part pays."""
    leaks: tuple[tuple[str, int, int], ...] = ()
    """What leaks: which part or law says so, of which term, and how much of δ."""
    certificates: int = 0
    """How many it rests on: each may be wrong with a tiny δ of its own."""
    bases: tuple[Basis, ...] = ()
    """What engines found of composed releases, where it rests on that."""


Payments = Sequence[Payment | None]


def paid(splits: Splits, payments: Payments, *, held: bool, times: int = 1) -> Splits | None:
    """The splits after so many releases at these prices, ``held`` or spent; None where no split can pay for all."""
    after = tuple(
        DEAD if payment is None else _paid(split, payment, held=held, times=times)
        for split, payment in zip(splits.each, payments, strict=True)
    )
    return splits._replace(each=after) if any(split.mode for split in after) else None


def _paid(split: Split, payment: Payment, *, held: bool, times: int) -> Split:
    gaussian, pure = split.gaussian - times * payment.gaussian, split.pure - times * payment.pure
    if not split.mode or gaussian < 0 or pure < 0:
        return DEAD
    return Split(
        gaussian, pure, split.held + times * payment.pure if held else split.held, max(split.mode, payment.mode)
    )


def moved(splits: Splits, amounts: Sequence[int], *, back: bool) -> Splits:
    """What reservations hold of the pure parts becomes spent, or comes back; a dead split stays dead."""
    return splits._replace(
        each=tuple(
            split._replace(held=split.held - amount, pure=split.pure + amount if back else split.pure)
            if split.mode
            else DEAD
            for split, amount in zip(splits.each, amounts, strict=True)
        )
    )


def exhausted(splits: Splits) -> Splits:
    """All of them given up."""
    return splits._replace(each=(DEAD,) * len(splits.each))


def relimited(now: Splits, before: Splits, after: Splits) -> Splits | None:
    """The splits under another target, of which ``before`` and ``after`` are the states in which nothing was charged.
    What was charged stays charged. A part that becomes smaller must hold what it has paid, and a Gaussian part that has
    paid by certificates must not become smaller; else the split is given up. None where none is left.
    """
    each = tuple(_relimited(*three) for three in zip(now.each, before.each, after.each, strict=True))
    return after._replace(each=each) if any(split.mode for split in each) else None


def _relimited(now: Split, before: Split, after: Split) -> Split:
    if not now.mode or (now.mode == CERTIFIED and after.gaussian < before.gaussian):
        return DEAD
    gaussian, pure = now.gaussian + after.gaussian - before.gaussian, now.pure + after.pure - before.pure
    return DEAD if gaussian < 0 or pure < 0 else now._replace(gaussian=gaussian, pure=pure)


def bears_gaussians(splits: Splits) -> bool:
    """Whether something is left for releases that are not pure."""
    return any(split.gaussian for split in splits.each)
