# SPDX-License-Identifier: GPL-2.0-or-later
# Compares people's own files, against ministat, numpy and R where they are.
add_custom_target(bench-stat
	COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench_stat.sh $<TARGET_FILE:kgrid>
	USES_TERMINAL VERBATIM)
add_dependencies(bench-stat kgrid)
get_property(last GLOBAL PROPERTY kgrid_last_bench)
if(last)
	add_dependencies(bench-stat ${last})
endif()
set_property(GLOBAL PROPERTY kgrid_last_bench bench-stat)
add_dependencies(bench bench-stat)
