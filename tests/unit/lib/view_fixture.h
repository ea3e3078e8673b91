/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_fixture: a small profile by hand, whose every figure is known.
 *
 * Two CPUs, one tick a millisecond, 100 samples, one wait of 30 ms:
 *
 *	CPU 0, 60 ms  cc1#1 user 40, syscall 10, fault 5; 5 ticks missing, 2 ms stolen
 *	CPU 1, 50 ms  cc1#2 user 20, sh user 5, hit by 4 softirqs and 1 hard
 *	              interrupt; 18 ms idle, in which 15 ticks came, one in an interrupt
 *
 * 110 ms = user 65 + kernel 15 + irq 5 + idle 18 + steal 2 + unobserved 3 +
 * residual 2.
 */
#ifndef ASSAY_TESTS_VIEW_FIXTURE_H
#define ASSAY_TESTS_VIEW_FIXTURE_H

#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "view/samples/report.h"

#include <stdarg.h>

#define MS 1000000

struct fixture {
	struct profile *profile;
	struct symbolizer *symbols;
	uint32_t program, kernel;                    /* images */
	uint32_t swapper, sh, cc1_first, cc1_second; /* threads */
	enum stack_end stack_end;                    /* of the next rows */
};

static uint32_t fixture_process(struct profile *p, const char *name, int32_t pid)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = pid, .time_ns = 1};

	e.comm.name = name;
	e.comm.exec = true;
	process_table_event(p->processes, &e);
	return process_table_thread(p->processes, pid, pid);
}

/* Frames outermost first; frames after "|" belong to the kernel. Ends with NULL. */
static uint32_t fixture_path(struct fixture *f, ...)
{
	uint32_t node = PATH_ROOT;
	bool kernel = false;
	const char *name;
	va_list ap;

	va_start(ap, f);
	while ((name = va_arg(ap, const char *))) {
		struct profile_frame frame = {0};

		if (!strcmp(name, "|")) {
			kernel = true;
			continue;
		}
		frame.kernel = kernel;
		frame.frame.image = kernel ? f->kernel : f->program;
		frame.frame.offset = intern_add(&f->profile->images.names, name);
		node = profile_path_add(f->profile, node, profile_frame_add(f->profile, &frame));
	}
	va_end(ap);
	return node;
}

static void fixture_row(struct fixture *f, uint32_t path, uint32_t thread, uint16_t cpu,
                        enum profile_mode mode, uint64_t samples)
{
	struct profile_row key = {.path = path,
	                          .thread = thread,
	                          .region = REGION_NONE,
	                          .cpu = cpu,
	                          .mode = (uint8_t)mode,
	                          .stack_end = (uint8_t)f->stack_end};
	struct profile_row *row = profile_row_add(f->profile, &key);

	row->samples += samples;
	row->weight += samples * MS;
	f->profile->events.items[0].samples += samples;
	f->profile->events.items[0].weight += samples * MS;
}

static void fixture_wait(struct fixture *f, uint32_t path, uint32_t thread, uint64_t runnable_ms,
                         uint64_t blocked_ms)
{
	struct profile_row key = {.path = path,
	                          .thread = thread,
	                          .region = REGION_NONE,
	                          .event = 1,
	                          .mode = PROFILE_KERNEL};
	struct profile_row *row = profile_row_add(f->profile, &key);

	row->samples++;
	row->runnable_ns += runnable_ms * MS;
	row->blocked_ns += blocked_ms * MS;
	f->profile->events.items[1].samples++;
}

static void fixture_events(struct profile *p)
{
	struct profile_event clock = {.name = xstrdup("cpu-clock"),
	                              .role = ATTR_CLOCK,
	                              .period_ns = MS,
	                              .frequency_hz = 1000,
	                              .callchain = true,
	                              .user_callchain = true};
	struct profile_event switches = {
	        .name = xstrdup("context-switches"), .role = ATTR_SWITCH, .callchain = true};

	vec_push(&p->events, clock);
	vec_push(&p->events, switches);
}

static void fixture_ledger(struct profile *p)
{
	struct ledger_cpu first = {.cpu = 0,
	                           .period_ns = MS,
	                           .wall_ns = 60 * MS,
	                           .busy_ns = 60 * MS,
	                           .has_switches = true,
	                           .ticks_due_busy = 60,
	                           .ticks_seen_busy = 55,
	                           .weight_busy = 55 * MS,
	                           .steal_ns = 2 * MS,
	                           .has_steal = true};
	struct ledger_cpu second = {.cpu = 1,
	                            .period_ns = MS,
	                            .wall_ns = 50 * MS,
	                            .busy_ns = 32 * MS,
	                            .idle_ns = 18 * MS,
	                            .has_switches = true,
	                            .ticks_due_busy = 30,
	                            .ticks_seen_busy = 30,
	                            .ticks_due_idle = 18,
	                            .ticks_seen_idle = 15,
	                            .weight_busy = 30 * MS,
	                            .weight_idle = 15 * MS,
	                            .has_steal = true};

	p->ledger.machine_wide = true;
	vec_push(&p->ledger.cpus, first);
	vec_push(&p->ledger.cpus, second);
}

static void fixture_rows(struct fixture *f)
{
	uint32_t c1 = f->cc1_first, c2 = f->cc1_second;

	f->stack_end = STACK_WHOLE;
	fixture_row(f, fixture_path(f, "main", "work", "hot", NULL), c1, 0, PROFILE_USER, 40);
	f->stack_end = STACK_STITCHED;
	fixture_row(f, fixture_path(f, "main", "work", NULL), c2, 1, PROFILE_USER, 20);
	f->stack_end = STACK_CUT_COPY;
	fixture_row(
	        f, fixture_path(f, "main", "|", "entry_SYSCALL_64_after_hwframe", "vfs_read", NULL),
	        c1, 0, PROFILE_KERNEL, 10);
	f->stack_end = STACK_NO_TABLE;
	fixture_row(
	        f,
	        fixture_path(f, "main", "work", "|", "asm_exc_page_fault", "handle_mm_fault", NULL),
	        c1, 0, PROFILE_KERNEL, 5);
	f->stack_end = STACK_END_UNKNOWN;
	fixture_row(f, fixture_path(f, "main", NULL), f->sh, 1, PROFILE_USER, 5);
	fixture_row(f,
	            fixture_path(f, "main", "|", "asm_sysvec_apic_timer_interrupt", "__do_softirq",
	                         "net_rx_action", NULL),
	            f->sh, 1, PROFILE_KERNEL, 4);
	fixture_row(f, fixture_path(f, "main", "|", "asm_sysvec_apic_timer_interrupt", NULL), f->sh,
	            1, PROFILE_KERNEL, 1);
	fixture_row(f, fixture_path(f, "|", "cpu_startup_entry", "default_idle", NULL), f->swapper,
	            1, PROFILE_IDLE, 14);
	fixture_row(
	        f,
	        fixture_path(f, "|", "cpu_startup_entry", "asm_sysvec_apic_timer_interrupt", NULL),
	        f->swapper, 1, PROFILE_IDLE, 1);
}

static void fixture_init(struct fixture *f, bool waits)
{
	struct symbol_options none = {0};
	struct recording *r = xcalloc(1, sizeof(*r));
	struct profile *p = f->profile = profile_new();

	recording_init(r);
	r->path = xstrdup("hand.data");
	r->cmdline = xstrdup("assay record -a");
	r->samples = 100;
	r->account.present = r->account.machine_wide = true;
	r->account.end_ns = 55 * MS;
	r->account.observer_cpu_ns = MS;
	r->account.observer_bytes = 12345;
	r->account.observer_pid = 10;
	vec_push(&p->recordings, r);
	f->program = image_table_named(&p->images, IMAGE_NAME, "/usr/bin/prog");
	f->kernel = image_table_named(&p->images, IMAGE_NAME, "[kernel]");
	f->swapper = fixture_process(p, "swapper", 0);
	f->sh = fixture_process(p, "sh", 10);
	f->cc1_first = fixture_process(p, "cc1", 11);
	f->cc1_second = fixture_process(p, "cc1", 12);
	fixture_events(p);
	fixture_ledger(p);
	fixture_rows(f);
	if (waits)
		fixture_wait(f,
		             fixture_path(f, "main", "|", "entry_SYSCALL_64_after_hwframe",
		                          "futex_wait", "schedule", "__schedule", NULL),
		             f->cc1_first, 0, 30);
	f->symbols = symbolizer_new(&p->images, &none);
}

static void fixture_done(struct fixture *f)
{
	symbolizer_free(f->symbols);
	profile_free(f->profile);
}

/* NULL: an error, which is printed. */
static inline struct report *fixture_report(struct fixture *f, const struct report_request *o)
{
	struct report *r = NULL;
	struct error err = {0};

	if (report_new(&r, f->profile, f->symbols, o, &err))
		printf("# %s\n", err.text);
	return r;
}

#endif
