/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects what the messages of a boot say of LSMs. Wordings: security/security.c of 5.0 to 6.18,
 * security/lsm_init.c from 6.19, and the init functions of the LSMs.
 *
 * A boot begins with its version line. In a log of which only some lines are left it begins where
 * a line comes that its boot has only once, or one that belongs before those that came, or where
 * the kernel's time goes back.
 */
#include "coordinator/plan/lsm_dmesg_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_BACK_S    1.0	 /* processors differ by far less */
#define LINE_MAX_BYTES (1 << 16) /* longer lines are no kernel's */
#define WRAPPED	       " \\"	 /* from 6.19 on long command lines go on in the next line */
#define UNKNOWN_WORDS  "Unknown kernel command line parameters \""
#define KERNEL_LINE    "Kernel command line: "

/* Lines in the order of a boot. */
enum { RANK_NONE, RANK_VERSION, RANK_COMMAND, RANK_KERNEL, RANK_LSM };

/* Lines that a boot has once. */
enum {
	ONCE_FRAMEWORK = 1 << 0,
	ONCE_STATED = 1 << 1,
	ONCE_LEGACY = 1 << 2,
	ONCE_CONFIG = 1 << 3,
	ONCE_REQUEST = 1 << 4,
	ONCE_AVAILABLE = 1 << 5,
};

struct reader {
	struct lsm_boot boot;
	unsigned boots;
	int rc;
};

/* ---- small helpers ---- */

/* What is behind `prefix`, or NULL. */
static const char *after(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(s, prefix, len) == 0 ? s + len : NULL;
}

static void set(struct reader *rd, char **slot, const char *text)
{
	char *copy = strdup(text);

	if (!copy) {
		rd->rc = -ENOMEM;
		return;
	}
	free(*slot);
	*slot = copy;
}

static void append(struct reader *rd, char **slot, const char *text)
{
	struct kg_str s = {0};
	char *joined;

	kg_str_add(&s, *slot);
	kg_str_add(&s, text);
	joined = kg_str_take(&s);
	if (!joined) {
		rd->rc = -ENOMEM;
		return;
	}
	free(*slot);
	*slot = joined;
}

struct lsm_log_name *lsm_boot_find(struct lsm_boot *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (strcmp(b->names[i].name, name) == 0)
			return &b->names[i];
	return NULL;
}

/* Letters of names: the kernel's own are lower case words. */
static size_t name_len(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-!.");
}

/* The name that begins at `s`, made when it is new; NULL: none begins there, or too many. */
static struct lsm_log_name *name_at(struct lsm_boot *b, const char *s)
{
	size_t len = name_len(s);
	char name[LSM_LOG_NAME_MAX];
	struct lsm_log_name *n;

	if (len == 0 || len >= sizeof(name))
		return NULL;
	memcpy(name, s, len);
	name[len] = '\0';
	n = lsm_boot_find(b, name);
	if (n)
		return n;
	if (b->n == LSM_LOG_NAMES_MAX) {
		b->overflow = true;
		return NULL;
	}
	n = &b->names[b->n++];
	memset(n, 0, sizeof(*n));
	memcpy(n->name, name, len + 1);
	return n;
}

static void say(struct lsm_boot *b, const char *name, unsigned what)
{
	struct lsm_log_name *n = name_at(b, name);

	if (!n)
		return;
	n->said |= what;
	if ((what & (LOG_STARTED | LOG_SIGN | LOG_ORDERED | LOG_EARLY)) && !n->started_at)
		n->started_at = ++b->lines;
}

/* ---- boots ---- */

void lsm_boot_deinit(struct lsm_boot *b)
{
	free(b->version);
	free(b->cmdline);
	free(b->lsm);
	free(b->security);
	free(b->config);
	memset(b, 0, sizeof(*b));
}

static void new_boot(struct reader *rd)
{
	lsm_boot_deinit(&rd->boot);
	rd->boots++;
}

/* A line of that rank comes; one that stands before those that came is of another boot. `again`: the
 * boot has had this very line. */
static void advance(struct reader *rd, const struct lsm_log_line *l, unsigned rank, bool again)
{
	struct lsm_boot *b = &rd->boot;
	bool back = l->has_time && b->has_time && l->time_s + TIME_BACK_S < b->newest_s;

	if (rd->boots == 0 || back || again || (rank < RANK_LSM && rank <= b->rank))
		new_boot(rd);
	if (rank > b->rank)
		b->rank = rank;
	if (l->has_time && (!b->has_time || l->time_s > b->newest_s)) {
		b->has_time = true;
		b->newest_s = l->time_s;
	}
}

/* An early console shows the first lines, and the real one shows them again. */
static bool replayed(const struct lsm_boot *b, const char *before, const char *now)
{
	return b->rank < RANK_LSM && before && strcmp(before, now) == 0;
}

static void on_version(struct reader *rd, const struct lsm_log_line *l)
{
	if (replayed(&rd->boot, rd->boot.version, l->text)) {
		rd->boot.rank = RANK_VERSION;
		return;
	}
	advance(rd, l, RANK_VERSION, false);
	set(rd, &rd->boot.version, l->text);
}

static void on_cmdline(struct reader *rd, const struct lsm_log_line *l, const char *text,
		       bool final)
{
	struct lsm_boot *b = &rd->boot;
	size_t len = b->cmdline ? strlen(b->cmdline) : 0;

	if (final && b->rank == RANK_KERNEL && len > 2 &&
	    strcmp(b->cmdline + len - 2, WRAPPED) == 0) {
		b->cmdline[len - 1] = '\0';
		append(rd, &b->cmdline, text);
		return;
	}
	if (b->cmdline_final == final && replayed(b, b->cmdline, text))
		return;
	advance(rd, l, final ? RANK_KERNEL : RANK_COMMAND, false);
	set(rd, &b->cmdline, text);
	b->cmdline_final = final;
}

/* "Unknown kernel command line parameters "quiet selinux=0", will be passed to user space.": what
 * no part of the kernel has read, since 5.14. */
static void on_unknown(struct lsm_boot *b, const char *words)
{
	for (; *words && *words != '"'; words += *words == ' ') {
		if (after(words, "selinux="))
			b->selinux_unheard = true;
		words += strcspn(words, " \"");
	}
}

/* ---- lines of the framework ---- */

static void on_once(struct reader *rd, const struct lsm_log_line *l, unsigned once)
{
	advance(rd, l, RANK_LSM, rd->boot.once & once);
	rd->boot.once |= once;
	rd->boot.any = true;
}

/* "a,b(E),c" */
static void say_list(struct lsm_boot *b, const char *list, unsigned what)
{
	const char *p = list;

	while (*p) {
		size_t len = name_len(p);
		struct lsm_log_name *n;

		say(b, p, what);
		n = len ? name_at(b, p) : NULL;
		p += len;
		if (n && after(p, "(E)") && what == LOG_BUILTIN)
			say(b, n->name, LOG_EARLY);
		if (n && what == LOG_STATED && !n->stated_at)
			n->stated_at = ++b->lines;
		p += strcspn(p, ",");
		p += *p == ',';
	}
}

static void state_list(struct lsm_boot *b, const char *list)
{
	size_t len = strlen(list);

	say_list(b, list, LOG_STATED);
	b->open = len == 0 || list[len - 1] == ',';
}

/* pr_cont() may put parts of the list on lines of their own, and others' lines between: ",yama", or
 * "yama" where the list ends open. */
static bool goes_on(const struct lsm_boot *b, const char *text)
{
	bool comma = text[0] == ',' && text[1];

	return (b->once & ONCE_STATED) && (comma || b->open) &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_,-") == strlen(text);
}

static enum lsm_log_source source_of(const char *word, size_t len)
{
	if (strncmp(word, "security=", 9) == 0)
		return FROM_SECURITY;
	if (len == 5 && strncmp(word, "first", len) == 0)
		return FROM_FIRST;
	if (len == 7 && strncmp(word, "builtin", len) == 0)
		return FROM_CONFIG;
	if (len == 7 && strncmp(word, "cmdline", len) == 0)
		return FROM_LSM;
	if (len == 4 && strncmp(word, "last", len) == 0)
		return FROM_LAST;
	return FROM_NOTHING;
}

/* One decision on `name`, which came from `source`. */
static void decide(struct lsm_boot *b, const char *name, unsigned what, enum lsm_log_source source)
{
	struct lsm_log_name *n = name_at(b, name);

	if (!n)
		return;
	say(b, n->name, what);
	if (source != FROM_NOTHING && n->source == FROM_NOTHING)
		n->source = source;
}

static void choose(struct lsm_boot *b, const char *name)
{
	size_t len = name_len(name);

	if (len == 0 || len >= sizeof(b->chosen))
		return;
	memcpy(b->chosen, name, len);
	b->chosen[len] = '\0';
}

/* "SOURCE verb: NAME (detail)" of 5.1 to 6.18. */
static bool on_verb(struct lsm_boot *b, const char *text)
{
	static const char *const verbs[] = {
		" ordered: ",  " ordering: ", " ignored: ", " skipped: ",
		" disabled: ", " started: ",  " chosen: "};
	enum lsm_log_source source;
	const char *at = NULL, *name;
	unsigned what;
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && !at; i++)
		at = strstr(text, verbs[i]);
	if (!at)
		return false;
	i--;
	source = source_of(text, (size_t)(at - text));
	name = at + strlen(verbs[i]);
	name += strspn(name, " ");
	if (i <= 1)
		what = strstr(name, "(disabled)") ? LOG_OFF : LOG_ORDERED;
	else if (i == 2)
		what = LOG_IGNORED;
	else if (i == 4 && after(text, "exclusive"))
		what = LOG_EXCLUSIVE;
	else if (i == 4 && source == FROM_SECURITY)
		what = LOG_LEGACY;
	else if (i == 5)
		what = LOG_EARLY;
	else
		what = LOG_SKIPPED;
	if (i == 6)
		choose(b, name);
	else
		decide(b, name, what, what & (LOG_LEGACY | LOG_EXCLUSIVE) ? FROM_NOTHING : source);
	return true;
}

/* "verb SOURCE:NAME" from 6.19 on. */
static bool on_colon(struct lsm_boot *b, const char *text)
{
	static const struct {
		const char *verb;
		unsigned what;
	} rows[] = {
		{"enabled LSM early:", LOG_EARLY},
		{"enabling LSM ", LOG_STARTED},
		{"skip legacy LSM conflict ", LOG_LEGACY},
		{"skip previously disabled LSM ", LOG_OFF},
		{"skip exclusive LSM conflict ", LOG_EXCLUSIVE},
		{"skip disabled LSM ", LOG_SKIPPED},
		{"select exclusive LSM ", 0},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *rest = after(text, rows[i].verb);
		const char *name = rest && rows[i].what != LOG_EARLY ? strchr(rest, ':') : rest;
		enum lsm_log_source source;

		if (!name)
			continue;
		source = rest == name ? FROM_NOTHING : source_of(rest, (size_t)(name - rest));
		name += *name == ':';
		if (rows[i].what == 0)
			choose(b, name);
		else
			decide(b, name, rows[i].what,
			       rows[i].what == LOG_STARTED ? source : FROM_NOTHING);
		return true;
	}
	return false;
}

/* A parameter as lsm.debug shows it. */
static void show(struct reader *rd, char **slot, bool *ret_shown, const char *value)
{
	*ret_shown = true;
	if (strcmp(value, " *unspecified*") != 0 && strcmp(value, "*unspecified*") != 0 &&
	    strcmp(value, "(null)") != 0)
		set(rd, slot, value);
}

/* Lines of which a boot has one, with a value. */
static bool on_header(struct reader *rd, const struct lsm_log_line *l, const char *text)
{
	static const struct {
		const char *prefix;
		unsigned once;
	} rows[] = {{"legacy security=", ONCE_LEGACY},	 {"legacy LSM parameter: ", ONCE_LEGACY},
		    {"CONFIG_LSM=", ONCE_CONFIG},	 {"built-in LSM config: ", ONCE_CONFIG},
		    {"boot arg lsm=", ONCE_REQUEST},	 {"boot LSM parameter: ", ONCE_REQUEST},
		    {"available LSMs: ", ONCE_AVAILABLE}};
	struct lsm_boot *b = &rd->boot;
	const char *value = NULL;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && !value; i++)
		value = after(text, rows[i].prefix);
	if (!value)
		return false;
	i--;
	on_once(rd, l, rows[i].once);
	b->debug = true;
	if (rows[i].once == ONCE_LEGACY)
		show(rd, &b->security, &b->security_shown, value);
	else if (rows[i].once == ONCE_REQUEST)
		show(rd, &b->lsm, &b->lsm_shown, value);
	else if (rows[i].once == ONCE_CONFIG)
		set(rd, &b->config, value);
	else if (rows[i].once == ONCE_AVAILABLE)
		say_list(b, value, LOG_BUILTIN);
	return true;
}

/* "security=S is ignored because it is superseded by lsm=L", without S and L before 6.2. */
static bool on_superseded(struct reader *rd, const struct lsm_log_line *l, const char *text)
{
	static const char words[] = " is ignored because it is superseded by lsm=";
	const char *at = after(text, "security=") ? strstr(text, words) : NULL;

	if (!at)
		return false;
	advance(rd, l, RANK_LSM, false);
	rd->boot.any = true;
	if (at[sizeof(words) - 1])
		show(rd, &rd->boot.lsm, &rd->boot.lsm_shown, at + sizeof(words) - 1);
	return true;
}

/* What stands behind "LSM: ". */
static void on_lsm(struct reader *rd, const struct lsm_log_line *l, const char *text)
{
	struct lsm_boot *b = &rd->boot;
	const char *rest;

	text += strspn(text, " ");
	if (after(text, "Security Framework initializ")) {
		on_once(rd, l, ONCE_FRAMEWORK);
		return;
	}
	rest = after(text, "initializing lsm=");
	if (rest) {
		on_once(rd, l, ONCE_STATED);
		state_list(b, rest);
		return;
	}
	if (on_superseded(rd, l, text) || on_header(rd, l, text))
		return;
	advance(rd, l, RANK_LSM, false);
	b->any = true;
	rest = after(text, "initializing ");
	if (rest && rest[name_len(rest)] == '\0')
		say(b, rest, LOG_STARTED);
	else if (!on_colon(b, text) && !on_verb(b, text))
		return;
	b->debug = true;
}

/* ---- messages of the LSMs ---- */

static const struct {
	const char *text;
	enum lsm_id id;
	unsigned what;
} signs[] = {
	{"landlock: Up and running.", LSM_LANDLOCK, LOG_SIGN},
	{"Yama: becoming mindful.", LSM_YAMA, LOG_SIGN},
	{"LoadPin: ready to pin", LSM_LOADPIN, LOG_SIGN},
	{"AppArmor: AppArmor initialized", LSM_APPARMOR, LOG_SIGN},
	{"AppArmor: AppArmor Filesystem Enabled", LSM_APPARMOR, LOG_SIGN},
	{"AppArmor: AppArmor disabled by boot time parameter", LSM_APPARMOR, LOG_OFF},
	{"SELinux:  Initializing", LSM_SELINUX, LOG_SIGN},
	{"SELinux:  Disabled at boot", LSM_SELINUX, LOG_OFF},
	{"Smack:  Initializing", LSM_SMACK, LOG_SIGN},
	{"TOMOYO Linux initialized", LSM_TOMOYO, LOG_SIGN},
	{"LSM support for eBPF active", LSM_BPF, LOG_SIGN},
	/* in the list from 6.9 on only */
	{"ima: Allocated hash algorithm", LSM_IMA, LOG_SIGN},
	{"evm: Initialising EVM extended attributes", LSM_EVM, LOG_SIGN},
};

static void on_sign(struct reader *rd, const struct lsm_log_line *l)
{
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		uint32_t bit = UINT32_C(1) << i;

		if (!after(l->text, signs[i].text))
			continue;
		advance(rd, l, RANK_LSM, rd->boot.signs & bit);
		rd->boot.signs |= bit;
		rd->boot.any = true;
		say(&rd->boot, lsm_name(signs[i].id), signs[i].what);
	}
}

/* ---- the log ---- */

static void read_line(struct reader *rd, char *line)
{
	struct lsm_log_line l;
	const char *rest;

	if (!lsm_log_line(line, &l) || !l.text[0])
		return;
	if (goes_on(&rd->boot, l.text)) {
		state_list(&rd->boot, l.text + (l.text[0] == ','));
		return;
	}
	if (after(l.text, "Linux version "))
		on_version(rd, &l);
	else if ((rest = after(l.text, "Command line: ")))
		on_cmdline(rd, &l, rest, false);
	else if ((rest = after(l.text, KERNEL_LINE)))
		on_cmdline(rd, &l, rest, true);
	else if ((rest = after(l.text, UNKNOWN_WORDS)))
		on_unknown(&rd->boot, rest);
	else if ((rest = after(l.text, "LSM: ")))
		on_lsm(rd, &l, rest);
	else if (after(l.text, "Security Framework initializ")) /* before 5.0 */
		on_once(rd, &l, ONCE_FRAMEWORK);
	else
		on_sign(rd, &l);
}

/* A serial console may have put zero bytes between. */
static void copy_line(char *to, const char *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = from[i] ? from[i] : ' ';
	to[n] = '\0';
}

int lsm_log_read(const char *text, size_t len, struct lsm_boot *ret_boot, unsigned *ret_boots)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of byte order, as some editors put it */
	bool marked = len >= 3 && memcmp(text, mark, 3) == 0;
	const char *p = text + (marked ? 3 : 0), *end = text + len;
	const char *before = p;
	size_t n_before = 0;
	struct reader rd = {0};

	while (p < end && rd.rc == 0) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);
		bool again;

		while (n > 0 && p[n - 1] == '\r')
			n--;
		/* two consoles that write to one log say everything twice */
		again = n == n_before && memcmp(p, before, n) == 0;
		if (n < LINE_MAX_BYTES && !again) {
			char *line = malloc(n + 1);

			if (!line) {
				rd.rc = -ENOMEM;
				break;
			}
			copy_line(line, p, n);
			read_line(&rd, line);
			free(line);
		}
		before = p;
		n_before = n;
		p = stop ? stop + 1 : end;
	}
	if (rd.rc < 0) {
		lsm_boot_deinit(&rd.boot);
		return rd.rc;
	}
	*ret_boot = rd.boot;
	*ret_boots = rd.boots;
	return 0;
}
