/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the bytes twice: first the items to which samples refer, which may come after them, then
 * the samples. Only places and texts that a sample uses are added.
 */
#include "format/pprof/pprof_read.h"

#include "base/limit.h"
#include "base/read/gunzip.h"
#include "base/text/base_name.h"
#include "base/text/plural.h"
#include "format/pprof/pprof_file.h"
#include "format/pprof/pprof_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TYPES_TOLD 8 /* in a sentence */

/* Labels that identify the process or thread of a sample, with their names in common producers. */
enum label { LABEL_OTHER, LABEL_PROCESS, LABEL_THREAD, LABEL_PID, LABEL_TID };

typedef VEC(uint64_t) number_list;

struct pprof_reader {
	struct pprof_tables t;
	size_t kept[NAMED_VALUES];     /* types of the file */
	uint8_t *labels;               /* by string: enum label + 1, 0: unknown */
	uint32_t process;              /* text: for samples without a label */
	uint64_t frames;               /* of all paths, including inlined ones */
	uint64_t other_labels;         /* samples that have other labels */
	number_list locations, values; /* scratch */
	struct buf *left;
};

static enum label label_of(const char *key)
{
	static const struct {
		const char *key;
		enum label label;
	} known[] = {
	        {"process", LABEL_PROCESS}, {"comm", LABEL_PROCESS},
	        {"thread", LABEL_THREAD},   {"thread_name", LABEL_THREAD},
	        {"pid", LABEL_PID},         {"process_id", LABEL_PID},
	        {"tid", LABEL_TID},         {"thread_id", LABEL_TID},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(key, known[i].key))
			return known[i].label;
	return LABEL_OTHER;
}

static int find_label(struct pprof_reader *r, uint64_t key, const uint8_t *at, enum label *label,
                      struct error *err)
{
	uint32_t text;
	int ret;

	if (key < r->t.strings.count && r->labels[key]) {
		*label = r->labels[key] - 1;
		return 0;
	}
	ret = pprof_text(&r->t, key, at, &text, err);
	if (ret)
		return ret;
	*label = label_of(intern_text(&r->t.n->texts, text));
	if (key < r->t.strings.count)
		r->labels[key] = (uint8_t)(*label + 1);
	return 0;
}

/* The value is a number, or only a text from some producers. */
static int32_t number_of(const struct pprof_reader *r, uint64_t number, uint32_t text)
{
	int64_t value = (int64_t)number;

	if (!value && text)
		value = strtoll(intern_text(&r->t.n->texts, text), NULL, 10);
	return value >= INT32_MIN && value <= INT32_MAX ? (int32_t)value : 0;
}

static int take_label(struct pprof_reader *r, const struct pprof_field *message,
                      struct named_owner *owner, bool *other, struct error *err)
{
	struct pprof_cursor c = pprof_inside(message);
	uint64_t v[LABEL_NUMBER + 1] = {0};
	enum label label;
	struct pprof_field f;
	uint32_t text;
	int got, ret;

	while ((got = pprof_next(&c, &f)) == 1)
		if (f.number <= LABEL_NUMBER && f.wire == WIRE_NUMBER)
			v[f.number] = f.value;
	if (got)
		return pprof_bad(&r->t, f.at, err, "a label's field does not end within it");
	ret = find_label(r, v[LABEL_KEY], message->at, &label, err);
	if (ret || label == LABEL_OTHER) {
		*other = true;
		return ret;
	}
	ret = pprof_text(&r->t, v[LABEL_TEXT], message->at, &text, err);
	if (label == LABEL_PROCESS)
		owner->process = text;
	else if (label == LABEL_THREAD)
		owner->thread = text;
	else
		*(label == LABEL_PID ? &owner->pid : &owner->tid) =
		        number_of(r, v[LABEL_NUMBER], text);
	return ret;
}

/* The numbers may be packed in one field, or separate fields. */
static int take_numbers(struct pprof_reader *r, number_list *list, const struct pprof_field *f,
                        struct error *err)
{
	struct pprof_cursor c;
	uint64_t v;

	if (f->wire == WIRE_NUMBER)
		vec_push(list, f->value);
	if (f->wire != WIRE_BYTES)
		return 0;
	for (c = pprof_inside(f); c.at < c.end;) {
		if (!pprof_varint(&c, &v))
			return pprof_bad(&r->t, f->at, err, "a number does not end");
		vec_push(list, v);
	}
	return 0;
}

static int take_fields(struct pprof_reader *r, const struct pprof_field *message,
                       struct named_owner *owner, struct error *err)
{
	struct pprof_cursor c = pprof_inside(message);
	bool other = false;
	struct pprof_field f;
	int got, ret = 0;

	r->locations.count = r->values.count = 0;
	while (!ret && (got = pprof_next(&c, &f))) {
		if (got < 0)
			return pprof_bad(&r->t, f.at, err, "a sample's field does not end in it");
		if (f.number == SAMPLE_LOCATIONS)
			ret = take_numbers(r, &r->locations, &f, err);
		else if (f.number == SAMPLE_VALUES)
			ret = take_numbers(r, &r->values, &f, err);
		else if (f.number == SAMPLE_LABEL && f.wire == WIRE_BYTES)
			ret = take_label(r, &f, owner, &other, err);
	}
	r->other_labels += other;
	if (!ret && r->values.count != r->t.types.count)
		ret = pprof_bad(&r->t, message->at, err,
		                "a sample has %zu values, and there are %zu types of them",
		                r->values.count, r->t.types.count);
	return ret;
}

/* Limits the memory that few bytes of a file can require. */
static int check_count(const struct pprof_reader *r, const struct pprof_field *message,
                       struct error *err)
{
	const struct symbolized_profile *n = r->t.n;
	bool frames = r->frames > LIMIT_PROFILE_FRAMES;

	if (n->functions.count > LIMIT_PROFILE_FUNCTIONS)
		return error_set(err, EFBIG,
		                 "%s has more than %zu different functions (by byte %zu of %zu): "
		                 "it is not read",
		                 r->t.name, LIMIT_PROFILE_FUNCTIONS,
		                 (size_t)(message->at - r->t.bytes), r->t.size);
	if (!frames && n->paths.count <= LIMIT_PROFILE_PATHS &&
	    n->rows.count <= LIMIT_PROFILE_PATHS)
		return 0;
	return error_set(err, EFBIG,
	                 "%s has more than %zu different %s (by byte %zu of %zu): it is not read",
	                 r->t.name, frames ? LIMIT_PROFILE_FRAMES : LIMIT_PROFILE_PATHS,
	                 frames ? "frames of call paths" : "call paths",
	                 (size_t)(message->at - r->t.bytes), r->t.size);
}

static int step_into(struct pprof_reader *r, uint64_t location, const struct pprof_field *message,
                     uint32_t *path, struct error *err)
{
	struct symbolized_profile *n = r->t.n;
	size_t before = n->paths.count;
	uint32_t place;
	int ret = pprof_place(&r->t, location, message->at, &place, err);

	if (ret)
		return ret;
	*path = named_path_step(n, *path, place);
	if (n->paths.count > before)
		r->frames += n->places.items[place].count;
	return check_count(r, message, err);
}

static int take_sample(struct pprof_reader *r, const struct pprof_field *message, struct error *err)
{
	struct named_owner owner = {.process = r->process};
	int ret = take_fields(r, message, &owner, err);
	struct symbolized_profile *n = r->t.n;
	uint32_t path = NAMED_ROOT;
	struct named_row *row;

	for (size_t i = r->locations.count; !ret && i-- > 0;) /* the innermost frame is first */
		ret = step_into(r, r->locations.items[i], message, &path, err);
	if (ret)
		return ret;
	row = named_row_of(n, path, named_owner_id(n, &owner));
	for (unsigned i = 0; i < n->value_count; i++)
		row->values[i] = named_add(row->values[i], (int64_t)r->values.items[r->kept[i]]);
	return check_count(r, message, err);
}

static int take_samples(struct pprof_reader *r, struct error *err)
{
	struct pprof_cursor c = {r->t.bytes, r->t.bytes + r->t.size};
	struct pprof_field f;
	int ret = 0;

	while (!ret && pprof_next(&c, &f) == 1)
		if (f.number == PROFILE_SAMPLE)
			ret = take_sample(r, &f, err);
	return ret;
}

static int name_type(struct pprof_reader *r, const struct pprof_type *type,
                     struct named_value *value, struct error *err)
{
	struct pprof_tables *t = &r->t;
	uint32_t name, unit;
	int ret = pprof_text(t, type->name, t->bytes, &name, err);

	if (!ret)
		ret = pprof_text(t, type->unit, t->bytes, &unit, err);
	if (!ret)
		*value = (struct named_value){intern_text(&t->n->texts, name),
		                              intern_text(&t->n->texts, unit)};
	return ret;
}

static int no_such_type(struct pprof_reader *r, struct error *err)
{
	struct named_value value;
	struct buf names = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < r->t.types.count && i < TYPES_TOLD; i++) {
		ret = name_type(r, &r->t.types.items[i], &value, err);
		if (!ret)
			buf_addf(&names, "%s%s", i ? ", " : "", value.name);
	}
	if (r->t.types.count > TYPES_TOLD)
		buf_addf(&names, " and %zu more", r->t.types.count - TYPES_TOLD);
	if (!ret)
		ret = error_set(err, ENOENT, "%s has no values named %s: they are %s", r->t.name,
		                r->t.n->wanted, buf_text(&names));
	buf_done(&names);
	return ret;
}

/* The profile may name its default value. Otherwise the last value is the default. */
static int find_main(struct pprof_reader *r, size_t *main, struct error *err)
{
	struct pprof_tables *t = &r->t;
	const char *wanted = t->n->wanted;
	struct named_value value;
	uint32_t text;
	int ret = pprof_text(t, t->default_type, t->bytes, &text, err);

	if (!wanted)
		wanted = ret ? "" : intern_text(&t->n->texts, text);
	*main = t->types.count - 1;
	for (size_t i = 0; !ret && (*wanted || t->n->wanted) && i < t->types.count; i++) {
		ret = name_type(r, &t->types.items[i], &value, err);
		if (!ret && !strcmp(value.name, wanted)) {
			*main = i;
			return 0;
		}
	}
	return !ret && t->n->wanted ? no_such_type(r, err) : ret;
}

static bool is_kept(const struct pprof_reader *r, size_t type)
{
	for (unsigned i = 0; i < r->t.n->value_count; i++)
		if (r->kept[i] == type)
			return true;
	return false;
}

static int tell_left_values(struct pprof_reader *r, struct error *err)
{
	size_t left = r->t.types.count - r->t.n->value_count, told = 0;
	struct named_value value;
	int ret = 0;

	buf_addf(r->left,
	         "of %zu values of each sample the first %d and the main one are read; omitted:",
	         r->t.types.count, NAMED_VALUES - 1);
	for (size_t i = 0; !ret && i < r->t.types.count && told < TYPES_TOLD; i++) {
		if (is_kept(r, i))
			continue;
		ret = name_type(r, &r->t.types.items[i], &value, err);
		if (!ret)
			buf_addf(r->left, "%s %s", told++ ? "," : "", value.name);
	}
	if (told < left)
		buf_addf(r->left, " and %zu more", left - told);
	buf_putc(r->left, '\n');
	return ret;
}

static int choose_values(struct pprof_reader *r, struct error *err)
{
	struct symbolized_profile *n = r->t.n;
	size_t count = r->t.types.count, main;
	int ret = find_main(r, &main, err);

	n->value_count = count < NAMED_VALUES ? (unsigned)count : NAMED_VALUES;
	for (unsigned i = 0; i < n->value_count; i++)
		r->kept[i] = i;
	n->main_value = (unsigned)main;
	if (main >= NAMED_VALUES) {
		n->main_value = NAMED_VALUES - 1;
		r->kept[n->main_value] = main;
	}
	for (unsigned i = 0; !ret && i < n->value_count; i++)
		ret = name_type(r, &r->t.types.items[r->kept[i]], &n->values[i], err);
	if (!ret && r->left && count > NAMED_VALUES)
		ret = tell_left_values(r, err);
	return ret;
}

/* By convention the first mapping is the program. */
static int name_process(struct pprof_reader *r, struct error *err)
{
	const char *file;
	uint32_t text;
	int ret;

	if (!r->t.mappings.count)
		return 0;
	ret = pprof_text(&r->t, r->t.mappings.items[0].file, r->t.bytes, &text, err);
	if (ret)
		return ret;
	file = intern_text(&r->t.n->texts, text);
	r->process = named_text(r->t.n, base_name(file));
	return 0;
}

static int take_heading(struct pprof_reader *r, struct error *err)
{
	struct symbolized_profile *n = r->t.n;
	int ret = choose_values(r, err);

	if (!ret && r->t.period_type.name)
		ret = name_type(r, &r->t.period_type, &n->period_of, err);
	n->period = r->t.period;
	n->time_ns = r->t.time_ns;
	n->duration_ns = r->t.duration_ns;
	if (!ret)
		ret = pprof_text(&r->t, r->t.drop, r->t.bytes, &n->drop, err);
	if (!ret)
		ret = pprof_text(&r->t, r->t.keep, r->t.bytes, &n->keep, err);
	for (size_t i = 0; !ret && i < r->t.comments.count; i++) {
		uint32_t text;

		ret = pprof_text(&r->t, r->t.comments.items[i], r->t.bytes, &text, err);
		if (!ret)
			vec_push(&n->comments, text);
	}
	return ret ? ret : name_process(r, err);
}

static int read_profile(struct pprof_reader *r, struct error *err)
{
	int ret = pprof_tables_read(&r->t, err);

	if (!ret) {
		r->labels = xcalloc(r->t.strings.count + 1, 1);
		ret = take_heading(r, err);
	}
	if (!ret)
		ret = take_samples(r, err);
	if (!ret && r->left && r->other_labels)
		buf_addf(r->left,
		         "%" PRIu64 " %s labels besides process, thread, pid and tid: "
		         "these are omitted\n",
		         r->other_labels, plural(r->other_labels, "sample has", "samples have"));
	free(r->labels);
	vec_done(&r->locations);
	vec_done(&r->values);
	pprof_tables_done(&r->t);
	return ret;
}

int pprof_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                      size_t size, struct buf *left, struct error *err)
{
	struct pprof_reader r = {
	        .t = {.n = n, .name = name, .bytes = bytes, .size = size},
	        .left = left,
	};
	struct buf unpacked = {0};
	int ret = 0;

	if (!size)
		return error_set(err, EBADMSG, "%s is empty. Copy or record it again", name);
	if (gunzip_is_packed(bytes, size)) {
		ret = pprof_unpack(name, bytes, size, &unpacked, err);
		r.t.bytes = (const uint8_t *)buf_text(&unpacked);
		r.t.size = unpacked.size;
		r.t.packed = true;
	}
	if (!ret)
		ret = read_profile(&r, err);
	buf_done(&unpacked);
	return ret;
}

int pprof_read(struct symbolized_profile *n, const char *path, struct buf *left, struct error *err)
{
	const char *name = strcmp(path, "-") != 0 ? path : "standard input";
	struct buf all = {0};
	int ret = pprof_file_load(path, &all, err);

	if (!ret)
		ret = pprof_read_memory(n, name, buf_text(&all), all.size, left, err);
	buf_done(&all);
	return ret;
}
