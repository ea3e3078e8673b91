/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/rights_container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, size, f);

	if (f)
		fclose(f);
	return got;
}

/* Reads cpu.max of version 2: "max 100000" or "50000 100000", in microseconds. */
static void read_cpu_max(struct rights *r, const char *directory)
{
	char path[700], line[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", directory);
	if (!read_line(path, line, sizeof(line)))
		return;
	if (sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 &&
	    (r->cpu_quota == 0 || quota / period < r->cpu_quota))
		r->cpu_quota = quota / period;
}

static void read_memory_limit(struct rights *r, const char *directory, const char *name)
{
	char path[700], line[64];
	long long bytes;

	snprintf(path, sizeof(path), "%.600s/%.64s", directory, name);
	if (!read_line(path, line, sizeof(line)) || sscanf(line, "%lld", &bytes) != 1)
		return;
	/* Version 1 represents "no limit" by a number near 2^63. */
	if (bytes > 0 && bytes < (1ll << 60) && bytes < r->memory_bytes)
		r->memory_bytes = bytes;
}

/* The limits of a cgroup apply to its descendants, so all ancestors are read. */
static void read_unified(struct rights *r, char *group)
{
	char directory[600];

	for (;;) {
		char *slash;

		snprintf(directory, sizeof(directory), "/sys/fs/cgroup%s", group);
		read_cpu_max(r, directory);
		read_memory_limit(r, directory, "memory.max");
		slash = strrchr(group, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

static void read_version_one(struct rights *r, const char *group)
{
	const char *groups[] = {group, ""};
	char path[700], line[64];

	for (size_t i = 0; i < 2; i++) {
		double quota, period;

		snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", groups[i]);
		quota = read_line(path, line, sizeof(line)) ? strtod(line, NULL) : -1;
		snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", groups[i]);
		period = read_line(path, line, sizeof(line)) ? strtod(line, NULL) : 0;
		if (quota > 0 && period > 0 && (r->cpu_quota == 0 || quota / period < r->cpu_quota))
			r->cpu_quota = quota / period;
		snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s", groups[i]);
		read_memory_limit(r, path, "memory.limit_in_bytes");
	}
}

static void read_cgroup(struct rights *r)
{
	char line[512];
	FILE *f = fopen("/proc/self/cgroup", "re");

	r->memory_bytes = RIGHTS_NO_LIMIT;
	while (f && fgets(line, sizeof(line), f)) {
		char *group = strchr(line, ':');

		group = group ? strchr(group + 1, ':') : NULL;
		if (!group)
			continue;
		group++;
		group[strcspn(group, "\n")] = '\0';
		if (!strncmp(line, "0::", 3))
			read_unified(r, group);
		else
			read_version_one(r, group);
	}
	if (f)
		fclose(f);
}

static void read_hidepid(struct rights *r)
{
	char line[1024];
	FILE *f = fopen("/proc/self/mounts", "re");

	r->hidepid = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *option = strstr(line, "hidepid=");

		if (!strstr(line, " /proc proc ") || !option)
			continue;
		option += strlen("hidepid=");
		/* Newer kernels print a name. */
		if (!strncmp(option, "noaccess", 8))
			r->hidepid = 1;
		else if (!strncmp(option, "invisible", 9))
			r->hidepid = 2;
		else if (!strncmp(option, "ptraceable", 10))
			r->hidepid = 4;
		else
			r->hidepid = strtol(option, NULL, 10);
	}
	if (f)
		fclose(f);
}

static void read_hypervisor(struct rights *r)
{
	char line[8192], type[64];
	long long steal = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !r->hypervisor && fgets(line, sizeof(line), f))
		r->hypervisor = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	if (!r->hypervisor)
		r->hypervisor = read_line("/sys/hypervisor/type", type, sizeof(type));
	r->steal_ticks = RIGHTS_UNKNOWN;
	if (read_line("/proc/stat", line, sizeof(line)) &&
	    sscanf(line, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal) == 1)
		r->steal_ticks = steal;
}

void rights_read_container(struct rights *r)
{
	read_cgroup(r);
	read_hidepid(r);
	read_hypervisor(r);
}
