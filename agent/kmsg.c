/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 8192

bool kmsg_line(const char *record, struct kg_str *out)
{
	const char *text = strchr(record, ';');
	unsigned long long micros, seq;
	unsigned priority;

	if (!text || sscanf(record, "%u,%llu,%llu,", &priority, &seq, &micros) != 3)
		return false;
	/* priority = facility x 8 + level; the kernel's own facility is 0 */
	if (priority > KMSG_LEVEL_MAX)
		return false;
	text++;
	kg_str_addf(out, "[%5llu.%06llu] ", micros / 1000000, micros % 1000000);
	kg_str_addn(out, text, strcspn(text, "\n"));
	kg_str_add(out, "\n");
	return true;
}

size_t kmsg_read(size_t max, struct kg_str *out)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[RECORD_MAX + 1];
	size_t dropped = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	for (;;) {
		size_t before = out->len;

		n = read(fd, record, RECORD_MAX);
		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue; /* EPIPE: overwritten meanwhile, go on with the oldest */
		if (n <= 0)
			break;
		record[n] = '\0';
		if (!kmsg_line(record, out) || out->len <= max)
			continue;
		dropped += out->len - before;
		out->len = before;
		out->text[before] = '\0';
	}
	close(fd);
	return dropped;
}
