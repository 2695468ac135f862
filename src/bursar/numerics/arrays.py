"""The types of the arrays that the floating-point engines compute with, and their sums of products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Known = tuple[Array, Array]
"""Values and bounds of their absolute errors."""

CALM = np.errstate(all="ignore")
"""Floats may overflow or lose their meaning where a question is absurd: balls of nothing then prove nothing."""


def dot(left: Array, right: Array) -> float:
    """Σ left·right. Not by BLAS: beyond 10 000 places its threads wait for each other busily, and its last digit
    depends on how many there are; so would a price. What prices were made of keeps this order of its terms; whatever
    else is added up goes through `products`, which is quicker.
    """
    return float(np.sum(left * right))
