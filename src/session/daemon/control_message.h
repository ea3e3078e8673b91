/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_message: what is said between a session in the background and those who ask it
 * something, and what it keeps in files for them: text, a line "KEY VALUE" a fact.
 *
 *	assay-session 1		the version: of another one nothing is understood
 *	KEY VALUE		keys that are not known are passed over, twice is an error
 *	end			complete
 *
 * In values a newline is "\n" and a backslash "\\". The other side is believed nothing: sizes
 * are bounded, each line is checked, numbers are whole and fit. A request, or a reply, is
 * filled in by its _parse() and the caller's to free with _done(), after an error too.
 * control_message_complete() tells whether all has come yet. 0 or -errno; -EPROTONOSUPPORT:
 * another version. Nothing is held. Any thread. Uses: base, event.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_MESSAGE_H
#define ASSAY_SESSION_DAEMON_CONTROL_MESSAGE_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "event/session_account.h"

#include <stdbool.h>

#define CONTROL_REQUEST_MAX (16u << 10)
#define CONTROL_REPLY_MAX (4u << 20)
#define CONTROL_CPUS_MAX 16384
#define CONTROL_RULES_MAX 256
#define CONTROL_NOTES_MAX 1024

/* CONTROL_RELEASE: as CONTROL_STATUS, after all files that were recorded are closed. */
enum control_verb { CONTROL_STATUS, CONTROL_STOP, CONTROL_SNAPSHOT, CONTROL_RELEASE };

struct control_request {
	uint64_t verb;
	char *output; /* of a snapshot, absolute; NULL: the session chooses */
	bool again;   /* not in the message: the request was put off before (control.h) */
};

struct control_reply {
	uint64_t code; /* an errno; 0: done */
	char *error;   /* with a code: the sentence */
	struct session_account account;
};

bool control_message_complete(const char *text, size_t size);

void control_request_write(const struct control_request *r, struct buf *out);
int control_request_parse(struct control_request *r, const char *text, size_t size,
                          struct error *err);
void control_request_done(struct control_request *r);

void control_reply_write(const struct control_reply *r, struct buf *out);
int control_reply_parse(struct control_reply *r, const char *text, size_t size, struct error *err);
void control_reply_done(struct control_reply *r);

#endif
