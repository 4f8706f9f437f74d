/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define D1 "1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "2222222222222222222222222222222222222222222222222222222222222222"

static const char good[] = "kgrid-kernel 1\n"
			   "release 6.12.1-amd64\n"
			   "file " D1 " 100 644 config\n"
			   "file " D2 " 7 644 modules/kernel/a b.ko\n"
			   "file " D1 " 8000000 644 vmlinuz\n";

static void test_files_are_found_by_path(void **state)
{
	struct boot_manifest m;
	struct kg_err err;

	(void)state;
	assert_int_equal(boot_manifest_parse(good, sizeof(good) - 1, &m, &err), 0);
	assert_string_equal(m.release, "6.12.1-amd64");
	assert_int_equal(m.n, 3);
	assert_int_equal(boot_manifest_find(&m, "vmlinuz")->size_bytes, 8000000);
	assert_int_equal(boot_manifest_find(&m, "vmlinuz")->mode, 0644);
	assert_string_equal(boot_manifest_find(&m, "modules/kernel/a b.ko")->digest, D2);
	assert_null(boot_manifest_find(&m, "vmlinu"));
	boot_manifest_deinit(&m);
}

static void test_what_is_not_a_manifest_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"kgrid-kernel 1\n",
		"kgrid-kernel 1\nrelease 6.1",
		"kgrid-kernel 1\nrelease ../..\n",
		"kgrid-kernel 1\nrelease a/b\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 ../etc/passwd\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 a/../../b\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 /abs\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 a//b\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 \n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " -1 644 a\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 9 a\n",
		"kgrid-kernel 1\nrelease 6.1\nfile abc 1 644 a\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 b\nfile " D1 " 1 644 a\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 a\nfile " D1 " 1 644 a\n",
		"kgrid-kernel 1\nrelease 6.1\nfile " D1 " 1 644 a",
		"kgrid-kernel 1\nrelease 6.1\nlink a b\n",
	};
	struct boot_manifest m;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(boot_manifest_parse(wrong[i], strlen(wrong[i]), &m, &err) < 0);
	assert_int_equal(boot_manifest_parse("kgrid-kernel 2\nrelease 6.1\n", 27, &m, &err),
			 KG_EVERSION);
	assert_int_equal(boot_manifest_parse("a\0b", 3, &m, &err), KG_EINVALID);
}

static const char dep[] =
	"kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko\n"
	"kernel/drivers/virtio/virtio_ring.ko:\n"
	"kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_pci_modern_dev.ko "
	"kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko\n"
	"kernel/drivers/virtio/virtio_pci_modern_dev.ko:\n"
	"kernel/drivers/net/virtio_net.ko.xz: kernel/net/net_failover.ko "
	"kernel/drivers/virtio/virtio.ko\n"
	"kernel/net/net_failover.ko: kernel/net/failover.ko\n"
	"kernel/net/failover.ko:\n"
	"kernel/sound/snd-pcm.ko.zst:\n"
	"kernel/loop/a.ko: kernel/loop/b.ko\n"
	"kernel/loop/b.ko: kernel/loop/a.ko\n"
	"kernel/gone/c.ko: kernel/gone/nosuch.ko\n";

static const char builtin[] = "kernel/fs/ext4/ext4.ko\nkernel/lib/crc-t10dif.ko\n";

static size_t place(const struct kg_texts *order, const char *end)
{
	size_t i;

	for (i = 0; i < order->n; i++)
		if (strlen(order->items[i]) >= strlen(end) &&
		    strcmp(order->items[i] + strlen(order->items[i]) - strlen(end), end) == 0)
			return i;
	fail_msg("no '%s' in the order", end);
	return 0;
}

static void test_what_a_module_needs_comes_before_it_and_once(void **state)
{
	char *names[] = {(char *)"virtio_pci", (char *)"virtio-net", (char *)"ext4"};
	struct kg_texts wanted = {names, 3}, order;
	struct kg_err err;

	(void)state;
	assert_int_equal(boot_modules_order(dep, builtin, &wanted, &order, &err), 0);
	assert_int_equal(order.n, 7);
	assert_true(place(&order, "virtio_ring.ko") < place(&order, "/virtio.ko"));
	assert_true(place(&order, "/virtio.ko") < place(&order, "virtio_pci.ko"));
	assert_true(place(&order, "virtio_pci_modern_dev.ko") < place(&order, "virtio_pci.ko"));
	assert_true(place(&order, "/failover.ko") < place(&order, "net_failover.ko"));
	assert_true(place(&order, "net_failover.ko") < place(&order, "virtio_net.ko.xz"));
	kg_texts_deinit(&order);
}

static void expect_error(const char *name, const char *text)
{
	char *names[] = {(char *)(uintptr_t)name};
	struct kg_texts wanted = {names, 1}, order;
	struct kg_err err;

	assert_true(boot_modules_order(dep, builtin, &wanted, &order, &err) < 0);
	assert_non_null(strstr(err.text, text));
}

static void test_missing_module_is_named(void **state)
{
	(void)state;
	expect_error("virtio_blk", "no module 'virtio_blk'");
	expect_error("virtio_ne", "no module 'virtio_ne'");
	expect_error("c", "no line for 'kernel/gone/nosuch.ko'");
}

static void test_modules_that_need_each_other_are_refused(void **state)
{
	(void)state;
	expect_error("a", "depends on itself");
}

static void test_dash_and_underscore_are_the_same(void **state)
{
	char *names[] = {(char *)"snd_pcm", (char *)"crc_t10dif"};
	struct kg_texts wanted = {names, 2}, order;
	struct kg_err err;

	(void)state;
	assert_int_equal(boot_modules_order(dep, builtin, &wanted, &order, &err), 0);
	assert_int_equal(order.n, 1);
	kg_texts_deinit(&order);
}

static void test_nothing_wanted_is_an_empty_order(void **state)
{
	struct kg_texts wanted = {0}, order;
	struct kg_err err;

	(void)state;
	assert_int_equal(boot_modules_order("", "", &wanted, &order, &err), 0);
	assert_int_equal(order.n, 0);
	kg_texts_deinit(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_found_by_path),
		cmocka_unit_test(test_what_is_not_a_manifest_is_refused),
		cmocka_unit_test(test_what_a_module_needs_comes_before_it_and_once),
		cmocka_unit_test(test_missing_module_is_named),
		cmocka_unit_test(test_modules_that_need_each_other_are_refused),
		cmocka_unit_test(test_dash_and_underscore_are_the_same),
		cmocka_unit_test(test_nothing_wanted_is_an_empty_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
