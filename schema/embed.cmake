# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DFOLDER=schema -DOUTPUT=schema.c -P embed.cmake
# Writes the numbered migrations as byte arrays into a C file, in order. The number of a file is
# the version that the database has after it.
file(GLOB files ${FOLDER}/[0-9][0-9][0-9]_*.sql)
list(SORT files)
set(arrays "")
set(rows "")
set(expected 1)
foreach(file ${files})
	get_filename_component(name ${file} NAME)
	string(SUBSTRING ${name} 0 3 digits)
	string(REGEX REPLACE "^0+" "" number ${digits})
	if(NOT number EQUAL expected)
		message(FATAL_ERROR "migration ${name}: expected number ${expected}")
	endif()
	math(EXPR expected "${expected} + 1")
	file(READ ${file} hex HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
	string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
		"\t\\1\n" bytes "${bytes}")
	string(APPEND arrays "static const char sql_${digits}[] = {\n${bytes}0};\n\n")
	string(APPEND rows "\t{${number}, \"${name}\", sql_${digits}},\n")
endforeach()
math(EXPR count "${expected} - 1")
file(WRITE ${OUTPUT} "/* Generated from schema/ by embed.cmake. */
#include \"coordinator/store/migrate.h\"

${arrays}const struct store_migration store_migrations[] = {
${rows}};
const size_t store_n_migrations = ${count};
")
