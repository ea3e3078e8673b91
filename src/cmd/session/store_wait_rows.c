/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/store_wait_rows.h"

#include "base/memory/xalloc.h"
#include "image/stored_names.h"
#include "store/frame_names.h"
#include "view/waits/wait_report.h"

#include <stdlib.h>
#include <string.h>

struct store_wait_rows {
	struct store_names *store_names;
	struct frame_names *names;
};

/* The waits of a window, with the parts in its time, and a view with the names. */
struct window_waits {
	const struct profile *p;
	struct wait_log log; /* its arrays are those of the profile, except for the sums */
	struct image_table images;
	struct symbolizer *symbols;
	struct view *view;
};

struct store_wait_rows *store_wait_rows_new(struct store_names *names)
{
	struct store_wait_rows *w = xcalloc(1, sizeof(*w));

	w->store_names = names;
	w->names = frame_names_new(store_names_find, names);
	return w;
}

void store_wait_rows_free(struct store_wait_rows *w)
{
	if (!w)
		return;
	frame_names_free(w->names);
	free(w);
}

/* ---- parts --------------------------------------------------------------- */

/* Removes the time before the window from the sums. */
static void cut(struct wait_log *l, const struct wait *w, uint64_t start_ns)
{
	struct wait_sum *sum = &l->sums.items[w->sum];
	struct wait part = *w;
	uint64_t blocked_ns;

	if (w->out_ns >= start_ns)
		return;
	part.out_ns = start_ns;
	if (part.woken_ns && part.woken_ns < start_ns)
		part.woken_ns = start_ns;
	blocked_ns = wait_log_blocked_ns(l, &part);
	sum->blocked_ns -= wait_log_blocked_ns(l, w) - blocked_ns;
	sum->runnable_ns -= (w->in_ns - w->out_ns - wait_log_blocked_ns(l, w)) -
	                    (part.in_ns - part.out_ns - blocked_ns);
}

/*
 * An open wait has a part, and does not count yet. A thread that is still preempted is runnable as
 * others are that ran again.
 */
static void take_open(struct wait_log *l, const struct wait *w, uint64_t start_ns)
{
	struct wait_sum *sum = &l->sums.items[w->sum];
	struct wait_sum part = {.key = sum->key};

	sum->count--;
	if (wait_log_blocked_ns(l, w) || w->woken_ns != w->out_ns)
		return;
	part.key.woken = WAIT_PREEMPTED;
	part.runnable_ns = w->in_ns - (w->out_ns < start_ns ? start_ns : w->out_ns);
	sum->runnable_ns -= part.runnable_ns;
	vec_push(&l->sums, part);
}

static void take_parts(struct window_waits *x, uint64_t start_ns)
{
	const struct wait_log *from = &x->p->waits;
	struct wait_log *l = &x->log;

	*l = *from;
	memset(&l->sums, 0, sizeof(l->sums));
	vec_each (sum, &from->sums)
		vec_push(&l->sums, *sum);
	vec_each (w, &from->waits)
		cut(l, w, start_ns);
	for (size_t i = from->waits.count - from->open; i < from->waits.count; i++)
		take_open(l, &from->waits.items[i], start_ns);
	l->waits.count -= from->open;
	l->open = 0;
}

/* ---- names --------------------------------------------------------------- */

/* What is no name of a function: the symbols around a place without one. */
static bool is_range(const char *name)
{
	return *name == '[';
}

/*
 * Images with the names of the window's frames, and of a kind for which no file is opened. A view
 * looks up the byte before a return address.
 */
static void make_images(struct store_wait_rows *w, struct window_waits *x)
{
	image_table_init(&x->images);
	for (uint32_t i = 0; i < x->p->images.images.count; i++) {
		struct image image = {.kind = IMAGE_UNKNOWN, .inode = i + 1};

		image.path = intern_add(&x->images.names, image_path(&x->p->images, i));
		image_table_add(&x->images, &image);
	}
	for (uint32_t i = 0; i < x->p->frames.count; i++) {
		const struct profile_frame *f = &x->p->frames.items[i];
		struct image *image = &x->images.images.items[f->frame.image];
		const char *name = frame_names_of(w->names, i);

		if (!name || is_range(name))
			continue;
		if (!image->kept)
			image->kept = stored_names_new();
		stored_names_add(image->kept, view_place_of(x->p, i).offset, name);
	}
	vec_each (image, &x->images.images)
		if (image->kept)
			stored_names_finish(image->kept);
}

static void find_names(struct store_wait_rows *w, struct window_waits *x)
{
	frame_names_begin(w->names, x->p);
	vec_each (sum, &x->log.sums) {
		frame_names_want(w->names, sum->key.path);
		if (sum->key.waker_path != ID_NONE)
			frame_names_want(w->names, sum->key.waker_path);
	}
	frame_names_find(w->names);
	make_images(w, x);
}

/* ---- rows ---------------------------------------------------------------- */

static uint32_t text_of(struct store_waits *out, const char *text)
{
	return text && *text ? intern_add(&out->texts, text) : 0;
}

static void add_row(struct store_waits *out, const struct wait_report *r, struct wait_row *row)
{
	const struct symbol *place =
	        row->place == ID_NONE ? NULL : view_function(r->view, row->place);
	struct store_wait *to = vec_add(&out->rows);
	const uint32_t texts[] = {
	        [STORE_WAIT_SERVICE] = text_of(out, wait_text(r, row->service)),
	        [STORE_WAIT_PROGRAM] = text_of(out, wait_text(r, row->program)),
	        [STORE_WAIT_WAITER] = text_of(out, wait_text(r, row->waiter)),
	        [STORE_WAIT_KIND] = text_of(out, wait_kind_name(row->kind)),
	        [STORE_WAIT_NAME] = text_of(out, wait_text(r, row->name)),
	        [STORE_WAIT_FUNCTION] = place && place->named ? text_of(out, place->name) : 0,
	        [STORE_WAIT_RELEASED_BY] = text_of(out, wait_text(r, row->by)),
	        [STORE_WAIT_HOLDER] = text_of(out, wait_text(r, row->holder)),
	        [STORE_WAIT_EVIDENCE] = text_of(out, wait_evidence_name(row->evidence)),
	        [STORE_WAIT_DEVICE] = text_of(out, wait_text(r, row->device))};
	const uint64_t sums[] = {[STORE_WAIT_COUNT] = row->count,
	                         [STORE_WAIT_BLOCKED] = row->blocked_ns,
	                         [STORE_WAIT_RUNNABLE] = row->runnable_ns,
	                         [STORE_WAIT_PREEMPTED] = row->preempted_ns,
	                         [STORE_WAIT_OTHER] = row->other_ns,
	                         [STORE_WAIT_NO_STACK] = row->no_stack_ns,
	                         [STORE_WAIT_LOST] = row->lost_ns,
	                         [STORE_WAIT_NO_WAKER] = row->no_waker_ns,
	                         [STORE_WAIT_MAX] = row->max_ns};

	memcpy(to->texts, texts, sizeof(texts));
	memcpy(to->sums, sums, sizeof(sums));
	to->named = row->named;
	to->times = row->times;
	memset(&row->times, 0, sizeof(row->times));
}

static void add_times(struct store_waits *out, const struct wait_report *r)
{
	struct store_wait_time *to;

	vec_each (share, &r->shares) {
		to = vec_add(&out->times);
		to->service = text_of(out, wait_text(r, share->service));
		to->program = text_of(out, wait_text(r, share->program));
		to->sums[STORE_TIME_THREADS] = share->threads;
		to->sums[STORE_TIME_WALL] = share->wall_ns;
		to->sums[STORE_TIME_ONCPU] = share->oncpu_ns;
		to->sums[STORE_TIME_UNSEEN] = share->unseen_ns;
		to->sums[STORE_TIME_BEFORE] = share->before_ns;
	}
	/* A row without a service and a program has what belongs to no process. */
	to = vec_add(&out->times);
	to->sums[STORE_TIME_WAKINGS] = r->log->wakings;
	to->sums[STORE_TIME_BEYOND] = r->log->beyond;
	to->sums[STORE_TIME_COARSE] = r->log->coarse;
}

void store_wait_rows_fill(void *ctx, const struct profile *p, const struct recording *recording,
                          uint64_t start_ns, struct store_waits *out)
{
	static const struct symbol_options plain = {.no_inlines = true};
	struct wait_options o = {.all = true,
	                         .by_program = true,
	                         .no_addresses = true,
	                         .from_ns = start_ns,
	                         .recording = recording};
	struct window_waits x = {.p = p};
	struct wait_report *r = NULL;
	struct error none = {0};

	take_parts(&x, start_ns);
	find_names(ctx, &x);
	x.symbols = symbolizer_new(&x.images, &plain);
	x.view = view_new(p, x.symbols);
	if (!wait_report_new(&r, x.view, &x.log, &o, &none)) {
		vec_each (row, &r->rows)
			if (row->count || row->blocked_ns || row->runnable_ns)
				add_row(out, r, row);
		add_times(out, r);
		store_waits_limit(out, STORE_WAITS_MAX);
	}
	wait_report_free(r);
	view_free(x.view);
	symbolizer_free(x.symbols);
	image_table_done(&x.images);
	vec_done(&x.log.sums);
}
