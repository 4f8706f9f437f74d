/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons in words, the same for a prediction and for a boot's log. */
#include "coordinator/plan/lsm_internal.h"

#include <stdio.h>

const char *lsm_in_text(enum lsm_reason reason, bool ordered, bool behind_early)
{
	switch (reason) {
	case LSM_IN_FIRST:
		return behind_early ? "always on, behind none but early ones" : "always first";
	case LSM_IN_EARLY:
		return "started before the command line is read";
	case LSM_IN_FIXED:
		return "built in, and cannot be left out before 5.1";
	case LSM_IN_REQUEST:
		return "named by lsm=";
	case LSM_IN_SECURITY:
		return "named by security=";
	case LSM_IN_LAST:
		return "always on where built in";
	default:
		return ordered ? "named by CONFIG_LSM" : "named by CONFIG_DEFAULT_SECURITY";
	}
}

void lsm_version_text(enum lsm_id id, unsigned version, char *buf, size_t size)
{
	if (version >= lsm_traits[id].since) /* integrity */
		(void)snprintf(buf, size, "since 6.9");
	else
		(void)snprintf(buf, size, "before %u.%u", lsm_traits[id].since / 1000,
			       lsm_traits[id].since % 1000);
}

void lsm_out_text(enum lsm_reason reason, const char *by, char *buf, size_t size)
{
	switch (reason) {
	case LSM_OUT_UNKNOWN:
		(void)snprintf(buf, size, "no kernel has an LSM of that name");
		break;
	case LSM_OUT_VERSION:
		(void)snprintf(buf, size, "not an LSM %s", by);
		break;
	case LSM_OUT_BUILTIN:
		(void)snprintf(buf, size, "not built in");
		break;
	case LSM_OUT_HIDDEN:
		(void)snprintf(buf, size, "active, but never shown in the list");
		break;
	case LSM_OUT_SWITCH:
		(void)snprintf(buf, size, "switched off by %s", by);
		break;
	case LSM_OUT_SECURITY:
		(void)snprintf(buf, size, "switched off by security=%.40s", by);
		break;
	case LSM_OUT_EXCLUSIVE:
		(void)snprintf(buf, size, "'%s' comes first and both are exclusive", by);
		break;
	default:
		(void)snprintf(buf, size, "%s", by);
		break;
	}
}
