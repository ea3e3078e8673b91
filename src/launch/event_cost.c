/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/event_cost.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "base/statistics/on_off.h"
#include "launch/calls/calls_runtime.h"
#include "launch/run_directory.h"
#include "launch/tags/tags_runtime.h"
#include "source/runtime/call_table.h"
#include "source/runtime/tag_rings.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Number of calls in a piece: few, so that most pieces are not interrupted. */
#define EVENTS 1000
#define PAIRS_LEAST 32
#define PAIRS_MOST 1000
/* Event tags: as many as have room in the rings, since a full ring makes an event cheaper. */
#define PAIRS_OF_TAGS 150
#define LONGEST_NS UINT64_C(5000000000)

struct runtime {
	const struct shared_kind *kind;
	const char *library; /* its path */
	void (*load)(void *library);
	bool (*loaded)(void);
	void (*event)(void);
	void (*bare)(void); /* the same without the runtime */
	size_t pairs_most;
};

/* ---- in the child ---------------------------------------------------------- */

typedef void hook_fn(void *function, void *site);

static hook_fn *hook_enter, *hook_exit;
static void (*tag_event)(unsigned tag);

static void load_calls(void *library)
{
	hook_enter = (hook_fn *)dlsym(library, CALLS_RUNTIME_HOOK);
	hook_exit = (hook_fn *)dlsym(library, "__cyg_profile_func_exit");
}

static bool calls_loaded(void)
{
	return hook_enter && hook_exit;
}

static __attribute__((noinline)) void bare_call(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void counted_call(void)
{
	void *site = __builtin_return_address(0);

	hook_enter((void *)counted_call, site);
	__asm__ volatile("");
	hook_exit((void *)counted_call, site);
}

static void load_tags(void *library)
{
	tag_event = (void (*)(unsigned))dlsym(library, "assay_tags_event");
}

static bool tags_loaded(void)
{
	return tag_event != NULL;
}

static __attribute__((noinline)) void tagged(void)
{
	tag_event(2);
}

static double piece(void *ctx, bool on, uint32_t *events)
{
	const struct runtime *r = ctx;
	void (*event)(void) = on ? r->event : r->bare;
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < EVENTS; i++)
		event();
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / EVENTS;
}

static _Noreturn void child(struct runtime *r, const char *directory, int to)
{
	double ns[PAIRS_MOST];
	struct on_off m = {.piece = piece,
	                   .ctx = r,
	                   .differences = ns,
	                   .room = r->pairs_most,
	                   .pairs_least = PAIRS_LEAST,
	                   .cpu_ns = LONGEST_NS,
	                   .elapsed_ns = LONGEST_NS};
	struct on_off_figure figure;
	uint32_t none;
	void *library;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv(r->kind->variable, directory, 1);
	library = dlopen(r->library, RTLD_NOW | RTLD_LOCAL);
	if (library)
		r->load(library);
	if (!library || !r->loaded())
		_exit(1);
	piece(r, true, &none); /* creates the runtime's files */
	on_off_run(&m);
	on_off_of_pairs(ns, m.count, &figure);
	_exit(write(to, &figure, sizeof(figure)) != sizeof(figure));
}

/* ---- in assay ---------------------------------------------------------------- */

static void remove_files(const char *directory)
{
	DIR *list = opendir(directory);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	run_directory_end(directory);
}

/* False: the child could not load the runtime, or was killed. */
static bool run_child(struct runtime *r, const char *directory, struct on_off_figure *figure)
{
	int ends[2];
	pid_t pid;
	bool done;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		child(r, directory, ends[1]);
	close(ends[1]);
	done = pid > 0 && read(ends[0], figure, sizeof(*figure)) == sizeof(*figure);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return done;
}

static int measure(struct runtime *r, struct method_cost *cost, struct error *err)
{
	struct on_off_figure figure;
	char *directory;
	int status = run_directory_begin(r->kind, &directory, err);

	if (status)
		return status;
	if (!run_child(r, directory, &figure))
		status = error_set(err, EIO, "%s cannot be loaded or has stopped", r->library);
	else if (!on_off_precise(&figure))
		status = error_set(err, EBUSY, "the machine is too busy");
	else
		method_cost_set(cost, &figure);
	remove_files(directory);
	free(directory);
	return status;
}

int event_cost_call(struct method_cost *cost, struct error *err)
{
	struct runtime r = {.kind = &call_table_kind,
	                    .load = load_calls,
	                    .loaded = calls_loaded,
	                    .event = counted_call,
	                    .bare = bare_call,
	                    .pairs_most = PAIRS_MOST};
	char *library;
	int status = calls_runtime_find(&library, err);

	if (status)
		return status;
	r.library = library;
	status = measure(&r, cost, err);
	free(library);
	return status;
}

int event_cost_tag(struct method_cost *cost, struct error *err)
{
	struct runtime r = {.kind = &tag_rings_kind,
	                    .load = load_tags,
	                    .loaded = tags_loaded,
	                    .event = tagged,
	                    .bare = bare_call,
	                    .pairs_most = PAIRS_OF_TAGS};
	struct tags_runtime found;
	char *library;
	int status = tags_runtime_find(&found, err);

	if (!status) {
		r.library = library = xasprintf("%s/" TAGS_RUNTIME_LIBRARY, found.libraries);
		status = measure(&r, cost, err);
		free(library);
	}
	tags_runtime_done(&found);
	return status;
}
