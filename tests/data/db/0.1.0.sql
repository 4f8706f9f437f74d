-- A database as kgrid 0.1.0 made it (sqlite3 .dump; the two pragmas at the end are not part of that).
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE machine (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	first_seen_ns INTEGER NOT NULL,
	last_seen_ns INTEGER NOT NULL,
	state_id TEXT,             -- Hello.state_id: shows a cloned state directory
	cpu_vendor TEXT,
	cpu_name TEXT,
	clock TEXT,                -- 'real' or 'instruction'
	facts BLOB                 -- kgrid.v1.MachineFacts as last reported
) STRICT;
INSERT INTO machine VALUES(1,'m1',9,1796052429823000000,'s1','AuthenticAMD','AMD EPYC 7B13','real',X'0a0c41757468656e746963414d441019180120012a0d414d44204550594320374231333209307861303031316431380262047265616c');
CREATE TABLE kernel (
	digest TEXT PRIMARY KEY,   -- SHA-256 of the manifest
	label TEXT UNIQUE,         -- given up when removed
	release TEXT NOT NULL,
	version TEXT NOT NULL,     -- whole version string of the image
	build_id TEXT,
	config_digest TEXT,
	config_lsm TEXT,
	builtin_lsm TEXT,
	manifest TEXT NOT NULL,
	files INTEGER NOT NULL,
	size_bytes INTEGER NOT NULL,
	added_ns INTEGER NOT NULL,
	removed_ns INTEGER         -- the row stays: results refer to it; the blobs are gone
) STRICT;
INSERT INTO kernel VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','old','6.1.0','6.1.0 #1',NULL,NULL,'apparmor',NULL,replace('kgrid-kernel 1\nrelease 6.1.0\nfile bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 10 644 vmlinuz\n','\n',char(10)),1,10,5,NULL);
INSERT INTO kernel VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','new','6.12.0','6.1.0 #1',NULL,NULL,'apparmor',NULL,replace('kgrid-kernel 1\nrelease 6.1.0\nfile bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 10 644 vmlinuz\n','\n',char(10)),1,10,5,NULL);
CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	text TEXT NOT NULL,        -- the job file as submitted
	file_name TEXT NOT NULL,
	client_key TEXT UNIQUE,    -- idempotent submit
	state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled')),
	priority INTEGER NOT NULL,
	boot_order TEXT NOT NULL CHECK (boot_order IN ('interleaved', 'grouped')),
	seed INTEGER NOT NULL,     -- 64 bits, unsigned kept as signed
	blocks INTEGER NOT NULL,
	warnings TEXT NOT NULL,    -- JSON array of text
	submitted_ns INTEGER NOT NULL,
	ended_ns INTEGER
) STRICT;
INSERT INTO job VALUES(1,'demo',replace('name: demo\n','\n',char(10)),'demo.yaml',NULL,'done',50,'interleaved',-81985529216486896,3,'["''foo'' is not built in"]',100,1796052430000000000);
INSERT INTO job VALUES(2,'demo',replace('name: demo\n','\n',char(10)),'demo.yaml',NULL,'queued',50,'interleaved',-81985529216486896,1,'["''foo'' is not built in"]',100,NULL);
CREATE TABLE cell (
	id INTEGER PRIMARY KEY,
	job INTEGER NOT NULL REFERENCES job (id),
	identity TEXT NOT NULL,    -- SHA-256 over what makes the cell what it is
	machine TEXT NOT NULL,
	kernel TEXT NOT NULL REFERENCES kernel (digest),
	kernel_label TEXT NOT NULL,
	lsm_label TEXT NOT NULL,
	lsm_request TEXT NOT NULL,
	lsm_effective TEXT NOT NULL, -- predicted list
	cmdline TEXT NOT NULL,     -- whole line after the machine base, without kgrid.boot=
	workload TEXT NOT NULL,
	workload_digest TEXT NOT NULL,
	params TEXT NOT NULL,      -- 'seconds=1 size=64 test=UDP_RR', sorted, normalised
	iterations INTEGER NOT NULL,
	timeout_s INTEGER NOT NULL,
	kernel_order INTEGER NOT NULL, -- position in the job file, for tables
	lsm_order INTEGER NOT NULL,
	workload_order INTEGER NOT NULL,
	UNIQUE (job, identity)
) STRICT;
INSERT INTO cell VALUES(1,1,'i0','m1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','old','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=64',3,60,0,0,0);
INSERT INTO cell VALUES(2,1,'i1','m1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','old','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=1024',3,60,0,0,0);
INSERT INTO cell VALUES(3,1,'i2','m1','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','new','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=64',3,60,1,0,0);
INSERT INTO cell VALUES(4,1,'i3','m1','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','new','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=1024',3,60,1,0,0);
INSERT INTO cell VALUES(5,2,'i0','m1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','old','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=64',3,60,0,0,0);
INSERT INTO cell VALUES(6,2,'i1','m1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','old','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=1024',3,60,0,0,0);
INSERT INTO cell VALUES(7,2,'i2','m1','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','new','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=64',3,60,1,0,0);
INSERT INTO cell VALUES(8,2,'i3','m1','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','new','full','apparmor','capability,apparmor','lsm=apparmor','netperf','d','seconds=1 size=1024',3,60,1,0,0);
CREATE TABLE slot (
	id INTEGER PRIMARY KEY,
	job INTEGER NOT NULL REFERENCES job (id),
	cell INTEGER NOT NULL REFERENCES cell (id),
	block INTEGER NOT NULL,    -- from 1
	visit INTEGER NOT NULL,    -- order of boots on the machine within the job, from 1
	position INTEGER NOT NULL, -- order of runs within the boot, from 1
	tries INTEGER NOT NULL DEFAULT 0, -- attempts that counted against the retry limit
	outcome TEXT,              -- NULL: pending
	reason TEXT,
	attempt INTEGER,           -- the attempt that decided
	UNIQUE (cell, block)
) STRICT;
INSERT INTO slot VALUES(1,1,1,1,1,1,0,'pass',NULL,100);
INSERT INTO slot VALUES(2,1,2,1,1,2,0,'pass',NULL,101);
INSERT INTO slot VALUES(3,1,3,1,2,1,0,'pass',NULL,200);
INSERT INTO slot VALUES(4,1,4,1,2,2,0,'pass',NULL,201);
INSERT INTO slot VALUES(5,1,1,2,3,1,0,'pass',NULL,400);
INSERT INTO slot VALUES(6,1,2,2,3,2,0,'pass',NULL,401);
INSERT INTO slot VALUES(7,1,3,2,4,1,0,'pass',NULL,300);
INSERT INTO slot VALUES(8,1,4,2,4,2,0,'pass',NULL,301);
INSERT INTO slot VALUES(9,1,1,3,5,1,0,'fail','exit 1',500);
INSERT INTO slot VALUES(10,1,2,3,5,2,0,'infra','power',501);
INSERT INTO slot VALUES(11,1,3,3,6,1,0,'boot-hang','no heartbeat',NULL);
INSERT INTO slot VALUES(12,1,4,3,6,2,0,'boot-hang','no heartbeat',NULL);
INSERT INTO slot VALUES(13,2,5,1,1,1,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(14,2,6,1,1,2,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(15,2,7,1,2,1,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(16,2,8,1,2,2,0,NULL,NULL,NULL);
CREATE TABLE boot (
	id INTEGER PRIMARY KEY,
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	block INTEGER NOT NULL,
	visit INTEGER NOT NULL,
	lease_epoch INTEGER NOT NULL,
	nonce TEXT NOT NULL,
	kernel TEXT NOT NULL REFERENCES kernel (digest),
	lsm_request TEXT NOT NULL,
	lsm_effective TEXT NOT NULL, -- expected
	cmdline TEXT NOT NULL,
	stage TEXT NOT NULL,
	deadline_boottime_ns INTEGER, -- of the stage, on the coordinator's host ...
	deadline_host_boot TEXT,   -- ... as long as its boot_id is this
	deadline_ns INTEGER,       -- same by the wall clock, for after a reboot of the host
	last_seq INTEGER NOT NULL DEFAULT 0, -- newest committed record
	agent_outcome TEXT,        -- what the agent's BootEnded said, NULL before it
	agent_reason TEXT,
	outcome TEXT,              -- NULL: open
	reason TEXT,
	started_ns INTEGER NOT NULL,
	ended_ns INTEGER
) STRICT;
INSERT INTO boot VALUES(1,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,11,NULL,NULL,'pass',NULL,1,1796052429000000001);
INSERT INTO boot VALUES(2,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,11,NULL,NULL,'pass',NULL,1,1796052429000000002);
INSERT INTO boot VALUES(3,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,11,NULL,NULL,'pass',NULL,1,1796052429000000003);
INSERT INTO boot VALUES(4,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,11,NULL,NULL,'pass',NULL,1,1796052429000000004);
INSERT INTO boot VALUES(5,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,4,NULL,NULL,'infra',NULL,1,0);
CREATE TABLE provenance (
	boot INTEGER PRIMARY KEY REFERENCES boot (id),
	verified INTEGER NOT NULL,
	nonce TEXT,
	cmdline TEXT,
	release TEXT,              -- uname -r
	version TEXT,              -- /proc/version
	build_id TEXT,
	lsm TEXT,                  -- /sys/kernel/security/lsm
	host_boot_id TEXT,
	previous_host_boot_id TEXT,
	cpu_vendor TEXT,
	cpu_name TEXT,
	microcode TEXT,
	hops INTEGER,              -- kexecs since the last cold boot
	boot_method TEXT,
	tainted INTEGER,
	facts TEXT NOT NULL        -- JSON object of further facts
) STRICT;
INSERT INTO provenance VALUES(1,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(2,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(3,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(4,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(5,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
CREATE TABLE attempt (
	id INTEGER PRIMARY KEY,
	slot INTEGER NOT NULL REFERENCES slot (id),
	boot INTEGER NOT NULL REFERENCES boot (id),
	position INTEGER NOT NULL,
	argv TEXT,                 -- JSON array, as run
	outcome TEXT,              -- NULL: not ended
	reason TEXT,
	exit_status INTEGER,
	term_signal INTEGER,
	samples INTEGER NOT NULL DEFAULT 0, -- stored, without warm-up
	run_ns INTEGER,
	started_ns INTEGER,
	ended_ns INTEGER
) STRICT;
INSERT INTO attempt VALUES(100,1,1,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(101,2,1,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(200,3,2,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(201,4,2,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(300,7,3,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(301,8,3,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(400,5,4,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(401,6,4,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(500,9,5,1,'["netperf","-l"]','fail',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(501,10,5,2,NULL,'infra',NULL,NULL,NULL,0,NULL,NULL,0);
CREATE TABLE metric (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	direction TEXT NOT NULL CHECK (direction IN ('higher', 'lower', 'none')),
	UNIQUE (name, unit, direction)
) STRICT;
INSERT INTO metric VALUES(1,'rate','op/s','higher');
CREATE TABLE attempt_metric (
	attempt INTEGER NOT NULL REFERENCES attempt (id),
	local_id INTEGER NOT NULL,
	metric INTEGER NOT NULL REFERENCES metric (id),
	PRIMARY KEY (attempt, local_id)
) STRICT, WITHOUT ROWID;
INSERT INTO attempt_metric VALUES(100,0,1);
INSERT INTO attempt_metric VALUES(101,0,1);
INSERT INTO attempt_metric VALUES(200,0,1);
INSERT INTO attempt_metric VALUES(201,0,1);
INSERT INTO attempt_metric VALUES(300,0,1);
INSERT INTO attempt_metric VALUES(301,0,1);
INSERT INTO attempt_metric VALUES(400,0,1);
INSERT INTO attempt_metric VALUES(401,0,1);
INSERT INTO attempt_metric VALUES(500,0,1);
CREATE TABLE sample (
	attempt INTEGER NOT NULL REFERENCES attempt (id),
	idx INTEGER NOT NULL,      -- running number within the attempt
	metric INTEGER NOT NULL REFERENCES metric (id),
	iteration INTEGER NOT NULL,
	warmup INTEGER NOT NULL,   -- 1: kept apart, never in statistics
	monotonic_ns INTEGER NOT NULL,
	value REAL NOT NULL,
	PRIMARY KEY (attempt, idx)
) STRICT, WITHOUT ROWID;
INSERT INTO sample VALUES(100,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(100,1,1,1,0,10,99.0);
INSERT INTO sample VALUES(100,2,1,2,0,20,100.0);
INSERT INTO sample VALUES(100,3,1,3,0,30,101.0);
INSERT INTO sample VALUES(101,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(101,1,1,1,0,10,1099.0);
INSERT INTO sample VALUES(101,2,1,2,0,20,1100.0);
INSERT INTO sample VALUES(101,3,1,3,0,30,1101.0);
INSERT INTO sample VALUES(200,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(200,1,1,1,0,10,109.0);
INSERT INTO sample VALUES(200,2,1,2,0,20,110.0);
INSERT INTO sample VALUES(200,3,1,3,0,30,111.0);
INSERT INTO sample VALUES(201,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(201,1,1,1,0,10,1109.0);
INSERT INTO sample VALUES(201,2,1,2,0,20,1110.0);
INSERT INTO sample VALUES(201,3,1,3,0,30,1111.0);
INSERT INTO sample VALUES(300,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(300,1,1,1,0,10,113.0);
INSERT INTO sample VALUES(300,2,1,2,0,20,114.0);
INSERT INTO sample VALUES(300,3,1,3,0,30,115.0);
INSERT INTO sample VALUES(301,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(301,1,1,1,0,10,1113.0);
INSERT INTO sample VALUES(301,2,1,2,0,20,1114.0);
INSERT INTO sample VALUES(301,3,1,3,0,30,1115.0);
INSERT INTO sample VALUES(400,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(400,1,1,1,0,10,101.0);
INSERT INTO sample VALUES(400,2,1,2,0,20,102.0);
INSERT INTO sample VALUES(400,3,1,3,0,30,103.0);
INSERT INTO sample VALUES(401,0,1,1,1,10,1000000.0);
INSERT INTO sample VALUES(401,1,1,1,0,10,1101.0);
INSERT INTO sample VALUES(401,2,1,2,0,20,1102.0);
INSERT INTO sample VALUES(401,3,1,3,0,30,1103.0);
INSERT INTO sample VALUES(500,0,1,1,0,10,7777.0);
INSERT INTO sample VALUES(500,1,1,2,0,20,7778.0);
INSERT INTO sample VALUES(500,2,1,3,0,30,7779.0);
CREATE TABLE log (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL REFERENCES boot (id),
	attempt INTEGER REFERENCES attempt (id),
	stream TEXT NOT NULL,
	data BLOB NOT NULL,
	dropped_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO log VALUES(1,1,100,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(2,1,101,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(3,2,200,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(4,2,201,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(5,3,300,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(6,3,301,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(7,4,400,'stdout',X'7261746520310a',0);
INSERT INTO log VALUES(8,4,401,'stdout',X'7261746520310a',0);
CREATE TABLE late_record (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL,
	lease_epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	received_ns INTEGER NOT NULL,
	record BLOB NOT NULL,
	UNIQUE (boot, lease_epoch, seq)
) STRICT;
INSERT INTO late_record VALUES(1,5,7,9,1000,X'08051007180920f50362250a1608001204726174651a046f702f73220668696768657212076e65747065726612022d6c');
CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	time_ns INTEGER NOT NULL,
	machine TEXT,
	job INTEGER,
	boot INTEGER,
	kind TEXT NOT NULL,        -- 'stage', 'connect', 'lost', 'fault', 'settle', ...
	text TEXT NOT NULL
) STRICT;
INSERT INTO event VALUES(1,0,'m1',1,5,'settle','old/full netperf seconds=1 size=64, block 3: fail: exit 1');
INSERT INTO event VALUES(2,0,'m1',1,5,'settle','old/full netperf seconds=1 size=1024, block 3: infra: power');
INSERT INTO event VALUES(3,0,'m1',1,NULL,'settle','new/full netperf seconds=1 size=64, block 3: boot-hang: no heartbeat');
INSERT INTO event VALUES(4,0,'m1',1,NULL,'settle','new/full netperf seconds=1 size=1024, block 3: boot-hang: no heartbeat');
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('sample','sample','35 4 1');
INSERT INTO sqlite_stat1 VALUES('slot','slot_job','16 8 4');
INSERT INTO sqlite_stat1 VALUES('slot','sqlite_autoindex_slot_1','16 2 1');
INSERT INTO sqlite_stat1 VALUES('boot','boot_job','5 5');
INSERT INTO sqlite_stat1 VALUES('attempt','attempt_boot','10 2');
INSERT INTO sqlite_stat1 VALUES('attempt','attempt_slot','10 1');
CREATE INDEX slot_job ON slot (job, outcome);
CREATE INDEX boot_open ON boot (machine) WHERE outcome IS NULL;
CREATE INDEX boot_job ON boot (job);
CREATE INDEX attempt_slot ON attempt (slot);
CREATE INDEX attempt_boot ON attempt (boot);
CREATE INDEX log_attempt ON log (attempt);
CREATE INDEX log_boot ON log (boot);
CREATE INDEX event_machine ON event (machine, id);
CREATE INDEX event_job ON event (job, id);
PRAGMA application_id=1801941604;
PRAGMA user_version=1;
COMMIT;
