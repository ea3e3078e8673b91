/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/callgrind.h"

#include "base/memory/path_tree.h"
#include "base/text/plural.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* Index of the number of calls, if the profile has it; the other values are costs. */
#define CALLS 0

/* A path of functions: as a named_path, but each inlined function is a step of its own. */
struct callgrind_step {
	uint32_t parent, function;
};

/* The values of one step: first its own, after sum_up() with all callees. */
struct costs {
	int64_t values[NAMED_VALUES];
};

struct arc {
	uint32_t caller, callee; /* function ids */
	struct costs costs;      /* calls; times including all callees */
};

struct graph {
	const struct symbolized_profile *n;
	struct spill *out;
	VEC(struct callgrind_step) steps; /* callers come before callees; [0] is the root */
	uint32_t *step_of;                /* per path: its innermost function */
	struct costs *costs;              /* per step, with all callees */
	struct costs *functions;          /* per function: its own costs */
	uint32_t root;  /* the function id of the root, or one more than the last id */
	unsigned first; /* index of the first cost: 1 after calls, 0 without them */
	VEC(struct arc) arcs;
	struct path_tree arc_index; /* by caller and callee: arc + 1 */
	struct named_below below;
	/* names that were written already: later only their number is written */
	bool *texts, *words;
	uint32_t *lines;       /* per function: its first line that is known; 0: none */
	uint32_t object, file; /* texts of the object and file of the current line */
};

static void add_costs(struct costs *to, const struct costs *from, unsigned first, unsigned count)
{
	for (unsigned i = first; i < count; i++)
		to->values[i] = named_add(to->values[i], from->values[i]);
}

/* Sums each step's own values over all processes; negative sums are left out. */
static void own_costs(struct graph *g)
{
	const struct symbolized_profile *n = g->n;

	g->costs = xcalloc(g->steps.count, sizeof(*g->costs));
	vec_each (row, &n->rows) {
		struct costs own = {0};

		memcpy(own.values, row->values, sizeof(own.values));
		add_costs(&g->costs[g->step_of[row->path]], &own, 0, n->value_count);
	}
	for (size_t s = 0; s < g->steps.count; s++) {
		bool below = false;

		for (unsigned i = 0; i < n->value_count; i++) {
			int64_t *value = &g->costs[s].values[i];

			if (*value >= 0)
				continue;
			g->below.sum = named_add(g->below.sum, *value);
			*value = 0;
			below = true;
		}
		g->below.rows += below;
		add_costs(&g->functions[g->steps.items[s].function], &g->costs[s], g->first,
		          n->value_count);
	}
}

/* The root's place represents the root, which has no caller. */
static void make_steps(struct graph *g)
{
	const struct symbolized_profile *n = g->n;

	g->root = n->outside == NAMED_NONE ? (uint32_t)n->functions.count
	                                   : named_place_function(n, n->outside);
	vec_push(&g->steps, (struct callgrind_step){0, g->root});
	for (size_t p = 1; p < n->paths.count; p++) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];
		uint32_t at = g->step_of[n->paths.items[p].parent];

		/* A place has its innermost inlined function first. */
		for (uint32_t i = place->count; i-- > 0;) {
			vec_push(&g->steps, (struct callgrind_step){
			                            at, n->lines.items[place->first + i].function});
			at = (uint32_t)g->steps.count - 1;
		}
		g->step_of[p] = at;
	}
}

static struct arc *arc_of(struct graph *g, uint32_t caller, uint32_t callee)
{
	uint32_t next = (uint32_t)g->arcs.count + 1;
	uint32_t id = path_tree_step(&g->arc_index, caller, callee, next);

	if (id == next)
		vec_push(&g->arcs, (struct arc){.caller = caller, .callee = callee});
	return &g->arcs.items[id - 1];
}

/* Callers come before callees: going backwards, each step is complete when it is added to its
 * parent. */
static void sum_up(struct graph *g)
{
	for (size_t s = g->steps.count; s-- > 1;)
		add_costs(&g->costs[g->steps.items[s].parent], &g->costs[s], g->first,
		          g->n->value_count);
}

/* Only counted calls have a function that calls the outermost functions. */
static bool has_root(const struct graph *g)
{
	return g->n->outside != NAMED_NONE;
}

static void add_arc(struct graph *g, uint32_t step, bool outermost)
{
	const struct callgrind_step *s = &g->steps.items[step];
	struct arc *arc;

	if (s->parent == NAMED_ROOT && (s->function == g->root || !has_root(g)))
		return;
	arc = arc_of(g, g->steps.items[s->parent].function, s->function);
	if (g->first)
		add_costs(&arc->costs, &g->costs[step], CALLS, 1);
	if (outermost)
		add_costs(&arc->costs, &g->costs[step], g->first, g->n->value_count);
}

/* Walks over the tree and counts how often each function is open. */
static void walk(struct graph *g)
{
	const struct callgrind_step *steps = g->steps.items;
	size_t count = g->steps.count;
	uint32_t *child = xmalloc(count * sizeof(*child)), *next = xmalloc(count * sizeof(*next));
	uint32_t *open = xcalloc(g->n->functions.count + 1, sizeof(*open));
	uint32_t at = NAMED_ROOT;

	memset(child, 0xff, count * sizeof(*child));
	memset(next, 0xff, count * sizeof(*next));
	for (size_t s = count; s-- > 1;) {
		next[s] = child[steps[s].parent];
		child[steps[s].parent] = (uint32_t)s;
	}
	for (;;) {
		if (child[at] != NAMED_NONE) {
			uint32_t down = child[at];

			child[at] = next[down];
			add_arc(g, down, !open[steps[down].function]);
			open[steps[down].function]++;
			at = down;
		} else if (at != NAMED_ROOT) {
			open[steps[at].function]--;
			at = steps[at].parent;
		} else {
			break;
		}
	}
	free(child);
	free(next);
	free(open);
}

/* Writes a name in full the first time, and only its number later. */
static void put_name(struct graph *g, const char *key, bool *known, uint32_t id, uint32_t text)
{
	struct buf *b = &g->out->buf;

	buf_addf(b, "%s=(%" PRIu32 ")", key, id + 1);
	if (!known[id])
		buf_addf(b, " %s", text ? intern_text(&g->n->texts, text) : "???");
	known[id] = true;
	buf_putc(b, '\n');
}

static const struct named_function *function_at(const struct graph *g, uint32_t id)
{
	static const struct named_function root = {.image = NAMED_NONE}; /* "???" */

	return id < g->n->functions.count ? &g->n->functions.items[id] : &root;
}

static uint32_t object_of(const struct graph *g, const struct named_function *f)
{
	return f->image == NAMED_NONE ? 0 : g->n->images.items[f->image].name;
}

/*
 * The line of a function that was inlined is not known; the first line with code of it stands for
 * it. callgrind_annotate needs a line above 0 in each file that it finds.
 */
static void find_lines(struct graph *g)
{
	const struct symbolized_profile *n = g->n;

	g->lines = xcalloc(n->functions.count + 1, sizeof(*g->lines));
	for (size_t i = 0; i < n->functions.count; i++)
		g->lines[i] = n->functions.items[i].line;
	vec_each (line, &n->lines) {
		uint32_t *first = &g->lines[line->function];

		if (!n->functions.items[line->function].line && line->line &&
		    (!*first || line->line < *first))
			*first = line->line;
	}
}

/* Without a line, the file is not written. */
static uint32_t file_of(const struct graph *g, uint32_t id)
{
	return id < g->n->functions.count && g->lines[id] ? g->n->functions.items[id].file : 0;
}

/* In the format, objects and files are numbered separately; the text's id serves for both. */
static void put_place(struct graph *g, uint32_t id, bool called)
{
	uint32_t object = object_of(g, function_at(g, id)), file = file_of(g, id);
	size_t texts = g->n->texts.texts.count;

	if (object != g->object)
		put_name(g, called ? "cob" : "ob", g->texts, object, object);
	if (file != g->file)
		put_name(g, called ? "cfi" : "fl", g->texts + texts, file, file);
	if (called)
		return;
	g->object = object;
	g->file = file;
}

static void put_times(struct graph *g, const struct costs *costs)
{
	for (unsigned i = g->first; i < g->n->value_count; i++)
		buf_addf(&g->out->buf, " %" PRId64, costs->values[i]);
	buf_putc(&g->out->buf, '\n');
}

static bool arc_is_empty(const struct graph *g, const struct arc *arc)
{
	for (unsigned i = 0; i < g->n->value_count; i++)
		if (arc->costs.values[i])
			return false;
	return true;
}

/* Counts the callers of functions that were open when the counting began and were not called
 * again. */
static uint64_t arcs_without_calls(const struct graph *g)
{
	uint64_t count = 0;

	vec_each (arc, &g->arcs)
		count += g->first && !arc->costs.values[CALLS] && !arc_is_empty(g, arc);
	return count;
}

/* A line without calls would be read as the caller's own time, so at least one call is written. */
static void put_arc(struct graph *g, const struct arc *arc, uint32_t line)
{
	const struct named_function *callee = function_at(g, arc->callee);
	int64_t calls = g->first ? arc->costs.values[CALLS] : 0;

	if (arc_is_empty(g, arc))
		return;
	put_place(g, arc->callee, true);
	put_name(g, "cfn", g->words, arc->callee, callee->name);
	buf_addf(&g->out->buf, "calls=%" PRId64 " %" PRIu32 "\n%" PRIu32, calls ? calls : 1,
	         g->lines[arc->callee], line);
	put_times(g, &arc->costs);
}

static int compare_arcs(const void *pa, const void *pb)
{
	const struct arc *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* The root without a function has costs only if samples have no call path. */
static bool has_own(const struct graph *g, uint32_t function)
{
	for (unsigned i = g->first; i < g->n->value_count; i++)
		if (g->functions[function].values[i])
			return true;
	return false;
}

static void put_functions(struct graph *g)
{
	size_t at = 0;

	if (g->arcs.count)
		qsort(g->arcs.items, g->arcs.count, sizeof(struct arc), compare_arcs);
	for (uint32_t id = 0; id <= g->n->functions.count; id++) {
		const struct named_function *f = function_at(g, id);

		if (id == g->n->functions.count && (id != g->root || !has_own(g, id)))
			break;
		buf_putc(&g->out->buf, '\n');
		put_place(g, id, false);
		put_name(g, "fn", g->words, id, f->name);
		buf_addf(&g->out->buf, "%" PRIu32, g->lines[id]);
		put_times(g, &g->functions[id]);
		for (; at < g->arcs.count && g->arcs.items[at].caller == id; at++)
			put_arc(g, &g->arcs.items[at], g->lines[id]);
		spill_some(g->out);
	}
}

static bool is_time(const struct named_value *value)
{
	return !strcmp(value->unit, "nanoseconds");
}

/* An event's name is one word; names of two events that would be equal get their number. */
static void put_event(struct buf *b, const struct symbolized_profile *n, unsigned value)
{
	size_t from = b->size;

	buf_puts(b, *n->values[value].name ? n->values[value].name : "value");
	b->data[from] = (char)toupper((unsigned char)b->data[from]);
	for (size_t i = from; i < b->size; i++)
		if (!isalnum((unsigned char)b->data[i]))
			b->data[i] = '_';
	if (is_time(&n->values[value]))
		buf_puts(b, "_ns");
	for (unsigned i = 0; i < value; i++)
		if (!strcmp(n->values[i].name, n->values[value].name)) {
			buf_addf(b, "_%u", value);
			break;
		}
}

static void put_heading(struct graph *g)
{
	const struct symbolized_profile *n = g->n;
	uint64_t uncalled = arcs_without_calls(g);
	struct buf *b = &g->out->buf;

	buf_puts(b, "# callgrind format\nversion: 1\ncreator: assay-" ASSAY_VERSION "\n");
	if (n->owners.count == 1)
		buf_addf(b, "pid: %" PRId32 "\n", n->owners.items[0].pid);
	buf_addf(b, "cmd: %s\n", intern_text(&n->texts, n->command));
	vec_each (comment, &n->comments)
		buf_addf(b, "desc: %s\n", intern_text(&n->texts, *comment));
	if (g->below.rows)
		buf_addf(b,
		         g->first ? "desc: Left out: %" PRIu64 " %s with %" PRId64
		                    " ns together, negative after compensation\n"
		                  : "desc: Left out: %" PRIu64 " %s with %" PRId64
		                    " together, which is negative\n",
		         g->below.rows, plural(g->below.rows, "path", "paths"), g->below.sum);
	if (uncalled)
		buf_addf(b,
		         "desc: Open before: %" PRIu64
		         " %s with 1 call to a function that was open when counting "
		         "began\n",
		         uncalled, plural(uncalled, "caller has an arc", "callers have arcs"));
	if (!g->first)
		buf_puts(b, "desc: Calls: not counted; each pair of caller and callee has 1\n");
	buf_puts(b, "positions: line\n");
	for (unsigned i = g->first; i < n->value_count; i++) {
		buf_puts(b, "event: ");
		put_event(b, n, i);
		buf_addf(b, is_time(&n->values[i]) ? " : %s time (ns)\n" : " : %s\n",
		         n->values[i].name);
	}
	buf_puts(b, "events:");
	for (unsigned i = g->first; i < n->value_count; i++) {
		buf_putc(b, ' ');
		put_event(b, n, i);
	}
	buf_puts(b, "\nsummary:");
	put_times(g, &g->costs[NAMED_ROOT]);
}

struct named_below callgrind_write(const struct symbolized_profile *n, struct spill *out)
{
	struct graph g = {.n = n,
	                  .out = out,
	                  .object = NAMED_NONE,
	                  .file = NAMED_NONE,
	                  .first = n->value_count > 1 && !strcmp(n->values[CALLS].name, "calls")};
	size_t texts = n->texts.texts.count;

	g.functions = xcalloc(n->functions.count + 1, sizeof(*g.functions));
	g.step_of = xcalloc(n->paths.count, sizeof(*g.step_of));
	g.texts = xcalloc(2 * texts, sizeof(*g.texts));
	g.words = xcalloc(n->functions.count + 1, sizeof(*g.words));
	make_steps(&g);
	find_lines(&g);
	own_costs(&g);
	sum_up(&g);
	walk(&g);
	put_heading(&g);
	put_functions(&g);
	buf_puts(&out->buf, "\ntotals:");
	put_times(&g, &g.costs[NAMED_ROOT]);
	vec_done(&g.steps);
	free(g.costs);
	free(g.functions);
	free(g.step_of);
	free(g.texts);
	free(g.words);
	free(g.lines);
	vec_done(&g.arcs);
	path_tree_done(&g.arc_index);
	return g.below;
}
