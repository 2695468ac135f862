"""Counting in processes of its own: what is counted, where the processes come from, and who comes first."""
