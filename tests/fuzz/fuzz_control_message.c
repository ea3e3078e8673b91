/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a request to a session, and as its reply: an accepted message is the same after it
 * was written and read again; a refused one has an error sentence.
 */
#include "session/daemon/control_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void as_request(const char *text, size_t size)
{
	struct control_request r, again;
	struct buf first = {0}, second = {0};
	struct error err = {0};

	if (control_request_parse(&r, text, size, &err)) {
		if (!err.text[0])
			abort();
	} else {
		control_request_write(&r, &first);
		/* Escaped text may be longer than the limit for its input. */
		if (!control_request_parse(&again, first.data, first.size, &err)) {
			control_request_write(&again, &second);
			if (strcmp(first.data, second.data) != 0)
				abort();
		} else if (first.size <= CONTROL_REQUEST_MAX) {
			abort();
		}
		control_request_done(&again);
	}
	control_request_done(&r);
	buf_done(&first);
	buf_done(&second);
}

static void as_reply(const char *text, size_t size)
{
	struct control_reply r, again;
	struct buf first = {0}, second = {0};
	struct error err = {0};

	if (control_reply_parse(&r, text, size, &err)) {
		if (!err.text[0])
			abort();
	} else {
		control_reply_write(&r, &first);
		if (!control_message_complete(first.data, first.size))
			abort();
		if (!control_reply_parse(&again, first.data, first.size, &err)) {
			control_reply_write(&again, &second);
			if (strcmp(first.data, second.data) != 0)
				abort();
		} else if (first.size <= CONTROL_REPLY_MAX) {
			abort();
		}
		control_reply_done(&again);
	}
	control_reply_done(&r);
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	as_request((const char *)bytes, size);
	as_reply((const char *)bytes, size);
	return 0;
}
