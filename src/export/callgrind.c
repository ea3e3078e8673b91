/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/callgrind.h"

#include "base/memory/path_tree.h"
#include "base/text/plural.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define CALLS 0 /* index of the number of calls; the other values are times */

/* The values of one path: first its own, after sum_up() with all callees. */
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
	struct costs *paths;     /* per path, with all callees */
	struct costs *functions; /* per function: its own */
	uint32_t *function_of;   /* per path */
	uint32_t root;           /* the function id of the root, or one more than the last id */
	VEC(struct arc) arcs;
	struct path_tree arc_index; /* by caller and callee: arc + 1 */
	struct named_below below;
	/* names that are in the file already, so that their number is enough */
	bool *texts, *words;
	uint32_t object, file; /* texts of the object and file of the current line */
};

static void add_costs(struct costs *to, const struct costs *from, unsigned first, unsigned count)
{
	for (unsigned i = first; i < count; i++)
		to->values[i] = named_add(to->values[i], from->values[i]);
}

/* Sums each path's own values over all processes; negative sums are left out. */
static void own_costs(struct graph *g)
{
	const struct symbolized_profile *n = g->n;

	vec_each (row, &n->rows) {
		struct costs own = {0};

		memcpy(own.values, row->values, sizeof(own.values));
		add_costs(&g->paths[row->path], &own, 0, n->value_count);
	}
	for (size_t p = 0; p < n->paths.count; p++) {
		bool below = false;

		for (unsigned i = 0; i < n->value_count; i++) {
			int64_t *value = &g->paths[p].values[i];

			if (*value >= 0)
				continue;
			g->below.sum = named_add(g->below.sum, *value);
			*value = 0;
			below = true;
		}
		g->below.rows += below;
		add_costs(&g->functions[g->function_of[p]], &g->paths[p], 1, n->value_count);
	}
}

/* The root's place stands for the root, which has no caller. */
static void name_paths(struct graph *g)
{
	const struct symbolized_profile *n = g->n;

	g->root = n->outside == NAMED_NONE ? (uint32_t)n->functions.count
	                                   : named_place_function(n, n->outside);
	for (size_t p = 0; p < n->paths.count; p++)
		g->function_of[p] = p == NAMED_ROOT
		                            ? g->root
		                            : named_place_function(n, n->paths.items[p].place);
}

static struct arc *arc_of(struct graph *g, uint32_t caller, uint32_t callee)
{
	uint32_t next = (uint32_t)g->arcs.count + 1;
	uint32_t id = path_tree_step(&g->arc_index, caller, callee, next);

	if (id == next)
		vec_push(&g->arcs, (struct arc){.caller = caller, .callee = callee});
	return &g->arcs.items[id - 1];
}

/* Callers come before callees: going backwards, each path is complete when it is added to its
 * parent. */
static void sum_up(struct graph *g)
{
	const struct named_path *paths = g->n->paths.items;

	for (size_t p = g->n->paths.count; p-- > 1;)
		add_costs(&g->paths[paths[p].parent], &g->paths[p], 1, g->n->value_count);
}

static void add_arc(struct graph *g, uint32_t path, bool outermost)
{
	uint32_t parent = g->n->paths.items[path].parent;
	struct arc *arc;

	if (parent == NAMED_ROOT && g->function_of[path] == g->root)
		return;
	arc = arc_of(g, g->function_of[parent], g->function_of[path]);
	add_costs(&arc->costs, &g->paths[path], CALLS, 1);
	if (outermost)
		add_costs(&arc->costs, &g->paths[path], 1, g->n->value_count);
}

/* Walks over the tree and counts how often each function is open. */
static void walk(struct graph *g)
{
	const struct named_path *paths = g->n->paths.items;
	size_t count = g->n->paths.count;
	uint32_t *child = xmalloc(count * sizeof(*child)), *next = xmalloc(count * sizeof(*next));
	uint32_t *open = xcalloc(g->n->functions.count + 1, sizeof(*open));
	uint32_t at = NAMED_ROOT;

	memset(child, 0xff, count * sizeof(*child));
	memset(next, 0xff, count * sizeof(*next));
	for (size_t p = count; p-- > 1;) {
		next[p] = child[paths[p].parent];
		child[paths[p].parent] = (uint32_t)p;
	}
	for (;;) {
		if (child[at] != NAMED_NONE) {
			uint32_t down = child[at];

			child[at] = next[down];
			add_arc(g, down, !open[g->function_of[down]]);
			open[g->function_of[down]]++;
			at = down;
		} else if (at != NAMED_ROOT) {
			open[g->function_of[at]]--;
			at = paths[at].parent;
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

static uint32_t object_of(const struct graph *g, const struct named_function *f)
{
	return f->image == NAMED_NONE ? 0 : g->n->images.items[f->image].name;
}

/* In the format, objects and files are numbered separately; the text's id serves for both. */
static void put_place(struct graph *g, const struct named_function *f, bool called)
{
	uint32_t object = object_of(g, f);
	size_t texts = g->n->texts.texts.count;

	if (object != g->object)
		put_name(g, called ? "cob" : "ob", g->texts, object, object);
	if (f->file != g->file)
		put_name(g, called ? "cfi" : "fl", g->texts + texts, f->file, f->file);
	if (called)
		return;
	g->object = object;
	g->file = f->file;
}

static void put_times(struct graph *g, const struct costs *costs)
{
	for (unsigned i = 1; i < g->n->value_count; i++)
		buf_addf(&g->out->buf, " %" PRId64, costs->values[i]);
	buf_putc(&g->out->buf, '\n');
}

static const struct named_function *function_at(const struct graph *g, uint32_t id)
{
	static const struct named_function root = {.image = NAMED_NONE};

	return id < g->n->functions.count ? &g->n->functions.items[id] : &root;
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
		count += !arc->costs.values[CALLS] && !arc_is_empty(g, arc);
	return count;
}

/* A line without calls would be read as the caller's own time, so at least one call is written. */
static void put_arc(struct graph *g, const struct arc *arc, uint32_t line)
{
	const struct named_function *callee = function_at(g, arc->callee);
	int64_t calls = arc->costs.values[CALLS];

	if (arc_is_empty(g, arc))
		return;
	put_place(g, callee, true);
	put_name(g, "cfn", g->words, arc->callee, callee->name);
	buf_addf(&g->out->buf, "calls=%" PRId64 " %" PRIu32 "\n%" PRIu32, calls ? calls : 1,
	         callee->line, line);
	put_times(g, &arc->costs);
}

static int compare_arcs(const void *pa, const void *pb)
{
	const struct arc *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static void put_functions(struct graph *g)
{
	size_t at = 0;

	if (g->arcs.count)
		qsort(g->arcs.items, g->arcs.count, sizeof(struct arc), compare_arcs);
	for (uint32_t id = 0; id <= g->n->functions.count; id++) {
		const struct named_function *f = function_at(g, id);

		if (id == g->n->functions.count && id != g->root)
			break;
		buf_putc(&g->out->buf, '\n');
		put_place(g, f, false);
		put_name(g, "fn", g->words, id, f->name);
		buf_addf(&g->out->buf, "%" PRIu32, f->line);
		put_times(g, &g->functions[id]);
		for (; at < g->arcs.count && g->arcs.items[at].caller == id; at++)
			put_arc(g, &g->arcs.items[at], f->line);
		spill_some(g->out);
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
		         "desc: Left out: %" PRIu64 " %s with %" PRId64
		         " ns together, negative after compensation\n",
		         g->below.rows, plural(g->below.rows, "path", "paths"), g->below.sum);
	if (uncalled)
		buf_addf(b,
		         "desc: Open before: %" PRIu64
		         " %s with 1 call to a function that was open when counting "
		         "began\n",
		         uncalled, plural(uncalled, "caller has an arc", "callers have arcs"));
	buf_puts(b, "positions: line\n");
	for (unsigned i = 1; i < n->value_count; i++)
		buf_addf(b, "event: %c%s_ns : %s time (ns)\n", toupper(*n->values[i].name),
		         n->values[i].name + 1, n->values[i].name);
	buf_puts(b, "events:");
	for (unsigned i = 1; i < n->value_count; i++)
		buf_addf(b, " %c%s_ns", toupper(*n->values[i].name), n->values[i].name + 1);
	buf_puts(b, "\nsummary:");
	put_times(g, &g->paths[NAMED_ROOT]);
}

struct named_below callgrind_write(const struct symbolized_profile *n, struct spill *out)
{
	struct graph g = {.n = n, .out = out, .object = NAMED_NONE, .file = NAMED_NONE};
	size_t texts = n->texts.texts.count;

	g.paths = xcalloc(n->paths.count, sizeof(*g.paths));
	g.functions = xcalloc(n->functions.count + 1, sizeof(*g.functions));
	g.function_of = xcalloc(n->paths.count, sizeof(*g.function_of));
	g.texts = xcalloc(2 * texts, sizeof(*g.texts));
	g.words = xcalloc(n->functions.count + 1, sizeof(*g.words));
	name_paths(&g);
	own_costs(&g);
	sum_up(&g);
	walk(&g);
	put_heading(&g);
	put_functions(&g);
	buf_puts(&out->buf, "\ntotals:");
	put_times(&g, &g.paths[NAMED_ROOT]);
	free(g.paths);
	free(g.functions);
	free(g.function_of);
	free(g.texts);
	free(g.words);
	vec_done(&g.arcs);
	path_tree_done(&g.arc_index);
	return g.below;
}
