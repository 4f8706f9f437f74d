/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gate as JUnit XML: a suite per machine, a test case per workload, parameters, metric and column.
 * Regressions are failures, undecided pairs are skipped, pairs without data are errors. Pure.
 *
 * The form is what Jenkins (junit-10.xsd) and GitLab read; there is no such thing as the duration of
 * a comparison, so no time is given.
 */
#ifndef KG_CLI_JUNIT_H
#define KG_CLI_JUNIT_H

#include "cli/gate.h"
#include "common/str.h"

void junit_text(const struct gate *g, const Kgrid__V1__CompareReply *r, struct kg_str *out);

/* Text for an attribute or an element: <>&"' escaped, line ends in attributes kept as references;
 * what XML 1.0 does not allow (control characters, bad UTF-8, U+FFFE, U+FFFF) becomes U+FFFD. */
void xml_text(struct kg_str *out, const char *text);

#endif
