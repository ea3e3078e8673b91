/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording: what is known of a recording besides its events: which events
 * were sampled, on which machine, and the closing account that the recorder
 * wrote about itself. Filled by a format's reader, read by models and views.
 *
 * recording_init / recording_done. All strings are owned (malloc'd) and NULL
 * where unknown. Uses: base.
 */
#ifndef ASSAY_EVENT_RECORDING_H
#define ASSAY_EVENT_RECORDING_H

#include "base/error.h"
#include "base/vec.h"
#include "event/event.h"

/* What an event is for; decides which columns its samples feed. */
enum attr_role {
	ATTR_CLOCK,   /* samples time (cpu-clock, task-clock) or cycles: the profile */
	ATTR_COUNT,   /* samples something else (page-faults, cache-misses) */
	ATTR_WITNESS, /* a second clock of another period: tells programs in step */
	ATTR_SWITCH,  /* stack at each switch out (off-CPU) */
	ATTR_TRACK,   /* no samples: carries mmap, comm, switch records */
};

struct recording_attr {
	char *name; /* perf's name, "cpu-clock" */
	enum attr_role role;
	uint32_t type;         /* PERF_TYPE_* */
	uint64_t config;       /* PERF_COUNT_* */
	uint64_t sample_type;  /* PERF_SAMPLE_* bits */
	uint64_t period;       /* ns for clocks, else events; 0 with frequency */
	uint64_t frequency_hz; /* 0 where a fixed period was asked for */
	uint64_t period_ns;    /* the timer's period if this is a software clock, else 0 */
	uint64_t samples;      /* filled while reading */
	bool exclude_kernel, exclude_user, exclude_idle, inherit, context_switch, callchain;
	bool enable_on_exec; /* it began to count when the command did */
	bool user_callchain; /* user frames were asked for too */
	bool stack_copies;   /* registers and stack bytes in place of user frames */
};

struct recording_build_id {
	char *filename;
	int32_t pid; /* -1: any */
	enum cpu_mode mode;
	struct build_id id;
};

/*
 * The account that `record` closes its file with; every term is measured by
 * itself: nothing here is the difference of two others.
 */
struct account_cpu {
	uint32_t cpu;
	uint64_t start_ns, end_ns; /* sampling was on, recording's clock */
	/* /proc/stat over the same time, in ns (its resolution is a tick) */
	uint64_t stat_user_ns, stat_system_ns, stat_irq_ns, stat_softirq_ns;
	uint64_t stat_idle_ns, stat_iowait_ns, stat_steal_ns;
	uint64_t lost_records;  /* that the kernel reported for this CPU's ring */
	uint64_t ring_bytes;    /* size of the ring */
	uint64_t ring_used_max; /* most ever in use when read */
	uint64_t ring_used_sum; /* in use, over all `ring_reads`: sum / reads is the average */
	uint64_t ring_reads;    /* 0: by a recorder that did not count */
};

/*
 * The recorder fell behind and sampled more slowly from `time_ns` on, or had
 * room again: a sample every `period_ns` of each CPU, where the clocks are
 * software's, and for counters of cycles about so many.
 */
struct account_rate {
	uint64_t time_ns, period_ns;
	uint64_t budget; /* 1: it was the budget that asked for it, not the buffers */
	bool unknown;    /* nobody wrote the reason down */
};

/* What measuring was allowed to take, and took, of a CPU's time; all 0 where there was no bound. */
struct account_budget {
	uint64_t share_ppm;
	uint64_t cost_ns; /* of one sample, as reckoned with at the end */
	uint64_t cost_low_ns, cost_high_ns, cost_samples; /* quartiles; 0: it was assumed */
	uint64_t record_ns; /* of a record that is no sample, as reckoned with; 0: not told */
	uint64_t spent_ppm, most_ppm; /* samples and recorder: the mean, and the most in one look */
	uint64_t looked_ns, over_ns;  /* the time of all looks, and of those above the budget */
};

/* What walking stacks while recording took; all 0 where there was none. */
struct account_unwind {
	uint64_t samples, frames, by_frame_pointer, stitched_frames, memory_reads;
	uint64_t tables, table_rows, table_ns;
	uint64_t cpu_ns; /* of walking and writing the samples, within observer_cpu_ns */
};

struct account {
	bool present;                   /* false: not from assay, or the recorder was killed */
	bool machine_wide;              /* -a, against one command or process */
	uint64_t start_ns, end_ns;      /* recording's clock */
	uint64_t observer_cpu_ns;       /* CPU time of the recorder, while sampling */
	uint64_t observer_start_cpu_ns; /* CPU time before sampling began */
	uint64_t observer_bytes;        /* written */
	uint64_t observer_wakeups;
	int32_t observer_pid;
	int32_t reader_pid; /* its second process, which reads for it; 0: none */
	/* Reads of memory and files of others: those that were never answered, and not made. */
	uint64_t reads_unanswered, reads_not_made;
	/* one process: time on CPU of it and its children by the kernel's counter, 0 if n/a */
	uint64_t counted_oncpu_ns;
	/* one process: run delay from schedstat for threads alive at both ends, 0 if n/a */
	int exit_status; /* of COMMAND, wait(2) format; -1: none was sampled to its end */
	VEC(struct account_cpu) cpus;
	struct account_unwind unwind;
	VEC(struct account_rate) rates; /* changes alone: empty where the rate was kept */
	struct account_budget budget;
	char *boot_id;     /* of the kernel that was sampled; NULL: not recorded */
	VEC(char *) notes; /* sentences: what could not be recorded, and why */
};

struct recording {
	char *path;
	char *hostname, *os_release, *arch, *cpu_description, *version, *cmdline;
	uint32_t cpus_online, cpus_available;
	int clockid;            /* clockid_t; -1: perf's own clock */
	uint64_t clock_wall_ns; /* realtime at clock_start_ns, 0 if unknown */
	uint64_t clock_start_ns;
	uint64_t captured_at_s;                   /* file's mtime, for the heading */
	uint64_t first_sample_ns, last_sample_ns; /* filled while reading */
	VEC(struct recording_attr) attrs;
	VEC(struct recording_build_id) build_ids;
	struct account account;
	/* What the reader met, filled while reading */
	uint64_t bytes, records, samples, unknown_records, lost_records, lost_samples;
	uint64_t out_of_order; /* events delivered late in spite of ordering */
	bool truncated;        /* cut short: killed recorder or damaged file */
	VEC(char *) warnings;  /* sentences with file and offset */
};

/*
 * Records of whatever kind that the kernel had no room for: those that the file tells of, or, of
 * the last ones nothing may have been told any more, those that the recorder asked the kernel for.
 */
uint64_t recording_lost(const struct recording *r);

void recording_init(struct recording *r);
void recording_done(struct recording *r);
void recording_warn(struct recording *r, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* When it was made, s since 1970; 0: nobody can say. */
uint64_t recording_time_s(const struct recording *r);

/* Nanoseconds to add to the recording's clock for the time since 1970. */
uint64_t recording_wall_offset(const struct recording *r);

/*
 * Whether the recorded pids are pids of this machine since its last boot: host name and boot id
 * are equal, or, in files without a boot id, host name and moment of boot by the recorded clock.
 */
enum recording_place { RECORDING_HERE, RECORDING_ELSEWHERE, RECORDING_UNPROVEN };
enum recording_place recording_place(const struct recording *r);

/*
 * The attribute that the account is about: of role CLOCK, else COUNT, the first one that has
 * samples (hybrid CPUs have a clock for each kind of core), else the first one, else 0.
 */
uint16_t recording_main_attr(const struct recording *r);

/*
 * Whether the event may have been opened for CPUs (perf record -a, -C). False for a command or a
 * process: perf stores no CPU in their samples, and a command's exec enables the event. True is no
 * proof: other recorders store the CPU in every sample.
 */
bool recording_attr_may_be_of_cpus(const struct recording_attr *a);
/* The same of the main attribute. */
bool recording_may_be_machine_wide(const struct recording *r);

/*
 * Where events go. begin() comes first, with attrs and features known (time
 * fields and counters are not yet); end() last, with all counters filled.
 * A callback returns 0 or -errno with `err` set, which ends the reading.
 */
struct event_sink {
	void *ctx;
	int (*begin)(void *ctx, const struct recording *r, struct error *err);
	int (*event)(void *ctx, const struct event *e, struct error *err);
	int (*end)(void *ctx, const struct recording *r, struct error *err);
};

#endif
