"""What charges are counted in; apart from them, since Spark's workers load this and nothing of the ledger."""

NANO = 10**9
"""Units in ρ = 1."""
MOST = 2**62
"""What all queries together may charge anybody: sums stay whole numbers of 64 bits."""
