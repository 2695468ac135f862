"""57 of 160 readings of trade-off curves were wider than 1e-3 though the profile behind them is known exactly: the
points were not refined.
"""

from __future__ import annotations

import warnings

from shared import judged

import bursar as b

MECHANISMS = [
    b.Gaussian(sigma=1),
    b.Gaussian(sigma=5),
    b.Laplace(scale=1),
    b.Laplace(scale=8),
    b.RandomizedResponse(epsilon=1),
    b.RandomizedResponse(epsilon=3),
    b.Table(p=["9/10", "1/10"], q=["1/2", "1/2"]),
    b.NameAndShame(delta="1/100"),
]
RATES = [1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9]


def main() -> tuple[bool, str]:
    """Each alone and ten times, at ten rates: 160 readings."""
    widths: list[float] = []
    for mechanism in MECHANISMS:
        for what in (mechanism * 1, mechanism * 10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = b.profile(what).true_positive_rate(RATES)
            widths += [float(width) for width in found.upper - found.lower]
    wide = sum(width > 1e-3 for width in widths)
    return wide == 0, f"{wide} of {len(widths)} readings are wider than 1e-3; the widest: {max(widths):.2g}"


if __name__ == "__main__":
    judged(main)
