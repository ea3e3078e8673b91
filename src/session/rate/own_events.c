/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/own_events.h"

#include "source/perf/perf_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int own_events_add(struct own_events *e, const struct perf_event_attr *planned, struct error *err)
{
	struct perf_event_attr attr = *planned;
	int fd;

	attr.disabled = 1;
	attr.inherit = e->of.scope == OWN_THREADS;
	attr.enable_on_exec = 0;
	attr.read_format = 0;
	fd = perf_event_open_fd(&attr, e->of.scope == OWN_CPU ? -1 : 0, e->of.cpu, -1,
	                        PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno,
		                 "the kernel does not allow assay to measure itself: %s",
		                 strerror(errno));
	e->fds[e->count++] = fd;
	return 0;
}

int own_events_open(struct own_events *e, const struct perf_event_attr *attrs, size_t count,
                    struct own_events_of of, size_t ring_bytes, struct error *err)
{
	int status = 0;

	*e = (struct own_events){.of = of};
	for (size_t i = 0; !status && i < count && i < OWN_EVENTS_MAX; i++)
		status = own_events_add(e, &attrs[i], err);
	if (!status)
		status = perf_ring_map(&e->ring, e->fds[0], ring_bytes, err);
	for (size_t i = 1; !status && i < e->count; i++)
		if (ioctl(e->fds[i], PERF_EVENT_IOC_SET_OUTPUT, e->fds[0]))
			status = error_set(err, errno, "PERF_EVENT_IOC_SET_OUTPUT: %s",
			                   strerror(errno));
	if (status)
		own_events_close(e);
	return status;
}

void own_events_close(struct own_events *e)
{
	perf_ring_unmap(&e->ring);
	for (size_t i = 0; i < e->count; i++)
		close(e->fds[i]);
	e->count = 0;
}

bool own_events_enable(const struct own_events *e, bool on)
{
	for (size_t i = 0; i < e->count; i++)
		if (ioctl(e->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			return false;
	return true;
}

/* The number of records between two heads of the ring. Invalid records count as none. */
static uint32_t records_between(const struct perf_ring *ring, uint64_t from, uint64_t to,
                                uint32_t type)
{
	uint32_t count = 0;

	while (to - from >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		/*
		 * Records are aligned to the 8 bytes of a header, so a header never wraps around
		 * the end.
		 */
		memcpy(&h, ring->data + (from & (ring->size - 1)), sizeof(h));
		if (h.size < sizeof(h) || h.size > to - from)
			break;
		count += type == OWN_EVENTS_ANY || h.type == type;
		from += h.size;
	}
	return count;
}

uint32_t own_events_count(struct own_events *e, uint32_t type)
{
	uint64_t before = e->head;
	uint32_t count;

	e->head = perf_ring_head(&e->ring);
	if (e->head == before)
		return 0;
	count = records_between(&e->ring, before, e->head, type);
	perf_ring_release_to(&e->ring, e->head);
	return count;
}
