"""Floor 1, losses: the privacy loss as a random variable, one file a law; and the engines that compose them. This index
is explicit, so that types and editors see the names; a law loads on first use, with what it needs of the engines.
"""

from typing import TYPE_CHECKING

from bursar.lazy import names_from
from bursar.losses._base import Atom, Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses._leaks import Leaks

if TYPE_CHECKING:
    from bursar.losses.laws.allocated_gaussian import AllocatedGaussian, allocated_gaussian
    from bursar.losses.laws.announced import announced
    from bursar.losses.laws.bounded_range import BoundedRangeLoss
    from bursar.losses.laws.density import DensityLoss
    from bursar.losses.laws.discrete_gaussian import DiscreteGaussianLoss
    from bursar.losses.laws.discrete_laplace import DiscreteLaplaceLoss
    from bursar.losses.laws.fixed_size import FixedSizeLoss
    from bursar.losses.laws.gaussian import GaussianLoss, sampled_gaussian
    from bursar.losses.laws.gaussian_mixture import gaussian_mixture, mixture_pair
    from bursar.losses.laws.grouped import grouped
    from bursar.losses.laws.laplace import LaplaceLoss
    from bursar.losses.laws.largest_step import largest_of_steps
    from bursar.losses.laws.nulled_sample import nulled_sample
    from bursar.losses.laws.repeated import RepeatedLoss, repeated
    from bursar.losses.laws.replaced_gaussian import replaced_gaussian
    from bursar.losses.laws.sampled import poisson_sampled, sampled
    from bursar.losses.laws.table import TableLoss, connect_the_dots, leaky_response, revealed
    from bursar.losses.laws.zeroed import zeroed

__all__ = [
    "AllocatedGaussian",
    "Atom",
    "BoundedRangeLoss",
    "DensityLoss",
    "Directions",
    "DiscreteGaussianLoss",
    "DiscreteLaplaceLoss",
    "FixedSizeLoss",
    "GaussianLoss",
    "LaplaceLoss",
    "Leaks",
    "Loss",
    "RepeatedLoss",
    "TableLoss",
    "allocated_gaussian",
    "announced",
    "connect_the_dots",
    "gaussian_mixture",
    "grouped",
    "largest_of_steps",
    "leaky_response",
    "mixture_pair",
    "nulled_sample",
    "poisson_sampled",
    "repeated",
    "replaced_gaussian",
    "revealed",
    "sampled",
    "sampled_gaussian",
    "symmetric",
    "zeroed",
]
__getattr__ = names_from(
    __name__,
    {
        "AllocatedGaussian": "laws.allocated_gaussian",
        "BoundedRangeLoss": "laws.bounded_range",
        "DensityLoss": "laws.density",
        "DiscreteGaussianLoss": "laws.discrete_gaussian",
        "DiscreteLaplaceLoss": "laws.discrete_laplace",
        "FixedSizeLoss": "laws.fixed_size",
        "GaussianLoss": "laws.gaussian",
        "LaplaceLoss": "laws.laplace",
        "RepeatedLoss": "laws.repeated",
        "TableLoss": "laws.table",
        "announced": "laws.announced",
        "connect_the_dots": "laws.table",
        "gaussian_mixture": "laws.gaussian_mixture",
        "grouped": "laws.grouped",
        "allocated_gaussian": "laws.allocated_gaussian",
        "largest_of_steps": "laws.largest_step",
        "nulled_sample": "laws.nulled_sample",
        "leaky_response": "laws.table",
        "mixture_pair": "laws.gaussian_mixture",
        "poisson_sampled": "laws.sampled",
        "repeated": "laws.repeated",
        "replaced_gaussian": "laws.replaced_gaussian",
        "revealed": "laws.table",
        "sampled": "laws.sampled",
        "sampled_gaussian": "laws.gaussian",
        "zeroed": "laws.zeroed",
    },
)
