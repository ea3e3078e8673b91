/* SPDX-License-Identifier: MIT */
/*
 * images: see images.h. Images stay in one array that only grows. An entry is written before it is
 * counted, so readers need no lock. The thread that reads the maps has its id in `reader`. The
 * buffers are static, and only that thread uses them.
 *
 * Code of no file (a JIT compiler's) causes lookups again and again. Its pages are stored as missed
 * for MISS_NS. After FRUITLESS readings in a row without a new image, the maps are read at most at
 * that interval, or at each 1000th miss.
 */
#include "linux/code/images.h"

#include "linux/code/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_IMAGES 4095 /* limit of the image field in a node's function */
#define MISS_NS 10000000
#define MISS_PAGES 256
#define MISSES 1000
#define FRUITLESS 16
#define WAIT_NS 50000 /* wait this long, at most WAITS times, for another reader */
#define WAITS 400

static struct {
	images_add_fn *add;
	images_gone_fn *gone;
	images_full_fn *full;
	struct assay_calls_image image[MOST_IMAGES];
	int16_t index[MOST_IMAGES]; /* return value of `add` */
	uint8_t present[MOST_IMAGES];
	int count;
	int last;   /* the last image found */
	int reader; /* thread that reads the maps; 0: none */
	uint64_t read_ns;
	uint32_t fruitless, misses;
	uint64_t missed[MISS_PAGES]; /* pages, each with the generation in which it was missed */
	uint32_t generation;         /* number of readings */
} all;

static uint64_t now_ns(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void images_begin(images_add_fn *add, images_gone_fn *gone, images_full_fn *full)
{
	all.add = add;
	all.gone = gone;
	all.full = full;
}

/*
 * False if the reader has ended, so that it blocks no other thread (a vfork's child that was
 * killed).
 */
static bool is_alive(int tid)
{
	return !syscall(SYS_tgkill, syscall(SYS_getpid), tid, 0) || errno != ESRCH;
}

/*
 * Makes the running thread the reader. False: it is the reader already, or another reader does not
 * finish.
 */
static bool lock(void)
{
	int self = (int)syscall(SYS_gettid), holder = 0;
	struct timespec nap = {.tv_nsec = WAIT_NS};

	for (int i = 0; i < WAITS; i++) {
		holder = 0;
		if (__atomic_compare_exchange_n(&all.reader, &holder, self, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return true;
		if (holder == self)
			return false;
		syscall(SYS_nanosleep, &nap, NULL);
	}
	return !is_alive(holder) && __atomic_compare_exchange_n(&all.reader, &holder, self, false,
	                                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void unlock(void)
{
	__atomic_store_n(&all.reader, 0, __ATOMIC_RELEASE);
}

static bool holds(int i, uint64_t address)
{
	const struct assay_calls_image *image = &all.image[i];

	return address >= image->start && address < image->end &&
	       !__atomic_load_n(&image->gone, __ATOMIC_RELAXED);
}

/* The image's place in the array, or -1. */
static int known(uint64_t address)
{
	int count = __atomic_load_n(&all.count, __ATOMIC_ACQUIRE);
	int last = __atomic_load_n(&all.last, __ATOMIC_RELAXED);

	if (last < count && holds(last, address))
		return last;
	for (int i = count - 1; i >= 0; i--) {
		if (!holds(i, address))
			continue;
		__atomic_store_n(&all.last, i, __ATOMIC_RELAXED);
		return i;
	}
	return -1;
}

/* True if both are of the same file with the same shift: mprotect() may have split the mapping. */
static bool is_part(const struct assay_calls_image *known, const struct assay_calls_image *found)
{
	return known->device == found->device && known->inode == found->inode &&
	       known->start - known->offset == found->start - found->offset &&
	       found->start < known->end && known->start < found->end &&
	       !strcmp(known->path, found->path);
}

static void take(const struct assay_calls_image *found)
{
	bool whole = false;
	int i = all.count;

	for (int k = 0; k < all.count; k++) {
		const struct assay_calls_image *image = &all.image[k];

		if (image->gone || !is_part(image, found))
			continue;
		all.present[k] = 1;
		whole |= found->start >= image->start && found->end <= image->end;
	}
	if (whole)
		return;
	if (i == MOST_IMAGES) {
		if (all.full)
			all.full();
		return;
	}
	all.image[i] = *found;
	maps_build_id(&all.image[i]);
	all.index[i] = all.add ? (int16_t)all.add(&all.image[i]) : (int16_t)i;
	all.present[i] = 1;
	__atomic_store_n(&all.count, i + 1, __ATOMIC_RELEASE);
}

static void mark_gone(void)
{
	for (int i = 0; i < all.count; i++) {
		struct assay_calls_image *image = &all.image[i];

		if (image->gone || all.present[i])
			continue;
		__atomic_store_n(&image->gone, 1, __ATOMIC_RELAXED);
		if (all.gone)
			all.gone(all.index[i], image->start, image->end);
	}
}

/* The caller is the reader. */
static void read_maps(void)
{
	memset(all.present, 0, sizeof(all.present));
	if (maps_read(take))
		mark_gone();
	__atomic_store_n(&all.generation, all.generation + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&all.read_ns, now_ns(), __ATOMIC_RELAXED);
}

/*
 * The page's slot in `missed`. *mark: the slot's value if the page was missed in this generation.
 */
static uint64_t *missed_slot(uint64_t address, uint64_t *mark)
{
	uint64_t page = address >> 12;

	*mark = page << 16 | ((__atomic_load_n(&all.generation, __ATOMIC_RELAXED) & 0x7fff) + 1);
	return &all.missed[(page ^ page >> 8 ^ page >> 16) % MISS_PAGES];
}

/* True: the last reading is recent enough to conclude that the address is in no image. */
static bool is_missed(uint64_t address)
{
	uint64_t mark, *slot = missed_slot(address, &mark);
	uint64_t age = now_ns() - __atomic_load_n(&all.read_ns, __ATOMIC_RELAXED);

	if (!__atomic_load_n(&all.generation, __ATOMIC_RELAXED) || age > MISS_NS)
		return false;
	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == mark)
		return true;
	if (__atomic_load_n(&all.fruitless, __ATOMIC_RELAXED) < FRUITLESS)
		return false;
	return __atomic_add_fetch(&all.misses, 1, __ATOMIC_RELAXED) % MISSES != 0;
}

static int find_anew(uint64_t address)
{
	uint64_t mark, *slot;
	int i;

	if (is_missed(address) || !lock())
		return -1;
	i = known(address); /* another thread may have read the maps in between */
	if (i < 0) {
		read_maps();
		i = known(address);
		slot = missed_slot(address, &mark);
		__atomic_store_n(slot, i < 0 ? mark : 0, __ATOMIC_RELAXED);
		__atomic_store_n(&all.fruitless, i < 0 ? all.fruitless + 1 : 0, __ATOMIC_RELAXED);
	}
	unlock();
	return i;
}

int images_find(uint64_t address)
{
	int i = known(address), saved = errno;

	if (i < 0)
		i = find_anew(address);
	errno = saved;
	return i < 0 ? -1 : all.index[i];
}

void images_check(void)
{
	int saved = errno;

	if (lock()) {
		read_maps();
		unlock();
	}
	errno = saved;
}

void images_again(void)
{
	int saved = errno;

	/* The parent's reader does not exist in this process. */
	__atomic_store_n(&all.reader, (int)syscall(SYS_gettid), __ATOMIC_RELAXED);
	for (int i = 0; i < all.count; i++)
		all.index[i] = all.add ? (int16_t)all.add(&all.image[i]) : (int16_t)i;
	unlock();
	errno = saved;
}

const struct assay_calls_image *images_get(int index)
{
	int count = __atomic_load_n(&all.count, __ATOMIC_ACQUIRE);

	if (index < 0)
		return NULL;
	/* Usually the index in the table equals the index in the array. */
	if (index < count && all.index[index] == index)
		return &all.image[index];
	for (int i = 0; i < count; i++)
		if (all.index[i] == index)
			return &all.image[i];
	return NULL;
}
