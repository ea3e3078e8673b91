/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/otlp/process_context.h"

#include "format/otlp/otlp_wire.h"
#include "format/pprof/pprof_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 2
#define COLUMNS 5 /* of a line of maps, before the name */

enum { CONTEXT_RESOURCE = 1 };
/* Of AnyValue; the numbers of strings and integers are in otlp_wire.h. */
enum { VALUE_BOOL = 2, VALUE_DOUBLE = 4 };

bool process_context_mapping(const char *line, uint64_t *address)
{
	static const char *const names[] = {"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
	                                    "/memfd:OTEL_CTX"};
	const char *at = line;
	char *end;

	*address = strtoull(line, &end, 16);
	if (end == line || *end != '-')
		return false;
	for (int i = 0; i < COLUMNS; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(at, names[i], strlen(names[i])))
			return true;
	return false;
}

bool process_context_header(struct process_context_header *h,
                            const uint8_t bytes[PROCESS_CONTEXT_HEADER])
{
	uint32_t version;

	memcpy(&version, bytes + 8, sizeof(version));
	memcpy(&h->size, bytes + 12, sizeof(h->size));
	memcpy(&h->time_ns, bytes + 16, sizeof(h->time_ns));
	memcpy(&h->address, bytes + 24, sizeof(h->address));
	return !memcmp(bytes, "OTEL_CTX", 8) && version == VERSION &&
	       h->size <= PROCESS_CONTEXT_BYTES;
}

/* A scalar as text. *text is NULL for others. False: the message is damaged. */
static bool read_value(struct pprof_cursor c, const char **text, size_t *size, char number[32])
{
	struct pprof_field f;
	double real;
	int got;

	*text = NULL;
	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_VALUE_STRING && f.bytes) {
			*text = (const char *)f.bytes;
			*size = f.value;
			continue;
		}
		if (f.number == OTLP_VALUE_INT && f.wire == WIRE_NUMBER) {
			snprintf(number, 32, "%" PRId64, (int64_t)f.value);
		} else if (f.number == VALUE_BOOL && f.wire == WIRE_NUMBER) {
			snprintf(number, 32, "%s", f.value ? "true" : "false");
		} else if (f.number == VALUE_DOUBLE && f.wire == WIRE_64) {
			memcpy(&real, c.at - sizeof(real), sizeof(real));
			snprintf(number, 32, "%.17g", real);
		} else {
			continue;
		}
		*text = number;
		*size = strlen(number);
	}
	return !got;
}

static bool read_pair(struct labels *l, struct pprof_cursor c)
{
	const char *key = NULL, *value = NULL;
	size_t key_size = 0, size = 0;
	struct pprof_field f;
	char number[32];
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_PAIR_KEY && f.bytes) {
			key = (const char *)f.bytes;
			key_size = f.value;
		}
		if (f.number == OTLP_PAIR_VALUE && f.bytes &&
		    !read_value(pprof_inside(&f), &value, &size, number))
			return false;
	}
	if (!got && key && value)
		labels_add(l, key, key_size, value, size);
	else if (!got && key)
		l->dropped++;
	return !got;
}

static bool read_resource(struct labels *l, struct pprof_cursor c)
{
	struct pprof_field f;
	int got;

	while ((got = pprof_next(&c, &f)) == 1)
		if (f.number == OTLP_RESOURCE_ATTRIBUTES && f.bytes &&
		    !read_pair(l, pprof_inside(&f)))
			return false;
	return !got;
}

bool process_context_read(struct labels *l, const void *bytes, size_t size)
{
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};
	struct pprof_field f;
	int got = 0;

	while (size && (got = pprof_next(&c, &f)) == 1)
		if (f.number == CONTEXT_RESOURCE && f.bytes && !read_resource(l, pprof_inside(&f)))
			return false;
	return !got;
}
