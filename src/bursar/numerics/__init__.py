"""Floor 0, numbers: exact input, balls, intervals, search, special functions. Knows nothing about privacy."""
