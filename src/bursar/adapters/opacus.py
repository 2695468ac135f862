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
proved. Tell the accountant or the run which loader it is, before its first batch, and the two agree or the mismatch is
refused:

    engine.accountant.fed_by(loader)
    run = Training(ledger, "model", loader=loader, **terms)

A shuffling loader is watched from then on: every permutation that it begins counts as a whole epoch, however much of it
is run, since a record may be in that part, and again in the next. To look at its data without training on them, take
another loader.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import bursar as b
from bursar.adapters.opacus_loaders import epochs, nobody, not_drawn_less, rate_of, sampling_of, steps, watch
from bursar.errors import InputError
from bursar.extras import needs
from bursar.jobs.report import Report
from bursar.ledger.receipt import Reservation

with needs("opacus", "the adapter of Opacus"):
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import register_accountant


class BursarAccountant(IAccountant):  # type: ignore[misc]  # untyped there
    """The steps of an optimizer as Poisson-sampled Gaussians, composed by every theorem; once it is told that a loader
    shuffles, as epochs over permutations, of which each that was begun counts whole.
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []
        self._epochs: list[tuple[float, int, int]] = []
        """Of each permutation that was begun: the noise, the number of batches, and the steps that were run."""
        self._closed = 0
        """How many of these, from the first on, nobody can go on with: run to their ends, or before a checkpoint."""
        self._batches: int | None = None
        self._shuffles = False
        """Whether any loader was told that shuffles."""
        self._begun: list[int] = []
        self._open = False
        """The batches of those begun since the last step, and whether the last one goes on."""
        self._rate, self._short = 0.0, (0.0, 0.0)
        """With which chance the loader draws, and a step that claimed less than it did."""

    def fed_by(self, loader: Any) -> None:
        """Say which loader the next batches come from: it counts as it draws, and so do those that were told before."""
        shuffled = sampling_of(loader) == "shuffled"
        self._rate = rate_of(loader)
        self._batches, self._open = len(loader) if shuffled else None, False
        if shuffled:
            self._shuffles = True
            watch(loader, self.begin_epoch)

    def begin_epoch(self, batches: int | None = None) -> None:
        """A permutation of so many batches begins. The loader says so; who feeds steps by hand does."""
        self._begun.append(batches or self._batches or 1)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One step of the optimizer; equal ones are counted."""
        last = self.history[-1] if self.history else None
        if last is not None and last[:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (*last[:2], last[2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))
        if sample_rate < self._rate:
            self._short = sample_rate, self._rate
        if self._batches is None:
            return
        # whichever of the permutations begun since the last step this one is from, the others may be gone on with
        if self._begun:
            self._lower(noise_multiplier)
            self._epochs += [(noise_multiplier, batches, 0) for batches in self._begun]
            self._begun, self._open = [], True
        if self._open and self._epochs[-1][0] == noise_multiplier:
            self._epochs[-1] = (*self._epochs[-1][:2], self._epochs[-1][2] + 1)

    def _lower(self, noise: float) -> None:
        """Permutations of which something is left may be gone on with, with the noise of those that begin now: then
        they cost what the least of both does. Where all before it were run to their ends, so was each of them.
        """
        while self._closed < len(self._epochs) and self._epochs[self._closed][2] >= self._epochs[self._closed][1]:
            self._closed += 1
        self._epochs[self._closed :] = [
            (min(noise, had), batches, run) for had, batches, run in self._epochs[self._closed :]
        ]

    @property
    def composition(self) -> b.Composition:
        """The steps that were run so far, as one composition."""
        if self._shuffles:
            return self._shuffled()
        not_drawn_less(*self._short)
        parts = (steps(sigma, rate, count) for sigma, rate, count in self.history)
        return sum(parts, b.Composition())

    def _shuffled(self) -> b.Composition:
        """Whole epochs, each with one noise: a record is in one of its steps, and nobody can tell which. One of which
        a part was run counts whole, so that only the upper end speaks of a run that has stopped in one.
        """
        known = sum(count for _, _, count in self._epochs)
        if known != len(self):
            raise InputError(
                f"{len(self) - known} of {len(self)} steps came before fed_by(loader), from elsewhere, or with a noise "
                "that changed within an epoch: a shuffled epoch is accounted for with one noise, from its beginning",
                argument="loader",
            )
        for _, batches, count in self._epochs:
            if count > batches:
                raise InputError(f"{count} steps in an epoch of {batches} batches use some twice", argument="loader")
        return sum((epochs(sigma, batches, 1) for sigma, batches, _ in self._epochs), b.Composition())

    def state_dict(self, destination: Any = None) -> Any:
        """What a checkpoint keeps: the steps, which epochs they were of, and what is wrong with them."""
        found = super().state_dict(destination)
        found |= {"epochs": list(self._epochs), "shuffled": self._shuffles, "short": self._short}
        return found

    def load_state_dict(self, state_dict: Any) -> None:
        """Go on from a checkpoint: the loader begins another permutation."""
        super().load_state_dict(state_dict)
        self._epochs, self._open = list(state_dict.get("epochs", ())), False
        self._closed, self._short = len(self._epochs), state_dict.get("short", (0.0, 0.0))
        self._shuffles = state_dict.get("shuffled", bool(self._epochs)) or self._batches is not None

    def report(self, delta: float, **more: Any) -> Report:
        """Both ends, every theorem's part, and the reasons."""
        return b.account(self.composition, delta=delta, **more)

    def get_epsilon(self, delta: float, *, poisson: bool = True, **kwargs: Any) -> float:
        """The upper end of ε so far. Steps that were not sampled by Poisson's rule need their loader."""
        if not poisson and not self._shuffles:
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
        not_drawn_less(sample_rate, 0.0 if loader is None else rate_of(loader))
        self._batches = len(loader) if shuffled else None
        self._loader = loader
        self._unwatch: Callable[[], None] = nobody
        self._permutations = 0  # that were drawn from the ledger and not begun
        self._ledger, self._scope, self._key, self._ttl, self._by = ledger, scope, key, ttl, by
        self._sigma, self._rate, self._left = noise_multiplier, sample_rate, steps
        self._epochs = 0
        self.reservation: Reservation | None = None

    def __enter__(self) -> Self:
        whole = self._releases(self._left)
        self.reservation = self._ledger.reserve(
            self._scope, whole, ttl=self._ttl, key=f"{self._key}/reserve", by=self._by
        )
        if self._batches is not None:
            self._unwatch = watch(self._loader, self._begin)
        return self

    def _begin(self, _: int) -> None:
        """Refuse permutations that nobody paid for: one that is left halfway is paid, and the next one is another."""
        if not self._permutations:
            raise InputError(
                f"the loader begins an epoch that was not drawn: call epoch({self._batches}) before it; to look at its "
                "data without training on them, take another loader",
                argument="loader",
            )
        self._permutations -= 1

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
        self._permutations += count // self._batches if self._batches is not None else 0
        return receipt

    def _releases(self, count: int) -> b.Composition:
        if self._batches is None:
            return steps(self._sigma, self._rate, count)
        return epochs(self._sigma, self._batches, -(-count // self._batches))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._unwatch()
        if self.reservation is not None:
            self._ledger.close(self.reservation, key=f"{self._key}/close", by=self._by)


register_accountant(BursarAccountant.mechanism(), BursarAccountant, force=True)
