#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time of 'kgrid stat compare' on 10^6 values, and of others on the same files, as ratios in one run:
# ministat, and the same comparison (Mann-Whitney, Hodges-Lehmann by the medians' ratio, Welch) in
# Python with numpy and scipy, and in R. What is not installed is said to be absent. The best of
# three runs counts, in seconds of CPU.
#
# usage: bench_stat.sh KGRID
set -eu
kgrid=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Two sides of half a million values each, once as plain numbers, once as CSV in several groupings.
awk -v dir="$dir" 'BEGIN {
	srand(20230807)
	half = 500000
	for (i = 0; i < half; i++) {
		z = sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand())
		printf "%.4f\n", 100 + 2 * z > (dir "/a.txt")
		z = sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand())
		printf "%.4f\n", 100.8 + 2 * z > (dir "/b.txt")
	}
}'
csv() { # groups boots iterations
	awk -v groups="$1" -v boots="$2" -v iterations="$3" 'BEGIN {
		srand(7)
		print "machine,kernel,lsm,workload,params,metric,boot,iteration,value"
		for (g = 0; g < groups; g++)
			for (s = 0; s < 2; s++)
				for (b = 0; b < boots; b++) {
					e = rand()
					for (i = 0; i < iterations; i++)
						printf "m,6.%d,full,netperf,size=%d,tput,%d,%d,%.3f\n",
							s, g, b, i, 100 + e + rand()
				}
	}' >"$dir/$1.csv"
}

# Seconds of CPU of the best of three runs.
best() {
	least=
	for _ in 1 2 3; do
		{ LC_ALL=C bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1 || [ $? -le 1 ]' sh "$@"; } \
			2>"$dir/time" || return 1
		now=$(awk 'END { printf "%.3f", $1 + $2 }' "$dir/time")
		least=$(awk -v a="$now" -v b="$least" 'BEGIN { print (b == "" || a < b) ? a : b }')
	done
	echo "$least"
}

report() { # name seconds
	awk -v name="$1" -v t="$2" -v base="$ours" \
		'BEGIN { printf "%-44s %8.3f s  %6.2f times kgrid\n", name, t, t / base }'
}

ours=$(best "$kgrid" stat compare "$dir/a.txt" "$dir/b.txt")
report "kgrid, 2 files of 500,000 numbers" "$ours"
if command -v ministat >/dev/null; then
	report "ministat -n" "$(best ministat -n "$dir/a.txt" "$dir/b.txt")"
	report "ministat -A (with its t test)" "$(best ministat -A "$dir/a.txt" "$dir/b.txt")"
else
	echo "ministat: absent"
fi

cat >"$dir/compare.py" <<'PY'
import sys
import numpy as np
from scipy import stats
a, b = (np.loadtxt(p) for p in sys.argv[1:3])
print(stats.mannwhitneyu(b, a), stats.ttest_ind(b, a, equal_var=False))
print(np.median(a), np.median(b), np.median(b) / np.median(a))
PY
python=absent
for p in python3 /usr/bin/python3; do
	"$p" -c 'import numpy, scipy' 2>/dev/null && python=$p && break
done
if [ "$python" != absent ]; then
	report "numpy and scipy" "$(best "$python" "$dir/compare.py" "$dir/a.txt" "$dir/b.txt")"
else
	echo "numpy and scipy: absent"
fi
cat >"$dir/compare.R" <<'R'
f <- commandArgs(TRUE)
a <- scan(f[1], quiet = TRUE)
b <- scan(f[2], quiet = TRUE)
print(wilcox.test(b, a, exact = FALSE))
print(t.test(b, a))
print(median(b) / median(a))
R
if command -v Rscript >/dev/null; then
	report "R" "$(best Rscript "$dir/compare.R" "$dir/a.txt" "$dir/b.txt")"
else
	echo "R: absent"
fi

while read -r groups boots iterations; do
	csv "$groups" "$boots" "$iterations"
	report "kgrid, CSV: $groups x 2 sides x $boots boots x $iterations" \
		"$(best "$kgrid" stat compare "$dir/$groups.csv")"
	rm "$dir/$groups.csv"
done <<'END'
1 20 25000
100 100 50
5000 20 5
50000 10 1
END
