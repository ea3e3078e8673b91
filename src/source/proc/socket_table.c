/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/socket_table.h"

#include "base/memory/buf.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_inode(const void *ctx, uint32_t index, const void *key)
{
	const struct socket_table *t = ctx;

	return t->sockets.items[index].inode == *(const uint64_t *)key;
}

const char *socket_table_find(const struct socket_table *t, uint64_t inode)
{
	uint32_t index = id_table_find(&t->index, hash_u64(inode), same_inode, t, &inode);

	return index == ID_NONE ? NULL : t->sockets.items[index].text;
}

static void clear(struct socket_table *t)
{
	vec_each (socket, &t->sockets)
		free(socket->text);
	t->sockets.count = 0;
	id_table_clear(&t->index);
}

void socket_table_done(struct socket_table *t)
{
	clear(t);
	vec_done(&t->sockets);
	id_table_done(&t->index);
}

static void add(struct socket_table *t, uint64_t inode, struct buf *text)
{
	/* A socket without an inode has no descriptor any more. */
	if (inode && !socket_table_find(t, inode)) {
		id_table_add(&t->index, hash_u64(inode), (uint32_t)t->sockets.count);
		vec_push(&t->sockets, (struct socket_entry){inode, xstrdup(buf_text(text))});
	}
	buf_clear(text);
}

/* An address as the kernel prints it: words of 8 digits in the byte order of the machine. */
static void add_address(struct buf *text, const char *digits, unsigned port, bool peer)
{
	char word[9] = "", shown[INET6_ADDRSTRLEN];
	bool is_long = strlen(digits) == 32;
	uint32_t words[4] = {0};

	for (size_t i = 0; i < (is_long ? 4 : 1) && strlen(digits) >= 8 * (i + 1); i++) {
		memcpy(word, digits + 8 * i, 8);
		words[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	if (peer && !port && !(words[0] | words[1] | words[2] | words[3]))
		buf_puts(text, " -");
	else if (inet_ntop(is_long ? AF_INET6 : AF_INET, words, shown, sizeof(shown)))
		buf_addf(text, is_long ? " [%s]:%u" : " %s:%u", shown, port);
}

static void add_internet(struct socket_table *t, const char *protocol, const char *line)
{
	char local[33], peer[33];
	unsigned local_port, peer_port;
	struct buf text = {0};
	uint64_t inode;

	if (sscanf(line,
	           " %*u: %32[0-9A-F]:%x %32[0-9A-F]:%x %*x %*x:%*x %*x:%*x %*x %*u %*u %" SCNu64,
	           local, &local_port, peer, &peer_port, &inode) != 5)
		return;
	buf_puts(&text, protocol);
	add_address(&text, local, local_port, false);
	add_address(&text, peer, peer_port, true);
	add(t, inode, &text);
	buf_done(&text);
}

/* The peer is not in this table. */
static void add_unix(struct socket_table *t, const char *protocol, const char *line)
{
	struct buf text = {0};
	uint64_t inode;
	int end = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 "%n", &inode, &end) != 1)
		return;
	line += end + (line[end] == ' ');
	buf_puts(&text, protocol);
	if (*line)
		buf_addf(&text, " %s -", line);
	else
		buf_addf(&text, " %" PRIu64 " -", inode);
	add(t, inode, &text);
	buf_done(&text);
}

static void read_table(struct socket_table *t, int32_t pid, const char *protocol,
                       void (*add_line)(struct socket_table *t, const char *protocol,
                                        const char *line))
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/net/%s", pid, protocol);
	file = fopen(path, "re");
	while (file && t->sockets.count < SOCKETS_MAX && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		add_line(t, protocol, line);
	}
	if (file)
		fclose(file);
	free(line);
}

void socket_table_read(struct socket_table *t, int32_t pid)
{
	static const char *const internet[] = {"tcp", "tcp6", "udp", "udp6"};

	clear(t);
	for (size_t i = 0; i < sizeof(internet) / sizeof(*internet); i++)
		read_table(t, pid, internet[i], add_internet);
	read_table(t, pid, "unix", add_unix);
}
