/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load: reads the files of a command line into models.
 *
 * The kind of a file is recognised by its content, not its name. Several files are read into one
 * model, one after the other; a time range of a store is one model.
 * Uses: base, format, profile, store, tags, symbol, view.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_H
#define ASSAY_CMD_LOAD_LOAD_H

#include "base/error.h"
#include "cmd/cli/command.h"
#include "profile/waits/latency.h"
#include "profile/calls/call_paths.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "profile/ledger/ticks.h"

#include <signal.h>

#define LOAD_DEFAULT "perf.data"
#define LOAD_DEFAULT_CALLS "assay.calls"
#define LOAD_DEFAULT_TAGS "assay.tags"

struct call_names;

struct load_options {
	struct option_list inputs; /* -i FILE */
	char **arguments;          /* FILE... */
	int argument_count;        /* if neither is set: `fallback` */
	const char *fallback;      /* NULL: perf.data */
	const char *time;          /* --time, NULL: all */
	const char *store, *from, *to, *host, *service,
	        *build;                        /* a store instead of files; NULL: not given */
	const char *kallsyms, *vmlinux, *root; /* as in symbol_options */
	const char *debuginfod;                /* NULL: not used; "": $DEBUGINFOD_URLS */
	bool raw_names, inlines, no_inlines;
	const volatile sig_atomic_t *stop; /* samples: -EINTR once it is not 0; NULL: never */
	bool time_axis;                    /* the profile gets the time of each sample */
	uint32_t parts;                    /* of a store: as in struct store_range */
	bool quiet;                /* no progress of a store on a server: a screen is open */
	bool sums;                 /* of several machines in a store, samples may come as one sum */
	bool switches;             /* and the times when threads were off the CPU */
	bool system_calls;         /* and its system calls (profile/waits/system_calls.h) */
	bool waits;                /* and why (profile/waits/wait_log.h) */
	enum latency_mode latency; /* adds PROFILE_LATENCY_EVENT; not for stores */
	/* Fields of tracepoints for the rows (profile.fields); not for stores. */
	const char *fields[SAMPLE_FIELDS_MAX];
	size_t field_count;
	uint64_t window_ns; /* length of windows that separate samples; 0: no windows */
};

/*
 * The options of all commands that read recordings and show names. The command's struct has a
 * load_options at the offset of the INCLUDE.
 */
extern const struct option load_option_table[]; /* -i, --time, --store.. */
/* As above, for commands that use --to for a format: a range ends with --until only. */
extern const struct option load_to_form_table[];
extern const struct option
        symbol_option_table[]; /* --kallsyms, --vmlinux, --symfs, --no-demangle, --no-inline */
extern const struct option inline_option_table[]; /* --inline; of commands that divide by it */

/* The n-th file of the command line, files of -i first; NULL: there are fewer. */
const char *load_named(const struct load_options *o, size_t n);
/* The same; if the command line names none, the default file is the only one. */
const char *load_file(const struct load_options *o, size_t n);

/* The input file that an output of this name would replace; NULL: none. */
const char *load_same(const struct load_options *o, const char *output);

/* Appends the words of a command line that reads the same files, each after a blank. */
void load_words(const struct load_options *o, struct buf *out);

/*
 * Checks, without reading the files completely, that each file exists and begins like a file of
 * samples.
 */
int load_check(const struct load_options *o, struct error *err);
int load_profile(struct profile **out, const struct load_options *o, struct error *err);
int load_ticks(struct ticks *t, const struct load_options *o, struct error *err);

enum load_kind { LOAD_SAMPLES, LOAD_CALLS, LOAD_TAGS, LOAD_PPROF };
#define LOAD_KINDS 4
#define LOAD_BIT(kind) (1u << (kind))

/*
 * For commands that read several kinds (bits of `readable`). If no file is given, and several of
 * perf.data, assay.calls and assay.tags exist here, the command reads the newest file to which the
 * other options apply (bits of `about`; none: all). A message on standard error names it.
 */
void load_choose(struct load_options *o, unsigned readable, unsigned about);

/* The kind of the files, by their content; -EINVAL: they are of several kinds. */
int load_kind(enum load_kind *kind, const struct load_options *o, struct error *err);

/* True if the file is a table of call paths; false if it cannot be read. */
bool load_is_calls(const char *path);
int load_calls(struct call_paths **out, const struct load_options *o, struct error *err);
struct symbolizer *load_calls_symbolizer(struct call_paths *c, const struct load_options *o);

/* The files with their names. Call loaded_calls_done() after success. */
struct loaded_calls {
	struct call_paths *paths;
	struct symbolizer *symbols;
	struct call_names *names;
};
int load_named_calls(struct loaded_calls *l, const struct load_options *o, struct error *err);
void loaded_calls_done(struct loaded_calls *l);

/* The only trace of event tags; -EINVAL: there are several. */
int load_tags_path(const char **path, const struct load_options *o, struct error *err);

/* As above, for the only pprof profile. */
int load_pprof_path(const char **path, const struct load_options *o, struct error *err);

/*
 * -errno: --kallsyms or --vmlinux cannot be read, or belongs to another kernel than that of the
 * recording. load_profile() and load_calls() check it.
 */
int load_check_kernel(struct profile *p, const struct load_options *o, struct error *err);
int load_check_calls_kernel(struct call_paths *c, const struct load_options *o, struct error *err);

/* A symbolizer for the kernel of the first recording. Never NULL. */
struct symbolizer *load_symbolizer(struct profile *p, const struct load_options *o);

#endif
