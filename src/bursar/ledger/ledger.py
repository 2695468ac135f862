"""The ledger: a durable budget that admits or refuses each release.

    with Ledger("sqlite:///budget.db") as ledger:
        ledger.open("census", epsilon="1", delta="1e-6")
        receipt = ledger.spend("census", Gaussian(sigma=50.0), key="query-0001")

The debit is durable before the query runs, nothing is refunded because a query failed, and a refusal leaves the ledger
as it was. All methods may be called from many threads; those that wait at the same time share one commit.
"""

from __future__ import annotations

from bursar.ledger.looking import Looking
from bursar.ledger.spending import Spending
from bursar.ledger.steward import Steward


class Ledger(Spending, Steward, Looking):
    """One journal and its scopes, in a store: ``memory://``, ``sqlite:///budget.db`` or ``postgresql://…``."""
