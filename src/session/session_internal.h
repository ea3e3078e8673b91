/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_internal: shared by session.c (the course of a measurement), session_prepare.c (its
 * preparation), session_foreign.c and session_query.c (queries while it runs). Life cycle and
 * threads are those of session.h. Uses: base, event, profile, source, format.
 */
#ifndef ASSAY_SESSION_SESSION_INTERNAL_H
#define ASSAY_SESSION_SESSION_INTERNAL_H

#include "session/account.h"
#include "launch/command_child.h"
#include "session/keep/descriptor_keeper.h"
#include "session/keep/fault_keeper.h"
#include "session/keep/jit_keeper.h"
#include "session/keep/label_keeper.h"
#include "session/keep/image_keeper.h"
#include "session/output_watch.h"
#include "session/wakeup_schedule.h"
#include "session/stream/record_stream.h"
#include "session/session.h"
#include "session/sink.h"
#include "session/targets.h"

#include <signal.h>

struct session {
	const struct session_options *options;
	struct session_hooks hooks;
	struct plan plan;
	struct perf_source *source;
	struct session_sink *sink;
	struct record_stream *stream; /* NULL: rings are copied unchanged */
	struct foreign *foreign;      /* NULL: it could not be started */
	int watches;                  /* inotify descriptor, used by foreign calls; -1: none */
	size_t foreign_note;          /* number of the note on unanswered calls, 0: none */
	struct image_keeper *keeper;  /* NULL: the kernel refused */
	struct jit_keeper *jit;
	struct descriptor_keeper *descriptors; /* NULL: not wanted */
	struct fault_keeper *faults;           /* likewise */
	struct label_keeper *labels;           /* likewise */
	struct recording recording;
	struct command_child child;
	struct account_mark start, end;
	struct perf_source_options source_options;
	proc_ids tasks;     /* whose events were opened */
	proc_ids children;  /* processes that the targets had forked before that */
	size_t newcomers;   /* threads and processes that began while events were opened */
	struct buf encoded; /* own records that are not yet passed to the sink */
	sigset_t old_mask;
	int signals; /* signalfd */
	struct wakeup_schedule pace;
	struct output_watch place; /* watches the output file */
	uint64_t look_due_ns;
	unsigned busy;         /* long work in progress, nested */
	uint64_t pause_due_ns; /* of that work */
	bool read_soon;        /* a hook wants the rings to be read */
	struct error failed;   /* error of a read that a hook requested: its records are lost */
	bool began;            /* sampling has begun: a result exists, also after an error */
	bool stop, signalled, masked;
	bool interrupted; /* a signal requested the end: COMMAND is ended too */
	bool over;        /* the requested duration has passed */
};

/* Everything that comes before sampling starts, up to the records of the running processes. */
int session_prepare(struct session *s, struct error *err);
/* Blocks the signals that do not end the recording and sets *mask to them. Called from the start.
 */
void session_hold_signals(struct session *s, sigset_t *mask);
/* The processes of this session; they belong to the options and the command. */
struct targets session_targets(const struct session *s);
/* Passes the session's own records to the sink. */
int session_write_encoded(struct session *s, struct error *err);
/* Flushes the sink, with the status of the session if the sink flushes by time. */
int session_flush(struct session *s, struct error *err);

void session_foreign_open(struct session *s);
void session_foreign_close(struct session *s);
/* Adds a note on the calls that were not answered so far. */
void session_foreign_report(struct session *s);
void session_foreign_account(const struct session *s, struct account *account);

/* Around work in which session_pause() lets hooks run. May be nested. */
void session_work_begin(struct session *s);
void session_work_end(struct session *s);

/* Reads the rings once, into the sink; `last`: sampling is disabled, so all records are read. */
int session_drain(struct session *s, bool last, struct error *err);

#endif
