/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/control_client.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_SECONDS 10 /* for a session whose queue is full */

static int no_answer(struct error *err, int code, const char *name)
{
	if (code == EPIPE)
		code = ECONNRESET; /* before we had said a word */
	if (code == ECONNREFUSED)
		return error_set(err, code,
		                 "the session '%s' is just starting or ending: try again", name);
	if (code == ETIMEDOUT)
		return error_set(err, code, "the session '%s' does not answer", name);
	return error_set(err, code, "the session '%s' went away without an answer: %s", name,
	                 strerror(code));
}

/* A socket in a directory of ours may still be somebody else's, who is asked nothing. */
static int check_peer(int fd, const char *name, struct error *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof(peer))
		return no_answer(err, errno, name);
	if (peer.uid != geteuid() && peer.uid)
		return error_set(err, EPERM, "the session '%s' is another user's (uid %u)", name,
		                 (unsigned)peer.uid);
	return 0;
}

static int reach(const struct session_place *place, const char *name, int *fd, struct error *err)
{
	const struct timeval patience = {.tv_sec = SEND_SECONDS};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int rc;

	session_place_socket(place, name, address.sun_path, sizeof(address.sun_path));
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return error_set(err, errno, "socket: %s", strerror(errno));
	setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(*fd, (struct sockaddr *)&address, sizeof(address)))
		rc = no_answer(err,
		               errno == ENOENT                         ? ECONNREFUSED
		               : errno == EAGAIN || errno == ETIMEDOUT ? ETIMEDOUT
		                                                       : errno,
		               name);
	else
		rc = check_peer(*fd, name, err);
	return rc;
}

static int ask(int fd, const struct control_request *request, const char *name, struct error *err)
{
	struct buf text = {0};
	size_t sent = 0;
	int rc = 0;

	control_request_write(request, &text);
	while (!rc && sent < text.size) {
		ssize_t n = send(fd, text.data + sent, text.size - sent, MSG_NOSIGNAL);

		if (n >= 0)
			sent += (size_t)n;
		else if (errno != EINTR)
			rc = no_answer(err, errno == EAGAIN ? ETIMEDOUT : errno, name);
	}
	buf_done(&text);
	return rc;
}

/* More than that is none of a session's, and is not waited for. */
static int hear(int fd, int patience_ms, struct buf *text, const char *name, struct error *err)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + (uint64_t)patience_ms * 1000000;
	char piece[16384];

	while (text->size <= CONTROL_REPLY_MAX) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		int left = patience_ms < 0 ? -1
		           : now >= until  ? 0
		                           : (int)((until - now) / 1000000) + 1;
		struct pollfd watched = {.fd = fd, .events = POLLIN};
		int ready = poll(&watched, 1, left);
		ssize_t n;

		if (!ready)
			return no_answer(err, ETIMEDOUT, name);
		n = ready < 0 ? -1 : recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
		if (n > 0)
			buf_add(text, piece, (size_t)n);
		else if (!n)
			break;
		else if (errno != EINTR && errno != EAGAIN)
			return no_answer(err, errno, name);
	}
	return text->size ? 0 : no_answer(err, ECONNRESET, name);
}

int control_client_ask(const struct session_place *place, const char *name,
                       const struct control_request *request, int patience_ms,
                       struct control_reply *reply, struct error *err)
{
	struct error why = {0};
	struct buf text = {0};
	int fd, rc;

	*reply = (struct control_reply){0};
	rc = reach(place, name, &fd, err);
	if (!rc)
		rc = ask(fd, request, name, err);
	if (!rc)
		rc = hear(fd, patience_ms, &text, name, err);
	if (!rc && (rc = control_reply_parse(reply, buf_text(&text), text.size, &why)))
		rc = error_set(err, -rc, "what the session '%s' answered was not understood: %s",
		               name, why.text);
	if (fd >= 0)
		close(fd);
	buf_done(&text);
	return rc;
}
