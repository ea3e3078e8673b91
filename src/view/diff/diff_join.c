/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_join.h"

#include "base/memory/xalloc.h"
#include "symbol/symbolizer.h"

#include <stdlib.h>
#include <string.h>

/* The part of the smaller file's functions that both files must have. */
#define COMMON 0.5
/* The part of each file's time that these functions must have: unrelated programs may share a
 * library that is linked into both. */
#define COMMON_TIME 0.3
/* Smaller files are not compared. */
#define SHARE_MIN 0.01

/* An image: its text, and the sides on which its functions have time. */
struct side_image {
	uint32_t text;
	double cpu_ns[DIFF_SIDES];
	size_t rows;
};

typedef VEC(struct side_image) side_images;

static side_images images_of(const struct diff_runs *t)
{
	side_images images = {0};
	struct side_image *by_text = xcalloc(t->texts.texts.count + 1, sizeof(*by_text));

	vec_each (row, &t->rows)
		by_text[row->image].rows++;
	vec_each (run, &t->runs)
		for (size_t path = 1; path < run->paths.count; path++)
			by_text[t->rows.items[t->paths.items[path].row].image].cpu_ns[run->side] +=
			        run->paths.items[path].cpu_ns;
	for (uint32_t i = 0; i < t->texts.texts.count; i++) {
		const char *name = intern_text(&t->texts, i);

		by_text[i].text = i;
		if (by_text[i].rows && *name && *name != '[')
			vec_push(&images, by_text[i]);
	}
	free(by_text);
	return images;
}

static bool is_only(const struct side_image *image, int side)
{
	return image->cpu_ns[side] > 0 && !(image->cpu_ns[!side] > 0);
}

/* Keeps only the images that matter, since each comparison of two images goes through all rows. */
static void keep_large(side_images *images)
{
	double all[DIFF_SIDES] = {0};
	size_t kept = 0;

	vec_each (image, images)
		for (int side = 0; side < DIFF_SIDES; side++)
			all[side] += image->cpu_ns[side];
	for (size_t i = 0; i < images->count; i++) {
		const struct side_image *image = &images->items[i];

		if (image->cpu_ns[DIFF_A] > SHARE_MIN * all[DIFF_A] ||
		    image->cpu_ns[DIFF_B] > SHARE_MIN * all[DIFF_B])
			images->items[kept++] = *image;
	}
	images->count = kept;
}

/* The time of each row, on all sides. */
static double *times_of(const struct diff_runs *t)
{
	double *ns = xcalloc(t->rows.count + 1, sizeof(*ns));

	vec_each (run, &t->runs)
		for (size_t path = 1; path < run->paths.count; path++)
			ns[t->paths.items[path].row] += run->paths.items[path].cpu_ns;
	return ns;
}

/* The part of the smaller file's functions that both have; 0: they have too little of the time. */
static double common(const struct diff_runs *t, const double *row_ns, const struct side_image *a,
                     const struct side_image *b)
{
	const struct side_image *small = a->rows < b->rows ? a : b, *large = small == a ? b : a;
	double small_ns = 0, large_ns = 0;
	size_t both = 0;

	for (uint32_t i = 0; i < t->rows.count; i++) {
		struct diff_row other = t->rows.items[i];
		uint32_t id;

		if (other.image != small->text ||
		    !strcmp(intern_text(&t->texts, other.function), SYMBOL_UNNAMED))
			continue;
		other.image = large->text;
		id = diff_runs_find(t, &other);
		if (id == ID_NONE)
			continue;
		both++;
		small_ns += row_ns[i];
		large_ns += row_ns[id];
	}
	if (small_ns < COMMON_TIME * (small->cpu_ns[DIFF_A] + small->cpu_ns[DIFF_B]) ||
	    large_ns < COMMON_TIME * (large->cpu_ns[DIFF_A] + large->cpu_ns[DIFF_B]))
		return 0;
	return (double)both / (double)small->rows;
}

/* Replaces the rows in all paths; equal paths become one. */
static void move_rows(struct diff_runs *t, const uint32_t *row_to)
{
	uint32_t *path_to = xcalloc(t->paths.count, sizeof(*path_to));
	struct diff_runs old = *t;

	t->path_index = (struct path_tree){0};
	memset(&t->paths, 0, sizeof(t->paths));
	vec_push(&t->paths, (struct diff_path){.row = ID_NONE});
	for (size_t i = 1; i < old.paths.count; i++)
		path_to[i] = diff_runs_path(t, path_to[old.paths.items[i].parent],
		                            row_to[old.paths.items[i].row]);
	for (uint32_t i = 0; i < t->runs.count; i++) {
		struct diff_run run = t->runs.items[i], *to = &t->runs.items[i];

		memset(&to->paths, 0, sizeof(to->paths));
		memset(&to->windows, 0, sizeof(to->windows));
		for (size_t path = 1; path < run.paths.count; path++)
			diff_run_count(t, i, path_to[path], run.paths.items[path].count,
			               run.paths.items[path].cpu_ns);
		for (size_t at = 0; at < run.windows.count; at++)
			if (run.windows.items[at] > 0)
				diff_run_window(t, i, row_to[at / DIFF_WINDOWS],
				                (unsigned)(at % DIFF_WINDOWS),
				                (double)run.windows.items[at]);
		vec_done(&run.paths);
		vec_done(&run.windows);
	}
	vec_done(&old.paths);
	path_tree_done(&old.path_index);
	free(path_to);
}

static void join(struct diff_runs *t, uint32_t a, uint32_t b, uint32_t *row_to)
{
	size_t rows = t->rows.count;

	for (uint32_t i = 0; i < rows; i++) {
		struct diff_row row = t->rows.items[i];

		if (row.image == b)
			row_to[i] = diff_runs_row(
			        t, intern_text(&t->texts, row.function), intern_text(&t->texts, a),
			        intern_text(&t->texts, row.mode), (enum diff_class)row.class);
	}
	vec_push(&t->joined, (struct diff_joined){a, b});
}

void diff_join_images(struct diff_runs *t)
{
	side_images images = images_of(t);
	/* Makes at most one new row for each row. */
	uint32_t *row_to = xcalloc(2 * t->rows.count + 1, sizeof(*row_to));
	double *row_ns = times_of(t);

	for (uint32_t i = 0; i < 2 * t->rows.count; i++)
		row_to[i] = i;
	keep_large(&images);
	vec_each (a, &images) {
		struct side_image *best = NULL;
		double most = COMMON;

		if (!is_only(a, DIFF_A))
			continue;
		vec_each (b, &images) {
			double part = is_only(b, DIFF_B) ? common(t, row_ns, a, b) : 0;

			if (part >= most && (!best || part > most || b->rows > best->rows)) {
				best = b;
				most = part;
			}
		}
		if (!best)
			continue;
		join(t, a->text, best->text, row_to);
		best->cpu_ns[DIFF_B] = 0; /* the image has its pair */
	}
	if (t->joined.count)
		move_rows(t, row_to);
	vec_done(&images);
	free(row_ns);
	free(row_to);
}
