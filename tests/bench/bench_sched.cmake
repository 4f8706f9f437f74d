# SPDX-License-Identifier: GPL-2.0-or-later
add_executable(bench_sched bench_sched.c)
target_link_libraries(bench_sched PRIVATE kgrid_flags kg_schedule)
# Kept working by a tiny run; speed is never asserted.
add_test(NAME bench.sched COMMAND bench_sched --machines 20 --cells 400)
set_tests_properties(bench.sched PROPERTIES LABELS bench TIMEOUT 60)
kg_bench(sched COMMAND bench_sched)
