# SPDX-License-Identifier: GPL-2.0-or-later
# kg_use_alloc_fault(TARGET): allocations of TARGET and its static libraries can be made to fail.
function(kg_use_alloc_fault target)
	target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib/alloc_fault.c)
	target_link_options(${target} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
		-Wl,--wrap=strdup,--wrap=strndup)
endfunction()
