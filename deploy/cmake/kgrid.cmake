# SPDX-License-Identifier: GPL-2.0-or-later
# Compiler flags of the project and the helpers that the folders' CMakeLists.txt use.

add_library(kgrid_flags INTERFACE)
target_compile_options(kgrid_flags INTERFACE
	-Wall -Wextra -Wshadow -Wconversion -Werror -Wstrict-prototypes -Wmissing-prototypes
	-Wvla -Wpointer-arith -Wundef -fno-common -fstack-protector-strong
	-UNDEBUG) # assertions stay in every build
target_compile_definitions(kgrid_flags INTERFACE _GNU_SOURCE KGRID_VERSION="${PROJECT_VERSION}")
target_include_directories(kgrid_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT KGRID_SANITIZE)
	target_compile_definitions(kgrid_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
if(KGRID_FAULTS)
	target_compile_definitions(kgrid_flags INTERFACE KGRID_FAULTS)
endif()
if(KGRID_SANITIZE)
	target_compile_options(kgrid_flags INTERFACE -fsanitize=${KGRID_SANITIZE}
		-fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(kgrid_flags INTERFACE -fsanitize=${KGRID_SANITIZE})
endif()
if(KGRID_COVERAGE)
	target_compile_options(kgrid_flags INTERFACE --coverage)
	target_link_options(kgrid_flags INTERFACE --coverage)
endif()
if(KGRID_FUZZ)
	target_compile_options(kgrid_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack -pie)

# kg_add_unit_test(NAME test_x SOURCES test_x.c LIBS kg_common [LABELS unit] [TIMEOUT 120])
# One cmocka binary; data files are found below KGRID_TEST_DATA (tests/data).
function(kg_add_unit_test)
	cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
	add_executable(${T_NAME} ${T_SOURCES})
	target_link_libraries(${T_NAME} PRIVATE kgrid_flags ${T_LIBS} PkgConfig::cmocka)
	target_compile_definitions(${T_NAME} PRIVATE
		KGRID_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
	if(NOT T_LABELS)
		set(T_LABELS unit)
	endif()
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 120)
	endif()
	add_test(NAME ${T_LABELS}.${T_NAME} COMMAND ${T_NAME})
	set_tests_properties(${T_LABELS}.${T_NAME} PROPERTIES
		LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
endfunction()
