/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load: from file names on a command line to models.
 *
 * load_options.c has the options, load_kind.c the files that are named and their kinds
 * (format/file_kind.h), load_time.c --time, load_store.c stores, load.c the models and
 * load_symbols.c their names. Several files go into one model, one after the other; of a store a
 * stretch of time is one. Uses: base, format, profile, store, symbol.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_H
#define ASSAY_CMD_LOAD_LOAD_H

#include "base/error.h"
#include "cmd/cli/command.h"
#include "profile/calls/call_paths.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "profile/ledger/ticks.h"

#include <signal.h>

#define LOAD_DEFAULT "perf.data"
#define LOAD_DEFAULT_CALLS "assay.calls"
#define LOAD_DEFAULT_TAGS "assay.tags"

struct load_options {
	struct option_list inputs;             /* -i FILE */
	char **arguments;                      /* FILE... */
	int argument_count;                    /* none of both: `fallback` */
	const char *fallback;                  /* NULL: perf.data */
	const char *time;                      /* --time, NULL: all */
	const char *store, *from, *to, *host;  /* a store in place of files; NULL: not given */
	const char *kallsyms, *vmlinux, *root; /* as in symbol_options */
	const char *debuginfod;                /* NULL: not asked; "": $DEBUGINFOD_URLS */
	bool raw_names, no_inlines;
	const volatile sig_atomic_t *stop; /* samples: -EINTR once it is not 0; NULL: never */
	uint64_t window_ns; /* samples are told apart by windows of that length; 0: they are not */
};

/*
 * The options of every command that reads recordings and shows names; the
 * command's struct holds a load_options at the offset of the INCLUDE.
 */
extern const struct option load_option_table[]; /* -i, --time, --store.. */
/* The same for commands with a --to FORMAT of their own: a range ends with --until alone. */
extern const struct option load_to_form_table[];
extern const struct option
        symbol_option_table[]; /* --kallsyms, --vmlinux, --symfs, --no-demangle, --no-inline */

/* The n-th file of the command line, files of -i first; NULL: there are fewer. */
const char *load_named(const struct load_options *o, size_t n);
/* The same; if the command line names none, the default file is the only one. */
const char *load_file(const struct load_options *o, size_t n);

/* What can be told of files of samples without reading them: that one is there, and begins so. */
int load_check(const struct load_options *o, struct error *err);
int load_profile(struct profile **out, const struct load_options *o, struct error *err);
int load_ticks(struct ticks *t, const struct load_options *o, struct error *err);

enum load_kind { LOAD_SAMPLES, LOAD_CALLS, LOAD_TAGS, LOAD_PPROF };
#define LOAD_KINDS 4
#define LOAD_BIT(kind) (1u << (kind))

/*
 * For commands that read several kinds (bits of `readable`): where no file is named, and
 * of perf.data, assay.calls and assay.tags more than one is here, the newest of those that
 * the other options are about (bits of `about`; none: all) is read, and standard error is
 * told which.
 */
void load_choose(struct load_options *o, unsigned readable, unsigned about);

/* What the files are, by their content; -EINVAL where they are of several kinds. */
int load_kind(enum load_kind *kind, const struct load_options *o, struct error *err);

/* The file is a table of call paths, and can be read. */
bool load_is_calls(const char *path);
int load_calls(struct call_paths **out, const struct load_options *o, struct error *err);
struct symbolizer *load_calls_symbolizer(struct call_paths *c, const struct load_options *o);

/* The one trace of event tags that is to be read; -EINVAL where there are several. */
int load_tags_path(const char **path, const struct load_options *o, struct error *err);

/* Likewise the one pprof profile. */
int load_pprof_path(const char **path, const struct load_options *o, struct error *err);

/* For the kernel that the first recording was made on. Never NULL. */
struct symbolizer *load_symbolizer(struct profile *p, const struct load_options *o);

#endif
