/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNWIND_NICE (-10)

void privileges_hurry(void)
{
	setpriority(PRIO_PROCESS, 0, UNWIND_NICE);
}

#define CAPABILITY(name) (UINT64_C(1) << CAP_##name)

static uint64_t capabilities_for(unsigned kept)
{
	return (kept & PRIVILEGE_LOOK ? CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) |
	                                        CAPABILITY(CHECKPOINT_RESTORE) /* map_files */
	                              : 0) |
	       (kept & PRIVILEGE_WRITE ? CAPABILITY(DAC_OVERRIDE) : 0) |
	       (kept & PRIVILEGE_NAMES ? CAPABILITY(SYSLOG) : 0) |
	       (kept & PRIVILEGE_SAMPLE ? CAPABILITY(PERFMON) : 0);
}

void privileges_drop(unsigned kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[2] = {{0}};
	uint64_t wanted = capabilities_for(kept);

	if (wanted && !syscall(SYS_capget, &header, now))
		for (int i = 0; i < 2; i++) {
			now[i].permitted &= (uint32_t)(wanted >> 32 * i);
			now[i].effective = now[i].permitted;
			now[i].inheritable = 0;
		}
	syscall(SYS_capset, &header, now);
}

#define USER_WITHOUT_RIGHTS 65534 /* of every system; it owns no files */
#define NO_LOGIN UINT32_MAX

/* A decimal number that fits; false: it is none, or root's. */
static bool parse_id(const char *text, uint32_t *id)
{
	char *end;
	unsigned long number = text && *text ? strtoul(text, &end, 10) : 0;

	*id = (uint32_t)number;
	return number && number < NO_LOGIN && (*end == '\0' || *end == '\n');
}

/* The user who logged in, as the kernel recorded it for audits. */
static bool login_user(uint32_t *user)
{
	char text[16] = "";
	int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return got > 0 && parse_id(text, user);
}

bool privileges_caller(struct privileges_caller *caller)
{
	const struct passwd *entry;
	uint32_t user;

	*caller = (struct privileges_caller){getuid(), getgid()};
	if (getuid() || (!parse_id(getenv("SUDO_UID"), &user) &&
	                 !parse_id(getenv("PKEXEC_UID"), &user) && !login_user(&user)))
		return false;
	entry = getpwuid(user);
	*caller = (struct privileges_caller){user, entry ? entry->pw_gid : user};
	return true;
}

void privileges_become(const struct privileges_caller *user)
{
	/* Fails in a container whose user namespace has no such user; the capabilities go anyway.
	 */
	if (!geteuid() && !setgroups(0, NULL) &&
	    !setresgid(user->group, user->group, user->group) &&
	    setresuid(user->user, user->user, user->user))
		setresgid(0, 0, 0);
	privileges_drop(0);
}

void privileges_renounce(void)
{
	privileges_become(&(struct privileges_caller){USER_WITHOUT_RIGHTS, USER_WITHOUT_RIGHTS});
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
