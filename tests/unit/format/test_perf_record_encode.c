/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that have no form as a record, or are too long for it. */
#include "check.h"
#include "perf_data_fixture.h"

#include "format/perf/perf_record.h"

static void records_that_do_not_fit_are_not_encoded(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event sample = fixture_sample(1, 0, NULL, 0);
	struct error err = {0};
	struct buf out = {0};
	uint64_t *deep = xcalloc(8200, sizeof(*deep));

	attr.sample_type |= PERF_SAMPLE_WEIGHT;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -22);
	attr = fixture_clock();
	sample.sample.chain = deep;
	sample.sample.chain_count = 8200;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -7);
	CHECK_EQ(out.size, 0);
	sample.kind = EVENT_READ;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -22);
	CHECK_EQ(out.size, 0);
	buf_done(&out);
	free(deep);
}

int main(void)
{
	RUN(records_that_do_not_fit_are_not_encoded);
	return check_end();
}
