/* SPDX-License-Identifier: MIT */
/* handout: see handout.h. */
#include "linux/handout.h"
#include "linux/uncancelled.h"

#include "assay/handout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#define WAIT_S 5 /* for a recorder that is stopped or has much to do */

/* Control data with one descriptor, aligned. */
union descriptor_room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool handout_is_session(const char *directory)
{
	const char *last = strrchr(directory, '/');

	return last && !strncmp(last + 1, ASSAY_HANDOUT_SESSION, strlen(ASSAY_HANDOUT_SESSION));
}

/* Another user could listen after the recorder has exited, and would read and change the file. */
static bool is_of_recorder(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == 0 || peer.uid == (uid_t)syscall(SYS_geteuid));
}

static int connect_to(const char *directory)
{
	const struct timeval wait = {.tv_sec = WAIT_S};
	struct sockaddr_un address;
	socklen_t size = assay_handout_address(&address, directory);
	int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0)
		return -errno;
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (syscall(SYS_connect, fd, &address, size))
		rc = -errno;
	else if (!is_of_recorder(fd))
		rc = -EPERM;
	if (!rc)
		return fd;
	uncancelled_close(fd);
	return rc;
}

/* The descriptor of a message; -1: it has none. */
static int descriptor_of(struct msghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

static int receive(int from, struct assay_handout_answer *answer)
{
	struct iovec part = {answer, sizeof(*answer)};
	union descriptor_room room;
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	long got = syscall(SYS_recvmsg, from, &message, MSG_CMSG_CLOEXEC);
	int fd;

	if (got < 0)
		return -errno;
	fd = descriptor_of(&message);
	if (got == (long)sizeof(*answer) && !answer->code && fd >= 0)
		return fd;
	if (fd >= 0)
		uncancelled_close(fd);
	return got == (long)sizeof(*answer) && answer->code > 0 ? -answer->code : -EPROTO;
}

int handout_ask(const char *directory, uint64_t *bytes, uint64_t least)
{
	struct assay_handout_request request = {.bytes = *bytes, .least = least};
	struct assay_handout_answer answer;
	struct stat st;
	int to = connect_to(directory), fd;

	if (to < 0)
		return to;
	memcpy(request.magic, ASSAY_HANDOUT_MAGIC, sizeof(request.magic));
	if (syscall(SYS_sendto, to, &request, sizeof(request), MSG_NOSIGNAL, NULL, 0) < 0)
		fd = -errno;
	else
		fd = receive(to, &answer);
	uncancelled_close(to);
	if (fd < 0)
		return fd;
	/* The size is that of the file, so that no access is beyond its end. */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < least) {
		uncancelled_close(fd);
		return -EPROTO;
	}
	*bytes = (uint64_t)st.st_size;
	return fd;
}
