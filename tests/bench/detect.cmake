# SPDX-License-Identifier: GPL-2.0-or-later
# How well changes are told. The real runs are not part of the repository.
file(GLOB detect_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/detect*.c)
add_executable(bench_detect ${detect_sources})
target_link_libraries(bench_detect PRIVATE kgrid_flags kg_analysis m)
target_compile_definitions(bench_detect PRIVATE
	KGRID_THIRDPARTY="${CMAKE_SOURCE_DIR}/../shared/thirdparty")
# Kept working by a short run without the real data.
add_test(NAME bench.detect COMMAND bench_detect --quick --thirdparty /nonexistent)
set_tests_properties(bench.detect PROPERTIES LABELS bench TIMEOUT 120)
kg_bench(detect COMMAND bench_detect)
