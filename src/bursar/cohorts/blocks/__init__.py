"""Block ledgers: one budget for each public part of the data, such as a day of a segment."""
