/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_selector: selects series by their labels: {service_name="web", host=~"web.*"}.
 *
 *	label_selector_parse(&s, text, err)	an empty text and {} select everything
 *	label_selector_has(&s, "host", "web1")	whether the conditions on this label hold
 *	label_selector_done(&s)			accepts zeros
 *
 * The grammar is that of Prometheus, with these limits: a value is in double quotes with the
 * escapes \\ \" \n \t; a pattern (=~, !~) is a POSIX extended one, matches the whole value, and
 * has neither counts in {} nor back references, since these take exponential time or memory. A
 * label that a series does not have has the value "". -EINVAL: the sentence has the place. One
 * thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_PYROSCOPE_LABEL_SELECTOR_H
#define ASSAY_FORMAT_PYROSCOPE_LABEL_SELECTOR_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <regex.h>
#include <stdbool.h>

#define LABEL_CONDITIONS_MAX 32
#define LABEL_CONDITION_MAX 1024
#define LABEL_PATTERN_MAX 256

enum label_match { LABEL_IS, LABEL_IS_NOT, LABEL_MATCHES, LABEL_MATCHES_NOT };

struct label_condition {
	char *name, *value;
	enum label_match how;
	regex_t pattern; /* of the last two */
};

struct label_selector {
	VEC(struct label_condition) conditions;
};

/* Adds the conditions of the text to those that the selector has. */
int label_selector_parse(struct label_selector *s, const char *text, struct error *err);
bool label_selector_has(const struct label_selector *s, const char *name, const char *value);
void label_selector_done(struct label_selector *s);

#endif
