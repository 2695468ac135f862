"""Person filters: each person of a table has a budget of their own, and is left out of a query that it cannot bear."""
