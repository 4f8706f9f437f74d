# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Guests: starting, stopping, and talking to their monitor.
#
# Every 'return' has a number: in a trap a bare one gives the status from before the trap.

# A guest's QEMU works in the guest's folder, and so can be found, whatever became of the
# program that started it. Prints its process number.
guest_pid() {
	local name=$1 link pid
	while read -r link; do
		pid=${link#/proc/}
		pid=${pid%/cwd}
		if grep -qz 'qemu-system' "/proc/$pid/cmdline" 2>/dev/null; then
			echo "$pid"
			return 0
		fi
	done < <(find /proc -maxdepth 2 -name cwd -lname "$DIR/$name" 2>/dev/null)
	return 1
}

# The names of all guests that have a folder.
guest_names() {
	local folder
	for folder in "$DIR"/*/settings; do
		[[ -e $folder ]] && basename "$(dirname "$folder")"
	done
	return 0
}

need_guest() {
	[[ -n ${1:-} ]] || usage_error "which machine? ($(guest_names | paste -s -d ' '))"
	[[ -e $DIR/$1/settings ]] ||
		die "no machine '$1' in the lab (there are: $(guest_names | paste -s -d ' '))"
}

cpu_model() {
	case $1 in
	intel) echo Cascadelake-Server ;;
	amd) echo EPYC-Milan ;;
	*) usage_error "no such kind of machine: '$1' (intel, amd)" ;;
	esac
}

# The command line of a kind of machine. Real Cascade Lakes say that Meltdown does not touch them
# (RDCL_NO) and run without page-table isolation; the emulated one cannot say so, and would pay for
# it with twice the host's time for every system call.
guest_cmdline() {
	case $1 in
	intel) echo "$GUEST_CMDLINE pti=off" ;;
	*) echo "$GUEST_CMDLINE" ;;
	esac
}

# Prints QEMU's arguments for a clock and an accelerator, one a line.
clock_arguments() {
	case $CLOCK-$ACCEL in
	instruction-*)
		printf '%s\n' -accel tcg,thread=single -icount "$ICOUNT" \
			-rtc base=2026-01-01,clock=vm
		;;
	real-kvm) printf '%s\n' -accel kvm ;;
	real-tcg) printf '%s\n' -accel tcg ;;
	esac
}

# The number of the machine $1 on the network that two machines share: 1, 2, or nothing.
network_number() {
	local name kind number=0
	[[ -n ${NETWORK:-} ]] || return 0
	while read -r name kind; do
		number=$((number + 1))
		[[ $name != "$1" || $number -gt 2 ]] || echo "$number"
	done < <(machine_list)
}

# Prints QEMU's arguments for that network: datagrams between two sockets, so that either machine may
# be switched off and on.
network_arguments() {
	local number=$1
	[[ -n $number ]] || return 0
	printf '%s\n' -netdev "dgram,id=net1,local.type=unix,local.path=../net-$number,remote.type=unix,remote.path=../net-$((3 - number))" \
		-device "virtio-net-pci,netdev=net1,romfile=,mac=52:54:00:6b:67:0$number"
}

# Starts the guest $1 with what its settings say.
start_guest() {
	local name=$1 folder=$DIR/$1 CPU CLOCK ACCEL ICOUNT KERNEL INITRD CMDLINE NUMBER= clock network pid
	guest_pid "$name" >/dev/null && return 0
	# shellcheck source=/dev/null
	. "$folder/settings"
	mapfile -t clock < <(clock_arguments)
	mapfile -t network < <(network_arguments "$NUMBER")
	rm -f "$folder"/{qmp,console,shell} "$DIR/net-${NUMBER:-none}"
	cd "$folder"
	# Names of sockets are relative: the length of their path is limited.
	setsid qemu-system-x86_64 -name "kgrid-$name" -nodefaults -no-user-config -display none \
		-M pc -cpu "$CPU" "${clock[@]}" -smp 1 -m "$GUEST_MEMORY" \
		-kernel "$KERNEL" -initrd "$INITRD" -append "$CMDLINE" \
		-drive file=state.img,format=raw,if=none,id=disk0,cache=unsafe,discard=unmap \
		-device virtio-blk-pci,drive=disk0 \
		-netdev user,id=net0,ipv6=off -device virtio-net-pci,netdev=net0,romfile= "${network[@]}" \
		-chardev socket,id=c0,path=console,server=on,wait=off,logfile=console.log,logappend=on \
		-serial chardev:c0 -chardev socket,id=c1,path=shell,server=on,wait=off \
		-serial chardev:c1 -qmp unix:qmp,server=on,wait=off \
		</dev/null >qemu.log 2>&1 9>&- &
	pid=$!
	cd "$OLDPWD"
	for _ in {1..100}; do
		[[ -S $folder/qmp ]] && return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	die "QEMU does not start '$name': $(tail -n 3 "$folder/qemu.log" | paste -s -d ' ')"
}

stop_guest() {
	local name=$1 pid
	pid=$(guest_pid "$name") || return 0
	kill "$pid" 2>/dev/null || true
	for _ in {1..50}; do
		guest_pid "$name" >/dev/null || break
		sleep 0.1
	done
	pid=$(guest_pid "$name") && kill -KILL "$pid" 2>/dev/null
	rm -f "$DIR/$name"/{qmp,console,shell}
}

# Sends one command to the monitor of the guest $1 and prints the answer.
ask_monitor() {
	local name=$1 command=$2
	(cd "$DIR/$name" && printf '{"execute":"qmp_capabilities"}\n{"execute":"%s"}\n' "$command" |
		timeout 10 socat -t 3 - UNIX-CONNECT:qmp 2>/dev/null) | grep -v QMP
}

# running, paused, ... as QEMU says, or off.
guest_state() {
	local state
	guest_pid "$1" >/dev/null || {
		echo off
		return 0
	}
	state=$(ask_monitor "$1" query-status | sed -n 's/.*"status": *"\([^"]*\)".*/\1/p') || true
	echo "${state:-busy}"
}

# Does a guest under KVM come up here? /dev/kvm may be there and still not boot anything.
kvm_works() {
	local log=$DIR/build/kvm.log
	[[ -w /dev/kvm ]] || return 1
	timeout -k 2 20 qemu-system-x86_64 -nodefaults -no-user-config -display none -M pc \
		-accel kvm -cpu host -m "$GUEST_MEMORY" -kernel "$1" \
		-append 'console=ttyS0 panic=-1' -serial "file:$log" -no-reboot \
		</dev/null >/dev/null 2>&1 || true
	grep -q 'Linux version' "$log" 2>/dev/null && grep -q 'Kernel panic' "$log"
}
