/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/delay/delays.h"

#include "base/memory/sorted.h"
#include "event/tick_grid.h"

#include <stdlib.h>

/* Number of samples of a track after which its grid is fitted. */
#define WARM_UP 64
/* Samples of user code that are kept to compare with. */
#define USUAL_MAX ((size_t)1 << 20)
/* A place has this share of the selection's samples at least. */
#define SHARE_MIN 0.0005

/* The start of a called function. */
#define CALLED_BYTES 32

#define NO_PLACE UINT32_MAX
#define USER_CODE (UINT32_MAX - 1)

struct searched_place {
	const struct symbol *symbol;
	uint64_t address, samples, weight, function_samples;
	VEC(float) late;
};

struct delay_search {
	struct view *view;
	const struct selection *selection;
	uint32_t *place_of; /* per row of the profile */
	VEC(struct searched_place) places;
	VEC(float) usual; /* lateness of user code */
	struct delays *result;
};

/* ---- places ---------------------------------------------------------------- */

/* A selected row, by function and address. */
struct keyed_row {
	const struct symbol *symbol;
	uint64_t address;
	uint32_t row;
};

static int by_place(const void *pa, const void *pb)
{
	const struct keyed_row *a = pa, *b = pb;

	if (a->symbol != b->symbol)
		return (uintptr_t)a->symbol < (uintptr_t)b->symbol ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static bool is_busy_kernel(struct view *v, const struct profile_row *row)
{
	enum view_mode mode = view_mode(v, row);

	return (mode == VIEW_KERNEL || mode == VIEW_IRQ) && row->path != PATH_ROOT &&
	       v->profile->frames.items[v->profile->paths.items[row->path].frame].kernel;
}

/* A function's places are neighbours in the list; their samples are the function's samples. */
static void sum_functions(struct delay_search *s)
{
	struct searched_place *items = s->places.items;
	size_t count = s->places.count, end;

	for (size_t i = 0; i < count; i = end) {
		uint64_t sum = 0;

		for (end = i; end < count && items[end].symbol == items[i].symbol; end++)
			sum += items[end].samples;
		for (size_t k = i; k < end; k++)
			items[k].function_samples = sum;
	}
}

static void find_places(struct delay_search *s)
{
	const struct profile *p = s->view->profile;
	VEC(struct keyed_row) rows = {0};

	vec_each (id, &s->selection->rows) {
		const struct profile_row *row = &p->rows.items[*id];
		uint32_t frame = p->paths.items[row->path].frame;

		if (!row->samples || !is_busy_kernel(s->view, row) ||
		    !view_function(s->view, frame)->named)
			continue;
		vec_push(&rows, (struct keyed_row){view_function(s->view, frame),
		                                   symbolizer_address(s->view->symbols,
		                                                      p->frames.items[frame].frame),
		                                   *id});
	}
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_place);
	vec_each (key, &rows) {
		const struct profile_row *row = &p->rows.items[key->row];
		struct searched_place *to = s->places.count ? vec_last(&s->places) : NULL;

		if (!to || to->symbol != key->symbol || to->address != key->address) {
			to = vec_add(&s->places);
			to->symbol = key->symbol;
			to->address = key->address;
		}
		to->samples += row->samples;
		to->weight += row->weight;
		s->place_of[key->row] = (uint32_t)s->places.count - 1;
	}
	vec_done(&rows);
	sum_functions(s);
}

static bool is_large(const struct delay_search *s, uint64_t samples)
{
	return samples >= DELAY_SAMPLES_MIN &&
	       (double)samples >= SHARE_MIN * (double)s->selection->samples;
}

/* ---- lateness -------------------------------------------------------------- */

/* Rows of user code, and of places that are too small, are marked as such. */
static void mark_rows(struct delay_search *s)
{
	const struct profile *p = s->view->profile;

	for (uint32_t i = 0; i < p->rows.count; i++) {
		const struct profile_row *row = &p->rows.items[i];
		uint32_t place = s->place_of[i];

		if (place != NO_PLACE && !is_large(s, s->places.items[place].samples))
			s->place_of[i] = NO_PLACE;
		else if (row->event == s->selection->event && row->mode == PROFILE_USER)
			s->place_of[i] = USER_CODE;
	}
}

static void read_track(struct delay_search *s, uint32_t track, uint64_t period_ns)
{
	struct tick_grid grid;
	struct time_cursor c;
	struct time_entry e;
	uint64_t seen = 0;

	tick_grid_init(&grid, period_ns);
	time_axis_seek(&c, &s->view->profile->axis, track, 0);
	while (time_axis_next(&c, &e)) {
		float late = (float)tick_grid_sample(&grid, e.time_ns).late_ns;
		uint32_t to = s->place_of[e.row];

		if (seen++ < WARM_UP || to == NO_PLACE)
			continue;
		if (to != USER_CODE)
			vec_push(&s->places.items[to].late, late);
		else if (s->usual.count < USUAL_MAX)
			vec_push(&s->usual, late);
	}
}

/* The timer of one thread stops when the thread is switched out, so it has no grid. */
static bool has_grid(const struct recording *rec)
{
	return rec->account.present ? rec->account.machine_wide && !rec->account.rates.count
	                            : recording_may_be_machine_wide(rec);
}

static void measure_lateness(struct delay_search *s)
{
	const struct profile *p = s->view->profile;

	if (p->axis.window_ns || time_axis_step_ns(&p->axis) != TIME_AXIS_STEP_NS)
		return;
	mark_rows(s);
	for (uint32_t i = 0; i < p->axis.tracks.count; i++) {
		const struct time_track *t = &p->axis.tracks.items[i];

		if (t->event == s->selection->event && t->recording < p->recordings.count &&
		    has_grid(p->recordings.items[t->recording]))
			read_track(s, i, p->events.items[t->event].period_ns);
	}
	sorted_floats(s->usual.items, s->usual.count);
}

/* ---- the decision ---------------------------------------------------------- */

static bool read_code(struct delay_search *s, const struct symbol *symbol, struct disassembly *code)
{
	struct symbol_code bytes;

	if (!symbol->size)
		return false;
	return !symbolizer_code(s->view->symbols, symbol->image, symbol->start, symbol->size,
	                        &bytes, NULL) &&
	       !disassemble(&bytes, code, NULL);
}

/*
 * Of a call through a pointer, the function that the kernel's file has there. The running kernel
 * has sti in place of the call if that function enables interrupts.
 */
static enum delay_code follow_call(struct delay_search *s, const struct searched_place *p,
                                   const struct disassembly *code)
{
	uint64_t pointer = delay_called_pointer(code, p->address), function;
	struct disassembly called = {0};
	enum delay_code found = CODE_MAY_ENABLE;
	struct symbol_code bytes;

	if (!symbolizer_pointer(s->view->symbols, p->symbol->image, pointer, &function) &&
	    !symbolizer_code(s->view->symbols, p->symbol->image, function, CALLED_BYTES, &bytes,
	                     NULL) &&
	    !disassemble(&bytes, &called, NULL)) {
		found = delay_code_called(&called);
		disassembly_done(&called);
	}
	return found;
}

static void judge(struct delay_search *s, struct searched_place *p, const struct disassembly *code)
{
	struct delay_place place = {
	        .samples = p->samples,
	        .function_samples = p->function_samples,
	        .function = p->symbol->name,
	        .code_known = code != NULL,
	        .code = code ? delay_code_before(code, p->address) : CODE_NOTHING,
	        .lateness = delay_lateness_of(p->late.items, p->late.count, s->usual.items,
	                                      s->usual.count),
	};
	enum delay_evidence evidence;

	if (place.code == CODE_MAY_ENABLE)
		place.code = follow_call(s, p, code);
	evidence = delay_decide(&place);
	if (evidence == DELAY_NONE)
		return;
	vec_push(&s->result->places,
	         (struct delayed){.symbol = p->symbol,
	                          .address = p->address,
	                          .samples = p->samples,
	                          .weight = p->weight,
	                          .evidence = evidence,
	                          .region = code ? delay_region(code, p->address) : 0,
	                          .lateness = place.lateness});
	s->result->by_lateness |= evidence != DELAY_CODE;
}

/* The places of a function are neighbours, so its code is read once. */
static void judge_all(struct delay_search *s)
{
	const struct symbol *function = NULL;
	struct disassembly code = {0};
	bool known = false;

	vec_each (p, &s->places) {
		if (!is_large(s, p->samples))
			continue;
		if (p->symbol != function) {
			if (known)
				disassembly_done(&code);
			function = p->symbol;
			known = read_code(s, function, &code);
		}
		judge(s, p, known ? &code : NULL);
	}
	if (known)
		disassembly_done(&code);
}

static void add_exits(struct delay_search *s)
{
	vec_each (place, &s->result->exits->places)
		if (is_large(s, place->samples))
			vec_push(&s->result->places,
			         (struct delayed){.symbol = place->symbol,
			                          .address = place->address,
			                          .samples = place->samples,
			                          .weight = place->weight,
			                          .evidence = place->by_chain ? DELAY_CHAIN
			                                                      : DELAY_CODE,
			                          .exit = place});
}

static int by_weight(const void *pa, const void *pb)
{
	const struct delayed *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

struct delays *delays_new(struct view *v, const struct selection *selection)
{
	struct delays *d = xcalloc(1, sizeof(*d));
	struct delay_search s = {.view = v, .selection = selection, .result = d};

	d->exits =
	        kernel_exits_new(v, selection->event, selection->rows.items, selection->rows.count);
	if (!event_is_maskable(v->profile, selection->event))
		return d;
	d->maskable = true;
	s.place_of = xmalloc((v->profile->rows.count + 1) * sizeof(*s.place_of));
	for (size_t i = 0; i < v->profile->rows.count; i++)
		s.place_of[i] = NO_PLACE;
	find_places(&s);
	measure_lateness(&s);
	judge_all(&s);
	add_exits(&s);
	if (d->places.count)
		qsort(d->places.items, d->places.count, sizeof(*d->places.items), by_weight);
	vec_each (p, &s.places)
		vec_done(&p->late);
	vec_done(&s.places);
	vec_done(&s.usual);
	free(s.place_of);
	return d;
}

void delays_free(struct delays *d)
{
	if (!d)
		return;
	vec_done(&d->places);
	kernel_exits_free(d->exits);
	free(d);
}

const struct delayed *delays_find(const struct delays *d, const struct symbol *symbol,
                                  uint64_t address)
{
	vec_each (p, &d->places)
		if (p->symbol == symbol && p->address == address)
			return p;
	return NULL;
}
