/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/report_json.h"

static void known(struct json *j, const char *key, bool is_known, int64_t value)
{
	json_key(j, key);
	if (is_known)
		json_i64(j, value);
	else
		json_null(j);
}

static void terms(struct json *j, const struct account_view *a, const struct account_terms *t)
{
	bool timed = account_is_timed(a);

	known(j, "user_ns", timed, (int64_t)t->user_ns);
	known(j, "kernel_ns", timed && a->has_kernel, (int64_t)account_kernel_ns(t));
	known(j, "irq_ns", timed && a->has_kernel, (int64_t)account_irq_ns(t));
	known(j, "idle_ns", a->present, (int64_t)t->idle_ns);
	known(j, "steal_ns", a->present, (int64_t)t->steal_ns);
	known(j, "unobserved_ns", a->present && a->has_unobserved, t->unobserved_ns);
	known(j, "residual_ns", a->present, t->residual_ns);
}

/* Counts of an event that does not measure time. */
static void modes(struct json *j, const struct account_view *a, const struct account_modes *m)
{
	json_key(j, "events");
	if (!a->counted) {
		json_null(j);
		return;
	}
	json_object(j);
	json_ku64(j, "user", m->user);
	known(j, "kernel", a->has_kernel, (int64_t)m->kernel);
	known(j, "irq", a->has_kernel, (int64_t)m->irq);
	json_ku64(j, "idle", m->idle);
	json_ku64(j, "all", m->all);
	json_end_object(j);
}

static void split(struct json *j, const struct account_view *a)
{
	const struct account_terms *t = &a->total;
	bool has_split = a->has_split && account_is_timed(a);

	json_key(j, "kernel_split");
	if (has_split) {
		json_object(j);
		json_ku64(j, "syscalls_ns", t->syscalls_ns);
		json_ku64(j, "faults_ns", t->faults_ns);
		json_ku64(j, "threads_ns", t->threads_ns);
		json_ku64(j, "other_ns", t->other_ns);
		json_end_object(j);
	} else {
		json_null(j);
	}
	json_key(j, "interrupt_split");
	if (has_split) {
		json_object(j);
		json_ku64(j, "hard_ns", t->hardirq_ns);
		json_ku64(j, "softirq_ns", t->softirq_ns);
		json_ku64(j, "in_idle_ns", t->idle_irq_ns);
		json_end_object(j);
	} else {
		json_null(j);
	}
}

static void ticks(struct json *j, const struct account_ticks *k)
{
	json_key(j, "ticks");
	json_object(j);
	json_ku64(j, "user", k->seen.user);
	json_ku64(j, "kernel", k->seen.kernel);
	json_ku64(j, "irq", k->seen.irq);
	json_ku64(j, "idle", k->seen.idle);
	json_ku64(j, "all", k->seen.all);
	json_ku64(j, "due", k->due);
	json_ku64(j, "missing", k->missing_busy + k->missing_idle);
	json_ku64(j, "missing_busy", k->missing_busy);
	json_ku64(j, "missing_idle", k->missing_idle);
	json_ku64(j, "lost", k->lost);
	json_ku64(j, "throttled", k->throttled);
	json_end_object(j);
}

static void per_cpu(struct json *j, const struct account_view *a)
{
	json_key(j, "per_cpu");
	json_array(j);
	vec_each (line, &a->lines) {
		json_object(j);
		json_ku64(j, "cpu", line->cpu);
		known(j, "wall_ns", line->terms.wall_ns, (int64_t)line->terms.wall_ns);
		terms(j, a, &line->terms);
		modes(j, a, &line->events);
		json_end_object(j);
	}
	json_end_array(j);
}

static void of_process(struct json *j, const struct account_view *a)
{
	json_ku64(j, "threads", a->threads);
	json_ku64(j, "thread_wall_ns", a->total.wall_ns);
	json_ku64(j, "oncpu_ns", a->oncpu_ns);
	json_ku64(j, "runnable_ns", a->runnable_ns);
	json_ku64(j, "blocked_ns", a->blocked_ns);
	json_key(j, "counted_oncpu_ns");
	if (a->counted_oncpu_ns)
		json_u64(j, a->counted_oncpu_ns);
	else
		json_null(j);
}

void report_json_ledger(struct json *j, const struct report *r)
{
	const struct account_view *a = r->account;

	json_key(j, "ledger");
	json_object(j);
	json_kstr(j, "scope", a->machine_wide ? "machine" : "process");
	json_kbool(j, "closed", a->present);
	known(j, "wall_ns", a->wall_ns, (int64_t)a->wall_ns);
	json_ku64(j, "cpus", a->cpus);
	known(j, "elapsed_ns", r->elapsed_ns, (int64_t)r->elapsed_ns);
	terms(j, a, &a->total);
	modes(j, a, &a->events);
	known(j, "unknown_ns", a->present, (int64_t)a->total.unknown_ns);
	known(j, "lost_ns", a->present, (int64_t)a->total.lost_ns);
	known(j, "steal_measured_ns", a->has_steal, (int64_t)a->total.steal_measured_ns);
	split(j, a);
	ticks(j, &a->ticks);
	if (a->machine_wide)
		per_cpu(j, a);
	else
		of_process(j, a);
	json_key(j, "remarks");
	json_array(j);
	vec_each (text, &a->remarks)
		json_str(j, *text);
	json_end_array(j);
	json_end_object(j);
}
