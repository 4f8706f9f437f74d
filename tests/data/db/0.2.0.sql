-- A database as kgrid 0.2.0 made it (sqlite3 .dump; the two pragmas at the end are not part of that).
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
INSERT INTO machine VALUES(1,'m1',9,1796000000000000000,'s1','GenuineIntel','Intel Xeon 6140','real',X'0a0c47656e75696e65496e74656c1006185520042a0f496e74656c2058656f6e2036313430380462047265616c');
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
, kind TEXT NOT NULL DEFAULT 'job'
	CHECK (kind IN ('job', 'confirm', 'calibrate')), regression INTEGER) STRICT;
INSERT INTO job VALUES(1,'demo',replace('name: demo\n','\n',char(10)),'demo.yaml',NULL,'done',50,'interleaved',-81985529216486896,6,'["''foo'' is not built in"]',100,1796000080000000000,'job',NULL);
INSERT INTO job VALUES(2,'demo',replace('name: demo\n','\n',char(10)),'demo.yaml',NULL,'running',50,'interleaved',-81985529216486896,2,'["''foo'' is not built in"]',100,NULL,'job',NULL);
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
INSERT INTO slot VALUES(1,1,1,1,1,1,1,'pass',NULL,100);
INSERT INTO slot VALUES(2,1,2,1,1,2,1,'pass',NULL,101);
INSERT INTO slot VALUES(3,1,3,1,2,1,1,'pass',NULL,200);
INSERT INTO slot VALUES(4,1,4,1,2,2,1,'pass',NULL,201);
INSERT INTO slot VALUES(5,1,1,2,3,1,1,'pass',NULL,300);
INSERT INTO slot VALUES(6,1,2,2,3,2,1,'pass',NULL,301);
INSERT INTO slot VALUES(7,1,3,2,4,1,1,'pass',NULL,400);
INSERT INTO slot VALUES(8,1,4,2,4,2,1,'pass',NULL,401);
INSERT INTO slot VALUES(9,1,1,3,5,1,1,'pass',NULL,500);
INSERT INTO slot VALUES(10,1,2,3,5,2,1,'pass',NULL,501);
INSERT INTO slot VALUES(11,1,3,3,6,1,1,'pass',NULL,600);
INSERT INTO slot VALUES(12,1,4,3,6,2,1,'pass',NULL,601);
INSERT INTO slot VALUES(13,1,1,4,7,1,1,'pass',NULL,700);
INSERT INTO slot VALUES(14,1,2,4,7,2,1,'pass',NULL,701);
INSERT INTO slot VALUES(15,1,3,4,8,1,1,'pass',NULL,800);
INSERT INTO slot VALUES(16,1,4,4,8,2,1,'pass',NULL,801);
INSERT INTO slot VALUES(17,1,1,5,9,1,1,'pass',NULL,900);
INSERT INTO slot VALUES(18,1,2,5,9,2,1,'pass',NULL,901);
INSERT INTO slot VALUES(19,1,3,5,10,1,1,'pass',NULL,1000);
INSERT INTO slot VALUES(20,1,4,5,10,2,1,'pass',NULL,1001);
INSERT INTO slot VALUES(21,1,1,6,11,1,1,'pass',NULL,1100);
INSERT INTO slot VALUES(22,1,2,6,11,2,1,'pass',NULL,1101);
INSERT INTO slot VALUES(23,1,3,6,12,1,1,'pass',NULL,1200);
INSERT INTO slot VALUES(24,1,4,6,12,2,1,'pass',NULL,1201);
INSERT INTO slot VALUES(25,2,5,1,1,1,1,'infra','power lost',NULL);
INSERT INTO slot VALUES(26,2,6,1,1,2,1,NULL,'power lost',NULL);
INSERT INTO slot VALUES(27,2,7,1,2,1,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(28,2,8,1,2,2,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(29,2,5,2,3,1,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(30,2,6,2,3,2,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(31,2,7,2,4,1,0,NULL,NULL,NULL);
INSERT INTO slot VALUES(32,2,8,2,4,2,0,NULL,NULL,NULL);
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
, epoch INTEGER) STRICT;
INSERT INTO boot VALUES(1,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000000000000000,1796000004000000000,1);
INSERT INTO boot VALUES(2,1,'m1',1,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000005000000000,1796000009000000000,1);
INSERT INTO boot VALUES(3,1,'m1',2,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000010000000000,1796000014000000000,1);
INSERT INTO boot VALUES(4,1,'m1',2,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000015000000000,1796000019000000000,1);
INSERT INTO boot VALUES(5,1,'m1',3,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000020000000000,1796000024000000000,1);
INSERT INTO boot VALUES(6,1,'m1',3,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000025000000000,1796000029000000000,1);
INSERT INTO boot VALUES(7,1,'m1',4,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000030000000000,1796000034000000000,1);
INSERT INTO boot VALUES(8,1,'m1',4,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000035000000000,1796000039000000000,1);
INSERT INTO boot VALUES(9,1,'m1',5,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000040000000000,1796000044000000000,1);
INSERT INTO boot VALUES(10,1,'m1',5,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000045000000000,1796000049000000000,1);
INSERT INTO boot VALUES(11,1,'m1',6,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000050000000000,1796000054000000000,1);
INSERT INTO boot VALUES(12,1,'m1',6,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,8,NULL,NULL,'pass',NULL,1796000055000000000,1796000059000000000,1);
INSERT INTO boot VALUES(13,2,'m1',1,1,7,'00112233445566778899aabbccddeeff','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','apparmor','capability,apparmor','lsm=apparmor','dispatch',NULL,NULL,NULL,2,NULL,NULL,'infra','power lost',1796000095000000000,1796000100000000000,2);
INSERT INTO boot VALUES(14,2,'m1',1,1,7,'00112233445566778899aabbccddeeff','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','apparmor','capability,apparmor','lsm=apparmor','dispatch',1000,'host-1',2000,2,NULL,NULL,NULL,NULL,1796000101000000000,NULL,NULL);
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
INSERT INTO provenance VALUES(6,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(7,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(8,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(9,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(10,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(11,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(12,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(13,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
INSERT INTO provenance VALUES(14,1,NULL,NULL,'6.1.0',NULL,NULL,'capability,apparmor',NULL,NULL,'GenuineIntel',NULL,NULL,NULL,NULL,NULL,'{"governor":"say \"performance\""}');
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
INSERT INTO attempt VALUES(300,5,3,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(301,6,3,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(400,7,4,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(401,8,4,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(500,9,5,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(501,10,5,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(600,11,6,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(601,12,6,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(700,13,7,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(701,14,7,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(800,15,8,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(801,16,8,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(900,17,9,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(901,18,9,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1000,19,10,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1001,20,10,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1100,21,11,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1101,22,11,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1200,23,12,1,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1201,24,12,2,'["netperf","-l"]','pass',NULL,NULL,NULL,3,12345,1000,1000);
INSERT INTO attempt VALUES(1300,25,13,1,NULL,'infra','power lost',NULL,NULL,0,NULL,NULL,1796000100000000000);
INSERT INTO attempt VALUES(1301,26,13,2,NULL,'infra','power lost',NULL,NULL,0,NULL,NULL,1796000100000000000);
INSERT INTO attempt VALUES(1400,27,14,1,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO attempt VALUES(1401,28,14,2,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL);
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
	metric INTEGER NOT NULL REFERENCES metric (id), min_effect_pct REAL,
	PRIMARY KEY (attempt, local_id)
) STRICT, WITHOUT ROWID;
INSERT INTO attempt_metric VALUES(100,0,1,NULL);
INSERT INTO attempt_metric VALUES(101,0,1,NULL);
INSERT INTO attempt_metric VALUES(200,0,1,NULL);
INSERT INTO attempt_metric VALUES(201,0,1,NULL);
INSERT INTO attempt_metric VALUES(300,0,1,NULL);
INSERT INTO attempt_metric VALUES(301,0,1,NULL);
INSERT INTO attempt_metric VALUES(400,0,1,NULL);
INSERT INTO attempt_metric VALUES(401,0,1,NULL);
INSERT INTO attempt_metric VALUES(500,0,1,NULL);
INSERT INTO attempt_metric VALUES(501,0,1,NULL);
INSERT INTO attempt_metric VALUES(600,0,1,NULL);
INSERT INTO attempt_metric VALUES(601,0,1,NULL);
INSERT INTO attempt_metric VALUES(700,0,1,NULL);
INSERT INTO attempt_metric VALUES(701,0,1,NULL);
INSERT INTO attempt_metric VALUES(800,0,1,NULL);
INSERT INTO attempt_metric VALUES(801,0,1,NULL);
INSERT INTO attempt_metric VALUES(900,0,1,NULL);
INSERT INTO attempt_metric VALUES(901,0,1,NULL);
INSERT INTO attempt_metric VALUES(1000,0,1,NULL);
INSERT INTO attempt_metric VALUES(1001,0,1,NULL);
INSERT INTO attempt_metric VALUES(1100,0,1,NULL);
INSERT INTO attempt_metric VALUES(1101,0,1,NULL);
INSERT INTO attempt_metric VALUES(1200,0,1,NULL);
INSERT INTO attempt_metric VALUES(1201,0,1,NULL);
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
INSERT INTO sample VALUES(100,0,1,1,0,10,99.0);
INSERT INTO sample VALUES(100,1,1,2,0,20,100.0);
INSERT INTO sample VALUES(100,2,1,3,0,30,101.0);
INSERT INTO sample VALUES(101,0,1,1,0,10,199.0);
INSERT INTO sample VALUES(101,1,1,2,0,20,200.0);
INSERT INTO sample VALUES(101,2,1,3,0,30,201.0);
INSERT INTO sample VALUES(200,0,1,1,0,10,89.0);
INSERT INTO sample VALUES(200,1,1,2,0,20,90.0);
INSERT INTO sample VALUES(200,2,1,3,0,30,91.0);
INSERT INTO sample VALUES(201,0,1,1,0,10,189.0);
INSERT INTO sample VALUES(201,1,1,2,0,20,190.0);
INSERT INTO sample VALUES(201,2,1,3,0,30,191.0);
INSERT INTO sample VALUES(300,0,1,1,0,10,100.0);
INSERT INTO sample VALUES(300,1,1,2,0,20,101.0);
INSERT INTO sample VALUES(300,2,1,3,0,30,102.0);
INSERT INTO sample VALUES(301,0,1,1,0,10,200.0);
INSERT INTO sample VALUES(301,1,1,2,0,20,201.0);
INSERT INTO sample VALUES(301,2,1,3,0,30,202.0);
INSERT INTO sample VALUES(400,0,1,1,0,10,90.0);
INSERT INTO sample VALUES(400,1,1,2,0,20,91.0);
INSERT INTO sample VALUES(400,2,1,3,0,30,92.0);
INSERT INTO sample VALUES(401,0,1,1,0,10,190.0);
INSERT INTO sample VALUES(401,1,1,2,0,20,191.0);
INSERT INTO sample VALUES(401,2,1,3,0,30,192.0);
INSERT INTO sample VALUES(500,0,1,1,0,10,101.0);
INSERT INTO sample VALUES(500,1,1,2,0,20,102.0);
INSERT INTO sample VALUES(500,2,1,3,0,30,103.0);
INSERT INTO sample VALUES(501,0,1,1,0,10,201.0);
INSERT INTO sample VALUES(501,1,1,2,0,20,202.0);
INSERT INTO sample VALUES(501,2,1,3,0,30,203.0);
INSERT INTO sample VALUES(600,0,1,1,0,10,89.0);
INSERT INTO sample VALUES(600,1,1,2,0,20,90.0);
INSERT INTO sample VALUES(600,2,1,3,0,30,91.0);
INSERT INTO sample VALUES(601,0,1,1,0,10,189.0);
INSERT INTO sample VALUES(601,1,1,2,0,20,190.0);
INSERT INTO sample VALUES(601,2,1,3,0,30,191.0);
INSERT INTO sample VALUES(700,0,1,1,0,10,99.0);
INSERT INTO sample VALUES(700,1,1,2,0,20,100.0);
INSERT INTO sample VALUES(700,2,1,3,0,30,101.0);
INSERT INTO sample VALUES(701,0,1,1,0,10,199.0);
INSERT INTO sample VALUES(701,1,1,2,0,20,200.0);
INSERT INTO sample VALUES(701,2,1,3,0,30,201.0);
INSERT INTO sample VALUES(800,0,1,1,0,10,90.0);
INSERT INTO sample VALUES(800,1,1,2,0,20,91.0);
INSERT INTO sample VALUES(800,2,1,3,0,30,92.0);
INSERT INTO sample VALUES(801,0,1,1,0,10,190.0);
INSERT INTO sample VALUES(801,1,1,2,0,20,191.0);
INSERT INTO sample VALUES(801,2,1,3,0,30,192.0);
INSERT INTO sample VALUES(900,0,1,1,0,10,100.0);
INSERT INTO sample VALUES(900,1,1,2,0,20,101.0);
INSERT INTO sample VALUES(900,2,1,3,0,30,102.0);
INSERT INTO sample VALUES(901,0,1,1,0,10,200.0);
INSERT INTO sample VALUES(901,1,1,2,0,20,201.0);
INSERT INTO sample VALUES(901,2,1,3,0,30,202.0);
INSERT INTO sample VALUES(1000,0,1,1,0,10,89.0);
INSERT INTO sample VALUES(1000,1,1,2,0,20,90.0);
INSERT INTO sample VALUES(1000,2,1,3,0,30,91.0);
INSERT INTO sample VALUES(1001,0,1,1,0,10,189.0);
INSERT INTO sample VALUES(1001,1,1,2,0,20,190.0);
INSERT INTO sample VALUES(1001,2,1,3,0,30,191.0);
INSERT INTO sample VALUES(1100,0,1,1,0,10,101.0);
INSERT INTO sample VALUES(1100,1,1,2,0,20,102.0);
INSERT INTO sample VALUES(1100,2,1,3,0,30,103.0);
INSERT INTO sample VALUES(1101,0,1,1,0,10,201.0);
INSERT INTO sample VALUES(1101,1,1,2,0,20,202.0);
INSERT INTO sample VALUES(1101,2,1,3,0,30,203.0);
INSERT INTO sample VALUES(1200,0,1,1,0,10,90.0);
INSERT INTO sample VALUES(1200,1,1,2,0,20,91.0);
INSERT INTO sample VALUES(1200,2,1,3,0,30,92.0);
INSERT INTO sample VALUES(1201,0,1,1,0,10,190.0);
INSERT INTO sample VALUES(1201,1,1,2,0,20,191.0);
INSERT INTO sample VALUES(1201,2,1,3,0,30,192.0);
CREATE TABLE log (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL REFERENCES boot (id),
	attempt INTEGER REFERENCES attempt (id),
	stream TEXT NOT NULL,
	data BLOB NOT NULL,
	dropped_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE late_record (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL,
	lease_epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	received_ns INTEGER NOT NULL,
	record BLOB NOT NULL,
	UNIQUE (boot, lease_epoch, seq)
) STRICT;
CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	time_ns INTEGER NOT NULL,
	machine TEXT,
	job INTEGER,
	boot INTEGER,
	kind TEXT NOT NULL,        -- 'stage', 'connect', 'lost', 'fault', 'settle', ...
	text TEXT NOT NULL
) STRICT;
INSERT INTO event VALUES(1,1000,'m1',2,13,'epoch','epoch 2: cpu.microcode 0x1 -> 0x2');
INSERT INTO event VALUES(2,1796000100000000000,'m1',2,NULL,'settle','old/full netperf seconds=1 size=64, block 1: infra: power lost');
INSERT INTO event VALUES(3,1796000100000000000,'m1',2,NULL,'settle','old/full netperf seconds=1 size=1024, block 1: tried in vain: power lost');
CREATE TABLE fact_set (
	digest TEXT PRIMARY KEY,   -- SHA-256 of facts
	facts TEXT NOT NULL        -- JSON object, sorted by name; null: unsupported
) STRICT;
INSERT INTO fact_set VALUES('a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce','{"cpu.microcode":"0x1","cpu.name":"Intel Xeon 6140","cpu.vendor":"GenuineIntel","os":"debian 12"}');
INSERT INTO fact_set VALUES('a9c1710f993e0ee78dbdffc52c011e7e415d23241f9e1792c1146429a77d061f','{"cpu.microcode":"0x2","cpu.name":"Intel Xeon 6140","cpu.vendor":"GenuineIntel","os":"debian 12"}');
CREATE TABLE document (
	digest TEXT PRIMARY KEY,   -- SHA-256 of the text
	text_bytes INTEGER NOT NULL,
	stored BLOB NOT NULL       -- zstd
) STRICT;
INSERT INTO document VALUES('da58531cb395b5a237d4ba44ffd004245c6d06ca3868ea24d904cc9c8d44b061',18,X'28b52ffd2012910000434f4e4649475f53454355524954593d790a');
CREATE TABLE document_part (
	boot INTEGER NOT NULL REFERENCES boot (id),
	name TEXT NOT NULL,
	offset INTEGER NOT NULL,   -- in the zstd form; pieces follow on each other from 0
	data BLOB NOT NULL,
	PRIMARY KEY (boot, name, offset)
) STRICT, WITHOUT ROWID;
CREATE TABLE boot_document (
	boot INTEGER NOT NULL REFERENCES boot (id),
	name TEXT NOT NULL,
	digest TEXT NOT NULL REFERENCES document (digest),
	PRIMARY KEY (boot, name)
) STRICT, WITHOUT ROWID;
INSERT INTO boot_document VALUES(14,'config','da58531cb395b5a237d4ba44ffd004245c6d06ca3868ea24d904cc9c8d44b061');
CREATE TABLE boot_facts (
	boot INTEGER NOT NULL REFERENCES boot (id),
	attempt INTEGER NOT NULL,  -- 0: of the boot
	phase TEXT NOT NULL,       -- boot, before, after
	class TEXT NOT NULL,       -- machine, configuration, subject, volatile (common/facts.h)
	facts TEXT NOT NULL REFERENCES fact_set (digest),
	reasons TEXT,              -- JSON object: why a fact is unsupported; NULL: nothing to say
	PRIMARY KEY (boot, attempt, phase, class)
) STRICT, WITHOUT ROWID;
INSERT INTO boot_facts VALUES(1,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(2,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(3,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(4,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(5,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(6,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(7,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(8,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(9,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(10,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(11,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(12,0,'boot','machine','a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce',NULL);
INSERT INTO boot_facts VALUES(13,0,'boot','machine','a9c1710f993e0ee78dbdffc52c011e7e415d23241f9e1792c1146429a77d061f',NULL);
CREATE TABLE epoch (
	machine TEXT NOT NULL,
	number INTEGER NOT NULL,   -- from 1
	started_ns INTEGER NOT NULL,
	first_boot INTEGER NOT NULL REFERENCES boot (id),
	-- Of class machine: those of the first boot, and what later boots added under new names.
	facts TEXT NOT NULL REFERENCES fact_set (digest),
	changes TEXT NOT NULL,     -- JSON array of {name, a, b} against the epoch before
	PRIMARY KEY (machine, number)
) STRICT, WITHOUT ROWID;
INSERT INTO epoch VALUES('m1',1,1000,1,'a6a47dfca6a859ebd806bf47300e9fe550c06c08b5fed7667ade2f8ecd5c58ce','[]');
INSERT INTO epoch VALUES('m1',2,1000,13,'a9c1710f993e0ee78dbdffc52c011e7e415d23241f9e1792c1146429a77d061f','[{"name":"cpu.microcode","a":"0x1","b":"0x2"}]');
CREATE TABLE regression (
	id INTEGER PRIMARY KEY,
	axis TEXT NOT NULL CHECK (axis IN ('kernel', 'lsm')),
	from_key TEXT NOT NULL,    -- digest of the kernel, or requested list
	to_key TEXT NOT NULL,
	from_label TEXT NOT NULL,
	to_label TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'fixed')),
	stage TEXT NOT NULL CHECK (stage IN ('candidate', 'confirming', 'confirmed', 'refuted')),
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	seen INTEGER NOT NULL,     -- jobs that showed it
	confirm_job INTEGER REFERENCES job (id),
	UNIQUE (axis, from_key, to_key)
) STRICT;
INSERT INTO regression VALUES(1,'kernel','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','old','new','open','candidate',1796000090000000000,1796000090000000000,1,NULL);
CREATE TABLE regression_member (
	regression INTEGER NOT NULL REFERENCES regression (id),
	machine TEXT NOT NULL,
	workload TEXT NOT NULL,
	params TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	kernel TEXT NOT NULL,      -- label, new side
	lsm TEXT NOT NULL,         -- label, new side
	source TEXT NOT NULL CHECK (source IN ('block', 'history')),
	job INTEGER REFERENCES job (id), -- newest that showed it
	before REAL NOT NULL,      -- medians, in unit
	after REAL NOT NULL,
	effect_pct REAL NOT NULL,  -- positive is better
	lo_pct REAL,
	hi_pct REAL,
	p REAL,
	q REAL,
	boots_before INTEGER NOT NULL,
	boots_after INTEGER NOT NULL,
	stage TEXT NOT NULL CHECK (stage IN ('candidate', 'confirmed', 'refuted')),
	confirm_p REAL,            -- one-sided, fresh blocks alone
	confirm_machine TEXT,      -- the second machine that showed it
	PRIMARY KEY (regression, machine, workload, params, metric, unit, kernel, lsm, source)
) STRICT, WITHOUT ROWID;
INSERT INTO regression_member VALUES(1,'m1','netperf','seconds=1 size=64','rate','op/s','new','full','block',1,101.0,90.0,-10.900000000000000354,-12.0,-9.5,0.0040000000000000000832,0.0080000000000000001665,6,6,'candidate',NULL,NULL);
CREATE TABLE regression_job (
	regression INTEGER NOT NULL REFERENCES regression (id),
	job INTEGER NOT NULL REFERENCES job (id),
	PRIMARY KEY (regression, job)
) STRICT, WITHOUT ROWID;
INSERT INTO regression_job VALUES(1,1);
CREATE TABLE regression_event (
	id INTEGER PRIMARY KEY,
	regression INTEGER NOT NULL REFERENCES regression (id),
	time_ns INTEGER NOT NULL,
	user TEXT,                 -- NULL: kgrid itself
	text TEXT NOT NULL
) STRICT;
INSERT INTO regression_event VALUES(1,1,1796000090000000000,NULL,'job 1 shows it');
CREATE TABLE detection (
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	block INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	PRIMARY KEY (job, machine, block)
) STRICT, WITHOUT ROWID;
INSERT INTO detection VALUES(1,'m1',1,1796000091000000000);
INSERT INTO detection VALUES(1,'m1',2,1796000091000000000);
INSERT INTO detection VALUES(1,'m1',3,1796000091000000000);
INSERT INTO detection VALUES(1,'m1',4,1796000091000000000);
INSERT INTO detection VALUES(1,'m1',5,1796000091000000000);
INSERT INTO detection VALUES(1,'m1',6,1796000091000000000);
CREATE TABLE notice (
	id INTEGER PRIMARY KEY,
	regression INTEGER NOT NULL REFERENCES regression (id),
	target TEXT NOT NULL,      -- mail:ADDRESS or command:NAME
	text TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed')),
	reason TEXT,
	time_ns INTEGER NOT NULL
) STRICT;
INSERT INTO notice VALUES(1,1,'mail:team@example.org','regression 1','pending',NULL,1796000092000000000);
CREATE TABLE recurring (
	machine TEXT PRIMARY KEY,
	request BLOB NOT NULL,     -- kgrid.v1.CalibrateRequest
	every_ns INTEGER NOT NULL,
	next_ns INTEGER NOT NULL,  -- realtime
	last_job INTEGER REFERENCES job (id)
) STRICT;
INSERT INTO recurring VALUES('m1',X'',86400000000000,1796086400000000000,NULL);
CREATE TABLE import (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	text TEXT NOT NULL,        -- CSV as given
	added_ns INTEGER NOT NULL
) STRICT;
INSERT INTO import VALUES(1,'field',replace('machine,value\n','\n',char(10)),1796000000000000000);
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('sample','sample','72 3 1');
INSERT INTO sqlite_stat1 VALUES('job','job_kind','2 2');
INSERT INTO sqlite_stat1 VALUES('job','sqlite_autoindex_job_1','2 2');
INSERT INTO sqlite_stat1 VALUES('slot','slot_job','32 16 11');
INSERT INTO sqlite_stat1 VALUES('slot','sqlite_autoindex_slot_1','32 4 1');
INSERT INTO sqlite_stat1 VALUES('boot_facts','boot_facts_set','13 7');
INSERT INTO sqlite_stat1 VALUES('boot_facts','boot_facts','13 1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('boot','boot_configuration','14 7 7 4');
INSERT INTO sqlite_stat1 VALUES('boot','boot_job','14 7');
INSERT INTO sqlite_stat1 VALUES('boot','boot_open','1 1');
INSERT INTO sqlite_stat1 VALUES('epoch','epoch','2 2 1');
INSERT INTO sqlite_stat1 VALUES('attempt','attempt_boot','28 2');
INSERT INTO sqlite_stat1 VALUES('attempt','attempt_slot','28 1');
CREATE INDEX slot_job ON slot (job, outcome);
CREATE INDEX boot_open ON boot (machine) WHERE outcome IS NULL;
CREATE INDEX boot_job ON boot (job);
CREATE INDEX attempt_slot ON attempt (slot);
CREATE INDEX attempt_boot ON attempt (boot);
CREATE INDEX log_attempt ON log (attempt);
CREATE INDEX log_boot ON log (boot);
CREATE INDEX event_machine ON event (machine, id);
CREATE INDEX event_job ON event (job, id);
CREATE INDEX boot_facts_set ON boot_facts (facts);
CREATE INDEX boot_configuration ON boot (kernel, machine, epoch);
CREATE INDEX job_kind ON job (kind);
CREATE INDEX cell_identity ON cell (identity);
CREATE INDEX regression_event_of ON regression_event (regression, id);
CREATE INDEX notice_pending ON notice (state) WHERE state = 'pending';
PRAGMA application_id=1801941604;
PRAGMA user_version=2;
COMMIT;
