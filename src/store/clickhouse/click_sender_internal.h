/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_sender_internal: shared by the files of click_sender.h. The functions add rows to the
 * batch; click_sender.c sends it. Uses: those of click_sender.h.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SENDER_INTERNAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SENDER_INTERNAL_H

#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "store/clickhouse/click_sender.h"

/* In the order in which they are sent: `windows` commits the others. */
enum click_table {
	CLICK_NAMES,
	CLICK_IMAGES,
	CLICK_FRAMES,
	CLICK_STACKS,
	CLICK_EVENTS,
	CLICK_HOSTS,
	CLICK_SESSIONS,
	CLICK_SESSION_EVENTS,
	CLICK_GAPS,
	CLICK_PROCESSES,
	CLICK_THREADS,
	CLICK_LEDGER,
	CLICK_WAIT_CAUSES,
	CLICK_WAITS,
	CLICK_WAIT_TIMES,
	ROWS_SAMPLES,
	ROWS_WINDOWS,
	CLICK_TABLES
};

struct click_stack {
	uint64_t hash, frame;
	uint32_t parent; /* index + 1; 0: none */
	bool sent;
};

struct click_session {
	uint64_t key, host;
	int64_t process_base, thread_base;
};

struct click_thread {
	uint64_t hash, service, program, version, labels;
	int64_t process;
};

/* A window that is sent. */
struct click_window {
	int64_t id, number[21];              /* columns from `session` on */
	const struct click_session *session; /* while its rows are made */
	uint64_t session_key, host;
	uint64_t key, part, time_s;
	uint64_t service; /* of its first sample */
	bool has_samples, has_ledger, has_waits, has_wait_times;
};

struct click_sender {
	struct click_server *server;
	struct database *db;
	struct buf rows[CLICK_TABLES];
	/* From ids of the database to hashes, or to an index + 1. */
	struct click_map names, images, frames, stacks, events, sessions, hosts, threads;
	struct click_map causes; /* of waits */
	size_t ids_at_first; /* ids after the first batch since they were forgotten; 0: not yet */
	VEC(struct click_stack) stack_list;
	VEC(struct click_session) session_list;
	VEC(struct click_thread) thread_list;
	VEC(uint64_t) chain;
	VEC(int64_t) nameless; /* frames whose names may become known later */
	/*
	 * By hash, to the hash of the contents that were sent: of the rows that were used last, and
	 * of those before them. Rows that were not used for longer are sent again.
	 */
	struct click_map sent, sent_before;
	/* The last parent: id within the session of that key, and its hash. */
	uint64_t parent_session, parent_hash;
	int64_t parent;
	struct click_map living; /* processes that were sent without an end, by id */
	/* Keys of windows that the server has, of the sessions in `asked`. */
	struct click_map known, asked;
	int64_t sweeps;          /* property of the database, when the ids were read */
	uint64_t living_session; /* of the processes in `living` */
	/*
	 * With `merged`, rows came from the server: processes and threads with ids above 0 have
	 * these hashes there, and are not sent. Folded ones are those of that window.
	 */
	const struct click_merged *merged;
	/* With `live`: the clock of this machine against that of the server, as far as it is
	 * certain; the largest difference so far. */
	bool live, clock_asked;
	int64_t ahead_ns, clock_offset_ns, window_ns;
	uint64_t attempt;                 /* a random number of the batch */
	VEC(struct click_window) windows; /* of the batch */
	struct click_map lower;           /* lower halves of their parts (click_arrival.h) */
	uint64_t changed; /* version of the rows of the batch: end of its newest window */
};

/* Asks for the server's time, at first and after the clock of this machine was set. */
int click_sender_clock(struct click_sender *s, struct error *err);
/* False: there is nothing to note. */
bool click_sender_clock_note(const struct click_sender *s, char *note, size_t size);

/* True if a row with these contents must be sent; it is regarded as sent then. */
bool click_sender_is_new(struct click_sender *s, uint64_t hash, uint64_t contents);
/* The first row of a kept statement that binds one id: 1, 0 or -errno. Reset it. */
int click_sender_row(struct click_sender *s, const char *sql, int64_t id, sqlite3_stmt **statement,
                     struct error *err);
const char *click_sender_text(sqlite3_stmt *statement, int column); /* "" if it is NULL */
int64_t click_sender_or_null(sqlite3_stmt *statement, int column);  /* CLICK_NULL */

/* Ids of a row and of all that it refers to; their rows are added to the batch. 0: id 0. */
int click_send_name(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err);
int click_send_image(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err);
int click_send_stack(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err);
/* Frames that were sent without a name and have one now. */
int click_send_new_names(struct click_sender *s, struct error *err);
int click_send_event(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err);

/* *session, *thread: valid until the next call. */
int click_send_session(struct click_sender *s, int64_t id, const struct click_session **session,
                       struct error *err);
int click_send_gaps(struct click_sender *s, struct error *err);
int click_send_thread(struct click_sender *s, const struct click_session *session, int64_t id,
                      const struct click_thread **thread, struct error *err);
/* Processes that began in a window, and those that were sent without an end and have changed. */
int click_send_processes(struct click_sender *s, const struct click_session *session, int64_t first,
                         int64_t last, struct error *err);
int click_send_samples(struct click_sender *s, struct click_window *w, struct error *err);
int click_send_waits(struct click_sender *s, struct click_window *w, struct error *err);

#endif
