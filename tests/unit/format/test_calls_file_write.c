/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording contains the figures that were written to it.
 */
#include "calls_file_fixture.h"

#include <errno.h>
#include <unistd.h>

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.001;
}

static void compare_times(const struct call_times *a, const struct call_times *b)
{
	CHECK_EQ(!a, !b);
	if (!a || !b)
		return;
	CHECK_EQ(a->timed, b->timed);
	CHECK_EQ(a->squares, b->squares);
	CHECK_EQ(a->missed, b->missed);
	CHECK_EQ(a->buckets.count, b->buckets.count);
	for (size_t i = 0; i < a->buckets.count && i < b->buckets.count; i++) {
		CHECK_EQ(a->buckets.items[i].bucket, b->buckets.items[i].bucket);
		CHECK_EQ(a->buckets.items[i].count, b->buckets.items[i].count);
	}
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
		      x->inherited == y->inherited && x->blocked_count == y->blocked_count &&
		      x->preempted_count == y->preempted_count);
		CHECK(same(x->net_ns, y->net_ns) && same(x->net_error_ns, y->net_error_ns) &&
		      same(x->blocked_ns, y->blocked_ns) &&
		      same(x->preempted_ns, y->preempted_ns) && same(x->min_ns, y->min_ns) &&
		      same(x->max_ns, y->max_ns));
		compare_times(call_path_times_of(p, (uint32_t)i),
		              call_path_times_of(q, (uint32_t)i));
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
		      p->unmatched_exits == q->unmatched_exits && p->deferred == q->deferred &&
		      p->uncounted == q->uncounted);
		CHECK(same(p->wall_ns, q->wall_ns) && same(p->own_ns, q->own_ns) &&
		      same(p->own_error_ns, q->own_error_ns) && same(p->inner_ns, q->inner_ns) &&
		      same(p->outer_ns, q->outer_ns));
		compare_paths(a, p, b, q);
		compare_threads(a, p, b, q);
	}
}

/* Durations of all sizes; those of other paths are in several items or in none. */
static void fill_times(struct call_times *t, uint32_t number)
{
	t->timed = number * 7;
	t->squares = number * 4096;
	t->missed = number;
	for (uint32_t i = 0; i < 60; i += 1 + number % 5)
		call_times_count(t, ldexp(1 + i % 7 / 7.0, (int)i % 30), i + 1);
}

/* The n-th function; each has another kind of image. */
static struct call_function function_of(struct call_paths *c, uint32_t i)
{
	static const enum image_kind kinds[] = {IMAGE_FILE, IMAGE_KERNEL, IMAGE_MODULE, IMAGE_VDSO,
	                                        IMAGE_ANON, IMAGE_NAME,   IMAGE_UNKNOWN};
	char name[40];
	struct image image = {.kind = kinds[i % 7], .inode = 9, .major = 8, .minor = 1};
	struct call_function f = {.library = i % 2, .counted = i % 3 == 1, .line = i};

	snprintf(name, sizeof(name), "/image/%u", i % 7);
	image.path = intern_add(&c->images.names, image.kind == IMAGE_UNKNOWN ? "[unknown]" : name);
	if (image.kind == IMAGE_UNKNOWN)
		image = c->images.images.items[0];
	image.base = image.kind == IMAGE_MODULE ? 0xffffffffc0000000 : 0;
	snprintf(name, sizeof(name), "function %u", i);
	f.name = i % 4 == 3 && image.kind != IMAGE_NAME ? 0 : intern_add(&c->images.names, name);
	f.file = i % 2 ? intern_add(&c->images.names, "shared.c") : 0;
	f.frame.image = image_table_add(&c->images, &image);
	f.frame.offset = image.kind == IMAGE_NAME     ? f.name
	                 : image.kind == IMAGE_KERNEL ? 0xffffffff81000000 + i
	                                              : i;
	if (i == 13)
		f = (struct call_function){.kind = CALL_INTERRUPT};
	return f;
}

static void fill_path(struct call_process *p, uint32_t at, uint32_t i, double unit)
{
	struct call_path *path = &p->paths.items[at];

	if (i % 3)
		fill_times(call_path_times(p, at), i);
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

static void fill_threads(struct call_process *p, double unit)
{
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

/* Each column has a different value, with each sign that it may have. */
static void fill(struct call_paths *c, uint32_t number, double unit)
{
	uint32_t id = call_paths_process(c, number ? "second" : "", (int32_t)number + 5);
	struct call_process *p = &c->processes.items[id];
	char name[700];
	uint32_t at = 0;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	p->command = intern_add(&c->images.names, name); /* longer than the space in a header */
	p->parent = 3;
	p->birth = 1ull << 40 | number;
	p->start_ns = 1ull << 60;
	p->flags = CALL_FULL | CALL_STACKS |
	           (number ? CALL_KILLED | CALL_RESET : CALL_MOVED | CALL_UNCOUNTED);
	p->uncounted = number ? 0 : 6;
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
		struct call_function f = function_of(c, i);

		at = call_path_child(p, i % 5 ? at : 0, call_paths_function(c, &f));
		fill_path(p, at, i, unit);
	}
	fill_threads(p, unit);
}

static void a_recording_is_read_as_it_was_written(void)
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

	/*
	 * Reserved space may follow; other bytes are damage, and the tables before them are read.
	 */
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

/* Decades of a thousand threads: ticks are coarser, without overflow. */
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

/* A compensated live table has the same figures in a recording. */
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
	RUN(a_recording_is_read_as_it_was_written);
	RUN(long_times_fit);
	RUN(tables_become_recordings);
	return check_end();
}
