/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized.h"

#include "view/calls/call_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COMMENTS_MAX 100 /* processes that get comments of their own */
#define LIMIT 9e18       /* slightly less than INT64_MAX */

struct calls_naming_naming {
	struct symbolized_profile *n;
	const struct call_paths *calls;
	struct call_names *names;
	struct symbolizer *symbols;
	uint32_t *places; /* per function: place + 1, 0: not made yet */
	uint32_t *images; /* per image: id + 1, 0: not made yet */
	double carry[NAMED_VALUES];
};

static uint32_t image_of(struct calls_naming_naming *g, uint32_t id)
{
	const struct image *image = &g->calls->images.images.items[id];
	struct named_image *made;

	if (!g->images[id]) {
		g->images[id] = (uint32_t)g->n->images.count + 1;
		made = vec_add(&g->n->images);
		made->name = named_text(g->n, intern_text(&g->calls->images.names, image->path));
		made->build_id = image->build_id;
		made->low = 1;
	}
	return g->images[id] - 1;
}

/* Takes the source line from the recording if it has one, otherwise from the symbolizer. */
static void find_line(struct calls_naming_naming *g, const struct call_function *f,
                      struct named_function *out)
{
	const char *file;
	int line;

	if (f->file) {
		out->file = named_text(g->n, intern_text(&g->calls->images.names, f->file));
		out->line = f->line;
	} else if (g->symbols && symbolizer_line(g->symbols, f->frame, &file, &line)) {
		out->file = named_text(g->n, file);
		out->line = line > 0 ? (uint32_t)line : 0;
	}
}

static uint32_t place_of(struct calls_naming_naming *g, uint32_t id)
{
	const struct call_function *f = &g->calls->functions.items[id];
	struct named_function function = {.image = NAMED_NONE};
	struct named_line line;

	if (g->places[id])
		return g->places[id] - 1;
	function.name = named_text(g->n, call_names_of(g->names, id));
	if (f->kind == CALL_FUNCTION) {
		function.image = image_of(g, f->frame.image);
		find_line(g, f, &function);
	}
	line = (struct named_line){named_function_id(g->n, &function), function.line};
	g->places[id] =
	        1 + named_place_add(g->n, function.image,
	                            f->kind == CALL_FUNCTION ? f->frame.offset : 0, &line, 1);
	if (f->kind == CALL_OUTSIDE)
		g->n->outside = g->places[id] - 1;
	return g->places[id] - 1;
}

/* Rounds to a whole number and carries the rounding error to the next value. */
static int64_t whole(double *carry, double value)
{
	double wanted = value + *carry, rounded;

	if (!isfinite(wanted))
		return 0;
	if (fabs(wanted) >= LIMIT)
		return wanted < 0 ? INT64_MIN : INT64_MAX;
	rounded = nearbyint(wanted);
	*carry = wanted - rounded;
	return (int64_t)rounded;
}

/* -1: unknown. */
static int64_t known_ns(double ns)
{
	return isfinite(ns) && ns >= 0 && ns < LIMIT ? (int64_t)nearbyint(ns) : -1;
}

static struct named_percentiles percentiles_of(const struct call_process *p, uint32_t id)
{
	const struct call_times *times = call_path_times_of(p, id);
	const struct call_path *path = &p->paths.items[id];
	uint64_t unknown = call_times_unknown(times, path->calls);
	static const double parts[] = {0.5, 0.9, 0.99};
	int64_t ns[3];

	for (int i = 0; i < 3; i++)
		ns[i] = known_ns(call_times_percentile_between(times, unknown, parts[i],
		                                               path->min_ns, path->max_ns));
	return (struct named_percentiles){ns[0], ns[1], ns[2], times ? times->timed : 0};
}

/* Two instances of a process may have the same row: their percentiles cannot be combined. */
static void add_durations(struct symbolized_profile *n, uint32_t row, const struct call_process *p,
                          uint32_t id)
{
	const struct call_path *path = &p->paths.items[id];
	struct named_range range = {.least = known_ns(path->min_ns),
	                            .most = known_ns(path->max_ns)};
	bool again = row < n->ranges.count;

	while (n->ranges.count <= row) {
		vec_push(&n->ranges, (struct named_range){.most = -1});
		vec_push(&n->percentiles, (struct named_percentiles){-1, -1, -1, 0});
	}
	if (range.most >= 0)
		named_range_join(&n->ranges.items[row], &range);
	n->percentiles.items[row] =
	        again ? (struct named_percentiles){-1, -1, -1, 0} : percentiles_of(p, id);
}

static void add_values(struct calls_naming_naming *g, const struct call_process *p, uint32_t id,
                       uint32_t at, uint32_t owner)
{
	const struct call_path *path = &p->paths.items[id];
	const int64_t values[NAMED_VALUES] = {
	        [NAMED_CALLS] = path->calls > INT64_MAX ? INT64_MAX : (int64_t)path->calls,
	        [NAMED_NET] = whole(&g->carry[NAMED_NET], path->net_ns),
	        [NAMED_BLOCKED] = whole(&g->carry[NAMED_BLOCKED], path->blocked_ns),
	        [NAMED_PREEMPTED] = whole(&g->carry[NAMED_PREEMPTED], path->preempted_ns)};
	struct named_row *row;

	if (!values[0] && !values[1] && !values[2] && !values[3])
		return;
	row = named_row_of(g->n, at, owner);
	for (unsigned i = 0; i < NAMED_VALUES; i++)
		row->values[i] = named_add(row->values[i], values[i]);
	add_durations(g->n, (uint32_t)(row - g->n->rows.items), p, id);
}

static void add_process(struct calls_naming_naming *g, const struct call_process *p)
{
	const struct intern *names = &g->calls->images.names;
	struct named_owner who = {.process = named_text(g->n, intern_text(names, p->name)),
	                          .pid = p->pid};
	uint32_t owner = named_owner_id(g->n, &who);
	uint32_t *made = xcalloc(p->paths.count + 1, sizeof(*made));
	uint32_t root = named_path_step(g->n, NAMED_ROOT, place_of(g, p->paths.items[0].function));

	memset(g->carry, 0, sizeof(g->carry));
	add_values(g, p, 0, root, owner);
	for (uint32_t i = 1; i < p->paths.count; i++) {
		const struct call_path *path = &p->paths.items[i];

		made[i] = named_path_step(g->n, path->parent ? made[path->parent] : NAMED_ROOT,
		                          place_of(g, path->function));
		add_values(g, p, i, made[i], owner);
	}
	free(made);
}

static bool chosen(const struct calls_naming_naming *g, const struct call_process *p,
                   const struct filter *f)
{
	const char *name = intern_text(&g->calls->images.names, p->name);
	bool comm = !f->comm.count, pid = !f->pid.count;
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)p->pid);
	for (size_t i = 0; i < f->comm.count; i++)
		comm |= !strcmp(f->comm.items[i], name);
	for (size_t i = 0; i < f->pid.count; i++)
		pid |= !strcmp(f->pid.items[i], number);
	return comm && pid;
}

/* Adds comments with the process's times and the flags that limit its figures. */
static void tell_of(struct calls_naming_naming *g, const struct call_process *p)
{
	const char *name = intern_text(&g->calls->images.names, p->name);

	named_comment(g->n, "%s, pid %d: wall %.0f ns, the counting itself %.0f ns", name,
	              (int)p->pid, p->wall_ns, p->own_ns);
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++) {
		struct buf text = {0};

		if (call_flag_sentence(p, bit, &text))
			named_comment(g->n, "%s, pid %d: %s", name, (int)p->pid, buf_text(&text));
		buf_done(&text);
	}
}

static void take(struct calls_naming_naming *g, const struct call_process *p, size_t number)
{
	struct symbolized_profile *n = g->n;

	if (!number)
		n->command = named_text(n, intern_text(&g->calls->images.names, p->command));
	if (p->start_ns && (!n->time_ns || (int64_t)p->start_ns < n->time_ns))
		n->time_ns = (int64_t)p->start_ns;
	if (p->wall_ns > (double)n->duration_ns && p->wall_ns < LIMIT)
		n->duration_ns = (int64_t)p->wall_ns;
	if (number < COMMENTS_MAX)
		tell_of(g, p);
	else if (number == COMMENTS_MAX)
		named_comment(n, "and more processes");
	add_process(g, p);
}

void named_call_values(struct symbolized_profile *n)
{
	n->value_count = NAMED_VALUES;
	n->values[NAMED_CALLS] = (struct named_value){"calls", "count"};
	n->values[NAMED_NET] = (struct named_value){"net", "nanoseconds"};
	n->values[NAMED_BLOCKED] = (struct named_value){"blocked", "nanoseconds"};
	n->values[NAMED_PREEMPTED] = (struct named_value){"preempted", "nanoseconds"};
	n->main_value = NAMED_NET;
	/* Every call was counted, so the period is 1. */
	n->period_of = (struct named_value){"calls", "count"};
	n->period = 1;
}

int named_of_calls(struct symbolized_profile *n, const struct call_paths *c,
                   struct call_names *names, struct symbolizer *symbols, const struct filter *f,
                   struct error *err)
{
	struct calls_naming_naming g = {.n = n, .calls = c, .names = names, .symbols = symbols};
	size_t taken = 0;

	named_call_values(n);
	g.places = xcalloc(c->functions.count + 1, sizeof(*g.places));
	g.images = xcalloc(c->images.images.count + 1, sizeof(*g.images));
	vec_each (p, &c->processes)
		if (p->paths.count && chosen(&g, p, f))
			take(&g, p, taken++);
	free(g.places);
	free(g.images);
	if (!taken)
		return error_set(
		        err, ENOENT,
		        "no process of the recording matches --comm and --pid: there are %zu",
		        c->processes.count);
	return 0;
}
