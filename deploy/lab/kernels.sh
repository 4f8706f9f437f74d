# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The lab's kernels: Debian cloud kernels, whichever releases apt offers today.

# One of each series; the first is the lab's base kernel, to which a reset comes back.
KERNEL_SERIES=(6.1 6.12)

# What a guest needs before its disk and its network are there. The agent's configuration
# says the same.
GUEST_MODULES=(virtio_pci virtio_net virtio_blk)

# Downloads the kernels and writes their paths to $CACHE/kernels.list.
fetch_kernels() {
	local series patterns=()
	for series in "${KERNEL_SERIES[@]}"; do
		patterns+=("linux-image-$series.*-cloud-amd64")
	done
	"$DEPLOY/install-deps" --fetch "$CACHE/deb" "${patterns[@]}" >"$CACHE/kernels.list.new"
	mv "$CACHE/kernels.list.new" "$CACHE/kernels.list"
}

kernel_debs() {
	[[ -e $CACHE/kernels.list ]] || fetch_kernels
	cat "$CACHE/kernels.list"
}

# Unpacks a kernel package; prints the folder.
unpack_kernel() {
	local deb=$1 root
	root=$CACHE/kernels/$(basename "$deb" .deb)
	if [[ ! -e $root/unpacked ]]; then
		rm -rf "$root"
		mkdir -p "$root"
		# A substitution does not inherit 'set -e': without these, a half-done folder would count.
		dpkg-deb -x "$deb" "$root" || die "cannot unpack '$deb'"
		[[ -d $root/lib/modules ]] || ln -s usr/lib "$root/lib"
		depmod -b "$root" "$(kernel_release "$root")" || die "cannot index the modules of '$deb'"
		touch "$root/unpacked"
	fi
	echo "$root"
}

kernel_release() {
	local image
	image=$(echo "$1"/boot/vmlinuz-*)
	[[ -e $image ]] || die "'$1' holds no kernel image"
	echo "${image##*/vmlinuz-}"
}

# Prints the module files that a guest of the kernel in $1 needs, in load order, relative to
# lib/modules/RELEASE/.
module_order() {
	local root=$1 release=$2 module
	for module in "${GUEST_MODULES[@]}"; do
		modprobe -d "$root" -S "$release" --show-depends "$module"
	done | awk -v prefix="/lib/modules/$release/" '
		$1 == "insmod" && !seen[$2]++ {
			print substr($2, index($2, prefix) + length(prefix))
		}'
}

# Makes the archive $2 of the modules that a guest needs of the kernel in $1.
build_overlay() {
	local root=$1 archive=$2 release tree modules file
	release=$(kernel_release "$root")
	tree=$(mktemp -d "$DIR/build/overlay.XXXXXX")
	modules=$tree/lib/modules/$release
	mkdir -p "$modules"
	module_order "$root" "$release" >"$modules/kgrid.order"
	[[ -s $modules/kgrid.order ]] || die "kernel '$release' has no modules for the lab's guests"
	while read -r file; do
		install -D -m 0644 "$root/lib/modules/$release/$file" "$modules/$file"
	done <"$modules/kgrid.order"
	pack_cpio "$tree" >"$archive"
	rm -rf "$tree"
}
