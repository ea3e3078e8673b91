/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jit_growth.h"

#include "base/clock.h"
#include "format/jit/jit_finder.h"
#include "format/jit/perf_map.h"

#include <string.h>
#include <unistd.h>

/* A file that is read as a whole may take this part of the time: 1 %. */
#define PART 100

void jit_growth_mark(struct jit_growth *g, const char *text, size_t size)
{
	const char *last = size ? memrchr(text, '\n', size) : NULL;
	size_t complete = last ? (size_t)(last + 1 - text) : 0;
	size_t tail = complete < JIT_TAIL_BYTES ? complete : JIT_TAIL_BYTES;

	if (!complete)
		return;
	memcpy(g->tail, text + complete - tail, tail);
	g->tail_bytes = (uint32_t)tail;
	g->read_bytes += complete;
}

static bool is_continued(const struct jit_growth *g, const struct jit_file *f)
{
	off_t at = (off_t)(g->read_bytes - g->tail_bytes);
	char tail[JIT_TAIL_BYTES];

	return f->size >= g->read_bytes &&
	       pread(f->fd, tail, g->tail_bytes, at) == (ssize_t)g->tail_bytes &&
	       !memcmp(tail, g->tail, g->tail_bytes);
}

bool jit_growth_read(struct jit_code *c, const struct jit_file *f)
{
	struct jit_growth *g = &c->growth;
	struct jit_file rest = *f;
	struct buf text = {0};

	if (!is_continued(g, f) || lseek(f->fd, (off_t)g->read_bytes, SEEK_SET) < 0)
		return false;
	rest.size = f->size - g->read_bytes;
	if (jit_file_read(&text, &rest, c->source, NULL) || !text.size) {
		buf_done(&text);
		return true;
	}
	jit_growth_mark(g, text.data, text.size);
	perf_map_read(c, text.data, text.size);
	jit_code_hold(c, text.data);
	jit_code_finish(c);
	return true;
}

bool jit_growth_replace(struct jit_code *c, struct jit_code *now)
{
	struct jit_code old = *c;

	if (now->entries.count < c->entries.count)
		return false;
	for (size_t i = 0; i < c->entries.count; i++) {
		const struct jit_entry *a = &c->entries.items[i], *b = &now->entries.items[i];

		if (a->address != b->address || a->size != b->size || strcmp(a->name, b->name) != 0)
			return false;
	}
	*c = *now;
	*now = old;
	return true;
}

/* Looks for the names as at the first time. */
static struct jit_code *find_all(void *ctx, const struct process_jit_request *request,
                                 struct jit_code *code)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC), now;
	struct jit_code *found = jit_finder_find(ctx, request);
	bool keeps = !found->entries.count || jit_growth_replace(code, found);
	struct jit_code *result = keeps ? code : found;

	now = clock_ns(CLOCK_MONOTONIC);
	if (keeps)
		jit_code_free(found);
	result->growth.again_ns =
	        now + (result->entries.count ? PART * (now - began) : JIT_AGAIN_NS);
	return result;
}

/* The file at the path of the code; false: there is none, or another one. */
static bool open_known(const struct jit_code *code, struct jit_file *f)
{
	if (!code->source || !code->growth.inode ||
	    jit_file_open(f, code->source, JIT_FILE_ANY_USER, NULL, NULL))
		return false;
	if (f->inode == code->growth.inode)
		return true;
	close(f->fd);
	return false;
}

struct jit_code *jit_finder_again(void *ctx, const struct process_jit_request *request,
                                  struct jit_code *code)
{
	struct jit_growth *g = &code->growth;
	struct jit_file f;
	bool grew;

	if (g->again_ns && clock_ns(CLOCK_MONOTONIC) < g->again_ns)
		return code;
	g->again_ns = 0;
	if (!open_known(code, &f))
		return find_all(ctx, request, code);
	grew = f.size != g->size;
	if (grew && !g->is_dump && jit_growth_read(code, &f)) {
		g->size = f.size;
		grew = false;
	}
	close(f.fd);
	return grew ? find_all(ctx, request, code) : code;
}
