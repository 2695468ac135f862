"""How a loader of PyTorch draws its batches, when it begins to draw anew, and what steps on them release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bursar as b
from bursar.errors import InputError, described
from bursar.extras import needs

with needs("opacus", "the adapter of Opacus"):
    from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler, UniformWithReplacementSampler
    from torch.utils.data import BatchSampler, RandomSampler, Sampler

_POISSON = (UniformWithReplacementSampler, DistributedUniformWithReplacementSampler)


class _Watched(Sampler[Any]):
    """A sampler that says so before each time it draws anew."""

    def __init__(self, sampler: Any, begun: Callable[[int], None], batches: int) -> None:
        self.sampler, self.begun, self.batches = sampler, begun, batches

    def __iter__(self) -> Iterator[Any]:
        self.begun(self.batches)
        yield from self.sampler

    def __len__(self) -> int:
        return len(self.sampler)


def sampling_of(loader: Any) -> str:
    """How a loader draws its batches: ``poisson`` or ``shuffled``; anything else is refused by name. Classes that only
    derive from those known here may draw in another way.
    """
    batches = getattr(loader, "batch_sampler", None)
    if type(batches) in _POISSON:
        return "poisson"
    sampler = getattr(loader, "sampler", None)
    if batches is None or sampler is None:
        raise InputError(f"loader must be a DataLoader with batches, not {described(loader)}", argument="loader")
    # more samples than records come from several permutations, which puts some records twice into an epoch
    once = type(sampler) is RandomSampler and sampler.num_samples <= len(sampler.data_source)
    if type(batches) is BatchSampler and _inside(batches) is sampler and once and not sampler.replacement:
        return "shuffled"
    odd = sampler if type(batches) is BatchSampler else batches
    raise InputError(
        f"batches drawn by {type(odd).__name__} have no certified cost: use make_private(poisson_sampling=True), "
        "or a loader with shuffle=True, which is accounted as shuffled",
        argument="loader",
    )


def rate_of(loader: Any) -> float:
    """The chance with which a Poisson loader draws each record; 0 for another one."""
    return float(loader.batch_sampler.sample_rate) if type(loader.batch_sampler) in _POISSON else 0.0


def not_drawn_less(claimed: float, drawn: float) -> None:
    """Refuse a claim of fewer records than a loader draws."""
    if claimed < drawn:
        raise InputError(
            f"the loader draws each record with chance {drawn}: claim that, not {claimed}", argument="sample_rate"
        )


def watch(loader: Any, begun: Callable[[int], None]) -> Callable[[], None]:
    """Have a shuffling loader say when it begins a permutation, and of how many batches, before its first one; what is
    given ends that. Who watches it already is told once.
    """
    batches = loader.batch_sampler
    eye = batches.sampler
    while type(eye) is _Watched and eye.begun != begun:
        eye = eye.sampler
    if type(eye) is not _Watched:
        eye = batches.sampler = _Watched(batches.sampler, begun, len(loader))

    def end() -> None:
        eye.begun = nobody

    return end


def _inside(batches: Any) -> Any:
    """The sampler below those who watch it."""
    sampler = batches.sampler
    while type(sampler) is _Watched:
        sampler = sampler.sampler
    return sampler


def nobody(*_: int) -> None:
    """Nobody watches any more."""


def steps(noise_multiplier: float, sample_rate: float, count: int) -> b.Composition:
    """The release of this many steps of private training."""
    gaussian = b.Gaussian(sigma=noise_multiplier)
    return (gaussian if sample_rate >= 1 else b.PoissonSampled(gaussian, rate=sample_rate)) * count


def epochs(noise_multiplier: float, batches: int, count: int) -> b.Composition:
    """The release of this many epochs over permutations that are cut into so many batches."""
    return b.Shuffled(b.Gaussian(sigma=noise_multiplier, relation="zero_out"), steps=batches) * count
