/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's function events become call paths: sequences with known results.
 */
#include "profile/calls/graph_paths.h"

#include "check.h"

#include <math.h>

#define TASK 100
#define IRQ 0x1000     /* a function that begins interrupts */
#define PREEMPT 0x2000 /* a function that is called at the end of an interrupt */

struct fixture {
	struct call_paths *c;
	struct graph_paths *g;
};

static enum graph_entry entry(void *ctx, uint64_t address)
{
	return address == IRQ ? GRAPH_INTERRUPT : address == PREEMPT ? GRAPH_PREEMPT : GRAPH_CALLED;
}

static void describe(void *ctx, struct call_paths *c, uint64_t address, struct call_function *f)
{
	char name[16];

	snprintf(name, sizeof(name), "f%llx", (unsigned long long)address);
	f->name = intern_add(&c->images.names, name);
	f->frame = (struct frame){.image = image_table_named(&c->images, IMAGE_KERNEL, "[k]"),
	                          .offset = address};
}

static struct fixture fixture_with(double inner_ns, double outer_ns)
{
	struct fixture f = {.c = call_paths_new()};
	struct graph_paths_options o = {.describe = describe,
	                                .entry = entry,
	                                .inner_ns = inner_ns,
	                                .outer_ns = outer_ns,
	                                .inner_error_ns = 1,
	                                .outer_error_ns = 2};

	f.g = graph_paths_new(f.c, &o);
	graph_paths_root(f.g, TASK, "program");
	return f;
}

static struct fixture fixture(void)
{
	return fixture_with(0, 0);
}

static void end(struct fixture *f, uint64_t time_ns)
{
	graph_paths_end(f->g, time_ns);
	call_paths_close(f->c);
}

static void done(struct fixture *f)
{
	graph_paths_free(f->g);
	call_paths_free(f->c);
}

static void in_on(struct fixture *f, int32_t task, uint32_t cpu, uint64_t time_ns,
                  uint64_t function, int32_t depth)
{
	graph_paths_event(f->g, &(struct graph_event){.kind = GRAPH_ENTRY,
	                                              .cpu = cpu,
	                                              .task = task,
	                                              .time_ns = time_ns,
	                                              .function = function,
	                                              .depth = depth});
}

static void out_on(struct fixture *f, int32_t task, uint32_t cpu, uint64_t time_ns,
                   uint64_t function, int32_t depth)
{
	graph_paths_event(f->g, &(struct graph_event){.kind = GRAPH_EXIT,
	                                              .cpu = cpu,
	                                              .task = task,
	                                              .time_ns = time_ns,
	                                              .function = function,
	                                              .depth = depth});
}

static void in(struct fixture *f, uint64_t time_ns, uint64_t function, int32_t depth)
{
	in_on(f, TASK, 0, time_ns, function, depth);
}

static void out(struct fixture *f, uint64_t time_ns, uint64_t function, int32_t depth)
{
	out_on(f, TASK, 0, time_ns, function, depth);
}

static void switched(struct fixture *f, uint32_t cpu, uint64_t time_ns, int32_t from, int32_t to,
                     bool preempted)
{
	graph_paths_event(f->g, &(struct graph_event){.kind = GRAPH_SWITCH,
	                                              .cpu = cpu,
	                                              .time_ns = time_ns,
	                                              .task = from,
	                                              .other = to,
	                                              .preempted = preempted,
	                                              .name = "name"});
}

static void lost(struct fixture *f, uint32_t cpu, uint64_t time_ns, uint64_t count)
{
	graph_paths_event(
	        f->g, &(struct graph_event){
	                      .kind = GRAPH_LOST, .cpu = cpu, .time_ns = time_ns, .lost = count});
}

/* The path of a process by its functions' addresses, 1 (other), 2 (interrupt); ends with 0. */
static const struct call_path *path(const struct fixture *f, size_t process, const uint64_t *way)
{
	const struct call_process *p = &f->c->processes.items[process];
	uint32_t at = 0;

	for (; *way; way++) {
		uint32_t child = p->paths.items[at].first_child;

		for (; child != CALL_PATH_NONE; child = p->paths.items[child].sibling) {
			const struct call_function *fn =
			        &f->c->functions.items[p->paths.items[child].function];

			if (fn->kind == CALL_FUNCTION
			            ? fn->frame.offset == *way
			            : (*way == 1 && fn->kind == CALL_OTHER) ||
			                      (*way == 2 && fn->kind == CALL_INTERRUPT))
				break;
		}
		if (child == CALL_PATH_NONE)
			return NULL;
		at = child;
	}
	return &p->paths.items[at];
}

#define PATH(process, ...) path(&f, process, (const uint64_t[]){__VA_ARGS__ __VA_OPT__(, ) 0})

/* A missing path has no calls and no time. */
static struct call_path value(const struct call_path *p)
{
	return p ? *p : (struct call_path){.net_ns = NAN};
}

static const struct call_thread *thread(const struct fixture *f, size_t process, size_t index)
{
	return &f->c->processes.items[process].threads.items[index];
}

static void nesting_gives_net_of_each(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	out(&f, 1030, 0x20, 1);
	in(&f, 1035, 0x20, 1);
	out(&f, 1045, 0x20, 1);
	out(&f, 1050, 0x10, 0);
	in(&f, 1150, 0x10, 0);
	out(&f, 1160, 0x10, 0);
	end(&f, 1160);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 2);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 10 + 5 + 5 + 10);
	CHECK_EQ(value(PATH(0, 0x10)).min_ns, 10);
	CHECK_EQ(value(PATH(0, 0x10)).max_ns, 20);
	CHECK_EQ(value(PATH(0, 0x10)).total_ns, 60);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).calls, 2);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, 30);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).min_ns, 10);
	CHECK_EQ(value(PATH(0)).net_ns, 100); /* outside */
	CHECK_EQ(thread(&f, 0, 0)->wall_ns, 160);
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	CHECK_EQ(f.c->processes.items[0].flags, CALL_KERNEL | CALL_RUNNING);
	CHECK_STR(intern_text(&f.c->images.names,
	                      f.c->functions.items[value(PATH(0, 0x10)).function].name),
	          "f10");
	done(&f);
}

static void own_cost_is_subtracted_from_callee_and_caller(void)
{
	struct fixture f = fixture_with(3, 4);

	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	out(&f, 1012, 0x20, 1);
	out(&f, 1020, 0x10, 0);
	end(&f, 1020);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, -1); /* negative times are kept */
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 18 - 3 - 4);
	CHECK_EQ(value(PATH(0)).net_ns, -4);
	CHECK_EQ(value(PATH(0, 0x10)).net_error_ns, 1 + 2);
	CHECK_EQ(value(PATH(0)).net_error_ns, 2);
	CHECK_EQ(f.c->processes.items[0].own_ns, 14);
	CHECK_EQ(f.c->processes.items[0].own_error_ns, 6);
	CHECK_EQ(thread(&f, 0, 0)->net_ns, 6);
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	done(&f);
}

static void interrupts_are_counted_for_the_cpu(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in_on(&f, TASK, 3, 1010, IRQ, 1);
	in_on(&f, TASK, 3, 1012, 0x30, 2);
	out_on(&f, TASK, 3, 1017, 0x30, 2);
	out_on(&f, TASK, 3, 1020, IRQ, 1);
	in(&f, 1025, 0x20, 1);
	out(&f, 1026, 0x20, 1);
	out(&f, 1030, 0x10, 0);
	end(&f, 1030);
	CHECK_EQ(f.c->processes.count, 2);
	CHECK_STR(intern_text(&f.c->images.names, f.c->processes.items[1].name), "interrupts/3");
	CHECK_EQ(value(PATH(1, 2, IRQ)).calls, 1);
	CHECK_EQ(value(PATH(1, 2, IRQ)).net_ns, 5);
	CHECK_EQ(value(PATH(1, 2, IRQ, 0x30)).net_ns, 5);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 10 + 5 + 4);
	CHECK_EQ(value(PATH(0, 0x10)).preempted_ns, 10);
	CHECK_EQ(value(PATH(0, 0x10)).max_ns, 19);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).calls, 1);
	CHECK(!PATH(0, 0x10, IRQ));
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	CHECK_EQ(thread(&f, 1, 0)->net_ns, 10);
	CHECK_EQ(thread(&f, 1, 0)->wall_residual_ns, 0);
	done(&f);
}

static void only_the_flag_identifies_an_interrupt(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	graph_paths_event(f.g, &(struct graph_event){.kind = GRAPH_ENTRY,
	                                             .task = TASK,
	                                             .time_ns = 1010,
	                                             .function = 0x30,
	                                             .depth = 1,
	                                             .interrupt = true});
	out(&f, 1020, 0x30, 1);
	out(&f, 1030, 0x10, 0);
	end(&f, 1030);
	CHECK_EQ(value(PATH(1, 2, 0x30)).net_ns, 10);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 20);
	done(&f);
}

/* The kernel decreases the depth before it records the exit. */
static void an_interrupt_at_the_depth_of_the_open_call_closes_nothing(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1001, 0x20, 1);
	in(&f, 1010, IRQ, 1);
	in(&f, 1011, 0x30, 2);
	out(&f, 1012, 0x30, 2);
	out(&f, 1020, IRQ, 1);
	in(&f, 1021, IRQ, 1);
	out(&f, 1023, IRQ, 1);
	out(&f, 1030, 0x20, 1);
	out(&f, 1031, 0x10, 0);
	end(&f, 1031);
	CHECK_EQ(f.c->processes.items[0].resyncs, 0);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 0);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, 9 + 1 + 7);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).preempted_ns, 12);
	CHECK_EQ(value(PATH(1, 2, IRQ)).calls, 2);
	done(&f);
}

static void a_preemption_at_the_depth_of_the_open_call_closes_nothing(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1001, 0x20, 1);
	in(&f, 1010, PREEMPT, 1);
	switched(&f, 0, 1011, TASK, 7, true);
	switched(&f, 0, 1111, 7, TASK, false);
	out(&f, 1112, PREEMPT, 1);
	out(&f, 1120, 0x20, 1);
	out(&f, 1121, 0x10, 0);
	end(&f, 1121);
	CHECK_EQ(f.c->processes.items[0].resyncs, 0);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 0);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, 9 + 8);
	CHECK_EQ(value(PATH(0, 0x10, 0x20, PREEMPT)).preempted_ns, 100);
	done(&f);
}

static void an_interrupt_whose_end_is_missed_ends_with_the_next_exit(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1001, 0x20, 1);
	in(&f, 1010, IRQ, 2);
	out(&f, 1020, 0x20, 1);
	out(&f, 1030, 0x10, 0);
	end(&f, 1030);
	CHECK_EQ(f.c->processes.items[0].resyncs, 1);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 0);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).preempted_ns, 10);
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	done(&f);
}

static void waiting_is_not_net(void)
{
	struct fixture f = fixture();

	switched(&f, 0, 900, 7, TASK, false);
	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	switched(&f, 0, 1015, TASK, 0, false);
	out(&f, 1017, 0x20, 1); /* the switch is recorded before it happens */
	switched(&f, 0, 1517, 0, TASK, false);
	switched(&f, 0, 1520, TASK, 7, true);
	switched(&f, 0, 1620, 7, TASK, false);
	out(&f, 1630, 0x10, 0);
	switched(&f, 0, 1640, TASK, 0, true);
	switched(&f, 0, 1650, 0, TASK, false);
	end(&f, 1700);
	CHECK_EQ(value(PATH(0, 0x10)).blocked_ns, 500);
	CHECK_EQ(value(PATH(0, 0x10)).blocked_count, 1);
	CHECK_EQ(value(PATH(0, 0x10)).preempted_ns, 100);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 10 + 3 + 10);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, 7);
	CHECK_EQ(value(PATH(0)).preempted_ns, 10);
	CHECK_EQ(thread(&f, 0, 0)->wall_ns, 800);
	CHECK_EQ(thread(&f, 0, 0)->tail_ns, 50);
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	CHECK_STR(intern_text(&f.c->images.names, thread(&f, 0, 0)->name), "name");
	CHECK_EQ(graph_paths_count(f.g).foreign, 0);
	done(&f);
}

static void a_task_takes_its_stack_to_another_cpu(void)
{
	struct fixture f = fixture();

	in_on(&f, TASK, 0, 1000, 0x10, 0);
	switched(&f, 0, 1010, TASK, 0, true);
	switched(&f, 1, 1050, 0, TASK, false);
	in_on(&f, TASK, 1, 1060, 0x20, 1);
	out_on(&f, TASK, 1, 1070, 0x20, 1);
	out_on(&f, TASK, 1, 1080, 0x10, 0);
	/* Losses of the first CPU do not affect this task any more. */
	lost(&f, 0, 1081, 5);
	in_on(&f, TASK, 1, 1090, 0x10, 0);
	out_on(&f, TASK, 1, 1100, 0x10, 0);
	end(&f, 1100);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 2);
	CHECK_EQ(value(PATH(0, 0x10)).preempted_ns, 40);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 10 + 10 + 10 + 10);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).net_ns, 10);
	CHECK_EQ(f.c->processes.items[0].resyncs, 0);
	CHECK(!PATH(0, 1));
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	done(&f);
}

static void a_missing_exit_is_closed_by_the_next_entry(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	in(&f, 1020, 0x30, 1);
	out(&f, 1030, 0x30, 1);
	out(&f, 1040, 0x20, 1); /* the exit of a call that was closed */
	out(&f, 1050, 0x10, 0);
	end(&f, 1050);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).calls, 1);
	CHECK(isnan(value(PATH(0, 0x10, 0x20)).min_ns));
	CHECK_EQ(value(PATH(0, 0x10, 0x30)).net_ns, 10);
	CHECK_EQ(f.c->processes.items[0].resyncs, 1);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 1);
	CHECK(f.c->processes.items[0].flags & CALL_RESYNCED);
	CHECK(f.c->processes.items[0].flags & CALL_UNMATCHED);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 1);
	CHECK_EQ(value(PATH(0, 0x10)).max_ns, 10 + 20);
	done(&f);
}

static void exits_of_calls_that_began_before_are_no_error(void)
{
	struct fixture f = fixture();

	out(&f, 1000, 0x30, 2);
	out(&f, 1010, 0x10, 0);
	in(&f, 1020, 0x10, 0);
	out(&f, 1030, 0x10, 0);
	end(&f, 1030);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 0);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 1);
	done(&f);
}

static void after_a_loss_paths_are_other_until_the_next_entry_from_outside(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	lost(&f, 0, 5000, 77);
	in(&f, 5000, 0x30, 2);
	out(&f, 5010, 0x30, 2);
	out(&f, 5020, 0x20, 1);
	out(&f, 5030, 0x10, 0);
	in(&f, 5040, 0x10, 0);
	out(&f, 5050, 0x10, 0);
	end(&f, 5050);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 2);
	CHECK_EQ(value(PATH(0, 0x10)).net_ns, 10 + 10);
	CHECK_EQ(value(PATH(0, 1, 0x30)).calls, 1);
	CHECK(!PATH(0, 0x10, 0x20, 0x30));
	CHECK_EQ(value(PATH(0, 1)).net_ns, 30);
	CHECK_EQ(f.c->processes.items[0].lost_events, 77);
	CHECK(f.c->processes.items[0].flags & CALL_LOST);
	CHECK_EQ(f.c->processes.items[0].resyncs, 2);
	CHECK_EQ(f.c->processes.items[0].unmatched_exits, 0);
	/* The time in the gap is in no path, and the residual shows it. */
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, -(5000 - 1010));
	done(&f);
}

/* The task was off the CPU when records were lost, so it may have run there. */
static void a_waiting_task_keeps_its_stack_if_its_next_event_fits(void)
{
	for (int fits = 0; fits < 2; fits++) {
		struct fixture f = fixture();

		in(&f, 1000, 0x10, 0);
		in(&f, 1010, 0x20, 1);
		switched(&f, 0, 1020, TASK, 0, false);
		lost(&f, 1, 1100, 1);
		switched(&f, 0, 1200, 0, TASK, false);
		if (fits)
			out(&f, 1210, 0x20, 1);
		else
			out(&f, 1210, 0x40, 3);
		out(&f, 1220, 0x10, 0);
		end(&f, 1220);
		CHECK_EQ(f.c->processes.items[0].resyncs, fits ? 0 : 2);
		CHECK_EQ(isnan(value(PATH(0, 0x10)).min_ns), !fits);
		done(&f);
	}
}

static void new_processes_and_threads_have_their_own_books(void)
{
	struct fixture f = fixture();
	struct graph_event e = {.kind = GRAPH_NEW, .task = TASK, .time_ns = 1010, .other = 101};

	in(&f, 1000, 0x10, 0);
	e.thread = true;
	graph_paths_event(f.g, &e);
	e.thread = false;
	e.other = 102;
	graph_paths_event(f.g, &e);
	in_on(&f, 101, 1, 1020, 0x10, 0);
	out_on(&f, 101, 1, 1030, 0x10, 0);
	in_on(&f, 102, 2, 1020, 0x20, 0);
	in_on(&f, 999, 2, 1021, 0x20, 0); /* of a task that is not followed */
	out_on(&f, 102, 2, 1040, 0x20, 0);
	e = (struct graph_event){.kind = GRAPH_EXEC, .task = 102, .time_ns = 1050, .name = "ls"};
	graph_paths_event(f.g, &e);
	e = (struct graph_event){
	        .kind = GRAPH_SWITCH, .cpu = 2, .task = 102, .time_ns = 1060, .dead = true};
	graph_paths_event(f.g, &e);
	out(&f, 1100, 0x10, 0);
	end(&f, 1100);
	CHECK_EQ(f.c->processes.count, 2);
	CHECK_EQ(value(PATH(0, 0x10)).calls, 2);
	CHECK_EQ(f.c->processes.items[0].threads.count, 2);
	CHECK_EQ(thread(&f, 0, 1)->net_ns, 10);
	CHECK_EQ(f.c->processes.items[1].pid, 102);
	CHECK_EQ(f.c->processes.items[1].parent, TASK);
	CHECK_STR(intern_text(&f.c->images.names, f.c->processes.items[1].name), "ls");
	CHECK_EQ(value(PATH(1, 0x20)).calls, 1);
	CHECK_EQ(f.c->processes.items[1].flags & CALL_RUNNING, 0);
	CHECK_EQ(thread(&f, 1, 0)->tid, 0);
	CHECK_EQ(thread(&f, 1, 0)->wall_ns, 40);
	CHECK_EQ(graph_paths_count(f.g).foreign, 1);
	done(&f);
}

static void open_calls_are_counted_as_open(void)
{
	struct fixture f = fixture();

	in(&f, 1000, 0x10, 0);
	in(&f, 1010, 0x20, 1);
	switched(&f, 0, 1020, TASK, 0, false);
	end(&f, 1120);
	CHECK_EQ(value(PATH(0, 0x10)).open, 1);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).open, 1);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).blocked_ns, 100);
	CHECK_EQ(value(PATH(0, 0x10, 0x20)).calls, 1);
	CHECK(isnan(value(PATH(0, 0x10, 0x20)).min_ns));
	CHECK_EQ(thread(&f, 0, 0)->wall_residual_ns, 0);
	done(&f);
}

static void a_number_used_again_is_another_task(void)
{
	struct fixture f = fixture();
	struct graph_event e = {.kind = GRAPH_NEW, .task = TASK, .time_ns = 1000, .other = 101};

	graph_paths_event(f.g, &e);
	in_on(&f, 101, 0, 1010, 0x10, 0);
	e.time_ns = 1020;
	graph_paths_event(f.g, &e);
	in_on(&f, 101, 0, 1030, 0x20, 0);
	out_on(&f, 101, 0, 1040, 0x20, 0);
	end(&f, 1040);
	CHECK_EQ(f.c->processes.count, 3);
	CHECK_EQ(value(PATH(2, 0x20)).calls, 1);
	CHECK(!PATH(2, 0x10));
	done(&f);
}

int main(void)
{
	RUN(nesting_gives_net_of_each);
	RUN(own_cost_is_subtracted_from_callee_and_caller);
	RUN(interrupts_are_counted_for_the_cpu);
	RUN(only_the_flag_identifies_an_interrupt);
	RUN(an_interrupt_at_the_depth_of_the_open_call_closes_nothing);
	RUN(a_preemption_at_the_depth_of_the_open_call_closes_nothing);
	RUN(an_interrupt_whose_end_is_missed_ends_with_the_next_exit);
	RUN(waiting_is_not_net);
	RUN(a_task_takes_its_stack_to_another_cpu);
	RUN(a_missing_exit_is_closed_by_the_next_entry);
	RUN(exits_of_calls_that_began_before_are_no_error);
	RUN(after_a_loss_paths_are_other_until_the_next_entry_from_outside);
	RUN(a_waiting_task_keeps_its_stack_if_its_next_event_fits);
	RUN(new_processes_and_threads_have_their_own_books);
	RUN(open_calls_are_counted_as_open);
	RUN(a_number_used_again_is_another_task);
	return check_end();
}
