/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/runtime/runtime_owner.h"

#include "base/clock.h"
#include "source/proc/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 8192 /* NSpid is in the first KB, after the groups */

/* Reads a text file of /proc; false: it does not exist or is empty. */
static bool read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, text, room - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0;
}

bool runtime_owner_parent(int32_t pid, int32_t *parent, uint64_t *birth)
{
	char path[64], text[1024];
	unsigned long long start;
	const char *after;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!read_text(path, text, sizeof(text)))
		return false;
	after = strrchr(text, ')'); /* the name may contain anything */
	if (!after ||
	    sscanf(after + 1,
	           " %*c %" SCNd32 " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	           "%*s %*s %llu",
	           parent, &start) != 2)
		return false;
	*birth = start;
	return true;
}

bool runtime_owner_birth(int32_t pid, uint64_t *birth)
{
	int32_t parent;

	return runtime_owner_parent(pid, &parent, birth);
}

/*
 * The process's id in its own PID namespace; 0: that is this namespace, or the process has exited.
 */
static int32_t inner_id(const char *path)
{
	char text[STATUS_MAX];
	const char *at;
	char *end;
	long id = 0;
	int count = 0;

	at = read_text(path, text, sizeof(text)) ? strstr(text, "\nNSpid:") : NULL;
	if (!at)
		return 0;
	for (at += strlen("\nNSpid:"); *at == '\t' || *at == ' '; at = end, count++) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		id = next;
	}
	return count > 1 ? (int32_t)id : 0;
}

static uint64_t ticks_now(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000 * (uint64_t)sysconf(_SC_CLK_TCK) / 1000000;
}

static void read_others(struct runtime_owners *known)
{
	proc_ids pids = {0};
	char path[64];

	known->read = true;
	known->read_ticks = ticks_now();
	known->others.count = 0;
	proc_list(&pids, -1);
	vec_each (pid, &pids) {
		struct runtime_owner p = {.here = *pid};

		snprintf(path, sizeof(path), "/proc/%d/status", *pid);
		p.pid = inner_id(path);
		if (p.pid && runtime_owner_birth(*pid, &p.birth))
			vec_push(&known->others, p);
	}
	vec_done(&pids);
}

/* Counts the matching processes in `known` that still run; *here: one of them. */
static size_t find_others(const struct runtime_owners *known, int32_t pid, uint64_t birth,
                          int32_t *here)
{
	size_t found = 0;

	vec_each (p, &known->others) {
		uint64_t now;

		if (p->pid != pid || (birth && p->birth != birth) ||
		    !runtime_owner_birth(p->here, &now) || now != p->birth ||
		    proc_has_ended(p->here))
			continue;
		*here = p->here;
		found++;
	}
	return found;
}

int32_t runtime_owner_find(struct runtime_owners *known, int32_t pid, uint64_t birth, bool *several)
{
	int32_t here = 0;
	uint64_t start;
	size_t found = 0;

	if (several)
		*several = false;
	if (runtime_owner_birth(pid, &start) && (!birth || start == birth) && !proc_has_ended(pid))
		return pid;
	if (known->read)
		found = find_others(known, pid, birth, &here);
	/* A process that began in the tick in which /proc was read may be missing. */
	if (!known->read || (!found && (!birth || birth + 1 >= known->read_ticks))) {
		read_others(known);
		found = find_others(known, pid, birth, &here);
	}
	if (several)
		*several = found > 1;
	return here;
}

void runtime_owners_done(struct runtime_owners *known)
{
	vec_done(&known->others);
	*known = (struct runtime_owners){0};
}

bool runtime_owner_runs(int32_t pid, uint64_t birth)
{
	struct runtime_owners known = {0};
	bool runs = runtime_owner_find(&known, pid, birth, NULL) != 0;

	runtime_owners_done(&known);
	return runs;
}

int32_t shared_thread_own(int32_t here, int32_t tid)
{
	char path[80];
	int32_t own;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", here, tid);
	own = inner_id(path);
	return own ? own : tid;
}

int32_t shared_thread_find(int32_t here, int32_t tid)
{
	proc_ids tids = {0};
	int32_t found = 0;

	proc_threads(here, &tids);
	for (size_t i = 0; i < tids.count && !found; i++)
		if (shared_thread_own(here, tids.items[i]) == tid)
			found = tids.items[i];
	vec_done(&tids);
	return found;
}
