/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_channel.h"

#include "base/file/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is sent besides the descriptor. */
struct wire {
	uint32_t kind, flags, id;
	uint16_t status, type;
	uint64_t size;
};

union descriptor_message {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int web_channel_open(int ends[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "socketpair: %s", strerror(errno));
	return 0;
}

/* The receiver can neither change nor shorten the file; nor can this process. */
static int file_of(const void *bytes, size_t size, struct error *err)
{
	int fd = memfd_create("assay-page", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return error_set(err, errno, "memfd_create: %s", strerror(errno));
	rc = write_all(fd, bytes, size);
	if (!rc &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	rc = rc ? rc : -errno;
	close(fd);
	return error_set(err, -rc, "the data of the page does not fit into memory: %s",
	                 strerror(-rc));
}

int web_channel_send(int end, const struct web_message *m, const void *bytes, size_t size,
                     struct error *err)
{
	struct wire wire = {m->kind, m->flags, m->id, m->status, m->type, size};
	struct iovec part = {&wire, sizeof(wire)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union descriptor_message control = {.room = {0}};
	int fd = bytes ? file_of(bytes, size, err) : -1;
	ssize_t sent;
	int rc;

	if (bytes && fd < 0)
		return fd;
	if (bytes) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
		                                .cmsg_level = SOL_SOCKET,
		                                .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(end, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	rc = sent < 0 ? error_set(err, errno, "the server of the page has exited: %s",
	                          strerror(errno))
	              : 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int received_fd(const struct msghdr *message)
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

int web_channel_receive(int end, struct web_message *m, int wait)
{
	struct wire wire = {0};
	struct iovec part = {&wire, sizeof(wire)};
	union descriptor_message control;
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &control,
	                         .msg_controllen = sizeof(control)};
	ssize_t got;

	do
		got = recvmsg(end, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	*m = (struct web_message){.kind = wire.kind,
	                          .flags = wire.flags,
	                          .id = wire.id,
	                          .status = wire.status,
	                          .type = wire.type,
	                          .size = wire.size,
	                          .fd = received_fd(&message)};
	if (got == (ssize_t)sizeof(wire))
		return 0;
	if (m->fd >= 0)
		close(m->fd);
	return got ? -EPROTO : -EPIPE;
}
