"""How a loader of PyTorch draws its batches, and when it begins to draw anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bursar.errors import InputError, described
from bursar.extras import needs

with needs("opacus", "the adapter of Opacus"):
    from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler, UniformWithReplacementSampler
    from torch.utils.data import BatchSampler, RandomSampler, Sampler

_POISSON = (UniformWithReplacementSampler, DistributedUniformWithReplacementSampler)


class _Watched(Sampler[Any]):
    """A sampler that says so before each time it draws anew."""

    def __init__(self, sampler: Any, begun: Callable[[], None]) -> None:
        self.sampler, self.begun = sampler, begun

    def __iter__(self) -> Iterator[Any]:
        self.begun()
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


def watch(loader: Any, begun: Callable[[], None]) -> Callable[[], None]:
    """Have a shuffling loader say when it begins a permutation, before its first batch; what is given ends that."""
    batches = loader.batch_sampler
    eye = batches.sampler = _Watched(batches.sampler, begun)

    def end() -> None:
        eye.begun = nobody

    return end


def _inside(batches: Any) -> Any:
    """The sampler below those who watch it."""
    sampler = batches.sampler
    while type(sampler) is _Watched:
        sampler = sampler.sampler
    return sampler


def nobody() -> None:
    """Nobody watches any more."""
