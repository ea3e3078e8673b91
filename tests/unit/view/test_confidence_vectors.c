/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the intervals with the figures of tests/vectors/confidence.txt, which the page's port
 * (src/web/page/statistics) is compared with too. With --write, prints the file with new figures.
 */
#include "check.h"
#include "view/confidence/confidence.h"

#include <ctype.h>
#include <math.h>

#define GROUPS 8
#define ROW_NONE GROUPS
#define ROW_OUTSIDE (GROUPS + 1)
#define ROWS (GROUPS + 2)
#define LINE_MAX_BYTES 65536

static struct profile *profile;
static uint32_t cpus;
static bool with_figures;
static char name[256];

static void begin_case(const char *title)
{
	struct profile_event *e;

	profile_free(profile);
	profile = profile_new();
	cpus = 0;
	snprintf(name, sizeof(name), "%.200s", title);
	e = vec_add(&profile->events);
	e->name = xstrdup("cpu-clock");
	e->role = ATTR_CLOCK;
	for (uint32_t row = 0; row < ROWS; row++) {
		struct profile_row key = {.path = row};

		profile_row_add(profile, &key);
	}
}

static void add_cpu(const char *runs)
{
	uint32_t track = time_axis_track(&profile->axis, 0, (uint16_t)cpus++, 0);
	uint64_t time_ns = 0;

	while (isdigit((unsigned char)*runs)) {
		char *end;
		unsigned long count = strtoul(runs, &end, 10);
		struct time_entry entry = {.samples = 1, .weight = 1};

		entry.row = *end == '.'   ? ROW_NONE
		            : *end == '-' ? ROW_OUTSIDE
		                          : (uint32_t)(*end - 'a');
		for (; count; count--) {
			entry.time_ns = time_ns += TIME_AXIS_STEP_NS;
			profile->rows.items[entry.row].samples++;
			time_axis_add(&profile->axis, track, &entry);
		}
		runs = end + 1;
	}
}

static void intervals(struct confidence *out)
{
	uint32_t group[ROWS];
	bool outside[ROWS] = {[ROW_OUTSIDE] = true};
	struct sample_order order;
	struct confidence_input in = {profile, &order, 0, GROUPS, group, outside};

	for (uint32_t row = 0; row < ROWS; row++)
		group[row] = row < GROUPS ? row : ID_NONE;
	sample_order_init(&order, &profile->axis);
	confidence_intervals(&in, out);
	sample_order_done(&order);
}

static bool is_near(double got, double want)
{
	return fabs(got - want) <= 1e-9 * fmax(fabs(want), 1e-6);
}

static void compare(const char *line)
{
	struct confidence found[GROUPS];
	double samples, share, low, high, variance;
	const struct confidence *c;
	char letter;

	intervals(found);
	if (sscanf(line, "group %c %lf %lf %lf %lf %lf", &letter, &samples, &share, &low, &high,
	           &variance) != 6) {
		CHECK(!line);
		return;
	}
	c = &found[letter - 'a'];
	if (c->samples != (uint64_t)samples || !is_near(c->share, share) || !is_near(c->low, low) ||
	    !is_near(c->high, high) || !is_near(c->variance, variance))
		printf("# %s: %s", name, line);
	CHECK_EQ(c->samples, samples);
	CHECK(is_near(c->share, share));
	CHECK(is_near(c->low, low));
	CHECK(is_near(c->high, high));
	CHECK(is_near(c->variance, variance));
	with_figures = true;
}

/* Prints the figures of the first groups, and of all that have samples. */
static void write_figures(void)
{
	struct confidence found[GROUPS];

	if (!profile)
		return;
	intervals(found);
	for (int i = 0; i < GROUPS; i++)
		if (!i || found[i].samples)
			printf("group %c %llu %.15g %.15g %.15g %.15g\n", 'a' + i,
			       (unsigned long long)found[i].samples, found[i].share, found[i].low,
			       found[i].high, found[i].variance);
}

static void each_line(bool write)
{
	FILE *file = fopen(VECTORS, "r");
	static char line[LINE_MAX_BYTES];

	CHECK(file);
	while (file && fgets(line, sizeof(line), file)) {
		bool figures = !strncmp(line, "group ", 6);

		if (write && !strncmp(line, "case ", 5))
			write_figures();
		if (write && !figures)
			fputs(line, stdout);
		if (!strncmp(line, "case ", 5))
			begin_case(line + 5);
		else if (!strncmp(line, "cpu ", 4))
			add_cpu(line + 4);
		else if (figures && !write)
			compare(line);
	}
	if (write)
		write_figures();
	if (file)
		fclose(file);
}

static void figures_of_the_shared_vectors(void)
{
	each_line(false);
	CHECK(with_figures);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--write")) {
		each_line(true);
		profile_free(profile);
		return 0;
	}
	RUN(figures_of_the_shared_vectors);
	profile_free(profile);
	return check_end();
}
