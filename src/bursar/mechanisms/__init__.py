"""Floor 2, nouns: the mechanisms, one file each. This index is explicit, so that types and editors see the names."""

from bursar.mechanisms._base import Mechanism
from bursar.mechanisms.declared import Declared
from bursar.mechanisms.densities import Densities
from bursar.mechanisms.discrete_gaussian import DiscreteGaussian
from bursar.mechanisms.discrete_laplace import DiscreteLaplace
from bursar.mechanisms.disjoint import Disjoint
from bursar.mechanisms.exponential import Exponential
from bursar.mechanisms.fixed_size import FixedSizeSampled
from bursar.mechanisms.gaussian import Gaussian
from bursar.mechanisms.group import Group
from bursar.mechanisms.laplace import Laplace
from bursar.mechanisms.leaky import LeakyRandomizedResponse, NameAndShame
from bursar.mechanisms.poisson import PoissonSampled
from bursar.mechanisms.randomized_response import KaryRandomizedResponse, RandomizedResponse
from bursar.mechanisms.table import Table
from bursar.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE

CATALOGUE: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        Gaussian,
        Laplace,
        RandomizedResponse,
        KaryRandomizedResponse,
        LeakyRandomizedResponse,
        NameAndShame,
        DiscreteGaussian,
        DiscreteLaplace,
        Exponential,
        PoissonSampled,
        FixedSizeSampled,
        Disjoint,
        Group,
        Declared,
        Table,
        Densities,
    )
}

__all__ = [
    "ADD_REMOVE",
    "CATALOGUE",
    "RELATIONS",
    "REPLACE_ONE",
    "Declared",
    "Densities",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Disjoint",
    "Exponential",
    "FixedSizeSampled",
    "Gaussian",
    "Group",
    "KaryRandomizedResponse",
    "Laplace",
    "LeakyRandomizedResponse",
    "Mechanism",
    "NameAndShame",
    "PoissonSampled",
    "RandomizedResponse",
    "Table",
]
