/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_peer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_SIZE 128

/* The words of a socket's name: "tcp LOCAL PEER". */
struct socket_name {
	char protocol[16], local[ADDRESS_SIZE], peer[ADDRESS_SIZE];
};

/* Copies the word before the next space; returns the text after it, NULL: it does not fit. */
static const char *take_word(const char *text, char *word, size_t size)
{
	size_t length = strcspn(text, " ");

	if (!length || length >= size)
		return NULL;
	memcpy(word, text, length);
	word[length] = '\0';
	return text + length + (text[length] == ' ');
}

static bool parse_socket(const char *name, struct socket_name *s)
{
	const char *rest = take_word(name, s->protocol, sizeof(s->protocol));

	rest = rest ? take_word(rest, s->local, sizeof(s->local)) : NULL;
	return rest && take_word(rest, s->peer, sizeof(s->peer));
}

static void count_end(struct wait_peers *p, const char *address)
{
	uint32_t id = intern_add(&p->addresses, address);

	(*vec_at(&p->connections, id))++;
}

/* Both ends of each named connection: the end of a server is in many of them. */
static void count_connections(struct wait_peers *p, const struct wait_log *log)
{
	struct socket_name s;

	p->counted = true;
	intern_init(&p->addresses);
	vec_each (d, &log->descriptors)
		if (!strncmp(d->name, "tcp", 3) && parse_socket(d->name, &s)) {
			count_end(p, s.local);
			count_end(p, s.peer);
		}
}

void wait_peers_done(struct wait_peers *p)
{
	if (p->counted)
		intern_done(&p->addresses);
	vec_done(&p->connections);
	*p = (struct wait_peers){0};
}

static uint32_t connections_of(struct wait_peers *p, const char *address)
{
	uint32_t id = intern_add(&p->addresses, address);

	return id < p->connections.count ? p->connections.items[id] : 0;
}

static unsigned long port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? strtoul(colon + 1, NULL, 10) : 0;
}

/* The server's end of a TCP connection; if both have one connection, that of the smaller port. */
static const char *service_of(struct wait_peers *p, const struct socket_name *s)
{
	uint32_t local = connections_of(p, s->local), peer = connections_of(p, s->peer);

	if (local != peer)
		return local > peer ? s->local : s->peer;
	return port_of(s->local) < port_of(s->peer) ? s->local : s->peer;
}

static bool is_path(const char *address)
{
	return address[0] == '/' || address[0] == '@';
}

/* The address of a socket by the name of the waker's end; NULL: it has none. */
static const char *end_of(struct wait_peers *p, const struct socket_name *s)
{
	if (!strncmp(s->protocol, "tcp", 3))
		return strcmp(s->peer, "-") ? service_of(p, s) : NULL;
	if (is_path(s->local) && !is_path(s->peer))
		return s->local;
	return strcmp(s->peer, "-") ? s->peer : NULL;
}

static void put_socket(struct wait_peers *p, const char *name, struct buf *out)
{
	struct socket_name s;
	const char *end;

	if (!name || !parse_socket(name, &s)) {
		buf_puts(out, "a socket");
		return;
	}
	end = end_of(p, &s);
	if (end)
		buf_addf(out, "%s %s", s.protocol, end);
	else
		buf_addf(out, "a %s socket", s.protocol);
}

/* A number that was closed may have been given to a file of another kind. */
static const char *name_of_waker(const struct wait_log *log, const struct wait_key *key,
                                 enum wait_act act)
{
	const char *name;

	if (!key->has_waker_number || key->waker_descriptor >= log->descriptors.count)
		return NULL;
	name = log->descriptors.items[key->waker_descriptor].name;
	switch (act) {
	case ACT_SOCKET:
		return wait_descriptor_fits(WAIT_SOCKET, name) ? name : NULL;
	case ACT_PIPE:
		return !strncmp(name, "pipe:", 5) || name[0] == '/' ? name : NULL;
	default:
		return name;
	}
}

static void put_eventfd(const struct wait_key *key, const char *name, struct buf *out)
{
	if (name && !strcmp(name, "anon_inode:[eventfd]"))
		buf_addf(out, "[eventfd] %" PRIu32, key->waker_number);
	else
		buf_puts(out, "an eventfd");
}

/* The file on which a thread acted. False: `act` has no file. */
static bool put_file(struct wait_peers *p, const struct wait_key *key, enum wait_act act,
                     const char *name, struct buf *out)
{
	switch (act) {
	case ACT_SOCKET:
		put_socket(p, name, out);
		return true;
	case ACT_PIPE:
		buf_puts(out, name ? name : "a pipe");
		return true;
	case ACT_EVENTFD:
		put_eventfd(key, name, out);
		return true;
	default:
		return false;
	}
}

static void put_thread(const struct wait_causes *c, uint32_t thread, struct buf *out)
{
	const struct process_table *t = c->view->profile->processes;

	buf_addf(out, " <- %s", process_table_name(t, process_table_thread_at(t, thread)->name));
}

bool wait_peer_name(struct wait_causes *c, const struct wait_log *log, const struct wait_key *key,
                    const struct wait_cause *cause, struct buf *out)
{
	bool is_thread = wait_waker_of(c, key, cause).is_thread && key->waker != ID_NONE;
	enum wait_act act = wait_act_of(c, key, is_thread);

	if (act == ACT_NONE)
		return false;
	if (!c->peers.counted)
		count_connections(&c->peers, log);
	if (!put_file(&c->peers, key, act, is_thread ? name_of_waker(log, key, act) : NULL, out))
		buf_puts(out, wait_act_name(act));
	if (is_thread)
		put_thread(c, key->waker, out);
	return true;
}
