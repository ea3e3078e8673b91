/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the kernel's function tracer with any contents, and any formats: events are within
 * their records, and names end. First byte: 0xff, then the text of per_cpu/cpuN/stats; or the
 * number of changes to the format, each with the field, its offset and its size, and then the
 * records, each with a byte for its size. The kernel's own structure of pages is kept, since
 * libtraceevent reads it.
 */
#include "../../src/source/tracefs/function_graph.c"

#include "fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define STATS 0xff
#define CHANGE_BYTES 4
#define PAGE_BYTES 4096
#define PAGE_HEAD 16
#define RECORD_WORDS_MAX 28 /* of a record whose size is in its type */

/* As the formats of Linux 6.1. */
static const struct graph_format usual_format = {
        .type = {0, 2, false},
        .flags = {2, 1, false},
        .pid = {4, 4, true},
        .layouts = {{11, {{8, 8, false}, {16, 4, true}}},
                    {10, {{8, 8, false}, {16, 4, true}}},
                    {12, {[2] = {56, 4, true}, [3] = {32, 8, true}, [4] = {8, 16, false}}},
                    {13, {[2] = {8, 4, true}, [5] = {32, 8, false}}},
                    {14, {[6] = {8, 4, false}}}}};

struct seen_page {
	size_t events;
};

static void check_graph_event(void *ctx, const struct graph_event *e)
{
	struct seen_page *seen = ctx;

	if (e->kind > GRAPH_LOST || e->cpu)
		abort();
	if ((e->kind == GRAPH_SWITCH || e->kind == GRAPH_EXEC) &&
	    strnlen(e->name, sizeof(e->name)) == sizeof(e->name))
		abort();
	seen->events++;
}

static void change_field(struct graph_format *format, const uint8_t *change)
{
	struct graph_field *f =
	        &format->layouts[change[0] % GRAPH_KINDS].fields[change[1] % GRAPH_FIELDS];

	/* The signs of the library's numbers are kept. */
	f->offset = (size_t)(int8_t)change[2];
	f->size = (size_t)(int8_t)change[3];
}

/* A page: its time, the bytes of its records, and records with a word for type and time. */
static size_t page_make(uint8_t page[PAGE_BYTES], const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size;
	uint64_t at = PAGE_HEAD, filled;

	memset(page, 0, PAGE_BYTES);
	while (end - bytes > 1) {
		uint32_t words = 1 + *bytes++ % RECORD_WORDS_MAX;
		size_t rest = (size_t)(end - bytes), taken = 4 * words < rest ? 4 * words : rest;

		if (at + 4 + 4 * words > PAGE_BYTES)
			break;
		memcpy(page + at, &words, 4);
		memcpy(page + at + 4, bytes, taken);
		at += 4 + 4 * words;
		bytes += taken;
	}
	filled = at - PAGE_HEAD;
	memcpy(page + 8, &filled, sizeof(filled));
	return PAGE_BYTES;
}

static void read_page(const struct graph_format *format, const uint8_t *bytes, size_t size)
{
	static uint8_t page[PAGE_BYTES];
	struct function_graph g = {.format = *format};
	struct error err = {0};
	struct seen_page seen = {0};
	char path[128];
	int got;

	fuzz_put("page", page, page_make(page, bytes, size), path);
	vec_push(&g.cpus, (struct cpu_buffer){.fd = open(path, O_RDONLY | O_CLOEXEC)});
	g.page = xcalloc(1, PAGE_ROOM);
	g.pages = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	got = function_graph_read(&g, 0, check_graph_event, &seen, &err);
	if (got < 0 && !err.text[0])
		abort();
	if (seen.events > size)
		abort();
	close(g.cpus.items[0].fd);
	vec_done(&g.cpus);
	kbuffer_free(g.pages);
	free(g.page);
}

static void read_stats(const uint8_t *bytes, size_t size)
{
	struct function_graph g = {.top = NULL};
	char path[128];

	snprintf(g.settings.directory, sizeof(g.settings.directory), "%s", fuzz_directory_get());
	snprintf(path, sizeof(path), "%s/per_cpu", fuzz_directory_get());
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/per_cpu/cpu0", fuzz_directory_get());
	mkdir(path, 0700);
	fuzz_put("per_cpu/cpu0/stats", bytes, size, path);
	vec_push(&g.cpus, (struct cpu_buffer){.lost_before = 1});
	function_graph_lost(&g);
	vec_done(&g.cpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct graph_format format = usual_format;
	const uint8_t *end = bytes + size;
	unsigned changes;

	if (!size)
		return 0;
	changes = *bytes++;
	if (changes == STATS) {
		read_stats(bytes, (size_t)(end - bytes));
		return 0;
	}
	for (; changes && end - bytes >= CHANGE_BYTES; changes--, bytes += CHANGE_BYTES)
		change_field(&format, bytes);
	read_page(&format, bytes, (size_t)(end - bytes));
	return 0;
}
