/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_directory: a directory of the fuzz target, for inputs that must be files.
 */
#ifndef ASSAY_TESTS_FUZZ_DIRECTORY_H
#define ASSAY_TESTS_FUZZ_DIRECTORY_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char fuzz_directory[64];

static int fuzz_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void fuzz_directory_end(void)
{
	nftw(fuzz_directory, fuzz_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Creates it at the first call; it is removed at the end. */
static inline const char *fuzz_directory_get(void)
{
	if (fuzz_directory[0])
		return fuzz_directory;
	snprintf(fuzz_directory, sizeof(fuzz_directory), "/tmp/assay-fuzz-XXXXXX");
	if (!mkdtemp(fuzz_directory) || atexit(fuzz_directory_end))
		abort();
	return fuzz_directory;
}

static inline void fuzz_put(const char *name, const uint8_t *bytes, size_t size, char path[128])
{
	int fd;

	snprintf(path, 128, "%s/%s", fuzz_directory_get(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

#endif
