/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals during a session: until sampling begins they end the process, then they are read. */
#include "session/session.h"
#include "session/sink.h"

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sink that writes nothing, and checks the blocked signals. */
struct watcher {
	struct session_sink sink;
	struct watched {
		bool opened, begun;
		sigset_t at_open, at_begin;
	} * seen;
	bool dies; /* the process gets a signal during the set-up */
};

static int look_at_open(struct session_sink *s, const struct perf_data_attr *attrs, size_t count,
                        const struct recording *described, struct error *err)
{
	struct watcher *w = (struct watcher *)s;

	w->seen->opened = true;
	sigprocmask(SIG_BLOCK, NULL, &w->seen->at_open);
	if (w->dies)
		raise(SIGTERM);
	return 0;
}

static void look_at_begin(struct session_sink *s, uint64_t start_ns)
{
	struct watcher *w = (struct watcher *)s;

	w->seen->begun = true;
	sigprocmask(SIG_BLOCK, NULL, &w->seen->at_begin);
	raise(SIGTERM);
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

static const struct session_sink_ops ops = {.open = look_at_open,
                                            .begun = look_at_begin,
                                            .append = drop,
                                            .flush = flush,
                                            .close = close_sink,
                                            .abandon = abandon,
                                            .bytes = bytes_of};

static int sample_parent(struct watcher *w)
{
	int32_t pid = getppid();
	proc_ids pids = {0};
	struct session_options o = {
	        .output = "none", .frequency_hz = 100, .pids = &pids, .sink = &w->sink};
	struct session_result result;
	struct error err = {0};
	int status;

	vec_push(&pids, pid);
	w->sink.ops = &ops;
	status = session_record(&o, &result, &err);
	if (status)
		printf("# %s\n", err.text);
	session_result_done(&result);
	vec_done(&pids);
	return status;
}

static void signals_are_read_from_the_begin_of_sampling(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct watched seen = {0};
	struct watcher w = {.seen = &seen};

	CHECK_EQ(sample_parent(&w), 0);
	CHECK(seen.opened && seen.begun);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		CHECK(!sigismember(&seen.at_open, ends[i]));
		CHECK(sigismember(&seen.at_begin, ends[i]));
	}
	/* The end of a command must not be missed. */
	CHECK(sigismember(&seen.at_open, SIGCHLD));
}

static void a_signal_ends_a_process_that_sets_up(void)
{
	struct watched seen = {0};
	struct watcher w = {.seen = &seen, .dies = true};
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(sample_parent(&w) ? 1 : 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main(void)
{
	RUN(signals_are_read_from_the_begin_of_sampling);
	RUN(a_signal_ends_a_process_that_sets_up);
	return check_end();
}
