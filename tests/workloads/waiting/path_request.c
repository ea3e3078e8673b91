/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_request: a client sends a request to a server over a socket and waits for the reply. The
 * critical path alternates between the two processes.
 */
#include "path.h"

#include <sys/socket.h>
#include <sys/wait.h>

#define REQUESTS 40

COMPUTES(serve, 5)
COMPUTES(use_reply, 2)

static void server(int fd)
{
	char byte;

	truth_name("server");
	while (recv(fd, &byte, 1, 0) == 1) {
		STEP(serve);
		must(send(fd, &byte, 1, 0) != 1, "send");
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int pair[2];
	char byte = 0;
	pid_t child;

	path_begin("path_request", argc, argv);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	child = fork();
	must(child < 0, "fork");
	if (!child) {
		close(pair[0]);
		server(pair[1]);
	}
	close(pair[1]);
	for (int i = 0; i < REQUESTS; i++) {
		must(send(pair[0], &byte, 1, 0) != 1, "send");
		must(recv(pair[0], &byte, 1, 0) != 1, "recv");
		STEP(use_reply);
	}
	close(pair[0]);
	must(waitpid(child, NULL, 0) != child, "waitpid");
	truth_end();
	return 0;
}
