# SPDX-License-Identifier: GPL-2.0-or-later
# Its numbers are asserted nowhere; that the agent keeps its limits is a test (test_agent_process).
add_executable(bench_agent bench_agent.c ${CMAKE_SOURCE_DIR}/tests/lib/agent_double.c)
target_link_libraries(bench_agent PRIVATE kgrid_flags kg_agent PkgConfig::cmocka)
target_compile_definitions(bench_agent PRIVATE KGRID_AGENT="$<TARGET_FILE:kgrid-agent>")
add_dependencies(bench_agent kgrid-agent)
kg_bench(agent COMMAND bench_agent)
