-- SPDX-License-Identifier: GPL-2.0-or-later
-- What the migrations make, for review. Not read by the program.

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

CREATE INDEX attempt_boot ON attempt (boot);

CREATE INDEX attempt_slot ON attempt (slot);

CREATE TABLE attempt_metric (
	attempt INTEGER NOT NULL REFERENCES attempt (id),
	local_id INTEGER NOT NULL,
	metric INTEGER NOT NULL REFERENCES metric (id), min_effect_pct REAL,
	PRIMARY KEY (attempt, local_id)
) STRICT, WITHOUT ROWID;

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
, epoch INTEGER, settings TEXT NOT NULL DEFAULT '', role TEXT NOT NULL DEFAULT '' CHECK (role IN ('', 'client', 'server')), peer TEXT NOT NULL DEFAULT '', pair INTEGER) STRICT;

CREATE INDEX boot_configuration ON boot (kernel, machine, epoch);

CREATE INDEX boot_ended ON boot (ended_ns);

CREATE INDEX boot_job ON boot (job);

CREATE INDEX boot_machine ON boot (machine, epoch) WHERE outcome IS NOT NULL;

CREATE INDEX boot_open ON boot (machine) WHERE outcome IS NULL;

CREATE TABLE boot_document (
	boot INTEGER NOT NULL REFERENCES boot (id),
	name TEXT NOT NULL,
	digest TEXT NOT NULL REFERENCES document (digest),
	PRIMARY KEY (boot, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE boot_facts (
	boot INTEGER NOT NULL REFERENCES boot (id),
	attempt INTEGER NOT NULL,  -- 0: of the boot
	phase TEXT NOT NULL,       -- boot, before, after
	class TEXT NOT NULL,       -- machine, configuration, subject, volatile (common/facts.h)
	facts TEXT NOT NULL REFERENCES fact_set (digest),
	reasons TEXT,              -- JSON object: why a fact is unsupported; NULL: nothing to say
	PRIMARY KEY (boot, attempt, phase, class)
) STRICT, WITHOUT ROWID;

CREATE INDEX boot_facts_set ON boot_facts (facts);

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
	workload_order INTEGER NOT NULL, number INTEGER NOT NULL DEFAULT 0, variant TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '', peer TEXT NOT NULL DEFAULT '', canary INTEGER NOT NULL DEFAULT 0, leave_by_reboot INTEGER NOT NULL DEFAULT 0, run_s INTEGER NOT NULL DEFAULT 0,
	UNIQUE (job, identity)
) STRICT;

CREATE INDEX cell_identity ON cell (identity);

CREATE UNIQUE INDEX cell_number ON cell (job, number);

CREATE INDEX cell_subject ON cell (machine, workload, workload_digest, params);

CREATE TABLE detection (
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	block INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	PRIMARY KEY (job, machine, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE document (
	digest TEXT PRIMARY KEY,   -- SHA-256 of the text
	text_bytes INTEGER NOT NULL,
	stored BLOB NOT NULL       -- zstd
) STRICT;

CREATE TABLE document_part (
	boot INTEGER NOT NULL REFERENCES boot (id),
	name TEXT NOT NULL,
	offset INTEGER NOT NULL,   -- in the zstd form; pieces follow on each other from 0
	data BLOB NOT NULL,
	PRIMARY KEY (boot, name, offset)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	time_ns INTEGER NOT NULL,
	machine TEXT,
	job INTEGER,
	boot INTEGER,
	kind TEXT NOT NULL,        -- 'stage', 'connect', 'lost', 'fault', 'settle', ...
	text TEXT NOT NULL
) STRICT;

CREATE INDEX event_job ON event (job, id);

CREATE INDEX event_machine ON event (machine, id);

CREATE TABLE fact_set (
	digest TEXT PRIMARY KEY,   -- SHA-256 of facts
	facts TEXT NOT NULL        -- JSON object, sorted by name; null: unsupported
) STRICT;

CREATE TABLE import (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	text TEXT NOT NULL,        -- CSV as given
	added_ns INTEGER NOT NULL
) STRICT;

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
	CHECK (kind IN ('job', 'confirm', 'calibrate')), regression INTEGER, user TEXT NOT NULL DEFAULT '', paused INTEGER NOT NULL DEFAULT 0, blocks_min INTEGER NOT NULL DEFAULT 0, until_pct REAL NOT NULL DEFAULT 0, budget_ns INTEGER NOT NULL DEFAULT 0, queue_timeout_ns INTEGER NOT NULL DEFAULT 0, hop_s INTEGER NOT NULL DEFAULT 0, standing INTEGER, queued_ns INTEGER NOT NULL DEFAULT 0, stops TEXT NOT NULL DEFAULT '[]') STRICT;

CREATE INDEX job_kind ON job (kind);

CREATE TABLE job_after (
	job INTEGER NOT NULL REFERENCES job (id),
	before INTEGER NOT NULL REFERENCES job (id), -- must be over
	PRIMARY KEY (job, before)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_file (
	job INTEGER NOT NULL REFERENCES job (id),
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_merge (
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	kernel TEXT NOT NULL REFERENCES kernel (digest),
	lsm TEXT NOT NULL,         -- label
	same_as TEXT NOT NULL,     -- label under which it is shown
	effective TEXT NOT NULL,   -- both; differs where a command line that varies changes the list
	PRIMARY KEY (job, machine, kernel, lsm, same_as, effective)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE late_record (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL,
	lease_epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	received_ns INTEGER NOT NULL,
	record BLOB NOT NULL,
	UNIQUE (boot, lease_epoch, seq)
) STRICT;

CREATE TABLE log (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL REFERENCES boot (id),
	attempt INTEGER REFERENCES attempt (id),
	stream TEXT NOT NULL,
	data BLOB NOT NULL,
	dropped_bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX log_attempt ON log (attempt);

CREATE INDEX log_boot ON log (boot);

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
, service TEXT NOT NULL DEFAULT 'normal'
	CHECK (service IN ('normal', 'drain', 'maintenance')), service_why TEXT, reserved_by TEXT, reserved_why TEXT, reserved_until_ns INTEGER) STRICT;

CREATE TABLE metric (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	direction TEXT NOT NULL CHECK (direction IN ('higher', 'lower', 'none')),
	UNIQUE (name, unit, direction)
) STRICT;

CREATE TABLE notice (
	id INTEGER PRIMARY KEY,
	regression INTEGER NOT NULL REFERENCES regression (id),
	target TEXT NOT NULL,      -- mail:ADDRESS or command:NAME
	text TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed')),
	reason TEXT,
	time_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX notice_pending ON notice (state) WHERE state = 'pending';

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

CREATE TABLE recurring (
	machine TEXT PRIMARY KEY,
	request BLOB NOT NULL,     -- kgrid.v1.CalibrateRequest
	every_ns INTEGER NOT NULL,
	next_ns INTEGER NOT NULL,  -- realtime
	last_job INTEGER REFERENCES job (id)
) STRICT;

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

CREATE TABLE regression_event (
	id INTEGER PRIMARY KEY,
	regression INTEGER NOT NULL REFERENCES regression (id),
	time_ns INTEGER NOT NULL,
	user TEXT,                 -- NULL: kgrid itself
	text TEXT NOT NULL
) STRICT;

CREATE INDEX regression_event_of ON regression_event (regression, id);

CREATE TABLE regression_job (
	regression INTEGER NOT NULL REFERENCES regression (id),
	job INTEGER NOT NULL REFERENCES job (id),
	PRIMARY KEY (regression, job)
) STRICT, WITHOUT ROWID;

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

CREATE INDEX slot_job ON slot (job, outcome);

CREATE TABLE standing (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	user TEXT NOT NULL,
	text TEXT NOT NULL,
	file_name TEXT NOT NULL,
	due TEXT NOT NULL CHECK (due IN ('kernel added', 'nightly')),
	minute INTEGER NOT NULL,   -- nightly: of the day, local time
	next_ns INTEGER NOT NULL,  -- nightly: realtime
	added_ns INTEGER NOT NULL,
	last_job INTEGER REFERENCES job (id),
	last_error TEXT
) STRICT;

CREATE TABLE standing_file (
	standing INTEGER NOT NULL REFERENCES standing (id) ON DELETE CASCADE,
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (standing, position)
) STRICT, WITHOUT ROWID;
