/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/wait_log.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define NO_CPU UINT16_MAX

static struct wait_thread *thread_of(struct wait_log *l, uint32_t thread)
{
	return vec_at(&l->threads, thread);
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t key_hash(const struct wait_key *k)
{
	uint64_t flags = k->woken | (uint64_t)k->uninterruptible << 8 |
	                 (uint64_t)k->in_system_call << 9 | (uint64_t)k->since_start << 10 |
	                 (uint64_t)k->lost << 11 | (uint64_t)k->lock_flags << 12 |
	                 (uint64_t)k->waker_owned << 20;
	uint64_t places = hash_pair((uint64_t)k->thread << 32 | k->path,
	                            (uint64_t)k->waker << 32 | k->waker_path);

	uint64_t objects =
	        hash_pair(k->argument ^ (uint64_t)k->fault_file << 32, flags << 32 ^ k->descriptor);

	if (k->has_waker_number)
		objects = hash_pair(objects, (uint64_t)k->waker_number << 32 | k->waker_descriptor);
	return hash_pair(places, objects);
}

static bool key_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_key *a = &((const struct wait_log *)ctx)->sums.items[id].key, *b = key;

	return a->thread == b->thread && a->path == b->path && a->waker == b->waker &&
	       a->waker_path == b->waker_path && a->argument == b->argument &&
	       a->descriptor == b->descriptor && a->fault_file == b->fault_file &&
	       a->woken == b->woken && a->uninterruptible == b->uninterruptible &&
	       a->in_system_call == b->in_system_call &&
	       a->has_waker_number == b->has_waker_number && a->waker_number == b->waker_number &&
	       a->waker_descriptor == b->waker_descriptor && a->since_start == b->since_start &&
	       a->lost == b->lost && a->lock_flags == b->lock_flags &&
	       a->waker_owned == b->waker_owned;
}

/* The combination of a thread that remains if there are too many. */
static struct wait_key coarse_key(const struct wait_log *l, const struct wait_key *k)
{
	return (struct wait_key){.thread = k->thread,
	                         .path = l->unknown_path,
	                         .waker = ID_NONE,
	                         .waker_path = ID_NONE,
	                         .descriptor = ID_NONE,
	                         .waker_descriptor = ID_NONE,
	                         .woken = k->woken,
	                         .since_start = k->since_start,
	                         .lost = k->lost};
}

uint32_t wait_log_sum(struct wait_log *l, const struct wait_key *key)
{
	uint64_t max = l->max_sums ? l->max_sums : WAIT_SUMS_MAX;
	struct wait_key k = *key;
	uint64_t hash = key_hash(&k);
	uint32_t id = id_table_find(&l->sum_index, hash, key_equal, l, &k);

	if (id == ID_NONE && l->sums.count >= max) {
		k = coarse_key(l, key);
		hash = key_hash(&k);
		id = id_table_find(&l->sum_index, hash, key_equal, l, &k);
		l->coarse++;
	}
	if (id != ID_NONE)
		return id;
	id = (uint32_t)l->sums.count;
	vec_push(&l->sums, (struct wait_sum){.key = k});
	id_table_add(&l->sum_index, hash, id);
	return id;
}

uint64_t wait_log_blocked_ns(const struct wait_log *l, const struct wait *w)
{
	return l->sums.items[w->sum].key.woken == WAIT_PREEMPTED ? 0
	       : w->woken_ns                                     ? w->woken_ns - w->out_ns
	                                                         : w->in_ns - w->out_ns;
}

static void add_to_sum(struct wait_log *l, const struct wait *w)
{
	struct wait_sum *sum = &l->sums.items[w->sum];
	uint64_t blocked = wait_log_blocked_ns(l, w);

	sum->count++;
	sum->blocked_ns += blocked;
	sum->runnable_ns += w->in_ns - w->out_ns - blocked;
	sum->max_ns = max_of(sum->max_ns, w->in_ns - w->out_ns);
}

static bool is_runnable(const struct wait_thread *t)
{
	return t->has_place && t->place.is_state_known ? t->place.is_runnable : t->preempted;
}

static enum wait_woken woken_of(const struct wait_thread *t, bool lost)
{
	if (is_runnable(t))
		return WAIT_PREEMPTED;
	if (lost)
		return WAIT_NOT_SEEN;
	if (t->has_wake)
		return t->wake.by;
	/* FORK without a record of the first wake-up: the thread had to wait for a CPU only. */
	return t->is_new ? WAIT_PREEMPTED : WAIT_NOT_SEEN;
}

static void set_waker(const struct wait_log *l, const struct wait_wake *wake, struct wait_key *k)
{
	k->waker = wake->waker;
	k->has_waker_number = wake->process != ID_NONE && wake->argument < WAIT_NUMBER_MAX;
	if (!k->has_waker_number)
		return;
	k->waker_number = (uint32_t)wake->argument;
	k->waker_descriptor = descriptor_numbers_get(&l->numbers, wake->process, wake->argument);
}

/* The thread still waits for the lock when it is switched in: the end of the contention follows. */
static void set_lock(const struct wait_log *l, struct wait_key *k)
{
	struct wait_contended lock = wait_contention_of(&l->contention, k->thread);

	if (!lock.address)
		return;
	k->lock_flags = lock.flags;
	k->waker_owned = k->woken == WAIT_BY_THREAD && k->waker != ID_NONE &&
	                 wait_contention_owner(&l->contention, lock.address) == k->waker;
}

static struct wait_key key_of(const struct wait_log *l, uint32_t thread,
                              const struct wait_thread *t, enum wait_woken woken, bool lost)
{
	struct wait_key k = {.thread = thread,
	                     .path = t->has_place ? t->place.path : l->unknown_path,
	                     .waker = ID_NONE,
	                     .waker_path = ID_NONE,
	                     .descriptor = ID_NONE,
	                     .waker_descriptor = ID_NONE,
	                     .woken = (uint8_t)woken,
	                     .since_start = t->since_start,
	                     .lost = lost};

	if (woken == WAIT_BY_THREAD || woken == WAIT_BY_SOFTIRQ)
		set_waker(l, &t->wake, &k);
	if (woken >= WAIT_BY_THREAD && woken <= WAIT_BY_SOFTIRQ)
		k.waker_path = t->wake.path;
	if (!t->has_place || is_runnable(t))
		return k;
	set_lock(l, &k);
	k.uninterruptible = t->place.uninterruptible;
	k.in_system_call = t->place.in_system_call;
	if (k.in_system_call) {
		k.argument = t->place.argument;
		k.descriptor = descriptor_numbers_get(&l->numbers, t->process, k.argument);
	}
	return k;
}

void wait_log_add(struct wait_log *l, const struct wait *w)
{
	add_to_sum(l, w);
	if (l->waits.count < (l->max ? l->max : WAIT_LOG_MAX))
		vec_push(&l->waits, *w);
	else
		l->beyond++;
}

/* The thread is on a CPU again, or the wait is cut at its end: `is_open`. */
static void end_wait(struct wait_log *l, uint32_t thread, uint64_t end_ns, uint16_t in_cpu,
                     bool is_lost, bool is_open)
{
	struct wait_thread *t = &l->threads.items[thread];
	bool lost = is_lost || t->losses != l->losses;
	enum wait_woken woken = woken_of(t, lost);
	struct wait w = {.out_ns = t->out_ns,
	                 .in_ns = max_of(end_ns, t->out_ns),
	                 .instead = t->has_place ? t->place.instead : ID_NONE,
	                 .out_cpu = t->cpu,
	                 .in_cpu = in_cpu,
	                 .waker_cpu = NO_CPU};
	struct wait_key key;

	if (woken >= WAIT_BY_THREAD) {
		w.woken_ns = min_of(max_of(t->wake.time_ns, w.out_ns), w.in_ns);
		w.waker_cpu = t->wake.cpu;
	} else if (woken == WAIT_PREEMPTED) {
		w.woken_ns = w.out_ns;
	}
	key = key_of(l, thread, t, is_open ? WAIT_OPEN : woken, lost);
	w.sum = wait_log_sum(l, &key);
	wait_log_add(l, &w);
	t->last = l->beyond ? 0 : (uint32_t)l->waits.count;
}

static void go_on_cpu(struct wait_thread *t)
{
	*t = (struct wait_thread){.state = WAIT_ON_CPU, .process = t->process, .last = t->last};
}

static void begin_wait(struct wait_log *l, struct wait_thread *t, uint64_t time_ns)
{
	t->state = WAIT_OFF_CPU;
	t->out_ns = max_of(time_ns, l->start_ns);
	t->losses = l->losses;
	t->cpu = NO_CPU;
}

static void switch_in(struct wait_log *l, const struct wait_switch *s)
{
	struct wait_thread *t = thread_of(l, s->thread);

	if (t->state == WAIT_UNSEEN && s->time_ns > l->start_ns) {
		begin_wait(l, t, l->start_ns);
		t->losses = 0;
		t->since_start = true;
		t->has_place = false;
	}
	if (t->state == WAIT_OFF_CPU)
		end_wait(l, s->thread, s->time_ns, s->cpu, false, false);
	else if (t->state == WAIT_ON_CPU)
		l->unpaired++;
	go_on_cpu(t);
	t->process = s->process;
}

static void switch_out(struct wait_log *l, const struct wait_switch *s)
{
	struct wait_thread *t = thread_of(l, s->thread);

	/* The switch in was lost. */
	if (t->state == WAIT_OFF_CPU) {
		end_wait(l, s->thread, s->time_ns, NO_CPU, true, false);
		go_on_cpu(t);
	}
	begin_wait(l, t, s->time_ns);
	t->process = s->process;
	t->cpu = s->cpu;
	t->preempted = s->preempted;
	if (!t->has_place) {
		t->place = (struct wait_place){.path = l->unknown_path, .instead = s->instead};
		t->has_place = true;
	} else if (t->place.instead == ID_NONE) {
		t->place.instead = s->instead;
	}
}

void wait_log_switch(struct wait_log *l, const struct wait_switch *s)
{
	if (!l->wanted || thread_of(l, s->thread)->state == WAIT_GONE)
		return;
	if (s->out)
		switch_out(l, s);
	else
		switch_in(l, s);
}

void wait_log_place(struct wait_log *l, uint32_t thread, const struct wait_place *place)
{
	struct wait_thread *t;
	uint32_t instead;

	if (!l->wanted)
		return;
	t = thread_of(l, thread);
	if (t->state == WAIT_GONE)
		return;
	instead = t->has_place && place->instead == ID_NONE ? t->place.instead : place->instead;
	t->place = *place;
	t->place.instead = instead;
	t->has_place = true;
}

static void set_birth(struct wait_log *l, struct wait_thread *t, const struct wait_wake *wake)
{
	struct wait_birth birth = {.time_ns = wake->time_ns,
	                           .thread = wake->thread,
	                           .parent = wake->by == WAIT_BY_THREAD ? wake->waker : ID_NONE,
	                           .parent_path = wake->path};

	if (!t->birth) {
		vec_push(&l->births, birth);
		t->birth = (uint32_t)l->births.count;
	} else {
		l->births.items[t->birth - 1] = birth;
	}
}

void wait_log_wake(struct wait_log *l, const struct wait_wake *wake)
{
	struct wait_thread *t;

	if (!l->wanted)
		return;
	l->wakings++;
	if (wake->thread == ID_NONE)
		return;
	t = thread_of(l, wake->thread);
	if (t->state == WAIT_GONE)
		return;
	if (wake->is_new) {
		if (t->state == WAIT_UNSEEN)
			begin_wait(l, t, wake->time_ns);
		t->is_new = true;
		set_birth(l, t, wake);
	}
	/* The first wake-up of a wait ends it; one before the switch out counts if no other does.
	 */
	if (t->state == WAIT_OFF_CPU && t->has_wake && !t->early)
		return;
	t->early = t->state != WAIT_OFF_CPU;
	t->wake = *wake;
	t->has_wake = true;
}

void wait_log_fork(struct wait_log *l, uint32_t thread, uint32_t process, uint32_t parent,
                   uint64_t time_ns)
{
	struct wait_thread *t;

	if (!l->wanted)
		return;
	t = thread_of(l, thread);
	if (t->state != WAIT_UNSEEN)
		return;
	begin_wait(l, t, time_ns);
	t->process = process;
	t->is_new = true;
	vec_push(&l->births, (struct wait_birth){.time_ns = time_ns,
	                                         .thread = thread,
	                                         .parent = parent,
	                                         .parent_path = ID_NONE});
	t->birth = (uint32_t)l->births.count;
}

void wait_log_exit(struct wait_log *l, uint32_t thread, uint64_t time_ns)
{
	struct wait_thread *t;

	if (!l->wanted)
		return;
	t = thread_of(l, thread);
	if (t->state == WAIT_OFF_CPU)
		end_wait(l, thread, time_ns, NO_CPU, true, false);
	t->state = WAIT_GONE;
}

void wait_log_exec(struct wait_log *l, uint32_t old, uint32_t thread, uint64_t time_ns)
{
	struct wait_thread *t;

	if (!l->wanted)
		return;
	if (old != ID_NONE && old != thread)
		wait_log_exit(l, old, time_ns);
	t = thread_of(l, thread);
	if (t->state != WAIT_UNSEEN)
		return;
	t->state = WAIT_ON_CPU;
	if (old != ID_NONE && old != thread)
		vec_push(&l->births, (struct wait_birth){.time_ns = time_ns,
		                                         .thread = thread,
		                                         .parent = old,
		                                         .parent_path = ID_NONE,
		                                         .is_exec = true});
}

void wait_log_heard(struct wait_log *l, uint16_t cpu, uint64_t time_ns)
{
	if (!l->wanted || cpu == NO_CPU || !time_ns)
		return;
	*vec_at(&l->heard, cpu) = time_ns;
}

static void take_from_sum(struct wait_log *l, const struct wait *w)
{
	struct wait_sum *sum = &l->sums.items[w->sum];
	uint64_t blocked = wait_log_blocked_ns(l, w);

	sum->count--;
	sum->blocked_ns -= blocked;
	sum->runnable_ns -= w->in_ns - w->out_ns - blocked;
	l->has_moved = true;
}

/* Moves a wait that ended before the loss was known to the sum without a waker. */
static void lose_wait(struct wait_log *l, struct wait *w)
{
	struct wait_key key = l->sums.items[w->sum].key;

	take_from_sum(l, w);
	key.lost = true;
	if (key.woken != WAIT_PREEMPTED) {
		key.woken = WAIT_NOT_SEEN;
		key.waker = key.waker_path = key.waker_descriptor = ID_NONE;
		key.waker_number = 0;
		key.has_waker_number = key.waker_owned = false;
		w->woken_ns = 0;
		w->waker_cpu = NO_CPU;
	}
	w->sum = wait_log_sum(l, &key);
	add_to_sum(l, w);
}

void wait_log_lost(struct wait_log *l, uint16_t cpu, uint64_t time_ns)
{
	uint64_t since_ns = cpu < l->heard.count ? l->heard.items[cpu] : l->start_ns;

	if (!l->wanted)
		return;
	l->losses++;
	wait_contention_forget(&l->contention);
	for (size_t i = l->waits.count; i-- > 0 && l->waits.items[i].in_ns >= since_ns;)
		if (!l->sums.items[l->waits.items[i].sum].key.lost)
			lose_wait(l, &l->waits.items[i]);
	wait_log_heard(l, cpu, time_ns);
}

void wait_log_fault(struct wait_log *l, uint32_t thread, uint32_t descriptor)
{
	struct wait_thread *t;
	struct wait_key key;
	struct wait *w;

	if (!l->wanted)
		return;
	t = thread_of(l, thread);
	w = t->last ? &l->waits.items[t->last - 1] : NULL;
	t->last = 0;
	if (!w || l->sums.items[w->sum].key.woken == WAIT_PREEMPTED)
		return;
	key = l->sums.items[w->sum].key;
	take_from_sum(l, w);
	key.fault_file = descriptor + 1;
	w->sum = wait_log_sum(l, &key);
	add_to_sum(l, w);
}

uint32_t wait_log_descriptor(struct wait_log *l, uint32_t process, uint32_t number,
                             uint64_t from_ns, const char *name)
{
	if (!l->wanted || l->descriptors.count >= WAIT_DESCRIPTORS_MAX)
		return ID_NONE;
	vec_push(&l->descriptors, (struct wait_descriptor){.from_ns = from_ns,
	                                                   .process = process,
	                                                   .number = number,
	                                                   .name = xstrdup(name)});
	return (uint32_t)l->descriptors.count - 1;
}

void wait_log_number(struct wait_log *l, uint32_t process, uint32_t number, uint32_t descriptor)
{
	if (l->wanted)
		descriptor_numbers_set(&l->numbers, process, number, descriptor);
}

void wait_log_discard(struct wait_log *l, uint64_t from_ns)
{
	if (!l->wanted)
		return;
	l->start_ns = from_ns;
	l->waits.count = l->sums.count = l->births.count = 0;
	id_table_clear(&l->sum_index);
	l->beyond = l->coarse = l->wakings = l->unpaired = 0;
	vec_each (t, &l->threads) {
		t->birth = t->last = 0;
		t->out_ns = max_of(t->out_ns, from_ns);
	}
}

/* Computes the maxima of sums again from the single waits. */
static void compute_max(struct wait_log *l)
{
	vec_each (sum, &l->sums)
		sum->max_ns = 0;
	vec_each (w, &l->waits) {
		struct wait_sum *sum = &l->sums.items[w->sum];

		sum->max_ns = max_of(sum->max_ns, w->in_ns - w->out_ns);
	}
}

void wait_log_tidy(struct wait_log *l)
{
	uint32_t *now = xmalloc((l->sums.count + 1) * sizeof(*now));
	uint32_t kept = 0;

	for (size_t i = 0; i < l->sums.count; i++) {
		now[i] = kept;
		if (l->sums.items[i].count)
			l->sums.items[kept++] = l->sums.items[i];
	}
	l->sums.count = kept;
	vec_each (w, &l->waits)
		w->sum = now[w->sum];
	free(now);
}

static void keep_running(struct wait_log *l)
{
	l->running.count = 0;
	vec_each (t, &l->threads)
		vec_push(&l->running, t->state == WAIT_ON_CPU);
}

static void forget_state(struct wait_log *l)
{
	wait_contention_done(&l->contention);
	descriptor_numbers_done(&l->numbers);
	vec_done(&l->threads);
	vec_done(&l->heard);
	id_table_done(&l->sum_index);
}

void wait_log_silent(struct wait_log *l, uint32_t thread, bool in_ledger)
{
	const struct wait_thread *t;

	if (!l->wanted || l->endless)
		return;
	t = thread_of(l, thread);
	if (t->state != WAIT_UNSEEN || t->has_wake)
		return;
	vec_push(&l->silent, thread);
	l->silent_in_ledger = in_ledger;
	l->silent_lost |= l->losses != 0;
}

void wait_log_finish(struct wait_log *l, uint64_t end_ns)
{
	size_t ended;

	if (!l->wanted)
		return;
	ended = l->waits.count;
	for (uint32_t i = 0; i < l->threads.count; i++)
		if (l->threads.items[i].state == WAIT_OFF_CPU)
			end_wait(l, i, end_ns, NO_CPU, false, true);
	l->open = l->waits.count - ended;
	if (l->has_moved && !l->beyond)
		compute_max(l);
	if (l->has_moved)
		wait_log_tidy(l);
	l->end_ns = end_ns;
	if (l->endless)
		return;
	l->losses = 0;
	keep_running(l);
	forget_state(l);
}

void wait_log_next(struct wait_log *l)
{
	l->waits.count = l->sums.count = l->births.count = l->open = 0;
	id_table_clear(&l->sum_index);
	l->beyond = l->coarse = l->wakings = l->unpaired = 0;
	l->has_moved = false;
	vec_each (t, &l->threads)
		t->birth = t->last = 0;
}

static uint32_t id_now(const uint32_t *map, size_t count, uint32_t id)
{
	return id < count ? map[id] : ID_NONE;
}

/* The present names of the numbers of processes that are not gone. */
static void renumber_descriptors(struct wait_log *l, const uint32_t *map, size_t count)
{
	struct wait_log old = *l;

	memset(&l->descriptors, 0, sizeof(l->descriptors));
	l->numbers = (struct descriptor_numbers){0};
	vec_each (n, &old.numbers.items) {
		const struct wait_descriptor *d = &old.descriptors.items[n->descriptor];
		uint32_t process = id_now(map, count, n->process), descriptor;

		if (process == ID_NONE)
			continue;
		descriptor = wait_log_descriptor(l, process, d->number, d->from_ns, d->name);
		wait_log_number(l, process, n->number, descriptor);
	}
	vec_each (d, &old.descriptors)
		free(d->name);
	vec_done(&old.descriptors);
	descriptor_numbers_done(&old.numbers);
}

void wait_log_renumber(struct wait_log *l, const uint32_t *new_thread, size_t thread_count,
                       const uint32_t *new_process, size_t process_count, uint32_t unknown_path)
{
	struct wait_log old = *l;

	if (!l->wanted)
		return;
	memset(&l->threads, 0, sizeof(l->threads));
	for (uint32_t i = 0; i < old.threads.count; i++) {
		uint32_t id = id_now(new_thread, thread_count, i);
		struct wait_thread t = old.threads.items[i];

		if (id == ID_NONE)
			continue;
		t.process = id_now(new_process, process_count, t.process);
		t.place.path = unknown_path;
		t.place.instead = id_now(new_thread, thread_count, t.place.instead);
		t.wake.waker = id_now(new_thread, thread_count, t.wake.waker);
		t.wake.path = ID_NONE;
		*thread_of(l, id) = t;
	}
	vec_done(&old.threads);
	renumber_descriptors(l, new_process, process_count);
	wait_addresses_done(&l->addresses);
	wait_contention_done(&l->contention);
	l->unknown_path = unknown_path;
}

void wait_log_done(struct wait_log *l)
{
	vec_each (d, &l->descriptors)
		free(d->name);
	vec_done(&l->sums);
	vec_done(&l->waits);
	vec_done(&l->descriptors);
	vec_done(&l->births);
	vec_done(&l->running);
	vec_done(&l->silent);
	wait_addresses_done(&l->addresses);
	forget_state(l);
}
