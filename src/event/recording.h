/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording: the properties of a recording without its events: the sampled events, the machine, and
 * the account that the recorder wrote about itself. A format's reader fills it; models and views
 * read it.
 *
 * recording_init / recording_done. All strings are owned (malloc'd), and NULL if unknown. Uses:
 * base.
 */
#ifndef ASSAY_EVENT_RECORDING_H
#define ASSAY_EVENT_RECORDING_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "base/read/file_namer.h"
#include "event/event.h"
#include "event/tracepoint.h"

/* The purpose of an event. It selects the columns that its samples count in. */
enum attr_role {
	ATTR_CLOCK,   /* samples time (cpu-clock, task-clock) or cycles: the profile */
	ATTR_COUNT,   /* samples something else (page-faults, cache-misses) */
	ATTR_WITNESS, /* a second clock with another period: detects programs in step with the first
	               */
	ATTR_SWITCH,  /* stack at each switch out (off-CPU) */
	ATTR_TRACK,   /* no samples: carries mmap, comm, switch records */
	ATTR_WAKE,    /* stack of the waker at each wake-up: sched:sched_waking */
};

struct recording_attr {
	char *name; /* perf's name, "cpu-clock" */
	enum attr_role role;
	uint32_t type;         /* PERF_TYPE_* */
	uint64_t config;       /* PERF_COUNT_* */
	uint64_t sample_type;  /* PERF_SAMPLE_* bits */
	uint64_t period;       /* ns for clocks, else events; 0 with frequency */
	uint64_t frequency_hz; /* 0 if a fixed period was requested */
	uint64_t period_ns;    /* the timer's period if this is a software clock, else 0 */
	uint64_t samples;      /* filled while reading */
	bool exclude_kernel, exclude_user, exclude_idle, inherit, context_switch, callchain;
	bool enable_on_exec; /* it began to count at the command's exec */
	bool user_callchain; /* user frames were requested too */
	bool stack_copies;   /* registers and stack bytes in place of user frames */
};

struct recording_build_id {
	char *filename;
	int32_t pid; /* -1: any */
	enum cpu_mode mode;
	struct build_id id;
};

/*
 * The account that `record` writes at the end of its file. Each value is measured by itself; none
 * is the difference of two others.
 */
struct account_cpu {
	uint32_t cpu;
	uint64_t start_ns, end_ns; /* begin and end of sampling, on the recording's clock */
	/* /proc/stat over the same time, in ns (its resolution is a tick) */
	uint64_t stat_user_ns, stat_system_ns, stat_irq_ns, stat_softirq_ns;
	uint64_t stat_idle_ns, stat_iowait_ns, stat_steal_ns;
	uint64_t lost_records;  /* records that the kernel reported as lost for this CPU's ring */
	uint64_t ring_bytes;    /* size of the ring */
	uint64_t ring_used_max; /* the most bytes in use at a read */
	uint64_t ring_used_sum; /* sum of the bytes in use at all `ring_reads`: sum / reads is the
	                           average */
	uint64_t ring_reads;    /* 0: the recorder did not count reads */
};

/*
 * From `time_ns` on the recorder sampled more slowly, since it could not keep up, or faster again.
 * `period_ns` is the period of software clocks on each CPU. Counters of cycles have about the same
 * rate.
 */
struct account_rate {
	uint64_t time_ns, period_ns;
	uint64_t budget; /* 1: the budget caused the change, 0: the buffers */
	/*
	 * This entry may replace several changes by their mean rate: their number, the number of
	 * changes among them that lowered the rate because the recorder fell behind, and the
	 * longest period that they set. 0: the entry is a single change.
	 */
	uint64_t changes, slowed, slowest_ns;
	bool unknown; /* the recording does not contain the reason */
};

/* The CPU budget of the measurement, and its use. All 0 if there was no limit. */
struct account_budget {
	uint64_t share_ppm;
	uint64_t cost_ns; /* cost of one sample, as assumed at the end */
	uint64_t cost_low_ns, cost_high_ns,
	        cost_samples;         /* quartiles and number of measurements; 0: not measured */
	uint64_t record_ns;           /* cost of a record that is not a sample; 0: not recorded */
	uint64_t spent_ppm, most_ppm; /* samples and recorder: mean and maximum over all checks */
	/* Total time of all checks, and of the checks above the budget */
	uint64_t looked_ns, over_ns;
};

/*
 * By how much sampling slows programs, measured before the recording (--calibrate). The slowdown is
 * the additional time that work takes, as a part of its time without sampling, in millionths.
 */
enum calibration_state {
	CALIBRATION_NONE,     /* not requested */
	CALIBRATION_DONE,     /* the figures below are known */
	CALIBRATION_BUSY,     /* too few pieces of work were undisturbed, or they differ too much */
	CALIBRATION_NO_CLOCK, /* the sampled event is no clock */
	CALIBRATION_REFUSED,  /* the kernel or a limit of the system did not allow it */
};

struct account_calibration {
	uint64_t state; /* enum calibration_state */
	uint64_t pairs; /* pieces of work compared, without and with sampling */
	int64_t slowdown_ppm, low_ppm, high_ppm;
};

/*
 * What the sampled COMMAND used, with its children that it waited for, as the kernel counts it
 * (getrusage). wall_ns 0: not known.
 */
struct account_command {
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t rss_bytes; /* the largest resident size of one process */
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
};

/* The cost of stack unwinding during the recording. All 0 if there was none. */
struct account_unwind {
	uint64_t samples, frames, by_frame_pointer, stitched_frames, memory_reads;
	uint64_t tables, table_rows, table_ns;
	/* CPU time of unwinding and writing the samples, part of observer_cpu_ns */
	uint64_t cpu_ns;
};

/* A block device at the start of a recording of --waits. */
struct account_device {
	uint32_t major, minor; /* `dev` of block_rq_issue is major << 20 | minor */
	char *name;            /* "vda1" */
	char *mount; /* where its file system is mounted, as in mountinfo; NULL: nowhere */
};

/* A function of the sampled kernel: a map of kernel symbols is compared with it. */
struct account_symbol {
	uint64_t address;
	char *name, *module; /* module: "[ext4]"; NULL: the kernel itself */
};

struct account {
	bool present;                   /* false: not from assay, or the recorder was killed */
	bool machine_wide;              /* -a, against one command or process */
	uint64_t start_ns, end_ns;      /* recording's clock */
	uint64_t observer_cpu_ns;       /* CPU time of the recorder, while sampling */
	uint64_t observer_start_cpu_ns; /* CPU time before sampling began */
	uint64_t observer_bytes;        /* written */
	uint64_t observer_wakeups;
	/* The interval of flushes that was asked for, 0: none; their number; the CPU time of
	 * reading the rings and of writing the file at them. */
	uint64_t flush_asked_ns, flushes, flush_cpu_ns;
	int32_t observer_pid;
	int32_t reader_pid; /* the recorder's second process, which reads for it; 0: none */
	/*
	 * Reads of other processes' memory and files: reads that never returned, and reads that
	 * were skipped.
	 */
	uint64_t reads_unanswered, reads_not_made;
	/* one process: time on CPU of it and its children by the kernel's counter, 0 if n/a */
	uint64_t counted_oncpu_ns;
	/* one process: run delay from schedstat for threads alive at both ends, 0 if n/a */
	int exit_status; /* of COMMAND, wait(2) format; -1: no command was sampled to its end */
	/*
	 * The processes that were asked for, COMMAND or those of -p, in a recording that contains
	 * the others too, since they may wake them (--waits). Empty: all were asked for, or only
	 * those that were asked for are in the recording.
	 */
	VEC(int32_t) targets;
	VEC(struct account_device) devices;
	VEC(struct account_cpu) cpus;
	struct account_unwind unwind;
	VEC(struct account_rate) rates; /* changes only: empty if the rate stayed the same */
	struct account_budget budget;
	struct account_calibration calibration;
	struct account_command command;
	VEC(struct account_symbol) symbols; /* empty: not recorded */
	char *boot_id;                      /* of the kernel that was sampled; NULL: not recorded */
	VEC(char *) notes; /* sentences: the data that could not be recorded, and the reason */
};

struct recording {
	char *path;
	struct file_namer namer; /* the owner of the file, who chose its paths; zeros: root */
	char *hostname, *os_release, *arch, *cpu_description, *version, *cmdline;
	uint32_t cpus_online, cpus_available;
	int clockid;            /* clockid_t; -1: perf's own clock */
	uint64_t clock_wall_ns; /* realtime at clock_start_ns, 0 if unknown */
	uint64_t clock_start_ns;
	uint64_t captured_at_s;                   /* file's mtime, for the heading */
	uint64_t first_sample_ns, last_sample_ns; /* filled while reading */
	/*
	 * The part of the time that was read, [from, to); 0: from the beginning, to the end. The
	 * reader's counts below are of this part, and the account is of the whole.
	 */
	uint64_t from_ns, to_ns;
	VEC(struct recording_attr) attrs;
	VEC(struct recording_build_id) build_ids;
	VEC(struct tracepoint) tracepoints; /* those whose samples have fields */
	char *tracing_page; /* the kernel's description of a page of its trace buffer; for perf */
	struct account account;
	/* Counts of the reader, filled while reading */
	uint64_t bytes, records, samples, unknown_records, lost_records, lost_samples;
	uint64_t rejected_samples; /* by a filter of the recorder, on purpose */
	uint64_t deferred_missing; /* samples whose deferred user chain is not in the file */
	uint64_t out_of_order;     /* events delivered late in spite of ordering */
	bool truncated;            /* cut short: killed recorder or damaged file */
	VEC(char *) warnings;      /* sentences with file and offset */
};

/* True if only a part of the recorded time was read. */
bool recording_is_part(const struct recording *r);
/* The time that was read, on the recording's clock; the end is the start if it is unknown. */
void recording_span(const struct recording *r, uint64_t *start_ns, uint64_t *end_ns);
/* Its length. */
uint64_t recording_elapsed_ns(const struct recording *r);

/*
 * Lost records of all kinds: those reported in the file. The kernel may not have reported the last
 * lost records in the file; their number comes from the recorder's own query, which covers the
 * whole recording.
 */
uint64_t recording_lost(const struct recording *r);

void recording_init(struct recording *r);
void recording_done(struct recording *r);
void recording_warn(struct recording *r, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* Time of the recording, s since 1970; 0: unknown. */
uint64_t recording_time_s(const struct recording *r);

/* Nanoseconds to add to the recording's clock to get the time since 1970. */
uint64_t recording_wall_offset(const struct recording *r);

/*
 * Whether the recorded pids belong to this machine since its last boot: host name and boot id are
 * equal. For files without a boot id, host name and time of boot by the recorded clock are
 * compared.
 */
enum recording_place { RECORDING_HERE, RECORDING_ELSEWHERE, RECORDING_UNPROVEN };
enum recording_place recording_place(const struct recording *r);

/*
 * The attribute to which the account refers: the first attribute with role CLOCK, else COUNT, that
 * has samples (hybrid CPUs have a clock for each kind of core), else the first attribute with such
 * a role, else 0.
 */
uint16_t recording_main_attr(const struct recording *r);

/*
 * True if the event may have been opened for CPUs (perf record -a, -C). False for a command or a
 * process: perf stores no CPU in their samples, and a command's exec enables the event. True is not
 * a proof, since other recorders store the CPU in every sample.
 */
bool recording_attr_may_be_of_cpus(const struct recording_attr *a);
/* The same of the main attribute. */
bool recording_may_be_machine_wide(const struct recording *r);

/*
 * Receives the events. begin() is called first, when attrs and features are known, but not the time
 * fields and counters. end() is called last, when all counters are filled. A callback returns 0, or
 * -errno with `err` set, which ends the reading.
 */
struct event_sink {
	void *ctx;
	int (*begin)(void *ctx, const struct recording *r, struct error *err);
	int (*event)(void *ctx, const struct event *e, struct error *err);
	int (*end)(void *ctx, const struct recording *r, struct error *err);
};

#endif
