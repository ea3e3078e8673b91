/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_tables: the shared model, and sql_add_profile(). */
#include "sql/tables/profile_tables.h"

#include "base/memory/xalloc.h"
#include "sql/sql.h"

#include <string.h>

static bool is_same_host(const struct recording *a, const struct recording *b)
{
	const char *x = a->hostname ? a->hostname : "", *y = b->hostname ? b->hostname : "";

	return !strcmp(x, y);
}

static uint32_t find_host(const struct profile_model *m, uint32_t recording)
{
	const struct profile *p = m->profile;

	for (uint32_t i = 0; i < m->hosts.count; i++)
		if (is_same_host(p->recordings.items[m->hosts.items[i]],
		                 p->recordings.items[recording]))
			return i;
	return (uint32_t)m->hosts.count;
}

struct profile_model *profile_model_new(const struct profile *p, struct symbolizer *symbols)
{
	struct profile_model *m = xcalloc(1, sizeof(*m));

	m->profile = p;
	m->view = view_new(p, symbols);
	for (uint32_t i = 0; i < p->recordings.count; i++)
		if (find_host(m, i) == m->hosts.count)
			vec_push(&m->hosts, i);
	return m;
}

void profile_model_free(void *model)
{
	struct profile_model *m = model;

	if (!m)
		return;
	view_free(m->view);
	vec_done(&m->hosts);
	vec_done(&m->symbols);
	id_table_done(&m->symbol_index);
	free(m->frame_functions);
	free(m->depths);
	vec_done(&m->interrupts);
	vec_done(&m->returns);
	free(m->window_samples);
	free(m->by_window);
	free(m->process_times);
	free(m);
}

uint32_t profile_model_host(const struct profile_model *m, uint32_t recording)
{
	return find_host(m, recording);
}

static bool symbol_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct profile_model *)ctx)->symbols.items[id] == key;
}

static uint32_t number_of(struct profile_model *m, const struct symbol *symbol)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)symbol);
	uint32_t id = id_table_find(&m->symbol_index, hash, symbol_equal, m, symbol);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)m->symbols.count;
	vec_push(&m->symbols, symbol);
	id_table_add(&m->symbol_index, hash, id);
	return id;
}

uint32_t profile_model_function(struct profile_model *m, uint32_t frame)
{
	size_t count = m->profile->frames.count;

	if (!m->frame_functions) {
		m->frame_functions = xcalloc(count + 1, sizeof(*m->frame_functions));
		for (uint32_t i = 0; i < count; i++)
			m->frame_functions[i] = number_of(m, view_function(m->view, i));
	}
	return m->frame_functions[frame];
}

uint64_t profile_model_wall(const struct profile_model *m, uint32_t recording, uint64_t time_ns)
{
	const struct recording *r;

	if (recording >= m->profile->recordings.count)
		return time_ns;
	r = m->profile->recordings.items[recording];
	return r->clock_wall_ns ? time_ns + (r->clock_wall_ns - r->clock_start_ns) : time_ns;
}

int sql_add_profile(struct sql *s, const struct profile *p, struct symbolizer *symbols,
                    struct error *err)
{
	struct profile_model *m = profile_model_new(p, symbols);
	int ret = profile_tables_add_sessions(s, m, err);

	if (!ret)
		ret = profile_tables_add_code(s, m, err);
	if (!ret)
		ret = profile_tables_add_samples(s, m, err);
	if (!ret)
		ret = profile_tables_add_waits(s, m, err);
	return ret;
}
