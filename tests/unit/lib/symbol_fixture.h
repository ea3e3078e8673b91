/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_fixture: a symbolizer for one image, and a program with known functions. subject_start()
 * or subject_open() first, subject_end() last; functions_build() builds the program in the
 * directory of fixture.h: `functions`, and `linked`, whose symbols and lines are only in
 * linked.debug. One thread. Uses: image, symbol.
 */
#ifndef ASSAY_TESTS_SYMBOL_FIXTURE_H
#define ASSAY_TESTS_SYMBOL_FIXTURE_H

#include "check.h"
#include "fixture.h"
#include "symbol/symbolizer.h"

static const char functions_c[] = "int first(int n) { return n + 1; }\n" /* line 1 */
                                  "int second(int n)\n"
                                  "{\n"
                                  "\treturn n * 3;\n" /* line 4 */
                                  "}\n"
                                  "static __attribute__((noinline, noclone)) int hidden(int n)\n"
                                  "{ volatile int m = n; return m / 7; }\n"
                                  "int third(int n) { return hidden(n) + hidden(n + 1); }\n"
                                  "int main(void) { return third(4); }\n";

static inline bool functions_build(void)
{
	return fixture_write("functions.c", functions_c, sizeof(functions_c) - 1) &&
	       fixture_run("gcc -O1 -g -o functions functions.c -Wl,--build-id=0x0102030405060708 "
	                   "&& gcc -O1 -g -Wl,--build-id=none -o linked functions.c "
	                   "&& objcopy --only-keep-debug linked linked.debug && strip linked "
	                   "&& objcopy --add-gnu-debuglink=linked.debug linked");
}

/* A symbolizer for one image of a kind. */
struct subject {
	struct image_table images;
	struct symbolizer *symbols;
	uint32_t image;
};

static inline void subject_start(struct subject *s, const struct image *image, const char *path,
                                 const struct symbol_options *options)
{
	struct image copy = *image;

	image_table_init(&s->images);
	copy.path = intern_add(&s->images.names, path);
	s->image = image_table_add(&s->images, &copy);
	s->symbols = symbolizer_new(&s->images, options);
}

static inline void subject_open(struct subject *s, const char *file)
{
	subject_start(s, &(struct image){.kind = IMAGE_FILE}, fixture_path(file), NULL);
}

static inline void subject_end(struct subject *s)
{
	symbolizer_free(s->symbols);
	image_table_done(&s->images);
}

static inline const struct symbol *at_offset(struct subject *s, uint64_t offset)
{
	return symbolizer_find(s->symbols, (struct frame){s->image, offset});
}

static inline const struct symbol *at(struct subject *s, uint64_t address)
{
	struct frame frame = {0};

	CHECK(symbolizer_frame(s->symbols, s->image, address, &frame));
	CHECK_EQ(symbolizer_address(s->symbols, frame), address);
	return symbolizer_find(s->symbols, frame);
}

#endif
