/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A long read of the rings has pauses in which requests are served. */
#include "session/session.h"
#include "session/sink.h"

#include "check.h"

#include <unistd.h>

/* A sink that writes nothing and wants records in time order. */
static int open_sink(struct session_sink *s, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	return 0;
}

static int drop(struct session_sink *s, const void *records, size_t bytes, struct error *err)
{
	return 0;
}

static int flush(struct session_sink *s, const struct session_status *now, struct error *err)
{
	return 0;
}

static int close_sink(struct session_sink *s, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	return 0;
}

static void abandon(struct session_sink *s, bool began)
{
}

static uint64_t bytes_of(const struct session_sink *s)
{
	return 0;
}

static const struct session_sink_ops ops = {.open = open_sink,
                                            .append = drop,
                                            .flush = flush,
                                            .close = close_sink,
                                            .abandon = abandon,
                                            .bytes = bytes_of};

struct served {
	unsigned tasks, idle, busy;
	uint64_t busy_records; /* that the status had in the last pause */
	bool grows;            /* from pause to pause */
};

/* Each record of a task takes 1 ms, as on a machine that is very busy. */
static void slow_task(void *ctx, struct session *s, const struct event *e)
{
	struct served *served = ctx;

	served->tasks++;
	usleep(1000);
}

static void serve(void *ctx, struct session *s)
{
	struct served *served = ctx;
	struct session_status status;

	if (!session_is_busy(s)) {
		served->idle++;
		return;
	}
	session_status_take(s, &status);
	served->grows = served->grows && status.records > served->busy_records;
	served->busy_records = status.records;
	served->busy++;
	session_status_done(&status);
}

static void requests_are_served_in_a_long_read(void)
{
	char *command[] = {"sh", "-c",
	                   "for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4 5 6 7 8; do "
	                   "(:); done; done",
	                   NULL};
	struct served served = {.grows = true};
	struct session_sink sink = {.ops = &ops, .ordered = true};
	struct session_options o = {
	        .output = "none",
	        .frequency_hz = 100,
	        .command = command,
	        .sink = &sink,
	        .hooked = true,
	        .hooks = {.ctx = &served, .fd = -1, .task = slow_task, .serve = serve}};
	struct session_result result;
	struct error err = {0};

	CHECK_EQ(session_record(&o, &result, &err), 0);
	if (err.code)
		printf("# %s\n", err.text);
	/* 64 processes that are forked and exit: 128 ms in all. */
	CHECK(served.tasks >= 128);
	CHECK(served.busy >= 1);
	CHECK(served.grows);
	session_result_done(&result);
}

int main(void)
{
	RUN(requests_are_served_in_a_long_read);
	return check_end();
}
