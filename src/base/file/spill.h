/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spill: output that may be larger than memory: a buf that is emptied into a
 * file or a pipe each time it has grown to some size.
 *
 * spill_open() or spill_to(), then: add to `buf` and call spill_some() now and
 * then; spill_close() once. A file appears under its name when it is complete;
 * what was there before becomes PATH.old. It is 0600. After a failure nothing
 * more is written, and spill_close() tells of it. With fd -1 all stays in `buf`. What goes to a
 * terminal goes through plain_text_lines(); add whole lines before spill_some().
 * One thread. Uses: base.
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
	bool owned;    /* fd is to be closed */
	bool terminal; /* written by the rules of plain_text_lines() */
	int code;      /* errno of the first failure, 0 */
	char *path;
	struct replacement file; /* what is written until it is complete; no part: in place */
};

int spill_open(struct spill *s, const char *path, struct error *err);
/* fd stays the caller's; `name` is for messages. -1: to memory, and `buf` is the caller's. */
void spill_to(struct spill *s, int fd, const char *name);

/* Writes what there is. Cheap while that is little. */
void spill_flush(struct spill *s);
static inline void spill_some(struct spill *s)
{
	if (s->buf.size >= SPILL_BYTES && s->fd >= 0)
		spill_flush(s);
}

/* `keep` false: the file is given up, and no older one was touched. */
int spill_close(struct spill *s, bool keep, struct error *err);

#endif
