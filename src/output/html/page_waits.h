/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_waits: the waits of threads as data of a page: when each thread was blocked and runnable,
 * for what, who woke it, and the samples of its time on a CPU. The page draws lanes and arrows from
 * them, and finds the path that decided the elapsed time of any range.
 *
 * page_waits_init(); page_waits_text() for each text, 0 is ""; the caller fills the lists, with one
 * lane for each thread; page_waits_limit() leaves out what is too much; page_waits_write();
 * page_waits_done(). Times are ns since the begin of the waits. Nothing fails. One thread.
 * Uses: base.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_WAITS_H
#define ASSAY_OUTPUT_HTML_PAGE_WAITS_H

#include "base/memory/intern.h"
#include "output/html/page_blob.h"

#define PAGE_WAIT_COUNT 300000   /* 5 to 9 bytes each in the page */
#define PAGE_WAIT_SAMPLES 300000 /* 4 to 6 bytes each */

enum page_wait_lane_flag {
	PAGE_LANE_SELECTED = 1, /* the report is about it */
	PAGE_LANE_KERNEL = 2,   /* a thread of the kernel: no path goes through it */
};

struct page_wait {
	uint64_t out_ns, blocked_ns, runnable_ns;
	uint32_t cause;
	uint32_t instead; /* of a preempted thread: the lane that ran next, + 1; 0: not known */
};

/* A thread. */
struct page_wait_lane {
	uint32_t process, name; /* texts */
	uint32_t label;         /* text: the thread in reports */
	int32_t pid, tid;
	uint32_t process_id;         /* programs of one pid, one after the other, differ in it */
	uint8_t flags;               /* enum page_wait_lane_flag */
	uint64_t end_ns;             /* of the thread; UINT64_MAX: not before the end */
	VEC(struct page_wait) waits; /* in the order of time; they do not overlap */
};

enum page_wait_cause_flag {
	PAGE_CAUSE_FOLLOWED = 1, /* a path goes on in the waker */
	PAGE_CAUSE_THREAD = 2,   /* the waker ended the wait itself: no interrupt did */
	PAGE_CAUSE_COUNTED = 4,  /* the report counts these waits */
};

/* What waits of one kind have in common. */
struct page_wait_cause {
	uint32_t kind, name, function, by, holder, evidence; /* texts; 0: none */
	uint32_t waker;                                      /* lane + 1; 0: none */
	uint32_t node;                                       /* of the waiter's path */
	uint32_t waker_node;                                 /* 0: none */
	uint8_t woken;                                       /* enum wait_woken */
	uint8_t flags;                                       /* enum page_wait_cause_flag */
};

struct page_wait_birth {
	uint64_t time_ns;
	uint32_t lane, parent; /* parent: lane + 1; 0: unknown */
	bool is_exec;
};

struct page_wait_sample {
	uint64_t time_ns, samples, weight;
	uint32_t lane, function; /* text */
};

struct page_wait_function {
	uint32_t name, image; /* texts */
	uint8_t kind;         /* enum page_function_kind */
};

struct page_wait_node {
	uint32_t parent, function;
};

struct page_waits {
	uint64_t clock_ns;    /* the begin by the recording's clock */
	uint64_t duration_ns; /* of the waits */
	int64_t axis_ns;      /* begin of the samples' time axis - begin of the waits */
	uint32_t process;     /* the pid whose path the report shows; 0: none */
	uint64_t beyond;      /* waits that the profile has in sums only */
	struct intern texts;
	VEC(struct page_wait_lane) lanes;
	VEC(struct page_wait_cause) causes;
	VEC(struct page_wait_birth) births;
	VEC(struct page_wait_sample) samples; /* in the order of time */
	VEC(struct page_wait_function) functions;
	VEC(struct page_wait_node) nodes; /* [0] is the root; callers are before callees */
	/* Set by page_waits_limit(). */
	uint64_t left, left_ns;   /* waits that are left out, and their time */
	uint64_t left_longest_ns; /* of them */
	uint64_t left_kernel;     /* waits of the kernel's threads that are left out */
	uint64_t samples_of;      /* one sample is there of this many */
};

void page_waits_init(struct page_waits *w);
uint32_t page_waits_text(struct page_waits *w, const char *text);
/*
 * Keeps at most `waits` waits, those of the kernel's threads last and the longest first, and one
 * of each k samples. 0: PAGE_WAIT_COUNT, PAGE_WAIT_SAMPLES.
 */
void page_waits_limit(struct page_waits *w, size_t waits, size_t samples);
/* Writes null if there are no waits (`w` NULL). */
void page_waits_write(struct page_blob *b, const char *key, struct page_waits *w);
void page_waits_done(struct page_waits *w);

#endif
