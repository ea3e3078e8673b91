/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of call paths, laid out by hand, with figures that can be worked out on
 * paper: compensation, waiting, books, baselines, recordings, damage.
 */
#include "calls_fixture.h"
#include "check.h"
#include "format/calls_file.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

/* Times come out of divisions: equal to a millionth of a nanosecond. */
#define CHECK_NS(got, want)                                                                        \
	do {                                                                                       \
		double got_ns = (got), want_ns = (want);                                           \
		if (!(fabs(got_ns - want_ns) < 1e-6)) {                                            \
			check_failures++;                                                          \
			printf("# %s:%d: %s is %.9g, not %.9g\n", __FILE__, __LINE__, #got,        \
			       got_ns, want_ns);                                                   \
		}                                                                                  \
	} while (0)

static struct call_paths *read_with(struct fx *f, const struct calls_state *state)
{
	struct call_paths *c = call_paths_new();
	struct error err = {0};
	size_t used = 0;

	CHECK_EQ(
	        calls_file_read(c, f->bytes, fx_header(f)->used_bytes, "table", state, &used, &err),
	        0);
	CHECK_EQ(used, fx_header(f)->used_bytes);
	CHECK_STR(err.text, "");
	CHECK_EQ(c->processes.count, 1);
	call_paths_close(c);
	return c;
}

static const struct call_process *process_of(const struct call_paths *c)
{
	return &c->processes.items[0];
}

/* The path of functions by their frames' offsets, ended by 0; NULL: there is none. */
static const struct call_path *path_at(const struct call_paths *c, const uint64_t *offsets)
{
	const struct call_process *p = process_of(c);
	uint32_t i = 0;

	for (; *offsets; offsets++) {
		for (i = p->paths.items[i].first_child; i != CALL_PATH_NONE;
		     i = p->paths.items[i].sibling)
			if (c->functions.items[p->paths.items[i].function].frame.offset == *offsets)
				break;
		if (i == CALL_PATH_NONE)
			return NULL;
	}
	return &p->paths.items[i];
}

#define PATH(c, ...) path_at(c, (const uint64_t[]){__VA_ARGS__, 0})

/* root -> a (once) -> b (ten times); a call costs 10 ticks inside and 6 outside. */
struct abc {
	struct fx *f;
	uint32_t thread, a, b;
};

static struct abc abc_new(void)
{
	struct abc x = {.f = fx_new()};
	struct assay_calls_cost *cost = &fx_header(x.f)->cost;

	cost->inner = 10 * 1024;
	cost->outer = 6 * 1024;
	cost->inner_error = 512; /* half a tick */
	cost->outer_error = 256;
	cost->enter_read = 20 * 1024;
	cost->exit_read = 30 * 1024;
	x.thread = fx_thread(x.f, 4711, 1900, 300);
	x.a = fx_node(x.f, x.thread, fx_record(x.f, x.thread)->root, 0x1000, 1, 1000);
	x.b = fx_node(x.f, x.thread, x.a, 0x2000, 10, 500);
	fx_record(x.f, x.thread)->own = 100;
	fx_header(x.f)->end_ticks = FX_BEGIN + 1900;
	return x;
}

static void costs_are_taken_off(void)
{
	struct abc x = abc_new();
	struct call_paths *c = read_with(x.f, NULL);
	const struct call_process *p = process_of(c);
	const struct call_thread *t = &p->threads.items[0];

	CHECK_EQ(p->flags, 0);
	CHECK_EQ(p->paths.count, 3);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 10 * 10) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_error_ns, 10 * 0.5 / 2);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 10 - 10 * 6) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->net_error_ns, (0.5 + 10 * 0.25) / 2);
	CHECK_NS(p->paths.items[0].net_ns, (300 - 6) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->total_ns, 200 + 465);
	CHECK_NS(t->own_ns, (100 + 11 * 16) / 2.0);
	CHECK_NS(p->own_ns, t->own_ns);
	CHECK_NS(p->inner_ns, 5);
	CHECK_NS(p->outer_ns, 3);
	/* 300 + 1000 + 500 + 100 ticks of 1900: the books close by what was measured */
	CHECK_NS(t->wall_ns, 950);
	CHECK_NS(t->cpu_ns, 950);
	CHECK_NS(t->cpu_residual_ns, 0);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(p->wall_ns, 950);
	CHECK_STR(intern_text(&c->images.names, p->name), "prog");
	CHECK_STR(intern_text(&c->images.names, p->command), "prog -x");
	CHECK_STR(intern_text(&c->images.names, t->name), "t4711");
	call_paths_free(c);
	free(x.f);
}

/* A cost too high leaves less than nothing, and that is what is shown. */
static void nothing_is_clamped(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	fx_header(x.f)->cost.inner = 80 * 1024;
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 800) / 2.0);
	call_paths_free(c);
	free(x.f);
}

/* The program took its own idea of the cost off min and max: the mean stays between. */
static void the_range_moves_with_the_mean(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	/* One call: 1000 less 10 and 10 times 6, as the program says. */
	fx_node_at(x.f, x.a)->min = fx_node_at(x.f, x.a)->max = 930;
	fx_node_at(x.f, x.b)->min = 30;
	fx_node_at(x.f, x.b)->max = 60;
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->min_ns, 465);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->min_ns, 15);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, 30);
	call_paths_free(c);
	/* Double readings say that entries cost 8 more and exits 4; nothing is sure before. */
	fx_header(x.f)->cost.inner_error = fx_header(x.f)->cost.outer_error = 1 << 20;
	fx_record(x.f, x.thread)->enter = (struct assay_calls_sample){100, 2800, 78400};
	fx_record(x.f, x.thread)->exit = (struct assay_calls_sample){100, 3400, 115600};
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 18 - 10 * 10) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->min_ns, PATH(c, 0x1000)->net_ns);
	CHECK_NS(PATH(c, 0x1000)->max_ns, PATH(c, 0x1000)->net_ns);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->min_ns, (30 - 8) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, (60 - 8) / 2.0);
	call_paths_free(c);
	free(x.f);
}

static void double_readings_correct_costs(void)
{
	double sampled = 1.96 * 1.96 * 100 / 99 / 100, share = 0.25 / (0.25 + sampled);
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;

	/* half of them 24, half 26 ticks; 20 at the calibration */
	t->enter = (struct assay_calls_sample){100, 2500, 50 * 24 * 24 + 50 * 26 * 26};
	t->exit = (struct assay_calls_sample){29, 29 * 99, 29 * 99 * 99}; /* too few */
	c = read_with(x.f, NULL);
	/* The readings are surer than the calibration, which was half a tick unsure. */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 10 * (10 + 5 * share)) / 2);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_error_ns, 10 * sqrt(share * sampled) / 2);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - (10 + 5 * share) - 10 * 6) / 2.0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
	call_paths_free(c);
	t->exit = (struct assay_calls_sample){30, 30 * 28, 30 * 28 * 28}; /* all the same: sure */
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - (10 + 5 * share) - 10 * 4) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->net_error_ns, sqrt(share * sampled) / 2);
	call_paths_free(c);
	/* one that an interrupt fell into: hardly anything of it counts */
	t->exit = (struct assay_calls_sample){100, 99 * 30 + 90000, 99 * 900 + 90000ull * 90000};
	c = read_with(x.f, NULL);
	CHECK(fabs(PATH(c, 0x1000)->net_ns - (1000 - (10 + 5 * share) - 10 * 6) / 2.0) < 0.1);
	call_paths_free(c);
	free(x.f);
}

/* A longer callee costs less: 10 ticks at 30 told, 6 at 50, 5 at 80 and longer. */
static void costs_follow_the_callees_length(void)
{
	static const struct {
		uint64_t net; /* of ten calls */
		double inner;
	} lengths[] = {{200, 10}, {300, 10}, {400, 8}, {500, 6}, {650, 5.5}, {800, 5}, {90000, 5}};
	struct abc x = abc_new();
	struct assay_calls_cost *cost = &fx_header(x.f)->cost;
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;

	cost->length_count = 3;
	for (int i = 0; i < 3; i++) {
		cost->lengths[i].net = (int32_t[]){30, 50, 80}[i] * 1024;
		cost->lengths[i].inner = (int32_t[]){10, 6, 5}[i] * 1024;
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		double net = (double)lengths[i].net;

		fx_node_at(x.f, x.b)->net = lengths[i].net;
		t->last = fx_header(x.f)->end_ticks = FX_BEGIN + 1400 + lengths[i].net;
		c = read_with(x.f, NULL);
		CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (net - 10 * lengths[i].inner) / 2);
		/* a lasts 1000 ticks less what its callees cost it: it is long */
		CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 5 - 10 * 6) / 2.0);
		CHECK_NS(process_of(c)->inner_ns, (10 * lengths[i].inner + 5) / 11 / 2);
		CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
		call_paths_free(c);
	}
	/* What the program's own readings correct holds for all lengths. */
	t->enter = (struct assay_calls_sample){100, 2200, 2200 * 22};
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (90000 - 10 * (5 + 2)) / 2.0);
	call_paths_free(c);
	free(x.f);
}

static void open_calls_are_known(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	fx_record(x.f, x.thread)->current = x.b;
	fx_header(x.f)->state = ASSAY_CALLS_RUNNING; /* killed */
	c = read_with(x.f, NULL);
	CHECK_EQ(process_of(c)->flags, CALL_KILLED);
	CHECK_EQ(PATH(c, 0x1000)->open, 1);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_EQ(process_of(c)->paths.items[0].open, 0);
	/* of the tenth call of b, and of the one of a, the entry alone was there */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 9.5 * 10) / 2);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 5 - 9.5 * 6) / 2);
	call_paths_free(c);
	/* a coroutine's stack that waits within a */
	fx_record(x.f, x.thread)->current = fx_record(x.f, x.thread)->root;
	fx_record(x.f, x.thread)->stacks[0] = x.a;
	fx_record(x.f, x.thread)->stack_count = 1;
	c = read_with(x.f, NULL);
	CHECK_EQ(PATH(c, 0x1000)->open, 1);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 0);
	call_paths_free(c);
	free(x.f);
}

static void waiting_is_apart_and_books_close(void)
{
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;
	const struct call_thread *thread;

	fx_wait(x.f, x.thread, x.b, 4000, 600);
	fx_wait(x.f, x.thread, x.a, 0, 200);
	t->last = fx_header(x.f)->end_ticks = FX_BEGIN + 1900 + 4800;
	/* The CPU clock, read 30 ns of CPU time before the last event, was 10 ns ahead of the sum.
	 */
	t->sync = t->last - 60;
	t->sync_cpu_ns = 5000 + 950 - 30 + 10;
	c = read_with(x.f, NULL);
	thread = &process_of(c)->threads.items[0];
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 2000);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->preempted_ns, 300);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->blocked_count, 1);
	CHECK_NS(PATH(c, 0x1000)->total_preempted_ns, 400);
	CHECK_NS(call_path_wall_ns(PATH(c, 0x1000)), 665 + 2000 + 400);
	CHECK_NS(thread->blocked_ns, 2000);
	CHECK_NS(thread->preempted_ns, 400);
	CHECK_NS(thread->wall_ns, (1900 + 4800) / 2);
	CHECK_NS(thread->wall_residual_ns, 0);
	CHECK_NS(thread->cpu_ns, 960);
	CHECK_NS(thread->cpu_residual_ns, -10);
	call_paths_free(c);
	/* An end without an event: the time until then is in no path. */
	fx_header(x.f)->end_ticks += 50;
	c = read_with(x.f, NULL);
	thread = &process_of(c)->threads.items[0];
	CHECK_NS(thread->tail_ns, 25);
	CHECK_NS(thread->wall_residual_ns, 0);
	call_paths_free(c);
	/* A reading that is wrong shows: no term is the others' remainder. */
	fx_node_at(x.f, x.b)->net += 70;
	c = read_with(x.f, NULL);
	thread = &process_of(c)->threads.items[0];
	CHECK_NS(thread->wall_residual_ns, 35);
	CHECK_NS(thread->cpu_residual_ns, 25);
	call_paths_free(c);
	free(x.f);
}

static void ended_threads_keep_their_time(void)
{
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;
	const struct call_thread *thread;

	t->tid = 0;
	t->threads = 3;
	t->past_wall = 5000;
	t->past_cpu_ns = 900;
	c = read_with(x.f, NULL);
	thread = &process_of(c)->threads.items[0];
	CHECK_NS(thread->wall_ns, 2500);
	CHECK_NS(thread->cpu_ns, 900);
	CHECK_EQ(thread->threads, 3);
	CHECK_NS(thread->tail_ns, 0);
	call_paths_free(c);
	t->tid = 12; /* the next one has the record since */
	c = read_with(x.f, NULL);
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 2500 + 950);
	CHECK_NS(process_of(c)->threads.items[0].cpu_ns, 900 + 950);
	call_paths_free(c);
	free(x.f);
}

static void threads_make_one_tree(void)
{
	struct fx *f = fx_new();
	uint32_t one = fx_thread(f, 1, 100, 10), two = fx_thread(f, 2, 100, 20), a, b;
	struct call_paths *c;

	a = fx_node(f, one, fx_record(f, one)->root, 0x1000, 1, 100);
	b = fx_node(f, two, fx_record(f, two)->root, 0x1000, 2, 300);
	fx_node(f, two, b, 0x3000, 1, 40);
	fx_node_at(f, a)->min = fx_node_at(f, a)->max = 100;
	fx_node_at(f, b)->min = 80;
	fx_node_at(f, b)->max = 220;
	fx_record(f, one)->current = a;
	fx_record(f, two)->current = b;
	fx_header(f)->flags = ASSAY_CALLS_DEEP | ASSAY_CALLS_FORKED;
	c = read_with(f, NULL);
	CHECK_EQ(process_of(c)->flags, CALL_DEEP | CALL_FORKED);
	CHECK_EQ(process_of(c)->paths.count, 3);
	CHECK_EQ(process_of(c)->threads.count, 2);
	CHECK_EQ(PATH(c, 0x1000)->calls, 3);
	CHECK_NS(PATH(c, 0x1000)->net_ns, 200);
	CHECK_NS(PATH(c, 0x1000)->min_ns, 40);
	CHECK_NS(PATH(c, 0x1000)->max_ns, 110);
	CHECK_EQ(PATH(c, 0x1000)->open, 2);
	CHECK_NS(process_of(c)->threads.items[1].net_ns, 180);
	CHECK_EQ(PATH(c, 0x1000, 0x3000)->order, 2);
	/* A thread that has not followed the last reset has older extremes. */
	call_paths_free(c);
	fx_header(f)->epoch = 1;
	fx_record(f, two)->epoch = 1;
	c = read_with(f, NULL);
	CHECK_NS(PATH(c, 0x1000)->max_ns, 110);
	CHECK_NS(PATH(c, 0x1000)->min_ns, 40);
	call_paths_free(c);
	fx_record(f, one)->epoch = 1;
	fx_record(f, two)->epoch = 0;
	c = read_with(f, NULL);
	CHECK_NS(PATH(c, 0x1000)->max_ns, 50);
	call_paths_free(c);
	free(f);
}

static const struct call_function *function_at(const struct call_paths *c, uint64_t offset)
{
	const struct call_path *path = PATH(c, offset);

	return path ? &c->functions.items[path->function] : NULL;
}

static void addresses_find_their_images(void)
{
	struct fx *f = fx_new();
	uint32_t thread = fx_thread(f, 1, 100, 0), root = fx_record(f, thread)->root;
	struct call_paths *c;
	const struct call_function *at;

	fx_image(f, 0x500000, 0x600000, 0x1000, "/lib/new.so", false);
	fx_image(f, 0x500000, 0x540000, 0x2000, "/lib/gone.so", true);
	fx_image(f, 0x400000, 0x401000, 0, "/bin/prog", false);
	fx_image(f, 0x7f0000, 0x7f1000, 0, "[vdso]", false);
	fx_node(f, thread, root, 0x500010, 1, 0);
	fx_node(f, thread, root, 0x500010 | ASSAY_FN_GONE | 2ull << ASSAY_FN_IMAGE_SHIFT, 1, 0);
	fx_node(f, thread, root, 0x400ff0 | ASSAY_FN_LIBRARY, 1, 0);
	fx_node(f, thread, root, 0x401000 | ASSAY_FN_COUNTED, 1, 0);
	fx_node(f, thread, root, 0x7f0123, 1, 0);
	c = read_with(f, NULL);
	CHECK_EQ(process_of(c)->flags & CALL_DAMAGED, 0);
	at = function_at(c, 0x1010);
	CHECK(at && c->images.images.items[at->frame.image].kind == IMAGE_FILE);
	CHECK_STR(at ? image_path(&c->images, at->frame.image) : "", "/lib/new.so");
	at = function_at(c, 0x2010);
	CHECK_STR(at ? image_path(&c->images, at->frame.image) : "", "/lib/gone.so");
	at = function_at(c, 0xff0);
	CHECK(at && at->library && !at->counted);
	CHECK_STR(at ? image_path(&c->images, at->frame.image) : "", "/bin/prog");
	at = function_at(c, 0x401000); /* behind its last byte: no image's */
	CHECK(at && at->counted && c->images.images.items[at->frame.image].kind == IMAGE_ANON);
	at = function_at(c, 0x123);
	CHECK(at && c->images.images.items[at->frame.image].kind == IMAGE_VDSO);
	call_paths_free(c);
	/* the kernel's own */
	fx_header(f)->flags = ASSAY_CALLS_KERNEL;
	fx_node(f, thread, root, 0xffff81001000, 1, 0);
	c = read_with(f, NULL);
	at = function_at(c, 0xffffffff81001000);
	CHECK(at && c->images.images.items[at->frame.image].kind == IMAGE_KERNEL);
	call_paths_free(c);
	free(f);
}

static void inherited_and_called_is_one_path(void)
{
	struct fx *f = fx_new();
	uint32_t thread = fx_thread(f, 1, 100, 0), root = fx_record(f, thread)->root;
	uint32_t main_ = fx_node(f, thread, root, 0x1000 | ASSAY_FN_INHERITED, 0, 50);
	struct call_paths *c;

	fx_node(f, thread, root, 0x1000, 3, 70);
	fx_node(f, thread, main_, ASSAY_FN_OTHER, 2, 8);
	fx_record(f, thread)->current = main_;
	fx_header(f)->cost.inner = 10 * 1024;
	c = read_with(f, NULL);
	CHECK_EQ(process_of(c)->paths.count, 3);
	CHECK(PATH(c, 0x1000)->inherited);
	CHECK_EQ(PATH(c, 0x1000)->calls, 3);
	CHECK_EQ(PATH(c, 0x1000)->open, 1);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (50 + 70 - 3 * 10) / 2.0);
	CHECK_EQ(c->functions.items[process_of(c)->paths.items[2].function].kind, CALL_OTHER);
	call_paths_free(c);
	free(f);
}

/* ---- damage ------------------------------------------------------------- */

static void gaps_are_no_damage(void)
{
	struct abc x = abc_new();
	struct call_paths *c;
	uint32_t late;

	fx_header(x.f)->used_bytes += 3 * ASSAY_CALLS_PAGE; /* reserved, never begun */
	late = fx_chunk(x.f, ASSAY_CHUNK_NODES, x.thread, 1);
	*fx_node_at(x.f, late) = *fx_node_at(x.f, x.b);
	fx_node_at(x.f, late)->function = 0x9000;
	c = read_with(x.f, NULL);
	CHECK_EQ(process_of(c)->flags, 0);
	CHECK(PATH(c, 0x1000, 0x9000) != NULL);
	call_paths_free(c);
	free(x.f);
}

/* What makes no sense is left out, with all below it; the rest is as it was. */
static void nonsense_is_left_out(void)
{
	for (int what = 0; what < 8; what++) {
		struct abc x = abc_new();
		uint32_t c1 = fx_node(x.f, x.thread, x.b, 0x3000, 1, 1);
		uint32_t other = fx_thread(x.f, 2, 1900, 0);
		struct call_paths *c;

		if (what == 0) /* a cycle */
			fx_node_at(x.f, x.b)->parent = c1;
		else if (what == 1) /* itself */
			fx_node_at(x.f, x.b)->parent = x.b;
		else if (what == 2) /* nowhere */
			fx_node_at(x.f, x.b)->parent = 0x7fffffff;
		else if (what == 3) /* no node there */
			fx_node_at(x.f, x.b)->parent = x.thread;
		else if (what == 4) /* another thread's */
			fx_node_at(x.f, x.b)->parent = fx_record(x.f, other)->root;
		else if (what == 5) /* a root that is none */
			fx_node_at(x.f, x.b)->function = ASSAY_FN_OUTSIDE;
		else if (what == 6) /* in a thread that is none */
			fx_node_at(x.f, fx_chunk(x.f, ASSAY_CHUNK_NODES, 77, 1))->calls = 1;
		else
			fx_wait(x.f, x.thread, 0x7ffffff0 & 0xfff, 5, 5); /* of no node */
		c = read_with(x.f, NULL);
		CHECK_EQ(process_of(c)->flags, CALL_DAMAGED);
		CHECK(PATH(c, 0x1000) && PATH(c, 0x1000)->calls == 1);
		CHECK_EQ(process_of(c)->paths.count, what < 6 ? 2 : 4);
		call_paths_free(c);
		free(x.f);
	}
}

static void sizes_are_held_against_the_file(void)
{
	struct abc x = abc_new();
	struct assay_calls_chunk *nodes = fx_find(x.f, ASSAY_CHUNK_NODES, x.thread);
	struct call_paths *c = call_paths_new();
	struct error err = {0};
	size_t used, whole = fx_header(x.f)->used_bytes;

	nodes->used = UINT64_MAX;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "t", NULL, &used, &err), 0);
	CHECK_EQ(vec_last(&c->processes)->flags, CALL_DAMAGED);
	nodes->used = 3;
	nodes->bytes = 1ull << 62;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "t", NULL, &used, &err), 0);
	CHECK_EQ(vec_last(&c->processes)->flags, CALL_DAMAGED);
	CHECK_EQ(vec_last(&c->processes)->paths.count, 1);
	nodes->bytes = ASSAY_CALLS_PAGE;
	/* a file that is shorter than it says */
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole - 8, "t", NULL, &used, &err), 0);
	CHECK_EQ(vec_last(&c->processes)->flags, CALL_DAMAGED);
	CHECK_EQ(used, whole - 8);
	CHECK_STR(err.text, "");
	CHECK_EQ(calls_file_read(c, x.f->bytes, 4095, "NAME", NULL, &used, &err), -EINVAL);
	CHECK(strstr(err.text, "NAME: ") && strstr(err.text, "4095 bytes"));
	fx_header(x.f)->version = 9;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), -EINVAL);
	CHECK(strstr(err.text, "version 9") != NULL);
	fx_header(x.f)->version = ASSAY_CALLS_VERSION;
	fx_header(x.f)->header_bytes = 64;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), -EINVAL);
	CHECK(calls_file_is(x.f->bytes, 8) && !calls_file_is(x.f->bytes, 7));
	x.f->bytes[0] = 'B';
	CHECK(!calls_file_is(x.f->bytes, whole));
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), -EINVAL);
	call_paths_free(c);
	free(x.f);
}

/* ---- live tables and baselines ------------------------------------------ */

/* Blocked in b since its last event: 10 of 12 us, 1.5 on CPU, 0.5 waiting for one. */
static void the_time_since_the_last_event_is_told(void)
{
	struct abc x = abc_new();
	struct calls_thread_state clocks = {4711, 5000 + 950 + 1500, 500, true};
	struct calls_state state = {.running = true, .live = true, .threads = &clocks};
	const struct call_thread *t;
	struct call_paths *c;

	state.now = FX_BEGIN + 1900 + 24000;
	state.now_ns = 7000000; /* says nothing new of the rate */
	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	fx_record(x.f, x.thread)->current = x.b;
	c = read_with(x.f, &state); /* clocks not known: count 0 */
	t = &process_of(c)->threads.items[0];
	CHECK_EQ(process_of(c)->flags, CALL_RUNNING);
	CHECK_NS(t->tail_ns, 12000);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(t->cpu_residual_ns, 0);
	call_paths_free(c);
	state.thread_count = 1;
	c = read_with(x.f, &state);
	t = &process_of(c)->threads.items[0];
	CHECK_NS(t->tail_ns, 0);
	CHECK_NS(t->wall_ns, 950 + 12000);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(t->cpu_residual_ns, 0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 10000);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->preempted_ns, 500);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 9.5 * 10) / 2 + 1500);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_NS(process_of(c)->wall_ns, 950 + 12000);
	call_paths_free(c);
	/* It waited for a CPU 0.5 us: as it woke once, or since? It is blocked now: as it woke. */
	fx_wait(x.f, x.thread, x.a, 2000, 0);
	clocks.runs = false;
	c = read_with(x.f, &state);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 10500);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->preempted_ns, 0);
	call_paths_free(c);
	/* It ended before it was copied: there is no time since. */
	fx_header(x.f)->state = ASSAY_CALLS_EXITED;
	fx_header(x.f)->end_ticks = FX_BEGIN + 1900;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 950);
	call_paths_free(c);
	free(x.f);
}

/* The table as a reset leaves it: of a moment, with the clocks of its threads behind. */
static void *baseline(struct fx *f, uint64_t now, struct calls_thread_state clocks)
{
	struct fx *base = fx_new();
	struct assay_calls_clocks *raw;

	memcpy(base, f, sizeof(*f));
	raw = fx_unit(base, fx_chunk(base, ASSAY_CHUNK_CLOCKS, 0, 1));
	*raw = (struct assay_calls_clocks){
	        .tid = clocks.tid, .cpu_ns = clocks.cpu_ns, .runnable_ns = clocks.runnable_ns};
	fx_header(base)->latest = (struct assay_calls_moment){now, 8000000};
	return base;
}

static void a_baseline_is_taken_off(void)
{
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	uint64_t then = t->last + 24000; /* 12 us later, blocked in b all the time */
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {.running = true, .live = true, .threads = &clocks};
	struct call_paths *c;
	struct fx *base;

	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	t->current = x.b;
	fx_node_at(x.f, x.b)->min = 40;
	fx_node_at(x.f, x.b)->max = 60;
	base = baseline(x.f, then, clocks);
	fx_header(x.f)->epoch++;
	state.thread_count = 1;
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;

	/* at once: nothing, but b is open */
	state.now = then;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, CALL_RUNNING | CALL_RESET);
	CHECK_NS(process_of(c)->wall_ns, 0);
	CHECK_NS(process_of(c)->own_ns, 0);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->calls, 0);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, 0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 0);
	CHECK(isnan(PATH(c, 0x1000, 0x2000)->min_ns));
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 0);
	call_paths_free(c);

	/* 3 us later, still blocked */
	state.now = then + 6000;
	c = read_with(x.f, &state);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 3000);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	CHECK_NS(process_of(c)->wall_ns, 3000);
	call_paths_free(c);

	/* woken after 15 us in all, out of b, and into c for the first time */
	fx_wait(x.f, x.thread, x.b, 30000, 0);
	t->last += 30000 + 500;
	t->sync = t->last;
	t->sync_cpu_ns = 5950 + 250;
	fx_node_at(x.f, x.b)->net += 200;
	t->current = fx_node(x.f, x.thread, x.a, 0x3000, 1, 300);
	fx_node_at(x.f, x.b)->min = 90; /* restarted: the thread follows the epoch */
	fx_node_at(x.f, x.b)->max = 91;
	t->epoch = 1;
	clocks.cpu_ns = 5950 + 250;
	state.now = t->last;
	c = read_with(x.f, &state);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 3000);
	/* b ended its tenth call: the half of its cost that was not taken off before */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (200 - 5) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, 45.5);
	CHECK_EQ(PATH(c, 0x1000, 0x3000)->calls, 1);
	CHECK_EQ(process_of(c)->paths.count, 4);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_ns, 250);
	CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
	call_paths_free(c);
	free(base);
	free(x.f);
}

/* Killed without an event since the reset: nothing happened, and nothing is less than nothing. */
static void a_baseline_of_what_died_leaves_nothing(void)
{
	struct abc x = abc_new();
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {0};
	struct call_paths *c;
	struct fx *base;

	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	base = baseline(x.f, fx_record(x.f, x.thread)->last + 24000, clocks);
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, CALL_KILLED | CALL_RESET);
	CHECK_EQ(process_of(c)->paths.count, 1); /* what says nothing is left out */
	CHECK_NS(process_of(c)->paths.items[0].net_ns, 0);
	CHECK_NS(process_of(c)->paths.items[0].blocked_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	call_paths_free(c);
	fx_header(base)->pid = 1;
	c = call_paths_new();
	CHECK_EQ(calls_file_read(c, x.f->bytes, FX_BYTES, "t", &state, NULL, NULL), -EINVAL);
	call_paths_free(c);
	free(base);
	free(x.f);
}

/* ---- recordings --------------------------------------------------------- */

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.001;
}

static void compare_paths(const struct call_paths *a, const struct call_process *p,
                          const struct call_paths *b, const struct call_process *q)
{
	CHECK_EQ(p->paths.count, q->paths.count);
	for (size_t i = 0; i < p->paths.count && i < q->paths.count; i++) {
		const struct call_path *x = &p->paths.items[i], *y = &q->paths.items[i];
		const struct call_function *f = &a->functions.items[x->function];
		const struct call_function *g = &b->functions.items[y->function];

		CHECK(x->parent == y->parent && x->calls == y->calls && x->open == y->open &&
		      x->order == y->order && x->inherited == y->inherited &&
		      x->blocked_count == y->blocked_count &&
		      x->preempted_count == y->preempted_count);
		CHECK(same(x->net_ns, y->net_ns) && same(x->net_error_ns, y->net_error_ns) &&
		      same(x->blocked_ns, y->blocked_ns) &&
		      same(x->preempted_ns, y->preempted_ns) && same(x->min_ns, y->min_ns) &&
		      same(x->max_ns, y->max_ns));
		CHECK(f->kind == g->kind && f->library == g->library && f->counted == g->counted &&
		      f->line == g->line);
		CHECK_STR(intern_text(&b->images.names, g->name),
		          intern_text(&a->images.names, f->name));
		CHECK_STR(intern_text(&b->images.names, g->file),
		          intern_text(&a->images.names, f->file));
		CHECK_STR(image_path(&b->images, g->frame.image),
		          image_path(&a->images, f->frame.image));
		CHECK_EQ(b->images.images.items[g->frame.image].kind,
		         a->images.images.items[f->frame.image].kind);
		if (a->images.images.items[f->frame.image].kind != IMAGE_NAME)
			CHECK_EQ(g->frame.offset, f->frame.offset);
	}
}

static void compare_threads(const struct call_paths *a, const struct call_process *p,
                            const struct call_paths *b, const struct call_process *q)
{
	CHECK_EQ(p->threads.count, q->threads.count);
	for (size_t i = 0; i < p->threads.count && i < q->threads.count; i++) {
		const struct call_thread *x = &p->threads.items[i], *y = &q->threads.items[i];

		CHECK(x->tid == y->tid && x->threads == y->threads);
		CHECK_STR(intern_text(&b->images.names, y->name),
		          intern_text(&a->images.names, x->name));
		CHECK(same(x->wall_ns, y->wall_ns) && same(x->cpu_ns, y->cpu_ns) &&
		      same(x->net_ns, y->net_ns) && same(x->own_ns, y->own_ns) &&
		      same(x->blocked_ns, y->blocked_ns) &&
		      same(x->preempted_ns, y->preempted_ns) && same(x->tail_ns, y->tail_ns) &&
		      same(x->cpu_residual_ns, y->cpu_residual_ns) &&
		      same(x->wall_residual_ns, y->wall_residual_ns));
	}
}

static void compare(const struct call_paths *a, const struct call_paths *b)
{
	CHECK_EQ(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count && i < b->processes.count; i++) {
		const struct call_process *p = &a->processes.items[i], *q = &b->processes.items[i];

		CHECK_STR(intern_text(&b->images.names, q->name),
		          intern_text(&a->images.names, p->name));
		CHECK_STR(intern_text(&b->images.names, q->command),
		          intern_text(&a->images.names, p->command));
		CHECK(p->pid == q->pid && p->parent == q->parent && p->birth == q->birth &&
		      p->start_ns == q->start_ns && p->flags == q->flags &&
		      p->table_bytes == q->table_bytes && p->lost_events == q->lost_events &&
		      p->other_calls == q->other_calls && p->resyncs == q->resyncs &&
		      p->unmatched_exits == q->unmatched_exits && p->deferred == q->deferred);
		CHECK(same(p->wall_ns, q->wall_ns) && same(p->own_ns, q->own_ns) &&
		      same(p->own_error_ns, q->own_error_ns) && same(p->inner_ns, q->inner_ns) &&
		      same(p->outer_ns, q->outer_ns));
		compare_paths(a, p, b, q);
		compare_threads(a, p, b, q);
	}
}

/* Every column has a value of its own, of each sign where it may have one. */
static void fill(struct call_paths *c, uint32_t number, double unit)
{
	static const enum image_kind kinds[] = {IMAGE_FILE, IMAGE_KERNEL, IMAGE_MODULE, IMAGE_VDSO,
	                                        IMAGE_ANON, IMAGE_NAME,   IMAGE_UNKNOWN};
	uint32_t id = call_paths_process(c, number ? "second" : "", (int32_t)number + 5);
	struct call_process *p = &c->processes.items[id];
	char name[700];
	uint32_t at = 0;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	p->command = intern_add(&c->images.names, name); /* longer than a header has room for */
	p->parent = 3;
	p->birth = 1ull << 40 | number;
	p->start_ns = 1ull << 60;
	p->flags = CALL_FULL | CALL_STACKS | (number ? CALL_KILLED | CALL_RESET : CALL_MOVED);
	p->wall_ns = 1e9 * unit;
	p->own_ns = -2.25 * unit;
	p->own_error_ns = 0.5;
	p->inner_ns = 7.125;
	p->outer_ns = 3.0625;
	p->lost_events = 1;
	p->other_calls = 2;
	p->unmatched_exits = 3;
	p->resyncs = 4;
	p->deferred = 5;
	p->table_bytes = 123456789;
	for (uint32_t i = 0; i < 14; i++) {
		struct image image = {.kind = kinds[i % 7], .inode = 9, .major = 8, .minor = 1};
		struct call_function f = {.library = i % 2, .counted = i % 3 == 1, .line = i};
		struct call_path *path;

		snprintf(name, sizeof(name), "/image/%u", i % 7);
		image.path = intern_add(&c->images.names,
		                        image.kind == IMAGE_UNKNOWN ? "[unknown]" : name);
		if (image.kind == IMAGE_UNKNOWN)
			image = c->images.images.items[0];
		image.base = image.kind == IMAGE_MODULE ? 0xffffffffc0000000 : 0;
		snprintf(name, sizeof(name), "function %u", i);
		f.name = i % 4 == 3 && image.kind != IMAGE_NAME
		                 ? 0
		                 : intern_add(&c->images.names, name);
		f.file = i % 2 ? intern_add(&c->images.names, "shared.c") : 0;
		f.frame.image = image_table_add(&c->images, &image);
		f.frame.offset = image.kind == IMAGE_NAME     ? f.name
		                 : image.kind == IMAGE_KERNEL ? 0xffffffff81000000 + i
		                                              : i;
		if (i == 13)
			f = (struct call_function){.kind = CALL_INTERRUPT};
		at = call_path_child(p, i % 5 ? at : 0, call_paths_function(c, &f));
		path = &p->paths.items[at];
		path->calls = 1ull << 55 | i;
		path->net_ns = (i % 2 ? -1.5 : 1e6 / 3) * unit * i;
		path->net_error_ns = i * unit / 7;
		path->blocked_ns = i % 3 * 1e5 * unit;
		path->preempted_ns = i % 4 * 1e5 * unit;
		path->blocked_count = i % 3;
		path->preempted_count = i % 4;
		path->open = i % 2 * 3;
		path->inherited = i % 3 == 2;
		if (i % 2)
			call_path_range(path, -3.5 * unit, i * 10 * unit);
	}
	for (int i = 0; i < 40; i++) /* more than a page of them */
		vec_push(&p->threads, (struct call_thread){.tid = i,
		                                           .name = p->name,
		                                           .threads = 2,
		                                           .wall_ns = 1e9 * unit,
		                                           .cpu_ns = i % 2 ? NAN : 5e8 * unit,
		                                           .net_ns = 4e8 * unit + i,
		                                           .own_ns = 1e7,
		                                           .blocked_ns = 1e3,
		                                           .preempted_ns = 1e2,
		                                           .tail_ns = 10,
		                                           .cpu_residual_ns = i % 2 ? NAN : -7,
		                                           .wall_residual_ns = -1.25});
}

static void a_recording_gives_back_what_was_written(void)
{
	struct call_paths *c = call_paths_new(), *again = call_paths_new();
	struct buf out = {0};
	struct error err = {0};
	char path[] = "/tmp/assay-calls-XXXXXX";
	int fd = mkstemp(path);

	CHECK_EQ(calls_file_write(c, &out, &err), -EINVAL); /* nothing to write */
	fill(c, 0, 1);
	fill(c, 1, 1);
	call_paths_close(c);
	CHECK_EQ(calls_file_write(c, &out, &err), 0);
	CHECK_EQ(out.size % ASSAY_CALLS_PAGE, 0);
	CHECK(write(fd, out.data, out.size) == (ssize_t)out.size);
	CHECK_EQ(calls_file_load(again, path, &err), 0);
	call_paths_close(again);
	compare(c, again);
	CHECK_NS(again->processes.items[1].paths.items[0].total_ns,
	         c->processes.items[1].paths.items[0].total_ns);
	call_paths_free(again);

	/* Room that was reserved may follow; anything else is damage, and the rest is read. */
	again = call_paths_new();
	CHECK(!ftruncate(fd, (off_t)out.size + 5000));
	CHECK_EQ(calls_file_load(again, path, &err), 0);
	compare(c, again);
	call_paths_free(again);
	again = call_paths_new();
	CHECK(pwrite(fd, "x", 1, (off_t)out.size + 77) == 1);
	CHECK_EQ(calls_file_load(again, path, &err), 0);
	CHECK_EQ(again->processes.count, 2);
	CHECK_EQ(again->processes.items[0].flags & CALL_DAMAGED, 0);
	CHECK(again->processes.items[1].flags & CALL_DAMAGED);
	call_paths_free(again);

	close(fd);
	unlink(path);
	CHECK_EQ(calls_file_load(c, path, &err), -ENOENT);
	CHECK(strstr(err.text, path) != NULL);
	buf_done(&out);
	call_paths_free(c);
}

/* Decades of a thousand threads: ticks are coarser, and nothing overflows. */
static void long_times_fit(void)
{
	struct call_paths *c = call_paths_new(), *again = call_paths_new();
	const struct call_path *a, *b;
	struct buf out = {0};
	size_t used;

	fill(c, 0, 1e9);
	CHECK_EQ(calls_file_write(c, &out, NULL), 0);
	CHECK_EQ(calls_file_read(again, out.data, out.size, "t", NULL, &used, NULL), 0);
	CHECK_EQ(used, out.size);
	a = c->processes.items[0].paths.items;
	b = again->processes.items[0].paths.items;
	for (int i = 0; i < 14; i++)
		CHECK(fabs(a[i].net_ns - b[i].net_ns) <=
		      1e-12 * fabs(c->processes.items[0].wall_ns));
	CHECK(fabs(again->processes.items[0].wall_ns / 1e18 - 1) < 1e-12);
	buf_done(&out);
	call_paths_free(c);
	call_paths_free(again);
}

/* A live table, compensated, comes out of a recording as it was. */
static void tables_become_recordings(void)
{
	struct abc x = abc_new();
	struct call_paths *c, *again = call_paths_new();
	struct buf out = {0};

	fx_wait(x.f, x.thread, x.b, 4000, 600);
	fx_record(x.f, x.thread)->current = x.b;
	c = read_with(x.f, NULL);
	CHECK_EQ(calls_file_write(c, &out, NULL), 0);
	CHECK_EQ(calls_file_read(again, out.data, out.size, "t", NULL, NULL, NULL), 0);
	compare(c, again);
	buf_done(&out);
	call_paths_free(c);
	call_paths_free(again);
	free(x.f);
}

int main(void)
{
	RUN(costs_are_taken_off);
	RUN(nothing_is_clamped);
	RUN(the_range_moves_with_the_mean);
	RUN(double_readings_correct_costs);
	RUN(costs_follow_the_callees_length);
	RUN(open_calls_are_known);
	RUN(waiting_is_apart_and_books_close);
	RUN(ended_threads_keep_their_time);
	RUN(threads_make_one_tree);
	RUN(addresses_find_their_images);
	RUN(inherited_and_called_is_one_path);
	RUN(gaps_are_no_damage);
	RUN(nonsense_is_left_out);
	RUN(sizes_are_held_against_the_file);
	RUN(the_time_since_the_last_event_is_told);
	RUN(a_baseline_is_taken_off);
	RUN(a_baseline_of_what_died_leaves_nothing);
	RUN(a_recording_gives_back_what_was_written);
	RUN(long_times_fit);
	RUN(tables_become_recordings);
	return check_end();
}
