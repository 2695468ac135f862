"""Which kind of budget to open, by what people release: one table for the book, the command line and the form.

The counts are what (1, 1e-6) admits of three releases, each alone and one after another; a test counts them again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TARGET = {"epsilon": "1", "delta": "1e-6"}
REFERENCES = ("laplace(scale=100)", "gaussian(sigma=42.27)", "declared(approx_dp(epsilon=1/50, delta=1e-9))")


class Choice(NamedTuple):
    """A kind of budget."""

    releases: str
    """What people release."""
    opened: str
    """How it is opened, in words."""
    terms: dict[str, Any]
    why: str
    fits: tuple[int, int, int]
    """How many of each reference fit."""

    @property
    def counts(self) -> str:
        """The counts, in words."""
        return " / ".join(str(count) if count else "none" for count in self.fits)


CHOICES = (
    Choice(
        "a few counts with Laplace noise",
        "ε alone (pure)",
        {"epsilon": "1"},
        "no δ is needed; the ε of releases add up",
        (100, 0, 0),
    ),
    Choice(
        "many counts, Gaussians, DP-SGD, or all of them",
        "ε and δ (the default)",
        TARGET,
        "the strongest filter for both kinds",
        (555, 99, 9),
    ),
    Choice(
        "Gaussians and DP-SGD alone",
        "ε and δ, and the one split 0:1",
        {**TARGET, "splits": [("0", "1")]},
        "coarse Laplaces fit only before anything Gaussian-like",
        (559, 100, 9),
    ),
    Choice(
        "black boxes with an ε and a δ",
        "the currency sums",
        {**TARGET, "currency": "sums"},
        "their ε and their δ add up",
        (100, 0, 50),
    ),
    Choice(
        "one plan that is declared in advance",
        "the currency sums, and the plan charged at a δ",
        {**TARGET, "currency": "sums"},
        "numerical accounting of the whole: 1873 steps of poisson(gaussian(sigma=2), rate=0.01) fit",
        (100, 0, 50),
    ),
)


def as_lines() -> list[str]:
    """The table for a terminal."""
    head = f"How many fit at (1, 1e-6), of {', '.join(REFERENCES)}:"
    return [head, *(f"{one.releases}: {one.opened}; {one.why}; {one.counts}" for one in CHOICES)]
