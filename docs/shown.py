"""Of each mechanism: the release that its page shows, and who proved the pair of its output distributions."""

from __future__ import annotations

SHOWN = {
    "gaussian": "gaussian(sigma=2)",
    "gaussian_mixture": "gaussian_mixture(sigma=2, shifts=[0, 1, 2], weights=[1/2, 3/10, 1/5])",
    "laplace": "laplace(scale=1)",
    "randomized_response": "randomized_response(epsilon=1, relation=replace_one)",
    "kary_randomized_response": "kary_randomized_response(epsilon=1, categories=5, relation=replace_one)",
    "leaky_randomized_response": "leaky_randomized_response(epsilon=1, delta=0.01, relation=replace_one)",
    "name_and_shame": "name_and_shame(delta=0.01)",
    "discrete_gaussian": "discrete_gaussian(sigma=2)",
    "discrete_laplace": "discrete_laplace(scale=2)",
    "exponential": "exponential(epsilon=1)",
    "poisson": "poisson(gaussian(sigma=1), rate=0.1)",
    "fixed_size": "fixed_size(laplace(scale=1, relation=replace_one), sample=10, population=100)",
    "with_replacement": "with_replacement(laplace(scale=2, relation=replace_one), draws=2, population=100)",
    "truncated_poisson": "truncated_poisson(gaussian(sigma=1), rate=0.1, most=20, population=100)",
    "allocated": "allocated(gaussian(sigma=1), steps=10)",
    "shuffled": "shuffled(gaussian(sigma=1, relation=zero_out), steps=10)",
    "disjoint": "disjoint(laplace(scale=1), gaussian(sigma=2))",
    "group": "group(laplace(scale=3), size=3)",
    "declared": "declared(approx_dp(epsilon=1, delta=0.01))",
    "table": "table(p=[1/2, 1/3, 1/6], q=[1/6, 1/3, 1/2])",
    "densities": 'densities("1 + x/4", "1", low=-1, high=1)',
}
"""One release of each mechanism, to be shown with its loss."""
PAIRS = {
    "gaussian": "DRS22",
    "gaussian_mixture": "CGST24 mixtures",
    "laplace": "DMNS06 ZDW22",
    "randomized_response": "War65 KOV15",
    "kary_randomized_response": "KOV16",
    "leaky_randomized_response": "KOV15 MV18",
    "name_and_shame": "DR14",
    "discrete_gaussian": "CKS20",
    "discrete_laplace": "GRS09",
    "exponential": "DDR20 strategies",
    "poisson": "ZDW22",
    "fixed_size": "ZDW22 sampling",
    "with_replacement": "sampling",
    "truncated_poisson": "sampling",
    "allocated": "CGHLKKMSZ24 allocation",
    "shuffled": "CGHLKKMSZ24 allocation",
    "disjoint": "",  # no pair is known
    "group": "mixtures",
    "declared": "KOV15 ZDW22",
    "table": "ZDW22",
    "densities": "densities",
}
"""Where the pair of output distributions is stated or proved: keys of the literature, and proofs of our own."""
