/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixture: a scratch directory, files in it, and programs that are built for a test.
 * fixture_begin() first; fixture_end() last, which removes the directory.
 */
#ifndef ASSAY_TESTS_FIXTURE_H
#define ASSAY_TESTS_FIXTURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fixture_dir[64];

static inline bool fixture_begin(void)
{
	snprintf(fixture_dir, sizeof(fixture_dir), "/tmp/assay-unit-XXXXXX");
	return mkdtemp(fixture_dir) != NULL;
}

static inline void fixture_end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", fixture_dir);
	if (system(command))
		printf("# cannot remove %s\n", fixture_dir);
}

/* The path of a file in the directory; valid for eight more calls. */
static inline const char *fixture_path(const char *name)
{
	static char paths[8][256];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", fixture_dir, name);
	return path;
}

static inline bool fixture_write(const char *name, const void *bytes, size_t size)
{
	FILE *out = fopen(fixture_path(name), "wb");
	bool done = out && fwrite(bytes, 1, size, out) == size;

	return out && !fclose(out) && done;
}

/* The contents of a small file in the directory, "" if there is none; valid until the next call. */
static inline const char *fixture_text(const char *name)
{
	static char text[256];
	char path[256];
	size_t size;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", fixture_dir, name);
	in = fopen(path, "rb");
	size = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	text[size] = '\0';
	if (in)
		fclose(in);
	return text;
}

/* True if the directory contains no file. */
static inline bool fixture_is_empty(void)
{
	return !rmdir(fixture_dir) && !mkdir(fixture_dir, 0700);
}

/* Runs a shell command in the directory; true if it succeeds. */
__attribute__((format(printf, 1, 2))) static inline bool fixture_run(const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int at = snprintf(command, sizeof(command), "cd '%s' && ", fixture_dir);

	va_start(ap, fmt);
	vsnprintf(command + at, sizeof(command) - (size_t)at, fmt, ap);
	va_end(ap);
	return system(command) == 0;
}

/* Finds a symbol in the output of nm; true if it exists. */
static inline bool fixture_nm(const char *file, const char *symbol, uint64_t *address,
                              uint64_t *size)
{
	unsigned long long a, s;
	char command[512], line[1024], name[768], type;
	bool found = false;
	FILE *in;

	snprintf(command, sizeof(command), "nm -S '%s/%s' 2>/dev/null", fixture_dir, file);
	in = popen(command, "r");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%llx %llx %c %767s", &a, &s, &type, name) != 4) {
			s = 0;
			if (sscanf(line, "%llx %c %767s", &a, &type, name) != 3)
				continue;
		}
		if (strcmp(name, symbol) != 0)
			continue;
		*address = a;
		*size = s;
		found = true;
	}
	if (in)
		pclose(in);
	return found;
}

#endif
