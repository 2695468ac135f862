BEGIN TRANSACTION;
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
INSERT INTO "journal" VALUES('d0',1,1000000001000000,'open','o0','ann','{"effect":[["d0","residue",0,0,0,0,0,26714657285316000,0,0,0,0],["d0","epsilon",0,0,0,0,0,26714657285316000,0,0,0,0],["d0","delta",0,0,0,0,0,26714657285316000,0,0,0,0]],"scopes":[["d0","d0","","root","residue","{\"alerts\":[\"1/2\",\"4/5\",\"9/10\",\"1\"],\"currency\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"relation\":\"add_remove\",\"target\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"unit\":\"record\"}","open"]],"request":{"currency":null,"delta":"1e-6","epsilon":"2","kind":null,"name":"d0","parent":null,"spent":[],"verb":"open"}}','0000000000000000000000000000000000000000000000000000000000000000','23c6f166d33de6c16b8a159ab44cef151bbd689be447c804971482a27fa71f34');
INSERT INTO "journal" VALUES('d0',2,1000000001000001,'spend','s0','ann','{"effect":[["d0","delta",26714657285316000,0,0,0,0,26714657285316000,12439982,0,0,0],["d0","epsilon",26714657285316000,0,0,0,0,26714657285316000,4274345165650560,0,0,0],["d0","residue",26714657285316000,0,0,0,0,26714657285316000,9537364662760767,0,0,0]],"certificate":3,"released":"declared(pure_dp(epsilon=0.07)) + declared(pure_dp(epsilon=0.25))","request":{"scopes":["d0"],"verb":"spend","what":"declared(pure_dp(epsilon=0.07)) + declared(pure_dp(epsilon=0.25))"}}','23c6f166d33de6c16b8a159ab44cef151bbd689be447c804971482a27fa71f34','520bc1b65c3029bb0a327fdc7d1aec8cf18ca8ae762e95fa039be3f9ec73aa5a');
INSERT INTO "journal" VALUES('d1',1,1000000002000000,'open','o1','ann','{"effect":[["d1","residue",0,0,0,0,0,26714657285316000,0,0,0,0],["d1","epsilon",0,0,0,0,0,26714657285316000,0,0,0,0],["d1","delta",0,0,0,0,0,26714657285316000,0,0,0,0]],"scopes":[["d1","d1","","root","residue","{\"alerts\":[\"1/2\",\"4/5\",\"9/10\",\"1\"],\"currency\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"relation\":\"add_remove\",\"target\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"unit\":\"record\"}","open"]],"request":{"currency":null,"delta":"1e-6","epsilon":"2","kind":null,"name":"d1","parent":null,"spent":[],"verb":"open"}}','0000000000000000000000000000000000000000000000000000000000000000','3ec7eaad22f7b2f8b26f53c4845c63a6104c7030950f74939fdaf8f40f1529a4');
INSERT INTO "journal" VALUES('d1',2,1000000002000001,'spend','s1','ann','{"effect":[["d1","delta",26714657285316000,0,0,0,0,26714657285316000,18659973,0,0,0],["d1","epsilon",26714657285316000,0,0,0,0,26714657285316000,5209358170636620,0,0,0],["d1","residue",26714657285316000,0,0,0,0,26714657285316000,10193732002518521,0,0,0]],"certificate":3,"released":"declared(pure_dp(epsilon=0.07))*2 + declared(pure_dp(epsilon=0.25))","request":{"scopes":["d1"],"verb":"spend","what":"declared(pure_dp(epsilon=0.07))*2 + declared(pure_dp(epsilon=0.25))"}}','3ec7eaad22f7b2f8b26f53c4845c63a6104c7030950f74939fdaf8f40f1529a4','16737869303b2363b0872bacc89baface6fc336e37f55346aa607c6c5d9d7a42');
INSERT INTO "journal" VALUES('d2',1,1000000003000000,'open','o2','ann','{"effect":[["d2","residue",0,0,0,0,0,26714657285316000,0,0,0,0],["d2","epsilon",0,0,0,0,0,26714657285316000,0,0,0,0],["d2","delta",0,0,0,0,0,26714657285316000,0,0,0,0]],"scopes":[["d2","d2","","root","residue","{\"alerts\":[\"1/2\",\"4/5\",\"9/10\",\"1\"],\"currency\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"relation\":\"add_remove\",\"target\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"unit\":\"record\"}","open"]],"request":{"currency":null,"delta":"1e-6","epsilon":"2","kind":null,"name":"d2","parent":null,"spent":[],"verb":"open"}}','0000000000000000000000000000000000000000000000000000000000000000','3d8654291d1e0ce214e65262ec3ef8612eed5643bfc572337e0a301a5f7b23a6');
INSERT INTO "journal" VALUES('d2',2,1000000003000001,'spend','s2','ann','{"effect":[["d2","delta",26714657285316000,0,0,0,0,26714657285316000,6219991,0,0,0],["d2","epsilon",26714657285316000,0,0,0,0,26714657285316000,9483703336287180,0,0,0],["d2","residue",26714657285316000,0,0,0,0,26714657285316000,19494586791150525,0,0,0]],"certificate":3,"released":"declared(pure_dp(epsilon=0.07))*3 + declared(pure_dp(epsilon=0.25))*2","request":{"scopes":["d2"],"verb":"spend","what":"declared(pure_dp(epsilon=0.07))*3 + declared(pure_dp(epsilon=0.25))*2"}}','3d8654291d1e0ce214e65262ec3ef8612eed5643bfc572337e0a301a5f7b23a6','1ab742a529d854933e67067962ab7dd82a3786635b4a633df8eb844494326d3c');
INSERT INTO "journal" VALUES('d3',1,1000000004000000,'open','o3','ann','{"effect":[["d3","residue",0,0,0,0,0,26714657285316000,0,0,0,0],["d3","epsilon",0,0,0,0,0,26714657285316000,0,0,0,0],["d3","delta",0,0,0,0,0,26714657285316000,0,0,0,0]],"scopes":[["d3","d3","","root","residue","{\"alerts\":[\"1/2\",\"4/5\",\"9/10\",\"1\"],\"currency\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"relation\":\"add_remove\",\"target\":{\"delta\":\"1/1000000\",\"epsilon\":\"2\",\"leak\":\"1/100000000\"},\"unit\":\"record\"}","open"]],"request":{"currency":null,"delta":"1e-6","epsilon":"2","kind":null,"name":"d3","parent":null,"spent":[],"verb":"open"}}','0000000000000000000000000000000000000000000000000000000000000000','78715c4f1eea809488fdd5f193d29687c9945a8274eb774a2a4319749dab4d33');
INSERT INTO "journal" VALUES('d3',2,1000000004000001,'spend','s3','ann','{"effect":[["d3","delta",26714657285316000,0,0,0,0,26714657285316000,0,0,0,0],["d3","epsilon",26714657285316000,0,0,0,0,26714657285316000,24176764843210980,0,0,0],["d3","residue",26714657285316000,0,0,0,0,26714657285316000,0,0,1,0]],"certificate":3,"released":"declared(pure_dp(epsilon=0.07))*8 + declared(pure_dp(epsilon=0.25))*5","request":{"scopes":["d3"],"verb":"spend","what":"declared(pure_dp(epsilon=0.07))*8 + declared(pure_dp(epsilon=0.25))*5"}}','78715c4f1eea809488fdd5f193d29687c9945a8274eb774a2a4319749dab4d33','bba82859569ba8bf7a731b6a64a3d104d45ec5392ef2c3e22a9a124d981f5d37');
INSERT INTO "journal" VALUES('parts',1,1000000004000000,'open','op','ann','{"effect":[["parts","epsilon",0,0,0,0,0,26714657285316000,0,0,0,0]],"scopes":[["parts","parts","","root","pure","{\"alerts\":[\"1/2\",\"4/5\",\"9/10\",\"1\"],\"currency\":{\"epsilon\":\"2\"},\"relation\":\"add_remove\",\"target\":{\"epsilon\":\"2\"},\"unit\":\"record\"}","open"]],"request":{"currency":null,"epsilon":"2","kind":null,"name":"parts","parent":null,"spent":[],"verb":"open"}}','0000000000000000000000000000000000000000000000000000000000000000','85e7263b85651247745f8f1123ed91866ed56e7f044f8e41a522a5f4ecd2a3bd');
INSERT INTO "journal" VALUES('parts',2,1000000004000001,'reserve','r','ann','{"effect":[["parts","epsilon",26714657285316000,0,0,0,0,26714657285316000,0,9483703336287180,0,0]],"reservation":["39bd9707809852ed9cbfbbdd26b963fb","open","2000000004000000","{\"fixed\":false,\"held\":{\"parts\":{\"epsilon\":9483703336287180}},\"left\":[[\"declared(pure_dp(epsilon=0.25))\",2],[\"declared(pure_dp(epsilon=7/100))\",3]],\"named\":[\"parts\"],\"scopes\":[\"parts\"]}"],"request":{"scopes":["parts"],"ttl":"1000000000000000","verb":"reserve","what":"declared(pure_dp(epsilon=0.07))*3 + declared(pure_dp(epsilon=0.25))*2"}}','85e7263b85651247745f8f1123ed91866ed56e7f044f8e41a522a5f4ecd2a3bd','19fe1841a31918e2f6964a0651196c053498fef526182668a0ba5e9a347891b6');
INSERT INTO "journal" VALUES('parts',3,1000000004000002,'draw','d','ann','{"effect":[["parts","epsilon",26714657285316000,0,9483703336287180,0,0,26714657285316000,935013004986060,8548690331301120,0,0]],"released":"declared(pure_dp(epsilon=0.07))","reservation":["39bd9707809852ed9cbfbbdd26b963fb","open","2000000004000000","{\"fixed\":false,\"held\":{\"parts\":{\"epsilon\":8548690331301120}},\"left\":[[\"declared(pure_dp(epsilon=0.25))\",2],[\"declared(pure_dp(epsilon=7/100))\",2]],\"named\":[\"parts\"],\"scopes\":[\"parts\"]}"],"request":{"reservation":"39bd9707809852ed9cbfbbdd26b963fb","verb":"draw","what":"declared(pure_dp(epsilon=0.07))"}}','19fe1841a31918e2f6964a0651196c053498fef526182668a0ba5e9a347891b6','e944cdd053c9c61efc4d0618dd6ed45244eaa43faad03fbc5def27824f4eed2c');
CREATE TABLE keys (
    key  TEXT NOT NULL PRIMARY KEY,
    root TEXT NOT NULL,
    seq  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "keys" VALUES('d','parts',3);
INSERT INTO "keys" VALUES('o0','d0',1);
INSERT INTO "keys" VALUES('o1','d1',1);
INSERT INTO "keys" VALUES('o2','d2',1);
INSERT INTO "keys" VALUES('o3','d3',1);
INSERT INTO "keys" VALUES('op','parts',1);
INSERT INTO "keys" VALUES('r','parts',2);
INSERT INTO "keys" VALUES('s0','d0',2);
INSERT INTO "keys" VALUES('s1','d1',2);
INSERT INTO "keys" VALUES('s2','d2',2);
INSERT INTO "keys" VALUES('s3','d3',2);
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
INSERT INTO "lines" VALUES('d0','delta',26714657285316000,12439982,0,0,0);
INSERT INTO "lines" VALUES('d0','epsilon',26714657285316000,4274345165650560,0,0,0);
INSERT INTO "lines" VALUES('d0','residue',26714657285316000,9537364662760767,0,0,0);
INSERT INTO "lines" VALUES('d1','delta',26714657285316000,18659973,0,0,0);
INSERT INTO "lines" VALUES('d1','epsilon',26714657285316000,5209358170636620,0,0,0);
INSERT INTO "lines" VALUES('d1','residue',26714657285316000,10193732002518521,0,0,0);
INSERT INTO "lines" VALUES('d2','delta',26714657285316000,6219991,0,0,0);
INSERT INTO "lines" VALUES('d2','epsilon',26714657285316000,9483703336287180,0,0,0);
INSERT INTO "lines" VALUES('d2','residue',26714657285316000,19494586791150525,0,0,0);
INSERT INTO "lines" VALUES('d3','delta',26714657285316000,0,0,0,0);
INSERT INTO "lines" VALUES('d3','epsilon',26714657285316000,24176764843210980,0,0,0);
INSERT INTO "lines" VALUES('d3','residue',26714657285316000,0,0,1,0);
INSERT INTO "lines" VALUES('parts','epsilon',26714657285316000,935013004986060,8548690331301120,0,0);
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,'ledger','4d0fd1d55705cea1024c42c8596d44731d635722c06473d5708a8a8f721d2357');
INSERT INTO "migrations" VALUES(2,'head','68f047888d1cab150c0d0a054ddb327be1430b5728593255c78e0b2415cc2801');
CREATE TABLE released (
    scope TEXT NOT NULL,
    what  TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (scope, what)
) STRICT, WITHOUT ROWID;
INSERT INTO "released" VALUES('d0','declared(pure_dp(epsilon=0.07)) + declared(pure_dp(epsilon=0.25))',1);
INSERT INTO "released" VALUES('d1','declared(pure_dp(epsilon=0.07))*2 + declared(pure_dp(epsilon=0.25))',1);
INSERT INTO "released" VALUES('d2','declared(pure_dp(epsilon=0.07))*3 + declared(pure_dp(epsilon=0.25))*2',1);
INSERT INTO "released" VALUES('d3','declared(pure_dp(epsilon=0.07))*8 + declared(pure_dp(epsilon=0.25))*5',1);
INSERT INTO "released" VALUES('parts','declared(pure_dp(epsilon=0.07))',1);
CREATE TABLE reservations (
    id      TEXT NOT NULL PRIMARY KEY,
    root    TEXT NOT NULL,
    status  TEXT NOT NULL CHECK (status IN ('open', 'closed', 'expired')),
    expires INTEGER NOT NULL,
    detail  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "reservations" VALUES('39bd9707809852ed9cbfbbdd26b963fb','parts','open',2000000004000000,'{"fixed":false,"held":{"parts":{"epsilon":8548690331301120}},"left":[["declared(pure_dp(epsilon=0.25))",2],["declared(pure_dp(epsilon=7/100))",2]],"named":["parts"],"scopes":["parts"]}');
CREATE TABLE scopes (
    name     TEXT NOT NULL PRIMARY KEY,
    root     TEXT NOT NULL,
    parent   TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('root', 'block', 'quota', 'window')),
    currency TEXT NOT NULL,
    terms    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('open', 'frozen', 'closed'))
, epoch INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "scopes" VALUES('d0','d0','','root','residue','{"alerts":["1/2","4/5","9/10","1"],"currency":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"relation":"add_remove","target":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"unit":"record"}','open',1);
INSERT INTO "scopes" VALUES('d1','d1','','root','residue','{"alerts":["1/2","4/5","9/10","1"],"currency":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"relation":"add_remove","target":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"unit":"record"}','open',1);
INSERT INTO "scopes" VALUES('d2','d2','','root','residue','{"alerts":["1/2","4/5","9/10","1"],"currency":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"relation":"add_remove","target":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"unit":"record"}','open',1);
INSERT INTO "scopes" VALUES('d3','d3','','root','residue','{"alerts":["1/2","4/5","9/10","1"],"currency":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"relation":"add_remove","target":{"delta":"1/1000000","epsilon":"2","leak":"1/100000000"},"unit":"record"}','open',1);
INSERT INTO "scopes" VALUES('parts','parts','','root','pure','{"alerts":["1/2","4/5","9/10","1"],"currency":{"epsilon":"2"},"relation":"add_remove","target":{"epsilon":"2"},"unit":"record"}','open',1);
CREATE INDEX scopes_of_root ON scopes (root);
CREATE TRIGGER journal_keeps_its_entries BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER journal_loses_nothing BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE INDEX reservations_due ON reservations (root, expires) WHERE status = 'open';
COMMIT;
