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

static int read_key(struct store_reader *r, sqlite3_stmt *s, struct profile_row *key,
                    struct error *err)
{
	int64_t cpu = sqlite3_column_int64(s, 2), region = sqlite3_column_int64(s, 5);
	uint64_t mode = store_column(s, 3), end = store_column(s, 6);
	uint32_t event = *store_ids_place(&r->events, sqlite3_column_int64(s, 4));
	int status = store_reader_thread(r, sqlite3_column_int64(s, 0), &key->thread, err);

	if (!status)
		status = store_reader_path(r, sqlite3_column_int64(s, 1), &key->path, err);
	key->region = REGION_NONE;
	if (!status && region)
		status = store_reader_image(r, region, &key->region, err);
	key->cpu = cpu >= 0 && cpu < PROFILE_CPU_UNKNOWN ? (uint16_t)cpu : PROFILE_CPU_UNKNOWN;
	key->mode = mode <= PROFILE_UNKNOWN ? (uint8_t)mode : PROFILE_UNKNOWN;
	key->stack_end = end < STACK_ENDS ? (uint8_t)end : STACK_END_UNKNOWN;
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

static int take_row(struct store_reader *r, const struct store_span *w, sqlite3_stmt *s,
                    struct error *err)
{
	struct profile_row key = {0}, *row;
	uint64_t samples = store_column(s, 7), weight = store_column(s, 8);
	struct profile *p = r->p;
	int status = read_key(r, s, &key, err);

	if (status || !p->events.count || !in_service(r, key.thread))
		return status;
	row = profile_row_add(p, &key);
	row->samples += samples;
	row->weight += store_column(s, 11);
	row->runnable_ns += store_column(s, 9);
	row->blocked_ns += store_column(s, 10);
	p->events.items[key.event].samples += samples;
	p->events.items[key.event].weight += weight;
	if (samples && !r->rows_summed)
		add_to_axis(r, w, &key,
		            (struct time_entry){.row = (uint32_t)(row - p->rows.items),
		                                .samples = samples,
		                                .weight = weight});
	return 0;
}

int store_reader_rows(struct store_reader *r, struct error *err)
{
	sqlite3_stmt *s;
	int status = database_kept(&r->db, r->rows_timed ? timed_sql : row_sql, &s, err);

	for (size_t i = 0; !status && i < r->windows.count; i++) {
		const struct store_span *w = &r->windows.items[i];

		status = database_bind(&r->db, s, err, "i", w->id);
		while (!status && (status = database_step(&r->db, s, err)) == 1)
			status = take_row(r, w, s, err);
		sqlite3_reset(s);
	}
	return status;
}
