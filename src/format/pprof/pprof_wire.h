/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_wire: the field numbers of profile.proto, and an iterator over the fields of a message.
 * Private to format/pprof and format/otlp.
 *
 *	struct pprof_cursor c = {begin, end};
 *	while (pprof_next(&c, &field) == 1) ...
 *
 * Bytes from `end` on are not read. Uses: nothing.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_WIRE_H
#define ASSAY_FORMAT_PPROF_PPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRINGS,
	PROFILE_DROP,
	PROFILE_KEEP,
	PROFILE_TIME,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT,
	PROFILE_DOCUMENT
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_FUNCTIONS,
	MAPPING_FILES,
	MAPPING_LINES,
	MAPPING_INLINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

enum { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct pprof_cursor {
	const uint8_t *at, *end;
};

struct pprof_field {
	const uint8_t *at; /* first byte of the field */
	uint64_t number;   /* of the field */
	unsigned wire;
	uint64_t value;       /* a number, or the number of bytes */
	const uint8_t *bytes; /* WIRE_BYTES, else NULL */
};

static inline bool pprof_varint(struct pprof_cursor *c, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; c->at < c->end && shift < 70; shift += 7) {
		uint64_t byte = *c->at++;

		if (shift < 64)
			*v |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Returns 1: *f is filled; 0: the end; -1: there is no valid field at f->at. */
static inline int pprof_next(struct pprof_cursor *c, struct pprof_field *f)
{
	uint64_t key = 0, size = 0;
	bool good;

	if (c->at >= c->end)
		return 0;
	f->at = c->at;
	good = pprof_varint(c, &key);
	f->number = key >> 3;
	f->wire = key & 7;
	f->bytes = NULL;
	f->value = 0;
	if (!good || !f->number)
		return -1;
	if (f->wire == WIRE_NUMBER)
		return pprof_varint(c, &f->value) ? 1 : -1;
	if (f->wire == WIRE_64 || f->wire == WIRE_32)
		size = f->wire == WIRE_64 ? 8 : 4;
	else if (f->wire != WIRE_BYTES || !pprof_varint(c, &size))
		return -1;
	if (size > (uint64_t)(c->end - c->at))
		return -1;
	if (f->wire == WIRE_BYTES) {
		f->bytes = c->at;
		f->value = size;
	}
	c->at += size;
	return 1;
}

/* Empty for a field that is not WIRE_BYTES. */
static inline struct pprof_cursor pprof_inside(const struct pprof_field *f)
{
	return (struct pprof_cursor){f->bytes, f->bytes ? f->bytes + f->value : NULL};
}

/* True if a field of the profile has the right type; unknown fields may have any type. */
static inline bool pprof_fits(const struct pprof_field *f)
{
	if (f->number <= PROFILE_STRINGS || f->number == PROFILE_PERIOD_TYPE)
		return f->wire == WIRE_BYTES;
	if (f->number == PROFILE_COMMENT) /* packed, or one by one */
		return f->wire == WIRE_BYTES || f->wire == WIRE_NUMBER;
	return f->number > PROFILE_DOCUMENT || f->wire == WIRE_NUMBER;
}

#endif
