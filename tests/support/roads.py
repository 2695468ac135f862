"""Random questions about private training, for the main road."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator


def drawn(seed: int, count: int) -> Iterator[tuple[float, float, int, float]]:
    """Random σ, q, numbers of copies and δ's that the road is asked about."""
    rng = random.Random(seed)
    while count:
        sigma, rate, copies, target = (
            math.exp(rng.uniform(math.log(low), math.log(high)))
            for low, high in ((0.5, 12.0), (1e-4, 0.6), (30, 1e8), (1e-25, 1e-2))
        )
        if copies * rate >= 20:
            count -= 1
            yield sigma, rate, int(copies), target
