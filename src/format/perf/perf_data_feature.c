/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data_feature.h"
#include "format/perf/perf_cursor.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/tracing_data.h"

#include <limits.h>
#include <time.h>

static void put_u32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void put_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

static size_t padded(size_t size)
{
	return (size + PERF_DATA_STRING_ALIGN - 1) / PERF_DATA_STRING_ALIGN *
	       PERF_DATA_STRING_ALIGN;
}

static void put_string(struct buf *out, const char *text)
{
	size_t size = strlen(text) + 1;

	put_u32(out, padded(size));
	buf_add(out, text, size);
	buf_pad(out, '\0', padded(size) - size);
}

/* Writes a section that is one string; nothing if the string is unknown. */
static void put_known(struct buf *out, const char *text)
{
	if (text)
		put_string(out, text);
}

void perf_data_feature_event_desc(struct buf *out, const struct perf_data_attr *attrs, size_t count)
{
	put_u32(out, count);
	put_u32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr = attrs[i].attr;

		attr.size = sizeof(attr);
		buf_add(out, &attr, sizeof(attr));
		put_u32(out, attrs[i].id_count);
		put_string(out, attrs[i].name);
		buf_add(out, attrs[i].ids, attrs[i].id_count * sizeof(uint64_t));
	}
}

static uint16_t misc_of_mode(enum cpu_mode mode)
{
	return mode == CPU_MODE_KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static void put_build_ids(struct buf *out, const struct recording *r)
{
	vec_each (b, &r->build_ids) {
		size_t size = strlen(b->filename) + 1;
		uint8_t id[24] = {0};
		struct perf_event_header h = {
		        .type = PERF_USER_BUILD_ID,
		        .misc = misc_of_mode(b->mode) | PERF_MISC_BUILD_ID_SIZE,
		        .size = sizeof(h) + sizeof(b->pid) + sizeof(id) + padded(size),
		};

		if (!b->id.size || size > PATH_MAX)
			continue;
		memcpy(id, b->id.bytes, sizeof(b->id.bytes));
		id[20] = b->id.size;
		buf_add(out, &h, sizeof(h));
		buf_add(out, &b->pid, sizeof(b->pid));
		buf_add(out, id, sizeof(id));
		buf_add(out, b->filename, size);
		buf_pad(out, '\0', padded(size) - size);
	}
}

static void put_clockid(struct buf *out, const struct recording *r)
{
	struct timespec res;

	if (r->clockid < 0 || clock_getres(r->clockid, &res))
		return;
	put_u64(out, (uint64_t)res.tv_sec * 1000000000 + res.tv_nsec);
}

static void put_clock_data(struct buf *out, const struct recording *r)
{
	if (r->clockid < 0 || !r->clock_wall_ns)
		return;
	put_u32(out, 1); /* version */
	put_u32(out, r->clockid);
	put_u64(out, r->clock_wall_ns);
	put_u64(out, r->clock_start_ns);
}

void perf_data_feature_encode(struct buf *out, unsigned number, const struct recording *r)
{
	switch (number) {
	case PERF_FEATURE_TRACING_DATA:
		tracing_data_encode(out, r);
		break;
	case PERF_FEATURE_BUILD_ID:
		put_build_ids(out, r);
		break;
	case PERF_FEATURE_HOSTNAME:
		put_known(out, r->hostname);
		break;
	case PERF_FEATURE_OSRELEASE:
		put_known(out, r->os_release);
		break;
	case PERF_FEATURE_VERSION:
		put_string(out, r->version ? r->version : "assay " ASSAY_VERSION);
		break;
	case PERF_FEATURE_ARCH:
		put_known(out, r->arch);
		break;
	case PERF_FEATURE_NRCPUS:
		if (!r->cpus_online)
			break;
		put_u32(out, r->cpus_available);
		put_u32(out, r->cpus_online);
		break;
	case PERF_FEATURE_CPUDESC:
		put_known(out, r->cpu_description);
		break;
	case PERF_FEATURE_CMDLINE:
		if (!r->cmdline)
			break;
		put_u32(out, 1);
		put_string(out, r->cmdline);
		break;
	case PERF_FEATURE_SAMPLE_TIME:
		if (!r->last_sample_ns)
			break;
		put_u64(out, r->first_sample_ns);
		put_u64(out, r->last_sample_ns);
		break;
	case PERF_FEATURE_CLOCKID:
		put_clockid(out, r);
		break;
	case PERF_FEATURE_CLOCK_DATA:
		put_clock_data(out, r);
		break;
	case PERF_DATA_FEATURE_ACCOUNT:
		if (r->account.present)
			perf_data_account_encode(out, r);
		break;
	}
}

/* The caller frees the string; NULL if it is damaged. */
static char *take_string(struct perf_cursor *c)
{
	uint32_t size = perf_cursor_u32(c);
	const uint8_t *p = perf_cursor_take(c, size);

	return p ? xstrndup((const char *)p, size) : NULL;
}

static void take_into(struct perf_cursor *c, char **owned)
{
	char *text = take_string(c);

	if (!text)
		return;
	free(*owned);
	*owned = text;
}

static void take_cmdline(struct perf_cursor *c, struct recording *r)
{
	uint32_t count = perf_cursor_u32(c);
	struct buf line = {0};

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		char *word = take_string(c);

		if (word && i)
			buf_putc(&line, ' ');
		if (word)
			buf_puts(&line, word);
		free(word);
	}
	if (!c->bad) {
		free(r->cmdline);
		r->cmdline = xstrdup(buf_text(&line));
	}
	buf_done(&line);
}

static void take_event_desc(struct perf_cursor *c, perf_data_event_descs *descs)
{
	uint32_t count = perf_cursor_u32(c), attr_size = perf_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		struct perf_data_event_desc d = {0};
		const uint8_t *attr = perf_cursor_take(c, attr_size);

		if (!attr || attr_size < PERF_ATTR_SIZE_VER0) {
			c->bad = true;
			break;
		}
		memcpy(&d.attr, attr, attr_size < sizeof(d.attr) ? attr_size : sizeof(d.attr));
		d.id_count = perf_cursor_u32(c);
		d.name = take_string(c);
		d.ids = perf_cursor_take(c, d.id_count * sizeof(uint64_t));
		if (c->bad)
			free(d.name);
		else
			vec_push(descs, d);
	}
}

void perf_data_event_descs_done(perf_data_event_descs *descs)
{
	vec_each (d, descs)
		free(d->name);
	vec_done(descs);
}

bool perf_data_build_id_decode(const uint8_t *record, size_t size, struct recording *r)
{
	struct recording_build_id b = {0};
	uint16_t misc;
	size_t fixed = PERF_RECORD_HEADER_SIZE + sizeof(b.pid) + 24;

	if (size <= fixed)
		return false;
	misc = load_u16(record + 4);
	b.pid = (int32_t)load_u32(record + 8);
	b.mode = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? CPU_MODE_KERNEL
	                                                                           : CPU_MODE_USER;
	memcpy(b.id.bytes, record + 12, BUILD_ID_MAX);
	b.id.size = misc & PERF_MISC_BUILD_ID_SIZE ? record[12 + BUILD_ID_MAX] : BUILD_ID_MAX;
	if (b.id.size > BUILD_ID_MAX)
		return false;
	b.filename = xstrndup((const char *)record + fixed, size - fixed);
	vec_push(&r->build_ids, b);
	return true;
}

static void take_build_ids(struct perf_cursor *c, struct recording *r)
{
	while (c->p < c->end && !c->bad) {
		const uint8_t *record = c->p;
		uint16_t size = 0;

		if (c->end - c->p >= PERF_RECORD_HEADER_SIZE)
			size = load_u16(record + 6);
		if (!perf_cursor_take(c, size) || !perf_data_build_id_decode(record, size, r))
			c->bad = true;
	}
}

static void take_clock_data(struct perf_cursor *c, struct recording *r)
{
	uint32_t version = perf_cursor_u32(c), clockid = perf_cursor_u32(c);
	uint64_t wall_ns = perf_cursor_u64(c), start_ns = perf_cursor_u64(c);

	if (c->bad || version != 1)
		return;
	r->clockid = (int)clockid;
	r->clock_wall_ns = wall_ns;
	r->clock_start_ns = start_ns;
}

static void take_cpus(struct perf_cursor *c, struct recording *r)
{
	uint32_t available = perf_cursor_u32(c), online = perf_cursor_u32(c);

	if (c->bad)
		return;
	r->cpus_available = available;
	r->cpus_online = online;
}

bool perf_data_feature_decode(unsigned number, const void *bytes, size_t size, struct recording *r,
                              perf_data_event_descs *descs)
{
	struct perf_cursor c = {bytes, (const uint8_t *)bytes + size, false};

	/* perf writes an empty section for a value that it could not determine. */
	if (!size)
		return true;
	switch (number) {
	case PERF_FEATURE_TRACING_DATA:
		c.bad = !tracing_data_decode(bytes, size, r);
		break;
	case PERF_FEATURE_BUILD_ID:
		take_build_ids(&c, r);
		break;
	case PERF_FEATURE_HOSTNAME:
		take_into(&c, &r->hostname);
		break;
	case PERF_FEATURE_OSRELEASE:
		take_into(&c, &r->os_release);
		break;
	case PERF_FEATURE_VERSION:
		take_into(&c, &r->version);
		break;
	case PERF_FEATURE_ARCH:
		take_into(&c, &r->arch);
		break;
	case PERF_FEATURE_NRCPUS:
		take_cpus(&c, r);
		break;
	case PERF_FEATURE_CPUDESC:
		take_into(&c, &r->cpu_description);
		break;
	case PERF_FEATURE_CMDLINE:
		take_cmdline(&c, r);
		break;
	case PERF_FEATURE_EVENT_DESC:
		take_event_desc(&c, descs);
		break;
	case PERF_FEATURE_CLOCK_DATA:
		take_clock_data(&c, r);
		break;
	}
	return !c.bad;
}
