"""A scope of each currency, with the limits that the tests of currencies use."""

from __future__ import annotations

from typing import Any

TARGET = {"epsilon": "1", "delta": "1e-6"}
TERMS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": "1"},
    "sums": TARGET,
    "advanced": TARGET,
    "concentrated": TARGET,
    "residue": TARGET,
    "zcdp": {"rho": "1/50", "delta": "1e-9"},
    "renyi": {"order": "32", **TARGET},
    "gdp": {"mu": "0.3"},
}
