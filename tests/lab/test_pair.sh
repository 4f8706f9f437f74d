#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# netperf between two guests on a private network: client on one machine, server on the other, both
# booted into the same kernel and list, reserved together. Each boot is a real kexec.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LAB_OPTIONS=(--network --idle wait)
grid_start intel,amd

cat >"$WORK/pair.yaml" <<'YAML'
name: pair
machines: [lab-intel]
kernels: [6.1, 6.12]
lsm: {short: "landlock,lockdown,yama"}
workloads:
  - netperf: {test: UDP_RR, size: 64, seconds: 1, role: {client: lab-intel, server: lab-amd}}
canary: none
repeat: {boots: 1, iterations: 2}
YAML
job=$(submit "$WORK/pair.yaml")
[[ -n $job ]] || fail 'the job was not accepted'
wait_until 900 "job $job ends" job_ended "$job"
"$KGRID" job show "$job" --slots
assert_equal 'slots' 'pass|2' \
	"$(query "SELECT outcome, count(*) FROM slot WHERE job = $job GROUP BY 1")"
assert_equal 'boots on the client' 'client|2' "$(query "SELECT role, count(*) FROM boot
	WHERE job = $job AND machine = 'lab-intel' AND outcome = 'pass' GROUP BY 1")"
assert_equal 'boots on the server' 'server|2' "$(query "SELECT role, count(*) FROM boot
	WHERE job = $job AND machine = 'lab-amd' AND outcome = 'pass' GROUP BY 1")"
assert_equal 'both sides ran the same kernel each time' 2 "$(query "SELECT count(*) FROM boot a
	JOIN boot b ON b.id = a.pair AND b.kernel = a.kernel
	JOIN provenance p ON p.boot = a.id JOIN provenance q ON q.boot = b.id AND q.release = p.release
		AND q.lsm = p.lsm
	WHERE a.job = $job AND a.role = 'client' AND p.verified AND q.verified")"
assert_equal 'samples come from the client alone' 4 "$(query "SELECT count(*) FROM sample s
	JOIN attempt a ON a.id = s.attempt JOIN boot b ON b.id = a.boot
	WHERE NOT s.warmup AND b.role = 'client' AND s.value > 0")"
# The command line that ran names the other machine, and the guests had no other way to it.
assert_equal 'the client spoke to the other machine' 2 "$(query "SELECT count(*) FROM attempt a
	JOIN boot b ON b.id = a.boot WHERE b.role = 'client' AND a.argv LIKE '%192.168.77.%'
		AND a.argv NOT LIKE '%127.0.0.1%'")"
# The counters of the last boots, whose kernels still run: the server got its packets over the network
# that it shares with the client, as many as there were transactions, and loopback carried none.
received() { "$LAB" exec "$1" --dir "$LAB_DIR" "cat /sys/class/net/$2/statistics/rx_packets"; }
packets=$(query "SELECT CAST(sum(s.value) AS INTEGER) FROM sample s JOIN attempt a ON a.id = s.attempt
	WHERE NOT s.warmup AND a.boot = (SELECT max(id) FROM boot WHERE job = $job AND role = 'client')")
for guest in lab-amd lab-intel; do
	seen=$(received "$guest" eth1)
	((seen >= packets)) || fail "'$guest' received $seen packets for $packets transactions"
	note "packets that '$guest' received from its peer: $seen, at least $packets"
	assert_equal "packets over loopback on '$guest'" yes \
		"$( (($(received "$guest" lo) * 100 < packets)) && echo yes)"
done
"$KGRID" compare "$job" --baseline '6.1/*' || (($? == 1 || $? == 5))
