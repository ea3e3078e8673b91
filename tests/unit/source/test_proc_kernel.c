/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's range is the same from the kernel and from the cache of this boot.
 */
#include "base/file/cache_dir.h"
#include "source/proc/proc.h"

#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[] = "/tmp/assay-kernel-XXXXXX";

static int take_first(void *ctx, const struct event *e, struct error *err)
{
	struct event *first = ctx;

	if (!first->mmap.size)
		*first = *e;
	return 0;
}

/* The size of the kernel's mapping; 0: addresses are hidden. */
static uint64_t kernel_size(uint64_t *start)
{
	struct event first = {0};
	struct proc_scan scan = {.deliver = take_first, .ctx = &first};
	struct error err = {0};
	bool hidden = false;

	CHECK_EQ(proc_scan_kernel(&scan, &hidden, &err), 0);
	CHECK_EQ(hidden, first.mmap.size == 0);
	*start = first.mmap.addr;
	return first.mmap.size;
}

static void keep(const uint64_t *words, size_t size)
{
	struct cache_dir *cache = NULL;
	char boot[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	CHECK(file && fgets(boot, sizeof(boot), file));
	boot[strcspn(boot, "\n")] = '\0';
	if (file)
		fclose(file);
	CHECK_EQ(cache_dir_open(&cache, NULL), 0);
	CHECK_EQ(cache_dir_keep(cache, "kernel", boot, words, size, NULL), 0);
	cache_dir_close(cache);
}

static void a_cached_range_is_used_and_checked(void)
{
	uint64_t start, again, size = kernel_size(&start);
	uint64_t words[2];

	if (!size) {
		printf("# skipped: kernel addresses are hidden\n");
		return;
	}
	CHECK_EQ(kernel_size(&again), size);
	CHECK_EQ(again, start);
	words[0] = start;
	words[1] = start + 4096;
	keep(words, sizeof(words));
	CHECK_EQ(kernel_size(&again), 4096); /* the cache is used */
	keep(words, sizeof(words) - 1);
	CHECK_EQ(kernel_size(&again), size);
	words[1] = start;
	keep(words, sizeof(words));
	CHECK_EQ(kernel_size(&again), size);
	words[0] = start + 4096;
	words[1] = start + 8192;
	keep(words, sizeof(words));
	CHECK_EQ(kernel_size(&again), size);
	CHECK_EQ(again, start);
	CHECK_EQ(kernel_size(&again), size);
}

static void without_a_cache_it_is_read_from_the_kernel(void)
{
	uint64_t start, again, size = kernel_size(&start);

	setenv("XDG_CACHE_HOME", "/proc/no/such/place", 1);
	CHECK_EQ(kernel_size(&again), size);
	CHECK_EQ(again, start);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(home))
		return 1;
	setenv("XDG_CACHE_HOME", home, 1);
	RUN(a_cached_range_is_used_and_checked);
	RUN(without_a_cache_it_is_read_from_the_kernel);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	CHECK_EQ(system(command), 0);
	return check_end();
}
