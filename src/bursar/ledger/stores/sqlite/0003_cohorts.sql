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
