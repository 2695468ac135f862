"""Every error bursar raises, in one tree.

    BursarError
    ├── InputError            a value that cannot be meant: the message names it, shows it and says what is allowed
    │   ├── SpecError         a text or JSON form that cannot be read: the message points at the place
    │   ├── RelationMismatch  releases measured under different neighbour relations cannot be added up
    │   ├── WrongCall         an argument that a function does not take, or one that it lacks: also a TypeError
    │   └── ExtraMissing      a door whose packages are not installed: the message says what to install
    ├── ConversionRefused     one promise does not imply the other kind, with the reason
    ├── PlanImpossible        no value meets the target: the message says which target is the closest that can be met
    ├── LossUnknown           no privacy-loss distribution is known for this mechanism, with the reason
    ├── Refused               the ledger refuses, for one of a closed list of codes; nothing was charged
    │   ├── BudgetExceeded    what was asked is more than what is left
    │   ├── CostInvalid       this release has no price in the scope's currency
    │   ├── KeyReused         the key belongs to another request
    │   ├── ScopeUnknown, ScopeClosed, ScopeFrozen, CurrencyMismatch, NotPermitted
    │   ├── ReservationExpired, ReservationClosed, PerChargeCap, RateLimited
    │   ├── ConsentNeeded     a correction would do more than charge its release: the message says what
    │   ├── TooMuchWork       counting it would take longer, or more memory, than the service allows
    │   ├── LedgerHalted      the ledger is behind its anchor, or its journal does not add up
    │   └── StorageFailed     the store could not be read, or could not make it durable
    │       └── StorageFull   because its disk is full
    ├── AlreadyRun            a replayed charge does not license a second run
    └── ContradictionError    two theorems exclude each other: one of them, or its code, is wrong

Bad input fails before any theorem sees it, and nothing is lost by a refusal.
"""

from __future__ import annotations

from bursar.errors._base import AlreadyRun as AlreadyRun
from bursar.errors._base import BursarError as BursarError
from bursar.errors._base import ContradictionError as ContradictionError
from bursar.errors._base import ConversionRefused as ConversionRefused
from bursar.errors._base import ExtraMissing as ExtraMissing
from bursar.errors._base import InputError as InputError
from bursar.errors._base import LossUnknown as LossUnknown
from bursar.errors._base import PlanImpossible as PlanImpossible
from bursar.errors._base import RelationMismatch as RelationMismatch
from bursar.errors._base import SpecError as SpecError
from bursar.errors._base import described as described
from bursar.errors.refused import BudgetExceeded as BudgetExceeded
from bursar.errors.refused import ConsentNeeded as ConsentNeeded
from bursar.errors.refused import CostInvalid as CostInvalid
from bursar.errors.refused import CurrencyMismatch as CurrencyMismatch
from bursar.errors.refused import KeyReused as KeyReused
from bursar.errors.refused import LedgerHalted as LedgerHalted
from bursar.errors.refused import NotPermitted as NotPermitted
from bursar.errors.refused import PerChargeCap as PerChargeCap
from bursar.errors.refused import RateLimited as RateLimited
from bursar.errors.refused import Refused as Refused
from bursar.errors.refused import ReservationClosed as ReservationClosed
from bursar.errors.refused import ReservationExpired as ReservationExpired
from bursar.errors.refused import ScopeClosed as ScopeClosed
from bursar.errors.refused import ScopeFrozen as ScopeFrozen
from bursar.errors.refused import ScopeUnknown as ScopeUnknown
from bursar.errors.refused import StorageFailed as StorageFailed
from bursar.errors.refused import StorageFull as StorageFull
from bursar.errors.refused import TooMuchWork as TooMuchWork
from bursar.errors.refused import refusals as refusals
from bursar.errors.refused import storage_trouble as storage_trouble
from bursar.errors.spelling import WrongCall as WrongCall
from bursar.errors.spelling import nearest as nearest
from bursar.errors.spelling import understood as understood

for _kind in [*vars().values()]:
    if isinstance(_kind, type):
        _kind.__module__ = __name__  # as tracebacks and pickles name them, wherever the class is written
