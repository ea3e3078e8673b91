/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/privileges.h"

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

/* Runs it in a child: true if it returns true there. */
static bool in_child(bool (*fn)(void))
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(fn() ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool capabilities_are_empty(void)
{
	FILE *f = fopen("/proc/thread-self/status", "r");
	char line[256];
	int empty = 0;

	while (f && fgets(line, sizeof(line), f))
		empty += !strcmp(line, "CapPrm:\t0000000000000000\n") ||
		         !strcmp(line, "CapEff:\t0000000000000000\n");
	if (f)
		fclose(f);
	return empty == 2;
}

static bool is_user(uid_t user, gid_t group)
{
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;

	return !getresuid(&real, &effective, &saved) && real == user && effective == user &&
	       saved == user && !getresgid(&real_group, &effective_group, &saved_group) &&
	       real_group == group && effective_group == group && saved_group == group;
}

static bool becomes_that_user(void)
{
	const uid_t old = getuid();
	const gid_t old_group = getgid();

	privileges_become(&(struct privileges_caller){1234, 2345});
	if (old)
		return is_user(old, old_group) && capabilities_are_empty();
	return is_user(1234, 2345) && !getgroups(0, NULL) && capabilities_are_empty() &&
	       setuid(0) < 0;
}

static bool renounces(void)
{
	const uid_t old = getuid();

	privileges_renounce();
	return capabilities_are_empty() && (old || is_user(65534, 65534)) &&
	       access("/etc/shadow", R_OK);
}

static void a_process_becomes_another_user_for_good(void)
{
	CHECK(in_child(becomes_that_user));
}

static void a_process_gives_up_all_rights(void)
{
	CHECK(in_child(renounces));
}

static void the_caller_is_the_user_of_sudo(void)
{
	struct privileges_caller caller;

	setenv("SUDO_UID", "4711", 1);
	if (getuid()) { /* any user can set the variable */
		CHECK(!privileges_caller(&caller));
		CHECK_EQ(caller.user, getuid());
	} else {
		CHECK(privileges_caller(&caller));
		CHECK_EQ(caller.user, 4711);
		CHECK_EQ(caller.group, 4711);
	}
	unsetenv("SUDO_UID");
}

static void wrong_numbers_name_no_caller(void)
{
	static const char *const wrong[] = {
	        "", "0", "-1", "x", "1x", "4294967295", "4294967296", "99999999999999999999"};
	struct privileges_caller none, caller;
	bool logged_in = privileges_caller(&none);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		setenv("SUDO_UID", wrong[i], 1);
		CHECK_EQ(privileges_caller(&caller), logged_in);
		CHECK_EQ(caller.user, none.user);
	}
	unsetenv("SUDO_UID");
}

int main(void)
{
	unsetenv("SUDO_UID");
	unsetenv("PKEXEC_UID");
	RUN(a_process_becomes_another_user_for_good);
	RUN(a_process_gives_up_all_rights);
	RUN(the_caller_is_the_user_of_sudo);
	RUN(wrong_numbers_name_no_caller);
	return check_end();
}
