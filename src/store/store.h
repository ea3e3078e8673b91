/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store: the history of one or more machines, in one SQLite file or in a database on a ClickHouse
 * server (clickhouse://HOST/DATABASE). It writes and reads profiles.
 *
 * Writing: one process per host. Each window of a measurement is one transaction, so a writer
 * that is killed loses at most the current window. In WAL mode readers and the writer do not
 * wait for each other. Memory is bounded and does not depend on the size of the file.
 *
 *	store_open(&s, path, options)
 *	store_begin(s, described, clock)	a measurement begins: a row in `sessions`
 *	store_add_window(s, p, window)		any number of times
 *	store_retention(s)				after a window: a bounded step of retention
 *	store_end(s, why)
 *	store_close(s)
 *
 * Reading: any number of processes. store_read() makes the profile of a time range, as if that
 * range had been recorded. docs/SQL.md explains the tables; store/sqlite/schema.h creates them. A
 * file of a later version is refused; the writer upgrades a file of an earlier version. Errors name
 * the file and the way out. -ENOSPC: the disk is full. -EBUSY: another process has held the write
 * lock for seconds. After both nothing was written, the store is consistent, and the next window
 * may be added. -EALREADY: another process writes the measurements of this host. One thread. Times
 * are ns since 1970 unless stated otherwise. Uses: base, event, image, process, profile.
 */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

#include "base/memory/intern.h"
#include "base/process/sender_process.h"
#include "profile/calls/call_times.h"
#include "profile/profile.h"

struct store;

/* Sets names[i] for each frames[i] (an id in p->frames); NULL: the name is not known. */
typedef void store_name_fn(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                           const char **names);

/* Retention. 0 selects the default that the comment states. */
struct store_retention_rules {
	uint64_t fine_ns;   /* age up to which windows stay as measured: a day */
	uint64_t coarse_ns; /* then they are merged into windows of 10 minutes, up to 30 days */
	uint64_t all_ns;    /* then into windows of 2 hours, up to a year; then deleted */
	uint64_t bytes;     /* cap of the file size, 4 GB. Above half of it windows are merged
	                       earlier, and into days. At the cap the oldest are deleted */
};

/* How a store on a server is reached. Texts: NULL for the default. */
struct store_server {
	const char *token_file; /* with the password; default: from the environment */
	const char *ca_file;    /* certificates to trust, instead of those of the system */
	const char *spool;      /* directory of windows that wait */
	uint64_t spool_bytes;   /* its size limit; 0: SEND_SPOOL_BYTES */
	/*
	 * For services: the server may be away at the begin and at the end, and a window is written
	 * with an error after the process that sends was killed, so that the caller begins again.
	 */
	bool away;
};

struct store_options {
	bool read_only;
	struct store_retention_rules keeping;
	store_name_fn *name; /* NULL: frames get no names in the store */
	void *name_ctx;
	/* A range whose windows retention deleted becomes a gap with this reason. NULL: no gap. */
	const char *deleted_why;
	/* Of stores on a server. */
	struct store_server server;
};

/* The ring buffers of one CPU, in a window. */
struct store_buffer {
	uint32_t cpu;
	uint64_t ring_bytes, used_max, used_average, lost_records;
	uint64_t steal_ns; /* stolen time in the window, from /proc/stat */
	bool has_steal;
};

/* Why the sampling rate of a window was reduced, and how much of the budget was used. */
struct store_rate {
	/* Time at a reduced rate: for the budget; for full buffers. */
	uint64_t slowed_budget_ns, slowed_behind_ns;
	uint64_t taken_ns,
	        taken_of_ns; /* CPU time of samples and recorder; the time of which it is a share */
	uint64_t over_ns;    /* the part of it above the budget */
	uint64_t most_ppm;   /* the largest share in one check */
	uint64_t sample_ns;  /* estimated cost of one sample */
};

/* The budget of the measurement, and the measured cost of a sample; 0: no budget. */
struct store_budget {
	uint64_t share_ppm, cost_low_ns, cost_high_ns, cost_samples;
	uint64_t record_ns; /* cost of a record other than a sample */
};

/* The texts and sums of a cause of waits. The columns of both engines have the same order. */
enum store_wait_text {
	STORE_WAIT_SERVICE, /* of the process that waited (process/service_name.h) */
	STORE_WAIT_PROGRAM, /* its name */
	STORE_WAIT_WAITER,  /* the name of its thread */
	STORE_WAIT_KIND,    /* "lock", "page_fault" */
	STORE_WAIT_NAME,
	STORE_WAIT_FUNCTION,
	STORE_WAIT_RELEASED_BY,
	STORE_WAIT_HOLDER,
	STORE_WAIT_EVIDENCE,
	STORE_WAIT_DEVICE,
	STORE_WAIT_TEXTS
};

enum store_wait_sum {
	STORE_WAIT_COUNT,     /* waits that ended in the window */
	STORE_WAIT_BLOCKED,   /* ns: the parts of all waits in the window, also of open ones */
	STORE_WAIT_RUNNABLE,  /* likewise */
	STORE_WAIT_PREEMPTED, /* of runnable */
	STORE_WAIT_OTHER,     /* this and the next ones: of blocked, as in struct wait_account */
	STORE_WAIT_NO_STACK,
	STORE_WAIT_LOST,
	STORE_WAIT_NO_WAKER,
	STORE_WAIT_MAX, /* the longest wait, as a whole; the largest value counts, not the sum */
	STORE_WAIT_SUMS
};

struct store_wait {
	uint32_t texts[STORE_WAIT_TEXTS]; /* 0: none */
	bool named;                       /* the object has a name */
	uint64_t sums[STORE_WAIT_SUMS];
	struct call_times times; /* of waits that ended, as a whole */
};

/* The time of the threads of a service's program. */
enum store_wait_time_sum {
	STORE_TIME_THREADS, /* with waits; the largest number of a window counts, not the sum */
	STORE_TIME_WALL,    /* ns, threads x time; 0: there are no switch records */
	STORE_TIME_ONCPU,
	STORE_TIME_UNSEEN,  /* before the first record of each thread */
	STORE_TIME_BEFORE,  /* off the CPU since before the measurement: in no row */
	STORE_TIME_WAKINGS, /* wake-ups of the machine, in one row of a window */
	STORE_TIME_BEYOND,  /* waits that are in sums only; in that row, too */
	STORE_TIME_COARSE,  /* waits without paths; in that row, too */
	STORE_TIME_SUMS
};

struct store_wait_time {
	uint32_t service, program; /* 0: none */
	uint64_t sums[STORE_TIME_SUMS];
};

/*
 * Why threads waited: at most STORE_WAITS_MAX rows in a window, others are summed up by program and
 * kind as STORE_WAIT_OTHERS. store_waits_init() / store_waits_done().
 */
#define STORE_WAITS_MAX 1000
#define STORE_WAIT_OTHERS "[other]"
struct store_waits {
	struct intern texts;
	VEC(struct store_wait) rows;
	VEC(struct store_wait_time) times;
	/* Of a range that was read: of its first and last window. */
	uint64_t start_ns, end_ns;
	uint64_t damaged; /* histograms of windows of which a part could not be read */
};

struct store_window {
	uint64_t start_ns, end_ns; /* wall clock, as it was set during the window */
	uint64_t samples, lost_records;
	uint64_t observer_cpu_ns; /* CPU time of the measurement in the window */
	uint64_t period_ns;       /* of the main event, at the end; 0: it does not count ns */
	uint64_t unobserved_ns;   /* time in which the measurement was paused */
	struct store_rate rate;
	/* Of the measurement: that of its last window is stored. */
	struct store_budget budget;
	int64_t wall_offset_ns; /* wall clock - clock of the recording; 0: as at its begin */
	const struct store_buffer *buffers;
	size_t buffer_count;
	const struct store_waits *waits; /* NULL: they were not recorded */
};

int store_open(struct store **out, const char *path, const struct store_options *options,
               struct error *err);
void store_close(struct store *s); /* NULL-safe */

int store_begin(struct store *s, const struct recording *described, uint64_t start_ns,
                struct error *err);
/* Replaces the notes: sentences on data that the measurement could not record or had to drop. */
int store_set_notes(struct store *s, char *const *notes, size_t count, struct error *err);
int store_add_window(struct store *s, const struct profile *p, const struct store_window *w,
                     struct error *err);
/*
 * Adds a time range without measurement, and the reason: "suspended", "the disk was full". A range
 * that continues the last gap extends it. The store itself adds gaps for a clock that was set
 * back and for a killed writer.
 */
int store_add_gap(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err);
/* Merges and deletes windows that are due, for a bounded time. */
int store_retention(struct store *s, uint64_t now_ns, struct error *err);
int store_end(struct store *s, uint64_t end_ns, const char *why, struct error *err);
/* Copies the whole store, as of one moment, to a new file. An existing file becomes PATH.old. */
int store_copy(struct store *s, const char *path, struct error *err);
uint64_t store_bytes(const struct store *s); /* size of the file, with its WAL */
/* What a store on a server sent; false: the store is a file. Valid until store_close(). */
bool store_sent(const struct store *s, struct send_account *a);

/*
 * Which hosts, services and versions are read, by their names, and which processes, by their
 * labels: lines "key=value" (process/process_labels.h), "" for none.
 */
struct store_choice {
	bool (*host)(void *ctx, const char *name);
	bool (*service)(void *ctx, const char *name);
	bool (*version)(void *ctx, const char *name);
	bool (*labels)(void *ctx, const char *lines); /* NULL: all */
	void *ctx;
};

/*
 * A question to a store on a server is open for more than a second: what it is for, and what
 * arrived of its answer. Called a few times a second; NULL: the question is over.
 */
struct store_progress {
	const char *what; /* "samples" */
	uint64_t rows, bytes;
	uint64_t open_ns; /* since it was asked */
};
typedef void store_progress_fn(void *ctx, const struct store_progress *p);

struct store_range {
	uint64_t from_ns, to_ns; /* to_ns 0: no end. Windows that overlap are read */
	/* A name or a pattern of GLOB ("web*"). NULL: the only host; -EINVAL with the names if
	 * several */
	const char *host;
	/* A service (process/service_name.h) or a pattern: only samples of its processes. NULL: all
	 */
	const char *service;
	/* Instead of patterns, for stores on servers; NULL: none. */
	const struct store_choice *choice;
	/* The order of windows is not needed: samples of several hosts may come as one sum. */
	bool sums;
	/*
	 * Samples are needed by the parts of the time only, at most so many (profile/time_parts.h):
	 * a server may add them up by the names of programs. 0: each window is needed.
	 */
	uint32_t parts;
	/* The build of the programs (struct process) or a pattern: only their samples. NULL: all */
	const char *version;
	store_progress_fn *progress; /* NULL: none */
	void *progress_ctx;
};

/* True if a range selects a service; "web" and "web.service" are one name. */
bool store_range_service(const struct store_range *range, const char *name);

/*
 * Fills a new profile: recordings (one per session in the range), processes, images, frames,
 * paths, rows, ledger. Names in the store are added to the images (image/stored_names.h).
 */
int store_read(const char *path, const struct store_range *range, struct profile *p,
               struct error *err);

/* A change that 'assay watch' found in the time of a store. Texts: "": none. */
struct store_change {
	const char *host, *service; /* in whose data it was sought: names or patterns */
	const char *function, *image, *mode, *verdict;
	uint64_t time_ns, point_ns; /* of the change; length of a point */
	uint64_t found_ns;          /* when it was found first */
	double before, after;       /* as in struct watch_change, likewise the next ones */
	double ratio, low, high, q; /* NAN or infinite: not known */
};
/* Keeps changes in a store; one that it has already is replaced. -EROFS, -EACCES: no right to. */
int store_changes_add(const char *path, const struct store_change *changes, size_t count,
                      struct error *err);

void store_waits_init(struct store_waits *w);
void store_waits_done(struct store_waits *w);
/* Fewer rows: the smallest ones become STORE_WAIT_OTHERS. */
void store_waits_limit(struct store_waits *w, size_t most);
/*
 * The waits of a range, added up: one row for each cause, in the order of their texts, and one time
 * for each service and program. -ENODATA: the range has no windows, or none with waits.
 */
int store_waits_read(const char *path, const struct store_range *range, struct store_waits *waits,
                     struct error *err);

/* True if the name means a store on a server, and no file. */
bool store_is_remote(const char *path);

/* What store_keep() did. */
struct store_kept {
	uint64_t merged, made; /* windows that were merged, and those that they became */
	uint64_t days;         /* that were deleted on a server */
	uint64_t sums;         /* of all hosts of a server */
};

/*
 * Merges and deletes all windows that are due by the rules. A writer of a file does it itself;
 * windows on a server are merged only by this. `now_ns`: 0: the present.
 */
int store_keep(const char *path, const struct store_retention_rules *rules, uint64_t now_ns,
               struct store_kept *kept, struct error *err);
/*
 * Reads the password of stores on servers now, from the file that the environment names, for a
 * process that will not be able to read it later. Programs started afterwards inherit it.
 */
int store_keep_password(struct error *err);
/*
 * -EINVAL: the store is no such one. Creates the database and its tables, if they are missing, and
 * upgrades them. `cluster`: a name of the servers' configuration: the tables are distributed and
 * replicated; NULL: one server.
 */
int store_create(const char *path, const char *cluster, struct error *err);
/*
 * Copies a store into another one: a file to a server, or a range of a store on a server to a new
 * file, or a file to a new file. A copy to a server adds to it: windows that it has are skipped.
 * *windows: how many a server received or had.
 */
int store_transfer(const char *from, const struct store_range *range, const char *to,
                   uint64_t *windows, struct error *err);

/*
 * Sums of the samples of a range, for stores on servers. Time in which a CPU was idle is not
 * included, nor are events other than the clock.
 */
struct store_sums_request {
	struct store_range range; /* host NULL: all */
	bool by_service, by_host, by_version;
	/*
	 * The lines of a set of labels by which sums are made: sets with the same text are in one
	 * sum, which has this text. Valid until the next call. NULL: not asked for.
	 */
	const char *(*by_labels)(void *ctx, const char *lines);
	void *by_labels_ctx;
	uint64_t step_ns; /* sums of each step of this length, whole seconds; 0: of the range */
};

struct store_sum {
	uint32_t service, host, version; /* texts; 0: none, or not asked for */
	uint32_t labels;                 /* the text of by_labels; likewise */
	uint64_t start_ns;               /* of the step; 0: not asked for */
	uint64_t length_ns; /* of the windows that begin in the step: 0: not asked for */
	uint64_t samples, weight_ns;
};

struct store_sums {
	struct intern texts;
	VEC(struct store_sum) sums; /* by service, host, version, labels, time */
	uint64_t first_ns, last_ns; /* start of the first window of the store, end of the last */
	uint64_t windows;           /* in the range; 0: the store has no data there */
	uint64_t hosts;             /* machines in the store */
};

/* -EOPNOTSUPP: the store is a file. -E2BIG: there are too many sums; the range is to be shorter. */
int store_sums_read(const char *path, const struct store_sums_request *request,
                    struct store_sums *sums, struct error *err);
void store_sums_done(struct store_sums *sums); /* accepts zeros */

/* Reasons of gaps whose windows were measured, and then dropped. */
#define STORE_GAP_SPOOL_FULL "the spool was full"
#define STORE_GAP_DISK_FULL "the disk was full"
/* Why a session ended: by a request, not by an error or a kill. */
#define STORE_ENDED_STOPPED "stopped"

/* What a store on a server has of one machine, and when it came. Times are ns since 1970. */
struct store_machine {
	uint32_t name, version; /* texts; version: of the assay that measured the last window */
	uint32_t ended;         /* text: why the session of the last window ended; 0: it has not */
	uint64_t first_ns;      /* start of its first window */
	uint64_t end_ns;     /* of the last window, by the machine's clock; 0: it has no window */
	uint64_t arrived_ns; /* when a window came last, by the server's clock; 0: all are merged */
	uint64_t last_window_ns; /* usual length of windows that came lately; 0: likewise */
	/* The least difference of the machine's clock to that of the server; 0: none is known. */
	int64_t ahead_ns;
	/* Of the range: windows, as they were measured, and time without windows. */
	uint64_t windows, lost_records, dropped_ns, gaps_ns;
};

struct store_machines {
	struct intern texts;
	VEC(struct store_machine) machines; /* by name */
	uint64_t now_ns;                    /* the server's clock */
};

/* The machines of range->host; NULL: all. -EOPNOTSUPP: the store is a file. */
int store_machines_read(const char *path, const struct store_range *range,
                        struct store_machines *machines, struct error *err);
void store_machines_done(struct store_machines *machines); /* accepts zeros */

/*
 * The central configuration of agents: a table in a database of its own on a server, so that its
 * users decide who may write it. Each option is for the machines of a pattern.
 */
struct store_central_option {
	char *machines; /* a pattern of their names: web* */
	char *option, *value;
	char *author;    /* as the writer named itself */
	uint64_t time_s; /* when it was set, by the server's clock */
	bool removed;
};

struct store_central {
	VEC(struct store_central_option) options;
};

/* -EINVAL: the name is that of a file, here and below. Creates database and table if missing. */
int store_central_create(const char *name, struct error *err);
/*
 * All options that are set, by pattern and name. `server`: token and certificates; NULL: those of
 * the environment. `opened` is called before the first byte of the server comes: from then on no
 * file of this user is needed; NULL: none. -ENODATA: there is no such database or table. The texts
 * may contain any bytes but NUL; each has at most LIMIT_CENTRAL_WORD_BYTES.
 */
int store_central_read(const char *name, const struct store_server *server, void (*opened)(void),
                       struct store_central *central, struct error *err);
/* Sets or removes options; time_s is ignored. They are later than all others. */
int store_central_add(const char *name, const struct store_central *central, struct error *err);
void store_central_done(struct store_central *central); /* accepts zeros */

#endif
