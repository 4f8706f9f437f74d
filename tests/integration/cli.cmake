# SPDX-License-Identifier: GPL-2.0-or-later
# The kgrid command as a program.
find_package(Threads REQUIRED)
add_library(kg_test_command STATIC
	${CMAKE_SOURCE_DIR}/tests/lib/command.c
	${CMAKE_SOURCE_DIR}/tests/lib/fake_coordinator.c)
target_link_libraries(kg_test_command PUBLIC kgrid_flags kg_proto PkgConfig::cmocka
	Threads::Threads util)
target_compile_definitions(kg_test_command PUBLIC
	KGRID_COMMAND="$<TARGET_FILE:kgrid>"
	KGRID_COMPLETION="${CMAKE_BINARY_DIR}/cli/kgrid.bash"
	KGRID_MANUAL="${CMAKE_BINARY_DIR}/cli/kgrid.1")

kg_add_unit_test(NAME test_cli_program SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_program.c
	LIBS kg_test_command LABELS integration)
add_dependencies(test_cli_program kgrid kgrid_generated)

kg_add_unit_test(NAME test_cli_grid SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_grid.c
	LIBS kg_test_command kg_test_grid LABELS integration)
add_dependencies(test_cli_grid kgrid kgrid-coordinator)

kg_add_unit_test(NAME test_cli_results
	SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_results.c ${CMAKE_SOURCE_DIR}/tests/lib/player.c
	LIBS kg_test_command kg_test_grid LABELS integration)
add_dependencies(test_cli_results kgrid kgrid-coordinator)

kg_add_unit_test(NAME test_cli_jobs SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_jobs.c
	LIBS kg_test_command kg_test_grid LABELS integration)
add_dependencies(test_cli_jobs kgrid kgrid-coordinator)

kg_add_unit_test(NAME test_cli_lsm SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_lsm.c
	LIBS kg_test_command kg_test_grid LABELS integration)
add_dependencies(test_cli_lsm kgrid kgrid-coordinator)
