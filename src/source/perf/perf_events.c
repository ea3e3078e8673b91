/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/perf_events.h"

#include "source/tracefs/tracepoint_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct name {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HW(n) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##n
#define SW(n) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##n

static const struct name names[] = {
        {"cycles", HW(CPU_CYCLES)},
        {"cpu-cycles", HW(CPU_CYCLES)},
        {"instructions", HW(INSTRUCTIONS)},
        {"cache-references", HW(CACHE_REFERENCES)},
        {"cache-misses", HW(CACHE_MISSES)},
        {"branches", HW(BRANCH_INSTRUCTIONS)},
        {"branch-instructions", HW(BRANCH_INSTRUCTIONS)},
        {"branch-misses", HW(BRANCH_MISSES)},
        {"bus-cycles", HW(BUS_CYCLES)},
        {"stalled-cycles-frontend", HW(STALLED_CYCLES_FRONTEND)},
        {"idle-cycles-frontend", HW(STALLED_CYCLES_FRONTEND)},
        {"stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND)},
        {"idle-cycles-backend", HW(STALLED_CYCLES_BACKEND)},
        {"ref-cycles", HW(REF_CPU_CYCLES)},
        {"cpu-clock", SW(CPU_CLOCK)},
        {"task-clock", SW(TASK_CLOCK)},
        {"page-faults", SW(PAGE_FAULTS)},
        {"faults", SW(PAGE_FAULTS)},
        {"minor-faults", SW(PAGE_FAULTS_MIN)},
        {"major-faults", SW(PAGE_FAULTS_MAJ)},
        {"context-switches", SW(CONTEXT_SWITCHES)},
        {"cs", SW(CONTEXT_SWITCHES)},
        {"cpu-migrations", SW(CPU_MIGRATIONS)},
        {"migrations", SW(CPU_MIGRATIONS)},
        {"alignment-faults", SW(ALIGNMENT_FAULTS)},
        {"emulation-faults", SW(EMULATION_FAULTS)},
        {"dummy", SW(DUMMY)},
};

static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC",  "dTLB",
                                          "iTLB",      "branch",    "node", NULL};
static const char *const cache_ops[] = {"load", "store", "prefetch", NULL};

/* "L1-dcache-loads", "L1-dcache-load-misses": cache, operation, result. */
static bool parse_cache(const char *name, struct perf_event_attr *attr)
{
	for (uint64_t cache = 0; cache_names[cache]; cache++) {
		size_t n = strlen(cache_names[cache]);

		if (strncmp(name, cache_names[cache], n) || name[n] != '-')
			continue;
		for (uint64_t op = 0; cache_ops[op]; op++) {
			size_t m = strlen(cache_ops[op]);
			const char *rest = name + n + 1 + m;

			if (strncmp(name + n + 1, cache_ops[op], m))
				continue;
			if (strcmp(rest, "s") && strcmp(rest, "es") && strcmp(rest, "-misses"))
				continue;
			attr->type = PERF_TYPE_HW_CACHE;
			attr->config = cache | op << 8 | (uint64_t)(*rest == '-') << 16;
			return true;
		}
	}
	return false;
}

static bool parse_raw(const char *name, struct perf_event_attr *attr)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return false;
	attr->config = strtoull(name + 1, &end, 16);
	attr->type = PERF_TYPE_RAW;
	return *end == '\0';
}

/* Parses "subsystem:event"; tracefs has the event's number. */
static int parse_tracepoint(const char *name, struct perf_event_attr *attr, struct error *err)
{
	uint64_t id;
	int status = tracepoint_id(name, &id, err);

	if (status)
		return status;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return 0;
}

static int parse_modifiers(const char *text, struct perf_event_attr *attr, const char *name,
                           struct error *err)
{
	bool user = false, kernel = false;

	for (; *text; text++) {
		if (*text == 'u')
			user = true;
		else if (*text == 'k')
			kernel = true;
		else if (*text == 'p' && attr->precise_ip < 3)
			attr->precise_ip++;
		else if (*text != 'H')
			return error_set(err, EINVAL,
			                 "event '%s': modifier '%c' is unknown; use u, k or p",
			                 name, *text);
	}
	if (user && !kernel)
		attr->exclude_kernel = attr->exclude_hv = 1;
	if (kernel && !user)
		attr->exclude_user = 1;
	return 0;
}

static bool modifiers_only(const char *text)
{
	return *text && strspn(text, "ukpHhGD") == strlen(text);
}

int perf_event_parse(const char *name, struct perf_event_attr *attr, struct error *err)
{
	const char *colon = strrchr(name, ':');
	char plain[256];
	size_t size;

	if (colon && !modifiers_only(colon + 1))
		colon = NULL;
	size = colon ? (size_t)(colon - name) : strlen(name);
	snprintf(plain, sizeof(plain), "%.*s", (int)size, name);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(plain, names[i].name))
			continue;
		attr->type = names[i].type;
		attr->config = names[i].config;
		return parse_modifiers(colon ? colon + 1 : "", attr, name, err);
	}
	if (parse_cache(plain, attr) || parse_raw(plain, attr))
		return parse_modifiers(colon ? colon + 1 : "", attr, name, err);
	if (strchr(plain, ':')) {
		int status = parse_tracepoint(plain, attr, err);

		return status ? status : parse_modifiers(colon ? colon + 1 : "", attr, name, err);
	}
	return error_set(err, EINVAL,
	                 "event '%s' is unknown; try cycles, cpu-clock, page-faults, "
	                 "context-switches, cache-misses, r<hex>, or a tracepoint a:b",
	                 name);
}

int perf_event_open_fd(struct perf_event_attr *attr, int pid, int cpu, int group_fd,
                       unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

const char *perf_event_default(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_HW_CPU_CYCLES,
	                               .sample_period = 1000000000,
	                               .disabled = 1,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};
	int fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return "cpu-clock";
	close(fd);
	return "cycles";
}
