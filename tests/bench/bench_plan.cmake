# SPDX-License-Identifier: GPL-2.0-or-later
# Its numbers are asserted nowhere; aim: a million cells in under 2 s and 1 GiB on one core.
add_executable(bench_plan bench_plan.c)
target_link_libraries(bench_plan PRIVATE kgrid_flags kg_plan)
target_compile_definitions(bench_plan PRIVATE KGRID_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
# Kept working by a short run.
add_test(NAME bench.plan COMMAND bench_plan --quick)
set_tests_properties(bench.plan PROPERTIES LABELS bench TIMEOUT 120)
kg_bench(plan COMMAND bench_plan)
