/* SPDX-License-Identifier: MIT */
/*
 * cost: calibrates the cost of a call's two hooks. It calls them on functions of known length and
 * measures by how much the callee's net time (inner) and the caller's net time (outer) are too
 * long. The results are medians of several rounds, so that an interrupt in one round does not
 * change them.
 */
#include "calls/calls.h"
#include "calls/fast.h"

#define ROUNDS 7
#define READINGS 64
#define COUNTED 500 /* calls in a round without the clock */

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* Turns of a loop, about one cycle each, and the number of calls in a round. */
static const struct {
	int turns, calls;
} lengths[ASSAY_CALLS_LENGTHS + 1] = {{2, 100},  {10, 100}, {40, 60},  {70, 50},
                                      {100, 40}, {300, 20}, {1000, 10}};

#define APART 3      /* the length of a caller's work between its calls */
#define ERROR_PART 4 /* the cost is known to this part */

static __attribute__((noinline)) void bare(int turns)
{
	for (int i = 0; i < turns; i++)
		__asm__ volatile("");
}

static __attribute__((noinline)) void hooked(int turns)
{
	void *site = __builtin_return_address(0);

	__cyg_profile_func_enter((void *)hooked, site);
	for (int i = 0; i < turns; i++)
		__asm__ volatile("");
	__cyg_profile_func_exit((void *)hooked, site);
}

static void sort(int64_t *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
			int64_t other = v[k];

			v[k] = v[k - 1];
			v[k - 1] = other;
		}
}

/* Restores the empty tree: the root and its (other). */
static void clear(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_thread *r = t->record;
	struct assay_calls_chunk *chunk = (struct assay_calls_chunk *)calls_node(home->chunks);
	uint32_t used = home->node_next - home->chunks - 1;

	for (uint64_t i = 0; i <= home->hash->mask; i++)
		home->hash->slots[i] = 0;
	home->hash->count = 0;
	chunk->used = 0;
	for (uint32_t i = 0; i < used; i++)
		*calls_node(home->chunks + 1 + i) = (struct assay_calls_node){0};
	/* Calls that were preempted during the calibration have created wait records. */
	if (home->wait_end) {
		struct assay_calls_chunk *waits = (struct assay_calls_chunk *)calls_node(
		        home->wait_end - ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT);

		waits->used = 0;
		for (uint32_t unit = calls_id(waits) + 1; unit < home->wait_end; unit++)
			*calls_node(unit) = (struct assay_calls_node){0};
	}
	if (home->times_end) {
		struct assay_calls_chunk *times = (struct assay_calls_chunk *)calls_node(
		        home->times_end - ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT);

		times->used = 0;
	}
	r->own = r->slow = 0;
	r->enter = r->exit = (struct assay_calls_sample){0};
	calls_tree_begin(t);
}

/* The mean of a hook's readings without the longest tenth, in 1/1024 ticks. */
static int32_t mean(int64_t *v)
{
	int64_t sum = 0;
	int n = READINGS * 9 / 10;

	sort(v, READINGS);
	for (int i = 0; i < n; i++)
		sum += v[i];
	return (int32_t)(sum * 1024 / n);
}

static void readings(struct calls_thread *t, struct assay_calls_cost *cost)
{
	int64_t enter[READINGS], exit[READINGS], none[READINGS];
	struct assay_calls_thread *r = t->record;
	void *site = __builtin_return_address(0);
	struct assay_calls_node *node;

	__cyg_profile_func_enter((void *)readings, site);
	__cyg_profile_func_exit((void *)readings, site);
	node = calls_tree_find(t, calls_node(r->root), (uintptr_t)readings & ASSAY_FN_ADDRESS);
	if (!node)
		return;
	for (int i = 0; i < READINGS; i++) {
		uint64_t enters = r->enter.sum, exits = r->exit.sum, start;

		node->calls = CALLS_RARE; /* no duration is stored */
		t->state = CALLS_SAMPLE;
		__cyg_profile_func_enter((void *)readings, site);
		bare(10);
		t->state = CALLS_SAMPLE;
		__cyg_profile_func_exit((void *)readings, site);
		enter[i] = (int64_t)(r->enter.sum - enters);
		exit[i] = (int64_t)(r->exit.sum - exits);
		start = port_clock();
		none[i] = (int64_t)(port_clock() - start);
	}
	cost->enter_read = mean(enter);
	cost->exit_read = mean(exit);
	cost->read = mean(none);
}

static int32_t middle(int64_t *v)
{
	sort(v, ROUNDS);
	return (int32_t)v[ROUNDS / 2];
}

/* Half of the range of all rounds without the lowest and the highest. */
static int32_t spread(const int64_t *sorted)
{
	return (int32_t)((sorted[ROUNDS - 2] - sorted[1]) / 2);
}

struct cost_rounds {
	int64_t net[ROUNDS], inner[ROUNDS], outer[ROUNDS],
	        all[ROUNDS]; /* of a call, 1/1024 ticks */
};

/*
 * Calls of a round. Their number is kept low, so that no duration is stored. A thread whose CPU
 * time is sampled does not stop reading the clock.
 */
static void hook_calls(struct calls_thread *t, struct assay_calls_node *leaf, int turns, int calls)
{
	for (int i = 0; i < calls; i++) {
		leaf->calls = CALLS_RARE;
		t->credit = INT64_MAX / 4;
		hooked(turns);
	}
}

static void measure(struct calls_thread *t, struct assay_calls_node *leaf, int turns, int calls,
                    struct cost_rounds *r)
{
	const struct assay_calls_node *root = calls_node(t->record->root);

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = port_clock(), native, in, out;

		for (int i = 0; i < calls; i++)
			bare(turns);
		native = port_clock() - start;
		hook_calls(t, leaf, turns, 1);
		in = leaf->net;
		out = root->net;
		start = port_clock();
		hook_calls(t, leaf, turns, calls);
		r->all[round] = (int64_t)(port_clock() - start - native) * 1024 / calls;
		r->net[round] = (int64_t)(leaf->net - in) * 1024 / calls;
		r->inner[round] = r->net[round] - (int64_t)native * 1024 / calls;
		r->outer[round] = (int64_t)(root->net - out) * 1024 / calls;
	}
}

/* The cost in the caller's net, if the caller works between its calls. */
static int32_t measure_outer(struct calls_thread *t, struct assay_calls_node *leaf)
{
	const struct assay_calls_node *root = calls_node(t->record->root);
	const int turns = lengths[APART].turns, calls = lengths[APART].calls;
	int64_t outer[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = port_clock(), native, out;

		for (int i = 0; i < calls; i++)
			bare(turns);
		native = port_clock() - start;
		hook_calls(t, leaf, turns, 1);
		out = root->net;
		for (int i = 0; i < calls; i++) {
			bare(turns);
			hook_calls(t, leaf, turns, 1);
		}
		outer[round] = (int64_t)(root->net - out - native) * 1024 / calls;
	}
	return middle(outer);
}

static int32_t apart(int32_t a, int32_t b)
{
	return (a > b ? a - b : b - a) / 2;
}

/*
 * Functions work for longer than `hooked` between their events, and a processor executes this work
 * while it completes a hook: the work makes a difference to the cost. That and a part of the cost
 * are the error, since the work of the program is not that of the calibration. The callee's part is
 * computed from its length by readers; where a thread is sampled, the hooks subtract a constant.
 */
static void long_work(struct calls_thread *t, struct assay_calls_node *leaf,
                      struct assay_calls_cost *cost)
{
	int32_t outer = measure_outer(t, leaf), inner = 0, part;

	for (int i = 1; i <= APART && cost->length_count > APART; i++)
		inner += cost->lengths[i].inner / APART;
	part = (cost->inner + cost->outer) / ERROR_PART;
	cost->inner_error += 2 * apart(cost->inner, inner) + (part > 0 ? part : 0);
	cost->outer_error += 2 * apart(cost->outer, outer) + (part > 0 ? part : 0);
	cost->outer = outer;
	if (t->samples)
		cost->inner = inner;
}

/*
 * The error of the first length is computed from its difference to the shortest length. Both
 * functions last less than a reading of the clock, so their net times hardly differ, and the
 * difference between their costs is not significant.
 */
/* Returns the whole cost of a call, in 1/1024 ticks. */
static int32_t calibrate(struct calls_thread *t, struct assay_calls_cost *cost)
{
	struct assay_calls_node *leaf;
	struct cost_rounds shortest, r;
	int32_t timed = 0;

	hooked(10);
	leaf = calls_tree_find(t, calls_node(t->record->root),
	                       (uintptr_t)hooked & ASSAY_FN_ADDRESS);
	if (!leaf)
		return 0;
	measure(t, leaf, lengths[0].turns, lengths[0].calls, &shortest);
	for (int i = 1; i <= ASSAY_CALLS_LENGTHS; i++) {
		uint32_t n = cost->length_count;

		measure(t, leaf, lengths[i].turns, lengths[i].calls, &r);
		cost->lengths[n].net = middle(r.net);
		cost->lengths[n].inner = middle(r.inner);
		if (i == 1) {
			cost->inner = cost->lengths[0].inner;
			cost->outer = middle(r.outer);
			timed = middle(r.all);
			cost->inner_error =
			        spread(r.inner) + apart(cost->inner, middle(shortest.inner));
			cost->outer_error =
			        spread(r.outer) + apart(cost->outer, middle(shortest.outer));
		}
		/* Keep only lengths whose net time increases: readers interpolate between them. */
		if (!n || cost->lengths[n].net > cost->lengths[n - 1].net)
			cost->length_count++;
	}
	long_work(t, leaf, cost);
	return timed;
}

/* The cost of a call that is counted without the clock, by the duration of short calls. */
static int32_t counted(struct calls_thread *t)
{
	int64_t cost[ROUNDS];

	t->samples = true;
	t->charge = 0;
	t->state = t->rest = CALLS_READY;
	t->until_window = INT32_MAX; /* without windows */
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = port_clock(), native;

		for (int i = 0; i < COUNTED; i++)
			bare(lengths[0].turns);
		native = port_clock() - start;
		start = port_clock();
		for (int i = 0; i < COUNTED; i++)
			hooked(lengths[0].turns);
		cost[round] = (int64_t)(port_clock() - start - native) * 1024 / COUNTED;
	}
	t->samples = false;
	t->charge = ~UINT64_C(0);
	t->state = t->rest = CALLS_TIMED;
	return middle(cost);
}

void calls_calibrate(struct calls_thread *t)
{
	struct assay_calls_cost cost = {0};

	/* The clock is read twice in each hook of a thread whose CPU time is sampled. */
	t->samples = port_can_sample(t);
	calls_table.header->timed_cost = calibrate(t, &cost);
	t->samples = false;
	readings(t, &cost);
	calls_table.header->cost = cost;
	calls_table.header->counted_cost = counted(t);
	clear(t);
}
