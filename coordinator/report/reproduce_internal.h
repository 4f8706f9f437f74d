/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that the store keeps, taken apart, and put into YAML and shell. */
#ifndef KG_REPORT_REPRODUCE_INTERNAL_H
#define KG_REPORT_REPRODUCE_INTERNAL_H

#include "common/str.h"
#include "coordinator/report/reproduce.h"

/* kg_params_text() back into values. Owned: kg_params_deinit. KG_EINVALID, -ENOMEM; as the next. */
int reproduce_params(const char *text, struct kg_params *ret, struct kg_err *err);
/* "a=b; c=d". A value may have "; " in it where no "NAME=" follows. */
int reproduce_settings(const char *text, struct kg_params *ret, struct kg_err *err);
/* A JSON array of strings. Owned: kg_texts_deinit. */
int reproduce_argv(const char *json, struct kg_texts *ret, struct kg_err *err);
int reproduce_add_text(struct kg_texts *t, const char *text, size_t len);

const char *reproduce_text(const char *text); /* NULL: "" */
/* As a scalar, within [] and {} too: plain where that means the same, else in double quotes. */
void reproduce_yaml(struct kg_str *s, const char *text);
/* As one shell word that stands for exactly this text. */
void reproduce_shell(struct kg_str *s, const char *text);
/* For comments: control characters, which could end the line, are '?'. */
void reproduce_comment(struct kg_str *s, const char *text);

#endif
