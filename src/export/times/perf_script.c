/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/perf_script.h"

#include <inttypes.h>

#define HEADING_BYTES 70u
#define LINE_BYTES 60u

uint64_t perf_script_estimate(const struct timed_samples *t)
{
	uint64_t bytes = 0;

	vec_each (row, &t->n->rows)
		bytes += (uint64_t)row->values[0] *
		         (HEADING_BYTES + LINE_BYTES * timed_depth(t, row));
	return bytes;
}

static void put_heading(struct timed_samples *t, const struct sample_moment *m, struct buf *b)
{
	const struct named_owner *o = &t->n->owners.items[t->n->rows.items[m->row].owner];
	const char *name = timed_thread_name(t, o);
	int32_t pid = o->pid > 0 ? o->pid : 0, tid = o->tid > 0 ? o->tid : pid;

	if (*name)
		buf_addf(b, "%s %7" PRId32 "/%-7" PRId32, name, pid, tid);
	else
		buf_addf(b, ":%" PRId32 " %7" PRId32 "/%-7" PRId32, tid, pid, tid);
	if (m->cpu != PROFILE_CPU_UNKNOWN)
		buf_addf(b, " [%03u]", m->cpu);
	buf_addf(b, " %5" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s: \n", m->time_ns / 1000000000u,
	         m->time_ns % 1000000000u, m->weight, t->event);
}

static void put_path(const struct symbolized_profile *n, uint32_t path, struct buf *b)
{
	for (uint32_t p = path; p != NAMED_ROOT; p = n->paths.items[p].parent) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];
		const char *image = "[unknown]";

		if (place->image != NAMED_NONE)
			image = intern_text(&n->texts, n->images.items[place->image].name);
		for (uint32_t i = 0; i < place->count; i++) {
			const struct named_line *line = &n->lines.items[place->first + i];
			uint32_t name = n->functions.items[line->function].name;

			buf_addf(b, "\t%16" PRIx64 " %s (%s)\n", place->address,
			         name ? intern_text(&n->texts, name) : "[unknown]",
			         i + 1 < place->count ? "inlined" : image);
		}
	}
	buf_putc(b, '\n');
}

void perf_script_write(struct timed_samples *t, struct spill *out)
{
	struct sample_moment m;

	while (timed_samples_next(t, &m)) {
		put_heading(t, &m, &out->buf);
		put_path(t->n, t->n->rows.items[m.row].path, &out->buf);
		spill_some(out);
	}
}
