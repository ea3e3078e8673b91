/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load_time.h"

#include "format/file_kind.h"

#include <errno.h>
#include <string.h>

/* One end of --time. */
struct time_bound {
	enum { MOMENT_NONE, MOMENT_CLOCK, MOMENT_AFTER, MOMENT_PART } kind;
	uint64_t ns; /* PART: billionths of a percent */
};

#define WHOLE UINT64_C(100000000000) /* 100 % */

/* Seconds with up to nine decimals, in ns; without floating point, since clocks have 19 digits. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	const char *start = text;
	uint64_t unit = 1000000000;

	*ns = 0;
	for (; *text >= '0' && *text <= '9' && text - start < 10; text++)
		*ns = *ns * 10 + (uint64_t)(*text - '0') * unit;
	if (text == start)
		return NULL;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		unit /= 10;
		*ns += (uint64_t)(*text - '0') * unit;
	}
	return text;
}

static int parse_time_bound(const char *text, size_t length, struct time_bound *m)
{
	char copy[64];
	const char *end;

	if (!length)
		return 0;
	if (length >= sizeof(copy))
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	end = parse_seconds(copy + (copy[0] == '+'), &m->ns);
	if (!end)
		return -1;
	m->kind = copy[0] == '+' ? MOMENT_AFTER : *end == '%' ? MOMENT_PART : MOMENT_CLOCK;
	return end[*end == '%'] ? -1 : 0;
}

static int parse_time(const char *text, struct time_bound *from, struct time_bound *to,
                      struct error *err)
{
	const char *comma = strchr(text, ',');

	/* perf writes 10%-20% */
	if (!comma)
		comma = strchr(text, '-');
	if (!comma || parse_time_bound(text, (size_t)(comma - text), from) ||
	    parse_time_bound(comma + 1, strlen(comma + 1), to))
		return error_set(err, EINVAL,
		                 "--time wants FROM,TO in seconds, +seconds or percent, not '%s'",
		                 text);
	return 0;
}

static uint64_t time_bound_ns(const struct time_bound *m, const struct recording *r)
{
	uint64_t length = r->last_sample_ns - r->first_sample_ns;

	switch (m->kind) {
	case MOMENT_NONE:
		return 0;
	case MOMENT_CLOCK:
		return m->ns;
	case MOMENT_AFTER:
		return r->first_sample_ns + m->ns;
	case MOMENT_PART:
		break;
	}
	/* 0 % and 100 % are the ends of the recording, not of its samples. */
	if (!m->ns || m->ns >= WHOLE)
		return 0;
	return r->first_sample_ns + (uint64_t)((double)length * (double)m->ns / (double)WHOLE);
}

static int ignore_begin(void *ctx, const struct recording *r, struct error *err)
{
	return 0;
}

static int ignore_event(void *ctx, const struct event *e, struct error *err)
{
	return 0;
}

/* Relative times need the first and the last sample, so the file is read once for them. */
int load_time_resolve(const char *path, const char *text, struct perf_data_read_options *ro,
                      struct error *err)
{
	struct event_sink nowhere = {
	        .begin = ignore_begin, .event = ignore_event, .end = ignore_begin};
	struct time_bound from = {0}, to = {0};
	struct recording r;
	int ret = 0;

	if (!text)
		return 0;
	ret = parse_time(text, &from, &to, err);
	if (ret)
		return ret;
	if (from.kind == MOMENT_PART && from.ns >= WHOLE)
		return error_set(err, EINVAL, "--time %s begins after the end of the recording",
		                 text);
	if (to.kind == MOMENT_PART && !to.ns)
		return error_set(err, EINVAL, "--time %s ends at the begin of the recording", text);
	recording_init(&r);
	if ((from.kind > MOMENT_CLOCK || to.kind > MOMENT_CLOCK) &&
	    file_kind_of(path, NULL) == FILE_STREAM)
		return error_set(err, EINVAL,
		                 "--time %s: a relative time needs two readings, and a pipe can be "
		                 "read only once: give seconds, or a file",
		                 text);
	if (from.kind > MOMENT_CLOCK || to.kind > MOMENT_CLOCK)
		ret = perf_data_read(path, NULL, &r, &nowhere, err);
	ro->from_ns = time_bound_ns(&from, &r);
	ro->to_ns = time_bound_ns(&to, &r);
	recording_done(&r);
	if (!ret && ro->to_ns && ro->to_ns < ro->from_ns)
		ret = error_set(err, EINVAL, "--time %s ends before it begins", text);
	return ret;
}
