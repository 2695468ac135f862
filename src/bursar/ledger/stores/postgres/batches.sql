-- name: append
INSERT INTO journal SELECT * FROM unnest(
    ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]
)
-- name: remember
INSERT INTO keys SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[])
-- name: set_balance
UPDATE lines SET "limit" = new."limit", spent = new.spent, held = new.held, splits = new.splits
FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[])
    AS new ("limit", spent, held, splits, scope, line)
WHERE lines.scope = new.scope AND lines.line = new.line
-- name: add_released
INSERT INTO released SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[])
ON CONFLICT (scope, what) DO UPDATE SET count = released.count + excluded.count
-- name: lock_ledger
SELECT pg_advisory_xact_lock(?)
-- name: lock_roots
SELECT pg_advisory_xact_lock(number) FROM unnest(?::bigint[]) AS locks (number)
-- name: several_heads
SELECT roots.root, seq, at, hash, COALESCE((SELECT epoch FROM scopes WHERE name = roots.root), 0)
FROM unnest(?::text[]) AS roots (root)
CROSS JOIN LATERAL (SELECT seq, at, hash FROM journal WHERE journal.root = roots.root ORDER BY seq DESC LIMIT 1) AS last
-- name: several_keys
SELECT key, root, seq FROM keys WHERE key = ANY(?)
-- name: several_balances
SELECT scope, line, "limit", spent, held, splits FROM lines WHERE scope = ANY(?) ORDER BY scope, line
-- name: several_links
SELECT seq, hash, kind FROM journal WHERE root = ? AND seq = ANY(?)
-- name: several_counters
SELECT tile, most, amounts FROM counters WHERE scope = ? AND line = ? AND tile = ANY(?)
-- name: several_marks
SELECT tile, most FROM counters WHERE scope = ? AND line = ? AND tile = ANY(?)
-- name: set_counters
INSERT INTO counters SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bytea[])
ON CONFLICT (scope, line, tile) DO UPDATE SET most = excluded.most, amounts = excluded.amounts
-- name: raise_counters
INSERT INTO counters SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bytea[])
ON CONFLICT (scope, line, tile) DO UPDATE SET most = counters.most + excluded.most
