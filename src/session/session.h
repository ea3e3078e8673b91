/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: a running measurement.
 *
 * session_record() opens the events, reports running processes, starts COMMAND, and passes the
 * contents of the rings to the sink (by default a perf.data file) until COMMAND exits, a signal
 * comes, the processes have exited, the duration has passed or a hook stops it. Then it closes the
 * sink with the account. One thread; SIGINT, SIGTERM and SIGHUP end it cleanly, and end COMMAND
 * too. If sampling ends for another reason, or fails, COMMAND continues, and the caller waits for
 * `command`. Missing rights or counters are reported in `notes` of the result and of the recording.
 * After an error `status` shows the progress until then; call session_result_done() in any case.
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
	bool command_failed;          /* the error is that COMMAND could not be started */
	bool command_goes_on;         /* it did not exit after the recorder's signal */
	bool interrupted;             /* a signal ended sampling */
	bool duration_over;           /* sampling ended because the duration had passed */
	struct command_child command; /* still runs, and received no signal; pid 0: none */
	VEC(char *) notes;
	struct session_status status; /* at the end */
};

int session_record(const struct session_options *options, struct session_result *result,
                   struct error *err);
void session_result_done(struct session_result *result);

/* For hooks: ends the measurement cleanly and soon. */
void session_stop(struct session *s);
/* The current status; call session_status_done() afterwards. */
void session_status_take(struct session *s, struct session_status *status);
/* Notes on missing data so far. The texts belong to the session, and are valid until the next
 * call. */
char *const *session_notes(const struct session *s, size_t *count);
/*
 * For sinks: adds a note, or replaces an earlier one (`earlier`: its return value; 0: none). Takes
 * ownership of the text.
 */
size_t session_note(struct session *s, size_t earlier, char *text);
/* Adds the CPUs of a measurement of the whole machine, with the time since which each is sampled;
 * for sinks. */
void session_cpus(const struct session *s, struct account *a);
/* Reads the rings, so that the status is current. An error ends the session. */
int session_read(struct session *s, struct error *err);
/* For hooks: the session's next step is to read the rings; then it calls serve(). */
void session_read_soon(struct session *s);
/*
 * True if serve() runs in a pause of a read of the rings, a flush or a snapshot: counts include
 * only the records that were read so far, and no snapshot can begin.
 */
bool session_is_busy(const struct session *s);
/*
 * Called every few ms in long work of the session and of its sink: runs serve() if 20 ms have
 * passed since the work began or since the last pause. NULL-safe.
 */
void session_pause(struct session *s);
/* Returns an error with a sentence if the sink's file, which grows under its name, was moved,
 * deleted or replaced. */
bool session_output_is_gone(const struct session *s);
int session_output_check(const struct session *s, struct error *err);
/* Resets the recent maximum of the buffers. */
void session_buffers_restart(struct session *s);
/*
 * Reads the rings, and takes the status and the account of the measurement until now, for sinks
 * that show it. The caller calls session_status_done() and recording_done().
 */
int session_describe(struct session *s, struct recording *r, struct session_status *status,
                     struct error *err);
/* Reads the rings, and makes the sink write its data to a file; -EOPNOTSUPP: not supported. */
int session_snapshot(struct session *s, const char *path, struct error *err);
/* Closes the programs and libraries that are held open for the report; see image_keeper_release().
 */
void session_release_files(struct session *s);

#endif
