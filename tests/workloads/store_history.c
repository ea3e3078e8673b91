/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_history FILE [KEY=VALUE...]: writes a store whose history is known, with the code that a
 * measurement uses. Functions f0, f1, ... of one program have fixed shares of the time. Counts are
 * Poisson.
 *
 *	seed=1 windows=200 seconds=10 functions=20 samples=400 (of all functions, in a window)
 *	noise=0       of each function in each window (relative)
 *	load_noise=0  of all functions together
 *	rhythm=0 day=86400  the load follows a sine of this relative size
 *	load=1 load_at=0    the load is this many times as large from this window on
 *	change=1 at=0 function=0  the function costs this many times as much from this window on
 *	still=0       as many functions of another program that do not follow the load
 *	closed=0      1: the load shares a fixed time, so a function that costs more slows others
 *	begin=0 end=0 as many windows at the begin and the end, in which the load does not run
 *	gap=0 gap_at=0  a pause of this many windows before this one, with a new session
 *	merged=0      as many windows, from the first, are merged by retention (into 10 minutes)
 */
#include "../unit/lib/store_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum key {
	SEED,
	WINDOWS,
	SECONDS,
	FUNCTIONS,
	SAMPLES,
	NOISE,
	LOAD_NOISE,
	RHYTHM,
	DAY,
	LOAD,
	LOAD_AT,
	CHANGE,
	AT,
	FUNCTION,
	STILL,
	CLOSED,
	BEGIN,
	END,
	GAP,
	GAP_AT,
	MERGED,
	KEYS
};

static const char *const names[KEYS] = {
        "seed",   "windows", "seconds", "functions", "samples", "noise",  "load_noise",
        "rhythm", "day",     "load",    "load_at",   "change",  "at",     "function",
        "still",  "closed",  "begin",   "end",       "gap",     "gap_at", "merged"};

struct history {
	double value[KEYS];
	uint64_t state;
	struct world world;
	uint32_t other; /* image of the functions that do not follow the load */
};

static double uniform(struct history *h)
{
	return ((double)(hash_u64(++h->state) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double normal(struct history *h)
{
	return sqrt(-2 * log(uniform(h))) * cos(2 * M_PI * uniform(h));
}

static uint64_t poisson(struct history *h, double mean)
{
	double limit = exp(-mean), product = uniform(h);
	uint64_t count = 0;

	if (mean > 60)
		return (uint64_t)fmax(0, floor(mean + sqrt(mean) * normal(h) + 0.5));
	for (; product > limit; count++)
		product *= uniform(h);
	return count;
}

/* Functions are 4096 bytes apart. */
static void name_frames(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                        const char **out)
{
	static char texts[2][256][16];
	struct history *h = ctx;

	for (size_t i = 0; i < count; i++) {
		struct frame f = p->frames.items[frames[i]].frame;
		bool still = f.image == h->other;
		char *text = texts[still][f.offset / 4096 % 256];

		snprintf(text, sizeof(texts[0][0]), "%s%d", still ? "still" : "f",
		         (int)(f.offset / 4096));
		out[i] = text;
	}
}

static double value_of(const struct history *h, enum key key)
{
	return h->value[key];
}

/* The largest function has a share of a third of 4, or a tenth of 20. */
static double share_of(const struct history *h, int function)
{
	double sum = 0, count = value_of(h, FUNCTIONS);

	for (int i = 0; i < (int)count; i++)
		sum += 1 / (i + 3.0);
	return 1 / (function + 3.0) / sum;
}

static double load_of(struct history *h, double window)
{
	double time = window * value_of(h, SECONDS),
	       load = exp(value_of(h, LOAD_NOISE) * normal(h));

	if (window < value_of(h, BEGIN) || window >= value_of(h, WINDOWS) - value_of(h, END))
		return 0;
	load *= 1 + value_of(h, RHYTHM) * sin(2 * M_PI * time / value_of(h, DAY));
	return window >= value_of(h, LOAD_AT) ? load * value_of(h, LOAD) : load;
}

static void add_samples(struct history *h, double window)
{
	double load = load_of(h, window), samples = value_of(h, SAMPLES), slower = 1;
	bool changed = window >= value_of(h, AT);

	if (changed && value_of(h, CLOSED) > 0)
		slower = 1 + (value_of(h, CHANGE) - 1) * share_of(h, (int)value_of(h, FUNCTION));
	for (int f = 0; f < (int)value_of(h, FUNCTIONS); f++) {
		double mean = samples * share_of(h, f) * load / slower;

		mean *= exp(value_of(h, NOISE) * normal(h));
		if (changed && f == (int)value_of(h, FUNCTION))
			mean *= value_of(h, CHANGE);
		world_sample_at(&h->world, 1, h->world.program, (uint64_t)f * 4096, false,
		                poisson(h, mean));
	}
	for (int f = 0; f < (int)value_of(h, STILL); f++)
		world_sample_at(&h->world, 1, h->other, (uint64_t)f * 4096, false,
		                poisson(h, samples / 20 * exp(value_of(h, NOISE) * normal(h))));
}

static int write_window(struct history *h, struct store *s, double window, uint64_t start_ns,
                        struct error *err)
{
	uint64_t length_ns = (uint64_t)(value_of(h, SECONDS) * 1e9);
	struct store_window x = {.start_ns = start_ns,
	                         .end_ns = start_ns + length_ns,
	                         .period_ns = 1000000,
	                         .wall_offset_ns = (int64_t)WORLD_WALL_NS};
	struct ledger_cpu *cpu = vec_add(&h->world.p->ledger.cpus);
	int status;

	add_samples(h, window);
	x.samples = h->world.samples;
	cpu->wall_ns = length_ns;
	cpu->busy_ns = cpu->weight_busy = x.samples * 1000000;
	cpu->idle_ns = length_ns > cpu->busy_ns ? length_ns - cpu->busy_ns : 0;
	cpu->has_switches = true;
	status = store_add_window(s, h->world.p, &x, err);
	process_table_settle(h->world.p->processes);
	profile_forget_rows(h->world.p);
	h->world.samples = 0;
	return status;
}

static int write_history(struct history *h, struct store *s, uint64_t *now_ns, struct error *err)
{
	uint64_t length_ns = (uint64_t)(value_of(h, SECONDS) * 1e9);
	int status = store_begin(s, &h->world.recording, *now_ns, err);

	world_name(&h->world, 1, 1, "server", false);
	for (int i = 0; !status && i < (int)value_of(h, WINDOWS); i++) {
		if (i && i == (int)value_of(h, GAP_AT)) {
			status = store_end(s, *now_ns, "stopped", err);
			*now_ns += length_ns * (uint64_t)value_of(h, GAP);
			if (!status)
				status = store_begin(s, &h->world.recording, *now_ns, err);
		}
		if (!status)
			status = write_window(h, s, i, *now_ns, err);
		*now_ns += length_ns;
	}
	return status ? status : store_end(s, *now_ns, "stopped", err);
}

/* Retention merges windows that are older than `merged` windows before the end. */
static int merge_windows(struct history *h, const char *path, uint64_t now_ns, struct error *err)
{
	double fine = (value_of(h, WINDOWS) - value_of(h, MERGED)) * value_of(h, SECONDS) * 1e9;
	struct store_retention_rules rules = {.fine_ns = (uint64_t)fine};
	struct store_kept kept;

	return value_of(h, MERGED) > 0 ? store_keep(path, &rules, now_ns, &kept, err) : 0;
}

static bool parse_arguments(struct history *h, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		int key = 0;

		while (key < KEYS && (!equals || strlen(names[key]) != (size_t)(equals - argv[i]) ||
		                      strncmp(names[key], argv[i], strlen(names[key])) != 0))
			key++;
		if (key == KEYS)
			return false;
		h->value[key] = atof(equals + 1);
	}
	h->state = (uint64_t)value_of(h, SEED) << 32;
	return argc >= 2;
}

int main(int argc, char **argv)
{
	struct history h = {.value = {[SEED] = 1,
	                              [WINDOWS] = 200,
	                              [SECONDS] = 10,
	                              [FUNCTIONS] = 20,
	                              [SAMPLES] = 400,
	                              [DAY] = 86400,
	                              [LOAD] = 1,
	                              [CHANGE] = 1}};
	struct store_options options = {.name = name_frames, .name_ctx = &h};
	uint64_t now_ns = WORLD_WALL_NS;
	struct error err = {0};
	struct store *s = NULL;
	int status;

	if (!parse_arguments(&h, argc, argv))
		return 2;
	world_init(&h.world, "here");
	h.other = world_image(&h.world, IMAGE_FILE, "/usr/bin/still", 0x44, 0);
	status = store_open(&s, argv[1], &options, &err);
	if (!status)
		status = write_history(&h, s, &now_ns, &err);
	store_close(s);
	if (!status)
		status = merge_windows(&h, argv[1], now_ns, &err);
	if (status)
		fprintf(stderr, "%s\n", err.text);
	world_done(&h.world);
	return status != 0;
}
