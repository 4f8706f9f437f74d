# SPDX-License-Identifier: GPL-2.0-or-later
add_executable(swarm swarm.c)
target_link_libraries(swarm PRIVATE kgrid_flags kg_link)
target_compile_definitions(swarm PRIVATE KGRID_COORDINATOR="$<TARGET_FILE:kgrid-coordinator>")
add_dependencies(swarm kgrid-coordinator)
# Kept working by a short run; speed and memory are never asserted.
add_test(NAME bench.swarm COMMAND swarm --agents 40 --seconds 2 --heartbeat 1)
set_tests_properties(bench.swarm PROPERTIES LABELS bench TIMEOUT 60)
kg_bench(swarm COMMAND swarm)
