-- name: head
SELECT seq, at, hash, COALESCE((SELECT epoch FROM scopes WHERE name = journal.root), 0)
FROM journal WHERE root = ? ORDER BY seq DESC LIMIT 1
-- name: roots
WITH RECURSIVE roots (root) AS (
    SELECT MIN(root) FROM journal
    UNION ALL
    SELECT (SELECT MIN(root) FROM journal WHERE root > roots.root) FROM roots WHERE root IS NOT NULL
)
SELECT root FROM roots WHERE root IS NOT NULL ORDER BY root
-- name: scope
SELECT name, root, parent, kind, currency, terms, status FROM scopes WHERE name = ?
-- name: scopes
SELECT name, root, parent, kind, currency, terms, status FROM scopes ORDER BY name
-- name: scopes_of
SELECT name, root, parent, kind, currency, terms, status FROM scopes WHERE root = ? ORDER BY name
-- name: root_under
SELECT name FROM scopes WHERE name > ? AND name < ? AND kind = 'root' ORDER BY name LIMIT 1
-- name: balances
SELECT line, "limit", spent, held, splits FROM lines WHERE scope = ?
-- name: key
SELECT root, seq FROM keys WHERE key = ?
-- name: every_key
SELECT key, root, seq FROM keys ORDER BY key
-- name: entry
SELECT root, seq, at, kind, key, actor, body, prev, hash FROM journal WHERE root = ? AND seq = ?
-- name: entries
SELECT root, seq, at, kind, key, actor, body, prev, hash FROM journal WHERE root = ? AND seq > ? ORDER BY seq LIMIT ?
-- name: released
SELECT what, count FROM released WHERE scope = ? ORDER BY what
-- name: reservation
SELECT id, root, status, expires, detail FROM reservations WHERE id = ?
-- name: reservations
SELECT id, root, status, expires, detail FROM reservations WHERE root = ? ORDER BY id
-- name: due
SELECT id, root, status, expires, detail FROM reservations WHERE root = ? AND status = 'open' AND expires <= ? ORDER BY id
-- name: strays
SELECT 'balance', scope FROM lines WHERE scope NOT IN (SELECT name FROM scopes)
UNION SELECT 'list of releases', scope FROM released WHERE scope NOT IN (SELECT name FROM scopes)
UNION SELECT 'reservation ' || id, root FROM reservations WHERE root NOT IN (SELECT name FROM scopes WHERE kind = 'root')
UNION SELECT 'scope ' || name, root FROM scopes WHERE root NOT IN (SELECT name FROM scopes WHERE kind = 'root')
UNION SELECT 'scope ' || name, parent FROM scopes WHERE parent <> '' AND parent NOT IN (SELECT name FROM scopes)
UNION SELECT 'block counter', scope FROM counters WHERE scope NOT IN (SELECT name FROM scopes)
UNION SELECT 'delta', root FROM deltas WHERE root NOT IN (SELECT name FROM scopes WHERE kind = 'root')
UNION SELECT 'count of changes', name FROM scopes WHERE epoch <> 0 AND name <> root
ORDER BY 1, 2
-- name: append
INSERT INTO journal (root, seq, at, kind, key, actor, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
-- name: set_epoch
UPDATE scopes SET epoch = ? WHERE name = ?
-- name: set_balance
UPDATE lines SET "limit" = ?, spent = ?, held = ?, splits = ? WHERE scope = ? AND line = ?
-- name: add_line
INSERT INTO lines (scope, line, "limit", spent, held, splits) VALUES (?, ?, ?, ?, ?, ?)
-- name: add_scope
INSERT INTO scopes (name, root, parent, kind, currency, terms, status) VALUES (?, ?, ?, ?, ?, ?, ?)
-- name: set_scope
UPDATE scopes SET terms = ?, status = ? WHERE name = ?
-- name: remember
INSERT INTO keys (key, root, seq) VALUES (?, ?, ?)
-- name: add_released
INSERT INTO released (scope, what, count) VALUES (?, ?, ?)
ON CONFLICT (scope, what) DO UPDATE SET count = released.count + excluded.count
-- name: set_reservation
INSERT INTO reservations (id, root, status, expires, detail) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, expires = excluded.expires, detail = excluded.detail
-- name: marks
SELECT tile, most FROM counters WHERE scope = ? AND line = ? AND tile > ? ORDER BY tile LIMIT ?
-- name: deltas
SELECT root, seq, kind, path, digest, worst FROM deltas WHERE root = ? AND seq > ? ORDER BY seq
-- name: set_counters
INSERT INTO counters (scope, line, tile, most, amounts) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, line, tile) DO UPDATE SET most = excluded.most, amounts = excluded.amounts
-- name: raise_counters
INSERT INTO counters (scope, line, tile, most, amounts) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, line, tile) DO UPDATE SET most = counters.most + excluded.most
-- name: add_delta
INSERT INTO deltas (root, seq, kind, path, digest, worst) VALUES (?, ?, ?, ?, ?, ?)
