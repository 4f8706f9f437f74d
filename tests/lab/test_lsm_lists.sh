#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the model of LSMs predicts is what kernels start: 14 lists and 4 other ways to ask, each on two
# real kernels, reached by kexec. The grid judges every boot against its prediction; here its
# evidence is held against 'kgrid lsm resolve' for the command line that the kernel saw, and against
# 'kgrid lsm parse' of the console.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One boot of each kernel and list, and next to no work in it. Lists of one job differ from each
# other on every kernel, so that none shares a boot.
write_job() {
	cat >"$WORK/$1.yaml" <<YAML
name: $1
machines: [$2]
kernels: ['6.1', '6.12']
lsm:
$(cat)
workloads:
  - perf-bench: {test: syscall-basic, loops: 1000}
canary: none
repeat: {boots: 1, iterations: 1}
YAML
}

# write_words NAME MACHINE WORDS: asks with other words than lsm=, and has the kernel tell what it
# decides, on a console that shows it.
write_words() {
	write_job "$1" "$2" <<<'  own: default'
	echo "cmdline: {base: loglevel=7 lsm.debug, vary: [$3]}" >>"$WORK/$1.yaml"
}

write_job lists-intel lab-intel <<'LISTS'
  empty: ''
  first-exclusive: selinux,apparmor
  duplicate: yama,yama,landlock
  order: bpf,lockdown,landlock
  not-built-in: safesetid,smack,tomoyo,loadpin
  integrity: integrity,yama
  everything: landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo,bpf
LISTS
write_job lists-amd lab-amd <<'LISTS'
  by-version: ipe,smack,loadpin
  second-exclusive: apparmor,tomoyo,selinux
  tomoyo-beside: tomoyo,apparmor,bpf
  always-last: ima,evm,yama
  always-first: landlock,capability
  own: default
  mixed: selinux,tomoyo,bpf,yama
LISTS
write_words words-intel lab-intel 'security=selinux, security=none'
write_words words-amd lab-amd 'apparmor=0x0, security=tomoyo'

grid_start_lists() {
	trap grid_end EXIT
	trap 'exit 130' INT TERM HUP
	mkdir -p "$DATA"
	coordinator_start 0
	lab_up --machines intel,amd --clock real
	add_kernels
	local name
	for name in lab-intel lab-amd; do
		wait_until 180 "'$name' joins" machine_joined "$name"
	done
}

grid_start_lists
jobs=()
for name in lists-intel lists-amd words-intel words-amd; do
	job=$(submit "$WORK/$name.yaml")
	[[ -n $job ]] || fail "'$name' was not accepted"
	jobs+=("$job")
done
for job in "${jobs[@]}"; do
	wait_until 900 "job $job ends" job_ended "$job"
done

assert_equal 'slots by outcome' 'pass|36' "$(query 'SELECT outcome, count(*) FROM slot GROUP BY 1')"
assert_equal 'boots: none was tried twice' 'pass|36' \
	"$(query 'SELECT outcome, count(*) FROM boot GROUP BY 1')"
assert_equal 'requests with lsm=, each on two kernels' 26 \
	"$(query "SELECT count(DISTINCT b.lsm_request || ' ' || b.kernel) FROM boot b
		JOIN provenance p ON p.boot = b.id WHERE p.cmdline LIKE '% lsm=%'")"

# predicted KERNEL CMDLINE: the list as 'kgrid lsm resolve' prints it.
predicted() {
	"$KGRID" lsm resolve --kernel "$1" --cmdline "$2" --width 400 | sed -n 's/^list: //p'
}

# Each boot's list as its kernel showed it, against the prediction for the line that it saw.
compared=0
while IFS='|' read -r boot label cmdline expected seen; do
	list=$(predicted "$label" "$cmdline")
	[[ $list == "$seen" ]] || fail "boot $boot: '$seen', and predicted for '$cmdline': '$list'"
	[[ $expected == "$seen" ]] || fail "boot $boot: '$seen', and expected by the grid: '$expected'"
	compared=$((compared + 1))
done < <(query "SELECT b.id, k.label, p.cmdline, b.lsm_effective, p.lsm FROM boot b
	JOIN provenance p ON p.boot = b.id JOIN kernel k ON k.digest = b.kernel
	WHERE p.verified = 1 ORDER BY b.id")
assert_equal 'boots whose list is the predicted one' 36 "$compared"

# The same lists out of what the kernels wrote to the consoles, where they wrote it. 6.12 writes all of
# its list; 6.1 leaves out the lockdown that starts before it can be told to write.
stated=0
partly=0
for name in lab-intel lab-amd; do
	tr -d '\r' <"$LAB_DIR/$name/console.log" | awk -v to="$WORK/$name" '
		/Linux version / { n++ }
		n { print > (to "." n ".boot") }'
	for log in "$WORK/$name".*.boot; do
		boot=$(sed -n 's/.* kgrid\.boot=\([0-9]*\)\..*/\1/p' "$log" | head -n 1)
		[[ -n $boot ]] || continue # the kernel that the lab begins with
		seen=$(query "SELECT lsm FROM provenance WHERE boot = $boot")
		said=$("$KGRID" lsm parse "$log" --width 400 2>/dev/null) || continue
		list=$(sed -n 's/^list: //p' <<<"$said")
		if ! grep -q 'may not be complete' <<<"$said"; then
			[[ $list == "$seen" ]] || fail "boot $boot: '$seen', its log says '$list'"
			stated=$((stated + 1))
			continue
		fi
		rest=,$seen,
		for lsm in ${list//,/ }; do
			[[ $rest == *",$lsm,"* ]] || fail "boot $boot: '$seen', its log says '$list'"
			rest=,${rest#*",$lsm,"}
		done
		partly=$((partly + 1))
	done
done
assert_equal 'lists in the consoles, whole and in part' '4 4' "$stated $partly"
