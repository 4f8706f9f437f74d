# SPDX-License-Identifier: GPL-2.0-or-later
add_executable(bench_ingest bench_ingest.c bench_ingest_client.c bench_ingest_server.c)
target_link_libraries(bench_ingest PRIVATE kgrid_flags kg_store kg_link PkgConfig::sqlite3
	Threads::Threads)
# Kept working by a tiny run; speed is never asserted.
add_test(NAME bench.ingest COMMAND bench_ingest --rows 4000 --rounds 1 --per-record 50)
set_tests_properties(bench.ingest PROPERTIES LABELS bench TIMEOUT 60)
kg_bench(ingest COMMAND bench_ingest)
