"""A sample of a group counted the group as one unit, while the text says that each record takes part independently:
δ of three records who each take part with 1/10 was at most 1/10, where at least one of them takes part with 0.27.
"""

from __future__ import annotations

import math

from shared import judged

import bursar as b


def truth(epsilon: float) -> float:
    """δ of a Gaussian of σ = 1/5 for three records that are each sampled with 1/10: a mixture over how many are."""

    def tail(z: float) -> float:
        return math.erfc(z / math.sqrt(2)) / 2

    shares = [math.comb(3, k) * 0.1**k * 0.9 ** (3 - k) for k in range(4)]
    mean = 5.0
    low, high = -20.0, 20.0
    for _ in range(200):  # the mixture's likelihood ratio grows with x: where does it cross e^ε?
        x = (low + high) / 2
        ratio = sum(share * math.exp(k * mean * x - (k * mean) ** 2 / 2) for k, share in enumerate(shares))
        low, high = (x, high) if ratio < math.exp(epsilon) else (low, x)
    return sum(share * tail(low - k * mean) for k, share in enumerate(shares)) - math.exp(epsilon) * tail(low)


def main() -> tuple[bool, str]:
    """Refused by name, or an answer that contains the mixture."""
    real = truth(1.0)
    try:
        what = b.PoissonSampled(b.Group(b.Gaussian(sigma="1/5"), size=3), rate="1/10")
        found = b.account(what, epsilon=1).delta
    except b.BursarError as refused:
        return "group" in str(refused), f"refused ({type(refused).__name__}): {str(refused)[:110]}"
    return (
        found.lower <= real <= found.upper,
        f"δ(1) in [{found.lower:.4g}, {found.upper:.4g}], the mixture's is {real:.4g}",
    )


if __name__ == "__main__":
    judged(main)
