"""A numpy warning reaches users from the Rényi curves of samples."""

from __future__ import annotations

import warnings
from fractions import Fraction

from shared import judged

import bursar as b

BASES = [
    b.Gaussian(sigma=1),
    b.Laplace(scale="1e-30"),
    b.Declared(b.Renyi({2: "1/10", 8: "1/2"})),
    b.Declared(b.TCDP(rho="1/10", omega=5)),
    b.Declared(b.ZCDP(rho=10**20)),
    b.Declared(b.PureDP(epsilon=10**90)),
]
RATES = ["1e-400", 1e-17, "1/2", 0.9999999999999999, 1 - Fraction(1, 10**40)]


def main() -> tuple[bool, str]:
    """Warnings and faults of 30 samples."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        faults = []
        for base in BASES:
            for rate in RATES:
                try:
                    b.account(b.PoissonSampled(base, rate=rate) * 3, delta=1e-6, theorems=["renyi", "basic"])
                except (ArithmeticError, ValueError) as fault:
                    faults.append(type(fault).__name__)
    said = sorted({f"{one.category.__name__}: {one.message}" for one in heard})
    return (
        not said and not faults,
        f"{len(heard)} warnings, {len(faults)} faults in 30 accounts {'; '.join(said)}".strip(),
    )


if __name__ == "__main__":
    judged(main)
