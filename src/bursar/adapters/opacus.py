"""Opacus: certified accounting of private training, and its budget kept by a ledger.

`BursarAccountant` tells what was run; `Training` has a run paid for before its steps:

    import bursar.adapters.opacus                   # registers the accountant
    engine = PrivacyEngine(accountant="bursar")

    with Training(ledger, "model", noise_multiplier=1.1, sample_rate=0.01, steps=3000, key="run-7") as run:
        for _ in range(epochs):
            …one epoch…
            run.epoch(steps)                        # durable; BudgetExceeded came before the first one
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import bursar as b
from bursar.errors import InputError
from bursar.extras import needs
from bursar.jobs.report import Report
from bursar.ledger.receipt import Reservation

with needs("opacus", "the adapter of Opacus"):
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import register_accountant


class BursarAccountant(IAccountant):  # type: ignore[misc]  # untyped there
    """The steps of an optimizer as Poisson-sampled Gaussians, composed by every theorem."""

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One step of the optimizer; equal ones are counted."""
        last = self.history[-1] if self.history else None
        if last is not None and last[:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (*last[:2], last[2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    @property
    def composition(self) -> b.Composition:
        """The steps that were run so far, as one composition."""
        parts = (steps(sigma, rate, count) for sigma, rate, count in self.history)
        return sum(parts, b.Composition())

    def report(self, delta: float, **more: Any) -> Report:
        """Both ends, every theorem's part, and the reasons."""
        return b.account(self.composition, delta=delta, **more)

    def get_epsilon(self, delta: float, *, poisson: bool = True, **kwargs: Any) -> float:
        """The upper end of ε so far. Steps that were not sampled by Poisson's rule have no certified cost here."""
        if not poisson:
            raise InputError("only Poisson sampling is accounted for", argument="poisson")
        return self.report(delta).epsilon.upper if self.history else 0.0

    def __len__(self) -> int:
        return sum(count for _, _, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name by which `PrivacyEngine(accountant=…)` finds this accountant."""
        return "bursar"


def steps(noise_multiplier: float, sample_rate: float, count: int) -> b.Composition:
    """The release of this many steps of private training."""
    gaussian = b.Gaussian(sigma=noise_multiplier)
    return (gaussian if sample_rate >= 1 else b.PoissonSampled(gaussian, rate=sample_rate)) * count


class Training:
    """A training run whose whole budget is set aside before it starts, and drawn epoch by epoch.

    On scopes that add up, what is not drawn is given back at the end; elsewhere the whole is spent when it is reserved,
    as the ledger says of every reservation.
    """

    def __init__(
        self,
        ledger: b.Ledger,
        scope: str,
        *,
        noise_multiplier: float,
        sample_rate: float,
        steps: int,
        key: str,
        ttl: float = 7 * 86_400,
        by: str | None = None,
    ) -> None:
        self._ledger, self._scope, self._key, self._ttl, self._by = ledger, scope, key, ttl, by
        self._sigma, self._rate, self._left = noise_multiplier, sample_rate, steps
        self._epochs = 0
        self.reservation: Reservation | None = None

    def __enter__(self) -> Self:
        whole = steps(self._sigma, self._rate, self._left)
        self.reservation = self._ledger.reserve(
            self._scope, whole, ttl=self._ttl, key=f"{self._key}/reserve", by=self._by
        )
        return self

    def epoch(self, count: int) -> b.Receipt:
        """Draw the next steps, before they run."""
        if self.reservation is None:
            raise InputError("enter the training before its first epoch")
        if not 0 < count <= self._left:
            raise InputError(f"{self._left} steps are left of what was reserved, not {count}", argument="count")
        receipt = self._ledger.draw(
            self.reservation, steps(self._sigma, self._rate, count), key=f"{self._key}/{self._epochs}", by=self._by
        )
        self._epochs, self._left = self._epochs + 1, self._left - count
        return receipt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.reservation is not None:
            self._ledger.close(self.reservation, key=f"{self._key}/close", by=self._by)


register_accountant(BursarAccountant.mechanism(), BursarAccountant, force=True)
