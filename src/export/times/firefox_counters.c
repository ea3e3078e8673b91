/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/firefox_counters.h"

#include <inttypes.h>
#include <stdio.h>

#define STEP_NS 100000000u
#define STEP_MS 100u
#define NS_PER_MS 1000000.0

static bool is_of(const void *ctx, uint32_t id, const void *key)
{
	const struct firefox_counters *c = ctx;

	return c->counters.items[id].pid == *(const int32_t *)key;
}

static struct firefox_counter *counter_of(struct firefox_counters *c, int32_t pid)
{
	uint64_t hash = hash_u64((uint32_t)pid);
	uint32_t id = id_table_find(&c->by_pid, hash, is_of, c, &pid);
	struct firefox_counter *counter;

	if (id != ID_NONE)
		return &c->counters.items[id];
	id_table_add(&c->by_pid, hash, (uint32_t)c->counters.count);
	counter = vec_add(&c->counters);
	counter->pid = pid;
	return counter;
}

void firefox_counters_add(struct firefox_counters *c, int32_t pid, uint64_t time_ns,
                          uint64_t busy_ns)
{
	struct firefox_counter *counter = counter_of(c, pid);
	uint64_t step = time_ns / STEP_NS;

	if (counter->steps.count && vec_last(&counter->steps)->step >= step)
		vec_last(&counter->steps)->busy_ns += busy_ns;
	else
		vec_push(&counter->steps, (struct firefox_step){step, busy_ns});
}

void firefox_counters_thread(struct firefox_counters *c, int32_t pid, uint32_t thread, bool main)
{
	uint32_t id = id_table_find(&c->by_pid, hash_u64((uint32_t)pid), is_of, c, &pid);
	struct firefox_counter *counter = id == ID_NONE ? NULL : &c->counters.items[id];

	if (counter && (main || !counter->placed)) {
		counter->thread = thread;
		counter->placed = true;
	}
}

/* Writes the time at the end of each step with samples, and at its begin if the step before has no
 * samples. */
static uint64_t put_samples(const struct firefox_counter *c, struct json *j, struct spill *out,
                            bool times)
{
	uint64_t end = UINT64_MAX, count = 0; /* end: of the step before */
	char text[40];

	json_key(j, times ? "time" : "count");
	json_array(j);
	vec_each (step, &c->steps) {
		if (step->step != end) {
			json_u64(j, times ? step->step * STEP_MS : 0);
			count++;
		}
		end = step->step + 1;
		snprintf(text, sizeof(text), "%.6f", (double)step->busy_ns / NS_PER_MS);
		if (times)
			json_u64(j, end * STEP_MS);
		else
			json_raw(j, text);
		count++;
		spill_some(out);
	}
	json_end_array(j);
	return count;
}

static void put_counter(const struct firefox_counter *c, struct json *j, struct spill *out)
{
	char pid[16];
	uint64_t count;

	snprintf(pid, sizeof(pid), "%" PRId32, c->pid);
	json_object(j);
	json_kstr(j, "name", "CPU use");
	json_kstr(j, "category", "CPU");
	json_kstr(j, "description", "CPU time of the process as sampled, in ms");
	json_kstr(j, "pid", pid);
	json_ku64(j, "mainThreadIndex", c->thread);
	json_key(j, "samples");
	json_object(j);
	put_samples(c, j, out, true);
	count = put_samples(c, j, out, false);
	json_ku64(j, "length", count);
	json_end_object(j);
	json_key(j, "display");
	json_raw(j, "{\"graphType\":\"line-rate\",\"unit\":\"\",\"color\":\"blue\","
	            "\"markerSchemaLocation\":null,\"sortWeight\":40,\"label\":\"CPU use\","
	            "\"tooltipRows\":["
	            "{\"type\":\"value\",\"source\":\"rate\",\"format\":{\"unit\":\"number\"},"
	            "\"label\":\"busy CPUs\"},"
	            "{\"type\":\"value\",\"source\":\"committed-range-total\","
	            "\"format\":{\"unit\":\"number\"},\"label\":\"CPU time in this range, ms\"}]}");
	json_end_object(j);
}

void firefox_counters_write(const struct firefox_counters *c, struct json *j, struct spill *out)
{
	json_key(j, "counters");
	json_array(j);
	vec_each (counter, &c->counters)
		if (counter->placed)
			put_counter(counter, j, out);
	json_end_array(j);
}

void firefox_counters_done(struct firefox_counters *c)
{
	vec_each (counter, &c->counters)
		vec_done(&counter->steps);
	vec_done(&c->counters);
	id_table_done(&c->by_pid);
}
