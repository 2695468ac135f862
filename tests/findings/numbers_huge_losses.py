"""`true_positive_rate` and `trade_off` overflow where ε(1e-12) is above 709."""

from __future__ import annotations

import warnings

from shared import judged

import bursar as b

WHAT = [b.Laplace(scale="1/1000") * 1, b.RandomizedResponse(epsilon=1000) * 1, b.Gaussian(sigma="1/50") * 2]


def main() -> tuple[bool, str]:
    """Rates at which an attacker is right all but always."""
    failed = []
    for what in WHAT:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                curve = b.profile(what)
                hits, misses = curve.true_positive_rate([1e-9, 0.5]), curve.trade_off([1e-9, 0.5])
        except (ArithmeticError, ValueError, RuntimeWarning) as problem:
            failed.append(f"{what}: {type(problem).__name__}")
            continue
        if not (hits.lower.min() > 0.999 and hits.upper.max() <= 1 and misses.upper.max() < 0.001):
            failed.append(f"{what}: hits {hits.lower.min():g} to {hits.upper.max():g}")
    return (
        not failed,
        f"{len(failed)} of {len(WHAT)} failed: {'; '.join(failed)}" if failed else "all read, at least 0.999",
    )


if __name__ == "__main__":
    judged(main)
