/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vfork: a parent is blocked until the child of vfork() exits in finish_child(). */
#include "truth.h"

#include <sys/wait.h>

#define CHILDREN 20

static APART void finish_child(void)
{
	struct timespec t = {0, 40 * MS};

	truth_name("vforked");
	nanosleep(&t, NULL);
	_exit(0);
}

static APART pid_t make_child(void)
{
	struct truth_mark from = truth_mark();
	pid_t child = vfork();

	if (!child)
		finish_child();
	truth_waited(from, (struct truth_cause){"child", "vfork", "vforked", "finish_child", NULL});
	return child;
}

static APART void await_child(pid_t child)
{
	struct truth_mark from = truth_mark();

	must(waitpid(child, NULL, 0) < 0, "waitpid");
	truth_waited(from, (struct truth_cause){"child", "a child", "vforked", NULL, NULL});
}

int main(void)
{
	truth_begin("vfork");
	for (int i = 0; i < CHILDREN; i++)
		await_child(make_child());
	truth_end();
	return 0;
}
