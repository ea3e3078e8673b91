/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child: a parent forks a child after another, and waits until each exits. The kernel wakes the
 * parent when the memory of the child is already released: the place of the exit is not known.
 */
#include "truth.h"

#include <sys/wait.h>

#define CHILDREN 10

static APART void finish_child(void)
{
	_exit(0);
}

static APART void await_child(pid_t child, const char *name)
{
	struct truth_mark from = truth_mark();

	must(waitpid(child, NULL, 0) != child, "waitpid");
	truth_waited(from, (struct truth_cause){"child", NULL, name, NULL, NULL});
}

int main(void)
{
	char name[16];
	pid_t child;

	truth_begin("child");
	for (int i = 0; i < CHILDREN; i++) {
		snprintf(name, sizeof name, "child-%d", i);
		child = fork();
		must(child < 0, "fork");
		if (!child) {
			truth_name(name);
			truth_sleep(80 * MS);
			finish_child();
		}
		await_child(child, name);
	}
	truth_end();
	return 0;
}
