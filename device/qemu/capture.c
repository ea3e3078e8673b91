/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture: packets of events, in files or in memory. */
#include "capture.h"

#include "assay/tags_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u
#define PACKET_MAX (256u << 10)
#define EMPTY_BITS (8 * sizeof(struct assay_tags_packet))

/*
 * A vCPU's state; only its thread uses it, except at the end. `generation` differs from the
 * capture's after each start and stop, so that the next event begins a packet.
 */
struct vcpu {
	/* Next word; end of the packet. If both are equal, no packet is open */
	uint64_t *at, *limit;
	struct assay_tags_packet *packet;
	uint64_t last;     /* time of the last event */
	uint64_t sequence; /* packets begun */
	uint64_t events, discarded;
	unsigned generation;
	bool closed; /* its memory is full, or its file cannot be written */
	int fd;
	off_t size;   /* of the file */
	char *memory; /* CAPTURE_WRAP: its packets */
	size_t mapped;
};

static struct {
	const struct capture_options *options;
	int directory;
	uint32_t packet_bytes;
	uint64_t packets_max; /* CAPTURE_FULL: of all vCPUs; CAPTURE_WRAP: of each */
	_Atomic uint64_t packets;
	_Atomic unsigned generation; /* odd: off */
	_Atomic bool full, dead;
	_Atomic uint64_t discarded; /* without a vCPU's state */
	_Atomic(struct vcpu *) vcpus[CAPTURE_VCPUS_MAX];
} capture;

/* The child of a fork shares the packets' memory and must not write to it. */
static void in_child(void)
{
	atomic_store(&capture.dead, true);
	atomic_fetch_or(&capture.generation, 1);
}

static int fail(const char *what)
{
	fprintf(stderr, "assay_device: %s/%s: %s\n", capture.options->out, what, strerror(errno));
	return -1;
}

static int write_metadata(void)
{
	int fd = openat(capture.directory, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	                0600);
	int rc = fd < 0 ? -1 : capture_metadata(fd, capture.options);

	if (fd >= 0 && close(fd))
		rc = -1;
	return rc ? fail("metadata") : 0;
}

int capture_open(const struct capture_options *o)
{
	uint64_t share = o->memory / 16 / PAGE * PAGE;

	capture.options = o;
	capture.packet_bytes = PACKET_MAX;
	if (o->mode != CAPTURE_STREAM) {
		capture.packet_bytes = share < PAGE         ? PAGE
		                       : share > PACKET_MAX ? PACKET_MAX
		                                            : (uint32_t)share;
		capture.packets_max = o->memory / capture.packet_bytes;
	}
	if (mkdir(o->out, 0700)) {
		fprintf(stderr, "assay_device: cannot create the directory %s: %s%s\n", o->out,
		        strerror(errno),
		        errno == EEXIST ? "; remove it, or give another out=" : "");
		return -1;
	}
	capture.directory = open(o->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (capture.directory < 0)
		return fail("");
	atomic_store(&capture.generation, o->started ? 0 : 1);
	pthread_atfork(NULL, NULL, in_child);
	return write_metadata();
}

static struct vcpu *vcpu_new(unsigned index)
{
	struct vcpu *v = calloc(1, sizeof(*v));
	char name[32];

	if (!v)
		return NULL;
	snprintf(name, sizeof(name), "stream_%u", index);
	v->fd = openat(capture.directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (v->fd < 0) {
		fail(name);
		free(v);
		return NULL;
	}
	/* Not the current packet's value, so that the first event begins a packet. */
	v->generation = atomic_load(&capture.generation) + 2;
	atomic_store(&capture.vcpus[index], v);
	return v;
}

static void packet_end(struct vcpu *v)
{
	if (v->packet && capture.options->mode != CAPTURE_WRAP)
		munmap(v->packet, v->mapped);
	v->packet = NULL;
	v->at = v->limit = NULL;
}

static void fill_header(struct assay_tags_packet *p, const struct vcpu *v, unsigned index,
                        uint64_t now, uint32_t bytes, bool gap)
{
	*p = (struct assay_tags_packet){.magic = ASSAY_CTF_MAGIC,
	                                .begin = now,
	                                .end = now,
	                                .content_bits = EMPTY_BITS,
	                                .packet_bits = 8ull * bytes,
	                                .discarded = v->discarded,
	                                .sequence = v->sequence,
	                                .pid = capture.options->system ? 0 : getpid(),
	                                .tid = (int32_t)index,
	                                .flags = gap ? ASSAY_TAGS_GAP : 0};
	if (!capture.options->system)
		p->tid = (int32_t)syscall(SYS_gettid);
	snprintf(p->thread, sizeof(p->thread), "vCPU %u", index);
}

/*
 * Adds a packet to the file: first its header, then its bytes, so that a reader finds a whole
 * packet or one that ends early.
 */
static struct assay_tags_packet *packet_in_file(struct vcpu *v, const struct assay_tags_packet *h)
{
	size_t bytes = h->packet_bits / 8;
	void *map;

	/* The blocks are allocated: a store to a hole of a full disk would be a SIGBUS. */
	if (pwrite(v->fd, h, sizeof(*h), v->size) != sizeof(*h))
		return NULL;
	errno = posix_fallocate(v->fd, v->size, (off_t)bytes);
	if (errno)
		return NULL;
	v->mapped = bytes;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, v->size);
	v->size += (off_t)bytes;
	return map == MAP_FAILED ? NULL : map;
}

static struct assay_tags_packet *packet_in_memory(struct vcpu *v, const struct assay_tags_packet *h)
{
	size_t total = capture.packets_max * capture.packet_bytes;
	struct assay_tags_packet *p;

	if (!v->memory) {
		char *m = mmap(NULL, total, PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (m == MAP_FAILED)
			return NULL;
		v->memory = m;
	}
	p = (void *)(v->memory + v->sequence % capture.packets_max * capture.packet_bytes);
	if (v->sequence >= capture.packets_max) {
		v->discarded += (p->content_bits - EMPTY_BITS) / 64;
		v->events -= (p->content_bits - EMPTY_BITS) / 64;
	}
	*p = *h;
	return p;
}

/*
 * The memory is full, or a file cannot be written: all vCPUs stop. A packet without events counts
 * the discarded ones.
 */
static void begin_full(struct vcpu *v, unsigned index, uint64_t now, const char *why)
{
	struct assay_tags_packet h;

	if (!atomic_exchange(&capture.full, true)) {
		fprintf(stderr, "assay_device: %s: recording has stopped\n", why);
		atomic_fetch_add(&capture.generation, 2);
	}
	v->closed = true;
	fill_header(&h, v, index, now, sizeof(h), false);
	v->packet = packet_in_file(v, &h);
	v->sequence++;
}

static bool packet_begin(struct vcpu *v, unsigned index, uint64_t now, bool gap)
{
	struct assay_tags_packet h;

	packet_end(v);
	if (atomic_load(&capture.full) ||
	    (capture.options->mode == CAPTURE_FULL &&
	     atomic_fetch_add(&capture.packets, 1) >= capture.packets_max)) {
		begin_full(v, index, now, "the memory is full");
		return false;
	}
	fill_header(&h, v, index, now, capture.packet_bytes, gap);
	v->packet = capture.options->mode == CAPTURE_WRAP ? packet_in_memory(v, &h)
	                                                  : packet_in_file(v, &h);
	if (!v->packet) {
		begin_full(v, index, now, strerror(errno));
		return false;
	}
	v->sequence++;
	v->at = (uint64_t *)(v->packet + 1);
	v->limit = (uint64_t *)((char *)v->packet + capture.packet_bytes);
	return true;
}

static void discard(struct vcpu *v, uint64_t now)
{
	v->discarded++;
	if (v->packet) {
		v->packet->discarded = v->discarded;
		v->packet->end = now;
	}
}

/* Begins a packet if the event is to be recorded. */
static bool prepare(struct vcpu *v, unsigned index, uint32_t tag, uint64_t now)
{
	unsigned generation = atomic_load(&capture.generation);
	bool gap;

	if (generation % 2) {
		if (generation != 1 || !tag || tag != capture.options->start_tag)
			return false;
		capture_switch(true);
		generation = atomic_load(&capture.generation);
	}
	gap = v->sequence ? v->generation != generation : generation != 0;
	v->generation = generation;
	if (!v->closed && packet_begin(v, index, now, gap))
		return true;
	discard(v, now);
	return false;
}

/* True if recording is on, and this tag ends it. A start_tag does not start it again. */
static bool ends(uint32_t tag)
{
	if (tag != capture.options->end_tag || !tag || atomic_load(&capture.generation) % 2)
		return false;
	capture_switch(false);
	return true;
}

void capture_event(unsigned index, uint32_t tag, uint64_t now)
{
	struct vcpu *v = index < CAPTURE_VCPUS_MAX
	                         ? atomic_load_explicit(&capture.vcpus[index], memory_order_relaxed)
	                         : NULL;

	if (__builtin_expect(!v, 0)) {
		if (atomic_load(&capture.dead))
			return;
		v = index < CAPTURE_VCPUS_MAX ? vcpu_new(index) : NULL;
		if (!v) {
			atomic_fetch_add(&capture.discarded, 1);
			return;
		}
	}
	if (__builtin_expect(tag == capture.options->end_tag, 0) && ends(tag))
		return;
	now = now < v->last ? v->last : now;
	if (__builtin_expect(v->at == v->limit ||
	                             v->generation != atomic_load_explicit(&capture.generation,
	                                                                   memory_order_relaxed) ||
	                             now - v->packet->begin >= ASSAY_TAGS_CLOCK_MASK,
	                     0) &&
	    !prepare(v, index, tag, now))
		return;
	v->last = now;
	*v->at++ = now << ASSAY_TAGS_TAG_BITS | tag;
	v->packet->end = now;
	/* A reader after a kill sees the word before the size that includes it. */
	atomic_signal_fence(memory_order_release);
	v->packet->content_bits += 64;
	v->events++;
}

void capture_switch(bool on)
{
	unsigned generation = atomic_load(&capture.generation);

	while (!atomic_load(&capture.dead) && (generation % 2 == 0) != on &&
	       !atomic_compare_exchange_weak(&capture.generation, &generation, generation + 1))
		;
}

/* CAPTURE_WRAP: the packets in the order of time. The events of reused packets are counted. */
static void save(struct vcpu *v)
{
	uint64_t max = capture.packets_max;
	uint64_t from = v->sequence > max ? v->sequence - max : 0;

	for (uint64_t i = from; i < v->sequence; i++) {
		struct assay_tags_packet *p = (void *)(v->memory + i % max * capture.packet_bytes);
		size_t bytes = p->content_bits / 8;

		p->packet_bits = p->content_bits;
		p->discarded = v->discarded;
		p->flags |= i == from && from ? ASSAY_TAGS_GAP : 0;
		if (write(v->fd, p, bytes) != (ssize_t)bytes) {
			fail("stream");
			return;
		}
	}
}

void capture_close(struct capture_sums *sums)
{
	capture_switch(false);
	*sums = (struct capture_sums){.discarded = atomic_load(&capture.discarded),
	                              .full = atomic_load(&capture.full)};
	if (atomic_load(&capture.dead))
		return;
	for (unsigned i = 0; i < CAPTURE_VCPUS_MAX; i++) {
		struct vcpu *v = atomic_load(&capture.vcpus[i]);

		if (!v)
			continue;
		sums->events += v->events;
		sums->discarded += v->discarded;
		if (v->memory)
			save(v);
	}
}
