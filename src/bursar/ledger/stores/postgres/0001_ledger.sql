-- The tables of a ledger. The journal is the truth; every other table is what it adds up to.

CREATE TABLE scopes (
    name     TEXT COLLATE "C" PRIMARY KEY,
    root     TEXT COLLATE "C" NOT NULL,
    parent   TEXT COLLATE "C" NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('root', 'block', 'quota')),
    currency TEXT NOT NULL,
    terms    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('open', 'frozen', 'closed')),
    -- how often a steward has changed the scopes of a root: it stands with the root itself
    epoch    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX scopes_of_root ON scopes (root);

-- One row for each line of a scope's currency, in whole units. The rule of the ledger is repeated here; a line of
-- splits has their states, as JSON, in place of amounts.
CREATE TABLE lines (
    scope    TEXT COLLATE "C" NOT NULL REFERENCES scopes (name),
    line     TEXT COLLATE "C" NOT NULL,
    "limit"  BIGINT NOT NULL CHECK ("limit" >= 0),
    spent    BIGINT NOT NULL CHECK (spent >= 0),
    held     BIGINT NOT NULL CHECK (held >= 0),
    splits   TEXT NOT NULL CHECK (position('-' IN splits) = 0),
    PRIMARY KEY (scope, line),
    CHECK (spent + held <= "limit")
) WITH (fillfactor = 50);

CREATE TABLE journal (
    root  TEXT COLLATE "C" NOT NULL,
    seq   BIGINT NOT NULL CHECK (seq > 0),
    at    BIGINT NOT NULL,
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    actor TEXT NOT NULL,
    body  TEXT NOT NULL,
    prev  TEXT NOT NULL,
    hash  TEXT NOT NULL,
    PRIMARY KEY (root, seq)
);
CREATE FUNCTION journal_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only';
END $$;
CREATE TRIGGER journal_keeps_its_entries BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION journal_is_append_only();

CREATE TABLE keys (
    key  TEXT COLLATE "C" PRIMARY KEY,
    root TEXT COLLATE "C" NOT NULL,
    seq  BIGINT NOT NULL
);

CREATE TABLE released (
    scope TEXT COLLATE "C" NOT NULL,
    what  TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL CHECK (count > 0),
    PRIMARY KEY (scope, what)
) WITH (fillfactor = 50);

CREATE TABLE reservations (
    id      TEXT COLLATE "C" PRIMARY KEY,
    root    TEXT COLLATE "C" NOT NULL,
    status  TEXT NOT NULL CHECK (status IN ('open', 'closed', 'expired')),
    expires BIGINT NOT NULL,
    detail  TEXT NOT NULL
);
CREATE INDEX reservations_due ON reservations (root, expires) WHERE status = 'open';

-- Counters of blocks, some thousand in a row, and the files of what people were charged.
CREATE TABLE counters (
    scope   TEXT COLLATE "C" NOT NULL REFERENCES scopes (name),
    line    TEXT COLLATE "C" NOT NULL,
    tile    BIGINT NOT NULL CHECK (tile >= 0),
    most    BIGINT NOT NULL CHECK (most >= 0),
    amounts BYTEA NOT NULL,
    PRIMARY KEY (scope, line, tile)
);
ALTER TABLE counters ALTER COLUMN amounts SET STORAGE EXTERNAL;

CREATE TABLE deltas (
    root   TEXT COLLATE "C" NOT NULL,
    seq    BIGINT NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('delta', 'snapshot')),
    path   TEXT NOT NULL,
    digest TEXT NOT NULL,
    worst  BIGINT NOT NULL CHECK (worst >= 0),
    PRIMARY KEY (root, seq)
);
