/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_functions: function_group() and stack_group(), with the rules and the matcher of
 * 'assay report --sort group'.
 */
#include "sql/sql_internal.h"

#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "format/rules_file.h"
#include "view/groups/group_rules.h"

#include <errno.h>
#include <string.h>

#define UNSEEN (UINT16_MAX - 2)
#define CACHED_MAX (1 << 22) /* frames; frames with larger ids are looked up each time */

struct sql_groups {
	struct group_rules *own, *rules; /* own: the rules of assay, made at the first call */
	sqlite3_stmt *step;              /* NULL: not prepared yet */
	VEC(uint16_t) frames;            /* per frame id: its group, or UNSEEN */
};

/* Frames of other kinds than samples have no `kernel`: their callers are not examined. */
static const char step[] =
        "SELECT s.parent, s.frame, f.kernel, coalesce(n.name, ''), coalesce(i.name, '') "
        "FROM stacks s LEFT JOIN frames f ON f.id = s.frame "
        "LEFT JOIN functions n ON n.id = f.function LEFT JOIN images i ON i.id = f.image "
        "WHERE s.id = ?1";

static void add_rule(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

static struct group_rules *rules_of(struct sql_groups *g)
{
	struct error err = {0};

	if (!g->rules) {
		g->own = g->rules = group_rules_new();
		rules_file_parse(group_rules_default, group_rules_default_size,
		                 "the rules of assay", add_rule, g->own, &err);
	}
	return g->rules;
}

static void out_group(sqlite3_context *out, uint16_t group, bool is_kernel)
{
	struct sql_groups *g = sqlite3_user_data(out);

	sqlite3_result_text(out, group_rules_name(rules_of(g), group, is_kernel), -1,
	                    SQLITE_TRANSIENT);
}

static void function_group(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	struct sql_groups *g = sqlite3_user_data(out);
	const char *function = (const char *)sqlite3_value_text(argv[0]);
	const char *image = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	bool is_kernel = image && group_image_is_kernel(image);

	if (function)
		out_group(
		        out,
		        group_rules_function(rules_of(g), function, image ? image : "", is_kernel),
		        is_kernel);
}

struct group_step {
	uint16_t group;
	bool kernel, callers; /* callers: groups of this kind of recording depend on callers */
};

static struct group_step take_step(struct sql_groups *g, sqlite3_int64 *id)
{
	sqlite3_stmt *q = g->step;
	sqlite3_int64 frame = sqlite3_column_int64(q, 1), parent = sqlite3_column_int64(q, 0);
	const char *image = (const char *)sqlite3_column_text(q, 4);
	bool cached = frame >= 0 && frame < CACHED_MAX;
	struct group_step s = {.callers = sqlite3_column_type(q, 2) != SQLITE_NULL};

	s.kernel = s.callers ? sqlite3_column_int(q, 2) != 0 : group_image_is_kernel(image);
	while (cached && g->frames.count <= (size_t)frame)
		vec_push(&g->frames, UNSEEN);
	s.group = cached ? g->frames.items[frame] : UNSEEN;
	if (s.group == UNSEEN)
		s.group = group_rules_function(rules_of(g), (const char *)sqlite3_column_text(q, 3),
		                               image, s.kernel);
	if (cached)
		g->frames.items[frame] = s.group;
	/* A parent must have a smaller id than its child. Otherwise a cycle would never end. */
	*id = parent < *id ? parent : 0;
	return s;
}

/* As frame_groups.h: of the innermost function, else of its nearest caller in the same mode. */
static void stack_group(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	struct sql_groups *g = sqlite3_user_data(out);
	sqlite3 *db = sqlite3_context_db_handle(out);
	sqlite3_int64 id = sqlite3_value_int64(argv[0]);
	struct group_step s = {.group = GROUP_NONE};
	bool first = true, in_kernel = false;
	uint16_t group = GROUP_NONE;

	if (!g->step && sqlite3_prepare_v2(db, step, -1, &g->step, NULL)) {
		sqlite3_result_error(out, sqlite3_errmsg(db), -1);
		return;
	}
	for (bool more = true; more && id > 0; first = false) {
		sqlite3_bind_int64(g->step, 1, id);
		more = sqlite3_step(g->step) == SQLITE_ROW;
		if (more)
			s = take_step(g, &id);
		sqlite3_reset(g->step);
		in_kernel = first ? s.kernel : in_kernel;
		if (!more || s.kernel != in_kernel)
			break;
		group = s.group;
		more = s.callers && (group == GROUP_CALLER || (in_kernel && group == GROUP_NONE));
	}
	out_group(out, group == GROUP_CALLER ? GROUP_NONE : group, in_kernel);
}

void sql_groups_forget(struct sql_groups *g)
{
	g->frames.count = 0;
}

void sql_groups_free(struct sql_groups *g)
{
	if (!g)
		return;
	sqlite3_finalize(g->step);
	group_rules_free(g->own);
	vec_done(&g->frames);
	free(g);
}

int sql_groups_add(struct sql_groups **out, sqlite3 *db, struct group_rules *rules,
                   struct error *err)
{
	static const struct {
		const char *name;
		int arguments;
		void (*function)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {{"function_group", 1, function_group},
	                 {"function_group", 2, function_group},
	                 {"stack_group", 1, stack_group}};

	*out = xcalloc(1, sizeof(**out));
	(*out)->rules = rules;
	/* DIRECTONLY: views and indexes of an untrusted file must not call them. */
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
		                               SQLITE_UTF8 | SQLITE_DIRECTONLY, *out,
		                               functions[i].function, NULL, NULL, NULL))
			return error_set(err, EIO, "cannot create the SQL functions: %s",
			                 sqlite3_errmsg(db));
	return 0;
}

int sql_groups_view(struct sql *s, struct error *err)
{
	static const char text[] = "CREATE TEMP VIEW stack_groups AS "
	                           "SELECT id AS stack, stack_group(id) AS name FROM stacks";

	return sqlite3_exec(s->db, text, NULL, NULL, NULL)
	               ? error_set(err, EIO, "cannot create the view stack_groups: %s",
	                           sqlite3_errmsg(s->db))
	               : 0;
}
