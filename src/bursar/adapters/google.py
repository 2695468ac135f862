"""dp_accounting: an accountant that drops in where its own would be; its events as compositions and back.

    from bursar.adapters.google import BursarAccountant
    BursarAccountant().compose(event, 1000).get_epsilon(1e-6)      # never below the truth

What events mean is said in `bursar.adapters.google_events`.
"""

from __future__ import annotations

import math
from typing import Any

import bursar as b
from bursar.adapters.google_events import NotPrivate, Unsupported, from_event, to_event
from bursar.errors import BursarError
from bursar.extras import needs
from bursar.jobs.report import Report

with needs("google", "the adapter of dp_accounting"):
    import dp_accounting as dpa
    from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

__all__ = ["BursarAccountant", "NotPrivate", "Unsupported", "from_event", "to_event"]

_FAR = 1_000_000  # an ε beyond which δ hardly changes


class BursarAccountant(PrivacyAccountant):  # type: ignore[misc]  # untyped there
    """A `dp_accounting.PrivacyAccountant` whose answers are certified: upper ends, and `report` for both."""

    def __init__(self, neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE) -> None:
        super().__init__(neighboring_relation)
        self._composition = b.Composition()
        self._open = False

    def _maybe_compose(self, event: dpa.DpEvent, count: int, do_compose: bool) -> Any:
        if count < 0 or (do_compose and count < 1):
            raise ValueError(f"count must be at least 1, not {count}")
        try:
            found = from_event(event, self.neighboring_relation)
        except NotPrivate:
            self._open = self._open or do_compose
            return None
        except Unsupported as problem:
            return PrivacyAccountant.CompositionErrorDetails(problem.event, str(problem))
        if do_compose:
            self._composition = self._composition + found * count
        return None

    @property
    def composition(self) -> b.Composition:
        """The events that were composed so far, as one composition."""
        return self._composition

    def report(self, *, delta: Any = None, epsilon: Any = None, **more: Any) -> Report:
        """Both ends, every theorem's part, and the reasons: as `bursar.account` gives them."""
        if self._open:
            raise BursarError("something that is not private was composed: nothing is promised")
        return b.account(self._composition, delta=delta, epsilon=epsilon, **more)

    def get_epsilon(self, target_delta: float) -> float:
        """The upper end of ε at a δ."""
        if self._open:
            return math.inf
        return 0.0 if target_delta >= 1 else self.report(delta=float(target_delta)).epsilon.upper

    def get_delta(self, target_epsilon: float) -> float:
        """The upper end of δ at an ε."""
        if self._open:
            return 1.0
        # δ falls with ε, so a finite ε bounds δ at infinity
        return self.report(epsilon=_FAR if math.isinf(target_epsilon) else float(target_epsilon)).delta.upper
