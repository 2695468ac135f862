"""What can be shown of a ledger: that its journal holds together, what it would cost today, copies for others."""
