"""The laws of bursar, on what this package brings."""

from bursar_staircase.bernstein import BERNSTEIN
from bursar_staircase.staircase import Staircase

from bursar.testing import check


def test_the_mechanism() -> None:
    """Forms, counts, costs, promises, law, draws and the ledger."""
    check(Staircase(1, step="1/3"))
    check(Staircase("1/10", step="1/2", relation="replace_one"))


def test_the_theorem() -> None:
    """It contradicts nobody, forgets no count and never raises."""
    check(BERNSTEIN)
