/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tags/tag_names.h"

#include "base/memory/xalloc.h"
#include "check.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct tag_names *n, uint32_t tag, enum tag_kind kind, const char *name,
               struct error *err)
{
	return tag_names_add(n, tag, kind, name, strlen(name), err);
}

static void an_odd_tag_finds_its_function(void)
{
	struct tag_names *n = tag_names_new();
	bool exit = true;

	CHECK_EQ(add(n, 502, TAG_FUNCTION, "main", NULL), 0);
	CHECK_EQ(add(n, 504, TAG_SWITCH, "swtch", NULL), 0);
	CHECK_EQ(add(n, 507, TAG_INLINE, "MGET", NULL), 0);
	CHECK_STR(tag_names_find(n, 502, &exit)->name, "main");
	CHECK(!exit);
	CHECK_EQ(tag_names_find(n, 503, &exit)->tag, 502);
	CHECK(exit);
	CHECK_EQ(tag_names_find(n, 505, &exit)->kind, TAG_SWITCH);
	CHECK(exit);
	CHECK_EQ(tag_names_find(n, 507, &exit)->kind, TAG_INLINE);
	CHECK(!exit);
	CHECK(!tag_names_find(n, 506, &exit));
	CHECK(!tag_names_find(n, 508, &exit));
	CHECK(!tag_names_find(n, 1 << 24, &exit));
	tag_names_free(n);
}

static void a_tag_has_one_name(void)
{
	struct tag_names *n = tag_names_new();
	struct error err = {0};

	CHECK_EQ(add(n, 502, TAG_FUNCTION, "main", &err), 0);
	CHECK_EQ(add(n, 502, TAG_FUNCTION, "main", &err), 0);
	CHECK_EQ(tag_names_count(n), 1);
	CHECK_EQ(add(n, 502, TAG_FUNCTION, "other", &err), -EEXIST);
	CHECK(strstr(err.text, "main") && strstr(err.text, "other") && strstr(err.text, "502"));
	CHECK_EQ(add(n, 502, TAG_SWITCH, "main", &err), -EEXIST);
	CHECK_EQ(add(n, 503, TAG_INLINE, "place", &err), -EEXIST);
	CHECK_EQ(add(n, 501, TAG_INLINE, "place", &err), 0);
	/* The tag of the exit is already an inline tag. */
	CHECK_EQ(add(n, 500, TAG_FUNCTION, "early", &err), -EEXIST);
	CHECK(strstr(err.text, "place"));
	CHECK_EQ(tag_names_count(n), 2);
	tag_names_free(n);
}

static void invalid_names_are_refused(void)
{
	struct tag_names *n = tag_names_new();
	struct error err = {0};

	CHECK_EQ(add(n, 1 << 24, TAG_FUNCTION, "f", &err), -EINVAL);
	CHECK_EQ(add(n, 501, TAG_FUNCTION, "f", &err), -EINVAL);
	CHECK_EQ(add(n, 502, TAG_FUNCTION, "", &err), -EINVAL);
	CHECK_EQ(tag_names_add(n, 502, TAG_FUNCTION, "a\0b", 3, &err), -EINVAL);
	CHECK_EQ(add(n, (1 << 24) - 2, TAG_FUNCTION, "last", &err), 0);
	CHECK_EQ(tag_names_count(n), 1);
	tag_names_free(n);
}

/* Names can be added in any order; pointers stay valid. */
static void names_come_by_tag(void)
{
	enum { COUNT = 5000 };
	struct tag_names *n = tag_names_new();
	const struct tag_name *seen[COUNT];
	char text[32];
	bool exit;

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t tag = 2 * (i * 2731u % COUNT); /* 2731 and 5000 have no common divisor */

		snprintf(text, sizeof(text), "f%u", tag);
		CHECK_EQ(add(n, tag, TAG_FUNCTION, text, NULL), 0);
		seen[tag / 2] = tag_names_find(n, tag, &exit);
	}
	CHECK_EQ(tag_names_count(n), COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		CHECK_EQ(tag_names_at(n, i)->tag, 2 * i);
		CHECK(tag_names_at(n, i) == seen[i]);
	}
	/* One more name, after the order was requested. */
	CHECK_EQ(add(n, 3 * COUNT, TAG_INLINE, "late", NULL), 0);
	CHECK_STR(tag_names_at(n, COUNT)->name, "late");
	CHECK_STR(tag_names_at(n, 0)->name, "f0");
	tag_names_free(n);
}

static char *stars(const char *name)
{
	return name[0] == '_' ? xasprintf("*%s", name + 1) : NULL;
}

static void a_file_is_shown_where_names_are_alike(void)
{
	struct tag_names *n = tag_names_new();

	add(n, 2, TAG_FUNCTION, "parse@src/lex.c", NULL);
	add(n, 4, TAG_FUNCTION, "parse@src/yacc.c", NULL);
	add(n, 6, TAG_FUNCTION, "lone@src/lex.c", NULL);
	add(n, 8, TAG_FUNCTION, "_Zf", NULL);
	add(n, 10, TAG_INLINE, "_mail@home", NULL);
	add(n, 12, TAG_FUNCTION, "_Zg@a.cc", NULL);
	add(n, 14, TAG_FUNCTION, "*Zg", NULL);
	tag_names_show(n, stars);
	CHECK_STR(tag_names_at(n, 0)->shown, "parse@src/lex.c");
	CHECK_STR(tag_names_at(n, 1)->shown, "parse@src/yacc.c");
	CHECK_STR(tag_names_at(n, 2)->shown, "lone");
	CHECK_STR(tag_names_at(n, 3)->shown, "*Zf");
	CHECK_STR(tag_names_at(n, 4)->shown, "_mail@home");
	CHECK_STR(tag_names_at(n, 5)->shown, "*Zg@a.cc");
	CHECK_STR(tag_names_at(n, 6)->shown, "*Zg");
	tag_names_show(n, NULL); /* added again: no name is lost */
	CHECK_STR(tag_names_at(n, 3)->shown, "_Zf");
	CHECK_STR(tag_names_at(n, 3)->name, "_Zf");
	tag_names_free(n);
}

int main(void)
{
	RUN(an_odd_tag_finds_its_function);
	RUN(a_tag_has_one_name);
	RUN(invalid_names_are_refused);
	RUN(names_come_by_tag);
	RUN(a_file_is_shown_where_names_are_alike);
	return check_end();
}
