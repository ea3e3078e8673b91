/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/otlp/otlp_answer.h"

#include "base/text/plain_text.h"
#include "format/pprof/pprof_wire.h"

#define MESSAGE_MAX 200

enum { ANSWER_PARTIAL = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };

static bool read_partial(struct pprof_cursor c, struct otlp_answer *a)
{
	struct pprof_field f;
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number == PARTIAL_REJECTED && f.wire == WIRE_NUMBER)
			a->rejected = (int64_t)f.value;
		if (f.number == PARTIAL_MESSAGE && f.bytes) {
			buf_clear(&a->message);
			plain_text_add(&a->message, (const char *)f.bytes,
			               f.value < MESSAGE_MAX ? f.value : MESSAGE_MAX);
		}
	}
	return !got;
}

bool otlp_answer_read(const void *bytes, size_t size, struct otlp_answer *a)
{
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};
	struct pprof_field f;
	bool good = true;
	int got = 0;

	*a = (struct otlp_answer){0};
	while (size && good && (got = pprof_next(&c, &f)) == 1)
		if (f.number == ANSWER_PARTIAL && f.bytes)
			good = read_partial(pprof_inside(&f), a);
	if (good && !got)
		return true;
	buf_done(&a->message);
	a->rejected = 0;
	return false;
}
