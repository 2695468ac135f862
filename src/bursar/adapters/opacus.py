"""Opacus: certified accounting of private training, and its budget kept by a ledger.

`BursarAccountant` tells what was run; `Training` has a run paid for before its steps:

    import bursar.adapters.opacus                   # registers the accountant
    engine = PrivacyEngine(accountant="bursar")

    with Training(ledger, "model", noise_multiplier=1.1, sample_rate=0.01, steps=3000, key="run-7") as run:
        for _ in range(epochs):
            run.epoch(steps)                        # durable before they run; BudgetExceeded came before the first one
            …one epoch…

How the loader draws its batches decides what the steps cost. `PrivacyEngine` makes it a Poisson sampler unless it is
told ``poisson_sampling=False``: such a loader shuffles, and accounting it as Poisson sampling claims more than is
proved. Tell the accountant or the run which loader it is, and the two agree or the mismatch is refused:

    engine.accountant.fed_by(loader)
    run = Training(ledger, "model", loader=loader, **terms)
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
    from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler, UniformWithReplacementSampler
    from torch.utils.data import RandomSampler


def sampling_of(loader: Any) -> str:
    """How a loader draws its batches: ``poisson`` or ``shuffled``; anything else is refused by name."""
    if isinstance(loader.batch_sampler, (UniformWithReplacementSampler, DistributedUniformWithReplacementSampler)):
        return "poisson"
    sampler = loader.sampler
    # more samples than records come from several permutations, which puts some records twice into an epoch
    once = isinstance(sampler, RandomSampler) and sampler.num_samples <= len(sampler.data_source)
    if once and not sampler.replacement:
        return "shuffled"
    raise InputError(
        f"batches drawn by {type(sampler).__name__} have no certified cost: use make_private(poisson_sampling=True), "
        "or a loader with shuffle=True, which is accounted as shuffled",
        argument="loader",
    )


class BursarAccountant(IAccountant):  # type: ignore[misc]  # untyped there
    """The steps of an optimizer as Poisson-sampled Gaussians, composed by every theorem; once it is told that a loader
    shuffles, as epochs over permutations, of which one that was begun counts whole.
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []
        self._batches: int | None = None

    def fed_by(self, loader: Any) -> None:
        """Say which loader the batches come from: it is accounted for as it draws."""
        self._batches = len(loader) if sampling_of(loader) == "shuffled" else None

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
        if self._batches is not None:
            return self._shuffled(self._batches)
        parts = (steps(sigma, rate, count) for sigma, rate, count in self.history)
        return sum(parts, b.Composition())

    def _shuffled(self, batches: int) -> b.Composition:
        """Whole epochs, each with one noise: a record is in one of its steps, and nobody can tell which. The last one
        counts whole however much of it ran, so that only the upper end speaks of a run that has stopped in one.
        """
        runs: list[tuple[float, int]] = []
        for sigma, _, count in self.history:
            before = runs.pop()[1] if runs and runs[-1][0] == sigma else 0
            runs.append((sigma, before + count))
        for sigma, count in runs[:-1]:
            if count % batches:
                raise InputError(
                    f"the noise {sigma} changed within an epoch, after {count} steps in epochs of {batches}: "
                    "a shuffled epoch is accounted for with one noise",
                    argument="noise_multiplier",
                )
        return sum((epochs(sigma, batches, count) for sigma, count in runs), b.Composition())

    def report(self, delta: float, **more: Any) -> Report:
        """Both ends, every theorem's part, and the reasons."""
        return b.account(self.composition, delta=delta, **more)

    def get_epsilon(self, delta: float, *, poisson: bool = True, **kwargs: Any) -> float:
        """The upper end of ε so far. Steps that were not sampled by Poisson's rule need their loader."""
        if not poisson and self._batches is None:
            raise InputError(
                "steps that are not Poisson samples cost what their loader makes them cost: tell it by fed_by(loader)",
                argument="poisson",
            )
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


def epochs(noise_multiplier: float, batches: int, count: int) -> b.Composition:
    """The release of this many steps over permutations that are cut into so many batches; a begun one counts whole."""
    return b.Shuffled(b.Gaussian(sigma=noise_multiplier, relation="zero_out"), steps=batches) * -(-count // batches)


class Training:
    """A training run whose whole budget is set aside before it starts, and drawn epoch by epoch.

    On scopes that add up, what is not drawn is given back at the end; elsewhere the whole is spent when it is reserved,
    as the ledger says of every reservation. ``loader`` is the one that feeds it: where that shuffles, an epoch is drawn
    whole before its first step, and the scope must be one of the relation zero_out.
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
        loader: Any = None,
    ) -> None:
        shuffled = loader is not None and sampling_of(loader) == "shuffled"
        self._batches = len(loader) if shuffled else None
        self._ledger, self._scope, self._key, self._ttl, self._by = ledger, scope, key, ttl, by
        self._sigma, self._rate, self._left = noise_multiplier, sample_rate, steps
        self._epochs = 0
        self.reservation: Reservation | None = None

    def __enter__(self) -> Self:
        whole = self._releases(self._left)
        self.reservation = self._ledger.reserve(
            self._scope, whole, ttl=self._ttl, key=f"{self._key}/reserve", by=self._by
        )
        return self

    def epoch(self, count: int) -> b.Receipt:
        """Draw the next steps, before they run. Under a key that was used before `AlreadyRun` says that they may have
        run already: a run that begins again is another one, with a key of its own.
        """
        if self.reservation is None:
            raise InputError("enter the training before its first epoch")
        if not 0 < count <= self._left:
            raise InputError(f"{self._left} steps are left of what was reserved, not {count}", argument="count")
        if self._batches is not None and count % self._batches:
            raise InputError(
                f"an epoch over a permutation is drawn whole: {self._batches} steps at a time, not {count}",
                argument="count",
            )
        receipt = self._ledger.draw(
            self.reservation, self._releases(count), key=f"{self._key}/{self._epochs}", by=self._by
        ).once()
        self._epochs, self._left = self._epochs + 1, self._left - count
        return receipt

    def _releases(self, count: int) -> b.Composition:
        if self._batches is None:
            return steps(self._sigma, self._rate, count)
        return epochs(self._sigma, self._batches, count)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.reservation is not None:
            self._ledger.close(self.reservation, key=f"{self._key}/close", by=self._by)


register_accountant(BursarAccountant.mechanism(), BursarAccountant, force=True)
