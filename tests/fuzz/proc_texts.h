/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_texts: files of /proc and /sys whose texts are parts of the input of a fuzz target.
 *
 * The sources that read them are included after this header, since they open fixed paths: fopen()
 * and the open() of a text return a part of the input. The parts are separated by lines "%%"; a
 * target lists the ends of the paths in their order. Other paths are opened as usual.
 */
#ifndef ASSAY_TESTS_FUZZ_PROC_TEXTS_H
#define ASSAY_TESTS_FUZZ_PROC_TEXTS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROC_TEXTS_MAX 16

struct proc_text {
	const char *end; /* of the path */
	const uint8_t *bytes;
	size_t size;
};

static struct proc_text proc_texts[PROC_TEXTS_MAX];

/* The text of the path; NULL: it is no input. */
static const struct proc_text *proc_text_of(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < PROC_TEXTS_MAX && proc_texts[i].end; i++) {
		size_t end = strlen(proc_texts[i].end);

		if (length >= end && !strcmp(path + length - end, proc_texts[i].end))
			return &proc_texts[i];
	}
	return NULL;
}

static inline FILE *proc_texts_fopen(const char *path, const char *mode)
{
	const struct proc_text *t = proc_text_of(path);

	if (!t)
		return fopen(path, mode);
	return t->size ? fmemopen((void *)(uintptr_t)t->bytes, t->size, "r") : NULL;
}

static inline int proc_texts_open(const char *path, int flags)
{
	const struct proc_text *t = proc_text_of(path);
	int fd;

	if (!t)
		return open(path, flags);
	fd = memfd_create("text", MFD_CLOEXEC);
	if (fd < 0 || write(fd, t->bytes, t->size) != (ssize_t)t->size || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* `ends`: NULL at the end. */
static void proc_texts_set(const char *const *ends, const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *next;
	size_t i = 0;

	for (; ends[i]; i++) {
		next = memmem(bytes, (size_t)(end - bytes), "%%\n", 3);
		proc_texts[i] =
		        (struct proc_text){ends[i], bytes, (size_t)((next ? next : end) - bytes)};
		bytes = next ? next + 3 : end;
	}
	proc_texts[i].end = NULL;
}

#define fopen proc_texts_fopen
#define open proc_texts_open

#endif
