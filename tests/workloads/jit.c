/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit: runs code that it generates, and announces it as runtimes do.
 *
 *   jit map SECONDS             names in /tmp/perf-PID.map
 *   jit dump SECONDS DIRECTORY  a jitdump DIRECTORY/jit-PID.dump, mapped as a mark
 *   jit silent SECONDS          announces nothing
 *
 * jit_long() and jit_short() run the same instructions, 7 and 3 times as often.
 * In the mode "dump" the memory of jit_long() is given to another function,
 * jit_later(), after half of the time: shares of time are then 35, 35 and 30 %.
 * SECONDS are CPU time. Prints its pid when the code is ready. Only for x86-64; exits with 77
 * elsewhere.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define LONG_AT 0
#define SHORT_AT 256
#define ROUND 1000
#define NS 1000000000u

/*
 * push %rbp; mov %rsp,%rbp; then 1: four dependent multiplications, dec %rdi,
 * jnz 1b; pop %rbp; ret. At 32 bytes each, both have the same alignment.
 */
static const uint8_t spin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x0f, 0xaf, 0xc0, 0x48,
                               0x0f, 0xaf, 0xc0, 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0x0f,
                               0xaf, 0xc0, 0x48, 0xff, 0xcf, 0x75, 0xeb, 0x5d, 0xc3};
/* The same with a nop before it returns: other code. */
static const uint8_t spin_later[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0x0f,
                                     0xaf, 0xc0, 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0x0f, 0xaf, 0xc0,
                                     0x48, 0xff, 0xcf, 0x75, 0xeb, 0x90, 0x5d, 0xc3};

typedef void generated(uint64_t count);

void run_generated(const uint8_t *memory, uint64_t end_ns);

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* Whole functions around the calls, so that stacks have several frames. */
__attribute__((noinline)) void run_generated(const uint8_t *memory, uint64_t end_ns)
{
	generated *long_one, *short_one;

	memcpy(&long_one, &(const uint8_t *){memory + LONG_AT}, sizeof(long_one));
	memcpy(&short_one, &(const uint8_t *){memory + SHORT_AT}, sizeof(short_one));
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
		long_one(7 * ROUND);
		short_one(3 * ROUND);
	}
}

static void write_map(const uint8_t *memory)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	if (!map)
		exit(1);
	fprintf(map, "%lx %zx jit_long\n", (unsigned long)(uintptr_t)(memory + LONG_AT),
	        sizeof(spin));
	fprintf(map, "%lx %zx jit_short\n", (unsigned long)(uintptr_t)(memory + SHORT_AT),
	        sizeof(spin));
	fclose(map);
}

static void put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, f) != size)
		exit(1);
}

static void put_header(FILE *f)
{
	const uint32_t words[] = {MAGIC, 1, 40, EM_X86_64, 0, (uint32_t)getpid()};
	const uint64_t longs[] = {clock_ns(CLOCK_MONOTONIC), 0};

	put(f, words, sizeof(words));
	put(f, longs, sizeof(longs));
}

static void put_record(FILE *f, uint32_t id, size_t body)
{
	const uint32_t words[] = {id, (uint32_t)(16 + body)};
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);

	put(f, words, sizeof(words));
	put(f, &time, sizeof(time));
}

/* Two lines, the second of the instructions after the loop. */
static void put_lines(FILE *f, uint64_t address)
{
	static const char file[] = "generated.js", same[] = "\xff";
	const uint64_t head[] = {address, 2}, after = address + 25;
	const int32_t first[] = {10, 0}, second[] = {20, 0};

	put_record(f, 2, sizeof(head) + 32 + sizeof(file) + sizeof(same));
	put(f, head, sizeof(head));
	put(f, &address, 8);
	put(f, first, sizeof(first));
	put(f, file, sizeof(file));
	put(f, &after, 8);
	put(f, second, sizeof(second));
	put(f, same, sizeof(same));
}

static void put_load(FILE *f, const char *name, const uint8_t *memory, size_t size, uint64_t index)
{
	const uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid()};
	const uint64_t address = (uint64_t)(uintptr_t)memory;
	const uint64_t longs[] = {address, address, size, index};

	put_lines(f, address);
	put_record(f, 0, sizeof(ids) + sizeof(longs) + strlen(name) + 1 + size);
	put(f, ids, sizeof(ids));
	put(f, longs, sizeof(longs));
	put(f, name, strlen(name) + 1);
	put(f, memory, size);
	fflush(f);
}

static FILE *open_dump(const char *directory)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, getpid());
	f = fopen(path, "w+e");
	if (!f)
		exit(1);
	put_header(f);
	fflush(f);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		exit(1);
	return f;
}

int main(int argc, char **argv)
{
#if defined(__x86_64__)
	uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t time;
	FILE *dump = NULL;

	if (argc < 3 || memory == MAP_FAILED)
		return 2;
	time = (uint64_t)(strtod(argv[2], NULL) * NS);
	memcpy(memory + LONG_AT, spin, sizeof(spin));
	memcpy(memory + SHORT_AT, spin, sizeof(spin));
	if (!strcmp(argv[1], "map"))
		write_map(memory);
	if (!strcmp(argv[1], "dump")) {
		dump = open_dump(argc > 3 ? argv[3] : ".");
		put_load(dump, "jit_long", memory + LONG_AT, sizeof(spin), 1);
		put_load(dump, "jit_short", memory + SHORT_AT, sizeof(spin), 2);
	}
	printf("%d\n", getpid());
	fflush(stdout);
	run_generated(memory, time / 2);
	if (dump) {
		memcpy(memory + LONG_AT, spin_later, sizeof(spin_later));
		put_load(dump, "jit_later", memory + LONG_AT, sizeof(spin_later), 3);
	}
	run_generated(memory, time);
	return 0;
#else
	return 77;
#endif
}
