#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sysctl of a job is applied and read back in each boot; what a machine cannot do is known before; a
# kernel under lockdown, which kexec cannot leave, comes last in its block and is left by a plain
# reboot, so that the next block runs. So is a kernel whose kexec somebody has switched off, once an
# order comes. The canary of each block repeats.
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
canary: {canary: {}}
repeat: {boots: 2, iterations: 3}
YAML
"$KGRID" submit --dry-run "$WORK/settings.yaml"
job=$(submit "$WORK/settings.yaml")
[[ -n $job ]] || fail 'the job was not accepted'
wait_until 900 "job $job ends" job_ended "$job"
"$KGRID" job show "$job" --slots
assert_equal 'slots, and canaries in both boots of both blocks' 'pass|8' \
	"$(query "SELECT outcome, count(*) FROM slot WHERE job = $job GROUP BY 1")"
assert_equal 'the locked kernel comes last in each block' 'open,locked,open,locked' \
	"$(query "SELECT group_concat(v) FROM (SELECT c.variant AS v FROM slot s
		JOIN cell c ON c.id = s.cell WHERE s.job = $job AND c.workload = 'perf-bench'
		ORDER BY s.visit)")"
assert_equal 'it was left by a plain reboot: the next boot is the first kexec again' 1 \
	"$(query "SELECT count(*) FROM boot b JOIN provenance p ON p.boot = b.id
		WHERE b.job = $job AND b.visit = 3 AND p.hops = 1")"
assert_equal 'the setting is in the facts of every boot' 4 "$(query "SELECT count(DISTINCT boot)
	FROM boot_facts f JOIN fact_set s ON s.digest = f.facts JOIN boot b ON b.id = f.boot
	WHERE b.job = $job AND s.facts LIKE '%swappiness%17%'" || true)"

# The middle one of three iterations in each boot, against each other.
assert_equal 'the canary repeats within 0.1 %, and takes about a second' '4|1|1' \
	"$(query "SELECT count(*), max(v) - min(v) < 0.001 * min(v), max(ns) < 2e9
	FROM (SELECT sum(value) - max(value) - min(value) AS v,
			(max(s.monotonic_ns) - min(s.monotonic_ns)) / 2.0 AS ns
		FROM sample s JOIN attempt a ON a.id = s.attempt JOIN slot l ON l.attempt = a.id
		JOIN cell c ON c.id = l.cell
		WHERE l.job = $job AND c.workload = 'canary' AND NOT s.warmup GROUP BY s.attempt)")"

# The last boot is left plainly: what runs then is the lab's own kernel, once more. There somebody
# switches kexec off.
kexecs() { console_boots lab-intel | grep -c kgrid.boot= || true; }
default_boots() { console_boots lab-intel | grep -vc kgrid.boot= || true; }
is_back() { (($(grep -c 'lab-init: lab-intel runs' "$LAB_DIR/lab-intel/console.log") == 7)); }
wait_until 120 'the machine is back in its default kernel' is_back
assert_equal 'kernels started by kexec and by the boot loader' '4 3' "$(kexecs) $(default_boots)"
switch=/proc/sys/kernel/kexec_load_disabled
assert_equal 'kexec is switched off' 1 \
	"$("$LAB" exec lab-intel --dir "$LAB_DIR" "echo 1 >$switch; cat $switch")"
cat >"$WORK/stuck.yaml" <<'YAML'
name: stuck
machines: [lab-intel]
kernels: [6.1]
lsm: {short: "landlock,lockdown,yama"}
workloads:
  - perf-bench: {test: syscall-basic, loops: 1000}
canary: none
repeat: {boots: 1, iterations: 1}
YAML
job=$(submit "$WORK/stuck.yaml")
[[ -n $job ]] || fail 'the job was not accepted'
wait_until 300 "job $job ends" job_ended "$job"
assert_equal 'a kernel without kexec is left for the order' 'pass|1' \
	"$(query "SELECT outcome, tries FROM slot WHERE job = $job")"
assert_equal 'by one plain reboot and one kexec, in the same boot' '5 4|1' \
	"$(kexecs) $(default_boots)|$(query "SELECT count(*) FROM boot WHERE job = $job")"

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
