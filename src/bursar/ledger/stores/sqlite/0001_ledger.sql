-- The tables of a ledger. The journal is the truth; every other table is what it adds up to.

CREATE TABLE scopes (
    name     TEXT NOT NULL PRIMARY KEY,
    root     TEXT NOT NULL,
    parent   TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('root', 'block', 'quota', 'window')),
    currency TEXT NOT NULL,
    terms    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('open', 'frozen', 'closed'))
) STRICT, WITHOUT ROWID;
CREATE INDEX scopes_of_root ON scopes (root);

-- One row for each line of a scope's currency, in whole units. The rule of the ledger is repeated here.
CREATE TABLE lines (
    scope    TEXT NOT NULL REFERENCES scopes (name),
    line     TEXT NOT NULL,
    "limit"  INTEGER NOT NULL CHECK ("limit" >= 0),
    spent    INTEGER NOT NULL CHECK (spent >= 0),
    held     INTEGER NOT NULL CHECK (held >= 0),
    dead     INTEGER NOT NULL CHECK (dead IN (0, 1)),
    "window" INTEGER NOT NULL,
    PRIMARY KEY (scope, line),
    CHECK (spent + held <= "limit")
) STRICT, WITHOUT ROWID;

CREATE TABLE heads (
    root  TEXT NOT NULL PRIMARY KEY,
    seq   INTEGER NOT NULL CHECK (seq > 0),
    at    INTEGER NOT NULL,
    hash  TEXT NOT NULL,
    epoch INTEGER NOT NULL
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
