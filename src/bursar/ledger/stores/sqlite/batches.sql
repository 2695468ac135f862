-- name: several_keys
SELECT key, root, seq FROM keys WHERE key IN (SELECT value FROM json_each(?))
-- name: several_links
SELECT seq, hash, kind FROM journal WHERE root = ? AND seq IN (SELECT value FROM json_each(?))
-- name: several_counters
SELECT tile, most, amounts FROM counters WHERE scope = ? AND line = ? AND tile IN (SELECT value FROM json_each(?))
-- name: several_marks
SELECT tile, most FROM counters WHERE scope = ? AND line = ? AND tile IN (SELECT value FROM json_each(?))
