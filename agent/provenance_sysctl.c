/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All of /proc/sys that says how the kernel is set, without what it counts. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provenance_documents.h"
#include "common/err.h"
#include "common/str.h"

#define DEPTH_MAX 10
#define COUNT_MAX 20000
#define VALUE_MAX 4096

/* fnmatch patterns; a '*' also stands for dots. */
static const char *const volatile_names[] = {
	"fs.aio-nr",
	"fs.binfmt_misc*", /* an automount: looking would mount it */
	"fs.dentry-state",
	"fs.file-nr",
	"fs.inode-nr",
	"fs.inode-state",
	"fs.nfs.*",
	"fs.quota.*",
	"dev.cdrom.info",
	"kernel.hung_task_detect_count",
	"kernel.ns_last_pid",
	"kernel.pty.nr",
	"kernel.random.*",
	"kernel.tainted",
	"kernel.hostname",
	"kernel.domainname",
	"kernel.perf_event_max_sample_rate", /* the kernel lowers it itself */
	"kernel.perf_event_mlock_kb",
	"kernel.keys.gc_delay",
	"kernel.usermodehelper.*",
	"kernel.sched_domain.*",
	"net.core.netdev_rss_key", /* random at every boot */
	"net.ipv4.tcp_fastopen_key",
	"net.ipv4.route.flush",
	"net.ipv6.route.flush",
	"net.*stable_secret",
	"net.netfilter.nf_conntrack_count",
	"sunrpc.*",
	"vm.compact_memory",
	"vm.drop_caches",
	"vm.stat_refresh",
};

/* What follows from the size of memory, and what comes and goes with modules. */
static const char *const unsteady_names[] = {
	"dev.*",
	"fs.lockd*",
	"fs.nfs*",
	"fs.xfs.*",
	"kernel.spl.*",
	"net.bridge.*",
	"net.ipv4.tcp_a*_congestion_control", /* available, allowed */
	"net.ipv4.tcp_available_ulp",
	"net.ipv4.vs.*",
	"net.mpls.*",
	"net.netfilter.*",
	"net.rds.*",
	"net.sctp.*",
	"fs.epoll.max_user_watches",
	"fs.fanotify.*",
	"fs.file-max",
	"fs.inotify.*",
	"kernel.threads-max",
	"kernel.pid_max",
	"net.core.bpf_jit_limit",
	"net.core.optmem_max",
	"net.*max_orphans",
	"net.*max_syn_backlog",
	"net.*max_tw_buckets",
	"net.*tcp_mem",
	"net.*tcp_rmem",
	"net.*tcp_wmem",
	"net.*udp_mem",
	"net.*inet_peer_threshold",
	"net.*frag_high_thresh",
	"net.*frag_low_thresh",
	"net.*ehash_entries",
	"net.ipv[46].route.*",
	"net.nf_conntrack_max",
	"user.max_*",
	"vm.*_reserve_kbytes",
	"vm.min_free_kbytes",
	"vm.lowmem_reserve_ratio",
	"vm.nr_hugepages_mempolicy",
};

static bool any(const char *const *patterns, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		/* Most names differ within the first few letters: fnmatch is slow to see that. */
		if (strncmp(patterns[i], name, strcspn(patterns[i], "*[")) == 0 &&
		    fnmatch(patterns[i], name, 0) == 0)
			return true;
	}
	return false;
}

/* net.ipv4.conf.eth0.*, net.ipv6.neigh.lo.*: of one interface, and those come and go. */
static bool of_interface(const char *name)
{
	const char *at;

	if (!kg_str_starts(name, "net.ipv4.") && !kg_str_starts(name, "net.ipv6."))
		return false;
	at = name + strlen("net.ipv4.");
	if (kg_str_starts(at, "conf."))
		at += strlen("conf.");
	else if (kg_str_starts(at, "neigh."))
		at += strlen("neigh.");
	else
		return false;
	return strcmp(at, "all") != 0 && strcmp(at, "default") != 0 && !kg_str_starts(at, "all.") &&
	       !kg_str_starts(at, "default.");
}

bool sysctl_is_volatile(const char *name)
{
	return of_interface(name) ||
	       any(volatile_names, sizeof(volatile_names) / sizeof(volatile_names[0]), name);
}

bool sysctl_is_unsteady(const char *name)
{
	return any(unsteady_names, sizeof(unsteady_names) / sizeof(unsteady_names[0]), name);
}

struct walk {
	const char *root;
	struct fact_list *l;
	struct document_writer *doc;
	struct kg_sha256 *stable;
	size_t n;
};

static void walk(struct walk *w, const char *path, const char *name, unsigned depth);

static void add_value(struct walk *w, const char *name, char *text, size_t len)
{
	struct kg_str line = {0};
	char *p;

	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\0'))
		len--;
	for (p = text; p < text + len; p++)
		if ((unsigned char)*p < 0x20)
			*p = ' ';
	kg_str_addf(&line, "%s = ", name);
	kg_str_addn(&line, text, len);
	kg_str_add(&line, "\n");
	if (line.failed) {
		w->l->failed = true;
	} else {
		document_add(w->doc, line.text, line.len);
		if (!sysctl_is_unsteady(name))
			kg_sha256_update(w->stable, line.text, line.len);
		w->n++;
	}
	kg_str_deinit(&line);
}

/* What is no folder is a value, write-only, or not for this machine: opening tells without another
 * look, and there are a thousand of them. */
static void add_entry(struct walk *w, const char *path, const char *name, unsigned depth)
{
	char *text;
	size_t len;
	int rc = fact_read(w->root, path, VALUE_MAX, &text, &len);

	if (rc == -ENOMEM)
		w->l->failed = true;
	else if (rc == -EISDIR && depth < DEPTH_MAX)
		walk(w, path, name, depth + 1);
	if (rc < 0)
		return;
	add_value(w, name, text, len);
	free(text);
}

/* Folders in order of their names: the whole is then in an order of its own, always the same. */
static void walk(struct walk *w, const char *path, const char *name, unsigned depth)
{
	size_t n, i;
	char **names = fact_names(w->l, w->root, path, "", &n);

	for (i = 0; i < n && !w->l->failed && w->n < COUNT_MAX; i++) {
		struct kg_str sub = {0}, below = {0};

		kg_str_addf(&sub, "%s%s%s", name, name[0] ? "." : "", names[i]);
		kg_str_addf(&below, "%s/%s", path, names[i]);
		if (sub.failed || below.failed)
			w->l->failed = true;
		else if (!sysctl_is_volatile(sub.text))
			add_entry(w, below.text, sub.text, depth);
		kg_str_deinit(&sub);
		kg_str_deinit(&below);
	}
	fact_names_free(names, n);
}

void provenance_sysctl(const char *root, struct fact_list *l, struct document_list *docs)
{
	struct walk w = {.root = root, .l = l, .doc = document_begin(), .stable = kg_sha256_new()};
	char hex[KG_SHA256_HEX_SIZE];
	int rc = -ENOMEM;

	if (w.doc && w.stable) {
		walk(&w, "/proc/sys", "", 0);
		kg_sha256_final(w.stable, hex);
	}
	if (w.doc)
		rc = document_end(w.doc, "sysctl", w.stable && !l->failed, docs);
	kg_sha256_free(w.stable);
	if (!w.doc || !w.stable || rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		fact_unsupported(l, "sysctl.digest",
				 rc == KG_ENODATA ? FACT_ABSENT : fact_reason(rc));
	else
		fact_add(l, "sysctl.digest", hex);
}
