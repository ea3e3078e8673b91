/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait_fixture: waits of the threads of view_fixture. */
#ifndef ASSAY_TESTS_WAIT_FIXTURE_H
#define ASSAY_TESTS_WAIT_FIXTURE_H

#include "view_fixture.h"

/* A wait of cc1#1 at a path; descriptors and arguments are set by the test. */
static inline struct wait_key key_at(const struct fixture *f, uint32_t path)
{
	return (struct wait_key){.thread = f->cc1_first,
	                         .path = path,
	                         .waker = ID_NONE,
	                         .waker_path = ID_NONE,
	                         .descriptor = ID_NONE,
	                         .woken = WAIT_NOT_SEEN};
}

/* The chain of a system call, from the program's function inward. */
#define PATH(f, user, ...)                                                                         \
	fixture_path(f, "main", user, "|", "entry_SYSCALL_64_after_hwframe", "do_syscall_64",      \
	             __VA_ARGS__, "schedule", "__schedule", NULL)

static inline void add_wait(struct wait_log *log, const struct wait_key *key, uint64_t ms,
                            uint32_t instead)
{
	bool preempted = key->woken == WAIT_PREEMPTED;
	struct wait_sum sum = {.key = *key,
	                       .count = 2,
	                       .blocked_ns = preempted ? 0 : 2 * ms * MS,
	                       .runnable_ns = preempted ? 2 * ms * MS : 0,
	                       .max_ns = ms * MS};

	for (uint64_t i = 0; i < 2; i++)
		vec_push(&log->waits, (struct wait){.in_ns = ms * MS,
		                                    .sum = (uint32_t)log->sums.count,
		                                    .instead = i ? instead : ID_NONE});
	vec_push(&log->sums, sum);
}

#endif
