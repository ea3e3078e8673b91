/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/profile_file.h"

#include "base/read/gunzip.h"
#include "format/otlp/otlp_read.h"
#include "format/pprof/pprof_file.h"
#include "format/pprof/pprof_read.h"
#include "format/profiles/callgrind_read.h"
#include "format/profiles/chrome_read.h"
#include "format/profiles/folded_read.h"

#include <errno.h>
#include <string.h>

const char *profile_file_word(enum file_kind kind)
{
	switch (kind) {
	case FILE_PPROF:
		return "a pprof profile";
	case FILE_OTLP:
		return "an OTLP profile";
	case FILE_FOLDED:
		return "a file of folded stacks";
	case FILE_CALLGRIND:
		return "a callgrind file";
	case FILE_CHROME:
		return "a file of trace events";
	default:
		return NULL;
	}
}

static int read_bytes(struct symbolized_profile *n, enum file_kind kind, const char *name,
                      const struct buf *all, struct buf *left, struct error *err)
{
	if (kind == FILE_OTLP)
		return otlp_read_memory(n, name, buf_text(all), all->size, left, err);
	if (kind == FILE_FOLDED)
		return folded_read_memory(n, name, buf_text(all), all->size, left, err);
	if (kind == FILE_CALLGRIND)
		return callgrind_read_memory(n, name, buf_text(all), all->size, left, err);
	return chrome_read_memory(n, name, buf_text(all), all->size, left, err);
}

int profile_file_read(struct symbolized_profile *n, const char *path, struct buf *left,
                      struct error *err)
{
	const char *name = strcmp(path, "-") != 0 ? path : "standard input";
	enum file_kind kind = file_kind_of(path, NULL);
	struct buf all = {0}, unpacked = {0};
	int ret;

	if (kind == FILE_PPROF || !profile_file_word(kind))
		return pprof_read(n, path, left, err);
	ret = pprof_file_load(path, &all, err);
	if (!ret && gunzip_is_packed(buf_text(&all), all.size)) {
		ret = pprof_unpack(name, buf_text(&all), all.size, &unpacked, err);
		buf_done(&all);
		all = unpacked;
	}
	if (!ret)
		ret = read_bytes(n, kind, name, &all, left, err);
	buf_done(&all);
	return ret;
}
