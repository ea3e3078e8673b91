/* SPDX-License-Identifier: MIT */
/* program: see program.h. */
#include "linux/program.h"
#include "linux/place.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define STEP_MOST (4ull << 20)

/* Parses "256M", "1g" or "65536". 0: not a number. */
static uint64_t number(const char *text)
{
	uint64_t n = 0;

	if (!text)
		return 0;
	for (; *text >= '0' && *text <= '9' && n < UINT64_MAX / 16; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	switch (*text | 32) {
	case 'g':
		return n << 30;
	case 'm':
		return n << 20;
	case 'k':
		return n << 10;
	default:
		return n;
	}
}

uint64_t program_bytes(const char *name)
{
	return number(place_environment(name));
}

uint64_t program_space(uint64_t parts)
{
	struct rlimit space;

	return getrlimit(RLIMIT_AS, &space) ? UINT64_MAX : space.rlim_cur / parts;
}

uint64_t program_memory(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
	uint64_t bytes = program_bytes(name), space = program_space(8);

	if (!bytes)
		bytes = otherwise;
	if (bytes > space)
		bytes = space;
	if (bytes < least)
		bytes = least;
	return bytes > most ? most : bytes;
}

/* EINVAL: a kernel before 5.14. It allocates pages when they are touched. */
bool program_populate(char *at, uint64_t bytes)
{
	int before = errno;
	bool done = !madvise(at, bytes, MADV_POPULATE_WRITE) || errno == EINVAL;

	errno = before;
	return done;
}

bool program_grow(char *base, uint64_t wanted, uint64_t room, uint64_t first_step,
                  uint64_t *populated)
{
	uint64_t have = __atomic_load_n(populated, __ATOMIC_RELAXED), step;

	if (wanted > room)
		return false;
	while (have < wanted) {
		step = have / 4;
		if (step < first_step)
			step = first_step;
		if (step > STEP_MOST)
			step = STEP_MOST;
		if (have + step < wanted)
			step = wanted - have;
		if (have + step > room)
			step = room - have;
		if (!program_populate(base + have, step))
			return false;
		/* Another thread may have made a different step: continue from there. */
		if (__atomic_compare_exchange_n(populated, &have, have + step, false,
		                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			have += step;
	}
	return true;
}

static size_t read_file(const char *path, char *into, size_t room)
{
	int fd = uncancelled_open(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = fd < 0 ? -1 : uncancelled_read(fd, into, room - 1);

	if (fd >= 0)
		uncancelled_close(fd);
	into[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

void program_describe(char *name, size_t name_room, char *command, size_t command_room)
{
	char exe[512];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *last = exe;
	size_t size;

	exe[n > 0 ? n : 0] = '\0';
	for (const char *c = exe; *c; c++)
		if (*c == '/')
			last = c + 1;
	for (size_t i = 0; last[i] && i + 1 < name_room; i++)
		name[i] = last[i];
	size = read_file("/proc/self/cmdline", command, command_room);
	for (size_t i = 0; i + 1 < size; i++)
		if (!command[i])
			command[i] = ' ';
}
