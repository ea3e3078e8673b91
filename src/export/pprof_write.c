/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/pprof_write.h"

#include "base/memory/deflate.h"
#include "export/protobuf_write.h"
#include "format/pprof/pprof_wire.h"

#define LEVEL 1 /* of zlib: fast */
#define PAGE 4096u

struct pprof_writer {
	const struct symbolized_profile *n;
	struct buf *plain; /* gets the message; NULL: it is packed into `out` */
	struct spill *out;
	struct deflate deflate;
	struct intern
	        words; /* texts that the model does not have; their ids follow those of the model */
	struct buf message, inner; /* scratch */
};

static void pack(struct pprof_writer *w, const struct buf *bytes)
{
	if (w->plain) {
		buf_add(w->plain, buf_text(bytes), bytes->size);
		return;
	}
	deflate_add(&w->deflate, bytes->data, bytes->size);
	spill_some(w->out);
}

/* Writes w->message as one field of the profile. */
static void put_message(struct pprof_writer *w, unsigned field)
{
	struct buf head = {0};

	protobuf_varint(&head, (uint64_t)field << 3 | WIRE_BYTES);
	protobuf_varint(&head, w->message.size);
	pack(w, &head);
	pack(w, &w->message);
	buf_done(&head);
	buf_clear(&w->message);
}

static void put_field(struct pprof_writer *w, unsigned field, uint64_t v)
{
	struct buf b = {0};

	protobuf_number(&b, field, v);
	pack(w, &b);
	buf_done(&b);
}

static uint64_t word(struct pprof_writer *w, const char *text)
{
	uint32_t id = intern_find(&w->n->texts, text);

	return id != ID_NONE ? id : w->n->texts.texts.count - 1 + intern_add(&w->words, text);
}

static void put_type(struct pprof_writer *w, unsigned field, const struct named_value *v)
{
	protobuf_number(&w->message, TYPE_NAME, word(w, v->name));
	protobuf_number(&w->message, TYPE_UNIT, word(w, v->unit));
	put_message(w, field);
}

static void put_label(struct pprof_writer *w, const char *key, uint32_t text, int64_t number)
{
	buf_clear(&w->inner);
	protobuf_number(&w->inner, LABEL_KEY, word(w, key));
	protobuf_number(&w->inner, LABEL_TEXT, text);
	protobuf_number(&w->inner, LABEL_NUMBER, (uint64_t)number);
	protobuf_bytes(&w->message, SAMPLE_LABEL, w->inner.data, w->inner.size);
}

static void put_labels(struct pprof_writer *w, const struct named_owner *o)
{
	put_label(w, "process", o->process, 0);
	put_label(w, "pid", 0, o->pid);
	if (o->thread)
		put_label(w, "thread", o->thread, 0);
	if (o->tid)
		put_label(w, "tid", 0, o->tid);
}

static void put_sample(struct pprof_writer *w, const struct named_row *row)
{
	const struct named_path *paths = w->n->paths.items;

	buf_clear(&w->inner);
	for (uint32_t p = row->path; p != NAMED_ROOT; p = paths[p].parent)
		protobuf_varint(&w->inner, (uint64_t)paths[p].place + 1);
	protobuf_bytes(&w->message, SAMPLE_LOCATIONS, buf_text(&w->inner), w->inner.size);
	buf_clear(&w->inner);
	for (unsigned i = 0; i < w->n->value_count; i++)
		protobuf_varint(&w->inner, (uint64_t)row->values[i]);
	protobuf_bytes(&w->message, SAMPLE_VALUES, w->inner.data, w->inner.size);
	put_labels(w, &w->n->owners.items[row->owner]);
	put_message(w, PROFILE_SAMPLE);
}

static void put_samples(struct pprof_writer *w)
{
	for (unsigned i = 0; i < w->n->value_count; i++)
		put_type(w, PROFILE_SAMPLE_TYPE, &w->n->values[i]);
	vec_each (row, &w->n->rows) {
		bool nothing = true;

		for (unsigned i = 0; i < w->n->value_count; i++)
			nothing &= !row->values[i];
		if (!nothing)
			put_sample(w, row);
	}
}

/* Addresses are offsets in the file, as if the whole file were mapped at 0. */
static void put_mapping(struct pprof_writer *w, uint32_t i)
{
	const struct named_image *image = &w->n->images.items[i];
	char build_id[2 * BUILD_ID_MAX + 1];
	bool empty = image->high < image->low;
	uint64_t low = empty ? 0 : image->low & ~(uint64_t)(PAGE - 1);
	uint64_t last = image->high | (PAGE - 1);

	build_id_text(&image->build_id, build_id);
	protobuf_number(&w->message, MAPPING_ID, (uint64_t)i + 1);
	protobuf_number(&w->message, MAPPING_START, low);
	/* the first address after the mapping; after the last page it does not fit into 64 bits */
	protobuf_number(&w->message, MAPPING_LIMIT,
	                empty ? 0 : (last == UINT64_MAX ? last : last + 1));
	protobuf_number(&w->message, MAPPING_OFFSET, low);
	protobuf_number(&w->message, MAPPING_FILE, image->name);
	protobuf_number(&w->message, MAPPING_BUILD_ID, *build_id ? word(w, build_id) : 0);
	protobuf_number(&w->message, MAPPING_FUNCTIONS, image->functions);
	protobuf_number(&w->message, MAPPING_FILES, image->files);
	protobuf_number(&w->message, MAPPING_LINES, image->lines);
	protobuf_number(&w->message, MAPPING_INLINES, image->inlines);
	put_message(w, PROFILE_MAPPING);
}

static void put_location(struct pprof_writer *w, uint32_t i)
{
	const struct named_place *place = &w->n->places.items[i];

	protobuf_number(&w->message, LOCATION_ID, (uint64_t)i + 1);
	if (place->image != NAMED_NONE)
		protobuf_number(&w->message, LOCATION_MAPPING, (uint64_t)place->image + 1);
	protobuf_number(&w->message, LOCATION_ADDRESS, place->address);
	for (uint32_t l = 0; l < place->count; l++) {
		const struct named_line *line = &w->n->lines.items[place->first + l];

		buf_clear(&w->inner);
		protobuf_number(&w->inner, LINE_FUNCTION, (uint64_t)line->function + 1);
		protobuf_number(&w->inner, LINE_NUMBER, line->line);
		protobuf_bytes(&w->message, LOCATION_LINE, w->inner.data, w->inner.size);
	}
	put_message(w, PROFILE_LOCATION);
}

static void put_function(struct pprof_writer *w, uint32_t i)
{
	const struct named_function *f = &w->n->functions.items[i];

	protobuf_number(&w->message, FUNCTION_ID, (uint64_t)i + 1);
	protobuf_number(&w->message, FUNCTION_NAME, f->name);
	protobuf_number(&w->message, FUNCTION_SYSTEM_NAME, f->name);
	protobuf_number(&w->message, FUNCTION_FILE, f->file);
	protobuf_number(&w->message, FUNCTION_LINE, f->line);
	put_message(w, PROFILE_FUNCTION);
}

static void put_heading(struct pprof_writer *w)
{
	const struct symbolized_profile *n = w->n;

	put_field(w, PROFILE_TIME, (uint64_t)n->time_ns);
	put_field(w, PROFILE_DURATION, (uint64_t)n->duration_ns);
	if (n->period_of.name)
		put_type(w, PROFILE_PERIOD_TYPE, &n->period_of);
	put_field(w, PROFILE_PERIOD, (uint64_t)n->period);
	vec_each (comment, &n->comments)
		put_field(w, PROFILE_COMMENT, *comment);
	if (n->value_count)
		put_field(w, PROFILE_DEFAULT, word(w, n->values[n->main_value].name));
}

/* Written last, since the other fields add strings. */
static void put_strings(struct pprof_writer *w)
{
	const struct intern *tables[] = {&w->n->texts, &w->words};

	for (size_t t = 0; t < 2; t++)
		for (size_t i = t; i < tables[t]->texts.count; i++) { /* "" once */
			buf_puts(&w->message, tables[t]->texts.items[i]);
			put_message(w, PROFILE_STRINGS);
		}
}

static void put_mappings(struct pprof_writer *w)
{
	uint32_t first = named_main_image(w->n);

	/* Readers take the first mapping for the program. */
	first = first == NAMED_NONE ? 0 : first;
	if (first < w->n->images.count)
		put_mapping(w, first);
	for (uint32_t i = 0; i < w->n->images.count; i++)
		if (i != first)
			put_mapping(w, i);
}

static void put_all(struct pprof_writer *w)
{
	const struct symbolized_profile *n = w->n;

	intern_init(&w->words);
	put_samples(w);
	put_mappings(w);
	for (uint32_t i = 0; i < n->places.count; i++)
		put_location(w, i);
	for (uint32_t i = 0; i < n->functions.count; i++)
		put_function(w, i);
	put_heading(w);
	put_strings(w);
	intern_done(&w->words);
	buf_done(&w->message);
	buf_done(&w->inner);
}

int pprof_write(const struct symbolized_profile *n, struct spill *out, struct error *err)
{
	struct pprof_writer w = {.n = n, .out = out};
	int ret = deflate_begin(&w.deflate, DEFLATE_GZIP, LEVEL, &out->buf, err);

	if (ret)
		return ret;
	put_all(&w);
	return deflate_finish(&w.deflate, err);
}

void pprof_write_plain(const struct symbolized_profile *n, struct buf *out)
{
	struct pprof_writer w = {.n = n, .plain = out};

	put_all(&w);
}
