/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/rights.h"

#include "source/proc/rights_container.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* since Linux 5.8 */
#endif

/* The initial namespaces have fixed inode numbers, which are part of the kernel's ABI. */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDu
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

int rights_sysctl(const char *name, int64_t *value)
{
	char path[128], text[64] = "", *end;
	int64_t number;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *c = path + strlen("/proc/sys/"); *c; c++)
		if (*c == '.')
			*c = '/';
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	number = strtoll(text, &end, 10);
	if (end == text)
		return -EINVAL;
	*value = number;
	return 0;
}

static int64_t sysctl_or_unknown(const char *name)
{
	int64_t value;

	return rights_sysctl(name, &value) ? RIGHTS_UNKNOWN : value;
}

static bool outside_first_namespace(const char *path, ino_t first)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino != first;
}

bool rights_pid_namespace(void)
{
	return outside_first_namespace("/proc/self/ns/pid", FIRST_PID_NAMESPACE);
}

static bool readable(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The value of a "Name:\\t..." line in /proc/self/status. */
static int64_t status_value(const char *name, int base)
{
	char line[256];
	int64_t value = RIGHTS_UNKNOWN;
	size_t length = strlen(name);
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) && line[length] == ':')
			value = (int64_t)strtoull(line + length + 1, NULL, base);
	if (f)
		fclose(f);
	return value;
}

bool rights_filtered(void)
{
	return status_value("Seccomp", 10) > 0;
}

static int64_t limit_of(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return RIGHTS_UNKNOWN;
	return limit.rlim_cur == RLIM_INFINITY ? RIGHTS_NO_LIMIT : (int64_t)limit.rlim_cur;
}

static void read_process(struct rights *r)
{
	int64_t caps = status_value("CapEff", 16);

	if (caps == RIGHTS_UNKNOWN)
		caps = 0;
	r->uid = geteuid();
	r->user_namespace = outside_first_namespace("/proc/self/ns/user", FIRST_USER_NAMESPACE);
	r->pid_namespace = rights_pid_namespace();
	/* perf checks capabilities in the initial user namespace. */
	if (!r->user_namespace) {
		r->perfmon = caps & (1ll << CAP_PERFMON | 1ll << CAP_SYS_ADMIN);
		r->syslog = caps & 1ll << CAP_SYSLOG;
		r->ipc_lock = caps & 1ll << CAP_IPC_LOCK;
	}
	r->ptrace = caps & 1ll << CAP_SYS_PTRACE;
	r->seccomp = status_value("Seccomp", 10);
	r->memlock_bytes = limit_of(RLIMIT_MEMLOCK);
	r->open_files = limit_of(RLIMIT_NOFILE);
}

static void read_settings(struct rights *r)
{
	r->paranoid = sysctl_or_unknown("kernel.perf_event_paranoid");
	r->kptr_restrict = sysctl_or_unknown("kernel.kptr_restrict");
	r->mlock_kb = sysctl_or_unknown("kernel.perf_event_mlock_kb");
	r->max_sample_rate = sysctl_or_unknown("kernel.perf_event_max_sample_rate");
	r->cpu_time_max_percent = sysctl_or_unknown("kernel.perf_cpu_time_max_percent");
	r->max_stack = sysctl_or_unknown("kernel.perf_event_max_stack");
	r->nmi_watchdog = sysctl_or_unknown("kernel.nmi_watchdog");
}

static int try_event(uint32_t type, uint64_t config, bool kernel, bool cpu)
{
	struct perf_event_attr attr = {.type = type,
	                               .size = sizeof(attr),
	                               .config = config,
	                               .disabled = 1,
	                               .exclude_kernel = !kernel,
	                               .exclude_hv = 1};
	long fd;

	attr.sample_period = 1000000;
	fd = syscall(SYS_perf_event_open, &attr, cpu ? -1 : 0, cpu ? 0 : -1, -1,
	             PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static void read_events(struct rights *r)
{
	const uint32_t software = PERF_TYPE_SOFTWARE;

	r->clock_error = try_event(software, PERF_COUNT_SW_CPU_CLOCK, false, false);
	r->kernel_error = try_event(software, PERF_COUNT_SW_CPU_CLOCK, true, false);
	r->cpu_error = try_event(software, PERF_COUNT_SW_CPU_CLOCK, false, true);
	r->cycles_error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false);
}

/* Hidden addresses are zeros; a few symbols have the value 0 in any case. */
static void read_kallsyms(struct rights *r)
{
	char line[512];
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f) {
		r->kallsyms_error = -errno;
		return;
	}
	for (int i = 0; i < 1000 && !r->kallsyms && fgets(line, sizeof(line), f); i++)
		r->kallsyms = strtoull(line, NULL, 16) != 0;
	fclose(f);
}

static void find_vmlinux(struct rights *r)
{
	static const char *const places[] = {
	        "/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
	        "/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux", "/lib/modules/%s/vmlinux"};
	struct utsname name;

	if (uname(&name))
		return;
	snprintf(r->kernel_release, sizeof(r->kernel_release), "%s", name.release);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *gap = strstr(places[i], "%s");

		snprintf(r->vmlinux, sizeof(r->vmlinux), "%.*s%s%s", (int)(gap - places[i]),
		         places[i], name.release, gap + 2);
		if (readable(r->vmlinux))
			return;
	}
	r->vmlinux[0] = '\0';
}

void rights_read_limits(struct rights *r)
{
	memset(r, 0, sizeof(*r));
	read_process(r);
	read_settings(r);
	r->cpus = sysconf(_SC_NPROCESSORS_ONLN);
}

void rights_read(struct rights *r)
{
	rights_read_limits(r);
	read_events(r);
	read_kallsyms(r);
	find_vmlinux(r);
	r->kernel_notes = readable("/sys/kernel/notes");
	r->kcore = readable("/proc/kcore");
	r->btf = readable("/sys/kernel/btf/vmlinux");
	r->tracefs = readable("/sys/kernel/tracing/events/sched/sched_switch/id") ||
	             readable("/sys/kernel/debug/tracing/events/sched/sched_switch/id");
	rights_read_container(r);
}

bool rights_kernel(const struct rights *r)
{
	return r->perfmon || (r->paranoid != RIGHTS_UNKNOWN && r->paranoid <= 1);
}

bool rights_machine(const struct rights *r)
{
	return r->perfmon || (r->paranoid != RIGHTS_UNKNOWN && r->paranoid <= 0);
}

int64_t rights_ring_bytes(const struct rights *r)
{
	int64_t bytes = 0;

	if (r->ipc_lock || r->memlock_bytes == RIGHTS_NO_LIMIT || r->paranoid == -1)
		return RIGHTS_NO_LIMIT;
	if (r->mlock_kb != RIGHTS_UNKNOWN)
		bytes += r->mlock_kb * 1024 * (r->cpus > 0 ? r->cpus : 1);
	if (r->memlock_bytes != RIGHTS_UNKNOWN)
		bytes += r->memlock_bytes;
	return bytes;
}
