#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sysctl of a job is applied and read back in each boot; what a machine cannot do is known before; a
# kernel under lockdown, which kexec cannot leave, comes last in its block and is left by a plain
# reboot, so that the next block runs.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LAB_OPTIONS=(--idle skip)
grid_start intel

cat >"$WORK/settings.yaml" <<'YAML'
name: settings
machines: [lab-intel]
kernels: [6.12]
lsm: {short: "landlock,lockdown,yama"}
cmdline: {vary: {open: "", locked: lockdown=confidentiality}}
settings: {sysctl: {vm.swappiness: 17}}
workloads:
  - perf-bench: {test: syscall-basic, loops: 1000}
canary: none
repeat: {boots: 2, iterations: 1}
YAML
"$KGRID" submit --dry-run "$WORK/settings.yaml"
job=$(submit "$WORK/settings.yaml")
[[ -n $job ]] || fail 'the job was not accepted'
wait_until 900 "job $job ends" job_ended "$job"
"$KGRID" job show "$job" --slots
assert_equal 'slots' 'pass|4' \
	"$(query "SELECT outcome, count(*) FROM slot WHERE job = $job GROUP BY 1")"
assert_equal 'the locked kernel comes last in each block' 'open,locked,open,locked' \
	"$(query "SELECT group_concat(v) FROM (SELECT c.variant AS v FROM slot s
		JOIN cell c ON c.id = s.cell WHERE s.job = $job ORDER BY s.visit)")"
assert_equal 'it was left by a plain reboot: the next boot is the first kexec again' 1 \
	"$(query "SELECT count(*) FROM boot b JOIN provenance p ON p.boot = b.id
		WHERE b.job = $job AND b.visit = 3 AND p.hops = 1")"
assert_equal 'the setting is in the facts of every boot' 4 "$(query "SELECT count(DISTINCT boot)
	FROM boot_facts f JOIN fact_set s ON s.digest = f.facts JOIN boot b ON b.id = f.boot
	WHERE b.job = $job AND s.facts LIKE '%swappiness%17%'" || true)"

cat >"$WORK/governor.yaml" <<'YAML'
name: governor
machines: [lab-intel]
kernels: [6.12]
settings: {governor: [performance, schedutil]}
workloads:
  - perf-bench: {test: syscall-basic, loops: 1000}
canary: none
repeat: {boots: 1, iterations: 1}
YAML
job=$(submit "$WORK/governor.yaml")
assert_equal 'a governor where there is none is infeasible' 'infeasible|2' \
	"$(query "SELECT outcome, count(*) FROM slot WHERE job = $job GROUP BY 1")"
"$KGRID" why "$job"
