/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up rows of samples over windows. The order of samples is known by window only. */
#include "store/sqlite/read/store_reader.h"

#include "event/stack_end.h"
#include "process/process_labels.h"

#include <stdlib.h>

#define ROW_SQL(weight)                                                                            \
	"SELECT thread, stack, cpu, mode, event, region, stack_end, samples, weight, runnable_ns," \
	" blocked_ns, " weight " FROM sample s WHERE window = ?"

static const char row_sql[] =
        ROW_SQL(SCHEMA_WEIGHT("(SELECT session FROM window WHERE id = s.window)"));
static const char timed_sql[] = ROW_SQL("weight");

/* A row of `sample`, from the table or from memory. */
struct store_row {
	int64_t thread, stack, cpu, event, region;
	uint64_t mode, stack_end, samples, weight, runnable_ns, blocked_ns;
	uint64_t time; /* SCHEMA_WEIGHT */
};

static int read_key(struct store_reader *r, const struct store_row *s, struct profile_row *key,
                    struct error *err)
{
	uint32_t event = *store_ids_place(&r->events, s->event);
	int status = store_reader_thread(r, s->thread, &key->thread, err);

	if (!status)
		status = store_reader_path(r, s->stack, &key->path, err);
	key->region = REGION_NONE;
	if (!status && s->region)
		status = store_reader_image(r, s->region, &key->region, err);
	key->cpu = s->cpu >= 0 && s->cpu < PROFILE_CPU_UNKNOWN ? (uint16_t)s->cpu
	                                                       : PROFILE_CPU_UNKNOWN;
	key->mode = s->mode <= PROFILE_UNKNOWN ? (uint8_t)s->mode : PROFILE_UNKNOWN;
	key->stack_end = s->stack_end < STACK_ENDS ? (uint8_t)s->stack_end : STACK_END_UNKNOWN;
	key->event = event < r->p->events.count ? (uint8_t)event : 0;
	return status;
}

enum { SERVICE_UNKNOWN, SERVICE_CHOSEN, SERVICE_OTHER };

static bool is_chosen(const struct store_range *range, const struct process_table *t,
                      const struct process *p)
{
	char *service = process_service(t, p);
	const char *version = p->version == ID_NONE ? "" : process_table_name(t, p->version);
	bool chosen = store_range_service(range, service) &&
	              (!range->version || !sqlite3_strglob(range->version, version));

	free(service);
	return chosen;
}

/* True if the thread belongs to a service and a version of the range. */
static bool in_service(struct store_reader *r, uint32_t thread)
{
	const struct process_table *t = r->p->processes;
	uint32_t process = process_table_thread_at(t, thread)->process;
	uint8_t *known;

	if ((!r->range->service && !r->range->version) || r->rows_chosen)
		return true;
	while (r->services.count <= process)
		vec_push(&r->services, SERVICE_UNKNOWN);
	known = &r->services.items[process];
	if (*known == SERVICE_UNKNOWN) {
		*known = is_chosen(r->range, t, process_table_process(t, process)) ? SERVICE_CHOSEN
		                                                                   : SERVICE_OTHER;
	}
	return *known == SERVICE_CHOSEN;
}

/* The samples of a window have the time of its start. */
static void add_to_axis(struct store_reader *r, const struct store_span *w,
                        const struct profile_row *key, struct time_entry entry)
{
	struct time_axis *axis = &r->p->axis;
	uint32_t track = time_axis_track(axis, w->recording, key->cpu, key->event);

	entry.time_ns = w->start_ns;

	if (w->end_ns - w->start_ns > axis->window_ns)
		axis->window_ns = w->end_ns - w->start_ns;
	time_axis_add(axis, track, &entry);
}

static int take_row(struct store_reader *r, const struct store_span *w, const struct store_row *s,
                    struct error *err)
{
	struct profile_row key = {0}, *row;
	struct profile *p = r->p;
	int status = read_key(r, s, &key, err);

	if (status || !p->events.count || !in_service(r, key.thread))
		return status;
	row = profile_row_add(p, &key);
	row->samples += s->samples;
	row->weight += s->time;
	row->runnable_ns += s->runnable_ns;
	row->blocked_ns += s->blocked_ns;
	p->events.items[key.event].samples += s->samples;
	p->events.items[key.event].weight += s->weight;
	if (s->samples && !r->rows_summed)
		add_to_axis(r, w, &key,
		            (struct time_entry){.row = (uint32_t)(row - p->rows.items),
		                                .samples = s->samples,
		                                .weight = s->weight});
	return 0;
}

/* ---- rows of the table --------------------------------------------------- */

static struct store_row row_of(sqlite3_stmt *s)
{
	return (struct store_row){.thread = sqlite3_column_int64(s, 0),
	                          .stack = sqlite3_column_int64(s, 1),
	                          .cpu = sqlite3_column_int64(s, 2),
	                          .mode = store_column(s, 3),
	                          .event = sqlite3_column_int64(s, 4),
	                          .region = sqlite3_column_int64(s, 5),
	                          .stack_end = store_column(s, 6),
	                          .samples = store_column(s, 7),
	                          .weight = store_column(s, 8),
	                          .runnable_ns = store_column(s, 9),
	                          .blocked_ns = store_column(s, 10),
	                          .time = store_column(s, 11)};
}

static int read_table(struct store_reader *r, struct error *err)
{
	sqlite3_stmt *s;
	int status = database_kept(&r->db, r->rows_timed ? timed_sql : row_sql, &s, err);

	for (size_t i = 0; !status && i < r->windows.count; i++) {
		const struct store_span *w = &r->windows.items[i];

		status = database_bind(&r->db, s, err, "i", w->id);
		while (!status && (status = database_step(&r->db, s, err)) == 1) {
			struct store_row row = row_of(s);

			status = take_row(r, w, &row, err);
		}
		sqlite3_reset(s);
	}
	return status;
}

/* ---- rows in memory ------------------------------------------------------ */

void store_rows_done(struct store_rows *rows)
{
	vec_done(&rows->samples);
	vec_done(&rows->stacks);
}

/* Where a row of a window, a thread and a stack is. */
struct store_place {
	uint64_t thread_stack; /* the thread, then the stack, in the order of the table's key */
	uint32_t window, at;
};

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static unsigned digit_of(const struct store_place *p, unsigned shift)
{
	uint64_t number = shift < 64 ? p->thread_stack >> shift : p->window >> (shift - 64);

	return number & (DIGITS - 1);
}

/* Sorts by one digit, if it is not the same for all. False: it is. */
static bool order_by_digit(const struct store_place *from, struct store_place *to, size_t count,
                           unsigned shift)
{
	size_t begins[DIGITS + 1] = {0};

	for (size_t i = 0; i < count; i++)
		begins[digit_of(&from[i], shift) + 1]++;
	if (begins[digit_of(from, shift) + 1] == count)
		return false;
	for (size_t i = 1; i < DIGITS; i++)
		begins[i] += begins[i - 1];
	for (size_t i = 0; i < count; i++)
		to[begins[digit_of(&from[i], shift)]++] = from[i];
	return true;
}

#define STORE_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* The rest of the table's key. */
static int compare_samples(const void *first, const void *second)
{
	const struct store_sample *a = first, *b = second;
	int order = STORE_COMPARE(a->cpu, b->cpu);

	order = order ? order : STORE_COMPARE(a->mode, b->mode);
	order = order ? order : STORE_COMPARE(a->event, b->event);
	order = order ? order : STORE_COMPARE(a->region, b->region);
	return order ? order : STORE_COMPARE(a->stack_end, b->stack_end);
}

/* Orders the last rows, from `first` on, which have one window, thread and stack. */
static void order_last(struct store_samples *samples, size_t first)
{
	struct store_sample *items = samples->items;
	size_t count = first;

	if (samples->count - first < 2)
		return;
	qsort(&items[first], samples->count - first, sizeof(*items), compare_samples);
	for (size_t i = first; i < samples->count; i++) {
		struct store_sample *last = count > first ? &items[count - 1] : NULL;

		if (!last || compare_samples(last, &items[i])) {
			items[count++] = items[i];
			continue;
		}
		last->samples += items[i].samples;
		last->weight += items[i].weight;
		last->runnable_ns += items[i].runnable_ns;
		last->blocked_ns += items[i].blocked_ns;
	}
	samples->count = count;
}

/* By window, and in it by the table's key. */
static void order_samples(struct store_rows *rows)
{
	size_t count = rows->samples.count, first = 0;
	struct store_place *places = xmalloc((count + 1) * sizeof(*places));
	struct store_place *other = xmalloc((count + 1) * sizeof(*other)), *moved;
	struct store_samples ordered = {0};

	for (size_t i = 0; i < count; i++) {
		const struct store_sample *s = &rows->samples.items[i];
		uint64_t thread = (uint32_t)s->thread ^ UINT32_C(0x80000000);

		places[i] = (struct store_place){thread << 32 | s->stack, (uint32_t)s->window,
		                                 (uint32_t)i};
	}
	/* The last digit of the thread has the rest of its bits. */
	for (unsigned shift = 0; count && shift < 96; shift += shift == 55 ? 9 : DIGIT_BITS)
		if (order_by_digit(places, other, count, shift)) {
			moved = places;
			places = other;
			other = moved;
		}
	vec_reserve(&ordered, count);
	for (size_t i = 0; i < count; i++) {
		if (i && (places[i].window != places[i - 1].window ||
		          places[i].thread_stack != places[i - 1].thread_stack)) {
			order_last(&ordered, first);
			first = ordered.count;
		}
		vec_push(&ordered, rows->samples.items[places[i].at]);
	}
	order_last(&ordered, first);
	vec_done(&rows->samples);
	rows->samples = ordered;
	free(places);
	free(other);
}

static size_t first_of(const struct store_rows *rows, int64_t window)
{
	size_t low = 0, high = rows->samples.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->samples.items[middle].window < window)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char idle_sql[] = "SELECT " SCHEMA_WEIGHT(
        "(SELECT session FROM window WHERE id = s.window)") " FROM (SELECT"
                                                            " ?1 AS window, ?2 AS cpu, ?3 AS mode, "
                                                            "?4 AS event, ?5 AS samples, ?6 AS "
                                                            "weight) s";

/* The time of a row that is known from the ledger, as in row_sql. */
static int find_time(struct store_reader *r, const struct store_sample *sample,
                     struct store_row *row, struct error *err)
{
	sqlite3_stmt *s;
	int status = 0;

	row->time = row->weight;
	if (r->rows_timed || sample->mode != PROFILE_IDLE)
		return 0;
	status = database_find(&r->db, idle_sql, &s, err, "iiiiuu", (int64_t)sample->window,
	                       (int64_t)sample->cpu, (int64_t)sample->mode, row->event,
	                       row->samples, row->weight);
	if (status == 1)
		row->time = store_column(s, 0);
	if (status >= 0)
		sqlite3_reset(s);
	return status < 0 ? status : 0;
}

/* A number as the table returns it, which has none above INT64_MAX. */
static uint64_t stored(uint64_t number)
{
	return number <= INT64_MAX ? number : 0;
}

static int take_sample(struct store_reader *r, const struct store_span *w,
                       const struct store_sample *s, struct error *err)
{
	struct store_row row = {.thread = s->thread,
	                        .stack = s->stack,
	                        .cpu = s->cpu,
	                        .mode = s->mode,
	                        .event = s->event,
	                        .region = s->region,
	                        .stack_end = s->stack_end,
	                        .samples = stored(s->samples),
	                        .weight = stored(s->weight),
	                        .runnable_ns = stored(s->runnable_ns),
	                        .blocked_ns = stored(s->blocked_ns)};
	int status = find_time(r, s, &row, err);

	return status ? status : take_row(r, w, &row, err);
}

static int read_memory(struct store_reader *r, struct error *err)
{
	const struct store_rows *rows = r->rows;
	int status = 0;

	order_samples(r->rows);
	for (size_t i = 0; !status && i < r->windows.count; i++) {
		const struct store_span *w = &r->windows.items[i];

		for (size_t at = first_of(rows, w->id);
		     !status && at < rows->samples.count && rows->samples.items[at].window == w->id;
		     at++)
			status = take_sample(r, w, &rows->samples.items[at], err);
	}
	return status;
}

int store_reader_rows(struct store_reader *r, struct error *err)
{
	return r->rows ? read_memory(r, err) : read_table(r, err);
}
