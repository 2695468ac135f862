"""The lecture, executable: what the proofs do with losses (simulation, worst case, counting)."""
