"""Scopes and their limits, releases and their prices, in whole units: nothing here knows a store or a journal."""
