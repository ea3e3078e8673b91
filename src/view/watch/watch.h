/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch: finds the functions whose cost changed during the time of a store, and when.
 *
 * The time is divided into points. A series is the own CPU time of one function at each point. It
 * is divided by the load of its program, the load of the machine, or the observed time
 * (watch_loads.h), so that a busier machine changes no function, and a function that costs more
 * changes no other. The levels before and after, their ratio and its test are all of the same
 * quotient. With work (requests, for example) it is divided by the work of the point instead.
 * adr/0090 explains the test.
 *
 *	watch_init(w); watch_points(w, from_ns, step_ns, count);
 *	watch_begins(w, point, start_ns): if points have different lengths
 *	watch_observed(w, point, wall_s); watch_work(w, point, amount)
 *	watch_count(w, watch_series(w, "memcpy", "libc.so.6", "user"), point, samples, cpu_ns)
 *	watch_find(w, options); read w->changes; watch_done(w)
 *
 * Nothing fails, nothing is read or printed. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_H
#define ASSAY_VIEW_WATCH_WATCH_H

#include "base/memory/intern.h"
#include "base/memory/vec.h"

#include <stdbool.h>

struct watch_few {
	uint32_t point;
	float samples, cpu_ns;
};

/* What the time of a series is divided by. */
enum watch_unit {
	WATCH_PER_PROGRAM, /* the load of its file */
	WATCH_PER_LOAD,    /* the load of the machine */
	WATCH_PER_SECOND,  /* of observed time */
	WATCH_PER_WORK,
	WATCH_UNITS
};

/* Blocks of 1, 2, 4, ... points, of which dispersions are computed. */
#define WATCH_LENGTHS 12

/* How much the samples of a series vary, divided by one unit. */
struct watch_scatter {
	double dispersion, degrees;      /* against chance alone; degrees of freedom */
	double longest, longest_degrees; /* the same, of the longest blocks so far */
	/* Of itself around two levels, by length, and the degrees of freedom; 0: not known. */
	float own[WATCH_LENGTHS], blocks[WATCH_LENGTHS];
};

struct watch_series {
	uint32_t function, image, mode; /* ids in texts */
	float *samples, *cpu_ns;        /* by point; NULL: too few samples, they are in `few` */
	VEC(struct watch_few) few;
	double all_samples, all_cpu_ns;
	struct watch_scatter scatter[WATCH_UNITS];
	uint32_t load[WATCH_UNITS]; /* index in loads; ID_NONE: there is none */
	bool outside[WATCH_UNITS];  /* is not part of this load, since it changes on its own */
	uint8_t units;              /* set of units; a change is one in each of these */
	uint8_t unit;               /* enum watch_unit: its levels are of this one */
	double p, q;                /* p and q of its largest change; NAN: not tested */
	bool pooled;                /* has too few samples; is a part of [others], or is [others] */
};

enum watch_verdict {
	WATCH_REGRESSION,
	WATCH_IMPROVEMENT,
	WATCH_NEW,  /* no sample before */
	WATCH_GONE, /* no sample after */
	WATCH_WENT_AWAY,
	WATCH_MOVED
};

struct watch_change {
	uint32_t series;
	size_t first, point,
	        last;         /* the levels before and after are of [first, point), [point, last) */
	size_t back;          /* WATCH_WENT_AWAY: the point at which the old level returned */
	uint32_t partner;     /* WATCH_MOVED: series that the time moved from or to */
	double before, after; /* CPU ns per second of observed time at the mean load, or per unit of
	                         work */
	double ratio, low, high; /* after / before, and its 99 % interval */
	double p, q;
	enum watch_verdict verdict;
	uint64_t time_ns, back_ns; /* of `point` and `back` */
	uint8_t unit;              /* enum watch_unit, of the levels */
	uint32_t host;             /* text: the machine; 0: there is one, or it is of the sum */
	uint64_t found_ns;         /* when it was found first; 0: the store does not have it */
};

/* A change that an earlier search of the same data found (watch_know()). */
struct watch_known {
	uint32_t function, image, mode, verdict; /* texts */
	uint64_t time_ns, point_ns, found_ns;
	double change; /* ratio - 1; NAN: not known */
	double q;
	bool again; /* this search found it, too */
};

struct watch_options {
	double confidence; /* maximum p of a change; 0: 0.001 */
	double rate;       /* expected share of false changes among those listed; 0: 0.1 */
	double least;      /* changes below this are not listed; 0: 0.1 */
	bool by_wall;      /* do not divide by the load */
	size_t window;     /* points that are compared with each other; 0: all */
};

/* How many samples a search has, and how much they vary: what it can find. */
struct watch_power {
	double samples, spread;
	size_t windows, size, points; /* windows that are compared, points of each, and of all */
};

/*
 * The tests of several searches, which have one error rate together: that of a function in the data
 * of each of many machines, for example. Zeros: empty.
 *
 *	for each search: t = watch_test(w, how); watch_family_add(f, w); watch_list(t, NULL)
 *	watch_family_close(f, how)
 *	again: watch_list(watch_test(w, how), f)
 */
struct watch_family_test {
	double p, root; /* root of the samples of the series */
	double weighted, q;
};

struct watch_family {
	VEC(struct watch_family_test) tests;
	struct watch_family_test *sorted; /* by `weighted` */
	double root;                      /* mean */
	double most;                      /* maximum p of a change of weight 1 */
	double rate, confidence;
};

/* Number of parts of a day. Each part has its own level if the data covers WATCH_DAYS days. */
#define WATCH_HOURS 24
#define WATCH_DAYS 3
/* Minimum number of points on each side of a change, and of a series that is searched. */
#define WATCH_SIDE_LEAST 3
#define WATCH_POINTS_LEAST (2 * WATCH_SIDE_LEAST)
/* The machine of a change of the sum of several machines. */
#define WATCH_ALL_MACHINES "[all machines]"
/* A series with fewer samples is pooled. */
#define WATCH_FLOOR 100

/* The common course of several series. */
struct watch_load {
	VEC(uint32_t) members;
	double *sums; /* by point */
};

struct watch {
	struct intern texts;
	VEC(struct watch_series) series;
	struct id_table index;
	uint64_t step_ns;                 /* length of a point, or of most points */
	uint64_t *start_ns;               /* by point, and the end of the last one */
	size_t points, observed;          /* observed: points with observed time */
	double *wall_s;                   /* by point */
	double *sampled_ns, *sampled;     /* by point: time and samples of all series */
	double *work;                     /* by point; NULL: not known, see watch_work() */
	VEC(struct watch_load) loads;     /* [0]: of the machine */
	VEC(struct watch_change) changes; /* by time */
	VEC(struct watch_known) known;
	struct watch_options how;
	struct watch_power power;
	size_t tested, pooled;
	size_t hosts;    /* machines in whose data changes were sought; 0: one */
	double samples;  /* of all series */
	double smallest; /* ratio - 1 of a change that 80 % of searches find, of a function with 1 %
	                    of the time, in the middle of the range; NAN: none */
	bool seasonal;   /* levels of the same hours were compared */
};

void watch_init(struct watch *w);
void watch_done(struct watch *w);
void watch_points(struct watch *w, uint64_t from_ns, uint64_t step_ns, size_t count);
/* The start of a point; of `points`: the end of the last one. */
void watch_begins(struct watch *w, size_t point, uint64_t start_ns);
void watch_observed(struct watch *w, size_t point, double wall_s);
/* Adds to the work of a point. After the first call all costs are per unit of work. */
void watch_work(struct watch *w, size_t point, double amount);
/* The id of the series with these names. */
uint32_t watch_series(struct watch *w, const char *function, const char *image, const char *mode);
void watch_count(struct watch *w, uint32_t series, size_t point, double samples, double cpu_ns);
/* Adds series with few samples up as one, [others], which is not tested. watch_find() calls it. */
void watch_pool(struct watch *w);
/* NULL: the default options. Called once. */
void watch_find(struct watch *w, const struct watch_options *how);

/* Tests the series, once; the search must be passed to watch_list(), which frees it. */
struct watch_search;
struct watch_search *watch_test(struct watch *w, const struct watch_options *how);
/* Lists the changes that are significant among all tests of a family; NULL: none. */
void watch_list(struct watch_search *search, const struct watch_family *family);
/* After watch_test(): adds its tests. */
void watch_family_add(struct watch_family *f, const struct watch *w);
void watch_family_close(struct watch_family *f, const struct watch *w);
/* Whether the tests from `first` on, up to `end`, include a significant one. */
bool watch_family_has(const struct watch_family *f, size_t first, size_t end);
/* The ratio - 1 of struct watch.smallest; NAN: none. */
double watch_family_smallest(const struct watch_family *f, const struct watch_power *power);
void watch_family_done(struct watch_family *f);

/* Whether the time of a store is divided by the load. */
static inline bool watch_by_load(const struct watch *w)
{
	return !w->work && !w->how.by_wall;
}

/*
 * After watch_find(): recognises changes that are known: those of the same function at most two
 * points away, by the longer points of both searches.
 */
void watch_know(struct watch *w);
/* Removes the changes that are known. */
void watch_only_new(struct watch *w);
const char *watch_verdict_name(enum watch_verdict verdict);

uint64_t watch_time_ns(const struct watch *w, size_t point);

#endif
