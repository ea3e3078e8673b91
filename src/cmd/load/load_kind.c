/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load_kind.h"

#include "base/read/input_file.h"
#include "base/text/plural.h"
#include "cmd/cli/print.h"
#include "format/ctf/ctf.h"
#include "format/file_kind.h"
#include "format/pprof/pprof_legacy.h"
#include "format/profiles/profile_file.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int no_file(const char *path, struct error *err)
{
	if (!strcmp(path, LOAD_DEFAULT))
		return error_set(
		        err, ENOENT,
		        "there is no file " LOAD_DEFAULT
		        "; 'assay record' makes one ('assay calls' makes " LOAD_DEFAULT_CALLS
		        ", of call paths, 'assay tags' " LOAD_DEFAULT_TAGS ", of event tags)");
	return error_set(err, ENOENT,
	                 "there is no file %s; 'assay record -o', 'assay calls -o' or 'assay "
	                 "tags -o' would make one",
	                 path);
}

/* The reason why a file of this kind cannot be read as samples: the message after its name. */
static const char *const no_samples[] = {
        [FILE_EMPTY] = "is empty: its recorder ended before it wrote",
        [FILE_CTF] = "is a trace of event tags, which 'assay report' and 'assay tags trace' show",
        [FILE_TAG_RINGS] = "is what a process records event tags into; 'assay tags get' makes a "
                           "trace of it, which can be read",
        [FILE_CALLS] = "is a table of call paths, which 'assay report' shows",
        [FILE_JITDUMP] = NULL,
};

static int refuse(const char *path, enum file_kind kind, struct error *err)
{
	struct stat st;

	if ((kind == FILE_UNKNOWN || kind == FILE_DIRECTORY) && file_kind_refuse_other(path, err))
		return -EINVAL;
	if (kind == FILE_DIRECTORY)
		return ctf_no_trace(path, err);
	if (kind == FILE_SPECIAL)
		return stat(path, &st)
		               ? error_set(err, errno, "cannot read %s: %s", path, strerror(errno))
		               : input_file_refuse(path, st.st_mode, err);
	if (kind == FILE_PPROF_LEGACY)
		return pprof_legacy_refuse(path, err);
	if (profile_file_word(kind))
		return error_set(err, EINVAL,
		                 "%s is %s, which 'assay report' shows, 'assay sql' asks and "
		                 "'assay export' writes in other formats",
		                 path, profile_file_word(kind));
	return error_set(
	        err, EINVAL, "%s %s", path,
	        no_samples[kind]
	                ? no_samples[kind]
	                : "is not a recording that assay reads: it begins neither as "
	                  "perf.data nor as a table of call paths, a profile (pprof, OTLP, folded "
	                  "stacks, callgrind, trace events) or a store. 'assay record', 'perf "
	                  "record' "
	                  "and 'go tool pprof -proto' write files that assay reads");
}

int load_kind_check_samples(const char *path, struct error *err)
{
	enum file_kind kind;
	int code;

	if (!strcmp(path, "-") && isatty(STDIN_FILENO))
		return error_set(err, EINVAL, "standard input is a terminal, and no recording");
	kind = file_kind_of(path, &code);
	/* The reader of a stream checks the contents of streams and of standard input. */
	if (!strcmp(path, "-") || kind == FILE_STREAM || kind == FILE_PERF_DATA ||
	    kind == FILE_PERF_DIRECTORY)
		return 0;
	if (code == -ENOENT)
		return no_file(path, err);
	if (code)
		return error_set(err, -code, "cannot open %s: %s", path, strerror(-code));
	return refuse(path, kind, err);
}

bool load_is_calls(const char *path)
{
	return file_kind_of(path, NULL) == FILE_CALLS;
}

/* pprof profiles have no default name, since each producer uses its own. */
static const char *const defaults[LOAD_KINDS] = {
        [LOAD_SAMPLES] = LOAD_DEFAULT,
        [LOAD_CALLS] = LOAD_DEFAULT_CALLS,
        [LOAD_TAGS] = LOAD_DEFAULT_TAGS,
};

/* The time when the file was written; for a trace, that of its metadata, which is written last. */
static bool written(enum load_kind kind, struct timespec *when)
{
	const char *path = kind == LOAD_TAGS ? LOAD_DEFAULT_TAGS "/metadata" : defaults[kind];
	struct stat st;

	if (!path || stat(path, &st))
		return false;
	*when = st.st_mtim;
	return true;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void tell_choice(unsigned here, enum load_kind chosen)
{
	char others[64] = "";
	size_t used = 0, count = 0;

	for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++)
		if (kind != chosen && here & LOAD_BIT(kind))
			used += (size_t)snprintf(others + used, sizeof(others) - used, "%s%s",
			                         count++ ? " and " : "", defaults[kind]);
	if (count)
		print_message("reading %s; %s also %s if you name %s", defaults[chosen], others,
		              plural(count, "exists, and is read", "exist, and are read"),
		              plural(count, "it", "them"));
}

void load_choose(struct load_options *o, unsigned readable, unsigned about)
{
	struct timespec when[LOAD_KINDS];
	enum load_kind chosen = LOAD_KINDS;
	unsigned here = 0, among;

	if (o->inputs.count || o->argument_count > 0 || o->store)
		return;
	for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++)
		if (readable & LOAD_BIT(kind) && written(kind, &when[kind]))
			here |= LOAD_BIT(kind);
	if (!here)
		return;
	among = here & about ? here & about : here;
	for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++)
		if (among & LOAD_BIT(kind) &&
		    (chosen == LOAD_KINDS || is_later(&when[kind], &when[chosen])))
			chosen = kind;
	o->fallback = defaults[chosen];
	tell_choice(here, chosen);
}

const char *load_named(const struct load_options *o, size_t n)
{
	size_t arguments = o->argument_count > 0 ? (size_t)o->argument_count : 0;

	if (n < o->inputs.count)
		return o->inputs.items[n];
	n -= o->inputs.count;
	return n < arguments ? o->arguments[n] : NULL;
}

const char *load_file(const struct load_options *o, size_t n)
{
	if (n || load_named(o, 0))
		return load_named(o, n);
	return o->fallback ? o->fallback : LOAD_DEFAULT;
}

static enum load_kind kind_of(const char *path)
{
	switch (file_kind_of(path, NULL)) {
	case FILE_CTF:
		return LOAD_TAGS;
	case FILE_CALLS:
		return LOAD_CALLS;
	case FILE_PPROF:
	case FILE_OTLP:
	case FILE_FOLDED:
	case FILE_CALLGRIND:
	case FILE_CHROME:
		return LOAD_PPROF;
	default:
		return LOAD_SAMPLES;
	}
}

int load_kind(enum load_kind *kind, const struct load_options *o, struct error *err)
{
	static const char *const holds[LOAD_KINDS] = {"samples", "call paths", "event tags",
	                                              "a pprof profile"};
	const char *first = load_file(o, 0), *path;

	*kind = LOAD_SAMPLES;
	if (o->store || (first && store_is_remote(first)))
		return 0;
	*kind = kind_of(first);
	for (size_t i = 1; (path = load_file(o, i)); i++) {
		enum load_kind other = kind_of(path);

		if (other == *kind)
			continue;
		/* An unknown file counts as samples here; opening it later reports the error. */
		if (other == LOAD_SAMPLES)
			return error_set(err, EINVAL,
			                 "%s holds %s, and %s does not: they have no common "
			                 "report; give them one by one",
			                 first, holds[*kind], path);
		return error_set(err, EINVAL,
		                 "%s holds %s, and %s does not: they have no common "
		                 "report; give them one by one",
		                 path, holds[other], first);
	}
	return 0;
}

int load_tags_path(const char **path, const struct load_options *o, struct error *err)
{
	*path = load_file(o, 0);
	if (load_file(o, 1))
		return error_set(err, EINVAL,
		                 "%s and %s are traces of event tags, and each has a clock of its "
		                 "own: give them one by one",
		                 *path, load_file(o, 1));
	return 0;
}

int load_pprof_path(const char **path, const struct load_options *o, struct error *err)
{
	*path = load_file(o, 0);
	if (load_file(o, 1))
		return error_set(err, EINVAL,
		                 "%s and %s are pprof profiles, each with values of its own: give "
		                 "them one by one, or add them up with 'go tool pprof -proto'",
		                 *path, load_file(o, 1));
	return 0;
}
