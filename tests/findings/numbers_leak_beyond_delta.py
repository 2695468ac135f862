"""Where an attained or declared leak alone exceeds δ and something else is composed with it, ε was [0, ∞]: it is
[∞, ∞], since no finite ε holds.
"""

from __future__ import annotations

import math

from shared import judged

import bursar as b

LEAKY = [
    b.NameAndShame(delta="1/10"),
    b.Declared(b.ApproxDP(epsilon="1/10", delta="1/10")),
    b.LeakyRandomizedResponse(epsilon=1, delta="1/10"),
    b.Declared(b.ZCDP(rho="1/10", delta="1/10")),
    b.Table(["1/2", "1/2", 0], ["1/2", "2/5", "1/10"]),
    b.PoissonSampled(b.NameAndShame(delta="1/10"), rate="1/2"),
]
BESIDE = [b.Laplace(scale=1), b.Gaussian(sigma=1), b.Declared(b.ZCDP(rho=1))]


def main() -> tuple[bool, str]:
    """At δ = 1e-6."""
    found = [b.account(leaky + beside, delta=1e-6).epsilon for leaky in LEAKY for beside in BESIDE]
    open_ = [interval for interval in found if interval.lower != math.inf]
    first = found[0]
    return not open_, f"{len(open_)} of {len(found)} have a finite lower end; the first: [{first.lower}, {first.upper}]"


if __name__ == "__main__":
    judged(main)
