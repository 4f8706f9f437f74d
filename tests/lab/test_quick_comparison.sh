#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The quickstart's job in its short form, on an Intel and an AMD machine: every cell passes, each
# boot is what was asked for by the word of the kernel itself, and the numbers make sense.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Every verified boot must be in the console as the kernel saw it: same release, same command
# line, and the list that was asked for in it. The agent cannot make these lines up.
check_console() {
	local boot machine release cmdline request
	while IFS='|' read -r boot machine release cmdline request; do
		console_boots "$machine" >"$WORK/$machine.boots"
		grep -qxF "$release|$cmdline" "$WORK/$machine.boots" ||
			fail "boot $boot is not in the console of '$machine' as '$release' with '$cmdline'"
		[[ " $cmdline " == *" lsm=$request "* ]] ||
			fail "boot $boot: 'lsm=$request' is not in '$cmdline'"
	done < <(query "SELECT b.id, b.machine, p.release, p.cmdline, b.lsm_request
		FROM boot b JOIN provenance p ON p.boot = b.id WHERE b.outcome = 'pass'")
	note 'all boots are in the console captures'
}

# change METRIC TEST: mean under the full list against the short one, in tenths of a percent,
# smallest and largest over machines and kernels.
change() {
	query "WITH mean AS (
			SELECT c.machine, c.kernel_label, c.lsm_label, avg(s.value) AS value
			FROM sample s JOIN attempt a ON a.id = s.attempt JOIN slot l ON l.attempt = a.id
			JOIN cell c ON c.id = l.cell JOIN metric m ON m.id = s.metric
			WHERE s.warmup = 0 AND l.outcome = 'pass' AND m.name = '$1'
				AND c.params LIKE '%test=$2%'
			GROUP BY 1, 2, 3)
		SELECT cast(round(min(1000 * (f.value / s.value - 1))) AS INTEGER),
			cast(round(max(1000 * (f.value / s.value - 1))) AS INTEGER), count(*)
		FROM mean f JOIN mean s USING (machine, kernel_label)
		WHERE f.lsm_label = 'full' AND s.lsm_label = 'short'"
}

grid_start intel,amd
job=$(submit "$KGRID_SOURCE/deploy/examples/lsm-cost.yaml" --boots 2)
[[ -n $job ]] || fail 'the job was not accepted'
wait_until 1200 "job $job ends" job_ended "$job"

# Beside the job's own: the canary in the first and the last boot of each block.
assert_equal 'slots by canary and outcome' '0|pass|64 1|pass|8' \
	"$(query "SELECT c.canary, outcome, count(*) FROM slot s JOIN cell c ON c.id = s.cell
		WHERE s.job = $job GROUP BY 1, 2 ORDER BY 1" | paste -s -d ' ')"
assert_equal 'cells with a pass' '32' "$(query "SELECT count(DISTINCT cell) FROM slot s
	JOIN cell c ON c.id = s.cell WHERE outcome = 'pass' AND NOT canary")"
assert_equal 'vendors' 'lab-amd|AuthenticAMD lab-intel|GenuineIntel' \
	"$(query "SELECT DISTINCT b.machine, p.cpu_vendor FROM boot b JOIN provenance p
		ON p.boot = b.id ORDER BY 1" | paste -s -d ' ')"
assert_equal 'boots of each machine, kernel and list' '8 of 2' \
	"$(query "SELECT count(*) || ' of ' || max(n) FROM (SELECT count(*) AS n FROM boot
		WHERE outcome = 'pass' GROUP BY machine, kernel, lsm_request HAVING n = 2)")"
assert_equal 'boots whose release, list or nonce is not the expected one' 0 \
	"$(query "SELECT count(*) FROM boot b JOIN provenance p ON p.boot = b.id
		JOIN kernel k ON k.digest = b.kernel
		WHERE b.outcome = 'pass' AND (p.release <> k.release OR p.lsm <> b.lsm_effective
			OR p.nonce <> b.id || '.' || b.nonce OR p.verified <> 1)")"
assert_equal 'releases, lists, nonces' '2|4|16' \
	"$(query "SELECT count(DISTINCT p.release), count(DISTINCT p.lsm), count(DISTINCT p.nonce)
		FROM boot b JOIN provenance p ON p.boot = b.id WHERE b.outcome = 'pass'")"
assert_equal 'samples without an attempt that passed' 0 \
	"$(query "SELECT count(*) FROM sample s JOIN attempt a ON a.id = s.attempt
		WHERE a.outcome <> 'pass'")"
check_console

# What the agents recorded: the machines are what they were, over two kernels and two lists each.
assert_equal 'epochs' 'lab-amd|1 lab-intel|1' \
	"$(query "SELECT machine, max(number) FROM epoch GROUP BY 1 ORDER BY 1" | paste -s -d ' ')"
assert_equal 'boots without an epoch, runs without facts before and after' '0|0' \
	"$(query "SELECT (SELECT count(*) FROM boot WHERE outcome = 'pass' AND epoch IS NULL),
		(SELECT count(*) FROM attempt WHERE outcome = 'pass' AND 2 <> (SELECT count(*)
			FROM boot_facts WHERE attempt = attempt.id AND class = 'volatile'))")"
assert_equal 'kernels whose symbols are kept' 2 \
	"$(query "SELECT count(DISTINCT b.kernel) FROM boot_document d JOIN boot b ON b.id = d.boot
		WHERE d.name = 'kallsyms'")"
boot=$(query "SELECT min(id) FROM boot WHERE outcome = 'pass'")
"$KGRID" provenance "$boot" >"$WORK/provenance"
grep -q 'microcode' "$WORK/provenance" || fail 'no microcode in the provenance'
grep -q 'unsupported' "$WORK/provenance" || fail 'nothing is said to be unsupported'
"$KGRID" diff kernel:6.1 kernel:6.12 --all >"$WORK/diff" && fail 'two kernels do not differ'
(($(grep -c 'CONFIG_' "$WORK/diff") > 300)) || fail 'the configs of 6.1 and 6.12 hardly differ'

# Instruction counts: the control has no hook of any module; netperf passes many of them.
IFS='|' read -r low high cells < <(change time-per-operation syscall-basic)
note "control: $low to $high per mille over $cells"
((cells == 4 && low >= -3 && high <= 3)) || fail 'the control moved'
IFS='|' read -r low high cells < <(change transactions UDP_RR)
note "UDP_RR: $low to $high per mille over $cells"
((cells == 4 && high <= -10)) || fail 'the full list shows no cost'
"$KGRID" compare "$job" || (($? == 1)) # the full list is slower: a regression
