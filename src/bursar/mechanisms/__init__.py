"""Floor 2, nouns: the mechanisms, one file each. This index is explicit, so that types and editors see the names; a
mechanism loads on first use, with the law of its loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bursar.lazy import names_from
from bursar.mechanisms._base import Mechanism
from bursar.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE, ZERO_OUT

if TYPE_CHECKING:
    from bursar.mechanisms.allocated import Allocated
    from bursar.mechanisms.declared import Declared
    from bursar.mechanisms.densities import Densities
    from bursar.mechanisms.discrete_gaussian import DiscreteGaussian
    from bursar.mechanisms.discrete_laplace import DiscreteLaplace
    from bursar.mechanisms.disjoint import Disjoint
    from bursar.mechanisms.exponential import Exponential
    from bursar.mechanisms.fixed_size import FixedSizeSampled, WithReplacementSampled
    from bursar.mechanisms.gaussian import Gaussian
    from bursar.mechanisms.gaussian_mixture import GaussianMixture
    from bursar.mechanisms.group import Group
    from bursar.mechanisms.laplace import Laplace
    from bursar.mechanisms.leaky import LeakyRandomizedResponse, NameAndShame
    from bursar.mechanisms.poisson import PoissonSampled
    from bursar.mechanisms.randomized_response import KaryRandomizedResponse, RandomizedResponse
    from bursar.mechanisms.shuffled import Shuffled
    from bursar.mechanisms.table import Table
    from bursar.mechanisms.truncated import TruncatedPoisson

_INDEX = (  # the name in written forms, the class, the file
    ("gaussian", "Gaussian", "gaussian"),
    ("gaussian_mixture", "GaussianMixture", "gaussian_mixture"),
    ("laplace", "Laplace", "laplace"),
    ("randomized_response", "RandomizedResponse", "randomized_response"),
    ("kary_randomized_response", "KaryRandomizedResponse", "randomized_response"),
    ("leaky_randomized_response", "LeakyRandomizedResponse", "leaky"),
    ("name_and_shame", "NameAndShame", "leaky"),
    ("discrete_gaussian", "DiscreteGaussian", "discrete_gaussian"),
    ("discrete_laplace", "DiscreteLaplace", "discrete_laplace"),
    ("exponential", "Exponential", "exponential"),
    ("poisson", "PoissonSampled", "poisson"),
    ("fixed_size", "FixedSizeSampled", "fixed_size"),
    ("with_replacement", "WithReplacementSampled", "fixed_size"),
    ("truncated_poisson", "TruncatedPoisson", "truncated"),
    ("allocated", "Allocated", "allocated"),
    ("shuffled", "Shuffled", "shuffled"),
    ("disjoint", "Disjoint", "disjoint"),
    ("group", "Group", "group"),
    ("declared", "Declared", "declared"),
    ("table", "Table", "table"),
    ("densities", "Densities", "densities"),
)
__getattr__ = names_from(__name__, {kind: file for _, kind, file in _INDEX})


_KINDS = {name: kind for name, kind, _ in _INDEX}
PATTERNS = ("allocated", "shuffled")
"""Those whose steps are one random pattern: no part of an epoch costs less than the whole, so it is charged whole."""


class _Catalogue(Mapping[str, type[Mechanism]]):
    """Each mechanism's class by its name in written forms."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        kind: type[Mechanism] = globals().get(_KINDS[name]) or __getattr__(_KINDS[name])
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(_KINDS)

    def __len__(self) -> int:
        return len(_KINDS)


CATALOGUE = _Catalogue()

__all__ = [
    "ADD_REMOVE",
    "CATALOGUE",
    "PATTERNS",
    "RELATIONS",
    "REPLACE_ONE",
    "ZERO_OUT",
    "Allocated",
    "Declared",
    "Densities",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Disjoint",
    "Exponential",
    "FixedSizeSampled",
    "Gaussian",
    "GaussianMixture",
    "Group",
    "KaryRandomizedResponse",
    "Laplace",
    "LeakyRandomizedResponse",
    "Mechanism",
    "NameAndShame",
    "PoissonSampled",
    "RandomizedResponse",
    "Shuffled",
    "Table",
    "TruncatedPoisson",
    "WithReplacementSampled",
]
