/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_SECONDS 1 /* the kernel answers in the call; a limit in case it does not */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 request;
};

union answer {
	struct nlmsghdr head;
	char bytes[8192];
};

/* Addresses in inet_diag are as in the packets: IPv4 in the first word. */
static bool fill_peer(struct inet_diag_sockid *id, const struct sockaddr *peer)
{
	if (peer->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)peer;

		id->idiag_sport = v4->sin_port;
		memcpy(id->idiag_src, &v4->sin_addr, sizeof(v4->sin_addr));
	} else if (peer->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const void *)peer;

		id->idiag_sport = v6->sin6_port;
		memcpy(id->idiag_src, &v6->sin6_addr, sizeof(v6->sin6_addr));
	} else {
		return false;
	}
	return true;
}

static void fill_here(struct inet_diag_sockid *id, const struct web_address *here)
{
	const uint32_t v4 = htonl(INADDR_LOOPBACK);

	id->idiag_dport = htons(here->port);
	if (here->ipv6)
		memcpy(id->idiag_dst, &in6addr_loopback, sizeof(in6addr_loopback));
	else
		memcpy(id->idiag_dst, &v4, sizeof(v4));
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

/* The message about the socket; NULL with *error: the kernel's errno, negative; 0: no answer. */
static const struct inet_diag_msg *ask(int fd, const struct question *q, union answer *a,
                                       int *error)
{
	ssize_t got;

	*error = 0;
	if (send(fd, q, sizeof(*q), 0) != (ssize_t)sizeof(*q))
		return NULL;
	got = recv(fd, a, sizeof(*a), 0);
	if (got < 0 || !NLMSG_OK(&a->head, (size_t)got))
		return NULL;
	if (a->head.nlmsg_type == NLMSG_ERROR &&
	    a->head.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		*error = ((const struct nlmsgerr *)NLMSG_DATA(&a->head))->error;
	if (a->head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    a->head.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
		return NULL;
	return NLMSG_DATA(&a->head);
}

static struct question question_of(int family)
{
	return (struct question){
	        .head = {.nlmsg_len = sizeof(struct question),
	                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	                 .nlmsg_flags = NLM_F_REQUEST},
	        .request = {.sdiag_family = (uint8_t)family,
	                    .sdiag_protocol = IPPROTO_TCP,
	                    .idiag_states = UINT32_MAX},
	};
}

/* The kernel must report that there is no such socket; without the module it reports another error.
 */
static bool is_supported(int fd)
{
	const struct web_address nowhere = {0};
	struct question q = question_of(AF_INET);
	union answer a;
	int error;

	fill_here(&q.request.id, &nowhere);
	return !ask(fd, &q, &a, &error) && error == -ENOENT;
}

int web_peer_open(void)
{
	const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (is_supported(fd))
		return fd;
	close(fd);
	return -1;
}

bool web_peer_user(int fd, const struct sockaddr *peer, const struct web_address *here, uid_t *user)
{
	struct question q = question_of(peer->sa_family);
	const struct inet_diag_msg *message;
	union answer a;
	int error;

	if (!fill_peer(&q.request.id, peer))
		return false;
	fill_here(&q.request.id, here);
	message = ask(fd, &q, &a, &error);
	/* A socket that its process has closed has no inode, and is reported as root's. */
	if (!message || !message->idiag_inode ||
	    message->id.idiag_sport != q.request.id.idiag_sport)
		return false;
	*user = message->idiag_uid;
	return true;
}
