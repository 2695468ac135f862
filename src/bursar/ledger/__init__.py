"""Spending: a durable ledger that admits or refuses each release. Start at `bursar.ledger.ledger`."""
