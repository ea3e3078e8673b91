/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document: the contents of a report, for any output.
 *
 * A document is an ordered list of sections: facts, tables, trees, notes, and paragraphs. An
 * adapter fills it from its model. The outputs (text, JSON, Markdown) print documents and know no
 * kind of recording. Each section says who reads it: readers (text, Markdown), programs (JSON), or
 * both. The key of a section is its key in the JSON object.
 *
 *	document_facts(d, MEDIA_ALL);
 *	document_line(d, "file", "perf.data, 3 MB");      for readers
 *	document_int(d, "samples", 1234);                 for programs
 *	document_table(d, "Functions", "functions", rows);
 *
 * document_init() / document_done(), which frees everything that was added. Nothing fails. One
 * thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DOCUMENT_DOCUMENT_H
#define ASSAY_VIEW_DOCUMENT_DOCUMENT_H

#include "view/tree/view_tree.h"

#include <stdarg.h>

enum section_kind {
	SECTION_HEADING, /* a title for readers */
	SECTION_FACTS,
	SECTION_TABLE,
	SECTION_TREE,
	SECTION_NOTES,
	SECTION_TEXT,  /* a paragraph; its label is the title */
	SECTION_PARTS, /* documents of one form, such as one per process */
};

enum fact_kind {
	FACT_LINE,     /* readers: label and text */
	FACT_VERBATIM, /* readers: label and a line to be copied, which is not wrapped */
	FACT_VALUE,    /* programs: key and value */
	FACT_OBJECT,   /* programs: the following facts are in an object, up to FACT_END */
	FACT_ARRAY,
	FACT_END,
};

struct fact {
	enum fact_kind kind;
	char *key;         /* label or key; NULL in an array */
	struct cell value; /* its text belongs to the fact */
	bool boolean;      /* the value is a truth value */
};

struct document;

/* Fills the next part; false: there is none. `part` is empty, and freed by the caller. */
typedef bool document_next(void *ctx, size_t i, struct document *part);

struct section {
	enum section_kind kind;
	enum media media;
	char *title;     /* NULL: none */
	const char *key; /* in JSON, and on a page; NULL: not for programs */
	VEC(struct fact) facts;
	struct row_set *rows;
	struct view_tree *tree;
	bool borrowed; /* the tree has another owner than the document */
	double limit;  /* of a tree: nodes below this share are not shown */
	size_t lines;  /* of a tree: at most this many; 0: all */
	VEC(char *) notes;
	document_next *next; /* of parts */
	void *ctx;
};

struct summary_findings;

/* The audience of a document: contents that it does not read are not computed. */
struct document_reader {
	bool program;      /* JSON */
	bool wide;         /* readers: all columns, complete names */
	bool intervals;    /* readers: 95 % intervals as columns, also without `wide` */
	bool nested;       /* programs: callees are inside their callers; paths contain all names */
	bool summary;      /* readers: begin with a summary; programs always get it */
	bool brief;        /* readers: only the summary */
	const char *words; /* words of a command line that name the recording, each after a blank */
	struct summary_findings
	        *findings; /* filled by the summary (view/summary/findings.h); NULL: none */
};

/* Readers get rows of at least this share if no limit is given; programs get all. */
#define DOCUMENT_LIMIT 0.01

struct document {
	VEC(struct section) sections;
	VEC(struct document_owned {
		void (*free)(void *);
		void *what;
	})
	owned;
};

void document_init(struct document *d);
void document_done(struct document *d);
/* Calls free(what) in document_done(), in the order of the calls. */
void document_own(struct document *d, void (*free)(void *), void *what);

void document_heading(struct document *d, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Facts are added to the last section if it has facts, else to a new one. */
void document_line(struct document *d, const char *label, const char *text); /* "" is left out */
/* label NULL: the line is after an empty line, and begins at the margin. */
void document_verbatim(struct document *d, const char *label, const char *line);
void document_int(struct document *d, const char *key, int64_t value);
void document_real(struct document *d, const char *key, double value);
void document_bool(struct document *d, const char *key, bool value);
void document_string(struct document *d, const char *key, const char *value); /* NULL: null */
void document_string_or_null(struct document *d, const char *key, const char *value);
void document_null(struct document *d, const char *key);
/* JSON null if the value is not known. */
void document_known(struct document *d, const char *key, int64_t value, bool known);
void document_object(struct document *d, const char *key); /* key NULL: in an array */
void document_array(struct document *d, const char *key);
void document_end(struct document *d);

/* The document takes ownership of `rows` and `tree` (a tree can be made `borrowed`). title NULL: no
 * heading. */
struct section *document_table(struct document *d, enum media media, const char *title,
                               const char *key, struct row_set *rows);
struct section *document_tree(struct document *d, enum media media, const char *title,
                              const char *key, struct view_tree *tree, double limit, size_t lines);
struct section *document_notes(struct document *d, enum media media, const char *title,
                               const char *key);
void section_note(struct section *s, const char *text);
/* A paragraph for readers, after an empty line and a label. label NULL: it continues the section
 * before, without an empty line. */
void document_text(struct document *d, const char *label, const char *text);
/* `ctx` must outlive the document. */
void document_parts(struct document *d, enum media media, const char *key, document_next *next,
                    void *ctx);
/* For outputs: makes the parts of a SECTION_PARTS one after the other and passes each to `print`.
 */
void section_each_part(const struct section *s,
                       void (*print)(void *of, const struct document *part), void *of);

#endif
