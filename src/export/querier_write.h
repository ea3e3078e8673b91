/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * querier_write: answers of Pyroscope's query API, as protobuf or as JSON by the same calls.
 *
 *	querier_write_init(&w, json, &out)
 *	querier_list(&w, "series"); querier_begin(&w, 1, NULL); ... querier_end(&w);
 *	querier_list_end(&w)
 *	querier_write_done(&w)		the message is complete in `out`
 *
 * A field has its number for protobuf and its name for JSON; an item of a list has no name. Lists
 * exist in JSON alone. Numbers of 64 bits are texts in JSON, as its mapping to protobuf demands.
 * Texts must be UTF-8. One thread. Uses: base.
 */
#ifndef ASSAY_EXPORT_QUERIER_WRITE_H
#define ASSAY_EXPORT_QUERIER_WRITE_H

#include "base/memory/buf.h"
#include "base/text/json.h"

#define QUERIER_DEPTH_MAX 8

struct querier_writer {
	bool is_json;
	struct json json;
	/* Messages that are not complete: [0] is the answer, the others are inside. */
	struct buf *out, inner[QUERIER_DEPTH_MAX];
	unsigned fields[QUERIER_DEPTH_MAX], depth;
};

void querier_write_init(struct querier_writer *w, bool json, struct buf *out);
void querier_write_done(struct querier_writer *w);

void querier_begin(struct querier_writer *w, unsigned field, const char *name);
void querier_end(struct querier_writer *w);
void querier_list(struct querier_writer *w, const char *name);
void querier_list_end(struct querier_writer *w);

void querier_text(struct querier_writer *w, unsigned field, const char *name, const char *text);
void querier_number(struct querier_writer *w, unsigned field, const char *name, int64_t v);
void querier_real(struct querier_writer *w, unsigned field, const char *name, double v);
/* A list of numbers, packed. */
void querier_numbers(struct querier_writer *w, unsigned field, const char *name, const int64_t *v,
                     size_t count);

#endif
