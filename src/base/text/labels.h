/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labels: names and values that describe a process, from sources that are not trusted.
 *
 *	struct labels l = {0};
 *	labels_add(&l, key, key_size, value, value_size)	the first value of a key is kept
 *	labels_text(&l, &out)					lines "key=value", sorted by key
 *	labels_done(&l)
 *
 * A key consists of printable ASCII characters without '='. Bytes of a value that are not UTF-8,
 * and control characters, become '?'. Labels beyond the limits, and with keys that are none, are
 * dropped; values that are too long are cut at a character. Both are counted. Sizes in bytes. One
 * thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_LABELS_H
#define ASSAY_BASE_TEXT_LABELS_H

#include "base/memory/buf.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define LABELS_MAX 64
#define LABEL_KEY_MAX 128
#define LABEL_VALUE_MAX 256

struct label {
	char *key, *value;
};

struct labels {
	VEC(struct label) items;
	uint64_t dropped; /* labels */
	uint64_t cut;     /* values */
};

/* Empty values are not added. False: the label was dropped; true also for a key that it has. */
bool labels_add(struct labels *l, const char *key, size_t key_size, const char *value,
                size_t value_size);
/* The labels of a text as labels_text() makes it, or of any other lines. NULL is accepted. */
void labels_add_text(struct labels *l, const char *text);
/* Appends the lines, with '\n' between them. */
void labels_text(struct labels *l, struct buf *out);
void labels_done(struct labels *l);

/* The value of a key in a text of labels, which ends at *size; NULL: none. `text` may be NULL. */
const char *labels_find(const char *text, const char *key, size_t *size);

#endif
