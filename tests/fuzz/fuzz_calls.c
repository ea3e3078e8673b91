/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as tables of call paths: of an exited process, of a running one, and with a baseline
 * (the table itself, or the bytes after it). The result must be a tree whose paths are after their
 * parents, and must have the same calls after it was written and read as a recording.
 */
#include "base/memory/xalloc.h"
#include "format/calls/calls_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t check(const struct call_paths *c)
{
	uint64_t calls = 0;

	vec_each (p, &c->processes) {
		if (!p->paths.count || strlen(intern_text(&c->images.names, p->name)) > 100000)
			abort();
		for (uint32_t i = 0; i < p->paths.count; i++) {
			const struct call_path *path = &p->paths.items[i];
			const struct call_function *f;

			if (path->function >= c->functions.count || (i && path->parent >= i))
				abort();
			f = &c->functions.items[path->function];
			if ((f->kind == CALL_OUTSIDE) != !i ||
			    f->frame.image >= c->images.images.count ||
			    f->name >= c->images.names.texts.count ||
			    f->file >= c->images.names.texts.count)
				abort();
			calls += path->calls;
		}
	}
	return calls;
}

static void rewrite(const struct call_paths *c, uint64_t calls)
{
	struct call_paths *again = call_paths_new();
	struct buf out = {0};
	size_t at = 0, used;

	if (calls_file_write(c, &out, NULL))
		abort();
	for (; at < out.size; at += used)
		if (calls_file_read(again, out.data + at, out.size - at, "t", NULL, &used, NULL))
			abort();
	call_paths_close(again);
	if (check(again) != calls || again->processes.count != c->processes.count)
		abort();
	call_paths_free(again);
	buf_done(&out);
}

static void read_one(const uint8_t *bytes, size_t size, const struct calls_state *state)
{
	struct call_paths *c = call_paths_new();
	struct error err = {0};
	size_t used = 0;
	int rc = calls_file_read(c, bytes, size, "input", state, &used, &err);

	if (rc && !err.text[0])
		abort(); /* an error must have a sentence */
	if (!rc && (!used || used > size))
		abort();
	call_paths_close(c);
	if (!rc)
		rewrite(c, check(c));
	call_paths_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct calls_thread_state threads[] = {{4711, 90000, 400, true},
	                                                    {1, 50, 5, false}};
	struct calls_state state = {.running = true,
	                            .live = true,
	                            .now = 1u << 30,
	                            .now_ns = 1u << 29,
	                            .threads = threads,
	                            .thread_count = 2};

	read_one(bytes, size, NULL);
	read_one(bytes, size, &state);
	state.base = bytes;
	state.base_size = size;
	read_one(bytes, size, &state);
	state.live = state.running = false;
	if (size > 32768) {
		state.base = bytes + 32768;
		state.base_size = size - 32768;
	}
	read_one(bytes, size, &state);
	return 0;
}
