# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the lab tests share: a coordinator and a lab of their own, questions to the database, and an
# end that leaves nothing running. A test sources this file and calls grid_start.
#
# From ctest: KGRID, KGRID_COORDINATOR_PROGRAM, KGRID_AGENT, KGRID_SOURCE.
set -euo pipefail

: "${KGRID:?}" "${KGRID_COORDINATOR_PROGRAM:?}" "${KGRID_AGENT:?}" "${KGRID_SOURCE:?}"

LAB=$KGRID_SOURCE/deploy/lab/lab
WORK=$(mktemp -d "${TMPDIR:-/tmp}/kgrid-lab-test.XXXXXX")
DATA=$WORK/data
LAB_DIR=$WORK/lab
COORDINATOR_PID=
LAB_OPTIONS=() # of 'lab up', set before grid_start
export KGRID_COORDINATOR=$DATA/run/kgrid.sock

note() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

fail() {
	note "FAILED: $*"
	exit 1
}

# assert_equal WHAT EXPECTED SEEN
assert_equal() {
	[[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"
	note "$1: $3"
}

# wait_until SECONDS WHAT COMMAND...: until the command succeeds.
wait_until() {
	local limit=$1 what=$2 begin=$SECONDS
	shift 2
	until "$@" >/dev/null 2>&1; do
		((SECONDS - begin < limit)) || fail "not within $limit s: $what"
		sleep 0.5
	done
}

# Asks the database; columns are separated by '|'.
query() { sqlite3 -readonly -cmd '.timeout 10000' "$DATA/kgrid.db" "$1"; }

# coordinator_start PORT: 0 picks one.
coordinator_start() {
	rm -f "$DATA/run/tcp"
	cat >"$WORK/coordinator.yaml" <<YAML
power-cycle: ["$LAB", power, "{machine}", cycle, --dir, "$LAB_DIR"]
YAML
	setsid "$KGRID_COORDINATOR_PROGRAM" --data-dir "$DATA" --config "$WORK/coordinator.yaml" \
		--listen "127.0.0.1:$1" </dev/null >>"$WORK/coordinator.log" 2>&1 &
	COORDINATOR_PID=$!
	wait_until 30 'the coordinator listens' test -e "$DATA/run/tcp"
}

coordinator_port() { sed 's/.*://' "$DATA/run/tcp"; }

# coordinator_kill SIGNAL
coordinator_kill() {
	kill "-$1" "$COORDINATOR_PID"
	wait "$COORDINATOR_PID" 2>/dev/null || true
	COORDINATOR_PID=
}

lab_up() {
	"$LAB" up --dir "$LAB_DIR" --coordinator-port "$(coordinator_port)" --agent "$KGRID_AGENT" \
		--workload-dir "$KGRID_SOURCE/deploy/workloads" "$@"
}

add_kernels() {
	local deb series
	while read -r deb; do
		series=$(basename "$deb" | sed -E 's/^linux-image-([0-9]+\.[0-9]+)\..*/\1/')
		"$KGRID" kernel add --label "$series" "$deb" >/dev/null
		note "added kernel $series"
	done < <("$LAB" kernels --dir "$LAB_DIR")
}

machine_joined() { [[ $(query "SELECT count(*) FROM machine WHERE name = '$1'") == 1 ]]; }

# grid_start MACHINES: coordinator, lab and both kernels, up to the point where a job can run.
grid_start() {
	local name
	trap grid_end EXIT
	trap 'exit 130' INT TERM HUP
	mkdir -p "$DATA"
	coordinator_start 0
	lab_up --machines "$1" "${LAB_OPTIONS[@]}"
	add_kernels
	for name in $(guests); do
		wait_until 180 "'$name' joins" machine_joined "$name"
		note "'$name' joined"
	done
}

guests() { for f in "$LAB_DIR"/*/settings; do basename "$(dirname "$f")"; done; }

# Ends everything; after a failure shows what is needed to understand it.
grid_end() {
	local status=$? name
	trap - EXIT
	if ((status)); then
		echo '--- coordinator'
		tail -n 20 "$WORK/coordinator.log" || true
		for name in $(guests); do
			echo "--- console of $name"
			tail -n 40 "$LAB_DIR/$name/console.log" | tr -cd '[:print:]\n' || true
		done
		echo '--- boots'
		query "SELECT id, machine, stage, outcome, reason FROM boot" || true
		query "SELECT outcome, reason, count(*) FROM attempt GROUP BY 1, 2" || true
	fi
	"$LAB" down --dir "$LAB_DIR" || true
	[[ -z $COORDINATOR_PID ]] || coordinator_kill KILL
	rm -rf "$WORK"
	exit "$status"
}

# submit FILE [OPTION...]: prints the job's number.
submit() { "$KGRID" submit "$@" 2>/dev/null | sed -n 's/^job \([0-9]*\)$/\1/p'; }

job_ended() { [[ $(query "SELECT state FROM job WHERE id = $1") =~ ^(done|cancelled)$ ]]; }

# The boots that a console saw, 'RELEASE|COMMAND LINE' each, by the kernel's own lines.
console_boots() {
	tr -d '\r' <"$LAB_DIR/$1/console.log" | awk '
		match($0, /Linux version [^ ]+/) { release = substr($0, RSTART + 14, RLENGTH - 14) }
		sub(/.*[Cc]ommand line: /, "") { print release "|" $0 }'
}
