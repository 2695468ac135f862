"""jax-privacy: a configuration that makes its training accountants certified.

    DpsgdTrainingAccountant(dp_accountant_config=BursarConfig())

What they are asked for is then answered by every theorem, never below the truth.
"""

from __future__ import annotations

from bursar.adapters.google import BursarAccountant
from bursar.extras import needs

with needs("jax", "the adapter of jax-privacy"):
    from jax_privacy.accounting.accountants import DpAccountantConfig


class BursarConfig(DpAccountantConfig):  # type: ignore[misc]  # untyped there
    """Creates bursar's accountant wherever jax-privacy wants one of dp_accounting's."""

    def create_accountant(self) -> BursarAccountant:
        """A fresh accountant of bursar's."""
        return BursarAccountant()
