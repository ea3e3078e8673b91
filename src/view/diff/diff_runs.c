/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_runs.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

void diff_runs_init(struct diff_runs *t)
{
	*t = (struct diff_runs){0};
	intern_init(&t->texts);
	vec_push(&t->paths, (struct diff_path){.row = ID_NONE});
}

void diff_runs_done(struct diff_runs *t)
{
	vec_each (run, &t->runs) {
		free(run->name);
		vec_done(&run->paths);
		vec_done(&run->windows);
	}
	vec_done(&t->runs);
	vec_done(&t->joined);
	vec_done(&t->releases);
	id_table_done(&t->release_index);
	vec_done(&t->paths);
	vec_done(&t->rows);
	id_table_done(&t->row_index);
	path_tree_done(&t->path_index);
	intern_done(&t->texts);
}

const char *diff_row_noun(const struct diff_runs *t, bool many)
{
	if (t->waits)
		return many ? "causes" : "cause";
	if (t->groups)
		return many ? "groups" : "group";
	return many ? "functions" : "function";
}

uint32_t diff_runs_add(struct diff_runs *t, enum diff_side side, const char *name, double work)
{
	const struct diff_run run = {.name = xstrdup(name),
	                             .work = work,
	                             .side = (uint8_t)side,
	                             .defects.exit_status = -1};

	vec_push(&t->runs, run);
	t->count[side]++;
	return (uint32_t)t->runs.count - 1;
}

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct diff_runs *t = ctx;
	const struct diff_row *a = &t->rows.items[id], *b = key;

	return a->function == b->function && a->image == b->image && a->mode == b->mode;
}

static uint64_t hash_of(const struct diff_row *row)
{
	return hash_pair(hash_pair(row->function, row->image), row->mode);
}

uint32_t diff_runs_find(const struct diff_runs *t, const struct diff_row *row)
{
	return id_table_find(&t->row_index, hash_of(row), same_row, t, row);
}

uint32_t diff_runs_row(struct diff_runs *t, const char *function, const char *image,
                       const char *mode, enum diff_class class)
{
	struct diff_row row = {intern_add(&t->texts, function), intern_add(&t->texts, image),
	                       intern_add(&t->texts, mode), (uint8_t) class, false};
	uint32_t id = diff_runs_find(t, &row);

	if (id == ID_NONE) {
		id = (uint32_t)t->rows.count;
		vec_push(&t->rows, row);
		id_table_add(&t->row_index, hash_of(&row), id);
	}
	return id;
}

int diff_runs_compare(const struct diff_runs *t, uint32_t a, uint32_t b)
{
	const struct diff_row *x = &t->rows.items[a], *y = &t->rows.items[b];
	const uint32_t texts[][2] = {
	        {x->function, y->function}, {x->image, y->image}, {x->mode, y->mode}};
	int order = 0;

	for (size_t i = 0; !order && i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i][0] != texts[i][1])
			order = strcmp(intern_text(&t->texts, texts[i][0]),
			               intern_text(&t->texts, texts[i][1]));
	return order;
}

int diff_runs_compare_paths(const struct diff_runs *t, uint32_t a, uint32_t b)
{
	int order = 0;

	while (!order && a != b) {
		if (a == DIFF_NO_PATH || b == DIFF_NO_PATH)
			return a == DIFF_NO_PATH ? -1 : 1;
		order = diff_runs_compare(t, t->paths.items[a].row, t->paths.items[b].row);
		a = t->paths.items[a].parent;
		b = t->paths.items[b].parent;
	}
	return order;
}

uint32_t diff_runs_path(struct diff_runs *t, uint32_t parent, uint32_t row)
{
	uint32_t next = (uint32_t)t->paths.count;
	uint32_t id = path_tree_step(&t->path_index, parent, row, next);

	if (id == next) {
		vec_push(&t->paths, (struct diff_path){parent, row});
		t->call_paths |= parent != DIFF_NO_PATH;
	}
	return id;
}

void diff_run_count(struct diff_runs *t, uint32_t run, uint32_t path, double count, double cpu_ns)
{
	struct diff_run *r = &t->runs.items[run];

	vec_at(&r->paths, path)->count += count;
	r->paths.items[path].cpu_ns += cpu_ns;
}

void diff_run_window(struct diff_runs *t, uint32_t run, uint32_t row, unsigned window, double count)
{
	struct diff_run *r = &t->runs.items[run];
	size_t place = (size_t)row * DIFF_WINDOWS + window;

	*vec_at(&r->windows, place) += (float)count;
	r->windowed = true;
}
