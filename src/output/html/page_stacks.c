/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_stacks.h"

#include "output/html/page_model.h"
#include "output/html/page_times.h"

#include <stddef.h>
#include <string.h>

/* Writes a member of each item of a list as an array. */
#define write_column(b, type, c_type, key, list, member)                                           \
	do {                                                                                       \
		VEC(c_type) column_ = {0};                                                         \
                                                                                                   \
		vec_each (item_, list)                                                             \
			vec_push(&column_, (c_type)item_->member);                                 \
		page_blob_##type(b, key, column_.items, column_.count);                            \
		vec_done(&column_);                                                                \
	} while (0)

static void write_values(struct json *j, const struct symbolized_profile *n)
{
	json_key(j, "values");
	json_array(j);
	for (unsigned i = 0; i < n->value_count; i++) {
		json_object(j);
		json_kstr(j, "name", n->values[i].name);
		json_kstr(j, "unit", n->values[i].unit);
		json_end_object(j);
	}
	json_end_array(j);
	json_ku64(j, "main", n->main_value);
}

static void write_texts(struct page_blob *b, const struct page_model *m)
{
	struct page_texts texts = {0};

	for (uint32_t i = 0; i < m->texts.texts.count; i++)
		page_texts_add(&texts, intern_text(&m->texts, i),
		               strlen(intern_text(&m->texts, i)));
	page_blob_texts(b, "texts", &texts);
	page_texts_done(&texts);
}

static void begin(struct page_blob *b, const char *key)
{
	json_key(&b->json, key);
	json_object(&b->json);
}

static void write_names(struct page_blob *b, const struct page_model *m)
{
	begin(b, "images");
	page_blob_u32(b, "name", m->images.items, m->images.count);
	json_end_object(&b->json);
	begin(b, "functions");
	write_column(b, u32, uint32_t, "name", &m->functions, name);
	write_column(b, u32, uint32_t, "image", &m->functions, image);
	write_column(b, u32, uint32_t, "file", &m->functions, file);
	write_column(b, u32, uint32_t, "line", &m->functions, line);
	write_column(b, u32, uint32_t, "group", &m->functions, group);
	write_column(b, u8, uint8_t, "kind", &m->functions, kind);
	json_end_object(&b->json);
	begin(b, "owners");
	write_column(b, u32, uint32_t, "process", &m->owners, process);
	write_column(b, i32, int32_t, "pid", &m->owners, pid);
	write_column(b, u32, uint32_t, "thread", &m->owners, thread);
	write_column(b, i32, int32_t, "tid", &m->owners, tid);
	json_end_object(&b->json);
}

static void write_paths(struct page_blob *b, const struct page_model *m)
{
	begin(b, "nodes");
	write_column(b, u32, uint32_t, "parent", &m->nodes, parent);
	write_column(b, u32, uint32_t, "function", &m->nodes, function);
	write_column(b, u8, uint8_t, "inlined", &m->nodes, inlined);
	json_end_object(&b->json);
	begin(b, "rows");
	write_column(b, u32, uint32_t, "node", &m->rows, node);
	write_column(b, u32, uint32_t, "owner", &m->rows, owner);
	json_key(&b->json, "values");
	json_array(&b->json);
	for (unsigned i = 0; i < m->source->n->value_count; i++)
		write_column(b, f64, double, NULL, &m->rows, values[i]);
	json_end_array(&b->json);
	json_end_object(&b->json);
}

static void write_calls(struct page_blob *b, const struct page_model *m)
{
	if (!m->calls) {
		json_key(&b->json, "calls");
		json_null(&b->json);
		return;
	}
	begin(b, "calls");
	write_column(b, f64, double, "p50", &m->rows, p50);
	write_column(b, f64, double, "p90", &m->rows, p90);
	write_column(b, f64, double, "p99", &m->rows, p99);
	write_column(b, f64, double, "most", &m->rows, most);
	json_end_object(&b->json);
}

void page_stacks_write(struct page_blob *b, const char *key, const struct page_stacks *s)
{
	struct page_model m;

	json_key(&b->json, key);
	if (!s) {
		json_null(&b->json);
		return;
	}
	page_model_init(&m, s);
	if (s->times)
		page_times_sort(&m);
	json_object(&b->json);
	write_values(&b->json, s->n);
	json_ku64(&b->json, "runs", s->runs ? s->runs : 1);
	json_kdouble(&b->json, "work", s->work > 0 ? s->work : 1);
	json_kstr(&b->json, "work_unit", s->work_unit ? s->work_unit : "");
	write_texts(b, &m);
	write_names(b, &m);
	write_paths(b, &m);
	write_calls(b, &m);
	page_times_write(b, "times", &m);
	json_ku64(&b->json, "cpus", s->cpus);
	json_end_object(&b->json);
	page_model_done(&m);
}
