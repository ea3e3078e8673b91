/* SPDX-License-Identifier: MIT */
/*
 * tags_process: the capture device of a process. It is a sparse file, mapped as a whole, whose
 * pages are allocated with the packets. This file also has the tag names that images register, the
 * end of threads, and the switch for capture.
 *
 * A fork's child maps its own file and puts empty memory over its parent's mapping, so that it
 * cannot write to the parent's file. The names are copied.
 */
#include "linux/tags_process.h"
#include "linux/clock.h"
#include "linux/place.h"
#include "linux/program.h"
#include "linux/uncancelled.h"
#include "tags/device.h"

#include "assay_port.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_DEFAULT (32ull << 20)
#define MEMORY_LEAST (4 * (uint64_t)ASSAY_TAGS_PACKET)
#define MEMORY_MOST (256ull << 30)
#define PAGES(bytes) (((uint64_t)(bytes) + ASSAY_TAGS_PAGE - 1) / ASSAY_TAGS_PAGE * ASSAY_TAGS_PAGE)
#define PAUSE_NS 100000 /* pause between two checks while a thread waits for a free packet */
#define DRAINER_NS 10000000000ull
#define STEP_FIRST (4 * (uint64_t)ASSAY_TAGS_PACKET) /* of pages for packets */

/* This page is zero in a forked child. */
static struct {
	uint32_t began; /* the file is this process's */
	bool lock;      /* a thread is creating the file, or adds names */
} * own;
static struct clock_rate rate;
static uint64_t mapped_bytes;
static char *parents; /* address at which the parent's file was mapped; see leave() */
static uint64_t parents_bytes;
static uint64_t populated; /* bytes of packets with allocated pages, from the first packet on */
static bool failed, has_key;
static pthread_key_t at_end;

static uint64_t memory_limit(void)
{
	uint64_t bytes =
	        program_memory("ASSAY_TAGS_MEM", MEMORY_DEFAULT, MEMORY_LEAST, MEMORY_MOST);
	struct rlimit file;

	if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur / 2 < bytes)
		bytes = file.rlim_cur / 2;
	return bytes / ASSAY_TAGS_PACKET * ASSAY_TAGS_PACKET;
}

/* Bytes for names. A limit on the file size or on memory reduces them. */
static uint64_t text_limit(uint64_t memory)
{
	struct rlimit file;
	uint64_t bytes = ASSAY_TAGS_TEXT;

	if (bytes > program_space(16))
		bytes = program_space(16);
	if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur - memory < bytes * 2)
		bytes = (file.rlim_cur - memory) / 2;
	return bytes / ASSAY_TAGS_PAGE * ASSAY_TAGS_PAGE;
}

static uint32_t mode(void)
{
	const char *text = place_environment("ASSAY_TAGS_MODE");

	if (text && !strcmp(text, "wrap"))
		return ASSAY_TAGS_WRAP;
	if (text && !strcmp(text, "stream"))
		return ASSAY_TAGS_STREAM;
	return ASSAY_TAGS_STOP;
}

static bool waits(void)
{
	const char *text = place_environment("ASSAY_TAGS_WAIT");

	return text && !strcmp(text, "1");
}

static bool starts_on(void)
{
	const char *text = place_environment("ASSAY_TAGS_START");

	return !text || strcmp(text, "off") != 0;
}

bool tags_port_failed(void)
{
	return failed;
}

bool tags_port_populate(char *at, uint64_t bytes)
{
	if (at < tags_device.packets) {
		char *page = (char *)((uintptr_t)at / ASSAY_TAGS_PAGE * ASSAY_TAGS_PAGE);

		return program_populate(page, PAGES(at + bytes - page));
	}
	return program_grow(tags_device.packets, (uint64_t)(at - tags_device.packets) + bytes,
	                    tags_device.header->packet_count * ASSAY_TAGS_PACKET, STEP_FIRST,
	                    &populated);
}

/* Sets the offsets of all parts for a file with `memory` bytes of packets. */
static void lay_out(struct assay_tags_header *h, uint64_t memory)
{
	h->version = ASSAY_TAGS_VERSION;
	h->header_bytes = ASSAY_TAGS_PAGE;
	h->packet_bytes = ASSAY_TAGS_PACKET;
	h->packet_count = memory / ASSAY_TAGS_PACKET;
	h->rings_offset = ASSAY_TAGS_PAGE;
	h->states_offset = h->rings_offset + ASSAY_TAGS_RINGS * sizeof(struct assay_tags_ring);
	h->text_offset = h->states_offset + PAGES(h->packet_count * sizeof(uint32_t));
	h->packets_offset = h->text_offset + text_limit(memory);
}

static uint64_t file_bytes(const struct assay_tags_header *h)
{
	return h->packets_offset + h->packet_count * ASSAY_TAGS_PACKET;
}

static void put_on(struct assay_tags_header *h)
{
	struct assay_tags_off *last = &h->offs[(h->off_count - 1) % ASSAY_TAGS_OFFS];

	if (h->off_count && !last->on)
		last->on = port_clock();
	__atomic_store_n(&h->capture, 1, __ATOMIC_RELEASE);
}

static void put_off(struct assay_tags_header *h)
{
	h->offs[h->off_count % ASSAY_TAGS_OFFS] = (struct assay_tags_off){.off = port_clock()};
	__atomic_store_n(&h->off_count, h->off_count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&h->capture, 0, __ATOMIC_RELEASE);
}

static void describe(struct assay_tags_header *h, int32_t parent)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h->mode = mode();
	h->flags = waits() ? ASSAY_TAGS_WAIT : 0;
	h->capture = 1;
	if (!starts_on())
		put_off(h);
	h->pid = getpid();
	h->parent = parent;
	h->uid = geteuid();
	h->birth = place_birth();
	h->first = rate.first;
	h->latest = clock_latest(&rate);
	h->drained = h->first.ticks;
	h->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
	              (clock_now(1).ns - rate.first.ns);
	program_describe(h->name, sizeof(h->name), h->command, sizeof(h->command));
}

static void point(char *base)
{
	struct assay_tags_header *h = (struct assay_tags_header *)base;

	tags_device.base = base;
	tags_device.rings = (struct assay_tags_ring *)(base + h->rings_offset);
	tags_device.states = (uint32_t *)(base + h->states_offset);
	tags_device.text = base + h->text_offset;
	tags_device.packets = base + h->packets_offset;
	tags_device.header = h;
}

/* Sets the layout of the file, and creates it. The descriptor; -1: it cannot be created. */
static int create_file(struct assay_tags_header *layout, uint64_t *bytes)
{
	/* A directory that the user or assay names has no bound. */
	unsigned most = place_environment("ASSAY_TAGS_DIR") ? 0 : ASSAY_TAGS_FILES_MOST;
	uint64_t memory = memory_limit(), least, got;
	int fd;

	lay_out(layout, memory < MEMORY_LEAST ? memory : MEMORY_LEAST);
	least = file_bytes(layout);
	lay_out(layout, memory);
	got = *bytes = file_bytes(layout);
	if (!layout->packet_count)
		return -1;
	fd = place_create_locked("tags", place_birth(), most, &got, least);
	/* The recorder may hand out a smaller file. */
	while (fd >= 0 && *bytes > got) {
		memory = memory / 2 < MEMORY_LEAST ? MEMORY_LEAST : memory / 2;
		lay_out(layout, memory);
		*bytes = file_bytes(layout);
	}
	return fd;
}

/* Creates and maps the file. Returns its bytes, and its mapping in *at. 0: it cannot be created. */
static uint64_t map_file(char **at)
{
	struct assay_tags_header layout = {0};
	uint64_t bytes;
	int fd = create_file(&layout, &bytes);

	if (fd < 0)
		return 0;
	*at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uncancelled_close(fd);
	if (*at == MAP_FAILED)
		return 0;
	if (!program_populate(*at, ASSAY_TAGS_PAGE) ||
	    !program_populate(*at + layout.states_offset,
	                      layout.text_offset - layout.states_offset)) {
		munmap(*at, bytes);
		return 0;
	}
	memcpy(*at, &layout, sizeof(layout));
	return bytes;
}

static void add_text(const char *text, uint64_t length)
{
	struct assay_tags_header *h = tags_device.header;
	uint64_t used = h->text_bytes;

	if (length > h->packets_offset - h->text_offset - used ||
	    (length && !tags_port_populate(tags_device.text + used, length))) {
		__atomic_fetch_or(&h->flags, ASSAY_TAGS_NAMES_FULL, __ATOMIC_RELAXED);
		return;
	}
	memcpy(tags_device.text + used, text, length);
	__atomic_store_n(&h->text_bytes, used + length, __ATOMIC_RELEASE);
}

/*
 * A fork's child must not write into its parent's file. If a signal handler forked, the trigger
 * that it interrupted may still write to the old address, and must not write into the child's
 * packets either. Therefore empty anonymous memory is mapped at the old address. The child of a
 * child moves its own file to the address at which its parent's parent had its file.
 */
static void leave(char *old, uint64_t old_bytes, char *at, uint64_t bytes)
{
	char *nobodys = mmap(old, old_bytes, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	char *place = nobodys == old ? parents : old;
	uint64_t room = nobodys == old ? parents_bytes : old_bytes;

	if (nobodys == old) {
		parents = old;
		parents_bytes = old_bytes;
	}
	if (!place)
		return;
	/* Equal limits result in equal sizes. */
	if (room == bytes &&
	    mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
		point(place);
	else
		munmap(place, room);
}

static bool begin(void)
{
	char *old = tags_device.base, *at;
	uint64_t old_bytes = mapped_bytes, bytes, text_bytes = 0;
	struct assay_tags_header before = {0};

	/* The fork may have come while another thread of the parent was calibrating the clock. */
	if (!rate.ticks_per_ns)
		clock_begin(&rate);
	clock_again(&rate);
	bytes = map_file(&at);
	if (!bytes)
		return false;
	if (old) {
		before = *(struct assay_tags_header *)old;
		text_bytes = before.text_bytes;
	}
	point(at);
	populated = 0;
	describe(tags_device.header, before.pid);
	if (old) {
		add_text(old + before.text_offset, text_bytes);
		if (!before.capture && tags_device.header->capture)
			put_off(tags_device.header);
		else if (before.capture && !tags_device.header->capture)
			put_on(tags_device.header);
	}
	/*
	 * Release fence: orders all fields before the store of the magic. Readers accept the file
	 * as a device when it has the magic.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(tags_device.header->magic, ASSAY_TAGS_MAGIC, sizeof(before.magic));
	if (old)
		leave(old, old_bytes, at, bytes);
	mapped_bytes = bytes;
	return true;
}

/* Runs before other threads exist: in the constructor, or at the first event if that is earlier. */
static void begin_once(void)
{
	if (!own)
		own = port_memory_wiped(ASSAY_TAGS_PAGE, 0);
	failed |= !own;
}

static bool lock(void)
{
	begin_once();
	if (failed)
		return false;
	while (__atomic_test_and_set(&own->lock, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	return true;
}

static void unlock(void)
{
	__atomic_clear(&own->lock, __ATOMIC_RELEASE);
}

static bool begin_locked(void)
{
	if (!own->began) {
		failed = !begin();
		__atomic_store_n(&own->began, !failed, __ATOMIC_RELEASE);
	}
	return !failed;
}

bool tags_port_begin(void)
{
	int saved = errno;
	bool done;

	if (own && __atomic_load_n(&own->began, __ATOMIC_ACQUIRE))
		return true;
	if (!lock())
		return false;
	done = begin_locked();
	unlock();
	errno = saved;
	return done;
}

struct tags_thread *tags_port_thread(void)
{
	int saved = errno;
	struct tags_thread *t = port_memory_wiped(ASSAY_TAGS_PAGE, 0);

	if (t && has_key && syscall(SYS_getpid) != port_thread_id())
		pthread_setspecific(at_end, (void *)(uintptr_t)3);
	errno = saved;
	return t;
}

/* Ticks. A drainer that has not drained for this time was probably killed. */
static uint64_t long_time(void)
{
	return (rate.ticks_per_ns >> 20) *
	       (DRAINER_NS >> 20); /* ticks_per_ns has 40 fraction bits */
}

bool tags_port_wait(void)
{
	uint64_t drained = __atomic_load_n(&tags_device.header->drained, __ATOMIC_RELAXED);
	uint64_t now = port_clock();
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	int saved = errno;

	if (!drained || (now > drained && now - drained > long_time()))
		return false;
	/* The system call itself: nanosleep() of libc is a cancellation point. */
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	errno = saved;
	return true;
}

void tags_port_names(char thread[16], char process[16])
{
	int saved = errno;

	if (prctl(PR_GET_NAME, thread))
		thread[0] = 0;
	for (unsigned i = 0; i < 15; i++)
		process[i] = tags_device.header->name[i];
	errno = saved;
}

void tags_port_turned(void)
{
	clock_note(&rate);
	tags_device.header->latest = clock_latest(&rate);
}

static void thread_ends(void *rounds)
{
	uintptr_t left = (uintptr_t)rounds;

	/* The destructors of other keys may contain triggers: run after them. */
	if (left > 1)
		pthread_setspecific(at_end, (void *)(left - 1));
	else
		tags_thread_end();
}

static void this_process_ends(void)
{
	struct assay_tags_header *h = tags_device.header;

	/* A vfork's child shares its parent's memory and must not change the parent's state. */
	if (!own || !own->began || h->pid != getpid())
		return;
	tags_port_turned();
	h->end_ticks = port_clock();
	__atomic_fetch_or(&h->flags, ASSAY_TAGS_EXITED, __ATOMIC_RELAXED);
}

__attribute__((constructor(101))) static void process_begins(void)
{
	int saved = errno;

	begin_once();
	tags_vectors_begin();
	has_key = !pthread_key_create(&at_end, thread_ends);
	errno = saved;
}

__attribute__((destructor)) static void process_ends(void)
{
	int saved = errno;

	this_process_ends();
	errno = saved;
}

/*
 * Registers the names of one image; its constructor calls this. Lines have the format of a names
 * file.
 */
TAGS_EXPORT void assay_tags_names(const char *text, const char *end);

void assay_tags_names(const char *text, const char *end)
{
	uint64_t signals = port_signals_hold();
	int saved = errno;

	if (lock()) {
		if (begin_locked() && end > text)
			add_text(text, (uint64_t)(end - text));
		unlock();
	}
	errno = saved;
	port_signals_release(signals);
}

static void capture(bool on)
{
	int saved = errno;
	uint64_t signals = port_signals_hold();

	if (tags_port_begin() && lock()) {
		struct assay_tags_header *h = tags_device.header;

		if (on && !h->capture)
			put_on(h);
		else if (!on && h->capture)
			put_off(h);
		unlock();
	}
	port_signals_release(signals);
	errno = saved;
}

TAGS_EXPORT void assay_tags_start(void);
TAGS_EXPORT void assay_tags_stop(void);

void assay_tags_start(void)
{
	capture(true);
}

void assay_tags_stop(void)
{
	capture(false);
}
