/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading pprof's format: a written profile is read back unchanged, files of other producers are
 * interpreted correctly, and invalid ones are refused with file and byte.
 */
#include "check.h"
#include "base/limit.h"
#include "symbolized_fixture.h"
#include "view_fixture.h"

#include "format/file_kind.h"
#include "format/pprof/pprof_read.h"
#include "export/pprof_write.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

/* All of a model as text, one line for each row, sorted: equal texts are equal models. */

static void dump_place(const struct symbolized_profile *n, uint32_t id, struct buf *out)
{
	const struct named_place *p = &n->places.items[id];

	for (uint32_t i = p->count; i-- > 0;) {
		const struct named_line *line = &n->lines.items[p->first + i];
		const struct named_function *f = &n->functions.items[line->function];

		buf_addf(out, ";%s (%s:%u @%u)", intern_text(&n->texts, f->name),
		         intern_text(&n->texts, f->file), f->line, line->line);
	}
	buf_addf(out, "+%" PRIx64, p->address);
	if (p->image != NAMED_NONE) {
		const struct named_image *image = &n->images.items[p->image];
		char id_text[2 * BUILD_ID_MAX + 1];

		build_id_text(&image->build_id, id_text);
		buf_addf(out, " in %s %s", intern_text(&n->texts, image->name), id_text);
	}
}

static void dump_path(const struct symbolized_profile *n, uint32_t path, struct buf *out)
{
	if (path == NAMED_ROOT)
		return;
	dump_path(n, n->paths.items[path].parent, out);
	dump_place(n, n->paths.items[path].place, out);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void dump_row(const struct symbolized_profile *n, const struct named_row *row,
                     struct buf *out)
{
	const struct named_owner *o = &n->owners.items[row->owner];

	buf_addf(out, "%s %d %s %d", intern_text(&n->texts, o->process), o->pid,
	         intern_text(&n->texts, o->thread), o->tid);
	dump_path(n, row->path, out);
	for (unsigned i = 0; i < n->value_count; i++)
		buf_addf(out, " %" PRId64, row->values[i]);
}

static void dump(const struct symbolized_profile *n, struct buf *out)
{
	VEC(char *) lines = {0};

	for (unsigned i = 0; i < n->value_count; i++)
		buf_addf(out, "%s/%s%s ", n->values[i].name, n->values[i].unit,
		         i == n->main_value ? "*" : "");
	buf_addf(out, "period %" PRId64 " %s time %" PRId64 " %" PRId64 "\n", n->period,
	         n->period_of.name ? n->period_of.name : "", n->time_ns, n->duration_ns);
	vec_each (comment, &n->comments)
		buf_addf(out, "# %s\n", intern_text(&n->texts, *comment));
	vec_each (row, &n->rows) {
		struct buf line = {0};

		dump_row(n, row, &line);
		vec_push(&lines, xstrdup(buf_text(&line)));
		buf_done(&line);
	}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(char *), compare_texts);
	vec_each (line, &lines) {
		buf_addf(out, "%s\n", *line);
		free(*line);
	}
	vec_done(&lines);
}

static void written(const struct symbolized_profile *n, struct buf *out)
{
	struct spill spill;

	spill_to(&spill, -1, "memory");
	CHECK(!pprof_write(n, &spill, NULL));
	buf_add(out, spill.buf.data, spill.buf.size);
	buf_done(&spill.buf);
	CHECK(!spill_close(&spill, true, NULL));
}

static void comes_back(const struct symbolized_profile *n)
{
	struct buf file = {0}, want = {0}, got = {0}, left = {0};
	struct symbolized_profile again;
	struct error err = {0};

	symbolized_profile_init(&again);
	again.depth_max = n->depth_max;
	written(n, &file);
	CHECK(!pprof_read_memory(&again, "f", file.data, file.size, &left, &err));
	CHECK_STR(err.text, "");
	dump(n, &want);
	dump(&again, &got);
	CHECK_STR(buf_text(&got), buf_text(&want));
	CHECK_STR(buf_text(&left), "");
	CHECK(n->rows.count > 0);
	symbolized_profile_done(&again);
	buf_done(&file);
	buf_done(&want);
	buf_done(&got);
	buf_done(&left);
}

static void counted_calls_are_read_as_they_were_written(void)
{
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	named_comment(&x.n, "a word on it");
	comes_back(&x.n);
	fixture_end(&x);
}

static void times_below_nothing_come_back(void)
{
	struct named_fixture x;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "a", 1, 50);
	fixture_call(&x, process, path, "b", 4, -8);
	fixture_name(&x, NAMED_DEPTH_MAX);
	comes_back(&x.n);
	fixture_end(&x);
}

static void deep_paths_are_read_as_they_were_written(void)
{
	struct named_fixture x;
	uint32_t process, path = 0;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	for (int i = 0; i < 40; i++)
		path = fixture_call(&x, process, path, "f", 1, 5);
	fixture_call(&x, process, path, "leaf", 1, 90);
	fixture_name(&x, 10);
	comes_back(&x.n);
	fixture_end(&x);
}

static void samples_are_read_as_they_were_written(void)
{
	static const struct filter all;
	struct selection selection;
	struct symbolized_profile n;
	struct fixture f;
	struct view *v;

	fixture_init(&f, true);
	v = view_new(f.profile, f.symbols);
	CHECK(!filter_select(v, &all, 0, &selection, NULL));
	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	named_of_samples(&n, v, &selection, NULL);
	comes_back(&n);
	symbolized_profile_done(&n);
	selection_done(&selection);
	view_free(v);
	fixture_done(&f);
}

/* Files with given bytes. */

static void number(struct buf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		buf_putc(b, (char)(v | 0x80));
	buf_putc(b, (char)v);
}

static void field(struct buf *b, unsigned key, uint64_t v)
{
	number(b, key << 3);
	number(b, v);
}

static void bytes(struct buf *b, unsigned key, const void *from, size_t size)
{
	number(b, key << 3 | 2);
	number(b, size);
	buf_add(b, from, size);
}

/* A message of numbers: pairs of field and value; 0 ends it. */
static void message(struct buf *b, unsigned key, const uint64_t *pairs)
{
	struct buf inner = {0};

	for (; *pairs; pairs += 2)
		field(&inner, (unsigned)pairs[0], pairs[1]);
	bytes(b, key, buf_text(&inner), inner.size);
	buf_done(&inner);
}
#define MESSAGE(b, key, ...) message((b), (key), (const uint64_t[]){__VA_ARGS__, 0})

static void strings(struct buf *b, const char *const *texts)
{
	for (; *texts; texts++)
		bytes(b, 6, *texts, strlen(*texts));
}
#define STRINGS(b, ...) strings((b), (const char *const[]){__VA_ARGS__, NULL})

static int read_buf(struct symbolized_profile *n, const struct buf *b, struct buf *left,
                    struct error *err)
{
	symbolized_profile_init(n);
	return pprof_read_memory(n, "f.pb", buf_text(b), b->size, left, err);
}

/* As Go's runtime writes: values for samples and cpu, no default, no process; ids from 1. */
static void a_profile_of_go_is_understood(void)
{
	struct buf b = {0}, got = {0}, left = {0}, location = {0};
	struct symbolized_profile n;
	struct error err = {0};

	MESSAGE(&b, 1, 1, 1, 2, 2);
	MESSAGE(&b, 1, 1, 3, 2, 4);
	MESSAGE(&b, 2, 1, 1, 1, 2, 2, 3, 2, 30000000);
	MESSAGE(&b, 2, 1, 1, 1, 2, 2, 1, 2, 10000000); /* the same again: summed */
	MESSAGE(&b, 3, 1, 1, 2, 0x400000, 3, 0x500000, 4, 0x1000, 5, 5, 7, 1);
	field(&location, 1, 1);
	field(&location, 2, 1);
	field(&location, 3, 0x400010);
	MESSAGE(&location, 4, 1, 1, 2, 12);
	bytes(&b, 4, location.data, location.size);
	MESSAGE(&b, 4, 1, 2, 2, 1, 3, 0x400020); /* no line: not symbolized */
	MESSAGE(&b, 5, 1, 1, 2, 6, 3, 6, 4, 7, 5, 10);
	STRINGS(&b, "", "samples", "count", "cpu", "nanoseconds", "/tmp/go/work", "main.spin",
	        "work.go");
	field(&b, 9, 1700000000000000000u);
	field(&b, 10, 5000000000u);
	MESSAGE(&b, 11, 1, 3, 2, 4);
	field(&b, 12, 10000000);
	CHECK(!read_buf(&n, &b, &left, &err));
	CHECK_STR(err.text, "");
	dump(&n, &got);
	CHECK_STR(buf_text(&got),
	          "samples/count cpu/nanoseconds* period 10000000 cpu time 1700000000000000000 "
	          "5000000000\n"
	          "work 0  0;work+0x1020 (:0 @0)+1020 in /tmp/go/work ;main.spin (work.go:10 "
	          "@12)+1010 in /tmp/go/work  4 40000000\n");
	CHECK_STR(buf_text(&left), "");
	symbolized_profile_done(&n);
	buf_done(&b);
	buf_done(&location);
	buf_done(&got);
	buf_done(&left);
}

/*
 * Packed and single numbers, inlined functions, labels of other producers, of a thread, no mapping.
 */
static void other_producers_are_understood(void)
{
	struct buf b = {0}, sample = {0}, got = {0}, left = {0}, location = {0};
	struct symbolized_profile n;
	struct error err = {0};

	STRINGS(&b, "", "wall", "ms", "outer", "inl\nined", "comm", "nginx", "thread_name", "w1",
	        "tid", "4711", "color", "red", "wall");
	MESSAGE(&b, 1, 1, 1, 2, 2);
	bytes(&sample, 1, "\x09", 1);
	bytes(&sample, 2, "\x96\x01", 2);
	MESSAGE(&sample, 3, 1, 5, 2, 6);
	MESSAGE(&sample, 3, 1, 7, 2, 8);
	MESSAGE(&sample, 3, 1, 9, 2, 10); /* a number as a text */
	MESSAGE(&sample, 3, 1, 11, 2, 12);
	bytes(&b, 2, sample.data, sample.size);
	field(&location, 1, 9);
	MESSAGE(&location, 4, 1, 77, 2, 5);
	MESSAGE(&location, 4, 1, 3, 2, 6);
	bytes(&b, 4, location.data, location.size);
	MESSAGE(&b, 5, 1, 77, 2, 4);
	MESSAGE(&b, 5, 1, 3, 3, 3); /* only a system name */
	field(&b, 13, 12);
	field(&b, 14, 13);
	field(&b, 15, 1);
	field(&b, 99, 1); /* of a later version */
	CHECK(!read_buf(&n, &b, &left, &err));
	CHECK_STR(err.text, "");
	dump(&n, &got);
	CHECK_STR(buf_text(&got), "wall/ms* period 0  time 0 0\n# red\nnginx 0 w1 4711;outer (:0 "
	                          "@6);inl\\nined (:0 @5)+0 150\n");
	CHECK_STR(buf_text(&left), "1 sample has labels besides process, thread, pid and "
	                           "tid: these are omitted\n");
	symbolized_profile_done(&n);
	buf_done(&b);
	buf_done(&sample);
	buf_done(&location);
	buf_done(&got);
	buf_done(&left);
}

static void more_values_than_are_kept_are_reported(void)
{
	struct buf b = {0}, got = {0}, left = {0};
	struct symbolized_profile n;

	STRINGS(&b, "", "a", "b", "c", "d", "e", "f");
	for (uint64_t i = 1; i <= 6; i++)
		MESSAGE(&b, 1, 1, i);
	MESSAGE(&b, 2, 2, 10, 2, 20, 2, 30, 2, 40, 2, 50, 2, 60);
	field(&b, 14, 5); /* e is the main value */
	CHECK(!read_buf(&n, &b, &left, NULL));
	dump(&n, &got);
	CHECK_STR(buf_text(&got), "a/ b/ c/ e/* period 0  time 0 0\n 0  0 10 20 30 50\n");
	CHECK_STR(buf_text(&left), "of 6 values of each sample the first 3 and the main one "
	                           "are read; omitted: d, f\n");
	symbolized_profile_done(&n);
	buf_done(&b);
	buf_done(&got);
	buf_done(&left);
}

/* Each is refused with -EBADMSG, the file, a byte, and these words. */
static void refused(const struct buf *b, const char *byte, const char *words)
{
	struct symbolized_profile n;
	struct error err = {0};

	CHECK_EQ(read_buf(&n, b, NULL, &err), -EBADMSG);
	CHECK(strstr(err.text, "f.pb"));
	CHECK(strstr(err.text, "Copy or record it again"));
	CHECK(strstr(err.text, byte));
	CHECK(strstr(err.text, words));
	if (!strstr(err.text, words) || !strstr(err.text, byte))
		printf("# %s\n", err.text);
	symbolized_profile_done(&n);
}

static void begin(struct buf *b)
{
	buf_clear(b);
	MESSAGE(b, 1, 1, 1, 2, 1);
	STRINGS(b, "", "x");
}

static void bad_files_are_refused_with_file_and_byte(void)
{
	struct buf b = {0};

	refused(&b, "f.pb", "empty");
	begin(&b);
	buf_add(&b, "\x12\x30", 2);
	refused(&b, "byte 11 of 13", "no field begins here");
	begin(&b);
	MESSAGE(&b, 2, 1, 5, 2, 1);
	refused(&b, "byte 11 of 17", "location 5 is not in the file");
	begin(&b);
	MESSAGE(&b, 2, 2, 1, 2, 1);
	refused(&b, "byte 11", "2 values");
	begin(&b);
	MESSAGE(&b, 4, 1, 5, 2, 8);
	MESSAGE(&b, 2, 1, 5, 2, 1);
	refused(&b, "byte 13", "mapping 8 is not in the file");
	begin(&b);
	MESSAGE(&b, 4, 1, 5);
	MESSAGE(&b, 4, 1, 5);
	refused(&b, "byte 15", "location 5 is repeated");
	begin(&b);
	MESSAGE(&b, 5, 2, 1);
	refused(&b, "byte 11", "a function has no id");
	begin(&b);
	MESSAGE(&b, 1, 1, 1000);
	refused(&b, "byte", "string 1000 of 2");
	begin(&b);
	field(&b, 2, 1);
	refused(&b, "byte 11", "of another kind");
	buf_clear(&b);
	STRINGS(&b, "", "x");
	refused(&b, "byte 5 of 5", "without a type of samples");
	buf_done(&b);
}

static void damaged_streams_are_refused(void)
{
	struct buf b = {0}, cut = {0};
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	written(&x.n, &b);
	buf_add(&cut, b.data, b.size - 20);
	refused(&cut, "byte", "cut short");
	b.data[b.size / 2] ^= 0x55;
	b.data[b.size / 2 + 1] ^= 0x55;
	refused(&b, "byte", "damaged");
	buf_done(&b);
	buf_done(&cut);
	fixture_end(&x);
}

/* Half a gigabyte of zeros in half a megabyte. */
static void files_that_unpack_to_too_much_are_refused(void)
{
	unsigned char *zeros = xcalloc(1, 1 << 20), *packed = xmalloc(1 << 21);
	z_stream z = {.next_out = packed, .avail_out = 1 << 21};
	struct symbolized_profile n;
	struct error err = {0};

	CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	for (int i = 0; i < 100; i++) {
		z.next_in = zeros;
		z.avail_in = 1 << 20;
		CHECK(deflate(&z, i == 99 ? Z_FINISH : Z_NO_FLUSH) >= 0);
	}
	symbolized_profile_init(&n);
	CHECK_EQ(pprof_read_memory(&n, "f.pb", packed, z.total_out, NULL, &err), -EFBIG);
	CHECK(strstr(err.text, "256 times its size"));
	symbolized_profile_done(&n);
	deflateEnd(&z);
	free(zeros);
	free(packed);
}

/* A place with 40000 functions, used a thousand times, in 160 kB. */
static void memory_for_few_bytes_is_bounded(void)
{
	struct buf b = {0}, sample = {0}, location = {0};
	struct symbolized_profile n;
	struct error err = {0};

	begin(&b);
	MESSAGE(&b, 5, 1, 1, 2, 1);
	field(&location, 1, 1);
	for (int i = 0; i < 40000; i++)
		MESSAGE(&location, 4, 1, 1);
	bytes(&b, 4, location.data, location.size);
	for (int i = 0; i < 1000; i++)
		field(&sample, 1, 1);
	field(&sample, 2, 5);
	bytes(&b, 2, sample.data, sample.size);
	CHECK_EQ(read_buf(&n, &b, NULL, &err), -EFBIG);
	CHECK(strstr(err.text, "frames of call paths"));
	symbolized_profile_done(&n);
	buf_done(&b);
	buf_done(&sample);
	buf_done(&location);
}

/* 70,000 samples of one path with 500 functions: its frames count once; the limit is 2^25. */
static void samples_of_one_path_count_its_frames_once(void)
{
	enum { SAMPLES = 70000, FUNCTIONS = 500 };
	struct buf b = {0}, location = {0};
	struct symbolized_profile n;
	struct error err = {0};

	CHECK((size_t)SAMPLES * FUNCTIONS > LIMIT_PROFILE_FRAMES);
	begin(&b);
	MESSAGE(&b, 5, 1, 1, 2, 1);
	field(&location, 1, 1);
	for (int i = 0; i < FUNCTIONS; i++)
		MESSAGE(&location, 4, 1, 1);
	bytes(&b, 4, location.data, location.size);
	for (int i = 0; i < SAMPLES; i++)
		MESSAGE(&b, 2, 1, 1, 2, 3);
	CHECK_EQ(read_buf(&n, &b, NULL, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(n.rows.count, 1);
	CHECK_EQ(n.rows.items[0].values[0], (int64_t)SAMPLES * 3);
	symbolized_profile_done(&n);
	buf_done(&b);
	buf_done(&location);
}

static bool recognised(const void *content, size_t size)
{
	struct file_head head = {.whole = true};
	bool is;

	buf_add(&head.bytes, content, size);
	is = file_kind_of_head(&head) == FILE_PPROF;
	file_head_done(&head);
	return is;
}

static void profiles_are_distinguished_from_other_files(void)
{
	static const char *const others[] = {"PERFILE2\x68\0\0\0",
	                                     "SQLite format 3",
	                                     "main;f 12\n",
	                                     "{\"a\": 1}",
	                                     "\n\nhello there\n",
	                                     "",
	                                     "\177ELF",
	                                     "# a comment\n",
	                                     "\x1f\x8b\x08 no gzip"};
	struct named_fixture x;
	struct buf b = {0};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK(!recognised(others[i], strlen(others[i])));
	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	written(&x.n, &b);
	CHECK(recognised(b.data, b.size));
	fixture_end(&x);
	begin(&b);
	CHECK(recognised(b.data, b.size));
	CHECK(!recognised(b.data, b.size - 1)); /* whole, and cut off */
	buf_done(&b);
}

int main(void)
{
	RUN(counted_calls_are_read_as_they_were_written);
	RUN(times_below_nothing_come_back);
	RUN(deep_paths_are_read_as_they_were_written);
	RUN(samples_are_read_as_they_were_written);
	RUN(a_profile_of_go_is_understood);
	RUN(other_producers_are_understood);
	RUN(more_values_than_are_kept_are_reported);
	RUN(bad_files_are_refused_with_file_and_byte);
	RUN(damaged_streams_are_refused);
	RUN(files_that_unpack_to_too_much_are_refused);
	RUN(memory_for_few_bytes_is_bounded);
	RUN(samples_of_one_path_count_its_frames_once);
	RUN(profiles_are_distinguished_from_other_files);
	return check_end();
}
