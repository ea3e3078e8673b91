/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_history: names of generated code, which processes write while they run. */
#include "check.h"
#include "image/jit_code.h"
#include "profile/profile_history.h"
#include "profile/profile_windows.h"

#include <string.h>

#define PERIOD UINT64_C(1000000)
#define START UINT64_C(5000000000)
#define CODE 0x700000000000u

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	profile_history_add(ctx, p, w->start_ns, w->end_ns);
	return 0;
}

static struct event event_of(enum event_kind kind, uint64_t time_ns)
{
	return (struct event){.kind = kind,
	                      .pid = 10,
	                      .tid = 10,
	                      .time_ns = time_ns,
	                      .mode = CPU_MODE_USER,
	                      .attr = EVENT_NO_ATTR};
}

static void describe(struct recording *r)
{
	struct recording_attr *a;

	recording_init(r);
	a = vec_add(&r->attrs);
	a->name = xstrdup("cpu-clock");
	a->role = ATTR_CLOCK;
	a->period = a->period_ns = PERIOD;
}

/* The process wrote the names of so many functions. */
static struct jit_code *generate(void *ctx, const struct process_jit_request *request,
                                 struct jit_code *code)
{
	static const char *const names[] = {"first", "second"};
	const size_t *written = ctx;
	struct jit_entry e = {.size = 64};

	for (size_t i = code->entries.count; i < *written && i < 2; i++) {
		e.address = CODE + 64 * i;
		e.name = names[i];
		jit_code_happened(code, 0, e.address, e.size, jit_code_add(code, &e));
	}
	jit_code_finish(code);
	return code;
}

static struct jit_code *find_generated(void *ctx, const struct process_jit_request *request)
{
	return generate(ctx, request, jit_code_new());
}

static void give_code(struct event_sink *sink, uint64_t time_ns, uint64_t address)
{
	struct event e = event_of(EVENT_SAMPLE, time_ns);
	struct error err = {0};

	e.attr = 0;
	e.sample.ip = address;
	e.sample.period = PERIOD;
	CHECK_EQ(sink->event(sink->ctx, &e, &err), 0);
}

/* Samples in the function, by the names of all images with generated code. */
static uint64_t samples_in(const struct profile *p, const char *name)
{
	uint64_t samples = 0;

	vec_each (row, &p->rows) {
		struct frame f = p->frames.items[p->paths.items[row->path].frame].frame;
		const struct image *image = &p->images.images.items[f.image];

		if (image->kind == IMAGE_JIT &&
		    !strcmp(image->jit->entries.items[f.offset >> 32].name, name))
			samples += row->samples;
	}
	return samples;
}

static void check_generated(bool renews)
{
	size_t written = 0;
	struct profile_history *history = profile_history_new();
	struct profile_windows_options o = {.window_ns = 100 * PERIOD,
	                                    .start_ns = START,
	                                    .window = on_window,
	                                    .ctx = history,
	                                    .jit = find_generated,
	                                    .jit_again = generate,
	                                    .jit_ctx = &written};
	struct profile_windows *w;
	struct event_sink sink;
	struct event e = event_of(EVENT_MMAP, START);
	struct error err = {0};
	struct profile *p;
	struct recording r;
	unsigned images = 0;

	o.images_max = renews ? 1 : 0;
	w = profile_windows_new(&o);
	sink = profile_windows_sink(w);
	describe(&r);
	CHECK_EQ(sink.begin(sink.ctx, &r, &err), 0);
	e.mmap.addr = CODE;
	e.mmap.size = 4096;
	e.mmap.filename = "//anon";
	e.mmap.executable = true;
	CHECK_EQ(sink.event(sink.ctx, &e, &err), 0);
	for (uint64_t i = 1; i <= 4; i++) {
		written++;
		profile_windows_names(w);
		give_code(&sink, START + i * 100 * PERIOD - 20, CODE + 64 * (i < 3) + i);
		give_code(&sink, START + i * 100 * PERIOD - 10, CODE + 200);
		CHECK_EQ(profile_windows_cut(w, START + i * 100 * PERIOD, &err), 0);
	}
	p = profile_history_select(history, 0, &r);
	CHECK_EQ(samples_in(p, "first"), 2);
	CHECK_EQ(samples_in(p, "second"), 1); /* the first time, it had no name yet */
	vec_each (image, &p->images.images) {
		images += image->kind == IMAGE_JIT;
		CHECK(image->kind != IMAGE_JIT || image->jit->entries.count == 2);
		CHECK(image->kind != IMAGE_ANON || image->generated);
	}
	CHECK_EQ(images, 1);
	profile_history_free(history);
	profile_windows_free(w);
	recording_done(&r);
}

/* If the tables of windows are renewed, the history has its own copy of the names. */
static void a_history_keeps_names_of_generated_code(void)
{
	check_generated(false);
	check_generated(true);
}

int main(void)
{
	RUN(a_history_keeps_names_of_generated_code);
	return check_end();
}
