/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages: the call paths as they are stored, the layout of the data, and the page around it. */
#include "check.h"
#include "format/rules_file.h"
#include "output/html/page.h"
#include "output/html/page_blob.h"
#include "output/html/page_model.h"
#include "output/html/page_stacks.h"
#include "profile/profile.h"
#include "symbolized_fixture.h"
#include "view/document/grid.h"

#include <math.h>
#include <zlib.h>

static const char *text(const struct page_model *m, uint32_t id)
{
	return intern_text(&m->texts, id);
}

static const char *name_of(const struct page_model *m, uint32_t node)
{
	return text(m, m->functions.items[m->nodes.items[node].function].name);
}

/* "main>f>g" of a row. */
static void path_text(const struct page_model *m, uint32_t node, struct buf *out)
{
	if (!node)
		return;
	path_text(m, m->nodes.items[node].parent, out);
	buf_addf(out, "%s%s%s", out->size ? ">" : "", name_of(m, node),
	         m->nodes.items[node].inlined ? "+" : "");
}

/* The row of a path and pid; NULL: none. */
static const struct page_row *row_of(const struct page_model *m, const char *path, int32_t pid)
{
	const struct page_row *found = NULL;

	vec_each (row, &m->rows) {
		struct buf out = {0};

		path_text(m, row->node, &out);
		if (!strcmp(buf_text(&out), path) && m->owners.items[row->owner].pid == pid)
			found = row;
		buf_done(&out);
	}
	return found;
}

static void check_value(const struct page_model *m, const char *path, int32_t pid, unsigned value,
                        double want)
{
	const struct page_row *row = row_of(m, path, pid);

	CHECK(row);
	if (row)
		CHECK_EQ(row->values[value], want);
}

static void recursion_is_not_folded(void)
{
	struct named_fixture x;
	struct page_stacks s;
	struct page_model m;
	double net = 0;

	fixture_calls(&x);
	fixture_name(&x, 0);
	s = (struct page_stacks){.n = &x.n};
	page_model_init(&m, &s);
	CHECK_EQ(m.nodes.count, 11);
	CHECK_EQ(m.owners.count, 2);
	check_value(&m, "main>f>g>f>leaf", 7, NAMED_NET, 1000);
	check_value(&m, "main>rec>rec>rec", 7, NAMED_NET, 4);
	check_value(&m, "main>leaf", 7, NAMED_CALLS, 5);
	check_value(&m, "main", 8, NAMED_BLOCKED, 50);
	check_value(&m, "(outside)", 7, NAMED_NET, 100);
	for (uint32_t i = 1; i < m.nodes.count; i++)
		CHECK(m.nodes.items[i].parent < i);
	vec_each (row, &m.rows)
		net += row->values[NAMED_NET];
	CHECK_EQ(net, 1192);
	CHECK_STR(text(&m, m.functions.items[m.nodes.items[1].function].file), "");
	page_model_done(&m);
	fixture_end(&x);
}

static void add_rule(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

/* main calls a place of f with g inlined, at two addresses, and a function of the kernel. */
static void fill_inlined(struct symbolized_profile *n)
{
	struct named_function function = {.name = named_text(n, "main"), .image = 0};
	struct named_line lines[2];
	uint32_t main, owner, at[2], kernel;

	n->values[0] = (struct named_value){"samples", "count"};
	n->value_count = 1;
	vec_add(&n->images)->name = named_text(n, "/bin/prog");
	vec_add(&n->images)->name = named_text(n, "[kernel.kallsyms]");
	lines[0].function = named_function_id(n, &function);
	main = named_path_step(n, NAMED_ROOT, named_place_add(n, 0, 1, lines, 1));
	function.name = named_text(n, "g");
	lines[0].function = named_function_id(n, &function);
	function.name = named_text(n, "f</script>\x1b[31m\xff");
	lines[1].function = named_function_id(n, &function);
	at[0] = named_path_step(n, main, named_place_add(n, 0, 16, lines, 2));
	at[1] = named_path_step(n, main, named_place_add(n, 0, 32, lines, 2));
	function = (struct named_function){.name = named_text(n, "tcp_sendmsg"), .image = 1};
	lines[0].function = named_function_id(n, &function);
	kernel = named_path_step(n, at[0], named_place_add(n, 1, 1, lines, 1));
	owner = named_owner_id(n,
	                       &(struct named_owner){.process = named_text(n, "prog"), .pid = 7});
	named_row_of(n, at[0], owner)->values[0] = 1;
	named_row_of(n, at[1], owner)->values[0] = 2;
	named_row_of(n, kernel, owner)->values[0] = 4;
}

static void places_of_one_function_are_one_node(void)
{
	static const char rules[] = "net: tcp_*\n";
	struct group_rules *groups = group_rules_new();
	struct symbolized_profile n;
	struct page_stacks s = {.n = &n, .rules = groups};
	const struct page_function *kernel;
	struct page_model m;

	CHECK(!rules_file_parse(rules, strlen(rules), "rules", add_rule, groups, NULL));
	symbolized_profile_init(&n);
	fill_inlined(&n);
	page_model_init(&m, &s);
	CHECK_EQ(m.nodes.count, 5);
	CHECK_EQ(m.rows.count, 2);
	check_value(&m, "main>f</script>\\x1b[31m\\xff>g+", 7, 0, 3);
	check_value(&m, "main>f</script>\\x1b[31m\\xff>g+>tcp_sendmsg", 7, 0, 4);
	kernel = &m.functions.items[m.nodes.items[4].function];
	CHECK_EQ(kernel->kind, PAGE_KERNEL);
	CHECK_STR(text(&m, kernel->group), "net");
	CHECK_EQ(m.functions.items[m.nodes.items[1].function].kind, PAGE_USER);
	CHECK_STR(text(&m, m.functions.items[m.nodes.items[1].function].group), "[other]");
	CHECK(!m.calls);
	page_model_done(&m);
	symbolized_profile_done(&n);
	group_rules_free(groups);
}

/* Percentiles of two sets of calls cannot be combined; the longest call can. */
static void durations_of_joined_rows(void)
{
	struct symbolized_profile n;
	struct page_stacks s = {.n = &n};
	const struct page_row *row;
	struct page_model m;

	symbolized_profile_init(&n);
	fill_inlined(&n);
	for (int i = 0; i < 3; i++) {
		vec_push(&n.percentiles, (struct named_percentiles){10 + i, 20, 30, 5});
		vec_push(&n.ranges, (struct named_range){1, 100 + i, 0});
	}
	page_model_init(&m, &s);
	CHECK(m.calls);
	row = row_of(&m, "main>f</script>\\x1b[31m\\xff>g+", 7);
	CHECK(row && isnan(row->p50) && isnan(row->p99) && row->most == 101);
	row = row_of(&m, "main>f</script>\\x1b[31m\\xff>g+>tcp_sendmsg", 7);
	CHECK(row && row->p50 == 12 && row->p90 == 20 && row->p99 == 30 && row->most == 102);
	page_model_done(&m);
	symbolized_profile_done(&n);
}

/* Names that only the other rows have are left out. */
static void selected_rows_alone(void)
{
	const uint32_t rows[] = {1};
	struct symbolized_profile n;
	struct page_stacks s = {.n = &n, .rows = rows, .row_count = 1};
	struct page_model m;

	symbolized_profile_init(&n);
	fill_inlined(&n);
	page_model_init(&m, &s);
	CHECK_EQ(m.rows.count, 1);
	CHECK_EQ(m.rows.items[0].values[0], 2);
	CHECK_EQ(m.nodes.count, 4);
	CHECK_EQ(m.functions.count, 3);
	CHECK_EQ(m.images.count, 1);
	CHECK_EQ(intern_find(&m.texts, "tcp_sendmsg"), ID_NONE);
	page_model_done(&m);
	symbolized_profile_done(&n);
}

static void sorted_rows_keep_their_sources(void)
{
	const uint32_t place[] = {1, 0};
	struct symbolized_profile n;
	struct page_stacks s = {.n = &n};
	struct page_model m;

	symbolized_profile_init(&n);
	fill_inlined(&n);
	page_model_init(&m, &s);
	CHECK_EQ(m.row_of[0], 1);
	CHECK_EQ(m.row_of[2], 2);
	page_model_sort(&m, place);
	CHECK_EQ(m.rows.items[0].values[0], 4);
	CHECK_EQ(m.row_of[0], 2);
	CHECK_EQ(m.row_of[1], 2);
	CHECK_EQ(m.row_of[2], 1);
	page_model_done(&m);
	symbolized_profile_done(&n);
}

#define TICK_NS 1000000 /* of each CPU */
#define TICKS 64

/* Two CPUs, on which rows 0 and 1 are hit in turn; row 2 is of another event. */
static struct profile *timed_profile(struct symbolized_profile *n, uint32_t *row_of)
{
	struct recording *r = xcalloc(1, sizeof(*r));
	struct profile *p = profile_new();

	recording_init(r);
	r->first_sample_ns = 5 * TICK_NS;
	r->last_sample_ns = (5 + TICKS) * TICK_NS;
	r->cpus_online = 2;
	vec_push(&p->recordings, r);
	for (uint32_t i = 0; i < 3; i++) {
		vec_add(&p->rows);
		row_of[i] = i < 2 ? i : NAMED_NONE;
	}
	for (uint16_t cpu = 0; cpu < 2; cpu++) {
		uint32_t track = time_axis_track(&p->axis, 0, cpu, 0);

		for (uint64_t i = 0; i < TICKS; i++) {
			struct time_entry e = {(5 + i) * TICK_NS,
			                       i % 4 == 3 ? 0
			                       : i % 4    ? 1
			                                  : 2,
			                       1, TICK_NS};

			time_axis_add(&p->axis, track, &e);
		}
	}
	n->values[0] = (struct named_value){"samples", "count"};
	n->values[1] = (struct named_value){"cpu", "nanoseconds"};
	n->value_count = 2;
	named_row_of(n, named_path_step(n, NAMED_ROOT, named_place_word(n, "f")), 0)->values[0] =
	        TICKS / 2;
	named_row_of(n, named_path_step(n, NAMED_ROOT, named_place_word(n, "g")), 0)->values[0] =
	        TICKS;
	return p;
}

/* The numbers of a column of the samples. */
static size_t column_of(const struct page_blob *b, const char *key, uint64_t *numbers)
{
	const char *at = strstr(b->head.data, key);
	const uint8_t *bytes;
	unsigned begin = 0, size = 0;
	size_t count = 0;

	CHECK(at && sscanf(at + strlen(key), "{\"type\":\"varint\",\"at\":%u,\"count\":%u}", &begin,
	                   &size) == 2);
	bytes = (const uint8_t *)b->arrays.data + begin;
	for (unsigned i = 0, shift = 0; i < size; i++) {
		if (!shift)
			numbers[count] = 0;
		numbers[count] |= (uint64_t)(bytes[i] & 0x7f) << shift;
		shift += 7;
		if (!(bytes[i] & 0x80)) {
			count++;
			shift = 0;
		}
	}
	return count;
}

/* Writes the times with at most `most` entries, and checks their sums. Returns their number. */
static size_t check_times(size_t most)
{
	uint64_t samples[2 * TICKS], rows[2 * TICKS], cpus[2 * TICKS], sums[2] = {0};
	struct symbolized_profile n;
	uint32_t row_of[3];
	struct page_stacks s = {.n = &n, .row_of = row_of, .entries = most};
	struct page_blob b;
	struct profile *p;
	size_t count;

	symbolized_profile_init(&n);
	named_owner_id(&n, &(struct named_owner){.pid = 7});
	s.times = p = timed_profile(&n, row_of);
	page_blob_init(&b);
	json_object(&b.json);
	page_stacks_write(&b, "stacks", &s);
	json_end_object(&b.json);
	count = column_of(&b, "\"samples\":", samples);
	CHECK_EQ(column_of(&b, "\"row\":", rows), count);
	CHECK_EQ(column_of(&b, "\"cpu\":", cpus), count);
	for (size_t i = 0; i < count; i++) {
		CHECK(rows[i] < 2 && (cpus[i] == 1 || cpus[i] == 2) && !(samples[i] & 1));
		sums[rows[i] & 1] += samples[i] >> 1;
	}
	/* g has the first row, since it has more samples. */
	CHECK_EQ(sums[0], TICKS);
	CHECK_EQ(sums[1], TICKS / 2);
	CHECK(strstr(b.head.data, "\"duration_ns\":64"));
	CHECK(strstr(b.head.data, "\"period_ns\":1000000,"));
	page_blob_done(&b);
	symbolized_profile_done(&n);
	profile_free(p);
	return count;
}

static void samples_keep_their_order_and_sums(void)
{
	CHECK_EQ(check_times(0), 3 * TICKS / 2);
	CHECK_EQ(check_times(3 * TICKS / 2), 3 * TICKS / 2);
}

/* Two rows on two CPUs are four entries at least. */
static void too_many_samples_are_summed_up(void)
{
	size_t some = check_times(TICKS);

	CHECK(some <= TICKS && some >= 4);
	CHECK_EQ(check_times(4), 4);
	CHECK_EQ(check_times(1), 4);
}

/* The inflated data; the caller frees it. */
static char *inflated(const struct buf *data, size_t room, size_t *size)
{
	char *blob = xcalloc(1, room + 1);
	uLongf length = room;

	CHECK_EQ(uncompress((Bytef *)blob, &length, (const Bytef *)data->data, data->size), Z_OK);
	*size = length;
	return blob;
}

static void arrays_are_aligned_behind_the_head(void)
{
	const uint8_t bytes[] = {1, 2, 3};
	const double reals[] = {1.5, -2};
	struct buf packed = {0}, numbers = {0};
	uint32_t head[2];
	struct page_blob b;
	size_t size, base;
	char *blob;

	page_blob_init(&b);
	json_object(&b.json);
	page_blob_u8(&b, "bytes", bytes, 3);
	page_blob_f64(&b, "reals", reals, 2);
	page_varint(&numbers, 127);
	page_varint(&numbers, 128);
	page_varint(&numbers, UINT64_MAX);
	page_blob_varints(&b, "numbers", &numbers);
	json_end_object(&b.json);
	CHECK(!page_blob_pack(&b, &packed, NULL));
	blob = inflated(&packed, 4096, &size);
	memcpy(head, blob + 8, sizeof(head));
	base = (16 + head[0] + 7) / 8 * 8;
	CHECK(!memcmp(blob, "assaypg1", 8));
	CHECK_EQ(head[1], 0);
	CHECK_EQ(size, base + 8 + 16 + 1 + 2 + 10);
	CHECK(strstr(blob + 16, "\"bytes\":{\"type\":\"u8\",\"at\":0,\"count\":3}"));
	CHECK(strstr(blob + 16, "\"reals\":{\"type\":\"f64\",\"at\":8,\"count\":2}"));
	CHECK(strstr(blob + 16, "\"numbers\":{\"type\":\"varint\",\"at\":24,\"count\":13}"));
	CHECK(!memcmp(blob + base, bytes, 3));
	CHECK(!memcmp(blob + base + 8, reals, sizeof(reals)));
	CHECK(!memcmp(blob + base + 24, "\x7f\x80\x01", 3));
	free(blob);
	buf_done(&packed);
	buf_done(&numbers);
	page_blob_done(&b);
}

static void fill_document(struct document *d, size_t rows)
{
	static const struct grid_column columns[] = {{"name", &unit_text, false},
	                                             {"count", &unit_count, true}};
	struct grid *g = grid_new(columns, 2);

	document_heading(d, "A \x1b[1m heading");
	document_line(d, "file", "a.data");
	document_int(d, "secret", 1); /* for programs only */
	for (size_t i = 0; i < rows; i++) {
		grid_row(g, i ? ROW_ITEM : ROW_HOT);
		grid_add(g, cell_text("</script>"));
		grid_add(g, cell_int(1234));
	}
	document_grid(d, "Counts", "counts", g);
}

static char *data_of_document(size_t rows)
{
	struct document d;
	struct page page = {.title = "a\x1b.data", .kind = "status", .document = &d};
	struct buf data = {0};
	size_t size;
	char *blob;

	document_init(&d);
	fill_document(&d, rows);
	CHECK(!page_data(&page, &data, NULL));
	blob = inflated(&data, 1 << 20, &size);
	document_done(&d);
	buf_done(&data);
	return blob;
}

static void documents_are_for_readers(void)
{
	char *blob = data_of_document(2), *head = blob + 16;

	CHECK(strstr(head, "\"title\":\"a\\\\x1b.data\",\"kind\":\"status\""));
	CHECK(strstr(head, "\"title\":\"A \\\\x1b[1m heading\""));
	CHECK(strstr(head, "{\"label\":\"file\",\"text\":\"a.data\",\"verbatim\":false}"));
	CHECK(!strstr(head, "secret"));
	CHECK(strstr(head, "\"key\":\"counts\""));
	CHECK(strstr(head, "\"unit\":\"count\",\"left\":false,\"role\":\"key\",\"bar\":true"));
	CHECK(strstr(head, "\"rows\":2,\"row_kinds\":{\"type\":\"u8\""));
	CHECK(strstr(head, "\"rest\":null"));
	CHECK(strstr(head, "\"stacks\":null,\"before\":null,\"lanes\":null,\"waits\":null}"));
	free(blob);
}

static void long_tables_are_cut(void)
{
	char *blob = data_of_document(5003);

	CHECK(strstr(blob + 16, "\"rows\":5000,"));
	CHECK(strstr(blob + 16, "\"rest\":{\"label\":\"[3 more]\""));
	free(blob);
}

static void the_page_contains_its_data_once(void)
{
	struct document d;
	struct page page = {.title = "a.data", .kind = "status", .document = &d};
	struct buf shell = {0};
	struct spill out;
	char *place;

	document_init(&d);
	fill_document(&d, 1);
	spill_to(&out, -1, "memory");
	CHECK(!page_write(&page, &out, NULL));
	CHECK(!strstr(out.buf.data, "<!--assay-data-->"));
	place = strstr(out.buf.data, "<script type=\"application/octet-stream\" id=\"assay-data\" "
	                             "data-format=\"1\">");
	CHECK(place && !strstr(place + 9, "<script type="));
	page_shell("HERE", &shell);
	CHECK(place && (size_t)(place - out.buf.data) ==
	                       (size_t)(strstr(buf_text(&shell), "HERE") - shell.data));
	CHECK_STR(strstr(buf_text(&shell), "HERE") + 4,
	          place ? strstr(place, "</script>") + strlen("</script>") : "");
	document_done(&d);
	buf_done(&shell);
	buf_done(&out.buf);
	CHECK(!spill_close(&out, true, NULL));
}

static void add_wait(struct page_wait_lane *lane, uint64_t out_ns, uint64_t ns)
{
	vec_push(&lane->waits, (struct page_wait){.out_ns = out_ns, .blocked_ns = ns});
}

/* Waits of the kernel's threads are left out first, then the shortest ones; both are counted. */
static void the_longest_waits_are_kept(void)
{
	struct page_waits w;
	struct page_wait_lane user = {0}, kernel = {.flags = PAGE_LANE_KERNEL};

	page_waits_init(&w);
	add_wait(&user, 0, 5);
	add_wait(&user, 10, 3);
	add_wait(&user, 20, 3);
	add_wait(&user, 30, 9);
	add_wait(&kernel, 0, 1000);
	vec_push(&w.lanes, user);
	vec_push(&w.lanes, kernel);
	for (uint64_t i = 0; i < 5; i++)
		vec_push(&w.samples, (struct page_wait_sample){.time_ns = i});
	page_waits_limit(&w, 3, 2);
	CHECK(w.lanes.items[0].waits.count == 3 && !w.lanes.items[1].waits.count);
	CHECK(w.lanes.items[0].waits.items[1].out_ns == 10);
	CHECK(w.lanes.items[0].waits.items[2].out_ns == 30);
	CHECK(w.left == 1 && w.left_ns == 3 && w.left_longest_ns == 3 && w.left_kernel == 1);
	CHECK(w.samples.count == 2 && w.samples_of == 3);
	CHECK(w.samples.items[0].time_ns == 1 && w.samples.items[1].time_ns == 4);
	page_waits_done(&w);
}

int main(void)
{
	RUN(recursion_is_not_folded);
	RUN(places_of_one_function_are_one_node);
	RUN(durations_of_joined_rows);
	RUN(selected_rows_alone);
	RUN(sorted_rows_keep_their_sources);
	RUN(samples_keep_their_order_and_sums);
	RUN(too_many_samples_are_summed_up);
	RUN(arrays_are_aligned_behind_the_head);
	RUN(documents_are_for_readers);
	RUN(long_tables_are_cut);
	RUN(the_page_contains_its_data_once);
	RUN(the_longest_waits_are_kept);
	return check_end();
}
