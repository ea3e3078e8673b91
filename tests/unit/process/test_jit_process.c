/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated code of processes, and the sources of its names. */
#include "base/memory/xalloc.h"
#include "check.h"
#include "format/jit/jit_file.h"
#include "format/jit/jit_finder.h"
#include "image/jit_code.h"
#include "jit_fixture.h"
#include "process/mapped_image.h"
#include "process/process.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CODE 0x700000000000u

struct asked {
	int count;
	int32_t pid;
	uint64_t start_ns;
	char dump[64];
};

struct world {
	struct image_table images;
	struct process_table *t;
	struct asked asked;
	uint64_t written_ns;
	bool none; /* no source reports code */
};

/* Pids below 100 have "old" at CODE, from 200 on "new"; others have no names. */
static struct jit_code *answer(void *ctx, const struct process_jit_request *request)
{
	struct world *w = ctx;
	struct jit_entry old = {.address = CODE, .size = 64, .name = "old"};
	struct jit_entry new = {.address = CODE, .size = 64, .name = "new"};
	struct jit_code *c = jit_code_new();

	w->asked.count++;
	w->asked.pid = request->pid;
	w->asked.start_ns = request->start_ns;
	snprintf(w->asked.dump, sizeof(w->asked.dump), "%s", request->dump ? request->dump : "");
	if (request->pid < 100 && !w->none) {
		jit_code_happened(c, 100, CODE, 64, jit_code_add(c, &old));
		jit_code_happened(c, 200, CODE, 64, jit_code_add(c, &new));
	} else {
		c->trouble = xstrdup("told nothing");
	}
	c->source = xstrdup("source");
	c->written_ns = w->written_ns;
	jit_code_finish(c);
	return c;
}

static void world_init(struct world *w)
{
	*w = (struct world){0};
	image_table_init(&w->images);
	w->t = process_table_new(&w->images);
	process_table_set_jit(w->t, answer, w);
}

static void world_done(struct world *w)
{
	process_table_free(w->t);
	image_table_done(&w->images);
}

static void map(struct world *w, int32_t pid, uint64_t address, const char *name, bool executable)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = pid, .tid = pid};

	e.mmap.addr = address;
	e.mmap.size = 4096;
	e.mmap.filename = name;
	e.mmap.executable = executable;
	e.mmap.inode = 5;
	process_table_event(w->t, &e);
}

static void task(struct world *w, enum event_kind kind, int32_t pid, int32_t parent, uint64_t time)
{
	struct event e = {.kind = kind, .pid = pid, .tid = pid, .time_ns = time};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	process_table_event(w->t, &e);
}

static void exec(struct world *w, int32_t pid, uint64_t time)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = pid, .time_ns = time};

	e.comm.name = "prog";
	e.comm.exec = true;
	process_table_event(w->t, &e);
}

static uint32_t process_of(struct world *w, int32_t pid)
{
	return process_table_thread_at(w->t, process_table_thread(w->t, pid, pid))->process;
}

static struct frame frame_at(struct world *w, int32_t pid, uint64_t time, uint64_t address)
{
	uint32_t process = process_of(w, pid);

	process_table_moment(w->t, process, time);
	return process_table_resolve(w->t, process, CPU_MODE_USER, address);
}

static void check_name(struct world *w, struct frame f, const char *name)
{
	struct symbolizer *s = symbolizer_new(&w->images, NULL);

	CHECK_STR(symbolizer_find(s, f)->name, name);
	symbolizer_free(s);
}

static void names_by_time(void)
{
	struct world w;
	struct frame f;
	uint64_t version;

	world_init(&w);
	exec(&w, 10, 50);
	map(&w, 10, CODE, "//anon", true);
	f = frame_at(&w, 10, 60, CODE + 8); /* nothing is there yet */
	CHECK_EQ(w.images.images.items[f.image].kind, IMAGE_ANON);
	version = process_table_maps_version(w.t, process_of(&w, 10), CPU_MODE_USER);
	f = frame_at(&w, 10, 100, CODE + 8);
	CHECK_EQ(w.images.images.items[f.image].kind, IMAGE_JIT);
	CHECK_STR(image_path(&w.images, f.image), "[jit] prog");
	CHECK_EQ((uint32_t)f.offset, 8);
	check_name(&w, f, "old");
	/* Addresses resolved earlier must not be used after the change. */
	CHECK(version != process_table_maps_version(w.t, process_of(&w, 10), CPU_MODE_USER));
	version = process_table_maps_version(w.t, process_of(&w, 10), CPU_MODE_USER);
	f = frame_at(&w, 10, 199, CODE + 8);
	check_name(&w, f, "old");
	CHECK_EQ(version, process_table_maps_version(w.t, process_of(&w, 10), CPU_MODE_USER));
	check_name(&w, frame_at(&w, 10, 200, CODE + 8), "new");
	check_name(&w, f, "old"); /* the frame's meaning stays */
	CHECK_EQ(w.asked.count, 1);
	CHECK_EQ(w.asked.pid, 10);
	CHECK_EQ(w.asked.start_ns, 50);
	world_done(&w);
}

static void only_processes_with_generated_code_are_asked(void)
{
	static const char *const names[] = {"/bin/prog", "[vsyscall]", "[vdso]"};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		map(&w, 10, CODE + i * 4096, names[i], true);
	map(&w, 10, CODE + 0x10000, "//anon", false);
	frame_at(&w, 10, 60, CODE + 8);
	CHECK_EQ(w.asked.count, 0);
	map(&w, 10, CODE, "/memfd:doublemapper (deleted)", true);
	check_name(&w, frame_at(&w, 10, 100, CODE + 8), "old");
	CHECK_EQ(w.asked.count, 1);
	world_done(&w);
}

static void processes_share_no_generated_code(void)
{
	struct world w;
	struct frame a, b;

	world_init(&w);
	map(&w, 10, CODE, "//anon", true);
	map(&w, 11, CODE, "//anon", true);
	a = frame_at(&w, 10, 100, CODE);
	b = frame_at(&w, 11, 100, CODE);
	CHECK(a.image != b.image);
	a = frame_at(&w, 10, 100, CODE + 100); /* not reported */
	b = frame_at(&w, 11, 100, CODE + 100);
	CHECK_EQ(w.images.images.items[a.image].kind, IMAGE_ANON);
	CHECK(a.image != b.image);
	map(&w, 10, CODE + 0x100000, "//anon", false);
	map(&w, 11, CODE + 0x100000, "//anon", false);
	CHECK_EQ(frame_at(&w, 10, 100, CODE + 0x100000).image,
	         frame_at(&w, 11, 100, CODE + 0x100000).image); /* data is data */
	world_done(&w);
}

static void a_fork_without_own_names_inherits_them(void)
{
	struct world w;
	struct frame f;

	world_init(&w);
	exec(&w, 10, 50);
	map(&w, 10, CODE, "//anon", true);
	task(&w, EVENT_FORK, 500, 10, 150); /* has no names of its own */
	f = frame_at(&w, 500, 160, CODE);
	check_name(&w, f, "old");
	CHECK_EQ(f.image, frame_at(&w, 10, 160, CODE).image);
	CHECK_EQ(w.asked.count, 2);
	task(&w, EVENT_FORK, 20, 10, 150); /* has */
	CHECK(frame_at(&w, 20, 160, CODE).image != f.image);
	exec(&w, 500, 170); /* another program */
	map(&w, 500, CODE, "//anon", true);
	f = frame_at(&w, 500, 180, CODE);
	CHECK_EQ(w.images.images.items[f.image].kind, IMAGE_ANON);
	world_done(&w);
}

static void a_dump_that_is_announced_later_counts(void)
{
	struct world w;

	world_init(&w);
	w.none = true;
	map(&w, 10, CODE, "//anon", true);
	CHECK_EQ(w.images.images.items[frame_at(&w, 10, 100, CODE).image].kind, IMAGE_ANON);
	w.none = false;
	map(&w, 10, CODE + 0x10000, "/home/me/jit-10.dump", true);
	check_name(&w, frame_at(&w, 10, 110, CODE), "old");
	CHECK_STR(w.asked.dump, "/home/me/jit-10.dump");
	CHECK_EQ(w.asked.count, 2);
	CHECK(mapped_image_jitdump("jit-1.dump"));
	CHECK(!mapped_image_jitdump("/x/jit-.dump"));
	CHECK(!mapped_image_jitdump("/x/jit-1.dumps"));
	CHECK(!mapped_image_jitdump("/x/git-1.dump"));
	CHECK(!mapped_image_jitdump("/x/jit-12345678901.dump"));
	world_done(&w);
}

/* A map that was written after the process ended belongs to another process. */
static void names_of_later_processes_are_deleted(void)
{
	struct symbolizer *s;
	struct world w;
	struct frame f;

	world_init(&w);
	w.written_ns = 20000000000;
	exec(&w, 10, 50);
	map(&w, 10, CODE, "//anon", true);
	f = frame_at(&w, 10, 100, CODE);
	check_name(&w, f, "old");
	task(&w, EVENT_EXIT, 10, 10, 5000000000);
	check_name(&w, f, "[no symbol]");
	s = symbolizer_new(&w.images, NULL);
	CHECK(strstr(symbolizer_trouble(s, f.image), "after the process had exited"));
	symbolizer_free(s);
	world_done(&w);
}

static void why_there_is_no_name(void)
{
	struct symbolizer *s;
	struct world w;
	struct frame told, untold, none;

	world_init(&w);
	map(&w, 10, CODE, "//anon", true);
	map(&w, 600, CODE, "//anon", true);
	told = frame_at(&w, 10, 100, CODE);
	untold = frame_at(&w, 10, 100, CODE + 100);
	none = frame_at(&w, 600, 100, CODE);
	s = symbolizer_new(&w.images, NULL);
	CHECK(!symbolizer_trouble(s, told.image));
	CHECK_STR(symbolizer_trouble(s, untold.image), "generated code that source does not name");
	CHECK_STR(symbolizer_trouble(s, none.image), "told nothing");
	symbolizer_free(s);
	world_done(&w);
}

/* A perf map of a process that does not exist, in a directory of the test that replaces "/". */
struct place {
	char root[64], tmp[80], path[128];
	struct recording r;
	struct jit_finder finder;
	struct process_jit_request request;
};

#define UNUSED_PID 1999999999

static char *this_host(void)
{
	char name[256] = "";

	CHECK(!gethostname(name, sizeof(name) - 1));
	return xstrdup(name);
}

static void place_init(struct place *p)
{
	*p = (struct place){.root = "/tmp/assay-test-XXXXXX"};
	CHECK(mkdtemp(p->root));
	snprintf(p->tmp, sizeof(p->tmp), "%s/tmp", p->root);
	CHECK(!mkdir(p->tmp, 0700));
	snprintf(p->path, sizeof(p->path), "%s/perf-%d.map", p->tmp, UNUSED_PID);
	recording_init(&p->r);
	p->r.clockid = CLOCK_MONOTONIC;
	p->r.hostname = this_host();
	p->finder = (struct jit_finder){.recording = &p->r, .root = p->root};
	p->request = (struct process_jit_request){.pid = UNUSED_PID, .name = "node"};
}

static void place_done(struct place *p)
{
	unlink(p->path);
	rmdir(p->tmp);
	rmdir(p->root);
	recording_done(&p->r);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static void a_map_under_a_root(void)
{
	struct jit_code *c;
	struct place p;

	place_init(&p);
	c = jit_finder_find(&p.finder, &p.request);
	CHECK(strstr(c->trouble, "--perf-basic-prof")); /* what would help */
	CHECK_EQ(c->entries.count, 0);
	jit_code_free(c);
	write_file(p.path, "1000 20 f\n");
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 1);
	CHECK_STR(c->source, p.path);
	CHECK(!c->trouble);
	jit_code_free(c);
	write_file(p.path, "nothing\n");
	c = jit_finder_find(&p.finder, &p.request);
	CHECK(strstr(c->trouble, "it contains no function"));
	jit_code_free(c);
	place_done(&p);
}

static void files_are_opened_with_care(void)
{
	struct error err = {0};
	struct jit_file f;
	struct place p;
	char other[160];

	place_init(&p);
	snprintf(other, sizeof(other), "%s/other", p.tmp);
	CHECK_EQ(jit_file_open(&f, p.path, geteuid(), NULL, &err), -ENOENT);
	write_file(p.path, "1000 20 f\n");
	CHECK_EQ(jit_file_open(&f, p.path, geteuid(), NULL, &err), 0);
	CHECK_EQ(f.size, 10);
	close(f.fd);
	CHECK(!symlink(p.path, other));
	CHECK_EQ(jit_file_open(&f, other, geteuid(), NULL, &err), -EPERM);
	CHECK(strstr(err.text, "symbolic link"));
	unlink(other);
	CHECK(!mkfifo(other, 0600)); /* must not wait for a writer */
	CHECK_EQ(jit_file_open(&f, other, geteuid(), NULL, &err), -EPERM);
	CHECK(strstr(err.text, "regular"));
	unlink(other);
	CHECK_EQ(jit_file_open(&f, p.tmp, geteuid(), NULL, &err), -EPERM);
	if (geteuid() == 0) {
		CHECK(!chown(p.path, 12345, 12345));
		CHECK_EQ(jit_file_open(&f, p.path, 54321, NULL, &err), -EPERM);
		CHECK(strstr(err.text, "user 12345"));
		CHECK_EQ(jit_file_open(&f, p.path, 12345, NULL, &err), 0);
		close(f.fd);
		CHECK_EQ(jit_file_open(&f, p.path, JIT_FILE_ANY_USER, NULL, &err), 0);
		close(f.fd);
	}
	place_done(&p);
}

/* /tmp itself, with a pid that cannot exist. */
static void a_map_older_than_the_process_is_refused(void)
{
	struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct jit_code *c;
	struct place p;
	char path[64];

	place_init(&p);
	p.finder.root = NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", UNUSED_PID);
	write_file(path, "1000 20 f\n");
	p.r.clock_start_ns = 1000000000;
	p.r.clock_wall_ns = (uint64_t)time(NULL) * 1000000000;
	p.request.start_ns = 2000000000;
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 1);
	CHECK(c->written_ns); /* on the recording's clock */
	jit_code_free(c);
	CHECK(!utimensat(AT_FDCWD, path, then, 0));
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 0);
	CHECK(c->trouble && strstr(c->trouble, "older than the process"));
	jit_code_free(c);
	free(p.r.hostname);
	p.r.hostname = xstrdup("another-machine");
	p.request.start_ns = 0;
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 0); /* a file in the machine's /tmp does not belong to it */
	CHECK(c->trouble && strstr(c->trouble, " on another-machine, where it was recorded"));
	jit_code_free(c);
	unlink(path);
	place_done(&p);
}

static void kept_files_describe_the_original(void)
{
	struct buf text = {0}, packed = {0};
	struct jit_file f;
	struct file_namer namer;
	struct place p;
	uint64_t written;
	size_t start;
	char *path, *name;

	place_init(&p);
	write_file(p.path, "1000 20 f\n");
	CHECK_EQ(jit_file_open(&f, p.path, geteuid(), NULL, NULL), 0);
	CHECK_EQ(jit_file_pack(&packed, &f, "/tmp/a b.map", NULL), 0);
	CHECK(jit_file_unpack(&packed, &written, &namer, &path, &start));
	CHECK_EQ(written, f.written_ns);
	CHECK_STR(path, "/tmp/a b.map");
	CHECK_EQ(namer.user, geteuid());
	CHECK_STR(packed.data + start, "1000 20 f\n");
	free(path);
	close(f.fd);
	CHECK(!jit_file_unpack(&text, &written, &namer, &path, &start));
	buf_puts(&text, "assay-jit 1 5 /x\n");
	CHECK(!jit_file_unpack(&text, &written, &namer, &path, &start));
	CHECK(!jit_file_kept_name(&p.r, 5, true)); /* whose clock is not known */
	p.r.clock_wall_ns = 16;
	p.r.clock_start_ns = 32;
	name = jit_file_kept_name(&p.r, 5, true);
	CHECK_STR(name, "10-20-5.dump");
	free(name);
	buf_done(&text);
	buf_done(&packed);
	place_done(&p);
}

static void the_mapped_dump_and_no_other(void)
{
	struct jit_code *c;
	struct buf b = {0};
	struct place p;
	struct stat st;
	char dump[160];
	FILE *f;

	place_init(&p);
	p.finder.root = NULL;
	snprintf(dump, sizeof(dump), "%s/jit-5.dump", p.tmp);
	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_load(&b, 1, 0x1000, 32, 1, "f", 1);
	f = fopen(dump, "w");
	CHECK(f && fwrite(b.data, b.size, 1, f) == 1);
	if (f)
		fclose(f);
	CHECK(!stat(dump, &st));
	p.request.dump = dump;
	p.request.inode = st.st_ino;
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 1);
	CHECK(c->timed);
	jit_code_free(c);
	p.request.inode = st.st_ino + 1;
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 0);
	CHECK(strstr(c->trouble, "not the file that the process mapped"));
	jit_code_free(c);
	p.request.inode = 0;
	p.r.clockid = -1; /* perf's own clock: there are no times, and a note says so */
	c = jit_finder_find(&p.finder, &p.request);
	CHECK(c->entries.count == 1 && !c->timed);
	CHECK(c->remark && strstr(c->remark, "another clock"));
	jit_code_free(c);
	unlink(dump);
	buf_done(&b);
	place_done(&p);
}

static void append_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "a");

	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

/* Without the pauses that limit the cost. */
static struct jit_code *again(struct place *p, struct jit_code *c)
{
	c->growth.again_ns = 0;
	return jit_finder_again(&p->finder, &p->request, c);
}

static const char *name_in(struct jit_code *c, uint64_t time_ns, uint64_t address)
{
	uint64_t offset;
	uint32_t entry;

	jit_code_advance(c, time_ns);
	entry = jit_code_find(c, address, &offset);
	return entry == ID_NONE ? "-" : c->entries.items[entry].name;
}

static void a_map_is_read_while_it_is_written(void)
{
	struct jit_code *c, *other;
	struct place p;
	char path[64];

	place_init(&p);
	p.finder.root = NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", UNUSED_PID);
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_EQ(c->entries.count, 0);
	CHECK(again(&p, c) == c);
	CHECK(c->growth.again_ns); /* missing files are not looked for at each sample */
	write_file(path, "1000 20 f\n");
	CHECK(jit_finder_again(&p.finder, &p.request, c) == c);
	CHECK_EQ(c->entries.count, 0);
	CHECK(again(&p, c) == c);
	CHECK_STR(name_in(c, 1, 0x1000), "f");
	append_file(path, "2000 20 g\n3000 20 in");
	CHECK(again(&p, c) == c);
	CHECK_EQ(c->entries.count, 2);
	CHECK_STR(name_in(c, 1, 0x2000), "g");
	append_file(path, "complete\n1000 8 f\n");
	CHECK(again(&p, c) == c);
	CHECK_EQ(c->entries.count, 4);
	CHECK_STR(name_in(c, 1, 0x3000), "incomplete");
	CHECK_EQ(c->entries.items[3].same, 0);
	CHECK(again(&p, c) == c);
	CHECK_EQ(c->entries.count, 4);
	write_file(path, "1000 20 h\n"); /* as a JVM does: another list */
	other = again(&p, c);
	CHECK(other != c);
	CHECK_STR(name_in(other, 1, 0x1000), "h");
	CHECK_STR(name_in(c, 1, 0x2000), "g");
	unlink(path);
	CHECK(again(&p, other) == other);
	CHECK_EQ(other->entries.count, 1);
	jit_code_free(c);
	jit_code_free(other);
	place_done(&p);
}

static void write_bytes(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(b->data, 1, b->size, f) == b->size);
	if (f)
		fclose(f);
}

static void a_dump_is_read_while_it_is_written(void)
{
	struct jit_code *c;
	struct buf b = {0};
	struct place p;
	char dump[160];

	place_init(&p);
	p.finder.root = NULL;
	snprintf(dump, sizeof(dump), "%s/jit-1.dump", p.tmp);
	p.request.dump = dump;
	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_load(&b, 100, 0x1000, 32, 0, "old", 'a');
	write_bytes(dump, &b);
	c = jit_finder_find(&p.finder, &p.request);
	CHECK_STR(name_in(c, 500, 0x1000), "old");
	dump_load(&b, 200, 0x1000, 32, 1, "new", 'b');
	write_bytes(dump, &b);
	CHECK(again(&p, c) == c);
	CHECK_EQ(c->entries.count, 2);
	CHECK(c->growth.again_ns); /* the whole file was read */
	CHECK_STR(name_in(c, 150, 0x1000), "old");
	CHECK_STR(name_in(c, 500, 0x1000), "new");
	jit_code_free(c);
	unlink(dump);
	buf_done(&b);
	place_done(&p);
}

/* Each call adds a function after the others; process 20 gets other code each time. */
static struct jit_code *more(void *ctx, const struct process_jit_request *request,
                             struct jit_code *code)
{
	struct jit_entry late = {.address = CODE + 128, .size = 64, .name = "late"};
	struct world *w = ctx;

	w->asked.count++;
	if (request->pid == 20)
		code = jit_code_new();
	jit_code_happened(code, 0, late.address, late.size, jit_code_add(code, &late));
	jit_code_finish(code);
	return code;
}

static void names_of_running_processes_are_read_again(void)
{
	struct frame first, f;
	struct world w;

	world_init(&w);
	process_table_set_jit_again(w.t, more);
	exec(&w, 10, 50);
	exec(&w, 20, 50);
	map(&w, 10, CODE, "//anon", true);
	map(&w, 20, CODE, "//anon", true);
	first = frame_at(&w, 10, 250, CODE);
	check_name(&w, first, "new");
	check_name(&w, frame_at(&w, 10, 250, CODE + 128), "[no symbol]");
	CHECK_EQ(w.asked.count, 1);
	process_table_jit_round(w.t);
	f = frame_at(&w, 10, 250, CODE + 128);
	check_name(&w, f, "late");
	CHECK_EQ(f.image, first.image);
	CHECK_EQ(w.asked.count, 2);
	frame_at(&w, 10, 250, CODE + 128);
	CHECK_EQ(w.asked.count, 2); /* once in a round */
	first = frame_at(&w, 20, 250, CODE);
	CHECK_EQ(w.asked.count, 3);
	process_table_jit_round(w.t);
	f = frame_at(&w, 20, 250, CODE + 128);
	check_name(&w, f, "late");
	CHECK(f.image != first.image);
	check_name(&w, first, "new"); /* frames keep their names */
	for (int i = 0; i < 100; i++) {
		process_table_jit_round(w.t);
		frame_at(&w, 20, 250, CODE);
	}
	CHECK(w.images.images.count < 40);
	w.asked.count = 0;
	task(&w, EVENT_EXIT, 10, 10, 300);
	process_table_jit_round(w.t);
	check_name(&w, frame_at(&w, 10, 310, CODE + 128), "late");
	CHECK_EQ(w.asked.count, 0); /* its pid may belong to another process */
	world_done(&w);
}

int main(void)
{
	RUN(names_by_time);
	RUN(only_processes_with_generated_code_are_asked);
	RUN(processes_share_no_generated_code);
	RUN(a_fork_without_own_names_inherits_them);
	RUN(a_dump_that_is_announced_later_counts);
	RUN(names_of_later_processes_are_deleted);
	RUN(why_there_is_no_name);
	RUN(a_map_under_a_root);
	RUN(files_are_opened_with_care);
	RUN(a_map_older_than_the_process_is_refused);
	RUN(kept_files_describe_the_original);
	RUN(the_mapped_dump_and_no_other);
	RUN(a_map_is_read_while_it_is_written);
	RUN(a_dump_is_read_while_it_is_written);
	RUN(names_of_running_processes_are_read_again);
	return check_end();
}
