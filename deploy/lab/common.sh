# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Words that all parts of the lab share.

say() { echo "lab: $*" >&2; }

die() {
	say "$*"
	exit 1
}

usage_error() {
	say "$*"
	say "see 'lab --help'"
	exit 2
}

# The digest of files and words: a part is built again only when what it is made of changed.
# A word that names a file counts with its content.
digest_of() {
	local word
	for word in "$@"; do
		if [[ -f $word ]]; then
			sha256sum <"$word"
		else
			echo "$word"
		fi
	done | sha256sum | cut -d ' ' -f 1
}

# Is the part $1 there, built from what has the digest $2?
is_built() { [[ -e $1 && $(cat "$1.stamp" 2>/dev/null) == "$2" ]]; }

mark_built() { echo "$2" >"$1.stamp"; }

# Prints the shared libraries of a program, the loader included; nothing for a static program
# or a script.
libraries_of() {
	ldd "$1" 2>/dev/null | awk '/=> \// { print $3 } /^[ \t]*\// { print $1 }' || true
}

# Packs the folder $1 as a newc cpio archive on stdout. The same content gives the same bytes.
pack_cpio() {
	find "$1" -exec touch -h -d @0 {} +
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort |
		cpio --quiet -o -H newc -R +0:+0 --reproducible)
}

# Ends the compressed archive $1 so that another one may follow: four bytes of zero end a stream of
# lz4 for the kernel, and archives begin at multiples of four bytes.
pad_file() {
	truncate -s +4 "$1"
	truncate -s %4 "$1"
}
