/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a profile of another tool; the first byte selects the format: o OTLP, f folded, c
 * callgrind, j trace events. A profile that is read must be consistent, and must have the same sums
 * after it was written as OTLP and read again.
 */
#include "base/file/spill.h"
#include "export/otlp_write.h"
#include "format/otlp/otlp_read.h"
#include "format/profiles/callgrind_read.h"
#include "format/profiles/chrome_read.h"
#include "format/profiles/folded_read.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int read_any(struct symbolized_profile *n, char format, const void *bytes, size_t size,
                    struct buf *left, struct error *err)
{
	if (format == 'o')
		return otlp_read_memory(n, "input", bytes, size, left, err);
	if (format == 'f')
		return folded_read_memory(n, "input", bytes, size, left, err);
	if (format == 'c')
		return callgrind_read_memory(n, "input", bytes, size, left, err);
	return chrome_read_memory(n, "input", bytes, size, left, err);
}

static void recognise(const void *bytes, size_t size)
{
	for (int whole = 0; whole < 2; whole++) {
		otlp_recognise(bytes, size, whole);
		folded_recognise(bytes, size, whole);
	}
	callgrind_recognise(bytes, size);
	chrome_recognise(bytes, size);
}

/* Each reference is valid; returns the sum of a value, with wrap-around. */
static uint64_t check(const struct symbolized_profile *n, unsigned value)
{
	uint64_t sum = 0;

	if (!n->value_count || n->value_count > NAMED_VALUES || n->main_value >= n->value_count)
		abort();
	for (uint32_t i = 1; i < n->paths.count; i++)
		if (n->paths.items[i].parent >= i || n->paths.items[i].place >= n->places.count)
			abort();
	vec_each (place, &n->places)
		if (!place->count || place->first + place->count > n->lines.count ||
		    (place->image != NAMED_NONE && place->image >= n->images.count))
			abort();
	vec_each (line, &n->lines)
		if (line->function >= n->functions.count)
			abort();
	vec_each (row, &n->rows) {
		if (row->path >= n->paths.count || row->owner >= n->owners.count)
			abort();
		sum += (uint64_t)row->values[value];
	}
	return sum;
}

/* Values of equal names and types become one, so the sum of all values is compared. */
static uint64_t check_all(const struct symbolized_profile *n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n->value_count; i++)
		sum += check(n, i);
	return sum;
}

static void rewrite(const struct symbolized_profile *n)
{
	struct symbolized_profile again;
	struct error err = {0};
	struct spill out;

	symbolized_profile_init(&again);
	spill_to(&out, -1, "memory");
	otlp_write(n, NULL, &out);
	if (otlp_read_memory(&again, "again", out.buf.data, out.buf.size, NULL, &err))
		abort();
	if (check_all(&again) != check_all(n))
		abort();
	buf_done(&out.buf);
	spill_close(&out, true, NULL);
	symbolized_profile_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct symbolized_profile n;
	struct error err = {0};
	struct buf left = {0};

	if (!size)
		return 0;
	recognise(bytes + 1, size - 1);
	symbolized_profile_init(&n);
	n.depth_max = 20;
	if (!read_any(&n, (char)*bytes, bytes + 1, size - 1, &left, &err))
		rewrite(&n);
	else if (!err.text[0])
		abort(); /* an error must have a sentence */
	symbolized_profile_done(&n);
	buf_done(&left);
	return 0;
}
