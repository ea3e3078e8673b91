/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/other_format.h"
#include "format/perf/perf_data_attr.h"
#include "format/perf/perf_data_feature.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_data_read.h"
#include "format/perf/perf_record_walk.h"
#include "format/perf/tracepoint_format.h"

#include <errno.h>
#include <inttypes.h>

/* A damaged file may have very many errors; this number is enough to show that. */
#define WARNINGS_MAX 32
#define HEAD_BYTES 65536u /* in which the format of another tool is looked for */
#define OTHER_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "big" : "little")

/* Data that is collected before the attrs can be described. */
struct opening {
	struct perf_data_view *v;
	struct recording *r;
	VEC(struct perf_event_attr) attrs;
	perf_data_event_descs descs;
	uint16_t witness;
};

bool perf_data_recognise(const void *bytes, size_t size)
{
	static const char *const magics[] = {PERF_DATA_MAGIC, PERF_DATA_MAGIC_SWAPPED,
	                                     PERF_DATA_MAGIC_OLD, PERF_DATA_MAGIC_OLD_SWAPPED};

	for (size_t i = 0; size >= 8 && i < sizeof(magics) / sizeof(*magics); i++)
		if (!memcmp(bytes, magics[i], 8))
			return true;
	return false;
}

static int check_magic(const struct perf_data_view *v, struct error *err)
{
	const struct other_format *other;

	if (v->size >= PERF_DATA_PIPE_HEADER_SIZE && !memcmp(v->bytes, PERF_DATA_MAGIC, 8))
		return 0;
	if (v->size >= 8 && !memcmp(v->bytes, PERF_DATA_MAGIC_SWAPPED, 8))
		return error_set(err, EINVAL,
		                 "%s was recorded on a machine of the other byte order (%s"
		                 "-endian), which assay does not read: 'perf script -i %s | "
		                 "stackcollapse-perf.pl > out.folded' writes folded stacks, which "
		                 "assay reads, since perf reads both orders",
		                 v->name, OTHER_ORDER, v->name);
	if (v->size >= 8 && (!memcmp(v->bytes, PERF_DATA_MAGIC_OLD, 8) ||
	                     !memcmp(v->bytes, PERF_DATA_MAGIC_OLD_SWAPPED, 8)))
		return error_set(err, EINVAL,
		                 "%s has perf's first format (PERFFILE at byte 0), which perf has "
		                 "not written since 2012, and which assay cannot read: convert it "
		                 "with 'perf inject -i %s -o NEW' of a later perf",
		                 v->name, v->name);
	if (!v->size)
		return error_set(err, EINVAL, "%s is empty: it holds no recording", v->name);
	if (v->size < PERF_DATA_PIPE_HEADER_SIZE && perf_data_recognise(v->bytes, v->size))
		return error_set(err, EINVAL,
		                 "%s ends after %zu bytes, within its header: it holds no "
		                 "recording; copy it "
		                 "again, or record again",
		                 v->name, v->size);
	other = other_format_of(v->bytes, v->size < HEAD_BYTES ? v->size : HEAD_BYTES);
	if (other)
		return other_format_refuse(other, v->name, err);
	return error_set(err, EINVAL, "%s is not a perf.data file: it does not begin with %s",
	                 v->name, PERF_DATA_MAGIC);
}

/* Attrs of other versions of perf are shorter or longer than this one: missing fields are 0. */
static void add_attr(struct opening *o, const uint8_t *bytes, size_t size, const uint8_t *ids,
                     size_t id_count)
{
	struct perf_event_attr attr = {0};

	if (o->attrs.count >= EVENT_NO_ATTR)
		return;
	memcpy(&attr, bytes, size < sizeof(attr) ? size : sizeof(attr));
	vec_push(&o->attrs, attr);
	perf_decoder_add_attr(&o->v->decoder, &attr, ids, id_count);
}

static bool in_file(const struct perf_data_view *v, struct perf_data_section s)
{
	return s.offset <= v->size && s.size <= v->size - s.offset;
}

static void warn_ids(struct opening *o, uint64_t offset)
{
	if (o->r->warnings.count < WARNINGS_MAX)
		recording_warn(o->r,
		               "%s: the ids of the event at offset %" PRIu64
		               " are not within the file; its samples may be missing",
		               o->v->name, offset);
}

static int read_attrs(struct opening *o, const struct perf_data_header *h, struct error *err)
{
	const struct perf_data_view *v = o->v;
	size_t attr_bytes = h->attr_size - sizeof(struct perf_data_section);
	uint64_t id_bytes = 0;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_data_section) ||
	    h->attr_size > v->size || !in_file(v, h->attrs) || h->attrs.size < h->attr_size)
		return error_set(err, EINVAL,
		                 "%s: the list of events at offset %" PRIu64 " (%" PRIu64
		                 " bytes, %" PRIu64
		                 " each) is not within the file: it is damaged or truncated; copy "
		                 "it again, or record again",
		                 v->name, h->attrs.offset, h->attrs.size, h->attr_size);
	for (uint64_t at = 0; at + h->attr_size <= h->attrs.size; at += h->attr_size) {
		const uint8_t *entry = v->bytes + h->attrs.offset + at;
		struct perf_data_section ids = {load_u64(entry + attr_bytes),
		                                load_u64(entry + attr_bytes + 8)};

		/* Overlapping sections could produce very many ids from few bytes. */
		if (!in_file(v, ids) || (id_bytes += ids.size) > v->size) {
			warn_ids(o, h->attrs.offset + at);
			ids = (struct perf_data_section){0};
		}
		add_attr(o, entry, attr_bytes, v->bytes + ids.offset, ids.size / sizeof(uint64_t));
	}
	return 0;
}

static void read_feature(struct opening *o, unsigned number, const uint8_t *bytes, size_t size)
{
	bool good;

	if (number == PERF_DATA_FEATURE_ACCOUNT)
		good = perf_data_account_decode((const char *)bytes, size, &o->r->account,
		                                &o->witness);
	else
		good = perf_data_feature_decode(number, bytes, size, o->r, &o->descs);
	if (o->r->warnings.count >= WARNINGS_MAX)
		return;
	if (number == PERF_FEATURE_DIR_FORMAT && !o->v->parts)
		recording_warn(o->r,
		               "%s is one of several files of perf record --threads; samples in "
		               "the others are not read: give the directory that they are in",
		               o->v->name);
	if (!good)
		recording_warn(o->r, "%s: feature section %u at offset %zu is damaged", o->v->name,
		               number, (size_t)(bytes - o->v->bytes));
}

static size_t count_features(const struct perf_data_header *h)
{
	size_t count = 0;

	for (size_t i = 0; i < PERF_DATA_FEATURE_BITS / 64; i++)
		count += (size_t)__builtin_popcountll(h->features[i]);
	return count;
}

static struct perf_data_section table_entry(const struct perf_data_view *v, size_t i)
{
	const uint8_t *p = v->bytes + v->data_end + i * sizeof(struct perf_data_section);

	return (struct perf_data_section){load_u64(p), load_u64(p + 8)};
}

/* True if there is a table of sections at data_end; a killed perf leaves bits without a table. */
static bool have_table(const struct perf_data_view *v, size_t count)
{
	size_t bytes = count * sizeof(struct perf_data_section);

	if (!count || v->size - v->data_end < bytes)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct perf_data_section s = table_entry(v, i);

		if (!in_file(v, s) || (s.size && s.offset < v->data_end + bytes))
			return false;
	}
	return true;
}

static void read_features(struct opening *o, const struct perf_data_header *h)
{
	const struct perf_data_view *v = o->v;
	size_t i = 0;

	for (unsigned number = 0; number < PERF_DATA_FEATURE_BITS; number++) {
		struct perf_data_section s;

		if (!(h->features[number / 64] >> number % 64 & 1))
			continue;
		s = table_entry(v, i++);
		read_feature(o, number, v->bytes + s.offset, s.size);
	}
}

/* Finds the records, and reads the features after them. */
static void read_frame(struct opening *o, const struct perf_data_header *h)
{
	struct perf_data_view *v = o->v;
	size_t count = count_features(h);
	bool fits = in_file(v, h->data);

	v->data = h->data.offset < v->size ? h->data.offset : v->size;
	v->data_end = fits ? v->data + h->data.size : v->size;
	if (fits && have_table(v, count)) {
		read_features(o, h);
		return;
	}
	o->r->truncated = true;
	/* Records after the last flush may be missing; damaged features are skipped. */
	if (!h->data.size || !count)
		v->data_end = v->size;
	if (!fits)
		recording_warn(o->r,
		               "%s is truncated: its records should extend from offset %" PRIu64
		               " over %" PRIu64 " bytes, and the file has %zu",
		               v->name, h->data.offset, h->data.size, v->size);
	else if (count && h->data.size)
		recording_warn(o->r,
		               "%s: the table of features at offset %zu is damaged or truncated; "
		               "names of the machine and build-ids are unknown",
		               v->name, v->data_end);
	else
		recording_warn(o->r,
		               "%s was not closed by its recorder: all records that reached the "
		               "file are read, what the recorder adds at its end is missing",
		               v->name);
}

static int open_file(struct opening *o, struct error *err)
{
	struct perf_data_header h;
	int rc;

	if (o->v->size < sizeof(h))
		return error_set(err, EINVAL,
		                 "%s ends after %zu bytes, within its header: it holds no "
		                 "recording; copy it "
		                 "again, or record again",
		                 o->v->name, o->v->size);
	memcpy(&h, o->v->bytes, sizeof(h));
	rc = read_attrs(o, &h, err);
	if (!rc)
		read_frame(o, &h);
	return rc;
}

/* Reads a record that replaces the header in a pipe. */
static void read_pipe_record(struct opening *o, const uint8_t *p, size_t size)
{
	switch (load_u32(p)) {
	case PERF_USER_ATTR: {
		const uint8_t *attr = p + PERF_RECORD_HEADER_SIZE;
		size_t room = size - PERF_RECORD_HEADER_SIZE, attr_bytes;

		if (room < PERF_ATTR_SIZE_VER0)
			break;
		attr_bytes = load_u32(attr + 4);
		attr_bytes = attr_bytes ? attr_bytes : PERF_ATTR_SIZE_VER0;
		if (attr_bytes >= PERF_ATTR_SIZE_VER0 && attr_bytes <= room)
			add_attr(o, attr, attr_bytes, attr + attr_bytes,
			         (room - attr_bytes) / sizeof(uint64_t));
		break;
	}
	case PERF_USER_FEATURE:
		if (size >= 16 && load_u64(p + 8) < PERF_DATA_FEATURE_BITS)
			read_feature(o, load_u32(p + 8), p + 16, size - 16);
		break;
	case PERF_USER_TRACING_DATA: /* the section is behind the record */
		if (size >= 12)
			read_feature(o, PERF_FEATURE_TRACING_DATA, p + size, load_u32(p + 8));
		break;
	case PERF_USER_BUILD_ID:
		perf_data_build_id_decode(p, size, o->r);
		break;
	}
}

static int open_pipe(struct opening *o, struct error *err)
{
	struct perf_data_view *v = o->v;
	struct perf_record_walk walk;
	const uint8_t *p;

	v->data = PERF_DATA_PIPE_HEADER_SIZE;
	v->data_end = v->size;
	walk = (struct perf_record_walk){.p = v->bytes + v->data, .end = v->bytes + v->data_end};
	while ((p = perf_record_next(&walk)))
		read_pipe_record(o, p, walk.record_size);
	if (!o->attrs.count)
		return error_set(
		        err, EINVAL,
		        "%s, a recording from a pipe, contains no event: it is truncated or "
		        "damaged at offset %zu; copy it again, or record again",
		        v->name, (size_t)(walk.p - v->bytes));
	return 0;
}

static void set_tracepoints(struct opening *o)
{
	vec_each (attr, &o->attrs) {
		const struct tracepoint *t = attr->type == PERF_TYPE_TRACEPOINT
		                                     ? tracepoint_find(o->r, attr->config)
		                                     : NULL;

		if (t)
			perf_decoder_set_tracepoint(&o->v->decoder,
			                            (uint16_t)(attr - o->attrs.items), t);
	}
}

int perf_data_view_open(struct perf_data_view *v, struct recording *r, struct error *err)
{
	struct opening o = {.v = v, .r = r, .witness = EVENT_NO_ATTR};
	int rc;

	perf_decoder_init(&v->decoder);
	r->bytes = v->size;
	for (size_t i = 0; i < v->part_count; i++)
		r->bytes += v->parts[i].size;
	rc = check_magic(v, err);
	if (rc)
		return rc;
	if (load_u64(v->bytes + 8) == PERF_DATA_PIPE_HEADER_SIZE)
		rc = open_pipe(&o, err);
	else
		rc = open_file(&o, err);
	if (!rc) {
		set_tracepoints(&o);
		/* If the attrs came without ids, the feature has them. */
		for (size_t i = 0; i < o.descs.count && i < o.attrs.count; i++)
			perf_decoder_add_ids(&v->decoder, (uint16_t)i, o.descs.items[i].ids,
			                     o.descs.items[i].id_count);
		perf_decoder_seal(&v->decoder);
		perf_data_attrs_describe(r, o.attrs.items, o.attrs.count, &o.descs, o.witness);
		if (o.attrs.items[0].use_clockid)
			r->clockid = o.attrs.items[0].clockid;
	}
	perf_data_event_descs_done(&o.descs);
	vec_done(&o.attrs);
	return rc;
}

void perf_data_view_done(struct perf_data_view *v)
{
	perf_decoder_done(&v->decoder);
}
