/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inline_fixture: nest.c, a program whose function `work` has three functions inlined into each
 * other, and the expected results.
 */
#ifndef ASSAY_TESTS_INLINE_FIXTURE_H
#define ASSAY_TESTS_INLINE_FIXTURE_H

#include "symbol/debug/debug_index.h"

#include "check.h"
#include "fixture.h"

static const char nest_c[] =
        "#include <stdlib.h>\n"
        "#define AI static inline __attribute__((always_inline))\n"
        "volatile unsigned long sink;\n"
        "AI unsigned long innermost(unsigned long x, int k)\n" /* 4 */
        "{\n"
        "\tfor (int i = 0; i < k; i++)\n"
        "\t\tx = x * 6364136223846793005ul + (x >> 7);\n" /* 7 */
        "\treturn x;\n"
        "}\n"
        "AI unsigned long middle(unsigned long x)\n" /* 10 */
        "{\n"
        "\tif (x & 1)\n"
        "\t\tx += innermost(x, 100);\n" /* 13 */
        "\tsink = x;\n"
        "\treturn x ^ innermost(x + 3, 50);\n" /* 15 */
        "}\n"
        "AI unsigned long outer(unsigned long x)\n"
        "{\n"
        "\tunsigned long s = 0;\n"
        "\tfor (int i = 0; i < 10; i++) {\n"
        "\t\tunsigned long y = middle(x + i);\n" /* 21 */
        "\t\ts += y / 3;\n"
        "\t}\n"
        "\treturn s;\n"
        "}\n"
        "__attribute__((noinline)) unsigned long work(unsigned long n)\n"
        "{\n"
        "\tunsigned long s = 0;\n"
        "\tfor (unsigned long i = 0; i < n; i++) {\n"
        "\t\ts += outer(i);\n"  /* 30 */
        "\t\ts ^= middle(s);\n" /* 31 */
        "\t}\n"
        "\treturn s;\n"
        "}\n"
        "int main(int c, char **v) { return (int)work(c > 1 ? atol(v[1]) : 1000); }\n";

static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* An address in `work` of nest.c in the deepest chain. */
static inline uint64_t deep_address(struct debug_index *x, const char *program)
{
	uint64_t start = 0, size = 0;
	struct debug_inline in[4];

	CHECK(fixture_nm(program, "work", &start, &size));
	for (uint64_t a = start; a < start + size; a++)
		if (debug_index_inlines(x, a, in, 4) == 3 && in[0].call_line == 13)
			return a;
	CHECK(!"an address with three inlined functions");
	return 0;
}

static inline bool is_deep(struct debug_index *x, uint64_t address)
{
	struct debug_inline in[4];

	return x && debug_index_inlines(x, address, in, 4) == 3 &&
	       !strcmp(in[0].name, "innermost") && in[0].call_line == 13 &&
	       !strcmp(in[1].name, "middle") && in[1].call_line == 21 &&
	       !strcmp(in[2].name, "outer") && in[2].call_line == 30 &&
	       !strcmp(base_name(in[0].call_file), "nest.c");
}

#endif
