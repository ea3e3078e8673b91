/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds, copies and resets tables in a directory of the test. Tables are written by the test, or by
 * a thread while another thread copies them.
 */
#include "base/clock.h"
#include "calls_fixture.h"
#include "check.h"
#include "fixture.h"
#include "format/calls/calls_file.h"
#include "source/runtime/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void path_of(char path[128], const char *name)
{
	snprintf(path, 128, "%s/%s", fixture_dir, name);
}

static void put(const char *name, const struct fx *f)
{
	char path[128];
	int fd;

	path_of(path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(write(fd, f->bytes, sizeof(f->bytes)) == (ssize_t)sizeof(f->bytes));
	close(fd);
}

static bool there(const char *name)
{
	char path[128];

	path_of(path, name);
	return !access(path, F_OK);
}

static void clear(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s/*", fixture_dir);
	CHECK_EQ(system(command), 0);
}

/* Field 22 of /proc/PID/stat, read by another implementation. */
static uint64_t birth_of(pid_t pid)
{
	char command[128], text[32] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "sed 's/.*) //' /proc/%d/stat | cut -d' ' -f20", pid);
	pipe = popen(command, "r");
	CHECK(pipe && fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return strtoull(text, NULL, 10);
}

static void the_directory_is_chosen(void)
{
	char *path = NULL, want[160], *parent;
	struct error err = {0};
	struct stat st;

	setenv("ASSAY_CALLS_DIR", fixture_dir, 1);
	CHECK_EQ(call_table_directory(&path, false, &err), 0);
	CHECK_STR(path, fixture_dir);
	free(path);
	snprintf(want, sizeof(want), "%s/x/y", fixture_dir);
	setenv("ASSAY_CALLS_DIR", want, 1);
	CHECK_EQ(call_table_directory(&path, false, &err), 0);
	free(path);
	CHECK(stat(want, &st)); /* the call does not create the directory */
	CHECK_EQ(call_table_directory(&path, true, &err), 0);
	free(path);
	CHECK(!stat(want, &st) && (st.st_mode & 0777) == 0700);
	chmod(want, 0755);
	CHECK_EQ(call_table_directory(&path, true, &err), -EPERM);
	CHECK(strstr(err.text, want) && strstr(err.text, "ASSAY_CALLS_DIR"));
	CHECK(!path);
	rmdir(want);
	CHECK(!symlink(fixture_dir, want));
	CHECK_EQ(call_table_directory(&path, false, &err), -ELOOP);
	unlink(want);
	close(open(want, O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(call_table_directory(&path, false, &err), -ENOTDIR);
	unlink(want);

	parent = getenv("XDG_RUNTIME_DIR") ? strdup(getenv("XDG_RUNTIME_DIR")) : NULL;
	unsetenv("ASSAY_CALLS_DIR");
	setenv("XDG_RUNTIME_DIR", fixture_dir, 1);
	CHECK_EQ(call_table_directory(&path, true, &err), 0);
	snprintf(want, sizeof(want), "%s/assay/calls", fixture_dir);
	CHECK_STR(path, want);
	free(path);
	if (parent)
		setenv("XDG_RUNTIME_DIR", parent, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	free(parent);
	clear();
}

static void only_tables_are_listed(void)
{
	call_table_list list = {0};
	struct fx *f = fx_new(), *late = fx_new();
	char name[64], path[128], target[128];
	struct error err = {0};
	uint64_t birth = birth_of(getpid());

	fx_header(f)->state = fx_header(late)->state = ASSAY_CALLS_RUNNING;
	fx_header(late)->start_ns *= 2;
	fx_header(late)->flags = ASSAY_CALLS_DEEP;
	snprintf(name, sizeof(name), "%d-%" PRIu64 "-1.calls", getpid(), birth);
	put(name, late);
	snprintf(name, sizeof(name), "%d-%" PRIu64 "-0.calls", getpid(), birth + 1);
	put(name, f);
	put("12-34-0.base", f);
	put("12-34.calls", f);
	put("012-34-0.calls", f);
	put("12-34-0.calls.x", f);
	memset(f->bytes, 0, 8); /* not initialised yet */
	put("13-34-0.calls", f);
	path_of(target, name);
	path_of(path, "14-34-0.calls");
	CHECK(!symlink(target, path));
	path_of(path, "15-34-0.calls");
	CHECK(!mkfifo(path, 0600)); /* must not block */
	CHECK_EQ(call_table_list_read(&list, fixture_dir, &err), 0);
	CHECK_EQ(list.count, 2);
	if (list.count == 2) {
		/* the same pid, born at another time: gone */
		CHECK_EQ(list.items[0].file.birth, birth + 1);
		CHECK(!list.items[0].file.running);
		CHECK(list.items[1].file.running);
		CHECK_EQ(list.items[1].file.pid, getpid());
		CHECK_EQ(list.items[1].flags, ASSAY_CALLS_DEEP);
		CHECK_STR(list.items[1].name, "prog");
		CHECK_STR(list.items[1].command, "prog -x");
		CHECK(strstr(list.items[1].file.path, "-1.calls") != NULL);
	}
	call_table_list_done(&list);
	clear();
	path_of(path, "none");
	CHECK_EQ(call_table_list_read(&list, path, &err), 0);
	CHECK_EQ(list.count, 0);
	chmod(fixture_dir, 0750);
	CHECK_EQ(call_table_list_read(&list, fixture_dir, &err), -EPERM);
	CHECK(strstr(err.text, "750") != NULL);
	chmod(fixture_dir, 0700);
	free(f);
	free(late);
}

static struct call_table table_of(const char *name, int32_t pid, uint64_t birth)
{
	char path[128];

	path_of(path, name);
	return (struct call_table){.file.path = strdup(path),
	                           .file.pid = pid,
	                           .file.birth = birth,
	                           .state = ASSAY_CALLS_RUNNING,
	                           .file.running = true};
}

/* ---- a table that is being written -------------------------------------- */

/*
 * One thread counts calls: each event first in a node's `calls`, then three times in its `net`, so
 * that net is never ahead of calls. The parent of each node is the previous node.
 */
struct writer {
	struct fx *map;
	uint32_t thread;
	const char *path;
	volatile bool stop;
};

static void line_set(struct assay_calls_node *node, uint64_t value)
{
	__atomic_store_n(&node->calls, value, __ATOMIC_RELAXED);
	__atomic_store_n(&node->net, 3 * value, __ATOMIC_RELEASE);
}

static void *write_on(void *arg)
{
	struct writer *w = arg;
	struct assay_calls_chunk *nodes = fx_find(w->map, ASSAY_CHUNK_NODES, w->thread);
	struct assay_calls_node *all = (struct assay_calls_node *)(nodes + 1);
	uint64_t n = 0;

	while (!w->stop) {
		uint64_t used = nodes->used;

		for (int i = 0; i < 1000; i++) {
			n++;
			clock_ns(CLOCK_MONOTONIC); /* as a hook reads the clock */
			line_set(&all[n % used], n);
		}
		if (used < 60) {
			all[used] = (struct assay_calls_node){
			        .function = 0x1000 * used,
			        .parent = fx_unit_of(w->map, &all[used - 1])};
			__atomic_store_n(&nodes->used, used + 1, __ATOMIC_RELEASE);
		}
	}
	return NULL;
}

static void copies_hold_whole_nodes(void)
{
	struct fx *f = fx_new();
	struct writer w = {0};
	struct call_table table;
	struct call_table_copy copy;
	struct error err = {0};
	pthread_t id;
	int fd, torn = 0, damaged = 0, grew = 0;
	uint64_t used = 0;

	fx_header(f)->state = ASSAY_CALLS_RUNNING;
	fx_header(f)->pid = getpid();
	w.thread = fx_thread(f, getpid(), 100, 0);
	put("1-1-0.calls", f);
	table = table_of("1-1-0.calls", getpid(), birth_of(getpid()));
	fd = open(table.file.path, O_RDWR);
	w.map = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(w.map != MAP_FAILED);
	pthread_create(&id, NULL, write_on, &w);
	for (int round = 0; round < 300; round++) {
		const struct assay_calls_chunk *nodes;
		struct calls_state state = {.running = true, .live = true};
		struct call_paths *c = call_paths_new();

		CHECK_EQ(call_table_copy(&copy, &table, &err), 0);
		nodes = fx_find((struct fx *)copy.bytes.data, ASSAY_CHUNK_NODES, w.thread);
		for (uint64_t i = 0; i < nodes->used; i++) {
			const struct assay_calls_node *node =
			        (const struct assay_calls_node *)(nodes + 1) + i;

			torn += node->net > 3 * node->calls;
		}
		grew += nodes->used > used;
		used = nodes->used;
		state.now = copy.now;
		state.now_ns = copy.now_ns;
		CHECK_EQ(calls_file_read(c, copy.bytes.data, copy.bytes.size, "t", &state, NULL,
		                         &err),
		         0);
		damaged += (c->processes.items[0].flags & CALL_DAMAGED) != 0;
		CHECK(copy.threads.count >= 2); /* this one and the writer */
		CHECK(copy.now && copy.now_ns && copy.took_ns);
		call_paths_free(c);
		call_table_copy_done(&copy);
	}
	w.stop = true;
	pthread_join(id, NULL);
	CHECK_EQ(damaged, 0);
	CHECK(grew >= 1);
	CHECK_EQ(torn, 0);
	munmap(w.map, sizeof(*f));
	close(fd);
	free(table.file.path);
	free(f);
	clear();
}

static void a_missing_table_is_reported(void)
{
	struct call_table table = table_of("1-1-0.calls", 1, 1);
	struct call_table_copy copy;
	struct error err = {0};
	struct fx *f = fx_new();

	CHECK_EQ(call_table_copy(&copy, &table, &err), -ENOENT);
	CHECK(strstr(err.text, table.file.path) != NULL);
	call_table_copy_done(&copy);
	fx_header(f)->used_bytes = 10;
	put("1-1-0.calls", f);
	CHECK_EQ(call_table_copy(&copy, &table, &err), -EINVAL);
	call_table_copy_done(&copy);
	/* more is used than the file has: its end was cut off */
	fx_header(f)->used_bytes = FX_BYTES + 1;
	put("1-1-0.calls", f);
	CHECK_EQ(call_table_copy(&copy, &table, &err), -ESTALE);
	CHECK(strstr(err.text, table.file.path) && strstr(err.text, "it was cut"));
	call_table_copy_done(&copy);
	fx_header(f)->used_bytes = FX_BYTES;
	put("1-1-0.calls", f);
	CHECK_EQ(call_table_copy(&copy, &table, &err), 0);
	CHECK_EQ(copy.bytes.size, FX_BYTES);
	CHECK_EQ(copy.threads.count, 0); /* its process has exited */
	call_table_copy_done(&copy);
	CHECK_EQ(call_table_remove(&table, &err), 0);
	CHECK(!there("1-1-0.calls"));
	CHECK_EQ(call_table_remove(&table, &err), 0);
	free(table.file.path);
	free(f);
}

static void a_sparse_table_is_not_allocated(void)
{
	struct call_table table = table_of("1-1-0.calls", 1, 1);
	struct call_table_copy copy;
	struct error err = {0};
	struct fx *f = fx_new();
	char base[128];

	fx_header(f)->used_bytes = 1ull << 42;
	put("1-1-0.calls", f);
	CHECK(!truncate(table.file.path, 1ll << 42));
	CHECK_EQ(call_table_copy(&copy, &table, &err), -EFBIG);
	CHECK(strstr(err.text, table.file.path) != NULL);
	CHECK(strstr(err.text, "4194304 MB of which the file holds only 256 KB") != NULL);
	call_table_copy_done(&copy);
	/* A table whose last chunks are reserved and not yet written is read. */
	fx_header(f)->used_bytes = 8 << 20;
	put("1-1-0.calls", f);
	CHECK(!truncate(table.file.path, 1ll << 42));
	CHECK_EQ(call_table_copy(&copy, &table, &err), 0);
	CHECK_EQ(copy.bytes.size, 8 << 20);
	call_table_copy_done(&copy);
	/* The same for the baseline of a reset. */
	path_of(base, "1-1-0.base");
	put("1-1-0.base", f);
	CHECK(!truncate(base, 1ll << 42));
	CHECK_EQ(call_table_copy(&copy, &table, &err), -EFBIG);
	CHECK(strstr(err.text, "1-1-0.base") != NULL);
	call_table_copy_done(&copy);
	CHECK_EQ(call_table_remove(&table, &err), 0);
	free(table.file.path);
	free(f);
}

/* The owner truncates and extends the file in an endless loop. */
static void *cut(void *arg)
{
	struct writer *w = arg;
	int fd = open(w->path, O_RDWR);

	while (!w->stop) {
		CHECK_EQ(ftruncate(fd, ASSAY_CALLS_PAGE), 0);
		CHECK_EQ(pwrite(fd, w->map, sizeof(*w->map), 0), (ssize_t)sizeof(*w->map));
	}
	close(fd);
	return NULL;
}

static void a_table_that_becomes_shorter_is_an_error(void)
{
	struct call_table table = table_of("1-1-0.calls", getpid(), birth_of(getpid()));
	struct writer w = {.map = fx_new(), .path = table.file.path};
	unsigned whole = 0, cut_short = 0, others = 0;
	pthread_t id;

	fx_header(w.map)->state = ASSAY_CALLS_RUNNING;
	fx_header(w.map)->pid = getpid();
	for (int i = 0; fx_header(w.map)->used_bytes < FX_BYTES; i++)
		fx_chunk(w.map, ASSAY_CHUNK_NODES, 1, 10);
	put("1-1-0.calls", w.map);
	pthread_create(&id, NULL, cut, &w);
	for (int round = 0; round < 100000 && (round < 300 || !whole || !cut_short); round++) {
		struct call_table_copy copy;
		struct error err = {0};
		int rc = call_table_copy(&copy, &table, &err);

		whole += !rc;
		cut_short += rc == -ESTALE;
		/* Or as short as it was when it was opened. */
		others += rc && rc != -ESTALE && rc != -EINVAL;
		call_table_copy_done(&copy);
		rc = call_table_reset(&table, &err);
		others += rc && rc != -ESTALE && rc != -EINVAL && rc != -EIO;
	}
	w.stop = true;
	pthread_join(id, NULL);
	CHECK(whole && cut_short);
	CHECK_EQ(others, 0);
	free(table.file.path);
	free(w.map);
	clear();
}

/* ---- reset -------------------------------------------------------------- */

static struct call_paths *report(const struct call_table *table)
{
	struct call_table_copy copy;
	struct call_paths *c = call_paths_new();
	struct calls_state state = {.running = true, .live = true};
	VEC(struct calls_thread_state) threads = {0};
	struct error err = {0};

	CHECK_EQ(call_table_copy(&copy, table, &err), 0);
	vec_each (t, &copy.threads)
		vec_push(&threads,
		         (struct calls_thread_state){t->tid, t->cpu_ns, t->runnable_ns, t->runs});
	state.now = copy.now;
	state.now_ns = copy.now_ns;
	state.threads = threads.items;
	state.thread_count = threads.count;
	state.base = copy.base.data;
	state.base_size = copy.base.size;
	CHECK_EQ(calls_file_read(c, copy.bytes.data, copy.bytes.size, table->file.path, &state,
	                         NULL, &err),
	         0);
	CHECK_STR(err.text, "");
	call_paths_close(c);
	call_table_copy_done(&copy);
	vec_done(&threads);
	return c;
}

/* Two copies of the table give the clock's rate. The thread then gets an event a second ago. */
static void event_a_second_ago(struct fx *f, const struct call_table *table, uint32_t thread,
                               uint32_t node)
{
	struct assay_calls_thread *record;
	struct call_table_copy copy;
	struct error err = {0};

	put("7-7-0.calls", f);
	usleep(50000);
	CHECK_EQ(call_table_copy(&copy, table, &err), 0);
	fx_header(f)->first = (struct assay_calls_moment){copy.now, copy.now_ns};
	call_table_copy_done(&copy);
	usleep(20000);
	CHECK_EQ(call_table_copy(&copy, table, &err), 0);
	fx_header(f)->latest = (struct assay_calls_moment){copy.now, copy.now_ns};
	fx_header(f)->state = ASSAY_CALLS_RUNNING;
	fx_header(f)->pid = table->file.pid;
	fx_header(f)->birth = table->file.birth;
	record = fx_record(f, thread);
	record->current = node;
	record->last = copy.now - (copy.now - fx_header(f)->first.ticks) * 50;
	record->first = record->sync = record->last;
	record->before_cpu_ns = record->sync_cpu_ns = 1;
	call_table_copy_done(&copy);
	put("7-7-0.calls", f);
}

/* A second reset subtracts nothing twice. */
static void check_second_reset(const struct call_table *table)
{
	struct error err = {0};
	struct call_paths *c;

	CHECK_EQ(call_table_reset(table, &err), 0);
	c = report(table);
	CHECK_EQ(c->processes.items[0].paths.items[1].calls, 0);
	CHECK(c->processes.items[0].paths.items[1].blocked_ns > -1e6);
	call_paths_free(c);
}

/*
 * A child that is blocked, with a table in which it is blocked in a function since its start: the
 * report after a reset does not contain the time before the reset.
 */
static void a_blocked_process_begins_at_zero(void)
{
	int never[2];
	pid_t child = pipe(never) ? -1 : fork();
	struct call_table table;
	struct call_table_copy copy;
	struct fx *f = fx_new();
	struct error err = {0};
	struct call_paths *c;
	uint32_t thread, node;
	double before, after;

	if (!child) {
		char byte;

		close(never[1]);
		_exit(read(never[0], &byte, 1) != 0);
	}
	table = table_of("7-7-0.calls", child, birth_of(child));
	thread = fx_thread(f, child, 0, 0);
	node = fx_node(f, thread, fx_record(f, thread)->root, 0x5000, 3, 0);
	event_a_second_ago(f, &table, thread, node);

	c = report(&table);
	before = c->processes.items[0].paths.items[1].blocked_ns;
	CHECK(before > 0.9e9);
	CHECK_EQ(c->processes.items[0].paths.items[1].calls, 3);
	CHECK_EQ(c->processes.items[0].flags, CALL_RUNNING);
	call_paths_free(c);

	CHECK_EQ(call_table_reset(&table, &err), 0);
	CHECK(there("7-7-0.base"));
	CHECK_EQ(call_table_copy(&copy, &table, &err), 0);
	CHECK_EQ(((struct assay_calls_header *)copy.bytes.data)->epoch, 1);
	CHECK_EQ(((struct assay_calls_header *)copy.base.data)->epoch, 0);
	call_table_copy_done(&copy);
	c = report(&table);
	CHECK_EQ(c->processes.items[0].flags, CALL_RUNNING | CALL_RESET);
	CHECK_EQ(c->processes.items[0].paths.items[1].calls, 0);
	CHECK_EQ(c->processes.items[0].paths.items[1].open, 1);
	after = c->processes.items[0].paths.items[1].blocked_ns;
	/*
	 * no time before the reset is counted: blocked time is at most the wall time since the
	 * reset
	 */
	CHECK(after >= 0 && after <= c->processes.items[0].wall_ns * 1.001 + 1e6);
	CHECK(after < before / 2);
	call_paths_free(c);

	check_second_reset(&table);
	close(never[1]); /* the child exits: a reset then removes its files */
	close(never[0]);
	waitpid(child, NULL, 0);
	CHECK_EQ(call_table_reset(&table, &err), 0);
	CHECK(!there("7-7-0.calls") && !there("7-7-0.base"));
	free(table.file.path);
	free(f);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(the_directory_is_chosen);
	RUN(only_tables_are_listed);
	RUN(copies_hold_whole_nodes);
	RUN(a_missing_table_is_reported);
	RUN(a_sparse_table_is_not_allocated);
	RUN(a_table_that_becomes_shorter_is_an_error);
	RUN(a_blocked_process_begins_at_zero);
	fixture_end();
	return check_end();
}
