-- name: several_keys
SELECT key, root, seq FROM keys WHERE key IN (SELECT value FROM json_each(?))
