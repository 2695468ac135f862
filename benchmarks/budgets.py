"""Questions to one keeper of a budget, each in its own process: ``python benchmarks/budgets.py KEEPER`` prints JSON.

Nobody else keeps a budget that outlives its process, so what is asked is what those in memory can answer too: releases
of so much ε, one after another, and which of them pass.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from contest import alone

Spend = Callable[[Fraction], bool]
Keeper = Callable[[Fraction, Fraction], Spend]
"""Opens a budget of (ε, δ), and gives what asks it for a release of some ε and says whether that passes."""
HUNDREDTH, TINY = Fraction(1, 100), Fraction(1, 10_000)
MOST = 2000


def eleven(opened: Keeper) -> int:
    """A budget that is spent to its end."""
    spend = opened(Fraction(1), Fraction(0))
    return sum(spend(Fraction(1, 11)) for _ in range(11))


def small(opened: Keeper) -> int:
    """How many pass where δ may help."""
    spend = opened(Fraction(1), Fraction(1, 10**6))
    return next(count for count in range(MOST) if not spend(HUNDREDTH))


def refused(opened: Keeper) -> str:
    """Whether a refusal leaves the rest to be spent."""
    spend = opened(Fraction(1), Fraction(0))
    passed = [spend(Fraction(tenths, 10)) for tenths in (6, 6, 3)]
    return ", ".join("passes" if one else "refused" for one in passed)


def charges(count: int) -> Callable[[Keeper], int]:
    """So many in a row; their time is what is wanted."""

    def asked(opened: Keeper) -> int:
        spend = opened(Fraction(1), Fraction(0))
        return sum(spend(TINY) for _ in range(count))

    return asked


FEW, MANY = 250, 2000
QUESTIONS: dict[str, Callable[[Keeper], Any]] = {
    "of eleven ε = 1/11, how many fit 1": eleven,
    "how many of ε = 0.01 fit (1, 1e-6)": small,
    "ε = 0.6, 0.6, 0.3 on 1": refused,
    f"{FEW} in a row": charges(FEW),
    f"{MANY} in a row": charges(MANY),
}


def ours(url: str) -> Keeper:
    """bursar's ledger: in memory, or with every charge on the disk before it is answered."""

    def opened(epsilon: Fraction, delta: Fraction) -> Spend:
        import bursar as b

        place = tempfile.mkdtemp(dir=FOLDER.name)
        ledger = b.Ledger(url.format(place=place), alert=None)
        ledger.open("data", epsilon=epsilon, delta=delta)

        def spend(loss: Fraction) -> bool:
            try:
                ledger.spend("data", b.RandomizedResponse(epsilon=loss))
            except b.BudgetExceeded:
                return False
            return True

        return spend

    return opened


def opendp(epsilon: Fraction, delta: Fraction) -> Spend:
    """OpenDP's filter: of pure ε, and with a δ of ρ, which admits more than its sum of (ε, δ)."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    if delta:
        scale = dp.binary_search(
            lambda noise: (
                dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=noise)).map(1.0).epsilon(float(delta))
                <= float(epsilon)
            ),
            bounds=(0.1, 1000.0),
        )
        limit: float = dp.m.make_gaussian(*space, scale=scale).map(1.0)
        measure = dp.zero_concentrated_divergence()
    else:
        limit, measure = float(epsilon), dp.max_divergence()
    odometer = dp.c.make_fully_adaptive_composition(*space, measure)
    queryable = dp.c.make_privacy_filter(odometer, d_in=1.0, d_out=limit)(0.0)

    def spend(loss: Fraction) -> bool:
        one = dp.m.make_laplace(*space, scale=float(1 / loss))
        try:
            queryable(dp.c.make_pureDP_to_zCDP(one) if delta else one)
        except dp.OpenDPException:
            return False
        return True

    return spend


def diffprivlib(epsilon: Fraction, delta: Fraction) -> Spend:
    """diffprivlib's accountant: all of δ is slack for its composition."""
    from diffprivlib import BudgetAccountant
    from diffprivlib.utils import BudgetError

    accountant = BudgetAccountant(float(epsilon), float(delta), float(delta))

    def spend(loss: Fraction) -> bool:
        try:
            accountant.spend(float(loss), 0)
        except BudgetError:
            return False
        return True

    return spend


KEEPERS: dict[str, Keeper] = {
    "bursar, in memory": ours("memory://"),
    "bursar, SQLite": ours("sqlite:///{place}/budget.db"),
    "OpenDP": opendp,
    "diffprivlib": diffprivlib,
}
FOLDER = tempfile.TemporaryDirectory()


def main() -> None:
    """Every question to one keeper, a line of JSON each."""
    keeper = KEEPERS[sys.argv[1]]
    try:
        keeper(Fraction(1), Fraction(0))(TINY)  # loads what it needs
    except ModuleNotFoundError as missing:
        sys.exit(f"did not install: {missing.name}")
    for question in QUESTIONS.values():
        alone(lambda asked: asked(keeper), question)


if __name__ == "__main__":
    main()
