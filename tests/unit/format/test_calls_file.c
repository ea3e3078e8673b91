/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of call paths with figures that can be computed by hand: paths, waiting, accounts, damage.
 */
#include "calls_file_fixture.h"

#include <errno.h>

static void open_calls_are_known(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	fx_record(x.f, x.thread)->current = x.b;
	fx_header(x.f)->state = ASSAY_CALLS_RUNNING; /* killed */
	c = read_with(x.f, NULL);
	CHECK_EQ(process_of(c)->flags, CALL_END_UNKNOWN);
	CHECK_EQ(PATH(c, 0x1000)->open, 1);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_EQ(process_of(c)->paths.items[0].open, 0);
	/* The tenth call of b and the call of a have only their entry events. */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 9.5 * 10) / 2);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 5 - 9.5 * 6) / 2);
	call_paths_free(c);
	/* a coroutine's stack that is suspended within a */
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
	/*
	 * The CPU clock, read 30 ns of CPU time before the last event, was 10 ns ahead of the sum.
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
	/* The end has no event: the time before it is in no path. */
	fx_header(x.f)->end_ticks += 50;
	c = read_with(x.f, NULL);
	thread = &process_of(c)->threads.items[0];
	CHECK_NS(thread->tail_ns, 25);
	CHECK_NS(thread->wall_residual_ns, 0);
	call_paths_free(c);
	/* A wrong reading causes a residual, because no term is computed as a remainder. */
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
	t->tid = 12; /* a later thread uses the record */
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
	CHECK(PATH(c, 0x1000, 0x3000) == &process_of(c)->paths.items[2]);
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
	at = function_at(c, 0x401000); /* after its last byte: in no image */
	CHECK(at && at->counted && c->images.images.items[at->frame.image].kind == IMAGE_ANON);
	at = function_at(c, 0x123);
	CHECK(at && c->images.images.items[at->frame.image].kind == IMAGE_VDSO);
	call_paths_free(c);
	/* the kernel's table */
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

	fx_header(x.f)->used_bytes += 3 * ASSAY_CALLS_PAGE; /* reserved and unused */
	late = fx_chunk(x.f, ASSAY_CHUNK_NODES, x.thread, 1);
	*fx_node_at(x.f, late) = *fx_node_at(x.f, x.b);
	fx_node_at(x.f, late)->function = 0x9000;
	c = read_with(x.f, NULL);
	CHECK_EQ(process_of(c)->flags, 0);
	CHECK(PATH(c, 0x1000, 0x9000) != NULL);
	call_paths_free(c);
	free(x.f);
}

/* An invalid node is skipped with all nodes below it; the rest is unchanged. */
static void nonsense_is_left_out(void)
{
	for (int what = 0; what < 8; what++) {
		struct abc x = abc_new();
		uint32_t c1 = fx_node(x.f, x.thread, x.b, 0x3000, 1, 1);
		uint32_t other = fx_thread(x.f, 2, 1900, 0);
		struct call_paths *c;

		if (what == 0) /* a cycle */
			fx_node_at(x.f, x.b)->parent = c1;
		else if (what == 1) /* its own parent */
			fx_node_at(x.f, x.b)->parent = x.b;
		else if (what == 2) /* beyond the table */
			fx_node_at(x.f, x.b)->parent = 0x7fffffff;
		else if (what == 3) /* no node at this unit */
			fx_node_at(x.f, x.b)->parent = x.thread;
		else if (what == 4) /* of another thread */
			fx_node_at(x.f, x.b)->parent = fx_record(x.f, other)->root;
		else if (what == 5) /* a root that is not its own parent */
			fx_node_at(x.f, x.b)->function = ASSAY_FN_OUTSIDE;
		else if (what == 6) /* of a thread that does not exist */
			fx_node_at(x.f, fx_chunk(x.f, ASSAY_CHUNK_NODES, 77, 1))->calls = 1;
		else
			fx_wait(x.f, x.thread, 0x7ffffff0 & 0xfff, 5, 5); /* of a missing node */
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
	/* a file that is shorter than its header declares */
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole - 8, "t", NULL, &used, &err), 0);
	CHECK_EQ(vec_last(&c->processes)->flags, CALL_DAMAGED);
	CHECK_EQ(used, whole - 8);
	CHECK_STR(err.text, "");
	CHECK_EQ(calls_file_read(c, x.f->bytes, 4095, "NAME", NULL, &used, &err), -EINVAL);
	CHECK(strstr(err.text, "NAME: ") && strstr(err.text, "4095 bytes"));
	fx_header(x.f)->version = 9;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), -EINVAL);
	CHECK(strstr(err.text, "version 9") != NULL);
	fx_header(x.f)->version = 0;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), -EINVAL);
	fx_header(x.f)->version = 1;
	CHECK_EQ(calls_file_read(c, x.f->bytes, whole, "NAME", NULL, &used, &err), 0);
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

int main(void)
{
	RUN(open_calls_are_known);
	RUN(waiting_is_apart_and_books_close);
	RUN(ended_threads_keep_their_time);
	RUN(threads_make_one_tree);
	RUN(addresses_find_their_images);
	RUN(inherited_and_called_is_one_path);
	RUN(gaps_are_no_damage);
	RUN(nonsense_is_left_out);
	RUN(sizes_are_held_against_the_file);
	return check_end();
}
