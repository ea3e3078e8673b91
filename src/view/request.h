/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request: what a report shows, the same for every kind of recording.
 *
 * A command fills a request once, from its options. Each kind of recording follows the parts for
 * which it has the information; the command refuses the others before the report is made. The
 * strings and lists belong to the caller and must outlive the report. Uses: base, view.
 */
#ifndef ASSAY_VIEW_REQUEST_H
#define ASSAY_VIEW_REQUEST_H

#include "view/document/document.h"
#include "view/filter.h"

#define LABEL_KEYS_MAX 4

/* What the rows of a table can be grouped by. */
enum flat_key {
	FLAT_PROCESS,
	FLAT_INSTANCE,
	FLAT_THREAD,
	FLAT_CPU,
	FLAT_IMAGE,
	FLAT_FUNCTION,
	FLAT_LINE,
	FLAT_ADDRESS,
	FLAT_MODE,
	FLAT_REGION,
	FLAT_CGROUP,
	FLAT_GROUP, /* by rules: view/groups */
	FLAT_SERVICE,
	FLAT_CONTAINER,
	FLAT_POD,
	FLAT_LABEL, /* the first of request.labels; the others follow */
	FLAT_LABEL_LAST = FLAT_LABEL + LABEL_KEYS_MAX - 1,
	FLAT_FIELD, /* the first of profile.fields; the others follow */
	FLAT_FIELD_LAST = FLAT_FIELD + SAMPLE_FIELDS_MAX - 1,
};

#define FLAT_KEYS (FLAT_FIELD_LAST + 1)

/* Facts that a recording may have, in bits; they depend on its kind. */
enum recording_fact {
	HAS_PROCESSES = 1 << 0, /* of each row, likewise the following */
	HAS_THREADS = 1 << 1,
	HAS_CPUS = 1 << 2,
	HAS_CGROUPS = 1 << 3,
	HAS_TIMES = 1 << 4,
	HAS_IMAGES = 1 << 5,
	HAS_ADDRESSES = 1 << 6,
	HAS_LINES = 1 << 7,
	HAS_MODES = 1 << 8,
	HAS_REGIONS = 1 << 9,
	HAS_EVENTS = 1 << 10,    /* several events */
	HAS_INSTANCES = 1 << 11, /* a row for each process of a name */
	HAS_PARTS = 1 << 12,     /* tables for each process */
	HAS_IDLE = 1 << 13,      /* idle time among the rows */
	HAS_PATHS = 1 << 14,     /* call paths */
	HAS_PATH_ROWS = 1 << 15, /* a table of call paths */
	HAS_EACH_CALL = 1 << 16, /* the time of each call */
	HAS_TAGS = 1 << 17,      /* event tags */
	HAS_CODE = 1 << 18,      /* addresses that get their names when a report is made */
	HAS_RAW_NAMES = 1 << 19, /* names as the linker knows them */
	HAS_FIELDS = 1 << 20,    /* fields of tracepoints */
	HAS_LABELS = 1 << 21,    /* labels of processes */
};

struct group_rules;
struct program_sizes;

#define PROCESS_LIMIT_SHARE 0.01 /* unless another limit is given */

/* The least use of the CPU that counts: a share of the time, or `ns`. */
struct process_limit {
	bool given;
	double share;
	uint64_t ns; /* 0: the share */
};

/* A process below them has no tables of its own: for its functions in user code, or in the kernel.
 * Each table has the limit of its part, if it is given, or that of the whole process. */
struct process_limits {
	struct process_limit all, user, kernel;
};

struct report_request {
	struct filter filter;
	const char *event;             /* NULL: the main event */
	enum flat_key keys[FLAT_KEYS]; /* of one table; empty: the standard tables */
	size_t key_count;
	const char *fields[SAMPLE_FIELDS_MAX]; /* labels of FLAT_FIELD and the next keys */
	const char *labels[LABEL_KEYS_MAX];    /* names of FLAT_LABEL and the next keys */
	size_t label_count;
	const char *unknown;       /* a word of --sort that may be a field; NULL: none */
	struct group_rules *rules; /* for FLAT_GROUP; belong to the caller */
	const char *const *by;     /* columns to sort by, before the columns of the table itself */
	size_t by_count;
	struct filter_list without;    /* functions and groups whose own time is taken out
	                                * (groups/without.h) */
	bool by_sort;                  /* `by` are words of --sort, none of which is a key */
	const char *callers, *callees; /* the function whose neighbours are shown; NULL: none */
	double limit;                  /* rows below this share go into the rest; < 0: the default
	                                * of the reader */
	struct process_limits process_limits;
	uint64_t least; /* rows with fewer samples go into the rest; 0: the default */
	size_t lines;   /* at most this many rows per table; 0: all */
	bool children;  /* functions with their callees, sorted by the total */
	bool tree;
	bool inverted;                     /* the tree has callees above callers */
	bool inlines;                      /* inlined functions count apart */
	bool instances;                    /* each process of a name by itself */
	bool full_paths;                   /* readers: call paths from the outermost function on */
	const struct program_sizes *sizes; /* view/methods/sizes_document.h; NULL: none */
	struct document_reader reader;
};

/* The smallest share of a row or node that is shown: the option, or the reader's default. */
double request_limit(const struct report_request *q, const struct document_reader *reader);

/* The title and the key of the call tree. */
const char *request_tree_title(const struct report_request *q);
const char *request_tree_key(const struct report_request *q);

/* Whether readers get a call tree, callers or callees in place of the standard tables. */
bool request_of_paths(const struct report_request *q);

bool request_has_key(const struct report_request *q, enum flat_key key);

/* Whether the filters name the rows of a table by these keys: -S names functions, --dso images,
 * --comm processes. */
bool request_names_rows(const struct report_request *q, const enum flat_key *keys, size_t count);

/* The columns to sort a table by: those of the request, then the table's own. The caller calls
 * vec_done(). */
typedef VEC(const char *) column_names;
column_names request_order(const struct report_request *q, const char *const *own, size_t count);
bool request_is_by(const struct report_request *q, const char *column);

/* -EINVAL: tables of the document have rows, and none of them has a column of `by`. */
int request_check_order(const struct report_request *q, const struct document *d,
                        struct error *err);

/* Appends the keys: "process, function". */
void request_keys_text(const struct report_request *q, struct buf *out);

/* The fact that rows must have to be grouped by a key; 0: all have it. */
unsigned flat_key_needs(enum flat_key key);

/* Names of keys, including perf's: comm, pid, tid, dso, sym, symbol, srcline. */
bool flat_key_parse(const char *name, enum flat_key *key);
const char *flat_key_name(enum flat_key key);

/* "NAME" of "label:NAME"; NULL: the word is no label. */
const char *request_label_of(const char *word);
/* Whether rows are selected or grouped by labels of their processes, which sums do not have. */
bool request_by_labels(const struct report_request *q);
/* Adds a name, or finds it. False: there are too many. */
bool request_label_key(struct report_request *q, const char *name, enum flat_key *key);
static inline bool flat_key_is_label(enum flat_key key)
{
	return key >= FLAT_LABEL && key <= FLAT_LABEL_LAST;
}

static inline bool flat_key_is_field(enum flat_key key)
{
	return key >= FLAT_FIELD && key <= FLAT_FIELD_LAST;
}

#endif
