/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_runs.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "view/diff/diff_sources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The kernel keeps this many bytes of the name of a process. */
#define COMM_LENGTH 15

void reconcile_runs_init(struct reconcile_runs *t)
{
	*t = (struct reconcile_runs){0};
	intern_init(&t->texts);
	/* Id 0 is never found in the tables. */
	vec_push(&t->functions, (struct reconcile_function){0});
	vec_push(&t->rows, (struct reconcile_row){0});
	vec_push(&t->paths, (struct reconcile_path){0});
}

void reconcile_runs_done(struct reconcile_runs *t)
{
	vec_each (run, &t->runs) {
		free(run->name);
		vec_done(&run->sums);
		vec_done(&run->accounts);
	}
	vec_done(&t->runs);
	vec_done(&t->functions);
	vec_done(&t->rows);
	vec_done(&t->paths);
	path_tree_done(&t->function_index);
	path_tree_done(&t->name_index);
	path_tree_done(&t->row_index);
	path_tree_done(&t->path_index);
	intern_done(&t->texts);
}

uint32_t reconcile_runs_add(struct reconcile_runs *t, enum reconcile_side side, const char *name)
{
	vec_push(&t->runs, (struct reconcile_run){.name = xstrdup(name), .side = (uint8_t)side});
	t->count[side]++;
	return (uint32_t)t->runs.count - 1;
}

/* The length of a name without ".part.0", ".constprop.1", ".isra.0", ".cold" and the like. */
static size_t plain_length(const char *name)
{
	static const char *const suffixes[] = {".part", ".constprop", ".isra",
	                                       ".cold", ".lto_priv",  ".localalias"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);
		char next = at ? at[strlen(suffixes[i])] : 'x';

		if (at > name && (next == '.' || !next) && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	return length;
}

static uint32_t image_id(struct reconcile_runs *t, const char *path, bool kernel)
{
	struct buf text = {0};
	uint32_t id;

	if (kernel)
		return intern_add(&t->texts, RECONCILE_KERNEL);
	if (!*path)
		return 0;
	diff_image_text(path, &text);
	if (t->native && !strcmp(buf_text(&text), t->native_name)) {
		buf_clear(&text);
		buf_puts(&text, t->counted_name);
	}
	id = intern_add(&t->texts, buf_text(&text));
	buf_done(&text);
	return id;
}

static uint32_t name_id(struct reconcile_runs *t, const char *name)
{
	char *plain = xstrndup(name, plain_length(name));
	uint32_t id = intern_add(&t->texts, plain);

	free(plain);
	return id;
}

uint32_t reconcile_function(struct reconcile_runs *t, const char *name, const char *path,
                            bool kernel)
{
	struct reconcile_function f = {.name = name_id(t, name),
	                               .image = image_id(t, path, kernel)};
	uint32_t next = (uint32_t)t->functions.count;
	uint32_t id = path_tree_step(&t->function_index, f.image, f.name, next);

	if (id == next)
		vec_push(&t->functions, f);
	return id;
}

void reconcile_set_counted(struct reconcile_runs *t, uint32_t function)
{
	t->functions.items[function].counted = true;
	path_tree_step(&t->name_index, 0, t->functions.items[function].name, function);
}

uint32_t reconcile_counted(const struct reconcile_runs *t, uint32_t function)
{
	const struct reconcile_function *f = &t->functions.items[function];
	uint32_t same;

	if (f->counted)
		return function;
	same = f->image ? path_tree_find(&t->function_index, 0, f->name)
	                : path_tree_find(&t->name_index, 0, f->name);
	return same && t->functions.items[same].counted ? same : 0;
}

uint32_t reconcile_outside(struct reconcile_runs *t)
{
	return reconcile_function(t, RECONCILE_OUTSIDE, "", false);
}

uint32_t reconcile_row(struct reconcile_runs *t, const char *process, uint32_t function)
{
	char *name = xstrndup(t->merged ? "" : process, COMM_LENGTH);
	struct reconcile_row row = {.function = function};
	uint32_t next = (uint32_t)t->rows.count, id;

	if (t->native && !strncmp(name, t->native_name, COMM_LENGTH)) {
		free(name);
		name = xstrndup(t->counted_name, COMM_LENGTH);
	}
	row.process = intern_add(&t->texts, name);
	free(name);
	id = path_tree_step(&t->row_index, row.process, function, next);
	if (id == next)
		vec_push(&t->rows, row);
	return id;
}

struct reconcile_sum *reconcile_sum_of(struct reconcile_runs *t, uint32_t run, uint32_t row)
{
	struct reconcile_run *r = &t->runs.items[run];

	return vec_at(&r->sums, row);
}

uint32_t reconcile_path(struct reconcile_runs *t, uint32_t parent, uint32_t row, double cpu_ns)
{
	uint32_t next = (uint32_t)t->paths.count;
	uint32_t id = path_tree_step(&t->path_index, parent, row, next);

	if (id == next)
		vec_push(&t->paths, (struct reconcile_path){.parent = parent, .row = row});
	t->paths.items[id].cpu_ns += cpu_ns;
	return id;
}

bool reconcile_is_outside(const struct reconcile_runs *t, uint32_t row)
{
	return !strcmp(reconcile_function_name(t, row), RECONCILE_OUTSIDE);
}

const char *reconcile_function_name(const struct reconcile_runs *t, uint32_t row)
{
	return intern_text(&t->texts, t->functions.items[t->rows.items[row].function].name);
}

const char *reconcile_image_name(const struct reconcile_runs *t, uint32_t row)
{
	return intern_text(&t->texts, t->functions.items[t->rows.items[row].function].image);
}

const char *reconcile_process_name(const struct reconcile_runs *t, uint32_t row)
{
	return intern_text(&t->texts, t->rows.items[row].process);
}
