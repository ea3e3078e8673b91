/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger/ledger_thread.h"

#include "base/memory/hash.h"

static struct thread_track *track_of(struct ledger_threads *l, uint32_t thread)
{
	return vec_at(&l->threads, thread);
}

static struct ledger_process *process_of(struct ledger_threads *l, uint32_t process)
{
	return vec_at(&l->processes, process);
}

/* A shorter time on a CPU may have no samples by chance, or because the rate was lowered. */
#define CONFIRMED_NS UINT64_C(50000000)
#define CONFIRMED_TICKS 20

static bool samples_decide(const struct ledger_threads *l, uint64_t ns)
{
	return l->tick_ns && ns > CONFIRMED_NS && ns / CONFIRMED_TICKS > l->tick_ns;
}

/* The part of a time that the thread was on a CPU. */
static uint64_t confirmed(const struct ledger_threads *l, const struct thread_track *t, uint64_t ns)
{
	bool doubtful = t->assumed && samples_decide(l, ns) && t->weight < ns / 2;

	return doubtful ? t->weight : ns;
}

static bool is_live(const struct thread_track *t)
{
	return t->state != THREAD_UNHEARD && t->state != THREAD_ENDED;
}

static void charge(struct ledger_threads *l, const struct thread_track *t, uint64_t time_ns)
{
	struct ledger_process *p = process_of(l, t->process);
	uint64_t ns = time_ns > t->since_ns ? time_ns - t->since_ns : 0;

	switch (t->state) {
	case THREAD_ON_CPU:
		p->oncpu_ns += confirmed(l, t, ns);
		p->unknown_ns += ns - confirmed(l, t, ns);
		break;
	case THREAD_RUNNABLE:
		p->runnable_ns += ns;
		break;
	case THREAD_BLOCKED:
		p->blocked_ns += ns;
		break;
	case THREAD_UNKNOWN:
		p->unknown_ns += ns;
		break;
	default:
		break;
	}
}

static void enter(struct ledger_threads *l, struct thread_track *t, uint64_t time_ns,
                  enum thread_state state)
{
	charge(l, t, time_ns);
	t->state = state;
	t->weight = 0;
	if (time_ns > t->since_ns)
		t->since_ns = time_ns;
}

/* The first record of a thread, which was in `state` since `start_ns`. */
static void begin(struct ledger_threads *l, struct thread_track *t, uint32_t process,
                  uint64_t start_ns, enum thread_state state)
{
	*t = (struct thread_track){
	        .state = state, .process = process, .since_ns = start_ns, .start_ns = start_ns};
	process_of(l, process)->threads++;
	++*vec_at(&l->live, process);
}

void ledger_thread_found(struct ledger_threads *l, uint32_t thread, uint32_t process)
{
	struct thread_track *t = track_of(l, thread);

	if (t->state != THREAD_UNHEARD)
		return;
	t->found = true;
	t->process = process;
}

bool ledger_thread_is_silent(const struct ledger_threads *l, uint32_t thread, uint64_t now_ns)
{
	const struct thread_track *t;

	if (thread >= l->threads.count || now_ns <= l->start_ns)
		return false;
	t = &l->threads.items[thread];
	return t->found && t->state == THREAD_UNHEARD && samples_decide(l, now_ns - l->start_ns);
}

/* Threads that were found and have no record until now. */
static void begin_found(struct ledger_threads *l, uint64_t now_ns)
{
	uint64_t ns = now_ns > l->start_ns ? now_ns - l->start_ns : 0;

	if (l->of_cpus)
		return;
	vec_each (t, &l->threads)
		if (t->found && t->state == THREAD_UNHEARD) {
			begin(l, t, t->process, l->start_ns,
			      samples_decide(l, ns) ? THREAD_BLOCKED : THREAD_UNKNOWN);
			t->assumed = true;
		}
}

/*
 * The thread to which the switch of an ended thread belongs; NULL: none. The ended thread itself
 * has switches after its exit if they are those of CPUs: it may be preempted until its last one.
 */
static struct thread_track *heir_of(struct ledger_threads *l, struct thread_track *ended, bool out,
                                    bool preempted)
{
	bool own = l->of_cpus && !ended->left;

	ended->left |= out && !preempted;
	if (own || *vec_at(&l->live, ended->process) != 1)
		return NULL;
	vec_each (t, &l->threads)
		if (t->process == ended->process && is_live(t))
			return t;
	return NULL;
}

void ledger_thread_switch(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t time_ns, bool out, bool preempted)
{
	struct thread_track *t = track_of(l, thread);

	if (t->state == THREAD_ENDED)
		t = heir_of(l, t, out, preempted);
	if (!t)
		return;
	if (t->state == THREAD_UNHEARD)
		begin(l, t, process, l->start_ns, out ? THREAD_ON_CPU : THREAD_UNKNOWN);
	t->assumed = false;
	if (time_ns > l->start_ns && out == (t->state == THREAD_ON_CPU))
		process_of(l, t->process)->switches++;
	if (out)
		enter(l, t, time_ns, preempted ? THREAD_RUNNABLE : THREAD_BLOCKED);
	else
		enter(l, t, time_ns, THREAD_ON_CPU);
}

void ledger_thread_sample(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t weight)
{
	struct thread_track *t = track_of(l, thread);

	process_of(l, process)->weight += weight;
	if (t->state == THREAD_UNHEARD) {
		begin(l, t, process, l->start_ns, THREAD_ON_CPU);
		t->assumed = true;
	} else if (t->assumed) {
		t->state = THREAD_ON_CPU;
	}
	t->weight += weight;
}

void ledger_thread_fork(struct ledger_threads *l, uint32_t thread, uint32_t process,
                        uint64_t time_ns)
{
	struct thread_track *t = track_of(l, thread);

	if (t->state == THREAD_UNHEARD)
		begin(l, t, process, time_ns > l->start_ns ? time_ns : l->start_ns,
		      THREAD_RUNNABLE);
}

static void end(struct ledger_threads *l, struct thread_track *t, uint64_t time_ns)
{
	if (t->state == THREAD_UNHEARD || t->state == THREAD_ENDED)
		return;
	enter(l, t, time_ns, THREAD_ENDED);
	if (time_ns > t->start_ns)
		process_of(l, t->process)->wall_ns += time_ns - t->start_ns;
	--*vec_at(&l->live, t->process);
}

void ledger_thread_unseen(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t time_ns)
{
	struct thread_track *t = track_of(l, thread);

	if (t->state == THREAD_UNHEARD)
		begin(l, t, process, time_ns, THREAD_ON_CPU);
}

void ledger_thread_exit(struct ledger_threads *l, uint32_t thread, uint32_t process,
                        uint64_t time_ns)
{
	struct thread_track *t = track_of(l, thread);

	/* Only a running thread can exit: without an earlier switch in, it ran since the start. */
	if (t->state == THREAD_UNHEARD && process != ID_NONE)
		begin(l, t, process, l->start_ns, THREAD_ON_CPU);
	t->assumed &= process == ID_NONE;
	end(l, t, time_ns);
}

void ledger_thread_exec(struct ledger_threads *l, uint32_t old, uint32_t old_process,
                        uint32_t thread, uint32_t process, uint64_t time_ns)
{
	struct thread_track *t;

	if (old != ID_NONE) {
		t = track_of(l, old);
		/*
		 * Only a running thread can exec: without an earlier switch in, it ran since the
		 * start. If a thread is left, it has made the exec, and not the first thread.
		 */
		if (t->state == THREAD_UNHEARD && !*vec_at(&l->live, old_process))
			begin(l, t, old_process, l->start_ns, THREAD_ON_CPU);
		t->assumed = false;
		end(l, t, time_ns);
		if (*vec_at(&l->live, old_process))
			vec_each (other, &l->threads)
				if (other->process == old_process)
					end(l, other, time_ns);
	}
	t = track_of(l, thread);
	if (t->state == THREAD_UNHEARD)
		begin(l, t, process,
		      old == ID_NONE || time_ns < l->start_ns ? l->start_ns : time_ns,
		      THREAD_ON_CPU);
}

static void append_processes(const struct ledger_threads *l, struct ledger *ledger)
{
	for (uint32_t i = 0; i < l->processes.count; i++)
		if (l->processes.items[i].threads) {
			vec_push(&ledger->processes, l->processes.items[i]);
			vec_last(&ledger->processes)->process = i;
		}
}

void ledger_thread_cut(struct ledger_threads *l, uint64_t to_ns, struct ledger *ledger)
{
	begin_found(l, to_ns);
	vec_each (t, &l->threads)
		if (is_live(t)) {
			enter(l, t, to_ns, t->state);
			if (to_ns > t->start_ns)
				process_of(l, t->process)->wall_ns += to_ns - t->start_ns;
			t->start_ns = to_ns;
		}
	append_processes(l, ledger);
	l->processes.count = 0;
	vec_each (t, &l->threads)
		if (is_live(t))
			process_of(l, t->process)->threads++;
	l->start_ns = to_ns;
}

void ledger_thread_renumber(struct ledger_threads *l, const uint32_t *new_thread,
                            size_t thread_count, const uint32_t *new_process, size_t process_count)
{
	struct ledger_threads now = {
	        .start_ns = l->start_ns, .of_cpus = l->of_cpus, .tick_ns = l->tick_ns};

	for (uint32_t i = 0; i < l->threads.count && i < thread_count; i++) {
		const struct thread_track *t = &l->threads.items[i];
		struct thread_track *moved;

		if (!is_live(t) || new_thread[i] == ID_NONE || t->process >= process_count ||
		    new_process[t->process] == ID_NONE)
			continue;
		moved = track_of(&now, new_thread[i]);
		*moved = *t;
		moved->process = new_process[t->process];
		process_of(&now, moved->process)->threads++;
		++*vec_at(&now.live, moved->process);
	}
	ledger_thread_done(l);
	*l = now;
}

void ledger_thread_finish(struct ledger_threads *l, uint64_t end_ns, struct ledger *ledger)
{
	begin_found(l, end_ns);
	vec_each (t, &l->threads)
		end(l, t, end_ns);
	append_processes(l, ledger);
}

void ledger_thread_done(struct ledger_threads *l)
{
	vec_done(&l->threads);
	vec_done(&l->processes);
	vec_done(&l->live);
	*l = (struct ledger_threads){0};
}
