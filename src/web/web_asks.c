/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_asks.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <unistd.h>

enum asked_state { READS, WAITS, ANSWERED };

struct web_asked {
	struct web_asked *next;
	struct MHD_Connection *connection;
	uint32_t id;
	enum asked_state state;
	struct buf message;
	size_t head; /* of the message, before the body */
	struct MHD_Response *response;
	unsigned status;
	enum web_answer_type type;
};

struct web_asks {
	const struct microhttpd *http;
	int channel;
	struct web_asked *first;
	uint32_t next_id;
	unsigned waiting;
	bool closed;
};

struct web_asks *web_asks_new(const struct microhttpd *m, int channel)
{
	struct web_asks *a = xcalloc(1, sizeof(*a));

	a->http = m;
	a->channel = channel;
	return a;
}

static enum MHD_Result put_argument(void *ctx, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
	web_ask_put_argument(ctx, name, value);
	return MHD_YES;
}

struct web_asked *web_asks_begin(struct web_asks *a, struct MHD_Connection *connection,
                                 const char *path, bool posts)
{
	struct web_asked *asked = xcalloc(1, sizeof(*asked));
	const char *type =
	        a->http->lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");

	asked->connection = connection;
	asked->next = a->first;
	a->first = asked;
	web_ask_put(&asked->message, path, posts ? type : NULL);
	asked->head = asked->message.size;
	if (!posts)
		a->http->get_connection_values(connection, MHD_GET_ARGUMENT_KIND, put_argument,
		                               &asked->message);
	return asked;
}

static enum web_asks_state pass_on(struct web_asks *a, struct web_asked *asked)
{
	struct web_message m = {.kind = WEB_MESSAGE_ASK, .id = ++a->next_id};

	if (asked->message.size - asked->head > LIMIT_WEB_BODY_BYTES)
		return WEB_ASKS_TOO_LONG;
	if (a->waiting == WEB_ASKS_MAX)
		return WEB_ASKS_TOO_MANY;
	if (web_channel_send(a->channel, &m, asked->message.data, asked->message.size, NULL))
		return WEB_ASKS_CLOSED;
	asked->id = m.id;
	asked->state = WAITS;
	a->waiting++;
	buf_done(&asked->message);
	a->http->suspend_connection(asked->connection);
	return WEB_ASKS_WAITS;
}

enum web_asks_state web_asks_step(struct web_asks *a, struct web_asked *asked, const char *upload,
                                  size_t *upload_size)
{
	size_t size = *upload_size;

	if (asked->state == ANSWERED)
		return asked->response ? WEB_ASKS_ANSWERED : WEB_ASKS_CLOSED;
	if (asked->state == WAITS || a->closed)
		return a->closed ? WEB_ASKS_CLOSED : WEB_ASKS_WAITS;
	if (!size)
		return pass_on(a, asked);
	*upload_size = 0;
	/* The rest of a body that is too long is read and dropped: then the client sees the reason.
	 */
	if (asked->message.size - asked->head <= LIMIT_WEB_BODY_BYTES)
		buf_add(&asked->message, upload, size);
	return WEB_ASKS_WAITS;
}

struct MHD_Response *web_asked_response(struct web_asked *asked, unsigned *status,
                                        enum web_answer_type *type)
{
	struct MHD_Response *r = asked->response;

	*status = asked->status;
	*type = asked->type;
	asked->response = NULL;
	return r;
}

static struct web_asked *find(const struct web_asks *a, uint32_t id)
{
	struct web_asked *asked = a->first;

	while (asked && (asked->state != WAITS || asked->id != id))
		asked = asked->next;
	return asked;
}

static void end_wait(struct web_asks *a, struct web_asked *asked)
{
	asked->state = ANSWERED;
	a->waiting--;
	a->http->resume_connection(asked->connection);
}

void web_asks_answer(struct web_asks *a, const struct web_message *m)
{
	struct web_asked *asked = find(a, m->id);

	if (!asked || m->fd < 0) {
		if (m->fd >= 0)
			close(m->fd);
		return;
	}
	asked->response = a->http->create_response_from_fd64(m->size, m->fd);
	if (!asked->response)
		close(m->fd);
	asked->status = m->status;
	asked->type = (enum web_answer_type)m->type;
	end_wait(a, asked);
}

void web_asks_forget(struct web_asks *a, struct web_asked *asked)
{
	struct web_asked **at = &a->first;

	while (*at && *at != asked)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = asked->next;
	if (asked->state == WAITS)
		a->waiting--;
	if (asked->response)
		a->http->destroy_response(asked->response);
	buf_done(&asked->message);
	free(asked);
}

void web_asks_close(struct web_asks *a)
{
	a->closed = true;
	for (struct web_asked *asked = a->first; asked; asked = asked->next)
		if (asked->state == WAITS)
			end_wait(a, asked);
}

void web_asks_free(struct web_asks *a)
{
	while (a && a->first)
		web_asks_forget(a, a->first);
	free(a);
}
