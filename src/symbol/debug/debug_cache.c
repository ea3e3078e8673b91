/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the tables of debug_index in a file: a header, the arrays as they are in memory, and the
 * strings, each with its zero byte. The file is valid on this machine only. The whole file is
 * checked before it is used.
 */
#include "symbol/debug/debug_index_internal.h"

#include "base/memory/buf.h"
#include "base/read/regular_file.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_KIND "inline"
#define CACHE_BYTES (512ull << 20)
#define FILE_MAX_BYTES (256ull << 20)
#define CACHE_MAGIC "assay-inline-2"

struct cache_header {
	char magic[16];
	uint64_t identity;
	uint64_t checksum; /* checksum of all bytes after the header, and of the counts */
	uint64_t map, units, segments, nodes, rows, strings, string_bytes;
};

struct debug_cache_cursor {
	const uint8_t *at;
};

static uint64_t checksum_of(const struct cache_header *h, const void *bytes, size_t size)
{
	return hash_pair(hash_bytes(bytes, size), hash_bytes(&h->map, 7 * sizeof(uint64_t)));
}

static bool size_fits(const struct cache_header *h, uint64_t size)
{
	const uint64_t counts[] = {h->map, h->units, h->segments, h->nodes, h->rows, h->strings};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i] > FILE_MAX_BYTES)
			return false;
	return h->string_bytes <= FILE_MAX_BYTES &&
	       size == (h->map + h->segments) * sizeof(struct debug_segment) +
	                       h->units * sizeof(struct debug_unit) +
	                       h->nodes * sizeof(struct debug_node) +
	                       h->rows * sizeof(struct debug_row) + h->string_bytes;
}

#define TAKE(vector, number, from)                                                                 \
	do {                                                                                       \
		vec_reserve((vector), (number));                                                   \
		if (number)                                                                        \
			memcpy((vector)->items, (from)->at, (number) * sizeof(*(vector)->items));  \
		(vector)->count = (number);                                                        \
		(from)->at += (number) * sizeof(*(vector)->items);                                 \
	} while (0)

/* Reads the strings, each once, in the order of their ids; the first is "". */
static bool take_strings(struct intern *strings, const char *text, uint64_t bytes, uint64_t count)
{
	const char *end = text + bytes, *zero;
	uint64_t id = 0;

	for (; text < end; text = zero + 1) {
		zero = memchr(text, '\0', (size_t)(end - text));
		if (!zero || id >= count || intern_add(strings, text) != id)
			return false;
		id++;
	}
	return id == count && count;
}

static bool segments_are_good(const struct debug_segment *s, size_t count, size_t values)
{
	for (size_t i = 0; i < count; i++)
		if ((i && s[i].start <= s[i - 1].start) ||
		    (s[i].value != ID_NONE && s[i].value >= values))
			return false;
	return true;
}

static bool rows_are_good(const struct debug_row *r, size_t count, size_t strings)
{
	for (size_t i = 0; i < count; i++)
		if ((i && r[i].start <= r[i - 1].start) || r[i].file >= strings ||
		    r[i].line > INT_MAX)
			return false;
	return true;
}

static bool units_are_good(const struct debug_tables *t)
{
	vec_each (u, &t->units) {
		if (u->state > UNIT_BUILT || u->first_segment > t->segments.count ||
		    u->segments > t->segments.count - u->first_segment ||
		    u->first_row > t->rows.count || u->rows > t->rows.count - u->first_row)
			return false;
		if (u->segments && !segments_are_good(t->segments.items + u->first_segment,
		                                      u->segments, t->nodes.count))
			return false;
		if (u->rows &&
		    !rows_are_good(t->rows.items + u->first_row, u->rows, t->strings.texts.count))
			return false;
	}
	return true;
}

/* The segments and rows of all units together must not exceed the tables, since units do not share
 * them. */
static bool shares_are_good(const struct debug_tables *t)
{
	uint64_t segments = 0, rows = 0;

	vec_each (u, &t->units) {
		segments += u->segments;
		rows += u->rows;
	}
	return segments <= t->segments.count && rows <= t->rows.count;
}

static bool nodes_are_good(const struct debug_tables *t)
{
	for (size_t i = 0; i < t->nodes.count; i++) {
		const struct debug_node *n = &t->nodes.items[i];

		if ((n->parent != ID_NONE && n->parent >= i) || n->name >= t->strings.texts.count ||
		    n->call_file >= t->strings.texts.count || n->call_line > INT_MAX)
			return false;
	}
	return true;
}

static bool take_tables(struct debug_tables *t, const struct cache_header *h, const uint8_t *bytes)
{
	struct debug_cache_cursor from = {bytes};

	TAKE(&t->map, h->map, &from);
	TAKE(&t->units, h->units, &from);
	TAKE(&t->segments, h->segments, &from);
	TAKE(&t->nodes, h->nodes, &from);
	TAKE(&t->rows, h->rows, &from);
	return take_strings(&t->strings, (const char *)from.at, h->string_bytes, h->strings) &&
	       segments_are_good(t->map.items, t->map.count, t->units.count) && nodes_are_good(t) &&
	       shares_are_good(t) && units_are_good(t);
}

/* Reads the whole file, malloc'd; NULL: it is not a cache file. */
static uint8_t *read_file(int fd, size_t *size)
{
	uint8_t *bytes;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct cache_header) ||
	    (uint64_t)st.st_size > FILE_MAX_BYTES)
		return NULL;
	*size = (size_t)st.st_size;
	bytes = xmalloc(*size);
	if (regular_file_read(fd, bytes, *size) == (ssize_t)*size)
		return bytes;
	free(bytes);
	return NULL;
}

bool debug_cache_load(struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity)
{
	int fd = cache_dir_find(cache, CACHE_KIND, name);
	struct cache_header h;
	bool good = false;
	uint8_t *bytes;
	size_t size;

	if (fd < 0)
		return false;
	bytes = read_file(fd, &size);
	close(fd);
	if (!bytes)
		return false;
	memcpy(&h, bytes, sizeof(h));
	if (!memcmp(h.magic, CACHE_MAGIC, sizeof(CACHE_MAGIC)) && h.identity == identity &&
	    size_fits(&h, size - sizeof(h)) &&
	    checksum_of(&h, bytes + sizeof(h), size - sizeof(h)) == h.checksum)
		good = take_tables(t, &h, bytes + sizeof(h));
	free(bytes);
	if (!good) {
		debug_tables_done(t);
		debug_tables_init(t);
	}
	return good;
}

void debug_cache_keep(const struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity)
{
	struct cache_header h = {.magic = CACHE_MAGIC,
	                         .identity = identity,
	                         .map = t->map.count,
	                         .units = t->units.count,
	                         .segments = t->segments.count,
	                         .nodes = t->nodes.count,
	                         .rows = t->rows.count,
	                         .strings = t->strings.texts.count};
	struct buf out = {0};

	buf_add(&out, &h, sizeof(h));
	buf_add(&out, t->map.items, t->map.count * sizeof(*t->map.items));
	buf_add(&out, t->units.items, t->units.count * sizeof(*t->units.items));
	buf_add(&out, t->segments.items, t->segments.count * sizeof(*t->segments.items));
	buf_add(&out, t->nodes.items, t->nodes.count * sizeof(*t->nodes.items));
	buf_add(&out, t->rows.items, t->rows.count * sizeof(*t->rows.items));
	h.string_bytes = out.size;
	vec_each (text, &t->strings.texts)
		buf_add(&out, *text, strlen(*text) + 1);
	h.string_bytes = out.size - h.string_bytes;
	h.checksum = checksum_of(&h, out.data + sizeof(h), out.size - sizeof(h));
	memcpy(out.data, &h, sizeof(h));
	/* A failed write is ignored: the next run builds the tables again. */
	if (out.size <= FILE_MAX_BYTES &&
	    !cache_dir_keep(cache, CACHE_KIND, name, out.data, out.size, NULL))
		cache_dir_trim(cache, CACHE_KIND, CACHE_BYTES);
	buf_done(&out);
}
