/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * as_user: acts as an unprivileged user in a test that root runs.
 *
 *	AS_USER(symlink("/etc", path) == 0)	in a child process; its failure is a check's failure
 */
#ifndef ASSAY_TESTS_AS_USER_H
#define ASSAY_TESTS_AS_USER_H

#include "check.h"

#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AS_USER_ID 65534

/* Called in the child of a fork: changes to the unprivileged user. */
static inline void as_user_become(void)
{
	if (setgroups(0, NULL) || setgid(AS_USER_ID) || setuid(AS_USER_ID))
		_exit(99);
}

#define AS_USER(condition)                                                                         \
	do {                                                                                       \
		int as_user_status_ = 0;                                                           \
		pid_t as_user_child_ = (fflush(stdout), fork());                                   \
                                                                                                   \
		if (!as_user_child_) {                                                             \
			as_user_become();                                                          \
			_exit((condition) ? 0 : 1);                                                \
		}                                                                                  \
		CHECK(as_user_child_ > 0);                                                         \
		waitpid(as_user_child_, &as_user_status_, 0);                                      \
		if (as_user_status_)                                                               \
			printf("# as uid %d: %s\n", AS_USER_ID, #condition);                       \
		CHECK_EQ(as_user_status_, 0);                                                      \
	} while (0)

/* False, with the reason, if the test is run by an ordinary user. */
static inline bool as_user_can(void)
{
	if (!geteuid())
		return true;
	printf("# not root: cannot act as another user\n");
	return false;
}

#endif
