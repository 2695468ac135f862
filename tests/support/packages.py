"""Packages that offer mechanisms of their own by entry point, as an installer would leave them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bursar.ledger.budget import release
from bursar.ledger.budget.currencies import currency_with
from bursar.mechanisms import plugins
from bursar.theorems import plugins as theorems

HEAD = """
from dataclasses import InitVar, dataclass, field
from fractions import Fraction

import bursar as b
from bursar.guarantees import Claim
from bursar.numerics.real import Real, read


def pure(epsilon):
    return (Claim(b.PureDP(Fraction(epsilon)), "declared"),)

"""
"""What the modules of plug-ins in tests begin with."""


def forget() -> None:
    """Look for packages anew, and take no text for what it meant before."""
    plugins._offers.cache_clear()
    plugins._loaded.cache_clear()
    theorems._offers.cache_clear()
    theorems._loaded.cache_clear()
    release._texts.clear()
    release._values.clear()
    currency_with.cache_clear()


class Packages:
    """Packages in a folder, on the path of this process as long as its monkeypatch lasts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        self._names: list[str] = []

    def install(self, package: str, module: str, offers: dict[str, str]) -> Path:
        """A package of one module, which offers names with their classes; where it lies."""
        place = self.folder / package
        info = place / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (place / f"{package}.py").write_text(module, encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        rows = "\n".join(f"{name} = {package}:{value}" for name, value in offers.items())
        (info / "entry_points.txt").write_text(f"[{plugins.GROUP}]\n{rows}\n", encoding="utf-8")
        self._monkeypatch.syspath_prepend(str(place))
        self._names.append(package)
        forget()
        return place

    def remove(self) -> None:
        """Forget all of them."""
        for name in self._names:
            sys.modules.pop(name, None)
        forget()
