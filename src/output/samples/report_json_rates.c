/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling rates, the cost of the recording, and the fill level of the buffers. */
#include "output/samples/report_json.h"
#include "view/samples/rates.h"

static void rates(struct json *j, const struct recording *rec)
{
	static const char *const reasons[] = {"asked", "budget", "behind"};
	rate_list rows = {0};

	rates_of(rec, &rows);
	json_key(j, "rates");
	json_array(j);
	vec_each (row, &rows) {
		json_object(j);
		json_ku64(j, "from_ns", row->from_ns);
		json_ku64(j, "length_ns", row->length_ns);
		json_ku64(j, "period_ns", row->period_ns);
		json_kdouble(j, "share", row->share);
		json_kstr(j, "reason", reasons[row->reason]);
		json_end_object(j);
	}
	json_end_array(j);
	vec_done(&rows);
}

static void buffers(struct json *j, const struct recording *rec)
{
	json_key(j, "buffers");
	json_array(j);
	vec_each (cpu, &rec->account.cpus) {
		json_object(j);
		json_ku64(j, "cpu", cpu->cpu);
		json_ku64(j, "bytes", cpu->ring_bytes);
		json_ku64(j, "used_max", cpu->ring_used_max);
		json_key(j, "used_average");
		if (cpu->ring_reads)
			json_u64(j, buffer_average(cpu));
		else
			json_null(j);
		json_ku64(j, "lost_records", cpu->lost_records);
		json_end_object(j);
	}
	json_end_array(j);
}

static double share(uint64_t ppm)
{
	return (double)ppm / 1e6;
}

static void budget(struct json *j, const struct account_budget *b)
{
	json_key(j, "budget");
	if (!b->share_ppm) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kdouble(j, "share", share(b->share_ppm));
	json_kdouble(j, "spent", share(b->spent_ppm));
	json_kdouble(j, "most", share(b->most_ppm));
	json_ku64(j, "over_ns", b->over_ns);
	json_ku64(j, "sample_ns", b->cost_ns);
	json_kbool(j, "measured", b->cost_samples != 0);
	json_ku64(j, "sample_low_ns", b->cost_low_ns);
	json_ku64(j, "sample_high_ns", b->cost_high_ns);
	json_ku64(j, "record_ns", b->record_ns);
	json_end_object(j);
}

void report_json_rates(struct json *j, const struct recording *rec)
{
	rates(j, rec);
	buffers(j, rec);
	budget(j, &rec->account.budget);
}
