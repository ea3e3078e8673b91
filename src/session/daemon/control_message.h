/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_message: the messages between a session in the background and its clients, also used in
 * its files: text with one line "KEY VALUE" per fact.
 *
 *	assay-session 1		the version; other versions are refused
 *	KEY VALUE		unknown keys are skipped; a repeated key is an error
 *	end			the message is complete
 *
 * In values a newline is "\n" and a backslash "\\". The other side is not trusted: sizes are
 * limited, each line is checked, numbers are whole and in range. _parse() fills a request or a
 * reply, which the caller frees with _done(), also after an error. control_message_complete()
 * returns true when all data has arrived. 0 or -errno; -EPROTONOSUPPORT: another version.
 * Stateless. Any thread. Uses: base, event.
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

/* CONTROL_RELEASE: as CONTROL_STATUS, after all recorded files were closed. */
enum control_verb { CONTROL_STATUS, CONTROL_STOP, CONTROL_SNAPSHOT, CONTROL_RELEASE };

struct control_request {
	uint64_t verb;
	char *output; /* of a snapshot, absolute; NULL: the session chooses */
	bool again;   /* not in the message: the request was deferred before (control.h) */
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
