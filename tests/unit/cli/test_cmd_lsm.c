/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid lsm: files in, lists out, with the exit codes that are promised; and every vector once more
 * as people would ask for it, through a config file. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "common/file.h"
#include "common/str.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/fake_coordinator.h"

#define DEBIAN	KGRID_TEST_DATA "/plan/config-6.12.117+deb12-cloud-amd64"
#define RELEASE "6.12.117+deb12-cloud-amd64"

static char folder[64];
static char *out, *err_text; /* of the last command, owned */
static size_t out_len, err_len;

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/kgrid-lsm-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(out);
	free(err_text);
	out = err_text = NULL;
	return kg_remove_tree(folder, NULL);
}

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* A file in the folder; its path, until the next one. */
static const char *file(const void *bytes, size_t len)
{
	static char path[96];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/file", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static int run_at(const char *address, const char *const *words)
{
	struct cli cli = {.address = address, .width = 100};
	struct cli_args args;
	struct kg_err err = {{0}};
	char *argv[32] = {s("kgrid"), s("lsm")};
	int argc = 2, rc;

	free(out);
	free(err_text);
	for (; *words; words++)
		argv[argc++] = s(*words);
	cli.out = open_memstream(&out, &out_len);
	cli.err = open_memstream(&err_text, &err_len);
	if (cli_args_parse(argc, argv, &args, &err) < 0) {
		cli_say(&cli, "%s", err.text);
		rc = CLI_EXIT_USAGE;
	} else {
		cli.json = cli_args_has(&args, "json");
		rc = args.command->run(&cli, &args);
	}
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	return rc;
}

#define RUN(...) run_at("/nonexistent/sock", (const char *const[]){__VA_ARGS__, NULL})

static json_t *json_out(void)
{
	json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	return root;
}

/* "a,b" of the JSON's effective list, owned. */
static char *effective(json_t *root)
{
	json_t *list = json_object_get(root, "effective"), *name;
	struct kg_str text = {0};
	size_t i;

	assert_true(json_is_array(list));
	json_array_foreach(list, i, name)
	{
		kg_str_addf(&text, "%s%s", i ? "," : "", json_string_value(name));
	}
	return kg_str_take(&text);
}

/* ---- resolve ---- */

static void test_list_is_printed_with_reasons_and_warnings(void **state)
{
	(void)state;
	assert_int_equal(RUN("resolve", "--release", RELEASE, "--config", DEBIAN, "--cmdline",
			     "quiet lsm=yama,smack"),
			 CLI_EXIT_OK);
	assert_contains(out, "kernel: " RELEASE "\n");
	assert_contains(out, "list: lockdown,capability,yama,ima,evm\n");
	assert_contains(out, "yama        in     yes        named by lsm=\n");
	assert_contains(out, "smack       out    yes        not built in\n");
	assert_contains(out, "warning: 'smack' is not built into " RELEASE);
	assert_string_equal(err_text, "");
}

static void test_json_has_the_keys_that_are_promised(void **state)
{
	json_t *root, *e;
	char *list;

	(void)state;
	assert_int_equal(RUN("resolve", "--release", RELEASE, "--config", DEBIAN, "--json",
			     "--cmdline=lsm=bpf,nosuch"),
			 CLI_EXIT_OK);
	root = json_out();
	list = effective(root);
	assert_string_equal(list, "lockdown,capability,bpf,ima,evm");
	free(list);
	assert_string_equal(json_string_value(json_object_get(root, "release")), RELEASE);
	assert_int_equal(json_array_size(json_object_get(root, "warnings")), 1);
	e = json_array_get(json_object_get(root, "entries"), 2);
	assert_string_equal(json_string_value(json_object_get(e, "name")), "bpf");
	assert_true(json_is_true(json_object_get(e, "in")));
	assert_true(json_is_true(json_object_get(e, "requested")));
	assert_string_equal(json_string_value(json_object_get(e, "reason")), "requested");
	assert_string_equal(json_string_value(json_object_get(e, "why")), "named by lsm=");
	e = json_array_get(json_object_get(root, "entries"), 5);
	assert_string_equal(json_string_value(json_object_get(e, "name")), "nosuch");
	assert_true(json_is_false(json_object_get(e, "in")));
	assert_string_equal(json_string_value(json_object_get(e, "reason")), "unknown");
	json_decref(root);
}

static void test_command_line_may_be_empty_or_left_out(void **state)
{
	static const char list[] =
		"list: lockdown,capability,landlock,yama,apparmor,tomoyo,bpf,ipe,"
		"ima,evm\n";

	(void)state;
	assert_int_equal(RUN("resolve", "--config", DEBIAN), CLI_EXIT_OK);
	assert_contains(out, list);
	assert_contains(out, "kernel: 6.12.117\n"); /* of the config's heading */
	assert_int_equal(RUN("resolve", "--config", DEBIAN, "--cmdline", ""), CLI_EXIT_OK);
	assert_contains(out, list);
	assert_int_equal(RUN("resolve", "--config", DEBIAN, "--cmdline="), CLI_EXIT_OK);
	assert_contains(out, list);
	assert_int_equal(RUN("resolve", "--config", DEBIAN, "--cmdline", "-- lsm=bpf"),
			 CLI_EXIT_OK);
	assert_contains(out, list);
}

static void test_profile_is_the_configs_or_the_one_that_is_given(void **state)
{
	static const char ubuntu[] = KGRID_TEST_DATA "/plan/config-ubuntu";

	(void)state;
	assert_int_equal(RUN("resolve", "--config", ubuntu, "-l", "lsm=apparmor,selinux"), 0);
	assert_contains(out, "list: lockdown,capability,apparmor,selinux\n");
	assert_int_equal(RUN("resolve", "--config", ubuntu, "-l", "lsm=apparmor,selinux",
			     "--profile", "upstream"),
			 0);
	assert_contains(out, "list: lockdown,capability,apparmor\n");
	assert_int_equal(RUN("resolve", "--config", DEBIAN, "-l", "lsm=apparmor,selinux", "-p",
			     "ubuntu"),
			 0);
	assert_contains(out, "list: lockdown,capability,apparmor,selinux,ima,evm\n");
}

static void test_config_of_another_version_is_said(void **state)
{
	(void)state;
	assert_int_equal(RUN("resolve", "--release", "6.1.0-52-amd64", "--config", DEBIAN), 0);
	assert_contains(out, "list: lockdown,capability,landlock,yama,apparmor,tomoyo,bpf,ipe\n");
	assert_contains(err_text, "the config is one of 6.12.117, not of 6.1.0-52-amd64");
	assert_int_equal(RUN("resolve", "--release", "6.12", "--config", DEBIAN), 0);
	assert_string_equal(err_text, "");
}

static void test_compressed_config_is_read(void **state)
{
	/* gzip -9n of "CONFIG_SECURITY_YAMA=y\nCONFIG_LSM=\"yama\"\n" */
	static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
					       0x03, 0x73, 0xf6, 0xf7, 0x73, 0xf3, 0x74, 0x8f, 0x0f,
					       0x76, 0x75, 0x0e, 0x0d, 0xf2, 0x0c, 0x89, 0x8c, 0x8f,
					       0x74, 0xf4, 0x75, 0xb4, 0xad, 0xe4, 0x72, 0x86, 0x08,
					       0xfb, 0x04, 0xfb, 0xda, 0x2a, 0x55, 0x26, 0xe6, 0x26,
					       0x2a, 0x71, 0x01, 0x00, 0xd7, 0xcc, 0xf4, 0xe7, 0x29,
					       0x00, 0x00, 0x00};

	(void)state;
	assert_int_equal(RUN("resolve", "--release", "6.6", "--config",
			     file(packed, sizeof(packed))),
			 CLI_EXIT_OK);
	assert_contains(out, "list: capability,yama\n");
	assert_int_equal(RUN("resolve", "--release", "6.6", "--config", file(packed, 30)),
			 CLI_EXIT_USAGE);
	assert_contains(err_text, "cannot unpack");
}

static void refused(const char *part, const char *const *words)
{
	assert_int_equal(run_at("/nonexistent/sock", words), CLI_EXIT_USAGE);
	assert_contains(err_text, part);
	assert_string_equal(out, "");
}
#define REFUSED(part, ...) refused(part, (const char *const[]){__VA_ARGS__, NULL})

static void test_what_cannot_be_resolved_is_refused_with_the_reason(void **state)
{
	char line[5000];

	(void)state;
	memset(line, ',', sizeof(line));
	memcpy(line, "lsm=", 4);
	line[4097] = '\0';
	REFUSED("has 4097 characters", "resolve", "--config", DEBIAN, "--cmdline", line);
	REFUSED("needs --kernel KERNEL, or --release RELEASE and --config", "resolve");
	REFUSED("needs --kernel KERNEL", "resolve", "--cmdline", "lsm=yama");
	REFUSED("--release needs --config", "resolve", "--release", "6.1");
	REFUSED("give either that", "resolve", "--kernel", "x", "--config", DEBIAN);
	REFUSED("give either that", "resolve", "--kernel", "x", "--release", "6.1");
	REFUSED("cannot open '/nonexistent/file'", "resolve", "--config", "/nonexistent/file");
	REFUSED("'--profile' cannot be 'redhat'", "resolve", "--config", DEBIAN, "--profile",
		"redhat");
	REFUSED("'six' is not a kernel release", "resolve", "--config", DEBIAN, "--release", "six");
	REFUSED("kernel 4.18 is older than 5.0", "resolve", "--config", DEBIAN, "--release",
		"4.18");
	REFUSED("not a kernel config", "resolve", "--release", "6.1", "--config", file("hello", 5));
	REFUSED("not a kernel config", "resolve", "--release", "6.1", "--config", file("", 0));
	REFUSED("does not say which version it is of: give --release", "resolve", "--config",
		file("CONFIG_A=y\n", 11));
}

static void test_config_with_dos_lines_and_mark_is_read(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "CONFIG_SECURITY_YAMA=y\r\nCONFIG_LSM=\"yama\"\r\n";

	(void)state;
	assert_int_equal(RUN("resolve", "--release", "6.6", "--config",
			     file(text, sizeof(text) - 1)),
			 CLI_EXIT_OK);
	assert_contains(out, "list: capability,yama\n");
}

/* ---- every vector, by a config file ---- */

static void add_option(struct kg_str *config, const char *name)
{
	static const struct {
		const char *name, *option;
	} rows[] = {
		{"bpf", "BPF_LSM"},
		{"integrity", "INTEGRITY"},
		{"ima", "IMA"},
		{"evm", "EVM"},
		{"lockdown", "SECURITY_LOCKDOWN_LSM"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) == 0) {
			kg_str_addf(config, "CONFIG_%s=y\n", rows[i].option);
			return;
		}
	}
	kg_str_add(config, "CONFIG_SECURITY_");
	for (; *name; name++)
		kg_str_addf(config, "%c", *name - 'a' + 'A');
	kg_str_add(config, "=y\n");
}

static void write_config(json_t *v, struct kg_str *config)
{
	json_t *name;
	size_t i;

	kg_str_add(config, "CONFIG_SECURITY=y\n");
	json_array_foreach(json_object_get(v, "builtin"), i, name)
	{
		add_option(config, json_string_value(name));
	}
	json_array_foreach(json_object_get(v, "early"), i, name)
	{
		add_option(config, json_string_value(name));
		kg_str_add(config, "CONFIG_SECURITY_LOCKDOWN_LSM_EARLY=y\n");
	}
	if (json_is_true(json_object_get(v, "selinux_bootparam")))
		kg_str_add(config, "CONFIG_SECURITY_SELINUX_BOOTPARAM=y\n"
				   "CONFIG_SECURITY_SELINUX_BOOTPARAM_VALUE=1\n");
	if (json_is_string(json_object_get(v, "config_lsm")))
		kg_str_addf(config, "CONFIG_LSM=\"%s\"\n",
			    json_string_value(json_object_get(v, "config_lsm")));
	if (json_is_string(json_object_get(v, "default_security")))
		kg_str_addf(config, "CONFIG_DEFAULT_SECURITY=\"%s\"\n",
			    json_string_value(json_object_get(v, "default_security")));
}

static void check_vector(json_t *v)
{
	const char *kernel = json_string_value(json_object_get(v, "kernel"));
	const char *cmdline = json_string_value(json_object_get(v, "cmdline"));
	const char *expect = json_string_value(json_object_get(v, "expect"));
	struct kg_str config = {0};
	char release[32], *list;
	json_t *root;

	write_config(v, &config);
	(void)snprintf(release, sizeof(release), "%.*s", (int)strcspn(kernel, " "), kernel);
	assert_int_equal(RUN("resolve", "--release", release, "--config",
			     file(kg_str_text(&config), config.len), "--json", "--profile",
			     strstr(kernel, "Ubuntu") ? "ubuntu" : "upstream", "--cmdline",
			     cmdline),
			 CLI_EXIT_OK);
	root = json_out();
	list = effective(root);
	if (strcmp(list, expect) != 0)
		fail_msg("%s: '%s', expected '%s'", json_string_value(json_object_get(v, "id")),
			 list, expect);
	free(list);
	json_decref(root);
	kg_str_deinit(&config);
}

static void test_every_vector_resolves_through_a_config_file(void **state)
{
	json_t *root = json_load_file(KGRID_TEST_DATA "/lsm_vectors.json", 0, NULL);
	json_t *vectors = json_object_get(root, "vectors"), *v;
	size_t i;

	(void)state;
	assert_true(json_array_size(vectors) >= 253);
	json_array_foreach(vectors, i, v)
	{
		check_vector(v);
	}
	json_decref(root);
}

/* ---- resolve with a stored kernel ---- */

struct stored {
	int code; /* of an error; 0: an answer */
	char kernel[64], cmdline[64], profile[32];
};

static int respond(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		   void *ctx)
{
	const Kgrid__V1__LsmResolveRequest *q = (const Kgrid__V1__LsmResolveRequest *)body;
	Kgrid__V1__LsmResolveReply r = KGRID__V1__LSM_RESOLVE_REPLY__INIT;
	Kgrid__V1__LsmEntry e = KGRID__V1__LSM_ENTRY__INIT, *entries[1] = {&e};
	char *names[1] = {s("capability")};
	struct stored *st = ctx;

	assert_int_equal(type, KG_MSG_LSM_RESOLVE);
	(void)snprintf(st->kernel, sizeof(st->kernel), "%s", q->kernel);
	(void)snprintf(st->cmdline, sizeof(st->cmdline), "%s", q->cmdline);
	(void)snprintf(st->profile, sizeof(st->profile), "%s", q->profile ? q->profile : "none");
	r.release = s("6.1.3");
	r.effective = names;
	r.n_effective = r.n_entries = 1;
	r.entries = entries;
	e.name = s("capability");
	e.has_in = 1;
	e.in = 1;
	e.reason = s("first");
	e.why = s("always first");
	if (st->code)
		fake_error(f, id, st->code, "no such kernel", NULL);
	else
		fake_send(f, KG_MSG_LSM_RESOLVE_REPLY, id, &r.base);
	return 0;
}

static int run_stored(struct stored *st, const char *const *words)
{
	struct fake *f = fake_start(respond, st);
	int rc = run_at(fake_address(f), words);

	fake_stop(f);
	return rc;
}
#define RUN_STORED(st, ...) run_stored(st, (const char *const[]){__VA_ARGS__, NULL})

static void test_stored_kernel_is_asked_of_the_coordinator(void **state)
{
	struct stored st = {0};

	(void)state;
	assert_int_equal(RUN_STORED(&st, "resolve", "--kernel", "6.1", "--cmdline", "lsm=yama"), 0);
	assert_string_equal(st.kernel, "6.1");
	assert_string_equal(st.cmdline, "lsm=yama");
	assert_string_equal(st.profile, "none");
	assert_contains(out, "kernel: 6.1.3\nlist: capability\n");
	assert_int_equal(RUN_STORED(&st, "resolve", "-k", "6.1", "-p", "ubuntu"), 0);
	assert_string_equal(st.cmdline, "");
	assert_string_equal(st.profile, "ubuntu");
}

static void test_refusals_of_the_coordinator_have_their_exit_codes(void **state)
{
	struct stored st = {.code = KG_ENOTFOUND};

	(void)state;
	assert_int_equal(RUN_STORED(&st, "resolve", "--kernel", "x"), CLI_EXIT_REFUSED);
	assert_contains(err_text, "no such kernel");
	st.code = KG_EAMBIGUOUS;
	assert_int_equal(RUN_STORED(&st, "resolve", "--kernel", "x"), CLI_EXIT_REFUSED);
	st.code = KG_ENODATA;
	assert_int_equal(RUN_STORED(&st, "resolve", "--kernel", "x"), CLI_EXIT_NODATA);
	assert_int_equal(RUN("resolve", "--kernel", "x"), CLI_EXIT_UNREACHABLE);
}

/* ---- parse ---- */

static void test_log_is_printed_in_the_same_form(void **state)
{
	(void)state;
	assert_int_equal(RUN("parse", KGRID_TEST_DATA "/dmesg_lsm_debug_6.4.1.txt"), CLI_EXIT_OK);
	assert_contains(out, "kernel: not known\n");
	assert_contains(out, "list: lockdown,capability,landlock,yama,selinux,bpf\n");
	assert_contains(out, "tomoyo      out               switched off by security=selinux\n");
}

static void test_json_of_a_log_has_more_keys(void **state)
{
	json_t *root;
	char *list;

	(void)state;
	assert_int_equal(RUN("parse", "--json", KGRID_TEST_DATA "/dmesg_lsm_6.4.0_grid.txt"), 0);
	root = json_out();
	list = effective(root);
	assert_string_equal(list, "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf");
	free(list);
	assert_true(json_is_true(json_object_get(root, "complete")));
	assert_int_equal(json_integer_value(json_object_get(root, "boots")), 1);
	assert_string_equal(json_string_value(json_object_get(root, "release")), "6.4.0-vanilla");
	assert_contains(json_string_value(json_object_get(root, "cmdline")), "panic=100");
	assert_int_equal(json_array_size(json_object_get(root, "entries")), 8);
	json_decref(root);
	assert_int_equal(RUN("parse", "--json", KGRID_TEST_DATA "/dmesg_lsm_debug_6.4.1.txt"), 0);
	root = json_out();
	assert_true(json_is_null(json_object_get(root, "cmdline")));
	assert_true(json_is_null(json_object_get(root, "release")));
	json_decref(root);
}

static void test_log_that_is_not_whole_says_so(void **state)
{
	static const char text[] = "Linux version 7.0.1 (x)\nYama: becoming mindful.\n";

	(void)state;
	assert_int_equal(RUN("parse", file(text, sizeof(text) - 1)), CLI_EXIT_OK);
	assert_contains(out, "kernel: 7.0.1 (the list may not be complete)\n");
	assert_contains(out, "warning: 6.19 and later print no list without lsm.debug");
}

static void test_log_without_an_lsm_line_is_no_data(void **state)
{
	(void)state;
	assert_int_equal(RUN("parse", file("hello\n", 6)), CLI_EXIT_NODATA);
	assert_contains(err_text, "the log has no line of a kernel's boot, and none of an LSM");
	assert_int_equal(RUN("parse", file("", 0)), CLI_EXIT_NODATA);
	assert_int_equal(RUN("parse", "--json", file("", 0)), CLI_EXIT_NODATA);
	assert_string_equal(out, "");
	assert_int_equal(RUN("parse", "/nonexistent/log"), CLI_EXIT_USAGE);
	assert_contains(err_text, "cannot open");
}

static void test_text_of_a_log_cannot_steer_a_terminal(void **state)
{
	static const char text[] = "Linux version 6.1\x1b[2J (x)\nCommand line: lsm=a\x9b\n"
				   "LSM: Security Framework initializing\n";

	(void)state;
	assert_int_equal(RUN("parse", file(text, sizeof(text) - 1)), CLI_EXIT_OK);
	assert_null(strchr(out, '\x1b'));
	assert_null(strchr(out, '\x9b'));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_list_is_printed_with_reasons_and_warnings),
		T(test_json_has_the_keys_that_are_promised),
		T(test_command_line_may_be_empty_or_left_out),
		T(test_profile_is_the_configs_or_the_one_that_is_given),
		T(test_config_of_another_version_is_said),
		T(test_compressed_config_is_read),
		T(test_what_cannot_be_resolved_is_refused_with_the_reason),
		T(test_config_with_dos_lines_and_mark_is_read),
		T(test_every_vector_resolves_through_a_config_file),
		T(test_stored_kernel_is_asked_of_the_coordinator),
		T(test_refusals_of_the_coordinator_have_their_exit_codes),
		T(test_log_is_printed_in_the_same_form),
		T(test_json_of_a_log_has_more_keys),
		T(test_log_that_is_not_whole_says_so),
		T(test_log_without_an_lsm_line_is_no_data),
		T(test_text_of_a_log_cannot_steer_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
