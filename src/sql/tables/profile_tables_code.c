/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_tables: images, functions, frames and the tree of stacks. */
#include "sql/tables/profile_tables.h"

#include "view/delay/kernel_exits.h"

#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"
#include "sql/image_value.h"

static uint64_t image_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->images.images.count;
}

static void image_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;

	sql_image_value(&m->profile->images, (uint32_t)row, column, out);
}

static uint64_t function_count(void *ctx)
{
	struct profile_model *m = ctx;

	profile_model_function(m, 0);
	return m->symbols.count;
}

static void function_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;
	const struct symbol *symbol = m->symbols.items[row];

	if (column == FUNCTIONS_IMAGE)
		sql_out_u64(out, symbol->image);
	else
		sql_out_text(out, symbol->name);
}

static uint64_t frame_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->frames.count;
}

static void frame_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	struct profile_model *m = ctx;
	const struct profile_frame *f = &m->profile->frames.items[row];

	switch (column) {
	case FRAMES_IMAGE:
		sql_out_u64(out, f->frame.image);
		break;
	case FRAMES_OFFSET: /* the same 64 bits, signed: kernel addresses are negative */
		sqlite3_result_int64(out, (sqlite3_int64)f->frame.offset);
		break;
	case FRAMES_FUNCTION:
		sql_out_u64(out, profile_model_function(m, (uint32_t)row));
		break;
	case FRAMES_KERNEL:
		sqlite3_result_int(out, f->kernel);
		break;
	case FRAMES_CALLER:
		sqlite3_result_int(out, f->caller);
		break;
	}
}

/* The root has no row: row 0 is path 1. */
static uint64_t stack_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->paths.count - 1;
}

/* A parent has a smaller index than its paths. */
static uint32_t depth_of(struct profile_model *m, uint64_t path)
{
	const struct profile *p = m->profile;

	if (!m->depths) {
		m->depths = xcalloc(p->paths.count, sizeof(*m->depths));
		for (size_t i = 1; i < p->paths.count; i++)
			m->depths[i] = m->depths[p->paths.items[i].parent] + 1;
	}
	return m->depths[path];
}

static void stack_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	struct profile_model *m = ctx;
	const struct path_node *node = &m->profile->paths.items[row + 1];

	switch (column) {
	case STACKS_PARENT:
		sql_out_u64(out, node->parent);
		break;
	case STACKS_FRAME:
		sql_out_u64(out, node->frame);
		break;
	case STACKS_DEPTH:
		sql_out_u64(out, depth_of(m, row + 1));
		break;
	}
}

static uint64_t interrupt_count(void *ctx)
{
	struct profile_model *m = ctx;
	uint32_t paths = (uint32_t)m->profile->paths.count;

	for (uint32_t i = 1; !m->has_interrupts && i < paths; i++)
		if (kernel_entry_is_interrupt(view_entry(m->view, i)))
			vec_push(&m->interrupts, i);
	m->has_interrupts = true;
	return m->interrupts.count;
}

static void interrupt_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	sql_out_u64(out, ((struct profile_model *)ctx)->interrupts.items[row]);
}

static void find_returns(struct profile_model *m)
{
	const struct profile *p = m->profile;
	uint8_t event = profile_clock_event(p);
	VEC(uint32_t) rows = {0};
	struct kernel_exits *e;

	for (uint32_t i = 0; i < p->rows.count; i++)
		vec_push(&rows, i);
	e = kernel_exits_new(m->view, event, rows.items, rows.count);
	for (uint32_t i = 1; i < p->paths.count; i++)
		if (e->after[p->paths.items[i].frame])
			vec_push(&m->returns, i);
	kernel_exits_free(e);
	vec_done(&rows);
	m->has_returns = true;
}

static uint64_t return_count(void *ctx)
{
	struct profile_model *m = ctx;

	if (!m->has_returns)
		find_returns(m);
	return m->returns.count;
}

static void return_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	sql_out_u64(out, ((struct profile_model *)ctx)->returns.items[row]);
}

int profile_tables_add_code(struct sql *s, struct profile_model *m, struct error *err)
{
	const struct sql_table tables[] = {
	        {.name = "images", .count = image_count, .value = image_value, .has_id = true},
	        {.name = "functions",
	         .count = function_count,
	         .value = function_value,
	         .has_id = true},
	        {.name = "frames", .count = frame_count, .value = frame_value, .has_id = true},
	        {.name = "stacks",
	         .count = stack_count,
	         .value = stack_value,
	         .has_id = true,
	         .first_id = 1},
	        {.name = "interrupts", .count = interrupt_count, .value = interrupt_value},
	        {.name = "kernel_returns", .count = return_count, .value = return_value},
	};

	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), m, err);
}
