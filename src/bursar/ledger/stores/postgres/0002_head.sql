-- The end of a chain is its last entry; how often a steward changed a root's scopes stands with the root itself.
ALTER TABLE scopes ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
UPDATE scopes SET epoch = (SELECT epoch FROM heads WHERE heads.root = scopes.name) WHERE kind = 'root';
DROP TABLE heads;
