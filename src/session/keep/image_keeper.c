/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/image_keeper_internal.h"

#include "base/clock.h"
#include "event/attr.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define RING_BYTES (128u << 10) /* per CPU: about a thousand mappings */
#define HELD_MOST 8192

/*
 * After each check comes a pause. Its length is a multiple of the check's duration or, after a
 * check without new files, twice the last pause. A file that exists for longer than the longest
 * pause is not missed. A wake-up costs about as much as a check.
 */
#define REST_TIMES 4000
#define REST_MIN_NS UINT64_C(50000000)
#define REST_MAX_NS UINT64_C(250000000)
#define QUIET_NS UINT64_C(1000000000)

static struct perf_event_attr mapping_attr(const struct image_keeper_options *o)
{
	return (struct perf_event_attr){
	        .size = sizeof(struct perf_event_attr),
	        .type = PERF_TYPE_SOFTWARE,
	        .config = PERF_COUNT_SW_DUMMY,
	        .sample_period = 1,
	        .disabled = 1,
	        .inherit = o->tasks != NULL,
	        .exclude_kernel = 1,
	        .exclude_hv = 1,
	        .mmap = 1,
	        .mmap2 = 1,
	        .watermark = 1,
	        .wakeup_watermark = 1,
	};
}

static int open_source(struct image_keeper *k, const struct image_keeper_options *o,
                       struct error *err)
{
	int status;

	k->event.attr = mapping_attr(o);
	k->event.name = "dummy";
	k->event.role = ATTR_TRACK;
	k->source_options = (struct perf_source_options){.events = &k->event,
	                                                 .event_count = 1,
	                                                 .tasks = o->tasks,
	                                                 .task_count = o->task_count,
	                                                 .ring_bytes = RING_BYTES};
	status = perf_source_open(&k->source, &k->source_options, err);
	return status ? status : perf_source_enable(k->source, true, err);
}

static int open_watches(struct image_keeper *k, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};

	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0 || epoll_ctl(k->epoll, EPOLL_CTL_ADD, perf_source_fd(k->source), &event))
		return error_set(err, errno, "epoll: %s", strerror(errno));
	/* Without inotify, files are checked when the recording ends. */
	if (k->inotify >= 0)
		epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->inotify, &event);
	return 0;
}

static size_t files_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < HELD_MOST ? (size_t)limit.rlim_cur / 2 : HELD_MOST;
}

int image_keeper_open(struct image_keeper **out, const struct image_keeper_options *o,
                      struct error *err)
{
	struct image_keeper *k = xcalloc(1, sizeof(*k));
	int status;

	k->eager = o->eager;
	k->jit = o->jit;
	k->foreign = o->foreign;
	k->inotify = o->foreign ? o->watches : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	k->epoll = k->patience_ms = -1;
	image_keeper_hits_init(k, o->sampled);
	cache_dir_open(&k->cache, &k->cache_error);
	status = open_source(k, o, err);
	if (!status)
		status = open_watches(k, err);
	k->held_most = files_allowed();
	if (status) {
		image_keeper_close(k);
		k = NULL;
	}
	*out = k;
	return status;
}

void image_keeper_close(struct image_keeper *k)
{
	if (!k)
		return;
	perf_source_close(k->source);
	vec_done(&k->event.ids);
	image_keeper_hits_done(k);
	image_keeper_files_done(k);
	if (k->inotify >= 0 && !k->foreign)
		close(k->inotify);
	if (k->epoll >= 0)
		close(k->epoll);
	cache_dir_close(k->cache);
	free(k);
}

void image_keeper_mapping(struct image_keeper *k, const struct event *e)
{
	uint32_t file;

	if (!k || e->kind != EVENT_MMAP || e->mode != CPU_MODE_USER || !e->mmap.executable)
		return;
	jit_keeper_mapping(k->jit, e);
	file = image_keeper_file_of(k, &e->mmap, e->pid);
	if (file != ID_NONE)
		image_keeper_hits_add(k, file, &e->mmap, e->pid);
}

/* PERF_RECORD_MMAP2 in the requested form: with device and inode, without a build-id. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, size, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char filename[];
};

static void read_record(struct image_keeper *k, const uint8_t *record, size_t size)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER};
	const char *filename = (const char *)record + sizeof(struct mmap2_record);
	struct mmap2_record m;

	if (size <= sizeof(m))
		return;
	memcpy(&m, record, sizeof(m));
	if (m.header.type != PERF_RECORD_MMAP2 || !memchr(filename, '\0', size - sizeof(m)))
		return;
	e.pid = (int32_t)m.pid;
	e.mmap = (struct event_mmap){.addr = m.addr,
	                             .size = m.size,
	                             .pgoff = m.pgoff,
	                             .major = m.major,
	                             .minor = m.minor,
	                             .inode = m.inode,
	                             .inode_generation = m.generation,
	                             .executable = true,
	                             .filename = filename};
	image_keeper_mapping(k, &e);
}

static int read_news(void *ctx, const void *records, size_t bytes, struct error *err)
{
	struct image_keeper *k = ctx;

	image_keeper_records(k, &k->news, records, bytes, read_record);
	return 0;
}

int image_keeper_fd(const struct image_keeper *k)
{
	return k && clock_ns(CLOCK_MONOTONIC) >= k->next_look_ns ? k->epoll : -1;
}

int image_keeper_rest_ms(const struct image_keeper *k)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!k)
		return -1;
	if (now < k->next_look_ns)
		return (int)((k->next_look_ns - now) / 1000000) + 1;
	return k->patience_ms;
}

static uint64_t rest_ns(const struct image_keeper *k, uint64_t took_ns, bool news)
{
	uint64_t rest = took_ns * REST_TIMES, patience_ns = (uint64_t)k->patience_ms * 1000000;

	if (!news && rest < 2 * k->rest_ns)
		rest = 2 * k->rest_ns;
	rest = rest < REST_MIN_NS ? REST_MIN_NS : rest > REST_MAX_NS ? REST_MAX_NS : rest;
	return k->patience_ms >= 0 && rest < patience_ns ? patience_ns : rest;
}

/* True if inotify has events. */
static bool files_changed(const struct image_keeper *k)
{
	int bytes = 0;

	return k->inotify >= 0 && !ioctl(k->inotify, FIONREAD, &bytes) && bytes > 0;
}

bool image_keeper_look(struct image_keeper *k, bool now)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	bool mapped = k && perf_source_pending(k->source), changed = k && files_changed(k);
	int patience_ms = INT32_MAX;
	size_t opened;

	if (!k || (!now && k->patience_ms < 0 && !mapped && !changed))
		return false;
	/* After a quiet time the pauses start again at the minimum. */
	if (start > k->next_look_ns + QUIET_NS)
		k->rest_ns = 0;
	opened = k->opened;
	perf_source_acknowledge(k->source, &patience_ms);
	if (patience_ms != INT32_MAX)
		k->patience_ms = patience_ms;
	perf_source_read(k->source, read_news, k, NULL);
	if (changed)
		image_keeper_files_read(k);
	k->next_look_ns = clock_ns(CLOCK_MONOTONIC);
	/* A pause leads to a wake-up, so there is no pause if there was nothing to check. */
	if (!mapped && !changed)
		return false;
	k->rest_ns = rest_ns(k, k->next_look_ns - start, k->opened > opened);
	k->next_look_ns += k->rest_ns;
	return mapped;
}
