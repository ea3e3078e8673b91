/* SPDX-License-Identifier: MIT */
/* program: see program.h. */
#include "linux/program.h"
#include "linux/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* "256M", "1g", "65536"; 0: no number. */
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

/* EINVAL: a kernel before 5.14, which brings pages when they are touched. */
bool program_populate(char *at, uint64_t bytes)
{
	int before = errno;
	bool done = !madvise(at, bytes, MADV_POPULATE_WRITE) || errno == EINVAL;

	errno = before;
	return done;
}

static size_t read_file(const char *path, char *into, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, into, room - 1);

	if (fd >= 0)
		close(fd);
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
