/* SPDX-License-Identifier: MIT */
/*
 * handout: how a process under `assay calls` or `assay tags` asks for its file, if it cannot create
 * one in the directory of the session: it changed its user or its root directory.
 *
 * The recorder listens on an abstract socket (SOCK_SEQPACKET) whose name follows from the
 * directory. The process connects, sends one struct assay_handout_request, and receives one struct
 * assay_handout_answer, with the descriptor of a file of `bytes` bytes if `code` is 0. The file is
 * in memory, contains zeros, and is sealed: its size cannot change. The kernel reports to each side
 * the user and the process on the other side (SO_PEERCRED).
 */
#ifndef ASSAY_HANDOUT_H
#define ASSAY_HANDOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ASSAY_HANDOUT_MAGIC "ASYHAND1"

/* A recorder's directory: its last component begins with this. */
#define ASSAY_HANDOUT_SESSION "run-"

struct assay_handout_request {
	char magic[8];
	uint64_t bytes, least; /* the wanted size, and the smallest that is of use */
};

struct assay_handout_answer {
	uint64_t bytes;
	int32_t code; /* 0, or the errno of the refusal */
	uint32_t reserved;
};

/* The last bytes of the directory, which has no '/' at its end, are the name. Returns its length.
 */
static inline socklen_t assay_handout_address(struct sockaddr_un *address, const char *directory)
{
	size_t length = strlen(directory), room = sizeof(address->sun_path) - 1;

	if (length > room) {
		directory += length - room;
		length = room;
	}
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + 1, directory, length);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

#endif
