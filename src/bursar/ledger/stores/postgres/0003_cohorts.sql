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
