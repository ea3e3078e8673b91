/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load.h"
#include "cmd/cli/print.h"

#include "base/memory/xalloc.h"
#include "cmd/load/load_store.h"
#include "format/calls/calls_file.h"
#include "format/ctf/ctf.h"
#include "format/file_kind.h"
#include "format/jit/jit_finder.h"
#include "format/perf/perf_data.h"
#include "format/pprof/pprof_legacy.h"
#include "profile/profile_builder.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(field) offsetof(struct load_options, field)

static const struct option recording_table[] = {
        {.kind = OPTION_EACH,
         .letter = 'i',
         .name = "input",
         .argument = "FILE",
         .help = "a recording, also without -i; several are added up (default perf.data); "
                 "- is standard input",
         .is_no_value = load_is_calls,
         .offset = AT(inputs)},
        {.kind = OPTION_STRING,
         .name = "time",
         .argument = "FROM,TO",
         .help = "samples of this time alone: seconds of the clock, +SECONDS, or PERCENT%",
         .details = "FROM and TO are seconds as perf script prints them, +SECONDS after the first "
                    "sample, or a percentage of the recording (10%,20%). Either may be left out. "
                    "There is no account of time then: it closes for whole recordings alone.",
         .offset = AT(time)},
        {.kind = OPTION_END},
};

const struct option load_option_table[] = {
        {.kind = OPTION_INCLUDE, .include = recording_table},
        {.kind = OPTION_INCLUDE, .include = load_store_table},
        {.kind = OPTION_END},
};

const struct option load_to_form_table[] = {
        {.kind = OPTION_INCLUDE, .include = recording_table},
        {.kind = OPTION_INCLUDE, .include = load_until_table},
        {.kind = OPTION_END},
};

const struct option symbol_option_table[] = {
        {.kind = OPTION_STRING,
         .name = "kallsyms",
         .argument = "FILE",
         .help = "the recorded kernel's symbols (default /proc/kallsyms)",
         .offset = AT(kallsyms)},
        {.kind = OPTION_STRING,
         .letter = 'k',
         .name = "vmlinux",
         .argument = "FILE",
         .help = "the recorded kernel as an ELF file",
         .offset = AT(vmlinux)},
        {.kind = OPTION_STRING,
         .name = "symfs",
         .argument = "DIRECTORY",
         .help = "look for the recorded files under DIRECTORY",
         .offset = AT(root)},
        {.kind = OPTION_FLAG,
         .name = "no-demangle",
         .help = "names as the linker knows them",
         .offset = AT(raw_names)},
        {.kind = OPTION_STRING,
         .name = "debuginfod",
         .argument = "[URL]",
         .help = "fetch missing debug files from servers, in the background",
         .details = "From URL, or the servers in $DEBUGINFOD_URLS. Those of the files with the "
                    "most samples are asked for by build-id; nothing waits for them: what is "
                    "being fetched is named, and is there the next time. Without this option no "
                    "server is asked.",
         .offset = AT(debuginfod)},
        {.kind = OPTION_FLAG,
         .name = "no-inline",
         .help = "leave out functions that were inlined into others",
         .offset = AT(no_inlines)},
        {.kind = OPTION_END},
};

/* One end of --time. */
struct time_bound {
	enum { MOMENT_NONE, MOMENT_CLOCK, MOMENT_AFTER, MOMENT_PART } kind;
	uint64_t ns; /* PART: thousandths of a percent */
};

/* Seconds with up to nine places, in ns; without floating point, for clocks have 19 digits. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	const char *start = text;
	uint64_t unit = 1000000000;

	*ns = 0;
	for (; *text >= '0' && *text <= '9' && text - start < 10; text++)
		*ns = *ns * 10 + (uint64_t)(*text - '0') * unit;
	if (text == start)
		return NULL;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		unit /= 10;
		*ns += (uint64_t)(*text - '0') * unit;
	}
	return text;
}

static int parse_time_bound(const char *text, size_t length, struct time_bound *m)
{
	char copy[64];
	const char *end;

	if (!length)
		return 0;
	if (length >= sizeof(copy))
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	end = parse_seconds(copy + (copy[0] == '+'), &m->ns);
	if (!end)
		return -1;
	m->kind = copy[0] == '+' ? MOMENT_AFTER : *end == '%' ? MOMENT_PART : MOMENT_CLOCK;
	return end[*end == '%'] ? -1 : 0;
}

static int parse_time(const char *text, struct time_bound *from, struct time_bound *to,
                      struct error *err)
{
	const char *comma = strchr(text, ',');

	/* perf writes 10%-20% */
	if (!comma)
		comma = strchr(text, '-');
	if (!comma || parse_time_bound(text, (size_t)(comma - text), from) ||
	    parse_time_bound(comma + 1, strlen(comma + 1), to))
		return error_set(err, EINVAL,
		                 "--time wants FROM,TO in seconds, +seconds or percent, not '%s'",
		                 text);
	return 0;
}

static uint64_t time_bound_ns(const struct time_bound *m, const struct recording *r)
{
	uint64_t length = r->last_sample_ns - r->first_sample_ns;

	switch (m->kind) {
	case MOMENT_NONE:
		return 0;
	case MOMENT_CLOCK:
		return m->ns;
	case MOMENT_AFTER:
		return r->first_sample_ns + m->ns;
	case MOMENT_PART:
		break;
	}
	return r->first_sample_ns + (uint64_t)((double)length * (double)m->ns / 1e11);
}

static int ignore_begin(void *ctx, const struct recording *r, struct error *err)
{
	return 0;
}

static int ignore_event(void *ctx, const struct event *e, struct error *err)
{
	return 0;
}

/* Relative times need the first and the last sample: a reading of its own. */
static int resolve_time(const char *path, const char *text, struct perf_data_read_options *ro,
                        struct error *err)
{
	struct event_sink nowhere = {
	        .begin = ignore_begin, .event = ignore_event, .end = ignore_begin};
	struct time_bound from = {0}, to = {0};
	struct recording r;
	int ret = 0;

	if (!text)
		return 0;
	ret = parse_time(text, &from, &to, err);
	if (ret)
		return ret;
	recording_init(&r);
	if ((from.kind > MOMENT_CLOCK || to.kind > MOMENT_CLOCK) &&
	    file_kind_of(path, NULL) == FILE_STREAM)
		return error_set(
		        err, EINVAL,
		        "--time %s: a pipe is read once, and what is relative to the whole "
		        "needs two readings: give seconds, or a file",
		        text);
	if (from.kind > MOMENT_CLOCK || to.kind > MOMENT_CLOCK)
		ret = perf_data_read(path, NULL, &r, &nowhere, err);
	ro->from_ns = time_bound_ns(&from, &r);
	ro->to_ns = time_bound_ns(&to, &r);
	recording_done(&r);
	if (!ret && ro->to_ns && ro->to_ns < ro->from_ns)
		ret = error_set(err, EINVAL, "--time %s ends before it begins", text);
	return ret;
}

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

/* Why a file of this kind is not read as samples. */
static int no_samples(const char *path, enum file_kind kind, struct error *err)
{
	switch (kind) {
	case FILE_CTF:
		return error_set(
		        err, EINVAL,
		        "%s is a trace of event tags, which 'assay report' and 'assay tags "
		        "trace' show",
		        path);
	case FILE_DIRECTORY:
		return ctf_no_trace(path, err);
	case FILE_EMPTY:
		return error_set(err, EINVAL, "%s is empty: its recorder ended before it wrote",
		                 path);
	case FILE_SPECIAL:
		return error_set(err, EINVAL, "cannot read %s: is it a file?", path);
	case FILE_TAG_RINGS:
		return error_set(err, EINVAL,
		                 "%s is what a process records event tags into; 'assay tags get' "
		                 "makes a trace of it, which can be read",
		                 path);
	case FILE_CALLS:
		return error_set(err, EINVAL,
		                 "%s is a table of call paths, which 'assay report' shows", path);
	case FILE_PPROF:
		return error_set(err, EINVAL,
		                 "%s is a pprof profile, which 'assay report' shows, 'assay sql' "
		                 "asks and 'assay export' writes as folded stacks",
		                 path);
	case FILE_PPROF_LEGACY:
		return pprof_legacy_refuse(path, err);
	default:
		return error_set(err, EINVAL,
		                 "%s is no recording that assay reads: it begins neither as "
		                 "perf.data nor as a table of call paths, a pprof profile or a "
		                 "store. 'assay record', 'perf record' and 'go tool pprof -proto' "
		                 "write files that assay reads",
		                 path);
	}
}

static int check_samples(const char *path, struct error *err)
{
	enum file_kind kind;
	int code;

	if (!strcmp(path, "-") && isatty(STDIN_FILENO))
		return error_set(err, EINVAL, "standard input is a terminal, and no recording");
	kind = file_kind_of(path, &code);
	/* The reader of a stream recognises it, and a file on standard input likewise. */
	if (!strcmp(path, "-") || kind == FILE_STREAM || kind == FILE_PERF_DATA ||
	    kind == FILE_PERF_DIRECTORY)
		return 0;
	if (code == -ENOENT)
		return no_file(path, err);
	if (code)
		return error_set(err, -code, "cannot open %s: %s", path, strerror(-code));
	return no_samples(path, kind, err);
}

bool load_is_calls(const char *path)
{
	return file_kind_of(path, NULL) == FILE_CALLS;
}

typedef int load_file_fn(void *ctx, const char *path, const struct perf_data_read_options *ro,
                         struct error *err);

static int load_file(const struct load_options *o, const char *path, load_file_fn *fn, void *ctx,
                     struct error *err)
{
	struct perf_data_read_options ro = {0};
	int ret = check_samples(path, err);

	if (!ret)
		ret = resolve_time(path, o->time, &ro, err);
	return ret ? ret : fn(ctx, path, &ro, err);
}

static const char *default_file(const struct load_options *o)
{
	return o->fallback ? o->fallback : LOAD_DEFAULT;
}

/* Of pprof there is none: producers call their files as they like. */
static const char *const defaults[LOAD_KINDS] = {
        [LOAD_SAMPLES] = LOAD_DEFAULT,
        [LOAD_CALLS] = LOAD_DEFAULT_CALLS,
        [LOAD_TAGS] = LOAD_DEFAULT_TAGS,
};

/* When it was written: of a trace its metadata, which comes last. */
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
	size_t used = 0;

	for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++)
		if (kind != chosen && here & LOAD_BIT(kind))
			used += (size_t)snprintf(others + used, sizeof(others) - used, "%s%s",
			                         used ? " and " : "", defaults[kind]);
	if (used)
		print_message("this is %s; %s is here, too, and is read if you name it",
		              defaults[chosen], others);
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

static int each_file(const struct load_options *o, load_file_fn *fn, void *ctx, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < o->inputs.count && !ret; i++)
		ret = load_file(o, o->inputs.items[i], fn, ctx, err);
	for (int i = 0; i < o->argument_count && !ret; i++)
		ret = load_file(o, o->arguments[i], fn, ctx, err);
	if (!o->inputs.count && !o->argument_count)
		ret = load_file(o, default_file(o), fn, ctx, err);
	return ret;
}

static int check_file(void *ctx, const char *path, const struct perf_data_read_options *ro,
                      struct error *err)
{
	return 0;
}

int load_check(const struct load_options *o, struct error *err)
{
	struct load_options plain = *o;

	plain.time = NULL; /* which would be sought in the file */
	return each_file(&plain, check_file, NULL, err);
}

struct profile_reading {
	struct profile *profile;
	const char *root;
	uint64_t window_ns;
	struct cache_dir *cache; /* NULL: none can be had, and all is sought where it was */
	const volatile sig_atomic_t *stop;
};

/* Events on their way to a sink, until somebody has had enough. */
struct stoppable {
	struct event_sink sink;
	const volatile sig_atomic_t *stop;
};

static int stoppable_begin(void *ctx, const struct recording *r, struct error *err)
{
	const struct stoppable *s = ctx;

	return s->sink.begin ? s->sink.begin(s->sink.ctx, r, err) : 0;
}

static int stoppable_event(void *ctx, const struct event *e, struct error *err)
{
	const struct stoppable *s = ctx;

	return *s->stop ? error_set(err, EINTR, "interrupted") : s->sink.event(s->sink.ctx, e, err);
}

static int stoppable_end(void *ctx, const struct recording *r, struct error *err)
{
	const struct stoppable *s = ctx;

	return s->sink.end ? s->sink.end(s->sink.ctx, r, err) : 0;
}

static int read_profile(void *ctx, const char *path, const struct perf_data_read_options *ro,
                        struct error *err)
{
	const struct profile_reading *reading = ctx;
	struct profile *p = reading->profile;
	struct profile_builder_options bo = {
	        .root = reading->root, .cache = reading->cache, .window_ns = reading->window_ns};
	struct profile_builder *b = profile_builder_new(p, &bo);
	struct stoppable stoppable = {profile_builder_sink(b), reading->stop};
	struct event_sink sink = {&stoppable, stoppable_begin, stoppable_event, stoppable_end};
	struct recording *r = xcalloc(1, sizeof(*r));
	struct jit_finder finder = {r, reading->root, reading->cache};
	int ret;

	recording_init(r);
	vec_push(&p->recordings, r);
	process_table_set_jit(p->processes, jit_finder_find, &finder);
	ret = perf_data_read(path, ro, r, reading->stop ? &sink : &stoppable.sink, err);
	process_table_set_jit(p->processes, NULL, NULL);
	profile_builder_free(b);
	return ret;
}

static int read_files(struct profile *p, const struct load_options *o, struct error *err)
{
	struct profile_reading reading = {
	        .profile = p, .root = o->root, .window_ns = o->window_ns, .stop = o->stop};
	int ret;

	cache_dir_open(&reading.cache, NULL);
	ret = each_file(o, read_profile, &reading, err);
	cache_dir_close(reading.cache);
	return ret;
}

int load_profile(struct profile **out, const struct load_options *o, struct error *err)
{
	struct profile *p = profile_new();
	char *store;
	int ret;

	ret = load_store_path(&store, o, err);
	if (!ret)
		ret = store ? load_store_read(p, store, o, err) : read_files(p, o, err);
	free(store);
	if (ret) {
		profile_free(p);
		return ret;
	}
	if (!o->time)
		profile_weigh_idle(p);
	profile_seal(p);
	*out = p;
	return 0;
}

static int read_ticks(void *ctx, const char *path, const struct perf_data_read_options *ro,
                      struct error *err)
{
	struct event_sink sink = ticks_sink(ctx);
	struct recording r;
	int ret;

	recording_init(&r);
	ret = perf_data_read(path, ro, &r, &sink, err);
	recording_done(&r);
	return ret;
}

int load_ticks(struct ticks *t, const struct load_options *o, struct error *err)
{
	char *store;
	int ret;

	ticks_init(t);
	ret = load_store_path(&store, o, err);
	if (!ret && store)
		ret = error_set(err, EINVAL,
		                "%s is a store: it holds sums of windows, and not the time of "
		                "each sample; this takes a recording ('assay record')",
		                store);
	else if (!ret)
		ret = each_file(o, read_ticks, t, err);
	free(store);
	return ret;
}

/* One file after the other: those of -i first. NULL behind the last. */
static const char *nth_file(const struct load_options *o, size_t n)
{
	size_t arguments = o->argument_count > 0 ? (size_t)o->argument_count : 0;

	if (n < o->inputs.count)
		return o->inputs.items[n];
	if (n - o->inputs.count < arguments)
		return o->arguments[n - o->inputs.count];
	return n || o->inputs.count || arguments ? NULL : default_file(o);
}

static enum load_kind kind_of(const char *path)
{
	switch (file_kind_of(path, NULL)) {
	case FILE_CTF:
		return LOAD_TAGS;
	case FILE_CALLS:
		return LOAD_CALLS;
	case FILE_PPROF:
		return LOAD_PPROF;
	default:
		return LOAD_SAMPLES;
	}
}

int load_kind(enum load_kind *kind, const struct load_options *o, struct error *err)
{
	static const char *const holds[LOAD_KINDS] = {"samples", "call paths", "event tags",
	                                              "a pprof profile"};
	const char *first = nth_file(o, 0), *path;

	*kind = LOAD_SAMPLES;
	if (o->store)
		return 0;
	*kind = kind_of(first);
	for (size_t i = 1; (path = nth_file(o, i)); i++) {
		enum load_kind other = kind_of(path);

		if (other == *kind)
			continue;
		/* What is no recording at all counts as samples, until it is opened. */
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
	*path = nth_file(o, 0);
	if (nth_file(o, 1))
		return error_set(err, EINVAL,
		                 "%s and %s are traces of event tags, and each has a clock of its "
		                 "own: give them one by one",
		                 *path, nth_file(o, 1));
	return 0;
}

int load_pprof_path(const char **path, const struct load_options *o, struct error *err)
{
	*path = nth_file(o, 0);
	if (nth_file(o, 1))
		return error_set(err, EINVAL,
		                 "%s and %s are pprof profiles, each with values of its own: give "
		                 "them one by one, or add them up with 'go tool pprof -proto'",
		                 *path, nth_file(o, 1));
	return 0;
}

int load_calls(struct call_paths **out, const struct load_options *o, struct error *err)
{
	struct call_paths *c = call_paths_new();
	const char *path;
	int ret = 0;

	for (size_t i = 0; !ret && (path = nth_file(o, i)); i++)
		ret = calls_file_load(c, strcmp(path, "-") != 0 ? path : "/dev/stdin", err);
	if (ret) {
		call_paths_free(c);
		return ret;
	}
	call_paths_close(c);
	*out = c;
	return 0;
}

static struct symbol_options symbol_options_of(const struct load_options *o)
{
	struct symbol_options so = {.raw_names = o->raw_names,
	                            .no_inlines = o->no_inlines,
	                            .cached = true,
	                            .kallsyms = o->kallsyms,
	                            .vmlinux = o->vmlinux,
	                            .root = o->root,
	                            .debuginfod = o->debuginfod};

	if (so.debuginfod && !*so.debuginfod)
		so.debuginfod = getenv("DEBUGINFOD_URLS");
	if (o->debuginfod && (!so.debuginfod || !*so.debuginfod))
		command_fail(0, "--debuginfod: no server is known: set DEBUGINFOD_URLS or give "
		                "--debuginfod=URL");
	return so;
}

struct symbolizer *load_calls_symbolizer(struct call_paths *c, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	return symbolizer_new(&c->images, &so);
}

struct symbolizer *load_symbolizer(struct profile *p, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	if (p->recordings.count) {
		const struct recording *r = p->recordings.items[0];

		so.kernel_release = r->os_release;
		vec_each (id, &r->build_ids)
			if (id->filename && !strncmp(id->filename, "[kernel.kallsyms]", 17))
				so.kernel_id = id->id;
	}
	return symbolizer_new(&p->images, &so);
}
