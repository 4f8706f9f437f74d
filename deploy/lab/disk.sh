# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The state disk of a machine: what has to outlive a kexec and a power cycle.

DISK_SIZE=1G

write_agent_config() {
	local name=$1 cmdline=$2 number
	number=$(network_number "$name")
	[[ -z $number ]] || echo "address: 192.168.77.$number"
	cat <<YAML
coordinator: 10.0.2.2:$PORT
machine: $name
state-dir: /state/agent
workload-dir: /usr/share/kgrid/workloads
tags: [lab, $([[ $CLOCK == instruction ]] && echo icount || echo "$ACCEL")]
clock: $CLOCK
cmdline: $cmdline
initrd:
  policy: overlay
  base: /state/base.cpio
  modules: [$(printf '%s, ' "${GUEST_MODULES[@]}" | sed 's/, $//')]
  cache: 256MiB
shutdown:
  method: direct
  unmount: [/state]
YAML
}

# Makes the disk of the machine $1, whose base command line is $3, unless it has one made from the same things.
build_disk() {
	local name=$1 image=$2 cmdline=$3 disk=$DIR/$1/state.img tree digest
	digest=$(digest_of "${BASH_SOURCE[0]}" "$(write_agent_config "$name" "$cmdline")" "$image.stamp" "$PERF")
	is_built "$disk" "$digest" && return 0

	say "building the disk of '$name'"
	tree=$(mktemp -d "$DIR/build/disk.XXXXXX")
	mkdir -p "$tree/agent"
	write_agent_config "$name" "$cmdline" >"$tree/agent.yaml"
	cp "$image" "$tree/base.cpio"
	copy_perf "$tree/perf"
	rm -f "$disk"
	truncate -s "$DISK_SIZE" "$disk.new"
	mke2fs -q -t ext4 -E root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0 -N 4096 \
		-d "$tree" "$disk.new"
	mv "$disk.new" "$disk"
	rm -rf "$tree"
	mark_built "$disk" "$digest"
}
