/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jit_finder.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "format/jit/jit_file.h"
#include "format/jit/jit_growth.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"
#include "image/jit_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Clocks are adjusted and file times have the resolution of a tick, so small differences are
 * ignored.
 */
#define SLACK_NS 2000000000u

struct jit_finder_search {
	const struct jit_finder *finder;
	const struct process_jit_request *request;
	struct jit_process process; /* with `alive` */
	bool alive, same_machine;
	struct jit_code *code; /* the result */
	struct error refused;  /* the first file that existed and was refused */
};

/* Files in /tmp outlive a boot, so the host name and the time of writing are sufficient. */
static bool is_same_machine(const struct recording *r)
{
	char name[256] = "";

	return r->hostname && !gethostname(name, sizeof(name) - 1) && !strcmp(name, r->hostname);
}

/* True if the pid still belongs to the recorded process. */
static bool still_there(struct jit_finder_search *s)
{
	const struct recording *r = s->finder->recording;
	uint64_t began = s->request->start_ns ? s->request->start_ns : r->clock_start_ns;

	if (recording_place(r) != RECORDING_HERE || !jit_process_look(&s->process, s->request->pid))
		return false;
	/* An exec creates a new process instance in the same process, which started earlier. */
	return !began || s->process.start_ns <= began + recording_wall_offset(r) + SLACK_NS;
}

static bool in_time(struct jit_finder_search *s, uint64_t written_ns, const char *path)
{
	uint64_t began = s->request->start_ns;

	if (began)
		began += recording_wall_offset(s->finder->recording);
	else if (s->alive)
		began = s->process.start_ns;
	if (!began || written_ns + SLACK_NS >= began)
		return true;
	error_set(&s->refused, ESTALE,
	          "%s is older than the process: another one with that number "
	          "wrote it",
	          path);
	return false;
}

/* Takes ownership of `text`. */
static void take(struct jit_finder_search *s, struct buf *text, size_t start, bool dump,
                 const char *path, uint64_t written_ns, struct file_namer namer)
{
	const struct recording *r = s->finder->recording;
	struct jit_code *c = jit_code_new();
	bool timed = r->clockid == CLOCK_MONOTONIC;
	struct error err = {0};
	int status = 0;

	c->source = xstrdup(path);
	c->namer = file_namer_both(namer, r->namer);
	if (text->size > start && dump)
		status = jitdump_read(c, text->data + start, text->size - start, timed, &err);
	else if (text->size > start)
		perf_map_read(c, text->data + start, text->size - start);
	if (status || !c->entries.count) {
		error_set(&s->refused, EINVAL, "%s cannot be used: %s", path,
		          status ? err.text : "it contains no function");
		jit_code_free(c);
		buf_done(text);
		return;
	}
	if (text->data)
		jit_code_hold(c, text->data);
	if (dump && !timed && !c->remark)
		c->remark =
		        xstrdup("the recording has another clock than it (perf record -k mono)");
	if (written_ns > recording_wall_offset(r))
		c->written_ns = written_ns - recording_wall_offset(r);
	jit_code_finish(c);
	s->code = c;
}

/* The file is that of a process which may still write to it. */
static struct jit_growth may_grow(const struct jit_file *f, const struct buf *text, bool dump)
{
	struct jit_growth g = {.inode = f->inode, .size = f->size, .is_dump = dump};

	if (!dump)
		jit_growth_mark(&g, text->data, text->size);
	return g;
}

static void try_kept(struct jit_finder_search *s, bool dump)
{
	char *name = jit_file_kept_name(s->finder->recording, s->request->pid, dump), *path;
	struct jit_file f = {.fd = -1, .size = LIMIT_JIT_FILE_BYTES};
	struct buf text = {0};
	struct file_namer namer;
	uint64_t written_ns;
	size_t start;

	if (name)
		f.fd = cache_dir_find(s->finder->cache, "jit", name);
	free(name);
	if (f.fd < 0)
		return;
	if (jit_file_read(&text, &f, "a kept file", NULL) ||
	    !jit_file_unpack(&text, &written_ns, &namer, &path, &start)) {
		buf_done(&text);
	} else {
		if (in_time(s, written_ns, path))
			take(s, &text, start, dump, path, written_ns, namer);
		else
			buf_done(&text);
		free(path);
	}
	close(f.fd);
}

/* The mapping of the marker identifies the file, so it cannot be replaced by another file. */
static bool is_mapped_file(struct jit_finder_search *s, const struct jit_file *f, const char *path)
{
	const struct process_jit_request *r = s->request;

	if (!r->inode || f->inode == r->inode)
		return true;
	error_set(&s->refused, ESTALE, "%s is not the file that the process mapped", path);
	return false;
}

/*
 * The process chose the directories of a path below its root directory. The path of a dump is of
 * the recording, whose inode identifies the file.
 */
static struct file_namer namer_of(const struct jit_finder_search *s, bool dump)
{
	struct file_namer namer = {.user = s->alive && !dump ? s->process.user : 0};

	namer = file_namer_both(namer, s->finder->recording->namer);
	return s->alive ? file_namer_in_process(namer, s->request->pid) : namer;
}

/* Takes ownership of `path`, which may be NULL. */
static void try_path(struct jit_finder_search *s, char *path, bool dump, bool copied)
{
	uid_t user = s->alive ? s->process.user : geteuid();
	struct file_namer namer = {0};
	struct error err = {0};
	struct jit_growth growth = {0};
	struct buf text = {0};
	struct jit_file f;
	int status;

	if (s->code || !path) {
		free(path);
		return;
	}
	if (copied || (dump && s->request->inode))
		user = JIT_FILE_ANY_USER;
	if (!copied)
		namer = namer_of(s, dump && s->request->inode);
	status = jit_file_open(&f, path, user, &namer, &err);
	if (!status) {
		if ((copied || !dump || is_mapped_file(s, &f, path)) &&
		    (copied || in_time(s, f.written_ns, path))) {
			status = jit_file_read(&text, &f, path, &err);
			if (!status) {
				growth = may_grow(&f, &text, dump);
				take(s, &text, 0, dump, path, f.written_ns,
				     file_namer_both(f.namer, namer));
			} else {
				buf_done(&text);
			}
			if (s->code && !copied)
				s->code->growth = growth;
		}
		close(f.fd);
	}
	if (status && status != -ENOENT && !s->refused.code)
		s->refused = err;
	free(path);
}

static void try_dump(struct jit_finder_search *s)
{
	const char *path = s->request->dump;

	if (!path)
		return;
	try_kept(s, true);
	if (s->finder->root)
		try_path(s, xasprintf("%s%s", s->finder->root, path), true, true);
	if (!s->same_machine)
		return;
	if (s->alive)
		try_path(s, xasprintf("/proc/%d/root%s", s->request->pid, path), true, false);
	try_path(s, xstrdup(path), true, false);
	if (!s->code && !s->refused.code)
		error_set(&s->refused, ENOENT, "%s is no longer there", path);
}

static void try_map(struct jit_finder_search *s)
{
	int32_t pid = s->request->pid;

	if (s->code)
		return;
	try_kept(s, false);
	if (s->finder->root)
		try_path(s, xasprintf("%s/tmp/perf-%d.map", s->finder->root, pid), false, true);
	if (!s->same_machine)
		return;
	if (s->alive)
		try_path(s, xasprintf("/proc/%d/root/tmp/perf-%d.map", pid, s->process.own_pid),
		         false, false);
	try_path(s, xasprintf("/tmp/perf-%d.map", pid), false, false);
}

/* How to make a program write the names of the code that it generates. */
static const char *advice(const char *name)
{
	static const struct {
		const char *name, *text;
	} known[] = {
	        {"node", "start node with --perf-basic-prof, or --perf-prof"},
	        {"java", "start java with -XX:+PreserveFramePointer "
	                 "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (17 and later), "
	                 "or with an agent that writes perf maps"},
	        {"dotnet", "set DOTNET_PerfMapEnabled=1"},
	        {"python", "start python with -X perf (3.12 and later)"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(name, known[i].name, strlen(known[i].name)))
			return known[i].text;
	return "its runtime may write them: node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, "
	       "DOTNET_PerfMapEnabled=1, python -X perf";
}

static struct jit_code *without_names(const struct jit_finder_search *s)
{
	const struct process_jit_request *r = s->request;
	const char *host = s->finder->recording->hostname;
	struct jit_code *c = jit_code_new();

	if (s->refused.code)
		c->trouble = xasprintf("%s (pid %d) generates code, which has no names: %s",
		                       r->name, r->pid, s->refused.text);
	else if (!s->same_machine)
		c->trouble = xasprintf(
		        "%s (pid %d) generates code: its names may be in /tmp/perf-%d.map on "
		        "%s, "
		        "where it was recorded (copy that to DIRECTORY/tmp and give --symfs "
		        "DIRECTORY); otherwise, %s",
		        r->name, r->pid, r->pid, host ? host : "the machine", advice(r->name));
	else
		c->trouble = xasprintf("%s (pid %d) generates code and wrote no names of it: %s",
		                       r->name, r->pid, advice(r->name));
	return c;
}

struct jit_code *jit_finder_find(void *ctx, const struct process_jit_request *request)
{
	const struct jit_finder *finder = ctx;
	struct jit_finder_search s = {.finder = finder,
	                              .request = request,
	                              .same_machine = is_same_machine(finder->recording)};

	s.alive = still_there(&s);
	try_dump(&s);
	try_map(&s);
	return s.code ? s.code : without_names(&s);
}
