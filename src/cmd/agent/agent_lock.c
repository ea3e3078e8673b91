/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_lock.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LOCK_NAME "assay-agent"

/* After a NUL: an abstract name. */
static socklen_t address(struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(a->sun_path + 1, LOCK_NAME, sizeof(LOCK_NAME) - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(LOCK_NAME));
}

/* The process that listens under the name. */
static bool find_holder(struct ucred *holder)
{
	struct sockaddr_un a;
	socklen_t size = address(&a), room = sizeof(*holder);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool found = fd >= 0 && !connect(fd, (struct sockaddr *)&a, size) &&
	             !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, holder, &room);

	if (fd >= 0)
		close(fd);
	return found;
}

/* True if a process has the right to sample the machine. */
static bool may_sample(pid_t pid)
{
	const uint64_t rights = UINT64_C(1) << CAP_PERFMON | UINT64_C(1) << CAP_SYS_ADMIN;
	char path[64], line[256];
	unsigned long long permitted = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "CapPrm:", 7))
			permitted = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return permitted & rights;
}

static int refuse(const struct ucred *holder, struct error *err)
{
	return error_set(err, EEXIST,
	                 "an agent runs on this machine, as process %d of user %u; 'assay status "
	                 "--name agent' of that user shows its state; end it first: 'systemctl "
	                 "stop assay-agent', or 'kill %d'",
	                 (int)holder->pid, (unsigned)holder->uid, (int)holder->pid);
}

int agent_lock_take(int *fd, struct error *err)
{
	struct ucred holder = {0};
	struct sockaddr_un a;
	socklen_t size = address(&a);

	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (*fd >= 0 && !bind(*fd, (struct sockaddr *)&a, size) && !listen(*fd, 8))
		return 0;
	if (*fd < 0 || errno != EADDRINUSE)
		return error_set(err, errno, "the socket @" LOCK_NAME ": %s", strerror(errno));
	close(*fd);
	*fd = -1;
	if (!find_holder(&holder))
		return error_set(err, EEXIST,
		                 "an agent is just starting or ending on this machine: try again");
	if (holder.uid && holder.uid != geteuid() && !may_sample(holder.pid))
		return 0;
	return refuse(&holder, err);
}
