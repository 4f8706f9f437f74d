/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of kernel releases. Pure.
 *
 * The dotted numbers at the beginning count first, a missing one as 0; a release candidate ("-rc1",
 * "-0.rc1.fc43", "-061100rc5", "~rc1") comes before its release and any other suffix after it;
 * digits within a suffix compare as numbers. So 6.1.0-52 < 6.12.117 < 6.16-rc1 < 6.16-rc10 < 6.16 <
 * 6.16-1. A text without a number at its beginning comes before all others. A total order: only
 * equal texts compare as 0.
 */
#ifndef KG_COORDINATOR_REPORT_KERNEL_VERSION_H
#define KG_COORDINATOR_REPORT_KERNEL_VERSION_H

/* < 0, 0, > 0; NULL is "". */
int kernel_version_compare(const char *a, const char *b);

#endif
