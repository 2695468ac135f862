"""A ledger in one SQLite file."""
