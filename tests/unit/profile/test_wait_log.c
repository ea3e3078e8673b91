/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of waits is compared with simulated schedules, and with known sequences of records. */
#include "check.h"
#include "scheduler_fixture.h"

#include <string.h>

static bool same_wait(const struct sim *s, const struct sim_wait *want, const struct wait *w)
{
	const struct wait_key *k = &s->profile->waits.sums.items[w->sum].key;

	return sim_thread_of(s, k->thread) == want->thread && k->woken == want->woken &&
	       w->out_ns == want->out_ns && w->in_ns == want->in_ns &&
	       w->woken_ns == want->woken_ns && sim_thread_of(s, k->waker) == want->waker &&
	       sim_address(s, k->path) == want->path &&
	       sim_address(s, k->waker_path) == want->waker_path && k->argument == want->argument &&
	       k->in_system_call == (want->argument != 0) &&
	       k->uninterruptible == want->uninterruptible && !k->lost &&
	       k->since_start == want->since_start;
}

static void show(const struct sim *s, const struct sim_wait *want, const struct wait *w)
{
	const struct wait_key *k = &s->profile->waits.sums.items[w->sum].key;

	printf("# want thread %u out %llu woken %llu in %llu by %u waker %u path %llu waker's %llu "
	       "argument %llu\n# have thread %u out %llu woken %llu in %llu by %u waker %u path "
	       "%llu waker's %llu argument %llu since %d lost %d\n",
	       want->thread, (unsigned long long)want->out_ns, (unsigned long long)want->woken_ns,
	       (unsigned long long)want->in_ns, want->woken, want->waker,
	       (unsigned long long)want->path, (unsigned long long)want->waker_path,
	       (unsigned long long)want->argument, sim_thread_of(s, k->thread),
	       (unsigned long long)w->out_ns, (unsigned long long)w->woken_ns,
	       (unsigned long long)w->in_ns, k->woken, sim_thread_of(s, k->waker),
	       (unsigned long long)sim_address(s, k->path),
	       (unsigned long long)sim_address(s, k->waker_path), (unsigned long long)k->argument,
	       k->since_start, k->lost);
}

/* Open waits are in the order of threads, which is the order of ids here, too. */
static void check_waits(const struct sim *s)
{
	const struct wait_log *l = &s->profile->waits;
	size_t bad = 0;

	CHECK_EQ(l->waits.count, s->waits.count);
	for (size_t i = 0; i < s->waits.count && i < l->waits.count && bad < 3; i++)
		if (!same_wait(s, &s->waits.items[i], &l->waits.items[i])) {
			show(s, &s->waits.items[i], &l->waits.items[i]);
			bad++;
		}
	CHECK_EQ(bad, 0);
}

struct sums {
	uint64_t count, blocked, runnable, since_start;
};

static struct sums sums_of(const struct wait_log *l)
{
	struct sums all = {0};

	vec_each (sum, &l->sums) {
		all.count += sum->count;
		if (sum->key.since_start) {
			all.since_start += sum->blocked_ns + sum->runnable_ns;
		} else {
			all.blocked += sum->blocked_ns;
			all.runnable += sum->runnable_ns;
		}
	}
	return all;
}

/* The sums are those of the single waits, and of the ledger. */
static void check_sums(const struct sim *s)
{
	const struct wait_log *l = &s->profile->waits;
	struct sums all = sums_of(l);
	uint64_t ledger = 0, unknown = 0, rows = 0, single = 0;

	vec_each (p, &s->profile->ledger.processes) {
		ledger += p->blocked_ns + p->runnable_ns;
		unknown += p->unknown_ns;
	}
	vec_each (row, &s->profile->rows)
		rows += row->blocked_ns;
	vec_each (w, &l->waits)
		single += w->in_ns - w->out_ns;
	CHECK_EQ(all.count, l->waits.count + l->beyond);
	CHECK_EQ(all.blocked + all.runnable, ledger);
	CHECK_EQ(all.since_start, unknown);
	if (!l->beyond)
		CHECK_EQ(single, ledger + unknown);
	CHECK_EQ(l->unpaired, 0);
	CHECK_EQ(l->wakings, s->wakings);
	CHECK(rows <= all.blocked);
}

static void check_births(const struct sim *s)
{
	const struct wait_log *l = &s->profile->waits;

	vec_each (b, &l->births)
		CHECK(sim_thread_of(s, b->parent) < sim_thread_of(s, b->thread));
	CHECK(l->births.count > 0);
}

static void simulate(unsigned what, uint64_t seed)
{
	struct profile_builder_options options = {.waits = true};
	struct sim s;

	sim_begin(&s, what, seed, &options);
	sim_start(&s, 8);
	for (int i = 0; i < 4000; i++)
		sim_step(&s);
	sim_end(&s);
	CHECK(s.waits.count > 500);
	check_waits(&s);
	check_sums(&s);
	check_births(&s);
	sim_done(&s);
}

static void records_and_samples(void)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		simulate(SIM_RECORDS | SIM_SAMPLES, seed);
}

static void samples_after_records(void)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		simulate(SIM_RECORDS | SIM_SAMPLES | SIM_SAMPLES_AFTER, seed);
}

static void samples_alone(void)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		simulate(SIM_SAMPLES, seed);
}

static void records_alone(void)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		simulate(SIM_RECORDS, seed);
}

/* The ids of the fields are learned from the samples of switches. */
static void another_pid_namespace(void)
{
	for (uint64_t seed = 1; seed < 6; seed++)
		simulate(SIM_SAMPLES | SIM_RECORDS | SIM_FOREIGN, seed);
}

/* Only the waits of a part of the time, cut at its edges. */
static void part_of_the_time(void)
{
	struct profile_builder_options options = {.waits = true};
	uint64_t from_ns = SIM_START + 500000, to_ns = SIM_START + 1200000;
	const struct wait_log *l;
	uint64_t ledger = 0;
	struct sums all;
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 7, &options);
	s.recording->from_ns = from_ns;
	s.recording->to_ns = to_ns;
	sim_start(&s, 8);
	for (int i = 0; i < 4000; i++)
		sim_step(&s);
	sim_end(&s);
	l = &s.profile->waits;
	all = sums_of(l);
	vec_each (p, &s.profile->ledger.processes)
		ledger += p->blocked_ns + p->runnable_ns;
	CHECK_EQ(l->start_ns, from_ns);
	CHECK_EQ(l->end_ns, to_ns);
	CHECK(l->waits.count > 300);
	CHECK_EQ(all.blocked + all.runnable, ledger);
	vec_each (w, &l->waits)
		CHECK(w->out_ns >= from_ns && w->in_ns <= to_ns && w->out_ns <= w->in_ns &&
		      (!w->woken_ns || (w->woken_ns >= w->out_ns && w->woken_ns <= w->in_ns)));
	sim_done(&s);
}

/* The columns of the report have the exact runnable time. */
static void rows_have_the_same_split(void)
{
	struct profile_builder_options options = {.waits = true};
	uint64_t blocked = 0, runnable = 0, want = 0, want_runnable = 0;
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 3, &options);
	sim_start(&s, 8);
	for (int i = 0; i < 4000; i++)
		sim_step(&s);
	sim_end(&s);
	vec_each (row, &s.profile->rows) {
		blocked += row->blocked_ns;
		runnable += row->runnable_ns;
	}
	/* The rows do not have the waits before the first switch out of a thread. */
	vec_each (sum, &s.profile->waits.sums)
		if (sum->key.path != s.profile->waits.unknown_path) {
			want += sum->blocked_ns;
			want_runnable += sum->runnable_ns;
		}
	CHECK(want_runnable > 0);
	CHECK_EQ(blocked, want);
	CHECK_EQ(runnable, want_runnable);
	sim_done(&s);
}

static void limits_keep_the_sums(void)
{
	struct profile_builder_options options = {.waits = true};
	uint64_t ledger = 0;
	struct sums all;
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 4, &options);
	s.profile->waits.max = 100;
	s.profile->waits.max_sums = 50;
	sim_start(&s, 8);
	for (int i = 0; i < 4000; i++)
		sim_step(&s);
	sim_end(&s);
	all = sums_of(&s.profile->waits);
	vec_each (p, &s.profile->ledger.processes)
		ledger += p->blocked_ns + p->runnable_ns;
	CHECK_EQ(s.profile->waits.waits.count, 100);
	CHECK_EQ(s.profile->waits.beyond, s.waits.count - 100);
	CHECK_EQ(all.count, s.waits.count);
	CHECK_EQ(all.blocked + all.runnable, ledger);
	CHECK(s.profile->waits.coarse > 0);
	/* The other sums are by thread and kind of wake-up only. */
	CHECK(s.profile->waits.sums.count <= 50 + SIM_THREADS * 6 * 2);
	sim_done(&s);
}

/* The log alone: thread 1 waits, thread 2 wakes. */
static void out(struct wait_log *l, uint32_t thread, uint64_t time_ns)
{
	struct wait_switch s = {.time_ns = time_ns,
	                        .thread = thread,
	                        .instead = ID_NONE,
	                        .out = true,
	                        .cpu = (uint16_t)thread};

	wait_log_heard(l, s.cpu, time_ns);
	wait_log_switch(l, &s);
}

static void in(struct wait_log *l, uint32_t thread, uint64_t time_ns)
{
	struct wait_switch s = {
	        .time_ns = time_ns, .thread = thread, .instead = ID_NONE, .cpu = (uint16_t)thread};

	wait_log_heard(l, s.cpu, time_ns);
	wait_log_switch(l, &s);
}

static void wake(struct wait_log *l, uint32_t thread, uint64_t time_ns)
{
	struct wait_wake w = {
	        .time_ns = time_ns, .thread = thread, .waker = 2, .path = 9, .by = WAIT_BY_THREAD};

	wait_log_wake(l, &w);
}

static struct wait_log log_new(void)
{
	return (struct wait_log){.wanted = true, .start_ns = 1, .unknown_path = 5};
}

static const struct wait_key *key_at(const struct wait_log *l, size_t i)
{
	return &l->sums.items[l->waits.items[i].sum].key;
}

/* A thread that is woken too early waits again: both waits have their waker. */
static void spurious_wakes(void)
{
	struct wait_log l = log_new();

	in(&l, 1, 1);
	out(&l, 1, 10);
	wake(&l, 1, 20);
	in(&l, 1, 25);
	out(&l, 1, 30);
	wake(&l, 1, 50);
	wake(&l, 1, 52); /* a second wake-up of a runnable thread changes nothing */
	in(&l, 1, 60);
	wake(&l, 1, 61); /* of a running thread: it consumed it, since another one follows */
	out(&l, 1, 70);
	wake(&l, 1, 90);
	in(&l, 1, 91);
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 3);
	CHECK_EQ(l.sums.count, 1);
	CHECK_EQ(l.sums.items[0].count, 3);
	CHECK_EQ(l.sums.items[0].blocked_ns, 10 + 20 + 20);
	CHECK_EQ(l.sums.items[0].runnable_ns, 5 + 10 + 1);
	CHECK_EQ(l.sums.items[0].max_ns, 30);
	CHECK_EQ(l.wakings, 5);
	wait_log_done(&l);
}

/* Threads that never ran are named, and are no waits. */
static void silent_threads_have_no_record(void)
{
	struct wait_log l = log_new();

	out(&l, 1, 10);
	wake(&l, 2, 20); /* it may wait for a CPU */
	for (uint32_t thread = 1; thread <= 3; thread++)
		wait_log_silent(&l, thread, true);
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 1);
	CHECK_EQ(l.silent.count, 1);
	CHECK_EQ(l.silent.items[0], 3);
	CHECK(l.silent_in_ledger && !l.silent_lost);
	wait_log_done(&l);
}

static void wake_by(struct wait_log *l, enum wait_woken by, uint32_t waker, uint64_t time_ns)
{
	struct wait_wake w = {.time_ns = time_ns,
	                      .thread = 1,
	                      .waker = waker,
	                      .path = 100 + waker,
	                      .by = (uint8_t)by};

	wait_log_wake(l, &w);
}

/* An interrupt and a thread wake it before it is on a CPU again: the first one counts. */
static void the_first_of_two_wakers_counts(void)
{
	static const struct {
		enum wait_woken first, second;
	} cases[] = {{WAIT_BY_INTERRUPT, WAIT_BY_THREAD},
	             {WAIT_BY_THREAD, WAIT_BY_INTERRUPT},
	             {WAIT_BY_SOFTIRQ, WAIT_BY_THREAD},
	             {WAIT_BY_THREAD, WAIT_BY_THREAD}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_log l = log_new();

		in(&l, 1, 1);
		out(&l, 1, 10);
		wake_by(&l, cases[i].first, 2, 30);
		wake_by(&l, cases[i].second, 3, 37);
		in(&l, 1, 60);
		wait_log_finish(&l, 100);
		CHECK_EQ(l.waits.count, 1);
		CHECK_EQ(key_at(&l, 0)->woken, cases[i].first);
		CHECK_EQ(key_at(&l, 0)->waker_path, 102);
		CHECK_EQ(l.sums.items[0].blocked_ns, 20);
		CHECK_EQ(l.sums.items[0].runnable_ns, 30);
		wait_log_done(&l);
	}
}

/* Waits that overlap the time of lost records have no waker. */
static void lost_records(void)
{
	struct wait_log l = log_new();

	in(&l, 1, 1);
	out(&l, 1, 10);
	wake(&l, 1, 12);
	in(&l, 1, 15);
	wait_log_heard(&l, 3, 18); /* the last record of CPU 3 before the loss */
	out(&l, 1, 20);
	wake(&l, 1, 22);
	in(&l, 1, 25); /* known to be unsafe only later */
	out(&l, 1, 28);
	wait_log_lost(&l, 3, 30);
	wake(&l, 1, 32);
	in(&l, 1, 35);
	out(&l, 1, 40);
	wake(&l, 1, 42);
	in(&l, 1, 45);
	in(&l, 1, 47); /* its switch out was lost */
	out(&l, 1, 50);
	out(&l, 1, 60); /* its switch in was lost */
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 6);
	CHECK_EQ(key_at(&l, 0)->woken, WAIT_BY_THREAD);
	CHECK(!key_at(&l, 0)->lost);
	CHECK_EQ(key_at(&l, 1)->woken, WAIT_NOT_SEEN);
	CHECK(key_at(&l, 1)->lost);
	CHECK_EQ(key_at(&l, 1)->waker, ID_NONE);
	CHECK_EQ(l.waits.items[1].woken_ns, 0);
	CHECK_EQ(key_at(&l, 2)->woken, WAIT_NOT_SEEN);
	CHECK(key_at(&l, 2)->lost);
	CHECK_EQ(key_at(&l, 3)->woken, WAIT_BY_THREAD);
	CHECK(!key_at(&l, 3)->lost);
	CHECK(key_at(&l, 4)->lost);
	CHECK_EQ(l.waits.items[4].in_ns, 60);
	CHECK_EQ(key_at(&l, 5)->woken, WAIT_OPEN);
	CHECK_EQ(l.unpaired, 1);
	CHECK_EQ(l.sums.items[l.waits.items[0].sum].count, 2);
	CHECK_EQ(l.sums.items[l.waits.items[0].sum].max_ns, 5);
	CHECK_EQ(l.sums.items[l.waits.items[1].sum].blocked_ns, 5 + 7 + 10);
	wait_log_done(&l);
}

/* An exec by another thread ends the old thread; the thread runs under its new id. */
static void execs_and_exits(void)
{
	struct wait_log l = log_new();

	in(&l, 1, 1);
	wait_log_exec(&l, 1, 3, 10);
	out(&l, 1, 11); /* no longer of interest */
	out(&l, 3, 20);
	wake(&l, 3, 30);
	in(&l, 3, 31);
	wait_log_exit(&l, 3, 40);
	out(&l, 3, 41);
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 1);
	CHECK_EQ(key_at(&l, 0)->thread, 3);
	CHECK_EQ(l.waits.items[0].woken_ns, 30);
	wait_log_done(&l);
}

/* The name of a descriptor is that at the time of the wait. */
static void descriptors_have_names(void)
{
	struct wait_log l = log_new();
	struct wait_place place = {.argument = 4,
	                           .path = 8,
	                           .instead = ID_NONE,
	                           .is_state_known = true,
	                           .in_system_call = true};

	in(&l, 1, 1);
	for (uint64_t i = 0; i < 3; i++) {
		wait_log_place(&l, 1, &place);
		out(&l, 1, 10 * i + 10);
		in(&l, 1, 10 * i + 15);
		wait_log_number(&l, 0, 4,
		                wait_log_descriptor(&l, 0, 4, 10 * i + 16, i ? "b" : "a"));
	}
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 3);
	CHECK_EQ(key_at(&l, 0)->descriptor, ID_NONE);
	CHECK_EQ(key_at(&l, 0)->argument, 4);
	CHECK_EQ(key_at(&l, 1)->descriptor, 0);
	CHECK_EQ(key_at(&l, 2)->descriptor, 1);
	CHECK_STR(l.descriptors.items[1].name, "b");
	wait_log_done(&l);
}

/* The file of a page fault is known after the wait. Preempted threads did not wait for it. */
static void faults_name_the_file_of_the_last_wait(void)
{
	struct wait_log l = log_new();
	struct wait_place place = {.path = 8, .instead = ID_NONE, .is_state_known = true};
	uint32_t file = wait_log_descriptor(&l, ID_NONE, UINT32_MAX, 1, "/index.dat");

	in(&l, 1, 1);
	for (uint64_t i = 0; i < 4; i++) {
		place.is_runnable = i == 3;
		wait_log_place(&l, 1, &place);
		out(&l, 1, 10 * i + 10);
		in(&l, 1, 10 * i + 15 + i);
		if (i)
			wait_log_fault(&l, 1, file);
		wait_log_fault(&l, 1, file); /* without another wait */
		if (!i)
			CHECK_EQ(key_at(&l, 0)->fault_file, file + 1);
	}
	wait_log_fault(&l, 2, file); /* it never waited */
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 4);
	CHECK_EQ(l.sums.count, 2);
	CHECK_EQ(key_at(&l, 2)->fault_file, file + 1);
	CHECK_EQ(l.sums.items[l.waits.items[2].sum].count, 3);
	CHECK_EQ(l.sums.items[l.waits.items[2].sum].blocked_ns, 5 + 6 + 7);
	CHECK_EQ(l.sums.items[l.waits.items[2].sum].max_ns, 7);
	CHECK_EQ(key_at(&l, 3)->fault_file, 0);
	wait_log_done(&l);
}

/* A process that the recorder found in /proc may have its FORK record later. */
static void a_thread_before_its_fork_record(void)
{
	struct profile_builder_options options = {.waits = true};
	struct event e = {.kind = EVENT_COMM, .comm = {.name = "sim"}};
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 1, &options);
	sim_start(&s, 1);
	e.pid = e.tid = sim_tid(1);
	s.sink.event(s.sink.ctx, &e, NULL);
	s.count = 2;
	s.threads[1] = (struct sim_thread){.state = SIM_READY, .is_new = true, .waker = ID_NONE};
	s.time_ns += 10;
	s.threads[1].out_ns = s.threads[1].since_ns = s.time_ns;
	sim_put(&s,
	        (struct event){.kind = EVENT_FORK,
	                       .fork = {.parent_pid = SIM_FIRST, .parent_tid = SIM_FIRST}},
	        0, 1);
	s.time_ns += 10;
	sim_switch(&s, 0, 1, false);
	sim_end(&s);
	check_waits(&s);
	CHECK_EQ(s.profile->waits.waits.count, 1);
	sim_done(&s);
}

static void nothing_is_collected_unless_wanted(void)
{
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 4, NULL);
	sim_start(&s, 8);
	for (int i = 0; i < 500; i++)
		sim_step(&s);
	sim_end(&s);
	CHECK_EQ(s.profile->waits.waits.count + s.profile->waits.sums.count, 0);
	CHECK_EQ(s.profile->waits.wakings, 0);
	sim_done(&s);
}

/* The waker's descriptor is that of its system call when the wait ends. */
static void wakers_have_descriptors(void)
{
	struct wait_log l = log_new();
	struct wait_wake w = {.thread = 1,
	                      .waker = 2,
	                      .process = 7,
	                      .path = 9,
	                      .by = WAIT_BY_THREAD,
	                      .argument = 5};
	uint32_t first = wait_log_descriptor(&l, 7, 5, 1, "tcp 10.0.0.1:80 10.0.0.2:9"), second = 0;

	wait_log_number(&l, 7, 5, first);
	for (uint64_t i = 0; i < 4; i++) {
		in(&l, 1, 100 * i + 1);
		out(&l, 1, 100 * i + 10);
		w.time_ns = 100 * i + 20;
		if (i == 1) {
			second = wait_log_descriptor(&l, 7, 5, 120, "pipe:[8]");
			wait_log_number(&l, 7, 5, second);
		}
		w.argument = i == 2 ? 0x7f0000000000 : 5; /* a pointer */
		w.by = i == 3 ? WAIT_BY_INTERRUPT : WAIT_BY_THREAD;
		wait_log_wake(&l, &w);
	}
	in(&l, 1, 401);
	CHECK_EQ(l.waits.count, 4);
	CHECK(key_at(&l, 0)->has_waker_number);
	CHECK_EQ(key_at(&l, 0)->waker_number, 5);
	CHECK_EQ(key_at(&l, 0)->waker_descriptor, first);
	CHECK_EQ(key_at(&l, 1)->waker_descriptor, second);
	CHECK(!key_at(&l, 2)->has_waker_number);
	CHECK_EQ(key_at(&l, 2)->waker_descriptor, ID_NONE);
	CHECK(!key_at(&l, 3)->has_waker_number);
	wait_log_done(&l);
}

#define LOCK 0xffff888100000010

static void block(struct wait_log *l, uint64_t time_ns, bool is_in_system_call)
{
	wait_log_place(l, 1,
	               &(struct wait_place){.path = 3,
	                                    .instead = ID_NONE,
	                                    .is_state_known = true,
	                                    .uninterruptible = true,
	                                    .in_system_call = is_in_system_call});
	out(l, 1, time_ns);
}

static void locks_of_the_kernel_have_owners(void)
{
	struct wait_log l = log_new();
	struct wait_contention *c = &l.contention;

	wait_contention_begin(c, 2, LOCK, WAIT_LOCK_MUTEX | WAIT_LOCK_SPIN);
	wait_contention_end(c, 2, LOCK, true);
	in(&l, 1, 1);
	wait_contention_begin(c, 1, LOCK, WAIT_LOCK_MUTEX);
	wait_contention_begin(c, 1, 0xffff888100000020, WAIT_LOCK_SPIN); /* within it */
	wait_contention_end(c, 1, 0xffff888100000020, true);
	block(&l, 10, false);
	wake(&l, 1, 20);
	in(&l, 1, 25);
	block(&l, 30, true); /* it did not get the lock, and waits again */
	wake(&l, 1, 40);
	in(&l, 1, 45);
	wait_contention_end(c, 1, LOCK, true);
	block(&l, 50, false); /* for another reason */
	wake(&l, 1, 60);
	in(&l, 1, 65);
	wait_log_finish(&l, 100);
	CHECK_EQ(l.waits.count, 3);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(key_at(&l, i)->lock_flags, WAIT_LOCK_MUTEX);
		CHECK(key_at(&l, i)->waker_owned);
	}
	CHECK_EQ(key_at(&l, 2)->lock_flags, 0);
	CHECK(!key_at(&l, 2)->waker_owned);
	wait_log_done(&l);
}

static void owners_are_known_after_a_wait_only(void)
{
	struct wait_contention c = {0};

	wait_contention_begin(&c, 1, LOCK, WAIT_LOCK_WRITE);
	CHECK_EQ(wait_contention_of(&c, 1).address, LOCK);
	CHECK_EQ(wait_contention_owner(&c, LOCK), ID_NONE);
	wait_contention_end(&c, 1, LOCK, true);
	CHECK_EQ(wait_contention_owner(&c, LOCK), 1);
	CHECK_EQ(wait_contention_of(&c, 1).address, 0);
	/* It released the lock before it waits for it again. */
	wait_contention_begin(&c, 1, LOCK, WAIT_LOCK_WRITE);
	CHECK_EQ(wait_contention_owner(&c, LOCK), ID_NONE);
	wait_contention_end(&c, 1, LOCK, false);
	CHECK_EQ(wait_contention_owner(&c, LOCK), ID_NONE);
	wait_contention_begin(&c, 2, LOCK, WAIT_LOCK_WRITE);
	wait_contention_end(&c, 2, LOCK, true);
	/* A semaphore has no owner. */
	wait_contention_begin(&c, 3, LOCK + 64, 0);
	wait_contention_end(&c, 3, LOCK + 64, true);
	CHECK_EQ(wait_contention_owner(&c, LOCK + 64), ID_NONE);
	/* Readers share it. */
	wait_contention_begin(&c, 3, LOCK, WAIT_LOCK_READ);
	wait_contention_end(&c, 3, LOCK, true);
	CHECK_EQ(wait_contention_owner(&c, LOCK), ID_NONE);
	wait_contention_begin(&c, 2, LOCK, WAIT_LOCK_WRITE);
	wait_contention_end(&c, 2, LOCK, true);
	wait_contention_begin(&c, 4, LOCK, WAIT_LOCK_WRITE);
	wait_contention_forget(&c);
	CHECK_EQ(wait_contention_owner(&c, LOCK), ID_NONE);
	CHECK_EQ(wait_contention_of(&c, 4).address, 0);
	wait_contention_done(&c);
}

/* A wait is in each window in which it is open, and as a whole in that in which it ends. */
static void windows_of_an_endless_log(void)
{
	struct wait_log l = {.wanted = true, .endless = true, .start_ns = 100, .unknown_path = 1};
	const uint32_t threads[] = {ID_NONE, 0}, processes[] = {ID_NONE, 0};
	struct wait_switch out = {.time_ns = 110, .thread = 1, .process = 1, .out = true};
	struct wait_switch in = {.time_ns = 180, .thread = 0, .process = 0, .instead = ID_NONE};
	struct wait_place place = {
	        .argument = 3, .path = 7, .instead = ID_NONE, .in_system_call = true};

	out.instead = ID_NONE;
	wait_log_number(&l, 1, 3, wait_log_descriptor(&l, 1, 3, 100, "pipe:[1]"));
	wait_log_place(&l, 1, &place);
	wait_log_switch(&l, &out);
	wait_log_finish(&l, 150);
	CHECK_EQ(l.waits.count, 1);
	CHECK_EQ(l.open, 1);
	CHECK_EQ(l.sums.items[0].key.woken, WAIT_OPEN);
	CHECK_EQ(l.sums.items[0].key.path, 7);
	CHECK_EQ(l.sums.items[0].blocked_ns, 40);
	wait_log_next(&l);
	CHECK_EQ(l.waits.count + l.sums.count + l.open, 0);
	wait_log_renumber(&l, threads, 2, processes, 2, 2);
	wait_log_switch(&l, &in);
	wait_log_finish(&l, 200);
	CHECK_EQ(l.waits.count, 1);
	CHECK_EQ(l.open, 0);
	CHECK_EQ(l.waits.items[0].out_ns, 110);
	CHECK_EQ(l.waits.items[0].in_ns, 180);
	CHECK_EQ(l.sums.items[0].key.thread, 0);
	CHECK_EQ(l.sums.items[0].key.path, 2);
	CHECK_STR(l.descriptors.items[l.sums.items[0].key.descriptor].name, "pipe:[1]");
	wait_log_done(&l);
}

int main(void)
{
	RUN(records_and_samples);
	RUN(samples_after_records);
	RUN(samples_alone);
	RUN(records_alone);
	RUN(another_pid_namespace);
	RUN(part_of_the_time);
	RUN(rows_have_the_same_split);
	RUN(limits_keep_the_sums);
	RUN(spurious_wakes);
	RUN(the_first_of_two_wakers_counts);
	RUN(lost_records);
	RUN(execs_and_exits);
	RUN(descriptors_have_names);
	RUN(faults_name_the_file_of_the_last_wait);
	RUN(wakers_have_descriptors);
	RUN(locks_of_the_kernel_have_owners);
	RUN(owners_are_known_after_a_wait_only);
	RUN(a_thread_before_its_fork_record);
	RUN(nothing_is_collected_unless_wanted);
	RUN(windows_of_an_endless_log);
	RUN(silent_threads_have_no_record);
	return check_end();
}
