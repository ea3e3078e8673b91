/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/unix_peer.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An answer is two attributes; the name has at most 108 bytes. */
#define ANSWER_BYTES 2048

struct unix_socket {
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1]; /* "": none */
	uint32_t peer;                                              /* inode; 0: none */
};

struct unix_request {
	struct nlmsghdr header;
	struct unix_diag_req body;
};

union unix_answer {
	struct nlmsghdr header;
	char bytes[ANSWER_BYTES];
};

int unix_peer_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

/* An abstract name begins with a zero byte, and may contain others. */
static void take_name(struct unix_socket *s, const char *bytes, size_t size)
{
	if (size > sizeof(s->name) - 1)
		size = sizeof(s->name) - 1;
	memcpy(s->name, bytes, size);
	s->name[size] = '\0';
	for (size_t i = 0; size && !s->name[0] && i < size; i++)
		if (!bytes[i])
			s->name[i] = '@';
}

static void take_attribute(struct unix_socket *s, const struct rtattr *a)
{
	if (a->rta_type == UNIX_DIAG_NAME)
		take_name(s, RTA_DATA(a), RTA_PAYLOAD(a));
	else if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(s->peer))
		memcpy(&s->peer, RTA_DATA(a), sizeof(s->peer));
}

static bool take_answer(const union unix_answer *answer, size_t size, struct unix_socket *s)
{
	const struct unix_diag_msg *m = NLMSG_DATA(&answer->header);
	const struct rtattr *a = (const struct rtattr *)(const void *)(m + 1);
	size_t left = NLMSG_LENGTH(sizeof(*m));

	if (!NLMSG_OK(&answer->header, (unsigned)size) ||
	    answer->header.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer->header.nlmsg_len < left)
		return false;
	left = answer->header.nlmsg_len - left;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		take_attribute(s, a);
	return true;
}

static bool look_up(int fd, uint64_t inode, struct unix_socket *s)
{
	struct unix_request request = {.header = {.nlmsg_len = sizeof(request),
	                                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	                                          .nlmsg_flags = NLM_F_REQUEST},
	                               .body = {.sdiag_family = AF_UNIX,
	                                        .udiag_states = UINT32_MAX,
	                                        .udiag_ino = (uint32_t)inode,
	                                        .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
	                                        .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
	union unix_answer answer;
	ssize_t n;

	*s = (struct unix_socket){0};
	if (fd < 0 || inode > UINT32_MAX ||
	    send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
		return false;
	n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
	return n > 0 && take_answer(&answer, (size_t)n, s);
}

static void add_name(struct buf *text, const struct unix_socket *s, uint64_t inode)
{
	if (s->name[0])
		buf_addf(text, " %s", s->name);
	else
		buf_addf(text, " %" PRIu64, inode);
}

bool unix_peer_text(int fd, uint64_t inode, struct buf *text)
{
	struct unix_socket own, peer;

	if (!look_up(fd, inode, &own))
		return false;
	buf_puts(text, "unix");
	add_name(text, &own, inode);
	if (!own.peer) {
		buf_puts(text, " -");
		return true;
	}
	look_up(fd, own.peer, &peer);
	add_name(text, &peer, own.peer);
	return true;
}
