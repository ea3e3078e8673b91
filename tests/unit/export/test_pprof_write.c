/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pprof format, unpacked and parsed by field: every value, name and reference is present. */
#include "check.h"
#include "symbolized_fixture.h"
#include "view_fixture.h"

#include "export/pprof_write.h"

#include <zlib.h>

struct field {
	unsigned number;
	uint64_t value; /* a number, or the size of */
	const unsigned char *bytes;
};

struct cursor {
	const unsigned char *at, *end;
};

static uint64_t varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		v |= (uint64_t)(*c->at & 0x7f) << shift;
		if (!(*c->at++ & 0x80))
			break;
	}
	return v;
}

static bool next(struct cursor *c, struct field *f)
{
	uint64_t key;

	if (c->at >= c->end)
		return false;
	key = varint(c);
	f->number = (unsigned)(key >> 3);
	f->value = varint(c);
	f->bytes = NULL;
	CHECK((key & 7) == 0 || (key & 7) == 2);
	if ((key & 7) == 2) {
		f->bytes = c->at;
		CHECK(f->value <= (uint64_t)(c->end - c->at));
		c->at += f->value;
	}
	return true;
}

static struct cursor inside(const struct field *f)
{
	return (struct cursor){f->bytes, f->bytes + f->value};
}

#define ITEMS 64

struct decoded {
	unsigned char *bytes;
	size_t size;
	char *strings[ITEMS * 2];
	size_t string_count, samples, types, locations, functions, mappings;
	int64_t sums[4];
	uint64_t name_of[ITEMS], lines_of[ITEMS], mapping_of[ITEMS], first_function[ITEMS];
	uint64_t default_type, type_name[4], type_unit[4], build_id, file, period;
	size_t longest, comments;
	char leaves[ITEMS][128]; /* by sample: "main;f", outermost first */
	int64_t values[ITEMS][4];
	uint64_t way[ITEMS][4000];
	size_t depth[ITEMS];
};

static void unpack(struct decoded *d, const struct buf *packed)
{
	z_stream z = {0};

	d->bytes = xmalloc(4u << 20);
	CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	z.next_in = (unsigned char *)packed->data;
	z.avail_in = (unsigned)packed->size;
	z.next_out = d->bytes;
	z.avail_out = 4u << 20;
	CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
	d->size = z.total_out;
	inflateEnd(&z);
}

static void take_sample(struct decoded *d, const struct field *sample)
{
	struct cursor c = inside(sample), items;
	size_t s = d->samples++ % ITEMS;
	struct field f;

	while (next(&c, &f)) {
		if (f.number > 2)
			continue;
		items = inside(&f);
		for (size_t i = 0; items.at < items.end; i++) {
			uint64_t v = varint(&items);

			if (f.number == 1 && i < 4000)
				d->way[s][d->depth[s]++] = v;
			if (f.number == 2 && i < 4)
				d->values[s][i] = (int64_t)v;
		}
	}
	for (size_t i = 0; i < 4; i++)
		d->sums[i] += d->values[s][i];
	d->longest = d->depth[s] > d->longest ? d->depth[s] : d->longest;
}

static void take_location(struct decoded *d, const struct field *location)
{
	struct cursor c = inside(location), line;
	struct field f, of;
	uint64_t id = 0;

	d->locations++;
	while (next(&c, &f)) {
		if (f.number == 1)
			id = f.value % ITEMS;
		if (f.number == 2)
			d->mapping_of[id] = f.value;
		if (f.number != 4)
			continue;
		line = inside(&f);
		d->lines_of[id]++;
		while (next(&line, &of))
			if (of.number == 1)
				d->first_function[id] = of.value;
	}
}

static void take(struct decoded *d, const struct field *f)
{
	struct cursor c = f->bytes ? inside(f) : (struct cursor){0};
	struct field in;
	uint64_t id = 0;

	switch (f->number) {
	case 1:
		while (next(&c, &in))
			*(in.number == 1 ? &d->type_name[d->types % 4]
			                 : &d->type_unit[d->types % 4]) = in.value;
		d->types++;
		break;
	case 2:
		take_sample(d, f);
		break;
	case 3:
		d->mappings++;
		while (next(&c, &in)) {
			d->build_id = in.number == 6 ? in.value : d->build_id;
			d->file = in.number == 5 ? in.value : d->file;
		}
		break;
	case 4:
		take_location(d, f);
		break;
	case 5:
		d->functions++;
		while (next(&c, &in)) {
			id = in.number == 1 ? in.value % ITEMS : id;
			if (in.number == 2)
				d->name_of[id] = in.value;
		}
		break;
	case 6:
		if (d->string_count < ITEMS * 2)
			d->strings[d->string_count++] = xstrndup((const char *)f->bytes, f->value);
		break;
	case 12:
		d->period = f->value;
		break;
	case 13:
		d->comments++;
		break;
	case 14:
		d->default_type = f->value;
		break;
	default:
		break;
	}
}

static struct decoded *decode(const struct symbolized_profile *n)
{
	struct decoded *d = xcalloc(1, sizeof(*d));
	struct spill out;
	struct cursor c;
	struct field f;

	spill_to(&out, -1, "memory");
	CHECK(!pprof_write(n, &out, NULL));
	unpack(d, &out.buf);
	c = (struct cursor){d->bytes, d->bytes + d->size};
	while (next(&c, &f))
		take(d, &f);
	buf_done(&out.buf);
	CHECK(!spill_close(&out, true, NULL));
	return d;
}

static const char *string(const struct decoded *d, uint64_t id)
{
	CHECK(id < d->string_count);
	return id < d->string_count ? d->strings[id] : "";
}

/* The values of the sample with that path; NULL: none. */
static const int64_t *sample(const struct decoded *d, const char *path)
{
	for (size_t s = 0; s < d->samples && s < ITEMS; s++) {
		struct buf text = {0};
		bool same;

		for (size_t i = d->depth[s]; i-- > 0;)
			buf_addf(&text, "%s%s", text.size ? ";" : "",
			         string(d, d->name_of[d->first_function[d->way[s][i] % ITEMS] %
			                              ITEMS]));
		same = !strcmp(buf_text(&text), path);
		buf_done(&text);
		if (same)
			return d->values[s];
	}
	return NULL;
}

static void decoded_free(struct decoded *d)
{
	for (size_t i = 0; i < d->string_count; i++)
		free(d->strings[i]);
	free(d->bytes);
	free(d);
}

static void counted_calls_are_all_there(void)
{
	struct named_fixture x;
	const int64_t *values;
	struct decoded *d;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	d = decode(&x.n);
	CHECK_EQ(d->types, 4);
	CHECK_STR(string(d, d->type_name[0]), "calls");
	CHECK_STR(string(d, d->type_unit[0]), "count");
	CHECK_STR(string(d, d->type_name[3]), "preempted");
	CHECK_STR(string(d, d->type_unit[3]), "nanoseconds");
	CHECK_STR(string(d, d->default_type), "net");
	CHECK_STR(string(d, 0), "");
	CHECK_EQ(d->samples, 11); /* main of each process by itself */
	CHECK_EQ(d->sums[0], 1 + 2 + 4 + 3 + 6 + 5 + 3 + 1);
	CHECK_EQ(d->sums[1], 1192);
	CHECK_EQ(d->sums[2], 50);
	values = sample(d, "main;f;g;f;leaf");
	CHECK(values && values[0] == 6 && values[1] == 1000);
	values = sample(d, "main;rec;rec;rec");
	CHECK(values && values[0] == 1 && values[1] == 4);
	CHECK_STR(string(d, d->file), "/bin/prog");
	CHECK_STR(string(d, d->build_id), "010203ab");
	CHECK_EQ(d->mappings, 1);
	decoded_free(d);
	fixture_end(&x);
}

static void negative_times_are_kept(void)
{
	struct named_fixture x;
	const int64_t *values;
	struct decoded *d;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "a", 1, 50);
	fixture_call(&x, process, path, "b", 4, -8);
	fixture_name(&x, NAMED_DEPTH_MAX);
	d = decode(&x.n);
	values = sample(d, "a;b");
	CHECK(values && values[1] == -8);
	CHECK_EQ(d->sums[1], 42);
	decoded_free(d);
	fixture_end(&x);
}

static void paths_are_as_deep_as_the_limit_and_no_value_is_lost(void)
{
	struct named_fixture x;
	struct decoded *d;
	uint32_t process, path = 0;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	for (int i = 0; i < 40; i++)
		path = fixture_call(&x, process, path, "f", 1, i == 20 ? 5 : 0);
	fixture_call(&x, process, path, "leaf", 1, 90);
	fixture_name(&x, 10);
	d = decode(&x.n);
	CHECK_EQ(d->longest, 12);
	CHECK_EQ(d->sums[0], 41);
	CHECK_EQ(d->sums[1], 95);
	decoded_free(d);
	fixture_end(&x);
}

/* The sampled fixture has 100 samples of a millisecond, and a wait of 30 ms. */
static void samples_have_their_weight_and_waits(void)
{
	static const struct filter all;
	struct selection selection;
	struct symbolized_profile n;
	const int64_t *values;
	struct decoded *d;
	struct fixture f;
	struct view *v;

	fixture_init(&f, true);
	v = view_new(f.profile, f.symbols);
	CHECK(!filter_select(v, &all, 0, &selection, NULL));
	symbolized_profile_init(&n);
	named_of_samples(&n, v, &selection, NULL);
	d = decode(&n);
	CHECK_EQ(d->types, 4);
	CHECK_STR(string(d, d->type_name[1]), "cpu");
	CHECK_STR(string(d, d->type_name[3]), "blocked");
	CHECK_STR(string(d, d->default_type), "cpu");
	CHECK_EQ(d->sums[0], 100);
	CHECK_EQ(d->sums[1], 100 * MS);
	CHECK_EQ(d->sums[2], 0);
	CHECK_EQ(d->sums[3], 30 * MS);
	CHECK_EQ(d->period, MS);
	values = sample(d, "main;work;hot");
	CHECK(values && values[0] == 40 && values[1] == 40 * MS);
	values = sample(d, "main;entry_SYSCALL_64_after_hwframe;vfs_read");
	CHECK(values && values[0] == 10);
	CHECK_EQ(d->mappings, 2);
	decoded_free(d);
	symbolized_profile_done(&n);
	selection_done(&selection);
	view_free(v);
	fixture_done(&f);
}

int main(void)
{
	RUN(counted_calls_are_all_there);
	RUN(negative_times_are_kept);
	RUN(paths_are_as_deep_as_the_limit_and_no_value_is_lost);
	RUN(samples_have_their_weight_and_waits);
	return check_end();
}
