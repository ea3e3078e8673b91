/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights: what this process may measure, and what this machine can.
 *
 * rights_read() takes the facts, as they are now, into a plain struct; nothing
 * in it fails as a whole: a fact that cannot be had says so by its own value.
 * The questions at the end answer from the facts. No memory is held. Threads:
 * each may read its own. Uses: base, event.
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
	bool perfmon;          /* CAP_PERFMON or CAP_SYS_ADMIN, where the kernel heeds it */
	bool syslog;           /* CAP_SYSLOG: kernel addresses at kptr_restrict 1 */
	bool ptrace;           /* CAP_SYS_PTRACE: other users' processes in /proc */
	bool ipc_lock;         /* CAP_IPC_LOCK: ring buffers without limit */
	bool user_namespace;   /* not the first: capabilities mean little to perf */
	bool pid_namespace;    /* not the first: processes outside are not to be seen */
	int64_t seccomp;       /* 0 none, 1 strict, 2 filter */
	int64_t memlock_bytes; /* RLIMIT_MEMLOCK */
	int64_t open_files;    /* RLIMIT_NOFILE */

	/* The kernel's settings */
	int64_t paranoid; /* kernel.perf_event_paranoid */
	int64_t kptr_restrict;
	int64_t mlock_kb; /* for ring buffers, a user */
	int64_t max_sample_rate;
	int64_t cpu_time_max_percent;
	int64_t max_stack; /* frames in a call chain */
	int64_t nmi_watchdog;
	int64_t hidepid; /* of /proc: 0 all are shown */

	/* What was tried: 0 or -errno */
	int clock_error;  /* cpu-clock on the own thread, user mode */
	int kernel_error; /* the same with kernel mode */
	int cpu_error;    /* the same of a whole CPU */
	int cycles_error; /* the hardware's cycles on the own thread, user mode */

	/* The kernel's files */
	bool kallsyms;      /* there are addresses in it, not zeros */
	int kallsyms_error; /* -errno of opening it */
	bool kernel_notes;  /* /sys/kernel/notes: the kernel's build-id */
	bool kcore;         /* the kernel's code as it runs */
	bool tracefs;       /* events can be listed */
	bool btf;           /* types of the kernel */
	char vmlinux[256];  /* a kernel with symbols, "" for none */
	char kernel_release[65];

	/* The container and the machine */
	double cpu_quota;     /* CPUs; 0: no limit */
	int64_t memory_bytes; /* cgroup limit; RIGHTS_NO_LIMIT */
	int64_t cpus;         /* online */
	bool hypervisor;
	int64_t steal_ticks; /* since boot, of 10 ms */
};

void rights_read(struct rights *r);
/* What the process and the sysctls say, for rights_ring_bytes() and its like: the rest is 0. */
void rights_read_limits(struct rights *r);

/* A number in /proc/sys by its sysctl name, "kernel.perf_event_paranoid"; *value only on success.
 */
int rights_sysctl(const char *name, int64_t *value);

/* This is not the first pid namespace: perf calls every process outside it pid 0. */
bool rights_pid_namespace(void);
/* System calls are filtered (seccomp), as containers do. */
bool rights_filtered(void);

/* May sample in kernel mode; may sample what is not its own (record -a). */
bool rights_kernel(const struct rights *r);
bool rights_machine(const struct rights *r);

/* Bytes of ring buffer that may be mapped, all CPUs together; RIGHTS_NO_LIMIT. */
int64_t rights_ring_bytes(const struct rights *r);

#endif
