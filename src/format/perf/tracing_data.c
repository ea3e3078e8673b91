/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/tracing_data.h"

#include "base/limit.h"
#include "format/perf/perf_cursor.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/tracepoint_format.h"

#include <unistd.h>

static const char magic[] = "\x17\x08\x44tracing"
                            "0.6";

/* The largest number of tracepoints that are read, against damaged files. */

static void put_u32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void put_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void put_file(struct buf *out, const char *text)
{
	put_u64(out, strlen(text));
	buf_puts(out, text);
}

static void put_name(struct buf *out, const char *name)
{
	buf_add(out, name, strlen(name) + 1);
}

static bool is_first_of_system(const struct recording *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(r->tracepoints.items[k].system, r->tracepoints.items[i].system))
			return false;
	return true;
}

static void put_system(struct buf *out, const struct recording *r, const char *system)
{
	uint32_t count = 0;

	vec_each (t, &r->tracepoints)
		count += !strcmp(t->system, system);
	put_name(out, system);
	put_u32(out, count);
	vec_each (t, &r->tracepoints)
		if (!strcmp(t->system, system))
			put_file(out, t->format);
}

void tracing_data_encode(struct buf *out, const struct recording *r)
{
	uint32_t systems = 0;

	if (!r->tracepoints.count)
		return;
	buf_add(out, magic, sizeof(magic));
	buf_putc(out, '\0'); /* little endian */
	buf_putc(out, (char)sizeof(long));
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_name(out, "header_page");
	put_file(out, r->tracing_page ? r->tracing_page : "");
	put_name(out, "header_event");
	put_file(out, "");
	put_u32(out, 0); /* formats of ftrace */
	for (size_t i = 0; i < r->tracepoints.count; i++)
		systems += is_first_of_system(r, i);
	put_u32(out, systems);
	for (size_t i = 0; i < r->tracepoints.count; i++)
		if (is_first_of_system(r, i))
			put_system(out, r, r->tracepoints.items[i].system);
	put_u32(out, 0); /* kallsyms */
	put_u32(out, 0); /* printk */
	put_u64(out, 0); /* comms */
}

static struct perf_cursor take_file(struct perf_cursor *c)
{
	const uint8_t *p = perf_cursor_take(c, sizeof(uint64_t));
	uint64_t size = p ? load_u64(p) : 0;

	p = perf_cursor_take(c, size);
	return (struct perf_cursor){p, p ? p + size : NULL, !p};
}

/* A text that ends in a zero byte; NULL: it has no end. */
static const char *take_name(struct perf_cursor *c)
{
	const uint8_t *zero = c->bad ? NULL : memchr(c->p, 0, (size_t)(c->end - c->p));
	const char *name = (const char *)c->p;

	if (!zero) {
		c->bad = true;
		return NULL;
	}
	c->p = zero + 1;
	return name;
}

static void take_format(struct perf_cursor *c, const char *system, struct recording *r)
{
	struct perf_cursor file = take_file(c);
	struct tracepoint t = {0};

	if (file.bad)
		return;
	t.system = xstrdup(system);
	t.format = xstrndup((const char *)file.p, (size_t)(file.end - file.p));
	if (tracepoint_format_parse(&t) && r->tracepoints.count < LIMIT_TRACEPOINTS)
		vec_push(&r->tracepoints, t);
	else
		tracepoint_done(&t);
}

/* The part before the formats; false: the version or the byte order is another one. */
static bool take_head(struct perf_cursor *c, struct recording *r)
{
	const uint8_t *start = perf_cursor_take(c, sizeof(magic) - sizeof("0.6"));
	const char *version =
	        start && !memcmp(start, magic, sizeof(magic) - sizeof("0.6")) ? take_name(c) : NULL;
	const uint8_t *order = version ? perf_cursor_take(c, 2) : NULL;
	struct perf_cursor page;

	if (!order || *order)
		return false;
	perf_cursor_u32(c); /* size of a page */
	take_name(c);
	page = take_file(c);
	take_name(c);
	take_file(c);
	for (uint32_t i = perf_cursor_u32(c); i && !c->bad; i--)
		take_file(c);
	if (!c->bad && !r->tracing_page)
		r->tracing_page = xstrndup((const char *)page.p, (size_t)(page.end - page.p));
	return !c->bad;
}

bool tracing_data_decode(const void *bytes, size_t size, struct recording *r)
{
	struct perf_cursor c = {bytes, (const uint8_t *)bytes + size, false};

	if (!take_head(&c, r))
		return false;
	for (uint32_t systems = perf_cursor_u32(&c); systems && !c.bad; systems--) {
		const char *system = take_name(&c);

		for (uint32_t i = perf_cursor_u32(&c); i && !c.bad; i--)
			take_format(&c, system, r);
	}
	return !c.bad;
}
