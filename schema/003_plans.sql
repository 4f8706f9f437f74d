-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 3: submitters, stop rules and budgets, settings and roles, reservations, standing jobs.

ALTER TABLE job ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN blocks_min INTEGER NOT NULL DEFAULT 0; -- 0: no stop rule
ALTER TABLE job ADD COLUMN until_pct REAL NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN budget_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN queue_timeout_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN hop_s INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN standing INTEGER; -- that made it; its row may be gone
ALTER TABLE job ADD COLUMN queued_ns INTEGER NOT NULL DEFAULT 0; -- realtime: submitted, or queued again
-- JSON array of {machine, machines, outcome, reason, slots, least, most, time_ns}: what ended slots
-- before they ran; machine null: everywhere; least, most: blocks that the machines had made by then.
ALTER TABLE job ADD COLUMN stops TEXT NOT NULL DEFAULT '[]';
UPDATE job SET queued_ns = submitted_ns;

CREATE TABLE job_file (
	job INTEGER NOT NULL REFERENCES job (id),
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_after (
	job INTEGER NOT NULL REFERENCES job (id),
	before INTEGER NOT NULL REFERENCES job (id), -- must be over
	PRIMARY KEY (job, before)
) STRICT, WITHOUT ROWID;

-- Requests of a job that give the same list as another one: one boot, one cell.
CREATE TABLE job_merge (
	job INTEGER NOT NULL REFERENCES job (id),
	machine TEXT NOT NULL,
	kernel TEXT NOT NULL REFERENCES kernel (digest),
	lsm TEXT NOT NULL,         -- label
	same_as TEXT NOT NULL,     -- label under which it is shown
	effective TEXT NOT NULL,   -- both; differs where a command line that varies changes the list
	PRIMARY KEY (job, machine, kernel, lsm, same_as, effective)
) STRICT, WITHOUT ROWID;

ALTER TABLE cell ADD COLUMN number INTEGER NOT NULL DEFAULT 0; -- within the job, from 1
ALTER TABLE cell ADD COLUMN variant TEXT NOT NULL DEFAULT '';  -- command line and settings that vary
ALTER TABLE cell ADD COLUMN settings TEXT NOT NULL DEFAULT ''; -- 'governor=performance; thp=never'
ALTER TABLE cell ADD COLUMN peer TEXT NOT NULL DEFAULT '';     -- machine of the server
ALTER TABLE cell ADD COLUMN canary INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell ADD COLUMN leave_by_reboot INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell ADD COLUMN run_s INTEGER NOT NULL DEFAULT 0;
UPDATE cell SET number = n.number FROM
	(SELECT id, row_number() OVER (PARTITION BY job ORDER BY id) AS number FROM cell) AS n
	WHERE n.id = cell.id;
CREATE UNIQUE INDEX cell_number ON cell (job, number);
-- What a machine has run before, newest digest first: for estimates.
CREATE INDEX cell_subject ON cell (machine, workload, workload_digest, params);

ALTER TABLE boot ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE boot ADD COLUMN role TEXT NOT NULL DEFAULT '' CHECK (role IN ('', 'client', 'server'));
ALTER TABLE boot ADD COLUMN peer TEXT NOT NULL DEFAULT '';
ALTER TABLE boot ADD COLUMN pair INTEGER; -- boot of the other side
CREATE INDEX boot_machine ON boot (machine, epoch) WHERE outcome IS NOT NULL; -- open ones: boot_open
CREATE INDEX boot_ended ON boot (ended_ns);

ALTER TABLE machine ADD COLUMN service TEXT NOT NULL DEFAULT 'normal'
	CHECK (service IN ('normal', 'drain', 'maintenance'));
ALTER TABLE machine ADD COLUMN service_why TEXT;
ALTER TABLE machine ADD COLUMN reserved_by TEXT;
ALTER TABLE machine ADD COLUMN reserved_why TEXT;
ALTER TABLE machine ADD COLUMN reserved_until_ns INTEGER;

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
