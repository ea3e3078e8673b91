/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoll: a poller waits in epoll_wait() for an eventfd and a pipe, to which a ringer writes in
 * turn every 10 ms, in ring_bell(). The log has the file on which the ringer acted.
 */
#include "truth.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define RINGS 90

static int poller_fd, event_fd, ends[2];
static char bell[64], pipe_name[64];

static void name_files(void)
{
	struct stat s;

	must(fstat(ends[0], &s), "fstat");
	snprintf(bell, sizeof bell, "epoll %d: [eventfd] %d <- ringer", poller_fd, event_fd);
	snprintf(pipe_name, sizeof pipe_name, "epoll %d: pipe:[%lu] <- ringer", poller_fd,
	         (unsigned long)s.st_ino);
}

static APART int await_event(void)
{
	struct truth_mark from = truth_mark();
	struct epoll_event event;

	must(epoll_wait(poller_fd, &event, 1, -1) != 1, "epoll_wait");
	truth_waited(from,
	             (struct truth_cause){"event", event.data.fd == event_fd ? bell : pipe_name,
	                                  "ringer", "ring_bell", NULL});
	return event.data.fd;
}

static APART void ring_bell(int i)
{
	uint64_t one = 1;

	if (i % 2)
		must(write(event_fd, &one, sizeof one) != sizeof one, "write");
	else
		must(write(ends[1], &one, sizeof one) != sizeof one, "write");
}

static void *poller(void *unused)
{
	uint64_t got;

	truth_name("poller");
	for (int i = 0; i < RINGS; i++)
		must(read(await_event(), &got, sizeof got) != sizeof got, "read");
	return unused;
}

static void *ringer(void *unused)
{
	truth_name("ringer");
	for (int i = 0; i < RINGS; i++) {
		truth_sleep(10 * MS);
		ring_bell(i);
	}
	return unused;
}

static void watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	must(epoll_ctl(poller_fd, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

int main(void)
{
	pthread_t threads[2];

	truth_begin("epoll");
	poller_fd = epoll_create1(0);
	event_fd = eventfd(0, 0);
	must(pipe(ends), "pipe");
	watch(event_fd);
	watch(ends[0]);
	name_files();
	threads[0] = truth_start(poller, NULL);
	threads[1] = truth_start(ringer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
