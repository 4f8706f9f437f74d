-- SPDX-License-Identifier: GPL-2.0-or-later
-- Schema 2: provenance by content, epochs, regressions, calibration, imports.

-- Facts of one class at one moment. The same facts are one row.
CREATE TABLE fact_set (
	digest TEXT PRIMARY KEY,   -- SHA-256 of facts
	facts TEXT NOT NULL        -- JSON object, sorted by name; null: unsupported
) STRICT;

-- Long texts: config, sysctl, modules, packages, kallsyms. The same text is one row.
CREATE TABLE document (
	digest TEXT PRIMARY KEY,   -- SHA-256 of the text
	text_bytes INTEGER NOT NULL,
	stored BLOB NOT NULL       -- zstd
) STRICT;

-- Pieces of a document that has not come in whole; gone when it has, or when the boot ends.
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

-- A period in which a machine's fingerprint did not change.
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

ALTER TABLE boot ADD COLUMN epoch INTEGER;   -- NULL: not recorded
CREATE INDEX boot_configuration ON boot (kernel, machine, epoch);

-- Smallest change that matters, in percent, as the workload declares it; NULL: not declared.
ALTER TABLE attempt_metric ADD COLUMN min_effect_pct REAL;

ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT 'job'
	CHECK (kind IN ('job', 'confirm', 'calibrate'));
ALTER TABLE job ADD COLUMN regression INTEGER; -- kind confirm: what it tries
CREATE INDEX job_kind ON job (kind);
CREATE INDEX cell_identity ON cell (identity);

-- One item per cause candidate: a boundary, whatever shows it.
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

-- Jobs that showed it: one job neither counts twice nor brings back what was closed after it.
CREATE TABLE regression_job (
	regression INTEGER NOT NULL REFERENCES regression (id),
	job INTEGER NOT NULL REFERENCES job (id),
	PRIMARY KEY (regression, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE regression_event (
	id INTEGER PRIMARY KEY,
	regression INTEGER NOT NULL REFERENCES regression (id),
	time_ns INTEGER NOT NULL,
	user TEXT,                 -- NULL: kgrid itself
	text TEXT NOT NULL
) STRICT;
CREATE INDEX regression_event_of ON regression_event (regression, id);

-- Blocks whose comparison has been looked at, so that a restart neither misses nor repeats one.
CREATE TABLE detection (
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	block INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	PRIMARY KEY (job, machine, block)
) STRICT, WITHOUT ROWID;

-- What was measured before schema 2 is not looked at by itself: no boots are made for it.
INSERT INTO detection (job, machine, block, time_ns)
	SELECT DISTINCT slot.job, cell.machine, slot.block, coalesce(job.ended_ns, 0)
	FROM slot JOIN cell ON cell.id = slot.cell JOIN job ON job.id = slot.job
	WHERE job.state IN ('done', 'cancelled');

-- What is to be told to people; a row leaves 'pending' once.
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

-- A/A jobs that come again.
CREATE TABLE recurring (
	machine TEXT PRIMARY KEY,
	request BLOB NOT NULL,     -- kgrid.v1.CalibrateRequest
	every_ns INTEGER NOT NULL,
	next_ns INTEGER NOT NULL,  -- realtime
	last_job INTEGER REFERENCES job (id)
) STRICT;

CREATE TABLE import (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	text TEXT NOT NULL,        -- CSV as given
	added_ns INTEGER NOT NULL
) STRICT;
