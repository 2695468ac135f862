"""bursar keeps the accounts of differential privacy.

    import bursar as b

    r = b.account(b.Gaussian(sigma=20.0) * 1000 + b.Laplace(scale=100.0) * 5, delta=1e-6)
    r.epsilon.lower, r.epsilon.upper     # an interval that provably contains the truth
    print(r)                             # every theorem's bound, and why the others abstain

    with b.Ledger("sqlite:///budget.db") as ledger:
        ledger.open("census", epsilon="1", delta="1e-6")
        ledger.spend("census", b.Gaussian(sigma=50.0), key="query-0001")

The names here are those of every day: the jobs, the mechanisms, the promises, the ledger and the errors that a program
tells apart; docs/reference/names.md says of each why it is here. The other errors are in `bursar.errors`, the
executable lecture in `bursar.lecture`. Names load on first use, so that ``import bursar`` is instant.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bursar import errors as errors
    from bursar import lecture as lecture
    from bursar import plot as plot
    from bursar.composition import Composition as Composition
    from bursar.errors import BudgetExceeded as BudgetExceeded
    from bursar.errors import BursarError as BursarError
    from bursar.errors import InputError as InputError
    from bursar.errors import Refused as Refused
    from bursar.guarantees import GDP as GDP
    from bursar.guarantees import TCDP as TCDP
    from bursar.guarantees import ZCDP as ZCDP
    from bursar.guarantees import ApproxDP as ApproxDP
    from bursar.guarantees import BoundedRange as BoundedRange
    from bursar.guarantees import Profile as Profile
    from bursar.guarantees import PureDP as PureDP
    from bursar.guarantees import Renyi as Renyi
    from bursar.jobs.account import account as account
    from bursar.jobs.converting import convert as convert
    from bursar.jobs.curve import profile as profile
    from bursar.jobs.plan import Plan as Plan
    from bursar.jobs.plan import plan as plan
    from bursar.jobs.report import Report as Report
    from bursar.jobs.spec import from_json as from_json
    from bursar.jobs.spec import parse as parse
    from bursar.jobs.spec import to_json as to_json
    from bursar.jobs.split import smallest_budget as smallest_budget
    from bursar.jobs.split import split as split
    from bursar.jobs.sweep import sweep as sweep
    from bursar.jobs.training import training as training
    from bursar.ledger.ledger import Ledger as Ledger
    from bursar.ledger.receipt import Receipt as Receipt
    from bursar.mechanisms import Allocated as Allocated
    from bursar.mechanisms import Declared as Declared
    from bursar.mechanisms import Densities as Densities
    from bursar.mechanisms import DiscreteGaussian as DiscreteGaussian
    from bursar.mechanisms import DiscreteLaplace as DiscreteLaplace
    from bursar.mechanisms import Disjoint as Disjoint
    from bursar.mechanisms import Exponential as Exponential
    from bursar.mechanisms import FixedSizeSampled as FixedSizeSampled
    from bursar.mechanisms import Gaussian as Gaussian
    from bursar.mechanisms import GaussianMixture as GaussianMixture
    from bursar.mechanisms import Group as Group
    from bursar.mechanisms import KaryRandomizedResponse as KaryRandomizedResponse
    from bursar.mechanisms import Laplace as Laplace
    from bursar.mechanisms import LeakyRandomizedResponse as LeakyRandomizedResponse
    from bursar.mechanisms import Mechanism as Mechanism
    from bursar.mechanisms import NameAndShame as NameAndShame
    from bursar.mechanisms import PoissonSampled as PoissonSampled
    from bursar.mechanisms import RandomizedResponse as RandomizedResponse
    from bursar.mechanisms import Shuffled as Shuffled
    from bursar.mechanisms import Table as Table
    from bursar.mechanisms import TruncatedPoisson as TruncatedPoisson
    from bursar.mechanisms import WithReplacementSampled as WithReplacementSampled

_HOMES = {
    "bursar.composition": ("Composition",),
    "bursar.errors": ("BudgetExceeded", "BursarError", "InputError", "Refused"),
    "bursar.guarantees": ("GDP", "TCDP", "ZCDP", "ApproxDP", "BoundedRange", "Profile", "PureDP", "Renyi"),
    "bursar.jobs.account": ("account",),
    "bursar.jobs.converting": ("convert",),
    "bursar.jobs.curve": ("profile",),
    "bursar.jobs.plan": ("Plan", "plan"),
    "bursar.jobs.report": ("Report",),
    "bursar.jobs.spec": ("from_json", "parse", "to_json"),
    "bursar.jobs.split": ("smallest_budget", "split"),
    "bursar.jobs.sweep": ("sweep",),
    "bursar.jobs.training": ("training",),
    "bursar.ledger.ledger": ("Ledger",),
    "bursar.ledger.receipt": ("Receipt",),
    "bursar.mechanisms": (
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
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_GROUPS = ("errors", "lecture", "plot")

__all__ = ["__version__", *sorted([*_HOME, *_GROUPS])]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _GROUPS:
        return import_module(f"bursar.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'bursar' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
