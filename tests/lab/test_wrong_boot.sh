#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kexec that loses its lsm= word ends as wrong-lsm, one that boots the other kernel as
# wrong-kernel, and no sample of either is stored. The faults are made by named fault points of the
# agent, which only test builds have; what boots is a real kernel each time.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# job NAME KERNEL FAULT: one boot, one short workload.
write_job() {
	cat >"$WORK/$1.yaml" <<YAML
name: $1
machines: [lab-intel]
kernels: [$2]
lsm: {short: "landlock,lockdown,yama"}
cmdline: kgrid.fault=$3
workloads:
  - perf-bench: {test: syscall-basic, loops: 1000}
canary: none
repeat: {boots: 1, iterations: 1}
YAML
}

# expect NAME OUTCOME: runs the job; every try of its one slot ends so, and stores nothing.
expect() {
	local job
	job=$(submit "$WORK/$1.yaml")
	[[ -n $job ]] || fail "'$1' was not accepted"
	wait_until 600 "job $job ends" job_ended "$job"
	assert_equal "$1: slot" "$2" "$(query "SELECT outcome FROM slot WHERE job = $job")"
	assert_equal "$1: boots" "$2|3" "$(query "SELECT outcome, count(*) FROM boot
		WHERE job = $job GROUP BY 1")"
	assert_equal "$1: samples" 0 "$(query "SELECT count(*) FROM sample")"
	"$KGRID" job show "$job"
}

grid_start intel
write_job lost-word 6.12 drop-lsm-word
expect lost-word wrong-lsm
assert_equal 'the evidence names the list that was really there' 1 \
	"$(query "SELECT count(DISTINCT p.lsm) FROM provenance p JOIN boot b ON b.id = p.boot
		WHERE p.lsm <> b.lsm_effective AND p.lsm LIKE '%apparmor%' AND p.verified = 0")"

other=$(query "SELECT digest FROM kernel WHERE label = '6.1'")
write_job other-kernel 6.12 "boot-other-kernel:$other"
expect other-kernel wrong-kernel
assert_equal 'the evidence names the kernel that was really there' '6.1' \
	"$(query "SELECT DISTINCT k.label FROM provenance p JOIN boot b ON b.id = p.boot
		JOIN kernel k ON k.release = p.release WHERE b.outcome = 'wrong-kernel'")"
