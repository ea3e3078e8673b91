/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_jobs: jobs with different use of the machine, each with a fixed amount of work.
 *
 *	spin		no memory at all
 *	sort		32 KB, with unpredictable branches
 *	lines BYTES	reads that much memory, line by line, in random order
 *	faults		page faults
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES 1000
#define PAGE_BYTES 4096
#define SORTED 8192

static uint64_t state = 88172645463325252;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void spin(void)
{
	for (volatile uint64_t i = 0; i < 150000000; i++)
		;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(void)
{
	static uint32_t items[SORTED];

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < SORTED; i++)
			items[i] = (uint32_t)next();
		qsort(items, SORTED, sizeof(*items), compare);
	}
}

static void lines(size_t bytes)
{
	struct line {
		uint64_t next, room[7];
	} *line = calloc(bytes / 64, sizeof(*line));
	size_t count = bytes / 64;
	volatile uint64_t at = 0;

	for (size_t i = 0; i < count; i++)
		line[i].next = i;
	for (size_t i = count - 1; i; i--) {
		size_t other = next() % i;
		uint64_t swapped = line[i].next;

		line[i].next = line[other].next;
		line[other].next = swapped;
	}
	for (long i = 0; i < 25000000; i++)
		at = line[at].next;
	free(line);
}

static void faults(void)
{
	char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < PAGES; i++)
			pages[i * PAGE_BYTES] = 1;
		madvise(pages, PAGES * PAGE_BYTES, MADV_DONTNEED);
	}
}

int main(int argc, char **argv)
{
	const char *job = argc > 1 ? argv[1] : "";

	if (!strcmp(job, "spin"))
		spin();
	else if (!strcmp(job, "sort"))
		sort();
	else if (!strcmp(job, "lines") && argc == 3 && atol(argv[2]) >= 4096)
		lines((size_t)atol(argv[2]));
	else if (!strcmp(job, "faults"))
		faults();
	else
		return 2;
	return 0;
}
