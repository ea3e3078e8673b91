/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights: what this process may measure, and what this machine supports.
 *
 * rights_read() reads the present facts into a plain struct and never fails as a whole: an
 * unavailable fact has a special value. The functions at the end derive answers from the facts. No
 * state. Each thread may read its own. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_RIGHTS_H
#define ASSAY_SOURCE_PROC_RIGHTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIGHTS_UNKNOWN INT64_MIN /* a number that could not be read */
#define RIGHTS_NO_LIMIT INT64_MAX

struct rights {
	/* The process */
	uint32_t uid;          /* effective */
	bool perfmon;          /* CAP_PERFMON or CAP_SYS_ADMIN, if the kernel honours it */
	bool syslog;           /* CAP_SYSLOG: kernel addresses at kptr_restrict 1 */
	bool ptrace;           /* CAP_SYS_PTRACE: other users' processes in /proc */
	bool ipc_lock;         /* CAP_IPC_LOCK: ring buffers without limit */
	bool user_namespace;   /* not the initial namespace: perf ignores its capabilities */
	bool pid_namespace;    /* not the initial namespace: processes outside are invisible */
	int64_t seccomp;       /* 0 none, 1 strict, 2 filter */
	int64_t memlock_bytes; /* RLIMIT_MEMLOCK */
	int64_t open_files;    /* RLIMIT_NOFILE */

	/* The kernel's settings */
	int64_t paranoid; /* kernel.perf_event_paranoid */
	int64_t kptr_restrict;
	int64_t mlock_kb; /* limit of ring buffers for each user */
	int64_t max_sample_rate;
	int64_t cpu_time_max_percent;
	int64_t max_stack; /* maximum number of frames in a call chain */
	int64_t nmi_watchdog;
	int64_t hidepid; /* mount option of /proc; 0: all processes are visible */

	/* Results of attempts: 0 or -errno */
	int clock_error;  /* cpu-clock on this thread, user mode */
	int kernel_error; /* as clock_error, including kernel mode */
	int cpu_error;    /* as kernel_error, for a whole CPU */
	int cycles_error; /* hardware cycles on this thread, user mode */

	/* The kernel's files */
	bool kallsyms;      /* it contains addresses, not zeros */
	int kallsyms_error; /* -errno of open() */
	bool kernel_notes;  /* /sys/kernel/notes: the kernel's build-id */
	bool kcore;         /* the running kernel's code */
	bool tracefs;       /* its list of events is readable */
	bool btf;           /* the kernel's types */
	char vmlinux[256];  /* a kernel image with symbols, "" for none */
	char kernel_release[65];

	/* The container and the machine */
	double cpu_quota;     /* CPUs; 0: no limit */
	int64_t memory_bytes; /* cgroup limit; RIGHTS_NO_LIMIT */
	int64_t cpus;         /* online */
	bool hypervisor;
	int64_t steal_ticks; /* since boot, in units of 10 ms */
};

void rights_read(struct rights *r);
/*
 * Reads only what rights_ring_bytes() and similar functions need: the process and the sysctls. The
 * rest is 0.
 */
void rights_read_limits(struct rights *r);

/*
 * Reads a number in /proc/sys by its sysctl name, "kernel.perf_event_paranoid". *value is set only
 * on success.
 */
int rights_sysctl(const char *name, int64_t *value);

/* True if this is not the initial pid namespace: perf reports all processes outside it as pid 0. */
bool rights_pid_namespace(void);
/* True if a seccomp filter is active, as in most containers. */
bool rights_filtered(void);

/*
 * rights_kernel: may sample in kernel mode. rights_machine: may sample all processes (record -a).
 */
bool rights_kernel(const struct rights *r);
bool rights_machine(const struct rights *r);

/* Bytes of ring buffer that may be mapped for all CPUs together; RIGHTS_NO_LIMIT. */
int64_t rights_ring_bytes(const struct rights *r);

#endif
