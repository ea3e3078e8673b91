/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/buf.h"
#include "image/jit_code.h"
#include "sql/tables/columns.h"
#include "store_file_fixture.h"

static void sums_are_those_of_the_windows(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "cc");
	world_sample(&w, 10, 10, 16, 32, 7);
	world_sample(&w, 10, 10, 16, 48, 5);
	world_sample(&w, 1, 1, 16, 32, 1);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	world_sample(&w, 10, 10, 16, 32, 20);
	world_ran(&w, 10, 500, 1);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	/* Other processes read it while it is written. */
	CHECK_STR(ask("SELECT w.id, w.samples, sum(s.samples), sum(s.weight), count(*) FROM "
	              "windows w "
	              "JOIN samples s ON s.window = w.id GROUP BY w.id"),
	          "1|13|13|13000000|3;2|20|20|20000000|1");
	CHECK_STR(ask("SELECT p.name, sum(s.samples) FROM samples s JOIN processes p ON p.id = "
	              "s.process GROUP BY p.id ORDER BY 2"),
	          "init|1;cc|32");
	CHECK_STR(ask("SELECT name, oncpu_ns, blocked_ns FROM processes WHERE oncpu_ns"),
	          "cc|1500|11");
	CHECK_STR(ask("SELECT sum(wall_ns), sum(busy_ns), sum(has_steal) FROM ledger"),
	          "20000000000|33000000|2");
	CHECK_STR(ask("SELECT used_max, ring_bytes FROM buffers"), "77|4096;77|4096");
	CHECK_STR(ask("SELECT count(*), max(depth) FROM stacks"), "3|2");
	CHECK_STR(ask("SELECT path, name, kind, build_id FROM images"),
	          "/usr/bin/prog|prog|file|1111111111111111111111111111111111111111");
	end(&w, s);
	CHECK_STR(
	        ask("SELECT h.name, s.ended, s.event, s.frequency_hz FROM sessions s JOIN hosts h "
	            "ON h.id = s.host"),
	        "here|stopped|cpu-clock|97");
	CHECK_STR(ask("SELECT machine_wide, wall_offset_ns FROM session"), "1|1700000000000000000");
}

static void every_instance_has_a_row_and_its_number(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	for (int round = 0; round < 3; round++) {
		/* The same pids are reused, and none was sampled. */
		for (int32_t pid = 10; pid < 60; pid++) {
			world_fork(&w, 1, pid, pid);
			world_name(&w, pid, pid, pid % 2 ? "odd" : "even", true);
			world_exit(&w, pid, pid);
		}
		CHECK_EQ(world_window(&w, s, (uint64_t)round, &err), 0);
	}
	end(&w, s);
	CHECK_STR(ask("SELECT name, count(*), count(DISTINCT instance), min(instance), "
	              "max(instance), "
	              "count(end_ns) FROM processes WHERE name <> 'init' GROUP BY name"),
	          "even|75|75|1|75|75;odd|75|75|1|75|75");
	/* Each was forked, as an instance of its parent's program. */
	CHECK_STR(ask("SELECT count(*), max(instance), count(parent) FROM processes WHERE name = "
	              "'init'"),
	          "151|151|150");
	CHECK_STR(
	        ask("SELECT sum(process_last - process_first + 1), max(process_last) FROM window"),
	        "301|301");
	/* In the order in which they came. */
	CHECK_STR(ask("SELECT count(*) FROM processes a JOIN processes b ON a.name = b.name AND "
	              "a.instance < b.instance AND a.start_ns > b.start_ns"),
	          "0");
	CHECK_STR(ask("SELECT count(*), count(DISTINCT process) FROM threads"), "301|301");
}

static void living_processes_keep_row_and_number(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct profile *old;

	run_one(&w, 10, "daemon");
	run_one(&w, 11, "daemon");
	world_sample(&w, 11, 11, 16, 32, 1);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	/* Exited processes are removed: ids start again. */
	world_exit(&w, 10, 10);
	old = w.p;
	world_images(&w, UINT64_C(0xffffffff81000000));
	process_table_free(w.p->processes);
	CHECK_EQ(world_window(&(struct world){.p = old}, s, 1, &err), 0);
	w.p->processes = process_table_carry(old->processes, &old->images, &w.p->images);
	profile_free(old);
	run_one(&w, 12, "daemon");
	world_sample(&w, 11, 11, 16, 32, 2);
	world_sample(&w, 12, 12, 16, 32, 4);
	world_exit(&w, 11, 11);
	CHECK_EQ(world_window(&w, s, 2, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT p.pid, p.instance, p.end_ns IS NOT NULL, (SELECT sum(samples) FROM "
	              "samples s WHERE s.process = p.id) FROM processes p WHERE name = 'daemon'"),
	          "10|1|1|-;11|2|1|3;12|3|0|4");
}

static void a_late_name_gets_its_number_when_it_comes(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	world_fork(&w, 1, 10, 10);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK_STR(ask("SELECT name, instance FROM processes WHERE pid = 10"), "init|2");
	world_name(&w, 10, 10, "worker", false);
	world_fork(&w, 1, 11, 11);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	/* No number of the other name is skipped. */
	CHECK_STR(ask("SELECT name, instance FROM processes ORDER BY id"),
	          "init|1;worker|1;init|2");
}

static void threads_have_their_names(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "java");
	world_fork(&w, 10, 10, 12);
	world_name(&w, 10, 12, "gc", false);
	world_sample(&w, 10, 12, 16, 32, 3);
	world_sample(&w, 10, 10, 16, 32, 2);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	world_exit(&w, 10, 12);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT t.tid, t.name, t.end_ns IS NULL, t.start_ns >= p.start_ns, "
	              "sum(s.samples) FROM threads t JOIN processes p ON p.id = t.process JOIN "
	              "samples s ON s.thread = t.id WHERE p.name = 'java' GROUP BY t.id"),
	          "10|java|1|1|2;12|gc|0|1|3");
}

static void places_are_the_same_after_a_reboot(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	uint32_t module = world_image(&w, IMAGE_MODULE, "[ext4]", 0x44, 0xffffffffc0000000);

	world_sample_at(&w, 1, w.kernel, 0xffffffff81000123, true, 1);
	world_sample_at(&w, 1, module, 0x77, true, 1);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	world_init(&w, "here");
	profile_free(w.p);
	world_images(&w, UINT64_C(0xffffffff9f000000));
	module = world_image(&w, IMAGE_MODULE, "[ext4]", 0x44, 0xffffffffc0abc000);
	s = open_store(&err);
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + 50 * WORLD_WINDOW_NS, &err), 0);
	world_name(&w, 1, 1, "init", false);
	world_sample_at(&w, 1, w.kernel, 0xffffffff9f000123, true, 2);
	world_sample_at(&w, 1, module, 0x77, true, 2);
	CHECK_EQ(world_window(&w, s, 50, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT i.kind, f.offset, sum(s.samples), count(*) FROM samples s JOIN "
	              "stacks k "
	              "ON k.id = s.stack JOIN frames f ON f.id = k.frame JOIN images i ON i.id = "
	              "f.image GROUP BY f.id"),
	          "kernel|291|3|2;module|119|3|2");
	/* A process of both measurements is a new instance. */
	CHECK_STR(ask("SELECT instance, start_ns FROM processes"), "1|-;2|-");
}

static void memory_without_a_file_is_one_place(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	uint32_t mine = world_image(&w, IMAGE_ANON, "//anon", 0, 7);
	uint32_t yours = world_image(&w, IMAGE_ANON, "//anon", 0, 8);

	world_sample_at(&w, 1, mine, 0x7f0000000000, false, 2);
	world_sample_at(&w, 1, yours, 0x7e0000001000, false, 3);
	world_sample_at(&w, 1, IMAGE_ID_UNKNOWN, 0xdead, false, 4);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT i.kind, f.offset, s.samples FROM samples s JOIN stacks k ON k.id = "
	              "s.stack JOIN frames f ON f.id = k.frame JOIN images i ON i.id = f.image"),
	          "anon|0|5;unknown|0|4");
}

struct namer {
	int calls;
	size_t frames;
	bool knows;
};

static void name_frames(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                        const char **names)
{
	struct namer *n = ctx;

	n->calls++;
	n->frames += count;
	for (size_t i = 0; i < count; i++)
		if (n->knows || p->frames.items[frames[i]].frame.offset < 32)
			names[i] = p->frames.items[frames[i]].frame.offset < 32 ? "main" : "work";
}

static void names_are_asked_for_once_a_window(void)
{
	struct namer n = {0};
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	of_sqlite(s)->options.name = name_frames;
	of_sqlite(s)->options.name_ctx = &n;
	world_sample(&w, 1, 1, 16, 32, 1);
	world_sample(&w, 1, 1, 16, 48, 1);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK_EQ(n.calls, 1);
	CHECK_EQ(n.frames, 3);
	CHECK_STR(ask("SELECT f.offset, n.name FROM frames f LEFT JOIN functions n ON n.id = "
	              "f.function ORDER BY 1"),
	          "16|main;32|-;48|-");
	/* The name is known later: it is requested again after some time. */
	n.knows = true;
	for (uint64_t i = 1; i < 10; i++) {
		world_sample(&w, 1, 1, 16, 32, 1);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
	}
	CHECK_EQ(n.calls, 2);
	CHECK_EQ(n.frames, 4);
	end(&w, s);
	CHECK_STR(ask("SELECT f.offset, n.name FROM frames f LEFT JOIN functions n ON n.id = "
	              "f.function ORDER BY 1"),
	          "16|main;32|work;48|-");
}

static void an_unused_name_is_deleted(void)
{
	struct namer n = {0};
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	of_sqlite(s)->options.name = name_frames;
	of_sqlite(s)->options.name_ctx = &n;
	for (uint64_t i = 0; i < 20; i++) {
		/* As with a new measurement each time: only the file has state. */
		store_forget(of_sqlite(s));
		world_sample_at(&w, 1, w.program, 64, false, 1);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
	}
	CHECK_EQ(n.frames, 4);
	end(&w, s);
	CHECK_STR(ask("SELECT count(*), sum(function IS NULL), max(tries) FROM frame"), "1|1|4");
}

static void dictionaries_are_refilled_from_the_file(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	for (uint64_t i = 0; i < 6; i++) {
		run_one(&w, 10 + (int32_t)i, "cc");
		world_sample(&w, 1, 1, 16, 32, 1);
		world_sample(&w, 1, 1, 16, 48 + i / 3, 1);
		if (i % 2)
			store_forget(of_sqlite(s));
		CHECK_EQ(world_window(&w, s, i, &err), 0);
	}
	end(&w, s);
	CHECK_STR(
	        ask("SELECT (SELECT count(*) FROM stacks), (SELECT count(*) FROM frames), (SELECT "
	            "count(*) FROM images), (SELECT count(*) FROM name WHERE text = 'cc')"),
	        "4|4|1|1");
	CHECK_STR(
	        ask("SELECT group_concat(instance) FROM (SELECT instance FROM processes WHERE name "
	            "= 'cc' ORDER BY id)"),
	        "1,2,3,4,5,6");
	CHECK_STR(ask("SELECT stack, sum(samples) FROM samples GROUP BY stack"), "2|6;3|3;4|3");
}

static uint32_t jit_image(struct world *w, uint64_t process, uint64_t address, uint32_t *entry)
{
	struct jit_entry e = {.address = address, .size = 64, .name = "lazy:app.js"};
	uint32_t id = world_image(w, IMAGE_JIT, "[jit] node", 0, process);
	struct jit_code *code = jit_code_new();

	*entry = jit_code_add(code, &e);
	w->p->images.images.items[id].jit = code;
	return id;
}

static void generated_code_is_found_by_its_name(void)
{
	struct namer n = {0};
	uint32_t a, b, mine, yours;
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	of_sqlite(s)->options.name = name_frames;
	of_sqlite(s)->options.name_ctx = &n;
	mine = jit_image(&w, 1, 0x1000, &a);
	yours = jit_image(&w, 2, 0x7000, &b);
	world_sample_at(&w, 1, mine, (uint64_t)a << 32 | 5, false, 2);
	world_sample_at(&w, 1, yours, (uint64_t)b << 32 | 5, false, 3);
	world_sample_at(&w, 1, yours, (uint64_t)b << 32 | 6, false, 4);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK_EQ(n.calls, 0);
	end(&w, s);
	CHECK_STR(
	        ask("SELECT n.name, i.name, f.offset & 255, s.samples FROM samples s JOIN stacks k "
	            "ON k.id = s.stack JOIN frames f ON f.id = k.frame JOIN images i ON i.id = "
	            "f.image JOIN functions n ON n.id = f.function"),
	        "lazy:app.js|[jit] node|5|5;lazy:app.js|[jit] node|6|4");
}

static void a_clock_set_back_is_reported(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	for (uint64_t i = 0; i < 8; i++) {
		if (i == 5)
			w.set_ns = -3 * (int64_t)WORLD_WINDOW_NS;
		run_one(&w, 10, "cc");
		world_sample(&w, 10, 10, 16, 32, 1 + i);
		world_exit(&w, 10, 10);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
	}
	CHECK_EQ(store_add_gap(s, 5, 8, "suspended", &err), 0);
	CHECK_EQ(store_add_gap(s, 8, 9, "suspended", &err), 0);
	end(&w, s);
	/* All are present, including two at the same time. */
	CHECK_STR(ask("SELECT count(*), count(DISTINCT start_ns), sum(samples) FROM windows"),
	          "8|5|36");
	CHECK_STR(ask("SELECT why, (start_ns - 1700000000000000000) / 10000000000, (end_ns - "
	              "1700000000000000000) / 10000000000 FROM gaps WHERE start_ns > 9"),
	          "the clock was set back|2|5");
	CHECK_STR(ask("SELECT start_ns, end_ns, why FROM gaps WHERE start_ns < 9"),
	          "5|9|suspended");
	/* The lifetime of processes does not matter. */
	CHECK_STR(ask("SELECT count(*), max(end_ns - start_ns) < 10 FROM processes WHERE name = "
	              "'cc'"),
	          "8|1");
}

/* "id INTEGER, name TEXT" as "id;name". */
static void only_names(const char *columns, struct buf *names)
{
	for (; *columns; columns += strspn(columns, ", ")) {
		if (names->size)
			buf_putc(names, ';');
		buf_add(names, columns, strcspn(columns, " "));
		columns += strcspn(columns, ",");
	}
}

/* Tables that are no part of a store, or views that need functions of assay. */
static bool is_of_recordings_only(const char *name)
{
	static const char *const names[] = {"calls",          "events",      "waits",
	                                    "wakings",        "wait_graph",  "interrupts",
	                                    "kernel_returns", "stack_groups"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The views have the names and columns of the tables of recordings. */
static void views_have_the_public_columns(void)
{
	char query[128];
	struct error err;

	fresh();
	store_close(open_store(&err));
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		struct buf want = {0};

		if (c->function || is_of_recordings_only(c->name))
			continue;
		only_names(c->columns, &want);
		snprintf(query, sizeof(query), "SELECT name FROM pragma_table_info('%s')", c->name);
		CHECK_STR(ask(query), buf_text(&want));
		buf_done(&want);
	}
}

int main(void)
{
	if (!place_make()) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(sums_are_those_of_the_windows);
	RUN(every_instance_has_a_row_and_its_number);
	RUN(living_processes_keep_row_and_number);
	RUN(a_late_name_gets_its_number_when_it_comes);
	RUN(threads_have_their_names);
	RUN(places_are_the_same_after_a_reboot);
	RUN(memory_without_a_file_is_one_place);
	RUN(names_are_asked_for_once_a_window);
	RUN(an_unused_name_is_deleted);
	RUN(dictionaries_are_refilled_from_the_file);
	RUN(generated_code_is_found_by_its_name);
	RUN(a_clock_set_back_is_reported);
	RUN(views_have_the_public_columns);
	place_take_away();
	return check_end();
}
