/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dictionary is behind the profiles in most files, so the top level is read twice: first the
 * dictionary, then the samples.
 */
#include "format/otlp/otlp_read.h"

#include "base/text/plural.h"
#include "format/otlp/otlp_tables.h"
#include "format/profiles/profile_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct otlp_reader {
	struct otlp_tables t;
	struct symbolized_profile *n;
	struct named_owner resource; /* owner of the samples that are being read */
	unsigned value;              /* value of the profile that is being read */
	uint64_t left_profiles, links;
};

/* Reads a field of an outer level; its bytes may be incomplete. */
static bool levels_fit(const uint8_t *at, const uint8_t *end, bool whole)
{
	/* ResourceProfiles, then its first field: Resource, ScopeProfiles or a URL. */
	struct pprof_cursor c = {at, end};
	uint64_t key, size;

	if (!pprof_varint(&c, &key) || key != (OTLP_DATA_RESOURCES << 3 | WIRE_BYTES) ||
	    !pprof_varint(&c, &size) || (whole && size > (uint64_t)(end - c.at)) || !size)
		return false;
	if (!pprof_varint(&c, &key) || (key & 7) != WIRE_BYTES || !(key >> 3) || key >> 3 > 3)
		return false;
	return pprof_varint(&c, &size) && (!whole || size <= (uint64_t)(end - c.at));
}

/* A profile of pprof also begins with a message in field 1, but that contains numbers. */
bool otlp_recognise(const void *bytes, size_t size, bool whole)
{
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};
	struct pprof_field f;
	bool first = true;
	int got;

	if (!levels_fit(c.at, c.end, whole))
		return false;
	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number > OTLP_DATA_DICTIONARY || f.wire != WIRE_BYTES)
			return false;
		first = false;
	}
	return !got || !whole || !first; /* a file that is cut is recognised by its first field */
}

static int find_value(struct otlp_reader *r, const struct pprof_field *type, bool *left,
                      struct error *err)
{
	struct pprof_cursor c = pprof_inside(type);
	struct symbolized_profile *n = r->n;
	uint64_t v[OTLP_TYPE_UNIT + 1] = {0};
	uint32_t name, unit;
	struct pprof_field f;
	int got, ret;

	while ((got = pprof_next(&c, &f)) == 1)
		if (f.number <= OTLP_TYPE_UNIT && f.wire == WIRE_NUMBER)
			v[f.number] = f.value;
	if (got)
		return otlp_bad_field(&r->t, &f, err);
	ret = otlp_text(&r->t, v[OTLP_TYPE_NAME], type->at, &name, err);
	if (!ret)
		ret = otlp_text(&r->t, v[OTLP_TYPE_UNIT], type->at, &unit, err);
	if (ret)
		return ret;
	for (r->value = 0; r->value < n->value_count; r->value++)
		if (!strcmp(n->values[r->value].name, intern_text(&n->texts, name)) &&
		    !strcmp(n->values[r->value].unit, intern_text(&n->texts, unit)))
			return 0;
	*left = n->value_count == NAMED_VALUES;
	if (!*left)
		n->values[n->value_count++] = (struct named_value){intern_text(&n->texts, name),
		                                                   intern_text(&n->texts, unit)};
	return 0;
}

/* Adds the numbers of a packed or single field. */
static int add_numbers(struct otlp_reader *r, const struct pprof_field *f, int64_t *sum,
                       struct error *err)
{
	uint64_t v;

	if (f->wire == WIRE_NUMBER)
		*sum = named_add(*sum, (int64_t)f->value);
	for (struct pprof_cursor in = pprof_inside(f); f->bytes && in.at < in.end;) {
		if (!pprof_varint(&in, &v))
			return otlp_bad(&r->t, f->at, err, "a number does not end");
		*sum = named_add(*sum, (int64_t)v);
	}
	return 0;
}

static int add_attributes(struct otlp_reader *r, const struct pprof_field *f,
                          struct named_owner *owner, struct error *err)
{
	uint64_t v;
	int ret = 0;

	if (f->wire == WIRE_NUMBER)
		ret = otlp_attribute(&r->t, f->value, f->at, owner, err);
	for (struct pprof_cursor in = pprof_inside(f); !ret && f->bytes && in.at < in.end;) {
		if (!pprof_varint(&in, &v))
			return otlp_bad(&r->t, f->at, err, "a number does not end");
		ret = otlp_attribute(&r->t, v, f->at, owner, err);
	}
	return ret;
}

static int read_sample(struct otlp_reader *r, const struct pprof_field *sample, struct error *err)
{
	struct pprof_cursor c = pprof_inside(sample);
	struct named_owner owner = r->resource;
	bool valued = false;
	int64_t sum = 0, times = 0;
	struct pprof_field f;
	uint64_t stack = 0;
	struct named_row *row;
	uint32_t path;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_SAMPLE_STACK && f.wire == WIRE_NUMBER)
			stack = f.value;
		else if (f.number == OTLP_SAMPLE_ATTRIBUTES)
			ret = add_attributes(r, &f, &owner, err);
		else if (f.number == OTLP_SAMPLE_LINK)
			r->links += f.value != 0;
		else if (f.number == OTLP_SAMPLE_TIMES)
			times += f.bytes ? (int64_t)(f.value / 8) : 1;
		else if (f.number == OTLP_SAMPLE_VALUES)
			ret = add_numbers(r, &f, &sum, err);
		valued |= f.number == OTLP_SAMPLE_VALUES;
	}
	if (!ret && got)
		ret = otlp_bad_field(&r->t, &f, err);
	if (!ret)
		ret = otlp_path(&r->t, stack, sample->at, &path, err);
	if (ret)
		return ret;
	row = named_row_of(r->n, path, named_owner_id(r->n, &owner));
	row->values[r->value] = named_add(row->values[r->value], valued ? sum : times);
	return profile_check_size(r->n, r->t.name, err);
}

static uint64_t little_endian(const uint8_t *at)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

/* The type may come after the samples. */
static int read_profile(struct otlp_reader *r, const struct pprof_field *profile, struct error *err)
{
	struct pprof_cursor c = pprof_inside(profile), again = c;
	struct symbolized_profile *n = r->n;
	bool typed = false, left = false;
	struct pprof_field f;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_PROFILE_TYPE && f.bytes) {
			ret = find_value(r, &f, &left, err);
			typed = true;
		} else if (f.number == OTLP_PROFILE_TIME && f.wire == WIRE_64) {
			n->time_ns = (int64_t)little_endian(c.at - 8);
		} else if (f.number == OTLP_PROFILE_DURATION && f.wire == WIRE_NUMBER) {
			n->duration_ns = (int64_t)f.value;
		} else if (f.number == OTLP_PROFILE_PERIOD && f.wire == WIRE_NUMBER) {
			n->period = (int64_t)f.value;
		}
	}
	if (!ret && got)
		return otlp_bad_field(&r->t, &f, err);
	if (!ret && !typed)
		return otlp_bad(&r->t, profile->at, err, "a profile has no type of its values");
	r->left_profiles += left;
	while (!ret && !left && pprof_next(&again, &f) == 1)
		if (f.number == OTLP_PROFILE_SAMPLES && f.bytes)
			ret = read_sample(r, &f, err);
	return ret;
}

static int read_resource(struct otlp_reader *r, const struct pprof_field *resource,
                         struct error *err)
{
	struct pprof_cursor c = pprof_inside(resource);
	struct pprof_field f;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1)
		if (f.number == 1 && f.bytes) /* an attribute */
			ret = otlp_key_value(&r->t, pprof_inside(&f), &r->resource, err);
	return ret ? ret : got ? otlp_bad_field(&r->t, &f, err) : 0;
}

static int read_scope(struct otlp_reader *r, const struct pprof_field *scope, struct error *err)
{
	struct pprof_cursor c = pprof_inside(scope);
	struct pprof_field f;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1)
		if (f.number == OTLP_SCOPE_PROFILES && f.bytes)
			ret = read_profile(r, &f, err);
	return ret ? ret : got ? otlp_bad_field(&r->t, &f, err) : 0;
}

static int read_resource_profiles(struct otlp_reader *r, const struct pprof_field *outer,
                                  struct error *err)
{
	struct pprof_cursor c = pprof_inside(outer);
	struct pprof_field f;
	int got = 0, ret = 0;

	r->resource = (struct named_owner){0};
	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_RESOURCE && f.bytes)
			ret = read_resource(r, &f, err);
		else if (f.number == OTLP_RESOURCE_SCOPES && f.bytes)
			ret = read_scope(r, &f, err);
	}
	return ret ? ret : got ? otlp_bad_field(&r->t, &f, err) : 0;
}

/* pass 0: the dictionary; 1: the samples. */
static int read_top(struct otlp_reader *r, size_t size, unsigned pass, struct error *err)
{
	struct pprof_cursor c = {r->t.bytes, r->t.bytes + size};
	struct pprof_field f;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (!pass && f.number == OTLP_DATA_DICTIONARY && f.bytes)
			ret = otlp_tables_read(&r->t, pprof_inside(&f), err);
		else if (pass && f.number == OTLP_DATA_RESOURCES && f.bytes)
			ret = read_resource_profiles(r, &f, err);
	}
	return ret ? ret : got ? otlp_bad_field(&r->t, &f, err) : 0;
}

static void tell_left(const struct otlp_reader *r, struct buf *left)
{
	if (r->left_profiles)
		buf_addf(left,
		         "profiles of %d types of values are read; %" PRIu64 " more %s omitted\n",
		         NAMED_VALUES, r->left_profiles, plural(r->left_profiles, "is", "are"));
	if (r->links)
		buf_addf(left, "links of %" PRIu64 " %s to spans are omitted\n", r->links,
		         plural(r->links, "sample", "samples"));
}

int otlp_read_memory(struct symbolized_profile *n, const char *name, const void *bytes, size_t size,
                     struct buf *left, struct error *err)
{
	struct otlp_reader r = {.t = {.n = n, .name = name, .bytes = bytes}, .n = n};
	int ret = read_top(&r, size, 0, err);

	if (!ret)
		ret = read_top(&r, size, 1, err);
	if (!ret && !n->value_count)
		ret = error_set(err, EBADMSG, "%s contains no profile", name);
	if (!ret)
		ret = profile_choose_value(n, n->value_count - 1, name, err);
	if (!ret && left)
		tell_left(&r, left);
	otlp_tables_done(&r.t);
	return ret;
}
