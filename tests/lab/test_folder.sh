#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab leaves alone what it did not make: 'up' refuses a folder with other files, 'down' removes
# nothing from it. No guest is started.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap 'rm -rf "$WORK"' EXIT

mkdir -p "$WORK/home/build" "$WORK/home/box"
touch "$WORK/home/build/mine" "$WORK/home/box/settings"
chmod 0755 "$WORK/home"

status=0
"$LAB" up --dir "$WORK/home" --agent "$KGRID_AGENT" 2>"$WORK/said" || status=$?
assert_equal 'up in a folder with other files' 1 "$status"
grep -q 'holds other files and is no lab' "$WORK/said" || fail "said: $(cat "$WORK/said")"
"$LAB" down --dir "$WORK/home"
assert_equal 'mode of the folder' 755 "$(stat -c %a "$WORK/home")"
assert_equal 'files in it' 'box box/settings build build/mine' \
	"$(cd "$WORK/home" && find . -mindepth 1 -printf '%P\n' | sort | xargs)"
