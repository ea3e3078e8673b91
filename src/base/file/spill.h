/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spill: output that may be larger than memory, in a buf that is written to a file or a pipe
 * whenever it has reached some size.
 *
 * spill_open() or spill_to(); then add to `buf` and call spill_some() repeatedly; spill_close()
 * once. A file gets its name when it is complete; an older one becomes PATH.old. It has mode 0600.
 * After an error nothing more is written, and spill_close() returns the error. With fd -1 all
 * output stays in `buf`. Output to a terminal goes through plain_text_lines(), so add whole lines
 * before spill_some(). One thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_SPILL_H
#define ASSAY_BASE_FILE_SPILL_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "base/file/replace_file.h"

#include <stdbool.h>

#define SPILL_BYTES (256u << 10)

struct spill {
	struct buf buf;
	int fd;        /* -1: none */
	bool owned;    /* spill_close() closes fd */
	bool terminal; /* output is escaped by plain_text_lines() */
	int code;      /* errno of the first failure, 0: none */
	char *path;
	struct replacement file; /* the file until it is complete; no part: written in place */
};

int spill_open(struct spill *s, const char *path, struct error *err);
/* The caller keeps fd; `name` is for messages. fd -1: to memory, and the caller frees `buf`. */
void spill_to(struct spill *s, int fd, const char *name);

/* Writes the buffer if it is large. Otherwise costs almost nothing. */
void spill_flush(struct spill *s);
static inline void spill_some(struct spill *s)
{
	if (s->buf.size >= SPILL_BYTES && s->fd >= 0)
		spill_flush(s);
}

/* `keep` false: the file is removed, and an older file of that name stays unchanged. */
int spill_close(struct spill *s, bool keep, struct error *err);

#endif
