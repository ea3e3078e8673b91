/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the descriptors of this process, whose files, pipes and sockets are known. */
#include "check.h"

#include "source/proc/descriptor_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct buf name;

static const char *name_of(struct descriptor_names *n, int fd)
{
	bool complete = false;

	CHECK_EQ(descriptor_name_read(n, getpid(), (uint32_t)fd, &name, &complete), 0);
	CHECK(complete);
	return buf_text(&name);
}

static void files_and_pipes_have_the_names_of_proc(void)
{
	struct descriptor_names *n = descriptor_names_new();
	int fds[2], file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool complete;

	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	CHECK_STR(name_of(n, file), "/dev/null");
	CHECK(!strncmp(name_of(n, fds[0]), "pipe:[", 6));
	close(file);
	CHECK_EQ(descriptor_name_read(n, getpid(), (uint32_t)file, &name, &complete), -ENOENT);
	CHECK_EQ(descriptor_name_read(n, INT32_MAX, 0, &name, &complete), -ESRCH);
	close(fds[0]);
	close(fds[1]);
	descriptor_names_free(n);
}

/* A socket that is bound to a free port of the loopback interface. */
static int listener(int kind, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, kind | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_EQ(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)address, &size), 0);
	return fd;
}

static void sockets_of_the_internet_have_their_addresses(void)
{
	struct descriptor_names *n = descriptor_names_new();
	struct sockaddr_in address, own;
	socklen_t size = sizeof(own);
	int fd = listener(SOCK_STREAM, &address), client = socket(AF_INET, SOCK_STREAM, 0);
	char expected[128];

	CHECK_EQ(listen(fd, 1), 0);
	CHECK_EQ(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	CHECK_EQ(getsockname(client, (struct sockaddr *)&own, &size), 0);
	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%d -", ntohs(address.sin_port));
	CHECK_STR(name_of(n, fd), expected);
	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%d 127.0.0.1:%d", ntohs(own.sin_port),
	         ntohs(address.sin_port));
	CHECK_STR(name_of(n, client), expected); /* from the same table */
	close(client);
	close(fd);
	descriptor_names_free(n);
}

static uint64_t inode_of(int fd)
{
	struct stat state;

	CHECK_EQ(fstat(fd, &state), 0);
	return state.st_ino;
}

static void unix_sockets_without_names_have_their_inodes(void)
{
	struct descriptor_names *n = descriptor_names_new();
	char with_peer[64], alone[64];
	int fds[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	snprintf(with_peer, sizeof(with_peer), "unix %" PRIu64 " %" PRIu64, inode_of(fds[0]),
	         inode_of(fds[1]));
	snprintf(alone, sizeof(alone), "unix %" PRIu64 " -", inode_of(fds[0]));
	name_of(n, fds[0]);
	/* Without the kernel's diagnosis the peer is unknown. */
	if (strcmp(buf_text(&name), alone) != 0)
		CHECK_STR(buf_text(&name), with_peer);
	close(fds[0]);
	close(fds[1]);
	descriptor_names_free(n);
}

static void a_table_of_sockets_is_not_read_for_each_new_socket(void)
{
	struct descriptor_names *n = descriptor_names_new();
	struct sockaddr_in address;
	int first = listener(SOCK_DGRAM, &address), second;
	bool complete = true;

	CHECK(!strncmp(name_of(n, first), "udp 127.0.0.1:", 14));
	second = listener(SOCK_DGRAM, &address);
	CHECK_EQ(descriptor_name_read(n, getpid(), (uint32_t)second, &name, &complete), 0);
	/* On a machine that stood still for the pause the table was read again. */
	CHECK(!strncmp(buf_text(&name), complete ? "udp 127.0.0.1:" : "socket:[", 8));
	close(first);
	close(second);
	descriptor_names_free(n);
}

int main(void)
{
	RUN(files_and_pipes_have_the_names_of_proc);
	RUN(sockets_of_the_internet_have_their_addresses);
	RUN(unix_sockets_without_names_have_their_inodes);
	RUN(a_table_of_sockets_is_not_read_for_each_new_socket);
	buf_done(&name);
	return check_end();
}
