/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of counted functions: from the recording, and from the symbolizer. */
#include "call_view_fixture.h"

#include <unistd.h>

static void names_come_from_the_recording_or_say_where(void)
{
	struct call_fixture f;
	struct call_names *raw;
	struct buf text = {0};

	fixture_init(&f);
	CHECK_STR(call_names_of(f.names, f.functions[F_OUTSIDE]), "(outside)");
	CHECK_STR(call_names_of(f.names, f.functions[F_CMP]), "app::cmp(int, int)");
	CHECK_STR(call_names_of(f.names, f.functions[F_NAMELESS]), "prog+0x70");
	call_names_text(f.names, f.functions[F_STRLEN], &text);
	CHECK_STR(buf_text(&text), "strlen [libc.so.6]");
	CHECK(!call_names_library(f.names, f.functions[F_MAIN]));
	raw = call_names_new(f.paths, NULL, true);
	CHECK_STR(call_names_of(raw, f.functions[F_CMP]), "_ZN3app3cmpEii");
	call_names_free(raw);
	buf_done(&text);
	fixture_done(&f);
}

int fixture_landmark(int x);
int fixture_landmark(int x)
{
	return x + 1;
}

/* This test program is the image: its symbols are the expected names. */
static void names_are_filled_from_the_symbolizer(void)
{
	struct call_paths *c = call_paths_new();
	struct image image = {.kind = IMAGE_FILE};
	struct symbolizer *symbols;
	struct frame frame;
	uint32_t id, function, kept;
	char path[512];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	uint64_t at = (uint64_t)(uintptr_t)fixture_landmark;
	char line[1024];

	CHECK(size > 0 && maps);
	path[size > 0 ? size : 0] = '\0';
	image.path = intern_add(&c->images.names, path);
	id = image_table_add(&c->images, &image);
	frame = (struct frame){id, 0};
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && at >= start &&
		    at < end)
			frame.offset = at - start + offset;
	fclose(maps);
	function = call_paths_function(
	        c, &(struct call_function){.kind = CALL_FUNCTION, .frame = frame});
	kept = fixture_function(c, id, "as recorded", frame.offset + 1, false, false);
	symbols = symbolizer_new(&c->images, &(struct symbol_options){0});
	call_names_fill(c, symbols);
	CHECK_STR(intern_text(&c->images.names, c->functions.items[function].name),
	          "fixture_landmark");
	CHECK_STR(intern_text(&c->images.names, c->functions.items[kept].name), "as recorded");
	CHECK(strstr(intern_text(&c->images.names, c->functions.items[function].file),
	             "test_call_names.c"));
	CHECK(c->functions.items[function].line > 0);
	symbolizer_free(symbols);
	call_paths_free(c);
}

int main(void)
{
	RUN(names_come_from_the_recording_or_say_where);
	RUN(names_are_filled_from_the_symbolizer);
	return check_end();
}
