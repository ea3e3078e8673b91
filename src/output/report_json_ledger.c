/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/report_json.h"

static void sampled(struct json *j, const struct account_view *a, const char *key, uint64_t ns)
{
	json_key(j, key);
	if (a->has_kernel)
		json_u64(j, ns);
	else
		json_null(j);
}

static void terms(struct json *j, const struct account_view *a, const struct account_terms *t)
{
	json_ku64(j, "user_ns", t->user_ns);
	sampled(j, a, "kernel_ns", account_kernel_ns(t));
	sampled(j, a, "irq_ns", account_irq_ns(t));
	json_ku64(j, "idle_ns", t->idle_ns);
	json_ku64(j, "steal_ns", t->steal_ns);
	json_key(j, "unobserved_ns");
	if (a->has_unobserved)
		json_i64(j, t->unobserved_ns);
	else
		json_null(j);
	json_ki64(j, "residual_ns", t->residual_ns);
}

static void split(struct json *j, const struct account_view *a)
{
	const struct account_terms *t = &a->total;

	json_key(j, "kernel_split");
	if (a->has_split) {
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
	if (a->has_split) {
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
	json_ku64(j, "user", k->user);
	json_ku64(j, "kernel", k->kernel);
	json_ku64(j, "irq", k->irq);
	json_ku64(j, "idle", k->idle);
	json_ku64(j, "all", k->all);
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
		json_ku64(j, "wall_ns", line->terms.wall_ns);
		terms(j, a, &line->terms);
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
	json_ku64(j, "wall_ns", a->wall_ns);
	json_ku64(j, "cpus", a->cpus);
	json_ku64(j, "elapsed_ns", r->elapsed_ns);
	terms(j, a, &a->total);
	json_ku64(j, "unknown_ns", a->total.unknown_ns);
	json_ku64(j, "lost_ns", a->total.lost_ns);
	json_key(j, "steal_measured_ns");
	if (a->has_steal)
		json_u64(j, a->total.steal_measured_ns);
	else
		json_null(j);
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
