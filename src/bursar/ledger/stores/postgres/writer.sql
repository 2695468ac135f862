-- What a role that spends may do: add to the journal, never change it.
GRANT SELECT, INSERT ON journal, keys, scopes, lines, released, reservations, counters, deltas TO {role};
GRANT UPDATE ON scopes, lines, released, reservations, counters TO {role};
GRANT SELECT ON migrations TO {role};
