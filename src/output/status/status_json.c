/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/status/status_json.h"

static const char *word(const char *const *words, size_t count, uint64_t number)
{
	return number < count ? words[number] : "unknown";
}

#define WORD(words, number) word(words, sizeof(words) / sizeof(*(words)), number)

static void text_or_null(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (text)
		json_str(j, text);
	else
		json_null(j);
}

static void number_or_null(struct json *j, const char *key, bool known, uint64_t number)
{
	json_key(j, key);
	if (known)
		json_u64(j, number);
	else
		json_null(j);
}

static void what_it_is(const struct session_account *a, struct json *j)
{
	static const char *const states[] = {"starting", "running", "ended", "killed"};
	static const char *const kinds[] = {"file", "ring", "store"};
	static const char *const ends[] = {"",      "stopped", "signal", "processes gone",
	                                   "error", "duration"};

	json_kstr(j, "name", a->name ? a->name : "");
	json_kstr(j, "state", WORD(states, a->state));
	text_or_null(j, "end", a->end ? WORD(ends, a->end) : NULL);
	text_or_null(j, "error", a->error);
	number_or_null(j, "pid", a->pid, a->pid);
	text_or_null(j, "sampled", a->what);
	json_kstr(j, "kind", WORD(kinds, a->kind));
	text_or_null(j, "output", a->output);
	json_ku64(j, "started_ns", a->started_wall_ns);
}

/* For a session that was killed, no further figures are known. */
static void figures(const struct session_account *a, struct json *j)
{
	bool known = a->ticks_known, due = known && a->machine_wide, timed = a->period_ns != 0;
	bool holds = a->kind == SESSION_RING && a->state != SESSION_ENDED;

	json_ku64(j, "now_ns", a->now_wall_ns);
	json_ku64(j, "elapsed_ns", a->elapsed_ns);
	json_key(j, "ticks");
	json_object(j);
	number_or_null(j, "all", known, session_account_ticks(a));
	number_or_null(j, "user", known, a->ticks_user);
	number_or_null(j, "system", known, a->ticks_system);
	number_or_null(j, "idle", due, a->ticks_idle);
	number_or_null(j, "unobserved", due, a->ticks_unobserved);
	json_end_object(j);
	json_ku64(j, "samples", a->samples);
	json_ku64(j, "records", a->records);
	json_ku64(j, "dropped_records", a->lost_records);
	json_ku64(j, "bytes", a->bytes);
	number_or_null(j, "held_ns", holds, a->held_ns);
	number_or_null(j, "held_most_bytes", holds, a->held_most);
	number_or_null(j, "left_samples", holds, a->left_samples);
	json_ku64(j, "own_cpu_ns", a->observer_cpu_ns);
	json_ku64(j, "own_wakeups", a->observer_wakeups);
	json_ku64(j, "read_gap_max_ns", a->read_gap_max_ns);
	number_or_null(j, "period_ns", timed, a->period_ns);
	number_or_null(j, "period_asked_ns", timed, a->period_asked_ns);
	number_or_null(j, "sample_cost_ns", a->sample_cost_ns, a->sample_cost_ns);
	json_ku64(j, "snapshots", a->snapshots);
	text_or_null(j, "snapshot", a->snapshot);
}

static void rules(const struct session_account *a, struct json *j)
{
	json_key(j, "rules");
	json_array(j);
	vec_each (r, &a->rules) {
		json_object(j);
		json_kstr(j, "rule", r->text);
		json_key(j, "value");
		if (r->known)
			json_double(j, (double)r->value_milli / 1e3);
		else
			json_null(j);
		json_key(j, "holds");
		json_bool(j, r->holds);
		json_ku64(j, "fired", r->fired);
		json_ku64(j, "held_back", r->held_back);
		number_or_null(j, "fired_ns", r->fired_wall_ns, r->fired_wall_ns);
		json_end_object(j);
	}
	json_end_array(j);
}

static void lists(const struct session_account *a, struct json *j)
{
	json_key(j, "cpus");
	json_array(j);
	vec_each (c, &a->cpus) {
		json_object(j);
		json_ku64(j, "cpu", c->cpu);
		json_ku64(j, "buffer_bytes", c->ring_bytes);
		json_ku64(j, "used_bytes", c->ring_used);
		json_ku64(j, "used_max_bytes", c->ring_used_max);
		json_ku64(j, "used_average_bytes", c->ring_used_average);
		json_ku64(j, "dropped_records", c->lost_records);
		json_end_object(j);
	}
	json_end_array(j);
	rules(a, j);
	json_key(j, "notes");
	json_array(j);
	vec_each (note, &a->notes)
		json_str(j, *note);
	json_end_array(j);
}

void status_json(const struct session_account *a, struct json *j)
{
	json_object(j);
	what_it_is(a, j);
	if (a->state == SESSION_RUNNING || a->state == SESSION_ENDED) {
		figures(a, j);
		lists(a, j);
	}
	json_end_object(j);
}
