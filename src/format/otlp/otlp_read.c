/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields may be in any order: the collector writes the last ones first, others write the dictionary
 * behind the profiles. So each level is walked for what its samples need, and then for the samples.
 */
#include "format/otlp/otlp_read.h"

#include "base/text/plural.h"
#include "format/otlp/otlp_tables.h"
#include "format/profiles/profile_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The field numbers of a sample, which the package changed without a name of its own for each. */
enum sample_field {
	FIELD_OTHER,
	FIELD_STACK,
	FIELD_ATTRIBUTES,
	FIELD_LINK,
	FIELD_VALUES,
	FIELD_TIMES
};

static const enum sample_field fields_now[] = {
        [OTLP_SAMPLE_STACK] = FIELD_STACK, [OTLP_SAMPLE_ATTRIBUTES] = FIELD_ATTRIBUTES,
        [OTLP_SAMPLE_LINK] = FIELD_LINK,   [OTLP_SAMPLE_VALUES] = FIELD_VALUES,
        [OTLP_SAMPLE_TIMES] = FIELD_TIMES,
};
static const enum sample_field fields_before[] = {
        [OTLP_BEFORE_STACK] = FIELD_STACK,           [OTLP_BEFORE_VALUES] = FIELD_VALUES,
        [OTLP_BEFORE_ATTRIBUTES] = FIELD_ATTRIBUTES, [OTLP_BEFORE_LINK] = FIELD_LINK,
        [OTLP_BEFORE_TIMES] = FIELD_TIMES,
};

struct otlp_reader {
	struct otlp_tables t;
	struct symbolized_profile *n;
	struct named_owner resource; /* owner of the samples that are being read */
	const enum sample_field *fields;
	unsigned value; /* value of the profile that is being read */
	int64_t end_ns; /* of the latest profile */
	uint64_t left_profiles, links;
	size_t cut; /* bytes of a last message that is not whole */
};

/* A ResourceProfiles has messages and texts: Resource, ScopeProfiles and a URL. */
static bool resource_fits(struct pprof_cursor c, bool cut)
{
	struct pprof_cursor rest = c;
	struct pprof_field f;
	uint64_t key, size;

	if (!pprof_varint(&c, &key) || (key & 7) != WIRE_BYTES || !(key >> 3) || key >> 3 > 3 ||
	    !pprof_varint(&c, &size) || (!cut && size > (uint64_t)(c.end - c.at)))
		return false;
	while (pprof_next(&rest, &f) == 1)
		if (f.wire != WIRE_BYTES)
			return false;
	return true;
}

/*
 * The tables of a dictionary are messages in fields 1 to 7, in any order. A sample of pprof, which
 * has the same field at the top level, ends with field 3, and has no empty message at its start.
 */
static bool dictionary_fits(struct pprof_cursor c, bool cut)
{
	struct pprof_field f = {0};
	bool first = true;
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.wire != WIRE_BYTES || f.number > OTLP_STACKS)
			return false;
		if (f.number > SAMPLE_LABEL || (first && !f.value))
			return true;
		first = false;
	}
	return got && cut && f.wire == WIRE_BYTES && f.number > SAMPLE_LABEL &&
	       f.number <= OTLP_STACKS;
}

/* The first field of the top level; its bytes may be incomplete. */
static bool levels_fit(struct pprof_cursor c, bool whole)
{
	uint64_t key, size;
	bool cut;

	if (!pprof_varint(&c, &key) || !pprof_varint(&c, &size) || !size)
		return false;
	cut = size > (uint64_t)(c.end - c.at);
	if (cut && whole)
		return false;
	if (!cut)
		c.end = c.at + size;
	if (key == (OTLP_DATA_RESOURCES << 3 | WIRE_BYTES))
		return resource_fits(c, cut);
	return key == (OTLP_DATA_DICTIONARY << 3 | WIRE_BYTES) && dictionary_fits(c, cut);
}

/* A profile of pprof also begins with a message in field 1 or 2, but that contains numbers. */
static bool message_fits(struct pprof_cursor c, bool whole)
{
	struct pprof_field f;
	bool first = true;
	int got;

	if (!levels_fit(c, whole))
		return false;
	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number > OTLP_DATA_DICTIONARY || f.wire != WIRE_BYTES)
			return false;
		first = false;
	}
	return !got || !whole || !first; /* a file that is cut is recognised by its first field */
}

/*
 * The collector's file exporter writes the size of each message before it, as four bytes,
 * big-endian. Takes the size; false: the bytes end before.
 */
static bool take_size(struct pprof_cursor *c, uint64_t *size)
{
	*size = 0;
	if (c->end - c->at < 4)
		return false;
	for (unsigned i = 0; i < 4; i++)
		*size = *size << 8 | *c->at++;
	return true;
}

static bool sizes_fit(struct pprof_cursor c, bool whole)
{
	uint64_t size;

	if (!take_size(&c, &size) || !size)
		return false;
	if (size <= (uint64_t)(c.end - c.at)) {
		c.end = c.at + size;
		whole = true;
	}
	return message_fits(c, whole);
}

bool otlp_recognise(const void *bytes, size_t size, bool whole)
{
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};

	return message_fits(c, whole) || sizes_fit(c, whole);
}

/* The last value is kept for the wanted one until that is found. */
static unsigned room_for(const struct symbolized_profile *n, const char *name)
{
	bool found = !n->wanted || !strcmp(name, n->wanted);

	for (unsigned i = 0; !found && i < n->value_count; i++)
		found = !strcmp(n->values[i].name, n->wanted);
	return found ? NAMED_VALUES : NAMED_VALUES - 1;
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
	*left = n->value_count >= room_for(n, intern_text(&n->texts, name));
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
		enum sample_field field =
		        f.number <= OTLP_SAMPLE_TIMES ? r->fields[f.number] : FIELD_OTHER;

		if (field == FIELD_STACK && f.wire == WIRE_NUMBER)
			stack = f.value;
		else if (field == FIELD_ATTRIBUTES)
			ret = add_attributes(r, &f, &owner, err);
		else if (field == FIELD_LINK)
			r->links += f.value != 0;
		else if (field == FIELD_TIMES)
			times += f.bytes ? (int64_t)(f.value / 8) : 1;
		else if (field == FIELD_VALUES)
			ret = add_numbers(r, &f, &sum, err);
		valued |= field == FIELD_VALUES;
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

/* The profile is from the begin of the first one to the end of the last one. */
static void add_time(struct otlp_reader *r, int64_t time_ns, int64_t duration_ns)
{
	struct symbolized_profile *n = r->n;
	int64_t end_ns = named_add(time_ns, duration_ns);

	if (time_ns > 0 && duration_ns >= 0 && n->time_ns > 0) {
		n->time_ns = time_ns < n->time_ns ? time_ns : n->time_ns;
		r->end_ns = end_ns > r->end_ns ? end_ns : r->end_ns;
		n->duration_ns = r->end_ns - n->time_ns;
	} else if (!n->time_ns) {
		n->time_ns = time_ns;
		n->duration_ns = duration_ns > n->duration_ns ? duration_ns : n->duration_ns;
		r->end_ns = end_ns;
	}
}

/* The type may come after the samples. */
static int read_profile(struct otlp_reader *r, const struct pprof_field *profile, struct error *err)
{
	struct pprof_cursor c = pprof_inside(profile), again = c;
	struct symbolized_profile *n = r->n;
	bool typed = false, left = false;
	int64_t time_ns = 0, duration_ns = 0;
	struct pprof_field f;
	int got = 0, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (f.number == OTLP_PROFILE_TYPE && f.bytes) {
			ret = find_value(r, &f, &left, err);
			typed = true;
		} else if (f.number == OTLP_PROFILE_TIME && f.wire == WIRE_64) {
			time_ns = (int64_t)little_endian(c.at - 8);
		} else if (f.number == OTLP_PROFILE_DURATION && f.wire == WIRE_NUMBER) {
			duration_ns = (int64_t)f.value;
		} else if (f.number == OTLP_PROFILE_PERIOD && f.wire == WIRE_NUMBER) {
			n->period = (int64_t)f.value;
		}
	}
	if (!ret && got)
		return otlp_bad_field(&r->t, &f, err);
	if (!ret && !typed)
		return otlp_bad(&r->t, profile->at, err, "a profile has no type of its values");
	r->left_profiles += left;
	add_time(r, time_ns, duration_ns);
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
	struct pprof_cursor c = pprof_inside(outer), again = c;
	struct pprof_field f;
	int got = 0, ret = 0;

	r->resource = (struct named_owner){0};
	while (!ret && (got = pprof_next(&c, &f)) == 1)
		if (f.number == OTLP_RESOURCE && f.bytes)
			ret = read_resource(r, &f, err);
	if (!ret && got)
		return otlp_bad_field(&r->t, &f, err);
	while (!ret && pprof_next(&again, &f) == 1)
		if (f.number == OTLP_RESOURCE_SCOPES && f.bytes)
			ret = read_scope(r, &f, err);
	return ret;
}

/* What the fields of the samples say about their numbers. */
struct sample_evidence {
	bool before; /* a sample that only the former numbers explain */
	bool other;  /* no stacks of the dictionary: a version before both */
	/* The least number in the field of the former links: a value of the present version may be
	 * written so, too. 0: none */
	uint64_t link;
	/* The largest number in the field of the former values, of samples without the present
	 * values: otherwise an attribute. */
	uint64_t attribute;
};

static uint64_t largest_number(struct pprof_cursor c)
{
	uint64_t number, largest = 0;

	while (c.at < c.end && pprof_varint(&c, &number))
		largest = number > largest ? number : largest;
	return largest;
}

static void look_at_sample(const struct pprof_field *sample, struct sample_evidence *e)
{
	struct pprof_cursor c = pprof_inside(sample);
	bool second = false, timed = false, fourth = false;
	uint64_t largest = 0;
	struct pprof_field f;

	while (pprof_next(&c, &f) == 1) {
		if (f.number == OTLP_BEFORE_ATTRIBUTES && f.bytes)
			e->before = true;
		else if (f.number == OTLP_BEFORE_LINK && f.wire == WIRE_NUMBER && f.value)
			e->link = e->link && e->link < f.value ? e->link : f.value;
		if (f.number == OTLP_BEFORE_VALUES && f.bytes && f.value) {
			second = true;
			largest = largest_number(pprof_inside(&f));
		}
		fourth |= f.number == OTLP_SAMPLE_VALUES;
		timed |= f.number == OTLP_SAMPLE_TIMES;
	}
	/* A sample has values or times. */
	e->before |= second && !fourth && !timed;
	if (!fourth && largest > e->attribute)
		e->attribute = largest;
}

/* A number that is no attribute is a value. */
static bool are_former(const struct otlp_reader *r, const struct sample_evidence *e)
{
	return e->before || (e->link && e->link < r->t.tables[OTLP_LINKS].count) ||
	       (e->attribute && e->attribute >= r->t.tables[OTLP_ATTRIBUTES].count);
}

/* `level`: 0: ProfilesData; 1: ResourceProfiles; 2: ScopeProfiles; 3: Profile. */
static void look_for_layout(struct pprof_cursor c, unsigned level, struct sample_evidence *e)
{
	static const unsigned next[] = {OTLP_DATA_RESOURCES, OTLP_RESOURCE_SCOPES,
	                                OTLP_SCOPE_PROFILES, OTLP_PROFILE_SAMPLES};
	struct pprof_field f;

	while (pprof_next(&c, &f) == 1) {
		if (level == 3 &&
		    (f.number == OTLP_PROFILE_SAMPLES || f.number == OTLP_PROFILE_TIME) &&
		    (f.number == OTLP_PROFILE_SAMPLES) != (f.wire == WIRE_BYTES))
			e->other = true;
		else if (f.number != next[level] || !f.bytes)
			continue;
		else if (level == 3)
			look_at_sample(&f, e);
		else
			look_for_layout(pprof_inside(&f), level + 1, e);
	}
}

/* A message with its dictionary, which may be behind the samples. */
static int read_message(struct otlp_reader *r, const struct pprof_cursor message, struct error *err)
{
	struct pprof_cursor c = message;
	struct sample_evidence e = {0};
	struct pprof_field f;
	int got = 0, ret = 0;

	otlp_tables_done(&r->t);
	look_for_layout(message, 0, &e);
	if (e.other)
		return error_set(
		        err, EPROTONOSUPPORT,
		        "%s is an OTLP profile of a version that has no table of stacks, "
		        "which assay does not read: newer versions of most programs write the "
		        "present one; pprof and folded stacks are read also",
		        r->t.name);
	while (!ret && (got = pprof_next(&c, &f)) == 1)
		if (f.number == OTLP_DATA_DICTIONARY && f.bytes)
			ret = otlp_tables_read(&r->t, pprof_inside(&f), err);
	if (!ret && got)
		return otlp_bad_field(&r->t, &f, err);
	r->fields = are_former(r, &e) ? fields_before : fields_now;
	for (c = message; !ret && pprof_next(&c, &f) == 1;)
		if (f.number == OTLP_DATA_RESOURCES && f.bytes)
			ret = read_resource_profiles(r, &f, err);
	return ret;
}

static int read_messages(struct otlp_reader *r, size_t size, struct error *err)
{
	struct pprof_cursor c = {r->t.bytes, r->t.bytes + size};
	uint64_t length;
	int ret = 0;

	if (message_fits(c, true) || !sizes_fit(c, false))
		return read_message(r, c, err);
	while (!ret && c.at < c.end) {
		const uint8_t *begin = c.at;

		if (!take_size(&c, &length) || length > (uint64_t)(c.end - c.at)) {
			r->cut = (size_t)(c.end - begin);
			break;
		}
		ret = read_message(r, (struct pprof_cursor){c.at, c.at + length}, err);
		c.at += length;
	}
	return ret;
}

static void tell_left(const struct otlp_reader *r, struct buf *left)
{
	if (r->cut)
		buf_addf(left, "the last message is cut: its %zu %s not read\n", r->cut,
		         plural(r->cut, "byte is", "bytes are"));
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
	int ret = read_messages(&r, size, err);

	if (!ret && !n->value_count)
		ret = error_set(err, EBADMSG,
		                r.cut ? "%s is cut: it ends within its first message"
		                      : "%s contains no profile",
		                name);
	if (!ret)
		ret = profile_choose_value(n, n->value_count - 1, name, err);
	if (!ret && left)
		tell_left(&r, left);
	otlp_tables_done(&r.t);
	return ret;
}
