/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/descriptor_name.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "source/proc/socket_table.h"
#include "source/proc/unix_peer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMESPACES_MAX 8
#define PAUSE_MIN_NS UINT64_C(50000000)

/* The sockets of one network namespace. */
struct namespace_sockets {
	char name[32]; /* "net:[4026531840]" */
	struct socket_table table;
	uint64_t due_ns, used_ns; /* when the table may be read again; its last use */
};

struct descriptor_names {
	char own[32]; /* the namespace of this process */
	int diagnosis;
	VEC(struct namespace_sockets) spaces;
};

/* True: `text` is the target, cut at its size. */
static bool link_target(const char *path, char *text, size_t size)
{
	ssize_t n = readlink(path, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

struct descriptor_names *descriptor_names_new(void)
{
	struct descriptor_names *n = xcalloc(1, sizeof(*n));

	link_target("/proc/self/ns/net", n->own, sizeof(n->own));
	n->diagnosis = unix_peer_open();
	return n;
}

void descriptor_names_free(struct descriptor_names *n)
{
	if (!n)
		return;
	vec_each (space, &n->spaces)
		socket_table_done(&space->table);
	vec_done(&n->spaces);
	if (n->diagnosis >= 0)
		close(n->diagnosis);
	free(n);
}

/* The namespace's entry, in place of the one that was not used for the longest time. */
static struct namespace_sockets *space_of(struct descriptor_names *n, const char *name)
{
	struct namespace_sockets *oldest = NULL;

	vec_each (space, &n->spaces) {
		if (!strcmp(space->name, name))
			return space;
		if (!oldest || space->used_ns < oldest->used_ns)
			oldest = space;
	}
	if (n->spaces.count < NAMESPACES_MAX)
		oldest = vec_add(&n->spaces);
	else
		socket_table_done(&oldest->table);
	*oldest = (struct namespace_sockets){0};
	snprintf(oldest->name, sizeof(oldest->name), "%s", name);
	return oldest;
}

static void read_again(struct namespace_sockets *space, int32_t pid, uint64_t now_ns)
{
	uint64_t pause_ns;

	socket_table_read(&space->table, pid);
	pause_ns = SOCKET_TABLE_PAUSE * (clock_ns(CLOCK_MONOTONIC) - now_ns);
	space->due_ns = now_ns + (pause_ns > PAUSE_MIN_NS ? pause_ns : PAUSE_MIN_NS);
}

/* Appends the addresses of a socket. */
static bool add_socket(struct descriptor_names *n, int32_t pid, uint64_t inode, struct buf *name)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct namespace_sockets *space;
	char path[64], theirs[32];
	const char *text;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/ns/net", pid);
	if (!link_target(path, theirs, sizeof(theirs)))
		return false;
	if (!strcmp(theirs, n->own) && unix_peer_text(n->diagnosis, inode, name))
		return true;
	space = space_of(n, theirs);
	space->used_ns = now_ns;
	text = socket_table_find(&space->table, inode);
	if (!text && now_ns >= space->due_ns) {
		read_again(space, pid, now_ns);
		text = socket_table_find(&space->table, inode);
	}
	if (text)
		buf_puts(name, text);
	return text != NULL;
}

static int why_not(int32_t pid, int code)
{
	char path[64];

	if (code != ENOENT)
		return -code;
	snprintf(path, sizeof(path), "/proc/%" PRId32, pid);
	return access(path, F_OK) ? -ESRCH : -ENOENT;
}

int descriptor_name_read(struct descriptor_names *n, int32_t pid, uint32_t number, struct buf *name,
                         bool *complete)
{
	char path[64], target[PATH_MAX];
	uint64_t inode;

	buf_clear(name);
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/fd/%" PRIu32, pid, number);
	if (!link_target(path, target, sizeof(target)))
		return why_not(pid, errno);
	*complete = sscanf(target, "socket:[%" SCNu64 "]", &inode) != 1 ||
	            add_socket(n, pid, inode, name);
	if (!name->size)
		buf_puts(name, target);
	return 0;
}
