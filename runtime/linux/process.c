/* SPDX-License-Identifier: MIT */
/*
 * process: the process's table. It is a file, mapped as a whole, whose pages are allocated in
 * steps.
 */
#include "linux/process.h"
#include "calls/calls.h"
#include "calls/thread.h"
#include "calls/fork_copy.h"
#include "libraries/libraries.h"
#include "linux/code/filter.h"
#include "linux/code/images.h"
#include "linux/place.h"
#include "linux/program.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_DEFAULT (256ull << 20)
#define MEMORY_LEAST (64ull << 10)
#define MEMORY_MOST (64ull << 30) /* a quarter of the range of 32-bit ids in units of 64 bytes */
#define DEPTH_DEFAULT 262144u
#define STEP_FIRST (64ull << 10)
#define FORMERS 8 /* generations of forks in which the forking thread has had no event */

struct clock_rate process_clock;

/* This page is zero in a forked child. */
static struct {
	uint32_t began; /* the table is this process's */
	bool lock;      /* a thread is creating it */
} * own;
/* Earlier parents' tables, for the forking thread. They are no longer at calls_table.base. */
static struct {
	char *at;
	uint64_t bytes;
} former[FORMERS];
static int formers;
static uint64_t reserved;     /* bytes of memory at the address of tables */
static uint64_t populated;    /* bytes of the table with allocated pages */
static uint32_t images_chunk; /* unit of the latest chunk of images */
static int images_count;
static uint32_t clocks_chunk; /* unit of the chunk of clocks */

static uint64_t memory_limit(void)
{
	uint64_t bytes =
	        program_memory("ASSAY_CALLS_MEM", MEMORY_DEFAULT, MEMORY_LEAST, MEMORY_MOST);
	struct rlimit file;

	if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur < bytes)
		bytes = file.rlim_cur;
	return bytes / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
}

/*
 * The file has its maximum length from the start, with holes. Pages are allocated in steps. No
 * descriptor stays open: the program could close it, and another file could get its number.
 */
bool port_table_grow(uint64_t bytes)
{
	return program_grow(calls_table.base, bytes, calls_table.header->limit_bytes, STEP_FIRST,
	                    &populated);
}

static uint32_t cpus(void)
{
	unsigned long mask[128] = {0};
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	uint32_t count = 0;

	for (long i = 0; i < bytes / (long)sizeof(mask[0]); i++)
		count += (uint32_t)__builtin_popcountl(mask[i]);
	return count;
}

static void begin_header(uint64_t limit, int32_t parent)
{
	struct assay_calls_header *h = calls_table.header;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h->version = ASSAY_CALLS_VERSION;
	h->header_bytes = ASSAY_CALLS_PAGE;
	h->used_bytes = ASSAY_CALLS_PAGE;
	h->limit_bytes = limit;
	h->depth_limit = calls_table.depth_limit;
	h->pid = getpid();
	h->parent = parent;
	h->uid = geteuid();
	h->cpus = cpus();
	h->birth = place_birth();
	h->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	h->first = process_clock.first;
	h->latest = clock_latest(&process_clock);
	h->state = ASSAY_CALLS_RUNNING;
	program_describe(h->name, sizeof(h->name), h->command, sizeof(h->command));
	/*
	 * Compiler barrier: the magic is written after all other fields. Readers accept the file as
	 * a table when it has the magic.
	 */
	calls_barrier();
	memcpy(h->magic, ASSAY_CALLS_MAGIC, sizeof(h->magic));
}

static int add_image(const struct assay_calls_image *image)
{
	struct assay_calls_chunk *chunk = (struct assay_calls_chunk *)calls_node(images_chunk);
	struct assay_calls_image *images;

	if (!images_chunk ||
	    (chunk->used + 1) * sizeof(*image) > chunk->bytes - sizeof(struct assay_calls_chunk)) {
		images_chunk = calls_chunk(ASSAY_CHUNK_IMAGES, 0, ASSAY_CALLS_PAGE);
		if (!images_chunk) {
			calls_flag(ASSAY_CALLS_IMAGES);
			return -1;
		}
		chunk = (struct assay_calls_chunk *)calls_node(images_chunk);
	}
	images = (struct assay_calls_image *)(chunk + 1);
	images[chunk->used] = *image;
	__atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
	return images_count++;
}

static void images_full(void)
{
	calls_flag(ASSAY_CALLS_IMAGES);
}

static void image_gone(int index, uint64_t start, uint64_t end)
{
	int at = 0;

	if (!port_began())
		return;
	calls_code_gone(start, end, (unsigned)index);
	if (index < 0)
		return;
	for (uint64_t offset = ASSAY_CALLS_PAGE; offset < calls_table.header->used_bytes;) {
		struct assay_calls_chunk *chunk =
		        (struct assay_calls_chunk *)(calls_table.base + offset);
		struct assay_calls_image *images = (struct assay_calls_image *)(chunk + 1);

		offset += chunk->kind ? chunk->bytes : ASSAY_CALLS_PAGE;
		if (chunk->kind != ASSAY_CHUNK_IMAGES)
			continue;
		if (index < at + (int)chunk->used) {
			images[index - at].gone = 1;
			return;
		}
		at += (int)chunk->used;
	}
}

/*
 * Maps the table, and sets its size. In a fork's child the mapping replaces the parent's at the
 * same address, and is not larger than the first one there. A smaller one is followed by empty
 * memory.
 */
static bool map_table(uint64_t *limit)
{
	uint64_t least;
	void *at;
	int fd;

	if (calls_table.base && *limit > reserved)
		*limit = reserved;
	least = *limit < MEMORY_LEAST ? *limit : MEMORY_LEAST;
	fd = place_create("calls", place_birth(), limit, least);
	if (fd < 0)
		return false;
	at = mmap(calls_table.base, *limit, PROT_READ | PROT_WRITE,
	          MAP_SHARED | (calls_table.base ? MAP_FIXED : 0), fd, 0);
	uncancelled_close(fd);
	if (at == MAP_FAILED)
		return false;
	if (!calls_table.base)
		reserved = *limit;
	else if (*limit < reserved)
		mmap((char *)at + *limit, reserved - *limit, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	calls_table.base = at;
	calls_table.header = at;
	populated = 0;
	return true;
}

bool port_began(void)
{
	return own && __atomic_load_n(&own->began, __ATOMIC_ACQUIRE);
}

/* Runs before other threads exist: in the constructor, or at the first event if that is earlier. */
__attribute__((constructor(101))) static void begin_once(void)
{
	uint64_t depth;
	int before = errno;

	if (own)
		return;
	own = port_memory_wiped(ASSAY_CALLS_PAGE, 0);
	depth = program_bytes("ASSAY_CALLS_DEPTH");
	calls_table.depth_limit = depth && depth <= 1u << 24 ? (uint32_t)depth : DEPTH_DEFAULT;
	/* Each stack has frames for this depth. */
	depth = program_space(128) / sizeof(struct calls_frame);
	if (calls_table.depth_limit > depth)
		calls_table.depth_limit = (uint32_t)depth;
	filter_begin(place_environment("ASSAY_CALLS_FILTER"));
	errno = before;
}

static void former_forget(void)
{
	for (; formers; formers--)
		munmap(former[formers - 1].at, former[formers - 1].bytes);
}

/* Keeps the used part of the parent's table readable at another address, by a second mapping. */
static void former_keep(void)
{
	uint64_t bytes = __atomic_load_n(&calls_table.header->used_bytes, __ATOMIC_RELAXED);
	void *at = formers == FORMERS ? MAP_FAILED
	                              : mremap(calls_table.base, 0, bytes, MREMAP_MAYMOVE);

	if (at == MAP_FAILED)
		return;
	former[formers].at = at;
	former[formers++].bytes = bytes;
}

/*
 * Shows the parents' tables to `look`, and then unmaps them. A fork copies only one thread, so no
 * other thread needs them.
 */
static void look_back(port_look_fn *look, void *of, bool fork_copy)
{
	bool found;

	if (fork_copy)
		former_forget();
	if (!look) {
		if (!own->began && calls_table.base)
			former_keep();
		return;
	}
	found = calls_table.base && !own->began && look(of, calls_table.base);
	for (int i = formers; i > 0 && !found; i--)
		found = look(of, former[i - 1].at);
	former_forget();
}

/* The parent's table is the latest of the former tables. */
static bool begin_fork_copy(void)
{
	struct assay_calls_header *h = calls_table.header;

	if (!formers || !port_table_grow(former[formers - 1].bytes))
		return false;
	h->used_bytes = calls_fork_copy(former[formers - 1].at, former[formers - 1].bytes);
	for (uint64_t at = ASSAY_CALLS_PAGE; at < h->used_bytes;) {
		struct assay_calls_chunk *chunk =
		        (struct assay_calls_chunk *)(calls_table.base + at);

		at += chunk->kind ? chunk->bytes : ASSAY_CALLS_PAGE;
		if (chunk->kind != ASSAY_CHUNK_IMAGES)
			continue;
		images_chunk = calls_id(chunk);
		images_count += (int)chunk->used;
	}
	former_forget();
	return true;
}

/* Creates a new table. In a fork's child it replaces the parent's. */
static bool begin(bool fork_copy)
{
	bool forked = calls_table.base;
	int32_t parent = forked ? calls_table.header->pid : 0;
	uint32_t flags = forked ? calls_table.header->flags & ASSAY_CALLS_LIBRARIES : 0;
	uint64_t limit = memory_limit();

	/* The fork may have come while another thread of the parent was calibrating the clock. */
	if (!process_clock.ticks_per_ns)
		clock_begin(&process_clock);
	clock_again(&process_clock);
	if (!map_table(&limit))
		return false;
	if (!program_populate(calls_table.base, ASSAY_CALLS_PAGE))
		return false;
	/* The code that makes room reads this limit. */
	calls_table.header->limit_bytes = limit;
	if (!port_table_grow(STEP_FIRST < limit ? STEP_FIRST : limit))
		return false;
	begin_header(limit, parent);
	images_chunk = clocks_chunk = 0;
	images_count = 0;
	images_begin(add_image, image_gone, images_full);
	if (fork_copy && !begin_fork_copy())
		return false;
	/* Images of the parent, or those before a change of the root directory. */
	if (!fork_copy)
		images_again();
	if (filter_is_set())
		flags |= ASSAY_CALLS_FILTERED;
	if (!forked && libraries_begin())
		flags |= ASSAY_CALLS_LIBRARIES;
	calls_flag(flags);
	return true;
}

bool port_begin(port_look_fn *look, void *of, bool fork_copy)
{
	static bool failed;
	int before = errno;

	begin_once();
	if (!own || failed)
		return false;
	while (__atomic_test_and_set(&own->lock, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	look_back(look, of, fork_copy);
	if (!own->began) {
		failed = !begin(fork_copy);
		__atomic_store_n(&own->began, !failed, __ATOMIC_RELEASE);
	}
	__atomic_clear(&own->lock, __ATOMIC_RELEASE);
	errno = before;
	return !failed;
}

/* Reads a line of /proc for a thread of this process. */
static void thread_line(int32_t tid, const char *file, char *line, size_t size)
{
	static const char tasks[] = "/proc/self/task/";
	char path[64], digits[12];
	size_t at = sizeof(tasks) - 1, count = 0;
	ssize_t got = 0;
	int fd;

	memcpy(path, tasks, at);
	for (uint32_t number = (uint32_t)tid; number; number /= 10)
		digits[count++] = (char)('0' + number % 10);
	while (count)
		path[at++] = digits[--count];
	path[at++] = '/';
	memcpy(path + at, file, strlen(file) + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, line, size - 1);
		uncancelled_close(fd);
	}
	line[got > 0 ? got : 0] = '\0';
}

/* False: the thread has exited. */
static bool clocks_of(int32_t tid, struct assay_calls_clocks *c)
{
	/* The kernel's number of the CPU clock of a thread. */
	clockid_t clock = (clockid_t)(~(uint32_t)tid << 3 | 6);
	const char *word;
	struct timespec cpu;
	char line[512];

	*c = (struct assay_calls_clocks){.tid = tid};
	if (clock_gettime(clock, &cpu))
		return false;
	c->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	thread_line(tid, "schedstat", line, sizeof(line));
	word = strchr(line, ' ');
	for (word = word ? word + 1 : ""; *word >= '0' && *word <= '9'; word++)
		c->runnable_ns = c->runnable_ns * 10 + (uint64_t)(*word - '0');
	thread_line(tid, "stat", line, sizeof(line));
	word = strrchr(line, ')'); /* the name may contain anything */
	c->runs = word && word[1] == ' ' && word[2] == 'R';
	return true;
}

/* The next thread's record after `offset`, which moves on; NULL: there is none. */
static const struct assay_calls_thread *next_thread(uint64_t *offset)
{
	while (*offset < calls_table.header->used_bytes) {
		struct assay_calls_chunk *chunk =
		        (struct assay_calls_chunk *)(calls_table.base + *offset);

		*offset += chunk->kind ? chunk->bytes : ASSAY_CALLS_PAGE;
		if (chunk->kind == ASSAY_CHUNK_THREAD)
			return (const struct assay_calls_thread *)(chunk + 1);
	}
	return NULL;
}

/*
 * The clocks of all threads at the end of the process: other threads may be blocked or run, and
 * have no further event. A program whose exec fails ends more than once.
 */
static void clocks_write(void)
{
	const struct assay_calls_thread *r;
	struct assay_calls_chunk *chunk;
	struct assay_calls_clocks *clocks;
	uint64_t count = 0, at, used = 0, bytes;

	for (at = ASSAY_CALLS_PAGE; next_thread(&at);)
		count++;
	bytes = sizeof(*chunk) + count * sizeof(*clocks);
	bytes = (bytes + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
	chunk = (struct assay_calls_chunk *)calls_node(clocks_chunk);
	if (!clocks_chunk || chunk->bytes < bytes) {
		clocks_chunk = calls_chunk(ASSAY_CHUNK_CLOCKS, 0, bytes);
		if (!clocks_chunk)
			return;
		chunk = (struct assay_calls_chunk *)calls_node(clocks_chunk);
	}
	clocks = (struct assay_calls_clocks *)(chunk + 1);
	for (at = ASSAY_CALLS_PAGE; used < count && (r = next_thread(&at));)
		if (r->tid && clocks_of(r->tid, &clocks[used]))
			used++;
	__atomic_store_n(&chunk->used, used, __ATOMIC_RELEASE);
}

void process_end(uint32_t state)
{
	struct assay_calls_header *h = calls_table.header;
	int before = errno;

	/* A vfork's child shares its parent's memory and must not change the parent's state. */
	if (!port_began() || h->pid != getpid())
		return;
	calls_thread_sync();
	clock_note(&process_clock);
	h->latest = clock_latest(&process_clock);
	h->end_ticks = port_clock();
	clocks_write();
	h->state = state;
	errno = before;
}

void process_goes_on(void)
{
	if (!port_began() || calls_table.header->pid != getpid())
		return;
	calls_table.header->state = ASSAY_CALLS_RUNNING;
	calls_table.header->end_ticks = 0;
}
