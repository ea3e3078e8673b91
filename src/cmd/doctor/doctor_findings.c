/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_findings.h"

#include "base/http/http_client.h"
#include "base/text/plural.h"
#include "cmd/doctor/doctor_calls.h"
#include "cmd/doctor/doctor_libraries.h"
#include "cmd/doctor/doctor_tags.h"
#include "image/capstone_library.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_RING_BYTES (512 * 1024) /* per CPU: the kernel's default */

static void add_identity(struct findings *f, const struct rights *r)
{
	bool whole = rights_machine(r);

	findings_add(f, "rights", whole ? FINDING_OK : FINDING_LIMITED, "capabilities",
	             xasprintf("user id %u, %s CAP_PERFMON or CAP_SYS_ADMIN%s", r->uid,
	                       r->perfmon ? "with" : "without",
	                       r->user_namespace ? ", in a user namespace of its own" : ""),
	             whole ? NULL : "perf_event_paranoid limits what can be recorded",
	             whole ? NULL
	             : r->user_namespace
	                     ? "run as root of the machine, outside this user namespace"
	                     : "run as root, or: setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep "
	                       "$(command -v assay)");
}

static void add_paranoid(struct findings *f, const struct rights *r)
{
	const char *cost = NULL, *mend = "sysctl kernel.perf_event_paranoid=-1";
	enum finding_state state = FINDING_LIMITED;

	if (r->paranoid == RIGHTS_UNKNOWN) {
		findings_add(f, "rights", FINDING_MISSING, "perf_event_paranoid",
		             xstrdup("cannot be read: this kernel has no perf events"),
		             "nothing can be sampled", "boot a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	if (rights_machine(r)) {
		state = FINDING_OK;
		mend = NULL;
	} else if (r->paranoid <= 1) {
		cost = "own processes only, not the whole machine (record -a)";
	} else if (r->paranoid == 2) {
		cost = "own processes only, without kernel mode";
	} else {
		cost = "no sampling at all without the capability";
		state = FINDING_MISSING;
	}
	findings_add(f, "rights", state, "perf_event_paranoid",
	             xasprintf("%" PRId64 "%s", r->paranoid,
	                       r->perfmon ? ", which does not apply to you" : ""),
	             cost, mend);
}

static void add_kptr(struct findings *f, const struct rights *r)
{
	const char *mend = "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";

	if (r->kallsyms_error)
		findings_add(f, "rights", FINDING_MISSING, "kallsyms",
		             xasprintf("/proc/kallsyms: %s", strerror(-r->kallsyms_error)),
		             "kernel functions have no names",
		             r->kallsyms_error == -ENOENT ? "boot a kernel with CONFIG_KALLSYMS"
		                                          : mend);
	else if (r->kallsyms)
		findings_add(f, "rights", FINDING_OK, "kallsyms",
		             xasprintf("kernel addresses are shown (kptr_restrict %" PRId64 ")",
		                       r->kptr_restrict),
		             NULL, NULL);
	else
		findings_add(f, "rights", FINDING_LIMITED, "kallsyms",
		             xasprintf("kernel addresses are hidden (kptr_restrict %" PRId64 ")",
		                       r->kptr_restrict),
		             "kernel functions have no names", mend);
}

static void add_memory(struct findings *f, const struct rights *r)
{
	int64_t bytes = rights_ring_bytes(r), cpus = r->cpus > 0 ? r->cpus : 1;
	bool enough = bytes / cpus >= DEFAULT_RING_BYTES;

	if (bytes == RIGHTS_NO_LIMIT) {
		findings_add(f, "rights", FINDING_OK, "ring buffers",
		             xstrdup("no limit on locked memory"), NULL, NULL);
		return;
	}
	findings_add(f, "rights", enough ? FINDING_OK : FINDING_LIMITED, "ring buffers",
	             xasprintf("%" PRId64 " KB may be locked, %" PRId64
	                       " KB per CPU (perf_event_mlock_kb and RLIMIT_MEMLOCK)",
	                       bytes / 1024, bytes / 1024 / cpus),
	             enough ? NULL : "samples are lost when the machine is busy",
	             enough ? NULL : "sysctl kernel.perf_event_mlock_kb=2048");
}

static void add_files(struct findings *f, const struct rights *r)
{
	bool enough = r->open_files == RIGHTS_UNKNOWN || r->open_files >= 64 + 8 * r->cpus;

	if (!enough)
		findings_add(f, "rights", FINDING_LIMITED, "open files",
		             xasprintf("at most %" PRId64 " open files", r->open_files),
		             "an event needs one per CPU: some cannot be opened", "ulimit -n 4096");
}

static void add_processes(struct findings *f, const struct rights *r)
{
	bool others = r->ptrace || r->uid == 0;

	if (r->hidepid > 0 && !others)
		findings_add(f, "rights", FINDING_LIMITED, "other processes",
		             xasprintf("/proc is mounted with hidepid=%" PRId64, r->hidepid),
		             "processes of other users have no names, mappings or symbols",
		             "mount -o remount,hidepid=0 /proc");
	else
		findings_add(f, "rights", others ? FINDING_OK : FINDING_LIMITED, "other processes",
		             xstrdup(others ? "their mappings can be read"
		                            : "mappings of other users' processes are hidden"),
		             others ? NULL
		                    : "processes of other users that ran before recording began "
		                      "have no symbols",
		             others ? NULL : "run as root, or give assay cap_sys_ptrace");
}

static void add_sampling(struct findings *f, const struct rights *r)
{
	int error = r->clock_error;
	const char *mend = "sysctl kernel.perf_event_paranoid=1";

	if ((error == -EPERM || error == -ENOSYS) && r->seccomp > 0)
		mend = "run the container with a seccomp profile that allows perf_event_open "
		       "(docker run --security-opt seccomp=unconfined --cap-add PERFMON)";
	else if (error == -ENOSYS)
		mend = "boot a kernel with CONFIG_PERF_EVENTS";
	if (error)
		findings_add(f, "clock", FINDING_MISSING, "sampling",
		             xasprintf("perf_event_open: %s", strerror(-error)),
		             "nothing can be sampled", mend);
	else
		findings_add(f, "clock", r->cpu_error ? FINDING_LIMITED : FINDING_OK, "sampling",
		             xasprintf("works for %s, %s kernel mode",
		                       r->cpu_error ? "own processes" : "the whole machine",
		                       r->kernel_error ? "without" : "with"),
		             r->cpu_error ? "record -a samples only your own processes" : NULL,
		             r->cpu_error ? "sysctl kernel.perf_event_paranoid=-1" : NULL);
}

static void add_pmu(struct findings *f, const struct rights *r)
{
	int error = r->cycles_error;

	if (!error)
		findings_add(f, "clock", FINDING_OK, "cycles",
		             xstrdup("the CPU has a counter (PMU) with interrupts that cannot be "
		                     "held off (NMI)"),
		             NULL, NULL);
	else if (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV)
		findings_add(f, "clock", FINDING_LIMITED, "cycles",
		             xasprintf("no PMU%s: the timer (cpu-clock) is used",
		                       r->hypervisor ? " in this virtual machine" : ""),
		             "time with interrupts disabled is shown where they are enabled again; "
		             "no cache misses, branches or instructions",
		             r->hypervisor ? "make the hypervisor expose the PMU (QEMU: -cpu "
		                             "host,pmu=on)"
		                           : NULL);
	else
		findings_add(
		        f, "clock", FINDING_MISSING, "cycles",
		        xasprintf("it is unknown whether there is a PMU: %s", strerror(-error)),
		        NULL, NULL);
	if (!error && r->nmi_watchdog > 0)
		findings_add(f, "clock", FINDING_LIMITED, "nmi_watchdog",
		             xstrdup("the watchdog uses one of the CPU's counters"),
		             "one fewer event at a time", "sysctl kernel.nmi_watchdog=0");
}

static void add_rates(struct findings *f, const struct rights *r)
{
	if (r->max_sample_rate != RIGHTS_UNKNOWN) {
		bool low = r->max_sample_rate < 10000;

		findings_add(
		        f, "clock", low ? FINDING_LIMITED : FINDING_OK,
		        "perf_event_max_sample_rate",
		        xasprintf("%" PRId64 " samples per second and CPU", r->max_sample_rate),
		        low ? "higher rates (-F) are lowered to it" : NULL,
		        low ? "sysctl kernel.perf_event_max_sample_rate=100000" : NULL);
	}
	if (r->cpu_time_max_percent != RIGHTS_UNKNOWN) {
		bool off = r->cpu_time_max_percent == 0 || r->cpu_time_max_percent == 100;

		findings_add(f, "clock", FINDING_OK, "perf_cpu_time_max_percent",
		             off ? xstrdup("the kernel does not reduce the rate")
		                 : xasprintf("the kernel lowers the rate when sampling takes more "
		                             "than %" PRId64 " %% of a CPU",
		                             r->cpu_time_max_percent),
		             NULL, NULL);
	}
	if (r->max_stack != RIGHTS_UNKNOWN) {
		bool low = r->max_stack < 127;

		findings_add(f, "clock", low ? FINDING_LIMITED : FINDING_OK, "perf_event_max_stack",
		             xasprintf("call paths of up to %" PRId64 " frames", r->max_stack),
		             low ? "deeper paths lose their outermost callers" : NULL,
		             low ? "sysctl kernel.perf_event_max_stack=127" : NULL);
	}
}

static void add_kernel(struct findings *f, const struct rights *r)
{
	bool debian = strstr(r->kernel_release, "-amd64") || strstr(r->kernel_release, "-arm64");
	char *install = debian ? xasprintf("apt-get install linux-image-%s-dbg", r->kernel_release)
	                       : xasprintf("install the vmlinux of this kernel as "
	                                   "/boot/vmlinux-%s, or boot one with CONFIG_PROC_KCORE",
	                                   r->kernel_release);

	findings_add(f, "kernel", r->kernel_notes ? FINDING_OK : FINDING_LIMITED, "build-id",
	             xstrdup(r->kernel_notes ? "/sys/kernel/notes can be read"
	                                     : "/sys/kernel/notes cannot be read"),
	             r->kernel_notes ? NULL : "a recording cannot identify its kernel", NULL);
	if (r->vmlinux[0] || r->kcore)
		findings_add(f, "kernel", FINDING_OK, "code",
		             xstrdup(r->vmlinux[0] ? r->vmlinux : "/proc/kcore can be read"), NULL,
		             NULL);
	else
		findings_add(f, "kernel", FINDING_MISSING, "code",
		             xstrdup("neither vmlinux nor /proc/kcore can be read"),
		             "annotate cannot show the kernel's instructions", install);
	findings_add(
	        f, "kernel", r->tracefs ? FINDING_OK : FINDING_LIMITED, "tracefs",
	        xstrdup(r->tracefs ? "trace events can be listed" : "not mounted, or not readable"),
	        r->tracefs ? NULL : "tracepoints (-e sched:sched_switch) cannot be used",
	        r->tracefs ? NULL : "mount -t tracefs tracefs /sys/kernel/tracing");
	findings_add(f, "kernel", r->btf ? FINDING_OK : FINDING_LIMITED, "BTF",
	             xstrdup(r->btf ? "the kernel describes its types"
	                            : "the kernel does not describe its types"),
	             NULL, NULL);
	free(install);
}

static void add_container(struct findings *f, const struct rights *r)
{
	bool quota = r->cpu_quota > 0 && r->cpu_quota < (double)r->cpus;
	bool memory = r->memory_bytes != RIGHTS_NO_LIMIT;

	findings_add(f, "container", quota ? FINDING_LIMITED : FINDING_OK, "cpu quota",
	             quota ? xasprintf("%.2f of %" PRId64 " %s", r->cpu_quota, r->cpus,
	                               plural((uint64_t)r->cpus, "CPU", "CPUs"))
	                   : xasprintf("none: %" PRId64 " %s", r->cpus,
	                               plural((uint64_t)r->cpus, "CPU", "CPUs")),
	             quota ? "processes wait for their quota while CPUs are idle" : NULL, NULL);
	findings_add(f, "container", FINDING_OK, "memory limit",
	             memory ? xasprintf("%" PRId64 " MB", r->memory_bytes >> 20) : xstrdup("none"),
	             NULL, NULL);
	findings_add(f, "container", r->pid_namespace ? FINDING_LIMITED : FINDING_OK, "processes",
	             xstrdup(r->pid_namespace ? "a separate pid namespace"
	                                      : "all processes of the machine are visible"),
	             r->pid_namespace ? "processes outside the container have no names or symbols"
	                              : NULL,
	             r->pid_namespace ? "docker run --pid=host" : NULL);
	findings_add(
	        f, "container", r->seccomp > 0 && r->clock_error ? FINDING_MISSING : FINDING_OK,
	        "seccomp", xstrdup(r->seccomp > 0 ? "system calls are filtered" : "no filter"),
	        r->seccomp > 0 && r->clock_error ? "perf_event_open may be refused" : NULL, NULL);
	if (r->hypervisor || r->steal_ticks > 0)
		findings_add(f, "container", FINDING_OK, "hypervisor",
		             r->steal_ticks > 0
		                     ? xasprintf("this is a virtual machine; %.0f s of CPU time "
		                                 "stolen since boot",
		                                 (double)r->steal_ticks / 100)
		                     : xstrdup("this is a virtual machine; it reports no steal"),
		             NULL, NULL);
}

/* A library that is loaded when it is needed; `status` and `err` are those of an attempt. */
static void add_library(struct findings *f, const char *group, const char *name, int status,
                        const struct error *err, const char *cost, const char *mend)
{
	if (!status)
		findings_add(f, group, FINDING_OK, name, xstrdup("it can be loaded"), NULL, NULL);
	else
		findings_add(f, group, FINDING_MISSING, name, xstrdup(err->text), cost,
		             status == -ENOENT ? mend : NULL);
}

/* Only the process that sends or reads loads the library. */
static void add_sending(struct findings *f)
{
	const struct http_client_options options = {.name = "doctor"};
	struct http_client *client = NULL;
	struct error err = {0};
	int status = http_client_open(&client, &options, &err);

	http_client_close(client);
	add_library(f, "sending", "libcurl", status, &err,
	            "no stores on servers (clickhouse://) and no back ends (--to)",
	            "apt-get install libcurl4");
}

/* A program that was not installed as a package may lack it. */
static void add_disassembler(struct findings *f)
{
	struct capstone_library library;
	struct error err = {0};
	int status = capstone_library_load(&library, &err);

	add_library(f, "code", "libcapstone", status, &err,
	            "no 'assay annotate'; delays by interrupts that are off are found by lateness "
	            "alone",
	            "apt-get install '^libcapstone[45]$'");
}

struct findings *doctor_findings(const struct rights *r)
{
	struct findings *f = findings_new();

	add_identity(f, r);
	add_paranoid(f, r);
	add_kptr(f, r);
	add_memory(f, r);
	add_files(f, r);
	add_processes(f, r);
	add_sampling(f, r);
	add_pmu(f, r);
	add_rates(f, r);
	add_kernel(f, r);
	doctor_calls(f);
	doctor_tags(f);
	doctor_libraries(f);
	add_sending(f);
	add_disassembler(f);
	add_container(f, r);
	return f;
}
