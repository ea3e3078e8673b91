/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_children: a parent waits for a child, which waits for a child of its own, computes, and
 * exits; then the parent computes.
 */
#include "path.h"

#include <sys/wait.h>

COMPUTES(grandchild_part, 120)
COMPUTES(child_part, 80)
COMPUTES(parent_part, 60)

static void await_child(pid_t child)
{
	must(child < 0 || waitpid(child, NULL, 0) != child, "waitpid");
}

static void grandchild(void)
{
	truth_name("grandchild");
	STEP(grandchild_part);
	_exit(0);
}

static void child(void)
{
	pid_t next = fork();

	if (!next)
		grandchild();
	truth_name("child");
	await_child(next);
	STEP(child_part);
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t next;

	path_begin("path_children", argc, argv);
	next = fork();
	if (!next)
		child();
	await_child(next);
	STEP(parent_part);
	truth_end();
	return 0;
}
