"""Workloads in pandas and polars: a table in, a priced table out."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pytest

import bursar as b
from bursar.adapters.tables import priced

ROWS = {"mechanism": ["gaussian", "laplace", "randomized_response"], "sigma": [20.0, None, None],
        "scale": [None, 50, None], "epsilon": [None, None, "0.1"], "count": [10, 3, 5]}  # fmt: skip


@pytest.mark.parametrize(
    "kind", [pandas.DataFrame, lambda rows: polars.DataFrame(rows, strict=False)], ids=["pandas", "polars"]
)
def test_a_workload_is_priced(kind: Any) -> None:
    """Each row alone, and all rows so far, as account says."""
    table = kind(ROWS)
    found = priced(table, delta=1e-6)
    assert type(found) is type(table)
    parts = [b.Gaussian(20) * 10, b.Laplace(50) * 3, b.RandomizedResponse(0.1) * 5]
    assert list(found["text"]) == [part.text() for part in parts]
    assert list(found["epsilon"]) == [b.account(part, delta=1e-6).epsilon.upper for part in parts]
    assert list(found["epsilon_so_far"])[-1] == b.account(sum(parts, b.Composition()), delta=1e-6).epsilon.upper
    assert list(found["count"]) == [10, 3, 5]


def test_releases_in_text() -> None:
    """A column of text forms does as well."""
    table = pandas.DataFrame({"release": ["gaussian(sigma=20)*2", "laplace(scale=5)"]})
    assert list(priced(table, delta="1e-6")["text"]) == ["gaussian(sigma=20)*2", "laplace(scale=5)"]
    counted = priced(table.assign(count=[3, 10]), delta="1e-6")
    assert list(counted["text"]) == ["gaussian(sigma=20)*6", "laplace(scale=5)*10"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"mechanism": ["nonsense"]}, "row 0"),
        ({"mechanism": ["gaussian"], "sigma": [-1]}, "row 0"),
        ({"sigma": [1]}, "neither a mechanism nor a release"),
        ({"release": ["gaussian(sigma=1)", "?"]}, "row 1"),
    ],
)
def test_bad_rows_are_named(rows: dict[str, Any], says: str) -> None:
    """With their number."""
    with pytest.raises(b.InputError, match=says):
        priced(pandas.DataFrame(rows), delta=1e-6)
    with pytest.raises(b.InputError, match="pandas or a polars"):
        priced([rows], delta=1e-6)
