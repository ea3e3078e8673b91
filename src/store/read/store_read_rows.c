/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up rows of samples over windows, and restores the order of samples. The order is known by
 * window only. Within a window the samples of a CPU are put in a random but reproducible order, so
 * confidence intervals are those of independent samples within each window.
 */
#include "store/read/store_reader.h"

#include "event/stack_end.h"

static const char row_sql[] =
        "SELECT thread, stack, cpu, mode, event, region, stack_end, samples, weight, runnable_ns,"
        " blocked_ns FROM sample WHERE window = ?";

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
	key->stack_end = end < STACK_ENDS ? (uint8_t)end : STACK_NOT_TOLD;
	key->event = event < r->p->events.count ? (uint8_t)event : 0;
	return status;
}

static struct store_sequence *sequence_of(struct store_reader *r, uint32_t recording,
                                          const struct profile_row *key)
{
	struct store_sequence *made;
	struct profile_sequence *sequence;

	/* Windows are sorted by session. */
	if (r->sequences.count && r->sequences.items[0].recording != recording)
		r->sequences.count = 0;
	vec_each (s, &r->sequences)
		if (s->cpu == key->cpu && s->event == key->event)
			return s;
	sequence = vec_add(&r->p->sequences);
	sequence->recording = recording;
	sequence->cpu = key->cpu;
	sequence->event = key->event;
	made = vec_add(&r->sequences);
	*made = (struct store_sequence){.sequence = (uint32_t)r->p->sequences.count - 1,
	                                .recording = recording,
	                                .cpu = key->cpu,
	                                .event = key->event};
	return made;
}

static void append(struct store_reader *r, uint32_t recording, const struct profile_row *key,
                   uint32_t row, uint64_t samples)
{
	struct store_sequence *s = sequence_of(r, recording, key);
	struct profile_sequence *sequence = &r->p->sequences.items[s->sequence];

	if (samples > r->room) {
		r->p->sequences_cut = true;
		samples = r->room;
	}
	r->room -= samples;
	for (uint64_t i = 0; i < samples; i++)
		vec_push(&sequence->rows, row);
}

/* Shuffles the samples that the window added to each sequence. */
static void shuffle_window(struct store_reader *r, const struct store_span *w)
{
	uint64_t state = hash_u64((uint64_t)w->id);

	vec_each (s, &r->sequences) {
		struct profile_sequence *sequence = &r->p->sequences.items[s->sequence];
		size_t count = sequence->rows.count - s->begun;
		uint32_t *rows = count ? sequence->rows.items + s->begun : NULL;

		for (size_t i = count; i > 1; i--) {
			size_t other = hash_u64(++state) % i;
			uint32_t moved = rows[i - 1];

			rows[i - 1] = rows[other];
			rows[other] = moved;
		}
		s->begun = sequence->rows.count;
	}
}

static int take_row(struct store_reader *r, const struct store_span *w, sqlite3_stmt *s,
                    struct error *err)
{
	struct profile_row key = {0}, *row;
	uint64_t samples = store_column(s, 7), weight = store_column(s, 8);
	struct profile *p = r->p;
	int status = read_key(r, s, &key, err);

	if (status || !p->events.count)
		return status;
	row = profile_row_add(p, &key);
	row->samples += samples;
	row->weight += weight;
	row->runnable_ns += store_column(s, 9);
	row->blocked_ns += store_column(s, 10);
	p->events.items[key.event].samples += samples;
	p->events.items[key.event].weight += weight;
	append(r, w->recording, &key, (uint32_t)(row - p->rows.items), samples);
	return 0;
}

int store_reader_rows(struct store_reader *r, struct error *err)
{
	sqlite3_stmt *s;
	int status = database_kept(&r->db, row_sql, &s, err);

	for (size_t i = 0; !status && i < r->windows.count; i++) {
		const struct store_span *w = &r->windows.items[i];

		status = database_bind(&r->db, s, err, "i", w->id);
		while (!status && (status = database_step(&r->db, s, err)) == 1)
			status = take_row(r, w, s, err);
		sqlite3_reset(s);
		shuffle_window(r, w);
	}
	return status;
}
