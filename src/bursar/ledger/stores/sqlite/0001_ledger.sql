-- The tables of a ledger. The journal is the truth; every other table is what it adds up to.

CREATE TABLE scopes (
    name     TEXT NOT NULL PRIMARY KEY,
    root     TEXT NOT NULL,
    parent   TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('root', 'block', 'quota')),
    currency TEXT NOT NULL,
    terms    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('open', 'frozen', 'closed')),
    -- how often a steward has changed the scopes of a root: it stands with the root itself
    epoch    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX scopes_of_root ON scopes (root);

-- One row for each line of a scope's currency, in whole units. The rule of the ledger is repeated here; a line of
-- splits has their states, as JSON, in place of amounts.
CREATE TABLE lines (
    scope    TEXT NOT NULL REFERENCES scopes (name),
    line     TEXT NOT NULL,
    "limit"  INTEGER NOT NULL CHECK ("limit" >= 0),
    spent    INTEGER NOT NULL CHECK (spent >= 0),
    held     INTEGER NOT NULL CHECK (held >= 0),
    splits   TEXT NOT NULL CHECK (instr(splits, '-') = 0),
    PRIMARY KEY (scope, line),
    CHECK (spent + held <= "limit")
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    root  TEXT NOT NULL,
    seq   INTEGER NOT NULL CHECK (seq > 0),
    at    INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    actor TEXT NOT NULL,
    body  TEXT NOT NULL,
    prev  TEXT NOT NULL,
    hash  TEXT NOT NULL,
    PRIMARY KEY (root, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER journal_keeps_its_entries BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER journal_loses_nothing BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TABLE keys (
    key  TEXT NOT NULL PRIMARY KEY,
    root TEXT NOT NULL,
    seq  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE released (
    scope TEXT NOT NULL,
    what  TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (scope, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservations (
    id      TEXT NOT NULL PRIMARY KEY,
    root    TEXT NOT NULL,
    status  TEXT NOT NULL CHECK (status IN ('open', 'closed', 'expired')),
    expires INTEGER NOT NULL,
    detail  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_due ON reservations (root, expires) WHERE status = 'open';

-- Counters of blocks, some thousand in a row, and the files of what people were charged.
CREATE TABLE counters (
    scope   TEXT NOT NULL REFERENCES scopes (name),
    line    TEXT NOT NULL,
    tile    INTEGER NOT NULL CHECK (tile >= 0),
    most    INTEGER NOT NULL CHECK (most >= 0),
    amounts BLOB NOT NULL,
    UNIQUE (scope, line, tile)
) STRICT;

CREATE TABLE deltas (
    root   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('delta', 'snapshot')),
    path   TEXT NOT NULL,
    digest TEXT NOT NULL,
    worst  INTEGER NOT NULL CHECK (worst >= 0),
    PRIMARY KEY (root, seq)
) STRICT, WITHOUT ROWID;
