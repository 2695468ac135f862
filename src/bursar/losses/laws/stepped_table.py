"""Tables whose finite losses are whole multiples of one number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from bursar.losses.laws.table import TableLoss
from bursar.losses.places import Comb, Law, of_atoms
from bursar.numerics.balls import Ball


@dataclass(frozen=True)
class SteppedTable(TableLoss):
    """A table whose finite losses are whole multiples of one number, as those of k-ary responses."""

    step: Ball

    def lattice_law(self, depth: float) -> Law:
        """The law of all its atoms, which form a comb."""
        law = of_atoms(self.atoms())
        return replace(law, comb=Comb(arb(0), self.step, np.rint(law.losses / float(self.step)).astype(np.int64)))
