"""What people see of a ledger: statements, odometers, how a budget burns down."""
