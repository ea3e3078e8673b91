/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch/watch_names.h"

#include "base/memory/buf.h"
#include "symbol/symbolizer.h"
#include "view/diff/diff_sources.h"

static bool same_place(const void *ctx, uint32_t id, const void *key)
{
	const struct watch_place *a = &((const struct watch_names *)ctx)->places.items[id];
	const struct watch_place *b = key;

	return a->function == b->function && a->image == b->image;
}

static uint64_t place_hash(const struct watch_place *p)
{
	return hash_pair((uint64_t)p->function, (uint64_t)p->image);
}

static uint32_t place_of(struct watch_names *n, int64_t function, int64_t image)
{
	struct watch_place p = {.function = function, .image = function ? 0 : image};
	uint32_t id = id_table_find(&n->index, place_hash(&p), same_place, n, &p);

	if (id != ID_NONE)
		return id;
	p.name = intern_add(&n->texts, SYMBOL_UNNAMED);
	p.file = intern_add(&n->texts, "");
	for (size_t i = 0; i < WATCH_MODES; i++)
		p.series[i] = ID_NONE;
	id = (uint32_t)n->places.count;
	vec_push(&n->places, p);
	id_table_add(&n->index, place_hash(&p), id);
	return id;
}

/* Ids are nearly dense, so the first place that is examined is usually right. ID_NONE: there is
 * none. */
static uint32_t value_of(const struct watch_id *items, size_t count, int64_t id)
{
	size_t low = 0, high = count;
	uint64_t guess = count ? (uint64_t)id - (uint64_t)items[0].id : 0;

	if (guess < count && items[guess].id == id)
		return items[guess].value;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && items[low].id == id ? items[low].value : ID_NONE;
}

static int take_stack(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                      struct error *err)
{
	struct watch_names *n = ctx;

	if (row)
		vec_push(&n->stacks,
		         (struct watch_id){v[0].integer, place_of(n, v[1].integer, v[2].integer)});
	return 0;
}

static int take_image(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                      struct error *err)
{
	struct watch_names *n = ctx;
	struct buf text = {0};

	if (!row)
		return 0;
	diff_image_text(v[1].text ? v[1].text : "", &text);
	vec_push(&n->images,
	         (struct watch_id){v[0].integer, intern_add(&n->texts, buf_text(&text))});
	buf_done(&text);
	return 0;
}

static int take_function(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                         struct error *err)
{
	struct watch_names *n = ctx;
	struct watch_place key = {.function = row ? v[0].integer : 0};
	uint32_t id = id_table_find(&n->index, place_hash(&key), same_place, n, &key), file;

	if (!row || id == ID_NONE || !v[1].text)
		return 0;
	file = value_of(n->images.items, n->images.count, v[2].integer);
	n->places.items[id].name = intern_add(&n->texts, v[1].text);
	if (file != ID_NONE)
		n->places.items[id].file = file;
	return 0;
}

int watch_names_load(struct watch_names *n, struct sql *sql, struct error *err)
{
	int ret;

	*n = (struct watch_names){0};
	intern_init(&n->texts);
	ret = sql_run(sql,
	              "SELECT t.id, f.function, f.image FROM stacks t LEFT JOIN frames f"
	              " ON f.id = t.frame ORDER BY t.id",
	              take_stack, n, err);
	if (!ret)
		ret = sql_run(sql, "SELECT id, path FROM images ORDER BY id", take_image, n, err);
	if (!ret)
		ret = sql_run(sql, "SELECT id, name, image FROM functions", take_function, n, err);
	vec_each (p, &n->places) {
		uint32_t file = value_of(n->images.items, n->images.count, p->image);

		if (!p->function && file != ID_NONE)
			p->file = file;
	}
	return ret;
}

void watch_names_done(struct watch_names *n)
{
	vec_done(&n->places);
	vec_done(&n->stacks);
	vec_done(&n->images);
	id_table_done(&n->index);
	intern_done(&n->texts);
}

uint32_t watch_names_series(struct watch_names *n, struct watch *w, int64_t stack, int64_t mode)
{
	static const char *const modes[WATCH_MODES] = {"user", "kernel", "idle", "guest",
	                                               "unknown"};
	size_t at = mode >= 0 && mode < WATCH_MODES ? (size_t)mode : WATCH_MODES - 1;
	uint32_t place = value_of(n->stacks.items, n->stacks.count, stack);
	struct watch_place *p;

	if (place == ID_NONE)
		place = place_of(n, 0, 0); /* may move the items */
	p = &n->places.items[place];
	if (p->series[at] == ID_NONE)
		p->series[at] = watch_series(w, intern_text(&n->texts, p->name),
		                             intern_text(&n->texts, p->file), modes[at]);
	return p->series[at];
}
