/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What settings changed in the hardware. A kexec resets no processor: energy preference, turbo and what
 * a governor made of them are still there under the next kernel, which takes them for what the
 * firmware chose. So the values found are noted in a file before they are overwritten, and written back
 * before the machine leaves this kernel. A reset does that by itself: notes are of one boot of the
 * host.
 *
 *   HOST-BOOT-ID
 *   PATH VALUE    oldest first
 */
#ifndef KG_AGENT_SETTINGS_UNDO_H
#define KG_AGENT_SETTINGS_UNDO_H

struct settings_undo {
	const char *path; /* of the notes */
	const char *host_boot_id;
};

/* Of a file that shows `value`. -errno. */
int settings_undo_note(const struct settings_undo *u, const char *file, const char *value);
/* Newest first; afterwards nothing is noted. Returns how many could not be written back. */
unsigned settings_undo_all(const struct settings_undo *u);

#endif
