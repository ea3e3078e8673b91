/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/control_client.h"

#include "session/daemon/control_silence.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_SECONDS 10 /* time limit for a session whose queue is full */
#define LOOK_MS 500     /* interval of checks while waiting for an answer */

/* A session that got a request, and its state. */
struct asked {
	const char *name;
	struct control_silence silence;
	int fd;
};

static int no_answer(struct error *err, int code, struct asked *a)
{
	if (code == EPIPE)
		code = ECONNRESET; /* before the request was sent */
	if (code == ECONNREFUSED)
		return error_set(err, code,
		                 "the session '%s' is just starting or ending: try again", a->name);
	if (code == ETIMEDOUT) {
		control_silence_look(&a->silence);
		return control_silence_tell(&a->silence, a->name, err);
	}
	return error_set(err, code, "the session '%s' ended without an answer: %s", a->name,
	                 strerror(code));
}

/*
 * Checks the user of the server, since a socket in the user's directory may belong to another user.
 */
static int check_peer(struct asked *a, struct error *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(a->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof(peer))
		return no_answer(err, errno, a);
	if (peer.uid != geteuid() && peer.uid)
		return error_set(err, EPERM, "the session '%s' is another user's (uid %u)", a->name,
		                 (unsigned)peer.uid);
	/* The pid as seen from this namespace; the session may run in a container. */
	control_silence_begin(&a->silence, peer.pid, a->silence.verb);
	return 0;
}

static int reach(const struct session_registry *place, struct asked *a, struct error *err)
{
	const struct timeval patience = {.tv_sec = SEND_SECONDS};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	session_registry_socket(place, a->name, address.sun_path, sizeof(address.sun_path));
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return error_set(err, errno, "socket: %s", strerror(errno));
	setsockopt(a->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(a->fd, (struct sockaddr *)&address, sizeof(address)))
		return check_peer(a, err);
	return no_answer(err,
	                 errno == ENOENT                         ? ECONNREFUSED
	                 : errno == EAGAIN || errno == ETIMEDOUT ? ETIMEDOUT
	                                                         : errno,
	                 a);
}

static int ask(struct asked *a, const struct control_request *request, struct error *err)
{
	struct buf text = {0};
	size_t sent = 0;
	int rc = 0;

	control_request_write(request, &text);
	while (!rc && sent < text.size) {
		ssize_t n = send(a->fd, text.data + sent, text.size - sent, MSG_NOSIGNAL);

		if (n >= 0)
			sent += (size_t)n;
		else if (errno != EINTR)
			rc = no_answer(err, errno == EAGAIN ? ETIMEDOUT : errno, a);
	}
	buf_done(&text);
	return rc;
}

/* Reads the answer. A longer answer is not from a session. */
static int hear(struct asked *a, struct buf *text, struct error *err)
{
	char piece[16384];

	while (text->size <= CONTROL_REPLY_MAX) {
		struct pollfd watched = {.fd = a->fd, .events = POLLIN};
		int ready = poll(&watched, 1, LOOK_MS);
		ssize_t n;

		if (!ready && control_silence_look(&a->silence))
			return control_silence_tell(&a->silence, a->name, err);
		if (!ready)
			continue;
		n = ready < 0 ? -1 : recv(a->fd, piece, sizeof(piece), MSG_DONTWAIT);
		if (n > 0)
			buf_add(text, piece, (size_t)n);
		else if (!n)
			break;
		else if (errno != EINTR && errno != EAGAIN)
			return no_answer(err, errno, a);
	}
	return text->size ? 0 : no_answer(err, ECONNRESET, a);
}

int control_client_ask(const struct session_registry *place, const char *name, pid_t pid,
                       const struct control_request *request, struct control_reply *reply,
                       struct error *err)
{
	struct asked a = {.name = name, .fd = -1};
	struct error why = {0};
	struct buf text = {0};
	int rc;

	*reply = (struct control_reply){0};
	control_silence_begin(&a.silence, pid, request->verb);
	rc = reach(place, &a, err);
	if (!rc)
		rc = ask(&a, request, err);
	if (!rc)
		rc = hear(&a, &text, err);
	if (!rc && (rc = control_reply_parse(reply, buf_text(&text), text.size, &why)))
		rc = error_set(err, -rc, "the answer of the session '%s' was not understood: %s",
		               name, why.text);
	if (a.fd >= 0)
		close(a.fd);
	buf_done(&text);
	return rc;
}
