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
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bursar import moved

__version__ = "0.1.0"

if TYPE_CHECKING:  # present names and former ones
    from bursar import errors as errors
    from bursar import lecture as lecture
    from bursar import plot as plot
    from bursar.composition import Composition as Composition
    from bursar.errors import AlreadyRun as AlreadyRun
    from bursar.errors import BudgetExceeded as BudgetExceeded
    from bursar.errors import BursarError as BursarError
    from bursar.errors import ConsentNeeded as ConsentNeeded
    from bursar.errors import ContradictionError as ContradictionError
    from bursar.errors import ConversionRefused as ConversionRefused
    from bursar.errors import CostInvalid as CostInvalid
    from bursar.errors import CurrencyMismatch as CurrencyMismatch
    from bursar.errors import ExtraMissing as ExtraMissing
    from bursar.errors import InputError as InputError
    from bursar.errors import KeyReused as KeyReused
    from bursar.errors import LedgerHalted as LedgerHalted
    from bursar.errors import LossUnknown as LossUnknown
    from bursar.errors import NotPermitted as NotPermitted
    from bursar.errors import PerChargeCap as PerChargeCap
    from bursar.errors import PlanImpossible as PlanImpossible
    from bursar.errors import RateLimited as RateLimited
    from bursar.errors import Refused as Refused
    from bursar.errors import RelationMismatch as RelationMismatch
    from bursar.errors import ReservationClosed as ReservationClosed
    from bursar.errors import ReservationExpired as ReservationExpired
    from bursar.errors import ScopeClosed as ScopeClosed
    from bursar.errors import ScopeFrozen as ScopeFrozen
    from bursar.errors import ScopeUnknown as ScopeUnknown
    from bursar.errors import SpecError as SpecError
    from bursar.errors import StorageFailed as StorageFailed
    from bursar.errors import StorageFull as StorageFull
    from bursar.guarantees import GDP as GDP
    from bursar.guarantees import TCDP as TCDP
    from bursar.guarantees import ZCDP as ZCDP
    from bursar.guarantees import ApproxDP as ApproxDP
    from bursar.guarantees import BoundedRange as BoundedRange
    from bursar.guarantees import ProbabilisticDP as ProbabilisticDP
    from bursar.guarantees import Profile as Profile
    from bursar.guarantees import PureDP as PureDP
    from bursar.guarantees import Renyi as Renyi
    from bursar.guarantees import probabilistic as probabilistic
    from bursar.jobs.account import account as account
    from bursar.jobs.converting import convert as convert
    from bursar.jobs.curve import Curve as Curve
    from bursar.jobs.curve import profile as profile
    from bursar.jobs.curve_points import Band as Band
    from bursar.jobs.plan import Plan as Plan
    from bursar.jobs.plan import plan as plan
    from bursar.jobs.report import Report as Report
    from bursar.jobs.spec import from_json as from_json
    from bursar.jobs.spec import parse as parse
    from bursar.jobs.spec import to_json as to_json
    from bursar.jobs.split import Share as Share
    from bursar.jobs.split import Split as Split
    from bursar.jobs.split import smallest_budget as smallest_budget
    from bursar.jobs.split import split as split
    from bursar.jobs.sweep import Cell as Cell
    from bursar.jobs.sweep import sweep as sweep
    from bursar.jobs.training import SamplingAssumed as SamplingAssumed
    from bursar.jobs.training import Training as Training
    from bursar.jobs.training import training as training
    from bursar.lecture.counting import Counting as Counting
    from bursar.lecture.counting import counting as counting
    from bursar.lecture.simulation import LaplaceSimulation as LaplaceSimulation
    from bursar.lecture.simulation import SimulationMap as SimulationMap
    from bursar.lecture.simulation import simulation_map as simulation_map
    from bursar.lecture.worst_case import WorstCase as WorstCase
    from bursar.lecture.worst_case import worst_case as worst_case
    from bursar.ledger.ledger import Ledger as Ledger
    from bursar.ledger.receipt import Quote as Quote
    from bursar.ledger.receipt import Receipt as Receipt
    from bursar.ledger.receipt import Reservation as Reservation
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
    from bursar.numerics.interval import Interval as Interval
    from bursar.theorems import Abstain as Abstain
    from bursar.theorems import Bound as Bound

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

moved.install()


def __getattr__(name: str) -> Any:
    if name in _GROUPS:
        return import_module(f"bursar.{name}")
    if name in moved.NAMES:  # never kept in globals(), so that every place that uses it is told
        home = moved.NAMES[name]
        said = f"bursar.{name} is {home}.{name} now; the old name goes with the next version"
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        return getattr(import_module(home), name)
    if name not in _HOME:
        raise AttributeError(f"module 'bursar' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
