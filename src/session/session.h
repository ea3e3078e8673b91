/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: a measurement under way.
 *
 * session_record() opens the events, tells what runs already, starts COMMAND,
 * gives what the rings hold to the sink until COMMAND ends, a signal comes, the processes are gone,
 * the duration is over or a hook says so, and closes the sink with the account. One thread; SIGINT,
 * SIGTERM and SIGHUP end it cleanly. These signals end COMMAND, too; where sampling ends for
 * another reason, or fails, COMMAND goes on, and `command` is for the caller to wait for. What
 * could not be had (rights, counters) is left out and told in `notes`, of the result and of the
 * recording. After an error `status` tells how far it came; session_result_done() in any case.
 * Uses: base, event, profile, source, format.
 */
#ifndef ASSAY_SESSION_SESSION_H
#define ASSAY_SESSION_SESSION_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "launch/command_child.h"
#include "session/session_options.h"
#include "session/status.h"

struct session_result {
	uint64_t elapsed_ns, bytes, lost_records, observer_cpu_ns;
	int exit_status;              /* of COMMAND in wait(2) form, -1: none */
	bool command_failed;          /* the error is that COMMAND could not be run */
	bool command_goes_on;         /* it would not end when we did */
	bool duration_over;           /* sampling ended for that */
	struct command_child command; /* still runs, and was not asked to end; pid 0: none does */
	VEC(char *) notes;
	struct session_status status; /* at the end */
};

int session_record(const struct session_options *options, struct session_result *result,
                   struct error *err);
void session_result_done(struct session_result *result);

/* For hooks: ends the measurement soon, cleanly. */
void session_stop(struct session *s);
/* How it stands now; session_status_done() afterwards. */
void session_status_take(struct session *s, struct session_status *status);
/* What could not be had, as far as is known: texts of the session's own, good until it is asked
 * again. */
char *const *session_notes(const struct session *s, size_t *count);
/*
 * For sinks: tells what could not be done, in place of what it told before (`earlier` is what it
 * got then; 0: nothing). The text is given away.
 */
size_t session_note(struct session *s, size_t earlier, char *text);
/* Reads the rings. The session ends with its error. */
int session_read(struct session *s, struct error *err);
/* For hooks: the session's next step is to read the rings; then it calls serve(). */
void session_read_soon(struct session *s);
/*
 * A read of the rings, a flush or a snapshot is in progress, and lets serve() run in a pause:
 * counts are those of the records that were read until now, and no snapshot can begin.
 */
bool session_is_busy(const struct session *s);
/*
 * Called every few ms in long work of the session and of its sink: runs serve() if 20 ms have
 * passed since the work began or since the last pause. NULL-safe.
 */
void session_pause(struct session *s);
/* Its file, where it grows under its name, was moved, deleted or replaced; with a sentence. */
bool session_output_is_gone(const struct session *s);
int session_output_check(const struct session *s, struct error *err);
/* The recent maximum of its buffers begins anew. */
void session_buffers_restart(struct session *s);
/* Reads the rings, and has the sink write what there is to a file; -EOPNOTSUPP: it can't. */
int session_snapshot(struct session *s, const char *path, struct error *err);
/* Closes the programs and libraries that are held open for the report; see image_keeper_release().
 */
void session_release_files(struct session *s);

#endif
