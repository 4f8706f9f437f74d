#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGKILL of the coordinator and of the agent in the middle of runs: each slot ends in exactly one
# outcome, every one of them passes in the end, and no sample is there twice.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >"$WORK/job.yaml" <<YAML
name: killed
machines: [lab-amd]
kernels: [6.12]
lsm: {short: "landlock,lockdown,yama"}
workloads:
  - perf-bench: {test: syscall-basic, loops: [2000000, 2000001, 2000002]}
canary: none
repeat: {boots: 1, iterations: 3}
YAML

running() { [[ $(query "SELECT count(*) FROM boot WHERE outcome IS NULL AND stage = 'run'") == 1 ]]; }
samples() { query "SELECT count(*) FROM sample WHERE warmup = 0"; }
some_samples() { (($(samples) >= $1)); }

# The agent's pid is not ours to know: the guest's console takes a command.
# shellcheck disable=SC2016 # the guest's shell expands it
kill_agent() { "$LAB" exec lab-amd --dir "$LAB_DIR" 'kill -9 $(pidof kgrid-agent)'; }

grid_start amd
job=$(submit "$WORK/job.yaml")
[[ -n $job ]] || fail 'the job was not accepted'

wait_until 300 'a run gives its first sample' some_samples 1
port=$(coordinator_port)
coordinator_kill KILL
note "coordinator killed after $(samples) samples"
coordinator_start "$port"

wait_until 300 'the second run gives samples' some_samples 4
kill_agent
note "agent killed after $(samples) samples"

wait_until 900 "job $job ends" job_ended "$job"
assert_equal 'slots by outcome' 'pass|3' \
	"$(query "SELECT outcome, count(*) FROM slot WHERE job = $job GROUP BY 1")"
assert_equal 'an attempt was lost with the agent' 1 \
	"$(query "SELECT count(*) FROM attempt WHERE outcome = 'infra'")"
assert_equal 'samples of the attempts that decided' 'time-per-operation|9' \
	"$(query "SELECT m.name, count(*) FROM sample s JOIN slot l ON l.attempt = s.attempt
		JOIN metric m ON m.id = s.metric WHERE s.warmup = 0 GROUP BY 1 ORDER BY 1 DESC" |
		paste -s -d ' ')"
assert_equal 'iterations that are there twice' 0 \
	"$(query "SELECT count(*) FROM (SELECT 1 FROM sample WHERE warmup = 0
		GROUP BY attempt, metric, iteration HAVING count(*) > 1)")"
assert_equal 'slots that the accounting misses' 0 \
	"$(query "SELECT (SELECT count(*) FROM slot WHERE job = $job) -
		(SELECT count(*) FROM slot WHERE job = $job AND outcome IS NOT NULL)")"
"$KGRID" job show "$job"
