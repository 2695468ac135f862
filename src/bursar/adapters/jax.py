"""jax-privacy: a configuration that makes its training accountants certified.

Give it where an accountant is asked for:

    DpsgdTrainingAccountant(dp_accountant_config=BursarConfig())
"""

from __future__ import annotations

from bursar.adapters.google import BursarAccountant
from bursar.extras import needs

with needs("jax", "the adapter of jax-privacy"):
    from jax_privacy.accounting.accountants import DpAccountantConfig


class BursarConfig(DpAccountantConfig):  # type: ignore[misc]  # untyped there
    """Creates bursar's accountant wherever jax-privacy wants one of dp_accounting's."""

    def create_accountant(self) -> BursarAccountant:
        """A new accountant, to which nothing was added yet."""
        return BursarAccountant()
