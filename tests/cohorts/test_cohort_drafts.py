"""What a draft for the registry says of a cohort: that it released something, and how its budgets are kept."""

from __future__ import annotations

import pytest
import yaml

import bursar as b
from bursar.cohorts import BlockLedger, PersonFilter
from support.tables import arrow

FACTS = {
    "data_curators": ["an office"],
    "description": "visits",
    "intended_use": "planning",
    "data_product_type": "Summary statistics",
    "data_product_region": "Norway",
    "publication_date": "2026-01-01",
}


def test_drafts_tell_what_was_released(visits: PersonFilter) -> None:
    """Of people and of blocks: nobody was charged as a whole, and yet these queries ran; refused ones did not."""
    ledger = visits.ledger
    for key in ("q-1", "q-2"):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key=key)
    visits.admit(arrow([("ann", 1.0)]), sums="value", norm=1, sigma=40, key="q-3")
    visits.compact()
    blocks = BlockLedger.create(ledger, "ads", {"day": 3}, rho="1/50")
    blocks.spend(b.Gaussian(sigma=8), day=1)
    with pytest.raises(b.BudgetExceeded):
        blocks.spend(b.Gaussian(sigma=1), day=1)
    drafts = {
        root: yaml.safe_load(ledger.export("opendp", root=root, facts=FACTS))["deployment"]
        for root in ("visits", "ads")
    }
    assert drafts["visits"]["implementation"]["mechanisms"] == (
        "2 × gaussian(sigma=50); 1 × gaussian noise 40 on sums of value, each person's clipped to 1"
    )
    assert drafts["ads"]["implementation"]["mechanisms"] == "1 × gaussian(sigma=8)"
    assert "every person by themselves" in drafts["visits"]["accounting"]["composition"]
    assert "worst block" in drafts["ads"]["accounting"]["composition"]
