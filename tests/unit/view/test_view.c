/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The views on a profile whose figures are known: view_fixture.h. */
#include "check.h"
#include "report_print.h"
#include "view_fixture.h"

#include "view/samples/flat_cell.h"
#include "view/samples/report.h"
#include "view/samples/document/report_document.h"
#include "view/symbolized/symbolized.h"

#include <errno.h>
#include <math.h>

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static const struct flat_row *row_named(const struct flat *f, const char *name)
{
	vec_each (row, &f->rows)
		if (!strcmp(flat_function(f, row), name))
			return row;
	return NULL;
}

/* One sequence: `hits` of every `cycle` samples fall in one row, the others in another. */
static void add_sequence(struct fixture *f, uint8_t event, uint32_t one, uint32_t other,
                         uint32_t count, uint32_t hits, uint32_t cycle)
{
	struct time_axis *axis = &f->profile->axis;
	uint32_t track = time_axis_track(axis, 0, 0, event);

	for (uint32_t i = 0; i < count; i++)
		time_axis_add(axis, track,
		              &(struct time_entry){.row = i * 7 % cycle < hits ? one : other,
		                                   .samples = 1});
}

static uint32_t counted_row(struct fixture *f, const char *name, uint8_t event, uint64_t samples)
{
	struct profile_row key = {.path = fixture_path(f, "main", name, NULL),
	                          .thread = f->sh,
	                          .region = REGION_NONE,
	                          .event = event};
	struct profile_row *row = profile_row_add(f->profile, &key);

	row->samples = samples;
	row->weight = samples * MS;
	return (uint32_t)(row - f->profile->rows.items);
}

/*
 * Half of the clock's samples, a fifth of the witness's: the program is in step, and a warning says
 * so.
 */
static void check_steps(enum attr_role role, bool expected)
{
	struct profile_event witness = {.role = ATTR_WITNESS, .period_ns = 17 * MS};
	uint32_t one, other, seen_one, seen_other;
	const struct flat_row *row;
	struct fixture f;
	struct report *r;
	bool told = false;

	fixture_init(&f, false);
	f.profile->rows.count = 0; /* of this test alone */
	id_table_done(&f.profile->row_index);
	f.profile->events.items[0].role = role;
	witness.name = xstrdup("cpu-clock/witness/");
	vec_push(&f.profile->events, witness);
	one = counted_row(&f, "one", 0, 5000);
	other = counted_row(&f, "other", 0, 5000);
	seen_one = counted_row(&f, "one", 2, 200);
	seen_other = counted_row(&f, "other", 2, 800);
	add_sequence(&f, 0, one, other, 10000, 5, 10);
	add_sequence(&f, 2, seen_one, seen_other, 1000, 2, 10);
	r = fixture_report(&f, &(struct report_request){.limit = -1, .reader.wide = true});
	row = row_named(r->functions, "one");
	CHECK_EQ(row->samples, 5000);
	CHECK_EQ(row->step_clock != row->step_witness, expected);
	CHECK(!expected || near(row->step_witness, 0.2));
	/* In step, the interval contains that of the second clock. */
	CHECK(expected ? row->low > 0.15 && row->low < 0.2 : row->low > 0.45 && row->low < 0.5);
	CHECK(row->high > 0.5 && row->high < 0.55);
	vec_each (text, &r->warnings)
		told |= strstr(*text, "one has 50.0 %") &&
		        strstr(*text, "20.0 % by a second clock");
	CHECK_EQ(told, expected);
	report_free(r);
	fixture_done(&f);
}

static void test_programs_in_step_are_reported(void)
{
	check_steps(ATTR_CLOCK, true);
}

static void test_an_event_that_is_no_clock_has_no_timer(void)
{
	check_steps(ATTR_COUNT, false);
}

static void test_flat_functions(void)
{
	struct fixture f;
	struct report *r;
	const struct flat_row *hot;
	double sum = 0;

	fixture_init(&f, false);
	r = fixture_report(&f, &(struct report_request){.limit = -1, .reader.wide = true});
	CHECK_EQ(r->functions->samples, 100);
	/* main, work, hot; vfs_read, handle_mm_fault, net_rx_action, the interrupt busy and idle,
	 * idle */
	CHECK_EQ(r->functions->rows.count, 9);
	hot = row_named(r->functions, "hot");
	CHECK_EQ(shown_first(r->functions), hot - r->functions->rows.items);
	CHECK_EQ(hot->samples, 40);
	CHECK(near(hot->share, 0.4));
	CHECK(hot->low > 0.2 && hot->low < 0.4);
	CHECK(hot->high > 0.4 && hot->high < 0.6);
	CHECK_EQ(flat_mode(r->functions, hot), VIEW_USER);
	CHECK_EQ(flat_mode(r->functions, row_named(r->functions, "net_rx_action")), VIEW_IRQ);
	vec_each (row, &r->functions->rows)
		sum += row->share;
	CHECK(near(sum, 1));
	report_free(r);
	fixture_done(&f);
}

static void test_flat_children_count_once_per_path(void)
{
	struct fixture f;
	struct report *r;
	struct report_request o = {
	        .limit = -1, .children = true, .keys = {FLAT_FUNCTION}, .key_count = 1};

	fixture_init(&f, false);
	/* A recursion: main twice in one path. */
	fixture_row(&f, fixture_path(&f, "main", "main", NULL), f.sh, 1, PROFILE_USER, 3);
	r = fixture_report(&f, &o);
	CHECK_EQ(row_named(r->rows, "main")->total_samples, 88);
	CHECK_EQ(row_named(r->rows, "main")->samples, 8);
	CHECK_EQ(row_named(r->rows, "work")->total_samples, 65);
	CHECK_EQ(row_named(r->rows, "work")->samples, 20);
	CHECK(near(row_named(r->rows, "main")->total_share, 88.0 / 103));
	CHECK_EQ(shown_first(r->rows), row_named(r->rows, "main") - r->rows->rows.items);
	report_free(r);
	fixture_done(&f);
}

static void test_flat_cut_sums_up_the_rest(void)
{
	struct fixture f;
	struct report *r;
	struct flat_rest rest;

	fixture_init(&f, false);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	rest = flat_cut(r->functions, 0.10, 0);
	CHECK_EQ(rest.shown, 4); /* 40, 20, 14, 10 */
	CHECK_EQ(rest.rows, 5);
	CHECK_EQ(rest.samples, 16);
	CHECK(near(rest.share, 0.16));
	rest = flat_cut(r->functions, 0, 2);
	CHECK_EQ(rest.shown, 2);
	CHECK_EQ(rest.samples, 40);
	rest = flat_cut(r->functions, 0, 0);
	CHECK_EQ(rest.rows, 0);
	report_free(r);
	fixture_done(&f);
}

static void test_flat_keys(void)
{
	struct fixture f;
	struct report *r;
	struct buf text = {0};
	struct report_request o = {.limit = -1, .keys = {FLAT_INSTANCE, FLAT_CPU}, .key_count = 2};
	enum flat_key key = FLAT_CPU;

	fixture_init(&f, false);
	r = fixture_report(&f, &o);
	CHECK_EQ(r->rows->rows.count, 5); /* the interrupts too */
	flat_cell(r->rows, &r->rows->rows.items[0], FLAT_INSTANCE, true, &text);
	CHECK_STR(buf_text(&text), "cc1#1 (11)");
	CHECK_EQ(r->rows->rows.items[0].samples, 55);
	buf_clear(&text);
	flat_cell(r->rows, &r->rows->rows.items[0], FLAT_IMAGE, true, &text);
	CHECK_STR(buf_text(&text), "prog");
	CHECK(flat_key_parse("dso", &key) && key == FLAT_IMAGE);
	CHECK(flat_key_parse("srcline", &key) && key == FLAT_LINE);
	CHECK(!flat_key_parse("colour", &key));
	buf_done(&text);
	report_free(r);
	fixture_done(&f);
}

static void test_cpus_that_were_not_recorded(void)
{
	struct report_request o = {.limit = -1, .keys = {FLAT_CPU}, .key_count = 1};
	struct buf text = {0};
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	fixture_row(&f, fixture_path(&f, "main", NULL), f.sh, PROFILE_CPU_UNKNOWN, PROFILE_USER,
	            900);
	r = fixture_report(&f, &o);
	flat_cell(r->rows, &r->rows->rows.items[shown_first(r->rows)], FLAT_CPU, true, &text);
	CHECK_STR(buf_text(&text), "[not recorded]");
	buf_clear(&text);
	flat_cell(r->rows, &r->rows->rows.items[0], FLAT_CPU, true, &text);
	CHECK_STR(buf_text(&text), "0");
	buf_done(&text);
	report_free(r);
	fixture_done(&f);
}

static void waits_are_counted_for_the_waiting_function(void)
{
	struct fixture f;
	struct report *r;
	const struct flat_row *row;
	struct flat_rest rest;

	fixture_init(&f, true);
	r = fixture_report(&f, &(struct report_request){.limit = -1, .tree = true});
	CHECK(r->off_cpu);
	row = row_named(r->functions, "futex_wait");
	CHECK(row && row->blocked_ns == 30 * MS);
	CHECK(!row_named(r->functions, "__schedule"));
	CHECK_EQ(r->functions->samples, 100);
	rest = flat_cut(r->functions, 0.10, 0);
	CHECK_EQ(rest.shown, 5); /* four by time, one by waiting */
	CHECK_EQ(rest.blocked_ns, 0);
	CHECK_EQ(r->processes->names.items[0].blocked_ns, 30 * MS);
	CHECK_EQ(tree_node_at(r->tree, TREE_ROOT)->blocked_ns, 30 * MS);
	report_free(r);
	fixture_done(&f);
}

/* Number and time of waits, with and without callers. */
static void test_switches_are_listed_with_their_waits(void)
{
	for (int children = 0; children < 2; children++) {
		struct fixture f;
		struct report *r;
		const struct flat_row *row;

		fixture_init(&f, true);
		r = fixture_report(&f, &(struct report_request){.limit = -1,
		                                                .event = "context-switches",
		                                                .children = children});
		row = row_named(r->functions, "futex_wait");
		CHECK(row && row->samples == 1 && row->blocked_ns == 30 * MS);
		CHECK(!row_named(r->functions, "__schedule"));
		row = row_named(r->functions, "main");
		CHECK(!children || (row && row->total_samples == 1 && row->blocked_ns == 30 * MS));
		report_free(r);
		fixture_done(&f);
	}
}

static void test_processes(void)
{
	struct fixture f;
	struct report *r;
	const struct process_line *line;

	fixture_init(&f, false);
	r = fixture_report(&f, &(struct report_request){.limit = -1, .reader.wide = true});
	CHECK_EQ(r->processes->names.count, 4);
	line = &r->processes->names.items[0];
	CHECK_STR(processes_name(r->processes, line), "cc1");
	CHECK_EQ(line->instances, 2);
	CHECK_EQ(line->user_samples, 60);
	CHECK_EQ(line->kernel_samples, 15);
	CHECK(near(line->share, 0.75));
	CHECK(line->low < 0.75 && line->high > 0.75);
	CHECK_EQ(r->processes->names.items[1].idle_samples, 15);
	CHECK_EQ(r->processes->instances.count, 5);
	vec_each (l, &r->processes->names) {
		const char *name = processes_name(r->processes, l);

		if (!strcmp(name, "sh")) {
			CHECK_EQ(l->user_samples, 5);
			CHECK_EQ(l->kernel_samples,
			         0); /* interrupts during it are not counted for it */
			CHECK_EQ(l->interrupt_samples, 5);
			CHECK(near(l->share, 0.05));
		}
		if (!strcmp(name, "[interrupts]"))
			CHECK_EQ(l->kernel_samples, 5);
	}
	report_free(r);
	fixture_done(&f);
}

static void test_process_tables(void)
{
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	r = fixture_report(&f,
	                   &(struct report_request){.limit = -1, .process_limits.all.share = 0.06});
	CHECK_EQ(r->tables.count, 1); /* sh has 5 %, swapper nothing but idle */
	CHECK_EQ(r->tables.items[0].user->samples, 60);
	CHECK_EQ(r->tables.items[0].kernel->samples, 15);
	CHECK(near(row_named(r->tables.items[0].user, "hot")->share, 40.0 / 60));
	CHECK_EQ(r->kernel->samples, 20);
	report_free(r);
	fixture_done(&f);
}

/* Writes how many samples the tables of the largest process have: user, kernel. */
static size_t tables_with(struct fixture *f, struct process_limits limits, uint64_t samples[2])
{
	struct report *r =
	        fixture_report(f, &(struct report_request){.limit = -1, .process_limits = limits});
	size_t count = r->tables.count;

	samples[0] = samples[1] = 0;
	if (count && r->tables.items[0].user)
		samples[0] = r->tables.items[0].user->samples;
	if (count && r->tables.items[0].kernel)
		samples[1] = r->tables.items[0].kernel->samples;
	report_free(r);
	return count;
}

#define PART_SHARE(x)                                                                              \
	{                                                                                          \
		.given = true, .share = (x)                                                        \
	}
#define PART_NS(x)                                                                                 \
	{                                                                                          \
		.given = true, .ns = (x)                                                           \
	}

/* The process has 75 of 100 samples: 60 in user code, 15 in the kernel, a millisecond each. */
static void test_process_limits_of_parts(void)
{
	struct fixture f;
	uint64_t n[2];

	fixture_init(&f, false);
	CHECK_EQ(tables_with(&f, (struct process_limits){.all = PART_NS(75 * MS)}, n), 1);
	CHECK(n[0] == 60 && n[1] == 15);
	CHECK_EQ(tables_with(&f, (struct process_limits){.all = PART_NS(75 * MS + 1)}, n), 0);
	/* A part has its own limit, the other one that of the process. */
	CHECK_EQ(tables_with(&f,
	                     (struct process_limits){.all = PART_SHARE(0.7),
	                                             .kernel = PART_NS(15 * MS + 1)},
	                     n),
	         1);
	CHECK(n[0] == 60 && n[1] == 0);
	CHECK_EQ(tables_with(&f,
	                     (struct process_limits){.all = PART_SHARE(0.9),
	                                             .kernel = PART_NS(15 * MS)},
	                     n),
	         1);
	CHECK(n[0] == 0 && n[1] == 15);
	CHECK_EQ(tables_with(&f,
	                     (struct process_limits){.all = PART_SHARE(0.9),
	                                             .user = PART_SHARE(0.61),
	                                             .kernel = PART_SHARE(0.16)},
	                     n),
	         0);
	CHECK_EQ(tables_with(&f,
	                     (struct process_limits){.user = PART_SHARE(0.6),
	                                             .kernel = PART_SHARE(0.16)},
	                     n),
	         1);
	CHECK(n[0] == 60 && n[1] == 0);
	fixture_done(&f);
}

static uint64_t selected(struct fixture *f, const struct filter *filter)
{
	struct report *r =
	        fixture_report(f, &(struct report_request){.limit = -1, .filter = *filter});
	uint64_t samples = r ? r->selection.samples : UINT64_MAX;

	report_free(r);
	return samples;
}

#define LIST(...)                                                                                  \
	{                                                                                          \
		(const char *const[]){__VA_ARGS__},                                                \
		        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                \
	}

static void test_filters(void)
{
	struct fixture f;
	struct report *r = NULL;
	struct error err = {0};
	struct report_request o = {.filter = {.cpu = LIST("x")}};

	fixture_init(&f, false);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("cc1")}), 75);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("cc")}), 0);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("sh", "swapper")}), 20);
	CHECK_EQ(selected(&f, &(struct filter){.pid = LIST("12")}), 20);
	CHECK_EQ(selected(&f, &(struct filter){.tid = LIST("10", "12")}), 25);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("[interrupts]")}), 5);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("sh", "[interrupts]")}), 10);
	CHECK_EQ(selected(&f, &(struct filter){.cpu = LIST("1-3")}), 45);
	CHECK_EQ(selected(&f, &(struct filter){.image = LIST("prog")}), 65);
	CHECK_EQ(selected(&f, &(struct filter){.image = LIST("/usr/bin/prog")}), 65);
	CHECK_EQ(selected(&f, &(struct filter){.image = LIST("[kernel]")}), 35);
	CHECK_EQ(selected(&f, &(struct filter){.function = LIST("hot", "work")}), 60);
	CHECK_EQ(selected(&f, &(struct filter){.no_idle = true}), 85);
	CHECK_EQ(selected(&f, &(struct filter){.comm = LIST("cc1"), .cpu = LIST("0")}), 55);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), -EINVAL);
	CHECK(strstr(err.text, "'x'"));
	o = (struct report_request){.event = "cycles"};
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), -ENOENT);
	CHECK(strstr(err.text, "cpu-clock, context-switches"));
	fixture_done(&f);
}

static void test_shares_of_filtered(void)
{
	struct fixture f;
	struct report_request o = {.limit = -1, .filter = {.comm = LIST("cc1")}};
	struct report *r;

	fixture_init(&f, false);
	r = fixture_report(&f, &o);
	CHECK(near(row_named(r->functions, "hot")->share, 0.40)); /* of all */
	report_free(r);
	o.filter.relative = true;
	r = fixture_report(&f, &o);
	CHECK(near(row_named(r->functions, "hot")->share, 40.0 / 75));
	report_free(r);
	o.filter.relative = false;
	o.filter.no_idle = true;
	r = fixture_report(&f, &o);
	CHECK(near(row_named(r->functions, "hot")->share, 40.0 / 85)); /* all except idle */
	report_free(r);
	fixture_done(&f);
}

/* The samples of a process in a table by `key`; for interrupts, the name is "[interrupts]". */
static uint64_t samples_by(struct fixture *f, enum flat_key key, const char *name)
{
	struct report_request o = {.limit = -1, .keys = {key, FLAT_FUNCTION}, .key_count = 2};
	struct report *r = fixture_report(f, &o);
	uint64_t samples = 0;
	struct buf text = {0};

	vec_each (row, &r->rows->rows) {
		buf_clear(&text);
		flat_cell(r->rows, row, key, true, &text);
		if (!strcmp(buf_text(&text), name))
			samples += row->samples;
	}
	buf_done(&text);
	report_free(r);
	return samples;
}

static uint64_t samples_of_owner(struct fixture *f, const char *name)
{
	struct report *r = fixture_report(f, &(struct report_request){.limit = -1});
	struct symbolized_profile n;
	uint64_t samples = 0;

	symbolized_profile_init(&n);
	named_of_samples(&n, r->view, &r->selection, NULL);
	vec_each (row, &n.rows)
		if (!strcmp(intern_text(&n.texts, n.owners.items[row->owner].process), name))
			samples += (uint64_t)row->values[0];
	symbolized_profile_done(&n);
	report_free(r);
	return samples;
}

static const struct tree_node *child(const struct view_tree *t, const struct tree_node *node,
                                     const char *name)
{
	for (uint32_t i = node ? node->first_child : ID_NONE; i != ID_NONE;
	     i = t->nodes.items[i].next)
		if (!strcmp(tree_name(t, i), name))
			return tree_node_at(t, i);
	return NULL;
}

static void test_tree(void)
{
	struct fixture f;
	struct report *r;
	const struct tree_node *all, *cc1, *main_node, *work;

	fixture_init(&f, false);
	r = fixture_report(&f, &(struct report_request){.limit = -1, .tree = true});
	all = tree_node_at(r->tree, TREE_ROOT);
	CHECK_EQ(all->samples, 100);
	cc1 = child(r->tree, all, "cc1");
	CHECK(cc1 && cc1->id == all->first_child);
	main_node = child(r->tree, cc1, "main");
	CHECK(main_node && main_node->samples == 75 && main_node->self_samples == 0);
	work = child(r->tree, main_node, "work");
	CHECK(work && work->samples == 65 && work->self_samples == 20);
	CHECK(work && near(work->share, 0.65));
	CHECK(child(r->tree, work, "hot") && child(r->tree, work, "asm_exc_page_fault"));
	CHECK(view_tree_shown(r->tree, work->id, 0.65) &&
	      !view_tree_shown(r->tree, work->id, 0.66));
	report_free(r);
	fixture_done(&f);
}

/* The rows have neither cgroups nor regions. */
static void test_facts_that_a_recording_lacks_are_refused(void)
{
	static const char *const word[] = {"/x"};
	struct report_request o = {.limit = -1, .keys = {FLAT_CGROUP}, .key_count = 1};
	struct report *r = NULL;
	struct error err = {0};
	struct fixture f;

	fixture_init(&f, false);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), -EINVAL);
	CHECK_STR(err.text,
	          "--sort cgroup needs the cgroup of each row, which this recording does not have; "
	          "'assay record --all-cgroups' records it");
	o.keys[0] = FLAT_REGION;
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), -EINVAL);
	o = (struct report_request){.limit = -1, .filter.cgroup = {word, 1}};
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), -EINVAL);
	CHECK(!r);
	fixture_done(&f);
}

/* An interrupt hit sh with 5 of its 10 samples. */
static void test_interrupts_are_counted_for_no_process(void)
{
	static const struct report_request whole = {.limit = -1, .tree = true};
	struct fixture f;
	struct report *r;
	const struct tree_node *all, *node;

	fixture_init(&f, false);
	CHECK_EQ(samples_by(&f, FLAT_PROCESS, "sh"), 5);
	CHECK_EQ(samples_by(&f, FLAT_INSTANCE, "sh#1 (10)"), 5);
	CHECK_EQ(samples_by(&f, FLAT_THREAD, "sh (10)"), 5);
	CHECK_EQ(samples_by(&f, FLAT_PROCESS, "[interrupts]"), 5);
	CHECK_EQ(samples_by(&f, FLAT_INSTANCE, "[interrupts]"), 5);
	CHECK_EQ(samples_by(&f, FLAT_THREAD, "[interrupts]"), 5);
	CHECK_EQ(samples_of_owner(&f, "sh"), 5);
	CHECK_EQ(samples_of_owner(&f, "[interrupts]"), 5);
	r = fixture_report(&f, &whole);
	all = tree_node_at(r->tree, TREE_ROOT);
	node = child(r->tree, all, "sh");
	CHECK(node && node->samples == 5);
	node = child(r->tree, all, "[interrupts]");
	CHECK(node && node->samples == 5 && child(r->tree, node, "main"));
	report_free(r);
	/* With a filter the process has the same figures, and the interrupts that hit it. */
	r = fixture_report(&f,
	                   &(struct report_request){.limit = -1, .filter = {.comm = LIST("sh")}});
	CHECK_EQ(r->processes->names.count, 1);
	CHECK_EQ(r->processes->names.items[0].user_samples, 5);
	CHECK_EQ(r->processes->names.items[0].interrupt_samples, 5);
	report_free(r);
	fixture_done(&f);
}

/* hot has 40 samples, handle_mm_fault 5; cc1 has 75, sh 5. */
static void test_a_limit_keeps_rows_that_a_filter_named(void)
{
	const struct document_reader reader = {0};
	const struct {
		struct report_request request;
		size_t shown, all;
	} cases[] = {
	        {{.keys = {FLAT_FUNCTION}, .filter = {.function = LIST("handle_mm_fault")}}, 1, 1},
	        {{.keys = {FLAT_PROCESS}, .filter = {.comm = LIST("sh")}}, 1, 1},
	        {{.keys = {FLAT_THREAD}, .filter = {.comm = LIST("sh", "cc1")}}, 3, 3},
	        {{.keys = {FLAT_CPU}, .filter = {.comm = LIST("sh")}}, 0, 1},
	        {{.keys = {FLAT_FUNCTION}, .filter = {.comm = LIST("sh")}}, 0, 1},
	        {{.keys = {FLAT_FUNCTION}, .filter = {.image = LIST("prog")}}, 0, 3},
	        {{.keys = {FLAT_IMAGE}, .filter = {.image = LIST("prog")}}, 1, 1},
	        {{.keys = {FLAT_FUNCTION}, .filter = {.function = LIST("hot", "work")}, .lines = 1},
	         1,
	         2},
	};
	struct fixture f;

	fixture_init(&f, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report_request q = cases[i].request;
		struct row_set *rows;
		struct report *r;

		q.limit = 0.9;
		q.key_count = 1;
		r = fixture_report(&f, &q);
		rows = flat_rows(r->rows, r, &reader);
		CHECK_EQ(rows->shown, cases[i].shown);
		CHECK_EQ(rows->order.count, cases[i].all);
		row_set_free(rows);
		report_free(r);
	}
	fixture_done(&f);
}

/* An interrupt switches a thread out: the wait belongs to the thread. */
static void test_waits_after_an_interrupt_belong_to_the_process(void)
{
	struct fixture f;
	struct report *r;

	fixture_init(&f, true);
	fixture_wait(&f,
	             fixture_path(&f, "main", "|", "asm_sysvec_apic_timer_interrupt",
	                          "irqentry_exit", "schedule", NULL),
	             f.sh, 7, 0);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	vec_each (l, &r->processes->names)
		CHECK_EQ(l->runnable_ns,
		         strcmp(processes_name(r->processes, l), "sh") ? 0 : 7 * MS);
	report_free(r);
	fixture_done(&f);
}

int main(void)
{
	RUN(test_facts_that_a_recording_lacks_are_refused);
	RUN(test_interrupts_are_counted_for_no_process);
	RUN(test_waits_after_an_interrupt_belong_to_the_process);
	RUN(test_a_limit_keeps_rows_that_a_filter_named);
	RUN(test_programs_in_step_are_reported);
	RUN(test_an_event_that_is_no_clock_has_no_timer);
	RUN(test_flat_functions);
	RUN(test_flat_children_count_once_per_path);
	RUN(test_flat_cut_sums_up_the_rest);
	RUN(test_flat_keys);
	RUN(test_cpus_that_were_not_recorded);
	RUN(waits_are_counted_for_the_waiting_function);
	RUN(test_switches_are_listed_with_their_waits);
	RUN(test_processes);
	RUN(test_process_tables);
	RUN(test_process_limits_of_parts);
	RUN(test_filters);
	RUN(test_shares_of_filtered);
	RUN(test_tree);
	return check_end();
}
