/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/otlp_write.h"

#include "base/memory/blake2b.h"
#include "base/text/labels.h"
#include "export/protobuf_write.h"
#include "format/otlp/otlp_wire.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define ID_BYTES 16

/* An attribute of the dictionary: a key with a text or a number. */
struct otlp_attribute {
	uint32_t key, text; /* strings; text 0: a number */
	int64_t number;
};

typedef VEC(uint32_t) attribute_list;

struct otlp_writer {
	const struct symbolized_profile *n;
	const struct otlp_resource *resource; /* NULL: none */
	struct spill *out;
	struct intern words; /* texts that the model does not have; their ids follow its ids */
	VEC(struct otlp_attribute) attributes; /* [0] is empty */
	struct path_tree index;                /* by key, and text or number */
	attribute_list *of_owner, *of_image;
	struct buf message, inner, deep; /* scratch */
};

static uint32_t word(struct otlp_writer *w, const char *text)
{
	uint32_t id = intern_find(&w->n->texts, text);

	if (id != ID_NONE)
		return id;
	return (uint32_t)w->n->texts.texts.count - 1 + intern_add(&w->words, text);
}

/* In the tree, texts have even keys and numbers odd ones. */
static void add_attribute(struct otlp_writer *w, attribute_list *list, const char *key,
                          uint32_t text, int64_t number)
{
	struct otlp_attribute a = {.key = word(w, key), .text = text, .number = number};
	uint32_t next = (uint32_t)w->attributes.count;
	uint64_t value = text ? (uint64_t)text << 1 : (uint64_t)number << 1 | 1;
	uint32_t id = path_tree_step(&w->index, a.key, value, next);

	if (id == next)
		vec_push(&w->attributes, a);
	vec_push(list, id);
}

static void make_attributes(struct otlp_writer *w)
{
	const struct symbolized_profile *n = w->n;
	char build_id[2 * BUILD_ID_MAX + 1];

	vec_push(&w->attributes, (struct otlp_attribute){0});
	for (size_t i = 0; i < n->owners.count; i++) {
		const struct named_owner *o = &n->owners.items[i];

		if (o->process)
			add_attribute(w, &w->of_owner[i], OTLP_PROCESS_NAME, o->process, 0);
		add_attribute(w, &w->of_owner[i], OTLP_PROCESS_PID, 0, o->pid);
		if (o->thread)
			add_attribute(w, &w->of_owner[i], OTLP_THREAD_NAME, o->thread, 0);
		if (o->tid)
			add_attribute(w, &w->of_owner[i], OTLP_THREAD_ID, 0, o->tid);
	}
	for (size_t i = 0; i < n->images.count; i++) {
		const struct named_image *image = &n->images.items[i];

		build_id_text(&image->build_id, build_id);
		if (*build_id)
			add_attribute(w, &w->of_image[i], OTLP_BUILD_ID, word(w, build_id), 0);
	}
}

static void put_indices(struct otlp_writer *w, unsigned field, const attribute_list *list)
{
	buf_clear(&w->deep);
	vec_each (id, list)
		protobuf_varint(&w->deep, *id);
	if (list->count)
		protobuf_message(&w->inner, field, &w->deep);
}

static void put_type(struct otlp_writer *w, unsigned field, const struct named_value *v)
{
	buf_clear(&w->inner);
	protobuf_number(&w->inner, OTLP_TYPE_NAME, word(w, v->name));
	protobuf_number(&w->inner, OTLP_TYPE_UNIT, word(w, v->unit));
	protobuf_message(&w->message, field, &w->inner);
}

/* Appends a Profile with the samples of one value to w->message. */
static void put_profile(struct otlp_writer *w, unsigned value)
{
	const struct symbolized_profile *n = w->n;

	put_type(w, OTLP_PROFILE_TYPE, &n->values[value]);
	vec_each (row, &n->rows) {
		if (!row->values[value])
			continue;
		protobuf_number(&w->inner, OTLP_SAMPLE_STACK, row->path);
		put_indices(w, OTLP_SAMPLE_ATTRIBUTES, &w->of_owner[row->owner]);
		protobuf_varint(&w->deep, (uint64_t)row->values[value]);
		protobuf_message(&w->inner, OTLP_SAMPLE_VALUES, &w->deep);
		protobuf_message(&w->message, OTLP_PROFILE_SAMPLES, &w->inner);
	}
	protobuf_fixed64(&w->message, OTLP_PROFILE_TIME, (uint64_t)n->time_ns);
	protobuf_number(&w->message, OTLP_PROFILE_DURATION, (uint64_t)n->duration_ns);
	if (n->period_of.name)
		put_type(w, OTLP_PROFILE_PERIOD_TYPE, &n->period_of);
	protobuf_number(&w->message, OTLP_PROFILE_PERIOD, (uint64_t)n->period);
}

/* The id of a Profile is a digest of its bytes and of the resource. */
static void put_id(struct otlp_writer *w, const struct buf *resource)
{
	uint8_t digest[BLAKE2B_BYTES];
	struct blake2b b;

	blake2b_init(&b);
	blake2b_add(&b, buf_text(resource), resource->size);
	blake2b_add(&b, w->message.data, w->message.size);
	blake2b_end(&b, digest);
	protobuf_bytes(&w->message, OTLP_PROFILE_ID, digest, ID_BYTES);
}

static void put_pair(struct otlp_writer *w, struct buf *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	protobuf_text(&w->inner, OTLP_PAIR_KEY, key);
	protobuf_text(&w->deep, OTLP_VALUE_STRING, value);
	protobuf_message(&w->inner, OTLP_PAIR_VALUE, &w->deep);
	protobuf_message(out, OTLP_RESOURCE_ATTRIBUTES, &w->inner);
}

/* An attribute occurs once. */
static bool is_own(const char *key)
{
	return !strcmp(key, OTLP_HOST_NAME) || !strcmp(key, OTLP_SERVICE_NAME) ||
	       !strcmp(key, OTLP_SERVICE_VERSION);
}

static void put_resource(struct otlp_writer *w, struct buf *out)
{
	struct buf attributes = {0};
	struct labels labels = {0};

	if (!w->resource)
		return;
	put_pair(w, &attributes, OTLP_HOST_NAME, w->resource->host);
	put_pair(w, &attributes, OTLP_SERVICE_NAME, w->resource->service);
	put_pair(w, &attributes, OTLP_SERVICE_VERSION, w->resource->version);
	labels_add_text(&labels, w->resource->labels);
	vec_each (label, &labels.items)
		if (!is_own(label->key))
			put_pair(w, &attributes, label->key, label->value);
	labels_done(&labels);
	protobuf_message(out, OTLP_RESOURCE, &attributes);
	buf_done(&attributes);
}

static void put_resources(struct otlp_writer *w)
{
	struct buf scope = {0}, resource = {0};

	put_resource(w, &resource);
	protobuf_text(&w->inner, OTLP_SCOPE_NAME, "assay");
	protobuf_text(&w->inner, OTLP_SCOPE_VERSION, ASSAY_VERSION);
	protobuf_message(&scope, OTLP_SCOPE, &w->inner);
	for (unsigned i = 0; i < w->n->value_count; i++) {
		put_profile(w, i);
		if (w->resource)
			put_id(w, &resource);
		protobuf_message(&scope, OTLP_SCOPE_PROFILES, &w->message);
	}
	protobuf_message(&resource, OTLP_RESOURCE_SCOPES, &scope);
	protobuf_message(&w->out->buf, OTLP_DATA_RESOURCES, &resource);
	spill_some(w->out);
	buf_done(&scope);
	buf_done(&resource);
}

/* Addresses are offsets in the file, as if the whole file were mapped at 0. */
static void put_mappings(struct otlp_writer *w, struct buf *dictionary)
{
	protobuf_bytes(dictionary, OTLP_MAPPINGS, "", 0);
	for (size_t i = 0; i < w->n->images.count; i++) {
		const struct named_image *image = &w->n->images.items[i];

		if (image->high >= image->low) {
			uint64_t low = image->low & ~(uint64_t)(PAGE - 1);
			uint64_t last = image->high | (PAGE - 1);

			protobuf_number(&w->inner, OTLP_MAPPING_START, low);
			protobuf_number(&w->inner, OTLP_MAPPING_LIMIT,
			                last == UINT64_MAX ? last : last + 1);
			protobuf_number(&w->inner, OTLP_MAPPING_OFFSET, low);
		}
		protobuf_number(&w->inner, OTLP_MAPPING_FILE, image->name);
		put_indices(w, OTLP_MAPPING_ATTRIBUTES, &w->of_image[i]);
		protobuf_message(dictionary, OTLP_MAPPINGS, &w->inner);
	}
}

static void put_locations(struct otlp_writer *w, struct buf *dictionary)
{
	protobuf_bytes(dictionary, OTLP_LOCATIONS, "", 0);
	vec_each (place, &w->n->places) {
		if (place->image != NAMED_NONE)
			protobuf_number(&w->inner, OTLP_LOCATION_MAPPING,
			                (uint64_t)place->image + 1);
		protobuf_number(&w->inner, OTLP_LOCATION_ADDRESS, place->address);
		for (uint32_t i = 0; i < place->count; i++) {
			const struct named_line *line = &w->n->lines.items[place->first + i];

			protobuf_number(&w->deep, OTLP_LINE_FUNCTION, (uint64_t)line->function + 1);
			protobuf_number(&w->deep, OTLP_LINE_NUMBER, line->line);
			protobuf_message(&w->inner, OTLP_LOCATION_LINES, &w->deep);
		}
		protobuf_message(dictionary, OTLP_LOCATIONS, &w->inner);
	}
}

static void put_functions(struct otlp_writer *w, struct buf *dictionary)
{
	protobuf_bytes(dictionary, OTLP_FUNCTIONS, "", 0);
	vec_each (f, &w->n->functions) {
		protobuf_number(&w->inner, OTLP_FUNCTION_NAME, f->name);
		protobuf_number(&w->inner, OTLP_FUNCTION_FILE, f->file);
		protobuf_number(&w->inner, OTLP_FUNCTION_LINE, f->line);
		protobuf_message(dictionary, OTLP_FUNCTIONS, &w->inner);
	}
}

/* A stack has the id of its path; the first one is the empty path. */
static void put_stacks(struct otlp_writer *w, struct buf *dictionary)
{
	const struct named_path *paths = w->n->paths.items;

	for (uint32_t i = 0; i < w->n->paths.count; i++) {
		for (uint32_t p = i; p != NAMED_ROOT; p = paths[p].parent)
			protobuf_varint(&w->deep, (uint64_t)paths[p].place + 1);
		if (i != NAMED_ROOT)
			protobuf_message(&w->inner, OTLP_STACK_LOCATIONS, &w->deep);
		protobuf_message(dictionary, OTLP_STACKS, &w->inner);
	}
}

static void put_attributes(struct otlp_writer *w, struct buf *dictionary)
{
	vec_each (a, &w->attributes) {
		if (a->key) {
			protobuf_number(&w->inner, OTLP_ATTRIBUTE_KEY, a->key);
			if (a->text)
				protobuf_number(&w->deep, OTLP_VALUE_STRING_INDEX, a->text);
			else /* also 0, which protobuf_number() would leave out */
				protobuf_key_number(&w->deep, OTLP_VALUE_INT, (uint64_t)a->number);
			protobuf_message(&w->inner, OTLP_ATTRIBUTE_VALUE, &w->deep);
		}
		protobuf_message(dictionary, OTLP_ATTRIBUTES, &w->inner);
	}
}

/* Strings are written last, since the other tables add some. */
static void put_dictionary(struct otlp_writer *w)
{
	const struct intern *tables[] = {&w->n->texts, &w->words};
	struct buf dictionary = {0};

	put_mappings(w, &dictionary);
	put_locations(w, &dictionary);
	put_functions(w, &dictionary);
	protobuf_bytes(&dictionary, OTLP_LINKS, "", 0);
	put_attributes(w, &dictionary);
	put_stacks(w, &dictionary);
	for (size_t t = 0; t < 2; t++)
		for (size_t i = t; i < tables[t]->texts.count; i++) /* "" once */
			protobuf_text(&dictionary, OTLP_STRINGS, tables[t]->texts.items[i]);
	protobuf_message(&w->out->buf, OTLP_DATA_DICTIONARY, &dictionary);
	buf_done(&dictionary);
}

void otlp_write(const struct symbolized_profile *n, const struct otlp_resource *resource,
                struct spill *out)
{
	struct otlp_writer w = {.n = n, .resource = resource, .out = out};

	intern_init(&w.words);
	w.of_owner = xcalloc(n->owners.count + 1, sizeof(*w.of_owner));
	w.of_image = xcalloc(n->images.count + 1, sizeof(*w.of_image));
	make_attributes(&w);
	put_resources(&w);
	put_dictionary(&w);
	for (size_t i = 0; i < n->owners.count; i++)
		vec_done(&w.of_owner[i]);
	for (size_t i = 0; i < n->images.count; i++)
		vec_done(&w.of_image[i]);
	free(w.of_owner);
	free(w.of_image);
	vec_done(&w.attributes);
	path_tree_done(&w.index);
	intern_done(&w.words);
	buf_done(&w.message);
	buf_done(&w.inner);
	buf_done(&w.deep);
}
