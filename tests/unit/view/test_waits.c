/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of waits: sums, the account, JSON, the tree, and waits in counted calls of the kernel. */
#include "check.h"
#include "output/document_output.h"
#include "wait_fixture.h"

#include "view/waits/wait_calls.h"
#include "view/waits/wait_document.h"
#include "view/waits/wait_tree.h"

#include <string.h>

/* A mutex, a preempted thread, and a wait that began before the recording. */
static void fill(struct fixture *f, struct wait_log *log)
{
	struct wait_key key =
	        key_at(f, PATH(f, "pthread_mutex_lock", "__x64_sys_futex", "futex_wait"));

	log->has_wakings = true;
	key.woken = WAIT_BY_THREAD;
	key.waker = f->cc1_second;
	key.waker_path = fixture_path(f, "main", "rebuild_index", "pthread_mutex_unlock", "|",
	                              "__x64_sys_futex", "futex_wake", "try_to_wake_up", NULL);
	key.in_system_call = true;
	key.argument = 0x1000;
	add_wait(log, &key, 30, ID_NONE);
	key = key_at(f, fixture_path(f, "main", "work", NULL));
	key.woken = WAIT_PREEMPTED;
	add_wait(log, &key, 5, f->sh);
	key.woken = WAIT_NOT_SEEN;
	key.since_start = true;
	add_wait(log, &key, 100, ID_NONE);
}

static void add_ledger(struct fixture *f, uint32_t thread, uint64_t oncpu_ms)
{
	struct ledger_process p = {
	        .process = process_table_thread_at(f->profile->processes, thread)->process,
	        .threads = 1,
	        .wall_ns = 300 * MS,
	        .oncpu_ns = oncpu_ms * MS,
	        .unknown_ns = 200 * MS};

	vec_push(&f->profile->ledger.processes, p);
}

static void test_the_account_closes(void)
{
	const char *const pids[] = {"11"};
	struct wait_options o = {.request = {.limit = -1, .filter.pid = {pids, 1}}};
	struct wait_log *log;
	struct wait_report *r = NULL;
	struct error err = {0};
	struct fixture f;
	struct view *v;

	fixture_init(&f, false);
	log = &f.profile->waits;
	fill(&f, log);
	add_ledger(&f, f.cc1_first, 30);
	v = view_new(f.profile, f.symbols);
	CHECK_EQ(wait_report_new(&r, v, log, &o, &err), 0);
	CHECK(r->account.is_closed);
	CHECK_EQ(r->account.blocked_ns, 60 * MS);
	CHECK_EQ(r->account.runnable_ns, 10 * MS);
	CHECK_EQ(r->account.before_ns, 200 * MS);
	CHECK_EQ(r->account.wall_ns, r->account.oncpu_ns + r->account.blocked_ns +
	                                     r->account.runnable_ns + r->account.unseen_ns);
	CHECK_EQ(r->account.named_ns, 60 * MS);
	wait_report_free(r);
	view_free(v);
	fixture_done(&f);
}

static void test_the_json_has_the_causes(void)
{
	struct wait_options o = {.request = {.limit = -1, .reader.program = true}};
	struct wait_report *r = NULL;
	struct error err = {0};
	struct buf out = {0};
	struct document d;
	struct fixture f;
	struct view *v;

	fixture_init(&f, false);
	fill(&f, &f.profile->waits);
	v = view_new(f.profile, f.symbols);
	CHECK_EQ(wait_report_new(&r, v, &f.profile->waits, &o, &err), 0);
	document_init(&d);
	wait_document(&d, r);
	document_json_print(&d, false, NULL, &out);
	CHECK(strstr(buf_text(&out), "\"kind\": \"waits\""));
	CHECK(strstr(buf_text(&out), "\"name\": \"mutex at 0x1000, locked in main\""));
	CHECK(strstr(buf_text(&out), "\"released_by\": \"cc1 in rebuild_index\""));
	CHECK(strstr(buf_text(&out), "\"holder\": \"cc1\""));
	CHECK(strstr(buf_text(&out), "\"evidence\": \"unlock\""));
	CHECK(strstr(buf_text(&out), "\"blocked_ns\": 60000000"));
	CHECK(strstr(buf_text(&out), "\"device\": null"));
	/* The second of the preempted waits: sh ran instead. */
	CHECK(strstr(buf_text(&out), "\"released_by\": \"sh\""));
	document_done(&d);
	wait_report_free(r);
	view_free(v);
	buf_done(&out);
	fixture_done(&f);
}

static void test_the_tree_has_wakers_below_waiters(void)
{
	struct wait_options o = {.request = {.limit = -1, .tree = true}};
	struct wait_report *r = NULL;
	const struct view_tree *t;
	struct error err = {0};
	struct view_tree *tree;
	struct fixture f;
	struct view *v;
	bool waker = false;

	fixture_init(&f, false);
	fill(&f, &f.profile->waits);
	v = view_new(f.profile, f.symbols);
	CHECK_EQ(wait_report_new(&r, v, &f.profile->waits, &o, &err), 0);
	t = tree = wait_tree(r);
	CHECK_EQ(view_tree_total_of(t, TREE_ROOT, 0).i, 60 * MS);
	vec_each (node, &t->nodes)
		if (node->name && !strcmp(node->name, "<- cc1 in rebuild_index"))
			waker = view_tree_total_of(t, (uint32_t)(node - t->nodes.items), 0).i ==
			        60 * MS;
	CHECK(waker);
	view_tree_free(tree);
	wait_report_free(r);
	view_free(v);
	fixture_done(&f);
}

/* A call of a process of the fixture, in the kernel. */
static uint32_t kernel_call(struct call_paths *c, uint32_t process, uint32_t parent,
                            const char *name)
{
	struct call_function f = {.frame.offset = 0x1000 * (c->functions.count + 1)};

	f.name = intern_add(&c->images.names, name);
	for (uint32_t i = 0; i < c->functions.count; i++)
		if (c->functions.items[i].name == f.name)
			f.frame = c->functions.items[i].frame;
	return call_path_child(&c->processes.items[process], parent, call_paths_function(c, &f));
}

/* The name of the call to which a wait at this path belongs. */
static const char *kernel_call_of(struct fixture *f, const struct call_paths *counted,
                                  uint32_t path)
{
	struct wait_options o = {.request = {.limit = -1}};
	struct call_names *names = call_names_new(counted, NULL, false);
	struct wait_log log = {.unknown_path = ID_NONE};
	struct view *v = view_new(f->profile, f->symbols);
	struct wait_key key = key_at(f, path);
	struct wait_report *r = NULL;
	static char name[64];
	struct wait_calls c;
	struct error err;

	add_wait(&log, &key, 10, ID_NONE);
	CHECK_EQ(wait_report_new(&r, v, &log, &o, &err), 0);
	wait_calls_init(&c, r);
	wait_calls_counted(&c, counted, names);
	CHECK(c.is_counted_known);
	CHECK(c.rows.count < 2);
	CHECK_EQ(c.waited_ns, c.rows.count * 20 * MS);
	snprintf(name, sizeof(name), "%s",
	         c.rows.count ? intern_text(&c.texts, c.rows.items[0].function) : "no row");
	wait_calls_done(&c);
	wait_report_free(r);
	call_names_free(names);
	view_free(v);
	vec_done(&log.waits);
	vec_done(&log.sums);
	return name;
}

/* Only calls of vfs_read were counted, with those below it. */
static void test_waits_in_calls_of_the_kernel(void)
{
	struct call_paths *counted = call_paths_new();
	uint32_t process, entry, at;
	struct fixture f;

	fixture_init(&f, false);
	process = call_paths_process(counted, "cc1", 11);
	counted->processes.items[process].flags = CALL_KERNEL | CALL_FILTERED;
	entry = kernel_call(counted, process, 0, "vfs_read");
	at = kernel_call(counted, process, entry, "pipe_read");
	at = kernel_call(counted, process, at, "schedule");
	kernel_call(counted, process, entry, "mutex_lock");
	kernel_call(counted, process, entry, "ksys_read");
	call_paths_close(counted);
	/* The scheduler and locks say nothing, unless nothing else is known. */
	CHECK(!strcmp(
	        kernel_call_of(&f, counted, PATH(&f, "take", "ksys_read", "vfs_read", "pipe_read")),
	        "pipe_read"));
	CHECK(!strcmp(kernel_call_of(&f, counted,
	                             PATH(&f, "take", "ksys_read", "vfs_read", "mutex_lock")),
	              "vfs_read"));
	/* Functions that were counted below vfs_read, in other calls. */
	CHECK(!strcmp(kernel_call_of(&f, counted, PATH(&f, "take", "ksys_read", "pipe_read")),
	              WAIT_CALLS_OUTSIDE));
	CHECK(!strcmp(kernel_call_of(&f, counted, fixture_path(&f, "main", "vfs_read", NULL)),
	              WAIT_CALLS_OUTSIDE));
	/* All calls were counted, and an entry jumped to ksys_read. */
	counted->processes.items[process].flags = CALL_KERNEL;
	CHECK(!strcmp(kernel_call_of(&f, counted, PATH(&f, "take", "ksys_read", "pipe_read")),
	              "pipe_read"));
	CHECK(!strcmp(kernel_call_of(&f, counted, PATH(&f, "take", "no_entry", "not_counted")),
	              "schedule"));
	/* The command waited until the counting began. */
	counted->processes.items[process].start_ns = UINT64_MAX - 1;
	CHECK(!strcmp(kernel_call_of(&f, counted, PATH(&f, "take", "ksys_read", "pipe_read")),
	              "no row"));
	call_paths_free(counted);
	fixture_done(&f);
}

int main(void)
{
	RUN(test_the_account_closes);
	RUN(test_the_json_has_the_causes);
	RUN(test_the_tree_has_wakers_below_waiters);
	RUN(test_waits_in_calls_of_the_kernel);
	return check_end();
}
