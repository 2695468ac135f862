"""Random allocation: the law of a mean of many likelihood ratios, between two laws on a grid (proofs/allocation.md)."""
