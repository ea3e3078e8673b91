/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/perf_source.h"

#include "base/clock.h"
#include "source/perf/perf_events.h"
#include "source/proc/rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUNG_UP_PATIENCE_MS 100

struct instance {
	int fd;
	uint32_t event; /* index */
	uint32_t cpu;   /* index into cpus */
};

struct perf_source {
	const struct perf_source_options *options;
	VEC(struct perf_source_cpu) cpus;
	VEC(struct instance) instances;
	int epoll;
	size_t denied;
	int denied_code; /* the errno of the last refusal */
};

static struct perf_source_cpu new_cpu(uint32_t cpu)
{
	return (struct perf_source_cpu){.cpu = cpu, .leader_fd = -1, .track_fd = -1};
}

/* Parses "0-3,8" from sysfs; if it is not readable, uses the number of online CPUs. */
static void list_cpus(struct perf_source *s)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned first, last;
	int n = 0;

	while (file && (n = fscanf(file, "%u-%u", &first, &last)) >= 1) {
		for (unsigned cpu = first; cpu <= (n == 2 ? last : first); cpu++)
			vec_push(&s->cpus, new_cpu(cpu));
		if (fgetc(file) != ',')
			break;
	}
	if (file)
		fclose(file);
	for (long cpu = 0; !s->cpus.count && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		vec_push(&s->cpus, new_cpu((uint32_t)cpu));
}

/*
 * Older kernels refuse unknown attributes with EINVAL. Removes one optional attribute, newest
 * first.
 */
static bool simplify(struct perf_event_attr *attr)
{
	if (attr->read_format & PERF_FORMAT_LOST)
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	else if (attr->build_id)
		attr->build_id = 0;
	else if (attr->ksymbol)
		attr->ksymbol = 0;
	else
		return false;
	return true;
}

/*
 * The kernel itself returns EACCES. A container's filter returns one of these codes, to root too.
 */
static bool is_filtered(int code)
{
	return (code == EPERM || code == ENOSYS) && rights_filtered();
}

static int explain(int code, const struct perf_source_event *event, bool tasks, struct error *err)
{
	if (is_filtered(code))
		return error_set(err, code,
		                 "event '%s': perf_event_open: %s: a system call filter "
		                 "(seccomp) probably refuses it; 'docker run --security-opt "
		                 "seccomp=unconfined --cap-add PERFMON' allows it ('assay doctor' "
		                 "shows details)",
		                 event->name, strerror(code));
	switch (code) {
	case ENOSYS:
		return error_set(err, code,
		                 "event '%s': this kernel cannot sample: it was built without "
		                 "CONFIG_PERF_EVENTS",
		                 event->name);
	case EACCES:
	case EPERM:
		return error_set(err, code,
		                 "event '%s': the kernel does not let you sample %s; run as root, "
		                 "or give the CAP_PERFMON capability, or 'sysctl "
		                 "kernel.perf_event_paranoid=%d' ('assay doctor' shows details)",
		                 event->name, tasks ? "that process" : "the whole machine",
		                 tasks ? 1 : -1);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_set(
		        err, code,
		        "event '%s' cannot be sampled on this machine: it has no counter "
		        "for this event (virtual machines often have none); -e cpu-clock always "
		        "works",
		        event->name);
	case EMFILE:
	case ENFILE:
		return error_set(err, code,
		                 "too many open files: each event uses one for each %s; raise "
		                 "'ulimit -n'%s",
		                 tasks ? "CPU and thread" : "CPU",
		                 tasks ? " or sample fewer processes" : "");
	case EBUSY:
		return error_set(err, code, "event '%s': its counter is in use by another profiler",
		                 event->name);
	default:
		return error_set(err, code, "event '%s': perf_event_open: %s", event->name,
		                 strerror(code));
	}
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The first event of a CPU gets the ring; all other events of that CPU write to it. */
static int attach_ring(struct perf_source *s, int fd, const struct perf_source_event *event,
                       struct perf_source_cpu *cpu, struct error *err)
{
	bool apart = s->options->track_bytes && event->role == ATTR_TRACK;
	struct epoll_event watch = {.events = EPOLLIN, .data.fd = fd};
	struct perf_ring *ring = apart ? &cpu->track : &cpu->ring;
	int *leader = apart ? &cpu->track_fd : &cpu->leader_fd;
	int status;

	if (*leader < 0) {
		status = perf_ring_map(
		        ring, fd, apart ? s->options->track_bytes : s->options->ring_bytes, err);
		if (!status && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &watch))
			status = error_set(err, errno, "epoll: %s", strerror(errno));
		if (!status)
			*leader = fd;
		return status;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *leader))
		return error_set(err, errno, "events of CPU %u cannot share a ring buffer: %s",
		                 cpu->cpu, strerror(errno));
	return 0;
}

/* Opens an event for a task on a CPU, without a ring. */
static int open_instance(struct perf_source *s, size_t index, int32_t task, size_t cpu,
                         struct error *err)
{
	struct perf_source_event *event = &s->options->events[index];
	bool tasks = s->options->tasks != NULL;
	int fd;

	do
		fd = perf_event_open_fd(&event->attr, task, (int)s->cpus.items[cpu].cpu, -1,
		                        PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == EINVAL && simplify(&event->attr));
	if (fd < 0 && errno == ESRCH && tasks)
		return 0; /* the task exited before it could be opened */
	if (fd < 0 && (errno == EACCES || errno == EPERM) && s->options->task_count > 1) {
		s->denied_code = errno;
		s->denied++;
		return 0;
	}
	if (fd < 0)
		return explain(errno, event, tasks, err);
	vec_push(&s->instances,
	         (struct instance){.fd = fd, .event = (uint32_t)index, .cpu = (uint32_t)cpu});
	return 0;
}

/*
 * All events of a task one after the other, those that report new threads first: a thread that
 * begins in between has only the events before it.
 */
static int open_task(struct perf_source *s, int32_t task, struct error *err)
{
	int status = 0;

	for (int track = 1; track >= 0; track--)
		for (size_t event = 0; event < s->options->event_count; event++)
			for (size_t cpu = 0; !status && cpu < s->cpus.count; cpu++)
				if ((s->options->events[event].role == ATTR_TRACK) == track)
					status = open_instance(s, event, task, cpu, err);
	return status;
}

static void close_instances(struct perf_source *s)
{
	vec_each (instance, &s->instances)
		close(instance->fd);
	s->instances.count = 0;
	s->denied = 0;
}

/* The more threads a process creates, the less likely is a moment without a new one. */
#define TRIES 100
#define TRIES_NS UINT64_C(200000000)

static int open_all(struct perf_source *s, struct error *err)
{
	static const int32_t everything = -1;
	const struct perf_source_options *o = s->options;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + TRIES_NS;
	int status = 0;

	for (int tries = 1;; tries++) {
		bool last = tries == TRIES || clock_ns(CLOCK_MONOTONIC) > until_ns;

		for (size_t i = 0; !status && i < (o->tasks ? o->task_count : 1); i++)
			status = open_task(s, o->tasks ? o->tasks[i] : everything, err);
		if (status || !o->began || !o->began(o->ctx, last) || last)
			break;
		close_instances(s);
	}
	if (status || s->instances.count)
		return status;
	if (is_filtered(s->denied_code))
		return explain(s->denied_code, s->options->events, true, err);
	if (s->denied)
		return error_set(
		        err, EACCES,
		        "you have no right to sample any of the processes; run as root, or "
		        "give the CAP_PERFMON capability ('assay doctor' shows details)");
	return error_set(err, ESRCH, "the process exited before it could be sampled");
}

/* Gives the instances their rings and filters, and finds their ids. */
static int connect_all(struct perf_source *s, struct error *err)
{
	int status = 0;

	vec_each (instance, &s->instances) {
		struct perf_source_event *event = &s->options->events[instance->event];
		uint64_t id;

		/* Without the filter there are samples that nothing needs. */
		if (event->filter)
			ioctl(instance->fd, PERF_EVENT_IOC_SET_FILTER, event->filter);
		status = attach_ring(s, instance->fd, event, &s->cpus.items[instance->cpu], err);
		if (!status && ioctl(instance->fd, PERF_EVENT_IOC_ID, &id))
			status = error_set(err, errno, "event '%s' has no id: %s", event->name,
			                   strerror(errno));
		if (status)
			break;
		vec_push(&event->ids, id);
	}
	return status;
}

int perf_source_open(struct perf_source **source, const struct perf_source_options *options,
                     struct error *err)
{
	struct perf_source *s = xcalloc(1, sizeof(*s));
	int status;

	s->options = options;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	raise_file_limit();
	list_cpus(s);
	status = open_all(s, err);
	if (!status)
		status = connect_all(s, err);
	if (status) {
		perf_source_close(s);
		s = NULL;
	}
	*source = s;
	return status;
}

void perf_source_close(struct perf_source *s)
{
	if (!s)
		return;
	vec_each (cpu, &s->cpus) {
		perf_ring_unmap(&cpu->ring);
		perf_ring_unmap(&cpu->track);
	}
	close_instances(s);
	if (s->epoll >= 0)
		close(s->epoll);
	vec_done(&s->cpus);
	vec_done(&s->instances);
	free(s);
}

int perf_source_enable(struct perf_source *s, bool tracking, struct error *err)
{
	const struct perf_source_event *events = s->options->events;

	vec_each (cpu, &s->cpus)
		if (!tracking)
			cpu->start_ns = clock_ns(CLOCK_MONOTONIC);
	vec_each (instance, &s->instances) {
		const struct perf_source_event *event = &events[instance->event];

		if ((event->role == ATTR_TRACK) != tracking || event->attr.enable_on_exec)
			continue;
		/* The time account of a CPU begins when its first sampling event is enabled. */
		if (!tracking && instance->event == 0 && !s->options->tasks)
			s->cpus.items[instance->cpu].start_ns = clock_ns(CLOCK_MONOTONIC);
		if (ioctl(instance->fd, PERF_EVENT_IOC_ENABLE, 0))
			return error_set(err, errno, "event '%s' cannot be switched on: %s",
			                 event->name, strerror(errno));
	}
	return 0;
}

void perf_source_enable_inherited(struct perf_source *s)
{
	/* The call can only fail if the event's task has exited. */
	vec_each (instance, &s->instances)
		if (!s->options->events[instance->event].attr.enable_on_exec)
			ioctl(instance->fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* The result of read(2), in the order of the read_format bits that are set. */
static void read_counter(struct perf_source *s, const struct instance *instance)
{
	const struct perf_source_event *event = &s->options->events[instance->event];
	struct {
		uint64_t value, enabled, running, id, lost;
	} c = {0};

	if (read(instance->fd, &c, sizeof(c)) < 4 * (ssize_t)sizeof(uint64_t))
		return;
	if (event->attr.read_format & PERF_FORMAT_LOST)
		s->cpus.items[instance->cpu].lost += c.lost;
	if (instance->event == 0)
		s->cpus.items[instance->cpu].running_ns += c.running;
}

void perf_source_disable(struct perf_source *s)
{
	vec_each (instance, &s->instances) {
		struct perf_source_cpu *cpu = &s->cpus.items[instance->cpu];

		if (s->options->events[instance->event].role == ATTR_TRACK)
			continue;
		ioctl(instance->fd, PERF_EVENT_IOC_DISABLE, 0);
		if (instance->event == 0)
			cpu->end_ns = clock_ns(CLOCK_MONOTONIC);
	}
	vec_each (instance, &s->instances) {
		ioctl(instance->fd, PERF_EVENT_IOC_DISABLE, 0);
		read_counter(s, instance);
	}
}

int perf_source_fd(const struct perf_source *s)
{
	return s->epoll;
}

void perf_source_acknowledge(struct perf_source *s, int *patience_ms)
{
	struct epoll_event events[64];
	int n = epoll_wait(s->epoll, events, 64, 0);

	for (int i = 0; i < n; i++) {
		if (!(events[i].events & (EPOLLHUP | EPOLLERR)))
			continue;
		/* The hang-up of an exited task persists, so epoll would return it at each wait. */
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
		if (*patience_ms > HUNG_UP_PATIENCE_MS)
			*patience_ms = HUNG_UP_PATIENCE_MS;
	}
}

bool perf_source_pending(const struct perf_source *s)
{
	vec_each (cpu, &s->cpus)
		if (cpu->ring.page && perf_ring_pending(&cpu->ring))
			return true;
	return false;
}

bool perf_source_half_full(const struct perf_source *s)
{
	vec_each (cpu, &s->cpus)
		if ((cpu->ring.page && perf_ring_holds(&cpu->ring, cpu->ring.size / 2)) ||
		    (cpu->track.page && perf_ring_holds(&cpu->track, cpu->track.size / 2)))
			return true;
	return false;
}

int perf_source_read(struct perf_source *s, perf_source_fn *deliver, void *ctx, struct error *err)
{
	int status = 0;

	for (size_t i = 0; !status && i < s->cpus.count; i++) {
		struct perf_ring *ring = &s->cpus.items[i].ring;
		struct perf_ring_span span;

		if (!ring->page)
			continue;
		span = perf_ring_read(ring);
		for (int part = 0; !status && part < 2 && span.size[part]; part++)
			status = deliver(ctx, span.part[part], span.size[part], err);
		perf_ring_release(ring, &span);
	}
	return status;
}

struct perf_ring *perf_source_ring(struct perf_source *s, size_t cpu)
{
	return &s->cpus.items[cpu].ring;
}

struct perf_ring *perf_source_track_ring(struct perf_source *s, size_t cpu)
{
	return &s->cpus.items[cpu].track;
}

void perf_source_set_period(struct perf_source *s, size_t event, uint64_t value, uint64_t *done_ns)
{
	vec_each (instance, &s->instances) {
		if (instance->event != event)
			continue;
		/* The call can only fail if the event's task has exited. */
		ioctl(instance->fd, PERF_EVENT_IOC_PERIOD, &value);
		done_ns[instance->cpu] = clock_ns(CLOCK_MONOTONIC);
	}
}

void perf_source_stop(struct perf_source *s, size_t event)
{
	vec_each (instance, &s->instances)
		if (instance->event == event)
			ioctl(instance->fd, PERF_EVENT_IOC_DISABLE, 0);
}

size_t perf_source_cpu_count(const struct perf_source *s)
{
	return s->cpus.count;
}

const struct perf_source_cpu *perf_source_cpu_at(const struct perf_source *s, size_t index)
{
	return &s->cpus.items[index];
}

size_t perf_source_denied(const struct perf_source *s)
{
	return s->denied;
}
