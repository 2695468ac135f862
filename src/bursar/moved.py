"""Where names and modules went: what they were called before they got rooms goes on for one version, with a warning.

`NAMES` are those that stood at the top level, each with the module that it is used from now.
`MOVED` is a plain table: a module that moves gets a line, one that moves again has its line changed. Importing an old
path gives the very module of the new one, so classes, caches and locks exist once. A module whose old name is a
package now (its room) is in `ROOMS`: the package hands out the old module's names itself, by `names_of`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any

NAMES = {
    **dict.fromkeys(
        (
            "AlreadyRun",
            "ConsentNeeded",
            "ContradictionError",
            "ConversionRefused",
            "CostInvalid",
            "CurrencyMismatch",
            "ExtraMissing",
            "KeyReused",
            "LedgerHalted",
            "LossUnknown",
            "NotPermitted",
            "PerChargeCap",
            "PlanImpossible",
            "RateLimited",
            "RelationMismatch",
            "ReservationClosed",
            "ReservationExpired",
            "ScopeClosed",
            "ScopeFrozen",
            "ScopeUnknown",
            "SpecError",
            "StorageFailed",
            "StorageFull",
        ),
        "bursar.errors",
    ),
    **dict.fromkeys(("ProbabilisticDP", "probabilistic"), "bursar.guarantees"),
    **dict.fromkeys(("Curve",), "bursar.jobs.curve"),
    **dict.fromkeys(("Band",), "bursar.jobs.curve_points"),
    **dict.fromkeys(("Share", "Split"), "bursar.jobs.split"),
    **dict.fromkeys(("Cell",), "bursar.jobs.sweep"),
    **dict.fromkeys(("SamplingAssumed", "Training"), "bursar.jobs.training"),
    **dict.fromkeys(
        ("Counting", "LaplaceSimulation", "SimulationMap", "WorstCase", "counting", "simulation_map", "worst_case"),
        "bursar.lecture",
    ),
    **dict.fromkeys(("Quote", "Reservation"), "bursar.ledger.receipt"),
    **dict.fromkeys(("Interval",), "bursar.numerics.interval"),
    **dict.fromkeys(("Abstain", "Bound"), "bursar.theorems"),
}
MOVED = {
    "bursar.jobs.counting": "bursar.lecture.counting",
    "bursar.ledger.alerts": "bursar.ledger.commit.alerts",
    "bursar.ledger.amounts": "bursar.ledger.budget.amounts",
    "bursar.ledger.anchor": "bursar.ledger.anchors.file",
    "bursar.ledger.asked": "bursar.ledger.arguments",
    "bursar.ledger.batch": "bursar.ledger.commit.batch",
    "bursar.ledger.books": "bursar.ledger.journal.fold",
    "bursar.ledger.catalogue": "bursar.ledger.commit.catalogue",
    "bursar.ledger.charging": "bursar.ledger.verbs.spend",
    "bursar.ledger.check_journal": "bursar.ledger.inspection.check_journal",
    "bursar.ledger.consenting": "bursar.ledger.verbs.consent",
    "bursar.ledger.correcting": "bursar.ledger.verbs.correct",
    "bursar.ledger.currencies": "bursar.ledger.budget.currencies",
    "bursar.ledger.currencies._base": "bursar.ledger.budget.currencies._base",
    "bursar.ledger.currencies._moves": "bursar.ledger.budget.currencies._moves",
    "bursar.ledger.currencies._step": "bursar.ledger.budget.currencies._step",
    "bursar.ledger.currencies._target": "bursar.ledger.budget.currencies._target",
    "bursar.ledger.currencies.advanced": "bursar.ledger.budget.currencies.advanced",
    "bursar.ledger.currencies.concentrated": "bursar.ledger.budget.currencies.concentrated",
    "bursar.ledger.currencies.gdp": "bursar.ledger.budget.currencies.gdp",
    "bursar.ledger.currencies.pure": "bursar.ledger.budget.currencies.pure",
    "bursar.ledger.currencies.renyi": "bursar.ledger.budget.currencies.renyi",
    "bursar.ledger.currencies.residue": "bursar.ledger.budget.currencies.residue",
    "bursar.ledger.currencies.sums": "bursar.ledger.budget.currencies.sums",
    "bursar.ledger.currencies.zcdp": "bursar.ledger.budget.currencies.zcdp",
    "bursar.ledger.deciding": "bursar.ledger.budget.deciding",
    "bursar.ledger.desk": "bursar.ledger.commit.office",
    "bursar.ledger.draft": "bursar.ledger.journal.body",
    "bursar.ledger.entry": "bursar.ledger.journal.entry",
    "bursar.ledger.evidence": "bursar.ledger.anchors.evidence",
    "bursar.ledger.export": "bursar.ledger.inspection.export",
    "bursar.ledger.file_lock": "bursar.ledger.stores.file_locks",
    "bursar.ledger.looking": "bursar.ledger.ledger",
    "bursar.ledger.lock": "bursar.ledger.stores.sqlite.lock",
    "bursar.ledger.odometer": "bursar.ledger.views.odometer",
    "bursar.ledger.posting": "bursar.ledger.commit.posting",
    "bursar.ledger.refusing": "bursar.ledger.budget.refusals",
    "bursar.ledger.registry": "bursar.ledger.inspection.registry",
    "bursar.ledger.registry_facts": "bursar.ledger.inspection.registry_facts",
    "bursar.ledger.release": "bursar.ledger.budget.release",
    "bursar.ledger.repricing": "bursar.ledger.inspection.reprice",
    "bursar.ledger.reserving": "bursar.ledger.verbs.reserve",
    "bursar.ledger.restoring": "bursar.ledger.verbs.restore",
    "bursar.ledger.scope": "bursar.ledger.budget.scope",
    "bursar.ledger.spending": "bursar.ledger.ledger",
    "bursar.ledger.statement": "bursar.ledger.views.standing",
    "bursar.ledger.views.statement": "bursar.ledger.views.standing",
    "bursar.ledger.steward": "bursar.ledger.ledger",
    "bursar.ledger.stewarding": "bursar.ledger.verbs.bring_in",
    "bursar.ledger.stores.postgres_line": "bursar.ledger.stores.postgres.connection",
    "bursar.ledger.stores.postgres_server": "bursar.ledger.stores.postgres.server",
    "bursar.ledger.stores.sqlite_names": "bursar.ledger.stores.sqlite.names",
    "bursar.ledger.stores.sqlite_place": "bursar.ledger.stores.sqlite.place",
    "bursar.ledger.stores.sqlite_rows": "bursar.ledger.stores.sqlite.rows",
    "bursar.ledger.stores.sqlite_troubles": "bursar.ledger.stores.sqlite.troubles",
    "bursar.ledger.tail": "bursar.ledger.anchors.tail",
    "bursar.ledger.verify": "bursar.ledger.inspection.verify",
    "bursar.losses.answer": "bursar.losses.engines.answer",
    "bursar.losses.bounded_range": "bursar.losses.laws.bounded_range",
    "bursar.losses.contour": "bursar.losses.engines.contour",
    "bursar.losses.contour.engine": "bursar.losses.engines.contour.engine",
    "bursar.losses.contour.factors": "bursar.losses.engines.contour.factors",
    "bursar.losses.contour.rare_factor": "bursar.losses.engines.contour.rare_factor",
    "bursar.losses.contour.rare_split": "bursar.losses.engines.contour.rare_split",
    "bursar.losses.contour.saddle": "bursar.losses.engines.contour.saddle",
    "bursar.losses.contour.sampled_decay": "bursar.losses.engines.contour.sampled_decay",
    "bursar.losses.contour.sampled_factor": "bursar.losses.engines.contour.sampled_factor",
    "bursar.losses.contour.sampled_growth": "bursar.losses.engines.contour.sampled_growth",
    "bursar.losses.contour.sampled_integral": "bursar.losses.engines.contour.sampled_integral",
    "bursar.losses.contour.sampled_law": "bursar.losses.engines.contour.sampled_law",
    "bursar.losses.contour.scales": "bursar.losses.engines.contour.scales",
    "bursar.losses.contour.solve": "bursar.losses.engines.contour.solve",
    "bursar.losses.density": "bursar.losses.laws.density",
    "bursar.losses.discrete_gaussian": "bursar.losses.laws.discrete_gaussian",
    "bursar.losses.discrete_laplace": "bursar.losses.laws.discrete_laplace",
    "bursar.losses.gaussian": "bursar.losses.laws.gaussian",
    "bursar.losses.laplace": "bursar.losses.laws.laplace",
    "bursar.losses.lattice": "bursar.losses.engines.lattice",
    "bursar.losses.lattice.bracket": "bursar.losses.engines.lattice.bracket",
    "bursar.losses.lattice.engine": "bursar.losses.engines.lattice.engine",
    "bursar.losses.lattice.grid": "bursar.losses.engines.lattice.grid",
    "bursar.losses.lattice.law": "bursar.losses.places",
    "bursar.losses.lattice.solve": "bursar.losses.engines.lattice.solve",
    "bursar.losses.sampled": "bursar.losses.laws.sampled",
    "bursar.losses.sampled_gaussian": "bursar.losses.laws.sampled_gaussian",
    "bursar.losses.simulation": "bursar.lecture.simulation",
    "bursar.losses.table": "bursar.losses.laws.table",
    "bursar.losses.tilt": "bursar.losses.engines.tilt",
    "bursar.losses.worst_case": "bursar.lecture.worst_case",
}
ROOMS = {
    "bursar.ledger.anchors": {"Anchors": "bursar.ledger.anchors.every"},
    "bursar.ledger.stores.postgres": {"PostgresStore": "bursar.ledger.stores.postgres.store"},
    "bursar.ledger.stores.sqlite": {"SqliteStore": "bursar.ledger.stores.sqlite.store"},
    "bursar.losses.engines": dict.fromkeys(
        ("NoEngine", "delta_at", "deltas_at", "epsilon_at", "usual_width"), "bursar.losses.engines.meet"
    ),
}


class _Mover:
    """Finds and loads the old paths: as a finder for ``sys.meta_path``, and as the loader of what it finds."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The old module, if it is one of the table."""
        del path, target
        return ModuleSpec(name, _Mover(), origin=MOVED[name]) if name in MOVED else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """No module yet: an empty one will do, for it is replaced at once."""
        del spec

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put the module of the new path in the place of the empty one."""
        name = module.__name__
        _warn(name, MOVED[name])
        sys.modules[name] = import_module(MOVED[name])

    @staticmethod
    def get_code(name: str) -> CodeType | None:
        """The code of the new module, for ``python -m`` with the old path."""
        _warn(name, MOVED[name])
        spec = find_spec(MOVED[name])
        return None if spec is None or spec.loader is None else spec.loader.get_code(MOVED[name])  # type: ignore[attr-defined]


def install() -> None:
    """Let old paths be imported. First in line, for an old package's path would lead others to second copies."""
    if _Mover not in sys.meta_path:
        sys.meta_path.insert(0, _Mover)


def names_of(room: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that was a module: the names that it had, with a warning."""
    homes = ROOMS[room]

    def former(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        _warn(f"{room}.{name}", f"{homes[name]}.{name}")
        return getattr(import_module(homes[name]), name)

    return former


def _warn(old: str, new: str) -> None:
    """Say the new place where the old one was named: importing's own frames do not count."""
    warnings.warn(f"{old} is {new} now; the old path goes with the next version", DeprecationWarning, stacklevel=3)
