/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/table_handout.h"

#include "assay/handout.h"
#include "base/clock.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "source/runtime/runtime_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MOST 256
#define BYTES_MOST (UINT64_C(4) << 30)
#define MEMORY_SHARE 4              /* at most this part of the machine's memory */
#define FILE_SHARE 8                /* a file has at most this part of what is left */
#define CLIENTS_MOST 32             /* connections without a request */
#define ACCEPTED_MOST 64            /* in one step */
#define GENERATIONS_MOST 1000       /* between COMMAND and its descendant */
#define PAUSE_NS UINT64_C(20000000) /* after connections of strangers */
#define PAGE 4096

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

struct handed_file {
	int fd;
	char *link;
	int32_t here; /* id of its process in this namespace */
	uint64_t birth;
	uint64_t bytes; /* that it holds or can hold */
	bool closed;    /* sealed against writes: its process has exited */
};

struct table_handout {
	const struct shared_kind *kind;
	const char *directory;
	int listener, epoll;
	pid_t command;
	uint64_t command_birth;
	bool was_subreaper;
	uint64_t paused_ns; /* the listener is not polled until then; 0: it is */
	uint64_t limit_bytes, refused;
	VEC(struct handed_file) files;
	VEC(int) clients;
};

static uint64_t memory_of_machine(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit;
}

static bool watch(const struct table_handout *h, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return !epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int listen_at(const char *directory)
{
	struct sockaddr_un address;
	socklen_t size = assay_handout_address(&address, directory);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, size) || listen(fd, SOMAXCONN))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct table_handout *table_handout_open(const struct shared_kind *kind, const char *directory)
{
	struct table_handout *h = xcalloc(1, sizeof(*h));
	uint64_t memory = memory_of_machine() / MEMORY_SHARE;
	int was = 0;

	h->kind = kind;
	h->directory = directory;
	h->limit_bytes = memory < BYTES_MOST ? memory : BYTES_MOST;
	h->listener = listen_at(directory);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->listener < 0 || h->epoll < 0 || !watch(h, h->listener) ||
	    prctl(PR_GET_CHILD_SUBREAPER, &was) || prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		table_handout_close(h);
		return NULL;
	}
	h->was_subreaper = was;
	return h;
}

void table_handout_command(struct table_handout *h, pid_t command)
{
	if (!h)
		return;
	h->command = command;
	runtime_owner_birth(command, &h->command_birth);
}

int table_handout_descriptor(const struct table_handout *h)
{
	return h ? h->epoll : 0;
}

uint64_t table_handout_refused(const struct table_handout *h)
{
	return h ? h->refused : 0;
}

static void file_drop(struct handed_file *f)
{
	unlink(f->link);
	free(f->link);
	close(f->fd);
}

void table_handout_close(struct table_handout *h)
{
	if (!h)
		return;
	vec_each (file, &h->files)
		file_drop(file);
	vec_each (client, &h->clients)
		close(*client);
	vec_done(&h->files);
	vec_done(&h->clients);
	if (h->listener >= 0)
		close(h->listener);
	if (h->epoll >= 0)
		close(h->epoll);
	if (h->command && !h->was_subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	free(h);
}

/* ---- processes ------------------------------------------------------------ */

/*
 * COMMAND, or a process below it. An orphan is a child of this process, as are the helpers of
 * assay, which are older than COMMAND.
 */
static bool is_descendant(const struct table_handout *h, int32_t pid)
{
	uint64_t birth;
	int32_t parent;

	if (!h->command)
		return false;
	for (int i = 0; i < GENERATIONS_MOST && pid > 1; i++, pid = parent) {
		if (!runtime_owner_parent(pid, &parent, &birth) || birth < h->command_birth)
			return false;
		if (pid == h->command || parent == getpid())
			return true;
	}
	return false;
}

/* Waits for orphans that have exited; COMMAND is waited for elsewhere. */
static void reap(const struct table_handout *h)
{
	siginfo_t info = {0};
	uint64_t birth;

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	       info.si_pid != h->command && runtime_owner_birth(info.si_pid, &birth) &&
	       birth >= h->command_birth) {
		waitpid(info.si_pid, NULL, WNOHANG);
		info.si_pid = 0;
	}
}

/* ---- files ------------------------------------------------------------------ */

/*
 * Returns the memory of files that were read and removed. The file of an exited process is sealed
 * against writes if nothing maps it any more, and then counts with the bytes that it holds.
 */
static void reclaim(struct table_handout *h)
{
	size_t kept = 0;

	vec_each (f, &h->files) {
		uint64_t birth;
		struct stat st;

		if (lstat(f->link, &st) && errno == ENOENT) {
			file_drop(f);
			continue;
		}
		if (!f->closed && (!runtime_owner_birth(f->here, &birth) || birth != f->birth) &&
		    !fcntl(f->fd, F_ADD_SEALS, F_SEAL_WRITE) && !fstat(f->fd, &st)) {
			f->closed = true;
			f->bytes = (uint64_t)st.st_blocks * 512;
		}
		h->files.items[kept++] = *f;
	}
	h->files.count = kept;
}

static uint64_t bytes_left(const struct table_handout *h)
{
	uint64_t used = 0;

	vec_each (f, &h->files)
		used += f->bytes;
	return used < h->limit_bytes ? h->limit_bytes - used : 0;
}

/* The size of a file for this request; 0: the limits are reached. */
static uint64_t size_for(struct table_handout *h, const struct assay_handout_request *r)
{
	uint64_t most = bytes_left(h) / FILE_SHARE;

	if (h->files.count >= FILES_MOST || most < r->bytes) {
		reclaim(h);
		most = bytes_left(h) / FILE_SHARE;
	}
	most = r->bytes < most ? r->bytes : most / PAGE * PAGE;
	return h->files.count < FILES_MOST && r->least && most >= r->least ? most : 0;
}

static int memory_create(uint64_t bytes)
{
	int fd = memfd_create("assay-table", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("assay-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 &&
	    (ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The link has the name that the process would have given to its file. */
static char *link_create(const struct table_handout *h, const struct handed_file *f)
{
	char target[64];

	snprintf(target, sizeof(target), RUNTIME_FILE_LINK, (int)getpid(), f->fd);
	for (unsigned n = 0; n <= FILES_MOST; n++) {
		char *path = xasprintf("%s/%d-%llu-%u.%s", h->directory,
		                       shared_thread_own(f->here, f->here),
		                       (unsigned long long)f->birth, n, h->kind->name);

		if (!symlink(target, path))
			return path;
		free(path);
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

/*
 * A new open file for the process, or -errno: its locks must not be this process's. The memory is
 * kept in `h`.
 */
static int file_create(struct table_handout *h, int32_t here, uint64_t bytes)
{
	struct handed_file f = {.here = here, .bytes = bytes};
	char path[64];
	int theirs = -1;

	if (!runtime_owner_birth(here, &f.birth))
		return -ESRCH;
	f.fd = memory_create(bytes);
	if (f.fd < 0)
		return -ENOMEM;
	f.link = link_create(h, &f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	if (f.link)
		theirs = open(path, O_RDWR | O_CLOEXEC);
	if (theirs >= 0) {
		vec_push(&h->files, f);
		return theirs;
	}
	theirs = -errno;
	if (f.link)
		unlink(f.link);
	free(f.link);
	close(f.fd);
	return theirs;
}

/* ---- connections ---------------------------------------------------------------- */

static void answer_send(int client, const struct assay_handout_answer *answer, int fd)
{
	struct iovec part = {(void *)(uintptr_t)answer, sizeof(*answer)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = &room;
		message.msg_controllen = sizeof(room);
		room.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
		                             .cmsg_level = SOL_SOCKET,
		                             .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.head), &fd, sizeof(fd));
	}
	/* The buffer of a new connection has room for one message. */
	(void)!sendmsg(client, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int32_t peer_of(int client)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

/* Answers a client that has sent its request, or that has closed the connection. */
static void client_answer(struct table_handout *h, int client)
{
	struct assay_handout_request request;
	struct assay_handout_answer answer = {.code = ENOSPC};
	int32_t pid = peer_of(client);
	int fd = -1;

	if (recv(client, &request, sizeof(request), MSG_DONTWAIT) != (ssize_t)sizeof(request) ||
	    memcmp(request.magic, ASSAY_HANDOUT_MAGIC, sizeof(request.magic)) != 0)
		return;
	answer.bytes = size_for(h, &request);
	if (answer.bytes) {
		fd = file_create(h, pid, answer.bytes);
		answer.code = fd < 0 ? -fd : 0;
	}
	h->refused += fd < 0;
	answer_send(client, &answer, fd);
	if (fd >= 0)
		close(fd);
}

static void client_end(struct table_handout *h, int client)
{
	size_t kept = 0;

	vec_each (one, &h->clients)
		if (*one != client)
			h->clients.items[kept++] = *one;
	h->clients.count = kept;
	close(client);
}

static void listener_poll(const struct table_handout *h, bool on)
{
	struct epoll_event e = {.events = on ? EPOLLIN : 0, .data.fd = h->listener};

	epoll_ctl(h->epoll, EPOLL_CTL_MOD, h->listener, &e);
}

/*
 * Closes connections of strangers at once. They could come without end, so the listener is ignored
 * for a moment then.
 */
static void accept_clients(struct table_handout *h)
{
	bool strangers = false;
	int client;

	for (int i = 0; i < ACCEPTED_MOST; i++) {
		client = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (client < 0)
			break;
		if (!is_descendant(h, peer_of(client)) || !watch(h, client)) {
			close(client);
			strangers = true;
			continue;
		}
		if (h->clients.count >= CLIENTS_MOST)
			client_end(h, h->clients.items[0]);
		vec_push(&h->clients, client);
	}
	if (!strangers)
		return;
	listener_poll(h, false);
	h->paused_ns = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
}

void table_handout_step(struct table_handout *h)
{
	struct epoll_event events[CLIENTS_MOST + 1];
	int count;

	if (!h)
		return;
	reap(h);
	if (h->paused_ns && clock_ns(CLOCK_MONOTONIC) >= h->paused_ns) {
		h->paused_ns = 0;
		listener_poll(h, true);
	}
	count = epoll_wait(h->epoll, events, CLIENTS_MOST + 1, 0);
	/* Clients first: a new client may close the oldest one, whose number is then another's. */
	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == h->listener)
			continue;
		client_answer(h, events[i].data.fd);
		client_end(h, events[i].data.fd);
	}
	for (int i = 0; i < count; i++)
		if (events[i].data.fd == h->listener)
			accept_clients(h);
}
