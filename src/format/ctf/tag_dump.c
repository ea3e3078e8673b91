/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts dumps of capture devices to words. The file is read in pieces; each clock value is
 * converted to a step from the previous one. Uses: base, tags.
 */
#include "format/ctf/tag_dump.h"

#include "base/limit.h"
#include "base/read/input_file.h"
#include "base/read/regular_file.h"
#include "format/ctf/tag_dump_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define READ_BYTES (1u << 20)
#define WORDS 65536u
#define RECORD_MAX 16u
#define COLUMNS_MAX 64u
#define TURN (1ull << ASSAY_TAGS_CLOCK_BITS)

struct tag_dump_field {
	unsigned at, bytes; /* bytes 0: no such field */
};

struct import {
	struct ctf_writer *w;
	uint32_t stream;
	const char *path;
	struct tag_dump_result *result;
	struct error *err;
	unsigned clock_bits;
	bool big;
	bool unchecked; /* not checked, because the user described the clock */
	struct tag_dump_field tag, clock;
	unsigned record; /* bytes */
	/* CSV: the columns; columns 0: the first line was not read yet. */
	unsigned tag_column, clock_column, columns;
	bool named;
	/* Events that are not written yet. */
	uint64_t *words;
	size_t count;
	uint32_t tags[TAG_DUMP_SAMPLE]; /* tags of the first events */
	uint64_t begin, last; /* times of the first and the last word, all bits of the ticks */
	uint64_t told;        /* the last value of the device's clock */
	bool any;
};

static int flush(struct import *m)
{
	struct tag_packet p = {
	        .begin = m->begin, .end = m->last, .words = m->words, .count = m->count};
	int rc = m->count ? ctf_writer_packet(m->w, m->stream, &p, m->err) : 0;

	m->count = 0;
	return rc;
}

/* The time since the previous event; *back: the clock went back although it must not. */
static uint64_t step(struct import *m, uint64_t clock, bool *back)
{
	uint64_t mask = m->clock_bits < 64 ? (1ull << m->clock_bits) - 1 : UINT64_MAX;
	uint64_t delta = (clock - m->told) & mask;

	*back = false;
	if (!m->any)
		return clock;
	if (clock < m->told) {
		m->result->turns++;
		*back = m->clock_bits == 64;
	}
	return delta;
}

/* Adds an event; `where` and `at` are used in errors: "byte 10", "line 3". */
static int event(struct import *m, uint64_t tag, uint64_t clock, const char *where, uint64_t at)
{
	unsigned long long place = at, value = clock;
	uint64_t delta;
	bool back;
	int rc = 0;

	if (tag > ASSAY_TAGS_TAG_MASK)
		return error_set(m->err, EINVAL, "%s: %s %llu: tag %llu: tags are below 2^24",
		                 m->path, where, place, (unsigned long long)tag);
	if (tag == ASSAY_TAG_VOID)
		return error_set(m->err, EINVAL,
		                 "%s: %s %llu: tag %llu marks a word without an event in a trace: "
		                 "give the device's layout",
		                 m->path, where, place, (unsigned long long)tag);
	if (m->clock_bits < 64 && clock >> m->clock_bits)
		return error_set(m->err, EINVAL,
		                 "%s: %s %llu: the clock value %llu has more than %u bits: "
		                 "give the device's layout and --clock-bits",
		                 m->path, where, place, value, m->clock_bits);
	delta = step(m, clock, &back);
	if (back || __builtin_add_overflow(m->last, delta, &m->last))
		return error_set(m->err, EINVAL,
		                 "%s: %s %llu: the clock goes back from %llu to %llu: if it wraps "
		                 "around, give its width with --clock-bits",
		                 m->path, where, place, (unsigned long long)m->told, value);
	m->told = clock;
	m->any = true;
	/* A gap of a turn of the words' clock or more begins a new packet. */
	if (m->count == WORDS || delta >= TURN) {
		uint64_t now = m->last;

		m->last = now - delta;
		rc = flush(m);
		m->last = now;
	}
	/* A word of 0 is not an event: it and all later events are moved by one tick. */
	if (!(m->last << ASSAY_TAGS_TAG_BITS | tag))
		m->last++;
	if (!m->count)
		m->begin = m->last;
	if (m->result->events < TAG_DUMP_SAMPLE)
		m->tags[m->result->events] = (uint32_t)tag;
	m->words[m->count++] = m->last << ASSAY_TAGS_TAG_BITS | tag;
	m->result->events++;
	return rc;
}

/* Layouts */

static int bad_layout(const char *layout, const char *why, struct error *err)
{
	return error_set(err, EINVAL,
	                 "layout \"%.200s\": %s; a layout is csv, or fields in bits, such as "
	                 "tag:16,clock:24 (tag and clock once each, pad for the rest, multiples of "
	                 "8, 128 bits in all)",
	                 layout, why);
}

static int take_field(struct import *m, const char *name, size_t length, unsigned long bits,
                      const char *layout)
{
	bool tag = length == 3 && !memcmp(name, "tag", 3);
	bool clock = length == 5 && !memcmp(name, "clock", 5);
	struct tag_dump_field *f = tag ? &m->tag : clock ? &m->clock : NULL;

	if (!f && !(length == 3 && !memcmp(name, "pad", 3)))
		return bad_layout(layout, "a field must be tag, clock or pad", m->err);
	if (!bits || bits % 8 || bits > RECORD_MAX * 8 || (f && bits > 64))
		return bad_layout(layout, "a field must have 8, 16, 24 ... bits", m->err);
	if (f && f->bytes)
		return bad_layout(layout, "a field is repeated", m->err);
	if (f)
		*f = (struct tag_dump_field){m->record, (unsigned)bits / 8};
	m->record += (unsigned)bits / 8;
	return m->record > RECORD_MAX ? bad_layout(layout, "too many bits", m->err) : 0;
}

static int read_layout(struct import *m, const char *layout)
{
	const char *p = layout;
	int rc;

	for (;;) {
		size_t length = strcspn(p, ":,");
		unsigned long bits;
		char *end;

		if (p[length] != ':' || p[length + 1] < '0' || p[length + 1] > '9')
			return bad_layout(layout, "a field must be NAME:BITS", m->err);
		bits = strtoul(p + length + 1, &end, 10);
		rc = take_field(m, p, length, bits, layout);
		if (rc)
			return rc;
		if (!*end)
			break;
		if (*end != ',')
			return bad_layout(layout, "a field must be NAME:BITS", m->err);
		p = end + 1;
	}
	if (!m->tag.bytes || !m->clock.bytes)
		return bad_layout(layout, "tag or clock is missing", m->err);
	return 0;
}

/* Records */

static uint64_t value_of(const struct import *m, const uint8_t *record,
                         const struct tag_dump_field *f)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < f->bytes; i++)
		value = value << 8 | record[f->at + (m->big ? i : f->bytes - 1 - i)];
	return value;
}

/* Fills the buffer after *have. Returns 1: there is more to read; 0: the end; or -errno. */
static int fill(struct import *m, int fd, uint8_t *bytes, size_t room, size_t *have)
{
	ssize_t n = regular_file_read(fd, bytes + *have, room - *have);

	if (n < 0)
		return error_set(m->err, (int)-n, "cannot read %s: %s", m->path, strerror((int)-n));
	*have += (size_t)n;
	return n > 0;
}

static int import_records(struct import *m, int fd, uint8_t *bytes)
{
	uint64_t at = 0; /* position of the buffer's first byte */
	size_t have = 0;
	int rc;

	while ((rc = fill(m, fd, bytes, READ_BYTES, &have)) > 0) {
		size_t used = 0;

		if (!at && !m->unchecked)
			rc = tag_dump_check_begin(m->path, bytes, have, m->err);
		if (rc < 0)
			return rc;
		for (; have - used >= m->record; used += m->record) {
			const uint8_t *record = bytes + used;

			rc = event(m, value_of(m, record, &m->tag), value_of(m, record, &m->clock),
			           "byte", at + used);
			if (rc)
				return rc;
		}
		memmove(bytes, bytes + used, have - used);
		have -= used;
		at += used;
	}
	m->result->trailing_bytes = have;
	if (rc || m->unchecked)
		return rc;
	return tag_dump_check_events(
	        m->path, m->result->events, m->result->turns, m->tags,
	        m->result->events < TAG_DUMP_SAMPLE ? m->result->events : TAG_DUMP_SAMPLE, m->err);
}

/* CSV */

static int bad_line(const struct import *m, uint64_t line, const char *why)
{
	return error_set(
	        m->err, EINVAL,
	        "%s: line %llu: %s; a line is CLOCK,TAG, or in the order that a first line such as "
	        "\"tag,clock\" says",
	        m->path, (unsigned long long)line, why);
}

struct csv_cell {
	const char *text;
	size_t length;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Trims blanks and quotes. */
static struct csv_cell trimmed(const char *begin, const char *end)
{
	while (begin < end && blank(*begin))
		begin++;
	while (begin < end && blank(end[-1]))
		end--;
	if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
		begin++;
		end--;
	}
	return (struct csv_cell){begin, (size_t)(end - begin)};
}

/* Returns the number of cells; more than COLUMNS_MAX: too many. */
static unsigned split(const char *line, const char *end, struct csv_cell cells[COLUMNS_MAX])
{
	unsigned count = 0;

	for (const char *p = line;; p++) {
		const char *stop = p;

		while (stop < end && *stop != ',' && *stop != ';')
			stop++;
		if (count == COLUMNS_MAX)
			return count + 1;
		cells[count++] = trimmed(p, stop);
		if (stop == end)
			return count;
		p = stop;
	}
}

static bool is(const struct csv_cell *c, const char *word)
{
	return c->length == strlen(word) && !strncasecmp(c->text, word, c->length);
}

/* The first line names the columns, which may be in any order, with other columns between them. */
static bool take_names(struct import *m, const struct csv_cell *cells, unsigned count)
{
	unsigned tags = 0, clocks = 0;

	for (unsigned i = 0; i < count; i++) {
		if (is(&cells[i], "tag")) {
			m->tag_column = i;
			tags++;
		} else if (is(&cells[i], "clock")) {
			m->clock_column = i;
			clocks++;
		}
	}
	return tags == 1 && clocks == 1;
}

static bool number_of(const struct csv_cell *c, uint64_t *value)
{
	bool hex = c->length > 2 && c->text[0] == '0' && (c->text[1] | 0x20) == 'x';
	unsigned base = hex ? 16 : 10;

	*value = 0;
	for (size_t i = hex ? 2 : 0; i < c->length; i++) {
		char ch = c->text[i];
		unsigned digit = ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
		                 : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10
		                 : ch >= 'A' && ch <= 'F' ? (unsigned)(ch - 'A') + 10
		                                          : 99;

		if (digit >= base || __builtin_mul_overflow(*value, (uint64_t)base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit, value))
			return false;
	}
	return c->length > 0;
}

static int csv_line(struct import *m, const char *line, const char *end, uint64_t number)
{
	struct csv_cell cells[COLUMNS_MAX];
	uint64_t tag, clock;
	unsigned count;

	if (number == 1 && end - line >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
		line += 3; /* a byte order mark */
	if (line == end || *line == '#' || !trimmed(line, end).length)
		return 0;
	count = split(line, end, cells);
	if (count > COLUMNS_MAX)
		return bad_line(m, number, "more than 64 columns");
	if (!m->columns) {
		m->columns = count;
		m->named = take_names(m, cells, count);
		if (m->named)
			return 0;
		m->clock_column = 0;
		m->tag_column = 1;
		if (count != 2)
			return bad_line(m, number, "not two columns");
	}
	if (count != m->columns)
		return bad_line(m, number, "another number of columns than in earlier lines");
	if (!number_of(&cells[m->clock_column], &clock))
		return bad_line(m, number,
		                "the clock is not a number (decimal, or hexadecimal as 0x1f)");
	if (!number_of(&cells[m->tag_column], &tag))
		return bad_line(m, number,
		                "the tag is not a number (decimal, or hexadecimal as 0x1f)");
	return event(m, tag, clock, "line", number);
}

/* Reads the complete lines of a buffer; at the end of the file also the last line. */
static int csv_lines(struct import *m, const char *text, size_t size, bool end, uint64_t *line,
                     size_t *used)
{
	int rc = 0;

	for (*used = 0; *used < size && !rc;) {
		const char *begin = text + *used;
		const char *stop = memchr(begin, '\n', size - *used);

		if (!stop && !end)
			break;
		rc = csv_line(m, begin, stop ? stop : text + size, ++*line);
		*used = stop ? (size_t)(stop + 1 - text) : size;
	}
	return rc;
}

static int import_csv(struct import *m, int fd, uint8_t *bytes)
{
	uint64_t line = 0;
	size_t have = 0, used;
	int more;

	do {
		int rc;

		more = fill(m, fd, bytes, READ_BYTES, &have);
		if (more < 0)
			return more;
		rc = csv_lines(m, (const char *)bytes, have, !more, &line, &used);
		if (rc)
			return rc;
		memmove(bytes, bytes + used, have - used);
		have -= used;
		if (have > LIMIT_DUMP_LINE_BYTES)
			return bad_line(m, line + 1, "more than 64 KB without an end: not a text");
	} while (more);
	return 0;
}

static int set_clock_bits(struct import *m, unsigned wanted, unsigned most)
{
	m->clock_bits = wanted ? wanted : most;
	if (m->clock_bits <= most)
		return 0;
	return error_set(m->err, EINVAL, "a clock of %u bits does not fit the field of %u bits",
	                 m->clock_bits, most);
}

static int import_open(struct import *m, int fd, const struct tag_dump_options *o)
{
	bool csv = o->layout && !strcmp(o->layout, "csv");
	uint8_t *bytes = NULL;
	int rc = csv ? 0 : read_layout(m, o->layout ? o->layout : "tag:16,clock:24");

	if (!rc)
		rc = set_clock_bits(m, o->clock_bits, csv ? 64 : m->clock.bytes * 8);
	if (rc)
		return rc;
	bytes = xmalloc(READ_BYTES);
	m->words = xmalloc(WORDS * sizeof(*m->words));
	rc = csv ? import_csv(m, fd, bytes) : import_records(m, fd, bytes);
	if (!rc)
		rc = flush(m);
	free(m->words);
	free(bytes);
	return rc;
}

int tag_dump_import(struct ctf_writer *w, uint32_t stream, const char *path,
                    const struct tag_dump_options *options, struct tag_dump_result *result,
                    struct error *err)
{
	int fd = input_file_open(path, err), rc;
	struct import m = {.w = w,
	                   .stream = stream,
	                   .path = input_file_name(path),
	                   .result = result,
	                   .err = err,
	                   .big = options->big_endian,
	                   .unchecked = options->clock_bits};

	*result = (struct tag_dump_result){0};
	if (fd < 0)
		return fd;
	rc = import_open(&m, fd, options);
	input_file_close(fd);
	return rc;
}
