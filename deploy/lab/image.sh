# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The base image: the small system that every guest runs from, whatever its kernel. Modules come
# with an archive appended to it (kernels.sh for the first boot, the agent for the others).

# Installs the program $1 as $2 below $3, with its libraries.
add_program() {
	local program=$1 target=$2 tree=$3 library
	install -D -m 0755 "$program" "$tree$target"
	while read -r library; do
		[[ -e $tree$library ]] || install -D -m 0755 "$library" "$tree$library"
	done < <(libraries_of "$program")
}

# Sets PROGRAMS to the host's files that go into the image.
find_programs() {
	local netperf_deb netperf_root
	netperf_deb=$("$DEPLOY/install-deps" --fetch "$CACHE/deb" netperf)
	netperf_root=$CACHE/$(basename "$netperf_deb" .deb)
	if [[ ! -d $netperf_root ]]; then
		# Unpacked, not installed: the package would start netserver on all interfaces.
		dpkg-deb -x "$netperf_deb" "$netperf_root.new"
		mv "$netperf_root.new" "$netperf_root"
	fi
	PROGRAMS=("$netperf_root/usr/bin/netperf" "$netperf_root/usr/bin/netserver"
		"$(command -v hackbench)")
	PERF=$(command -v perf)
	BUSYBOX=/bin/busybox
}

write_etc() {
	local etc=$1/etc
	mkdir -p "$etc"
	echo '127.0.0.1 localhost' >"$etc/hosts"
	echo 'hosts: files' >"$etc/nsswitch.conf"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$etc/passwd"
	echo 'root:x:0:' >"$etc/group"
	ln -s /proc/mounts "$etc/mtab"
}

add_busybox() {
	local tree=$1 applet
	install -D -m 0755 "$BUSYBOX" "$tree/bin/busybox"
	for applet in $("$BUSYBOX" --list); do
		[[ $applet == busybox ]] || ln -s busybox "$tree/bin/$applet"
	done
}

# perf and its libraries make 30 MB, which every hop would carry: they live on the state disk,
# and the image only points there.
link_perf() {
	local tree=$1 library
	ln -s "/state/perf/bin/perf" "$tree/usr/bin/perf"
	while read -r library; do
		[[ -e $tree$library ]] && continue
		mkdir -p "$tree$(dirname "$library")"
		ln -s "/state/perf/lib/$(basename "$library")" "$tree$library"
	done < <(libraries_of "$PERF")
}

# Puts perf, and those of its libraries that the image lacks, into the folder $1.
copy_perf() {
	local tree=$1 library
	install -D -m 0755 "$PERF" "$tree/bin/perf"
	while read -r library; do
		install -D -m 0755 "$library" "$tree/lib/$(basename "$library")"
	done < <(libraries_of "$PERF")
}

build_image() {
	local image=$1 program workloads=() libraries tree digest
	mapfile -t workloads < <(find "$WORKLOAD_DIR" -type f | sort)
	mapfile -t libraries < <(for program in "$AGENT" "${PROGRAMS[@]}" "$PERF"; do
		libraries_of "$program"
	done | sort -u)
	digest=$(digest_of "${BASH_SOURCE[0]}" "$LAB/common.sh" "$LAB/init" "$AGENT" "$BUSYBOX" \
		"${PROGRAMS[@]}" "${libraries[@]}" "${workloads[@]}")
	is_built "$image" "$digest" && return 0

	say "building the base image"
	tree=$(mktemp -d "$DIR/build/image.XXXXXX")
	mkdir -p "$tree"/{bin,dev,proc,sys,run,tmp,root,state,usr/bin,usr/share/kgrid/workloads}
	chmod 0755 "$tree"
	install -m 0755 "$LAB/init" "$tree/init"
	write_etc "$tree"
	add_busybox "$tree"
	add_program "$AGENT" /usr/bin/kgrid-agent "$tree"
	# Every byte of the image is read, hashed twice and unpacked in each hop.
	! command -v strip >/dev/null || strip --strip-debug "$tree/usr/bin/kgrid-agent"
	for program in "${PROGRAMS[@]}"; do
		add_program "$program" "/usr/bin/$(basename "$program")" "$tree"
	done
	link_perf "$tree"
	for program in "${workloads[@]}"; do
		install -D -m 0644 "$program" \
			"$tree/usr/share/kgrid/workloads/${program#"$WORKLOAD_DIR"/}"
	done
	pack_cpio "$tree" | $IMAGE_COMPRESS >"$image.new"
	pad_file "$image.new"
	mv "$image.new" "$image"
	rm -rf "$tree"
	mark_built "$image" "$digest"
}
