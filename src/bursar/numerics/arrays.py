"""The types of the arrays that the floating-point engines compute with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Known = tuple[Array, Array]
"""Values and bounds of their absolute errors."""
