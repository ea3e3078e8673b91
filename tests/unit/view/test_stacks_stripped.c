/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where stacks of stripped C libraries begin: local functions recognised by their neighbours. */
#include "view/samples/stacks.h"

#include "check.h"
#include "fixture.h"
#include "symbol/symbolizer.h"

/*
 * As in musl: the function that calls main() is directly before __libc_start_main; threads start in
 * the function after clone.
 */
static const char library_s[] = ".text\n"
                                ".globl early, __libc_start_main, clone, cost\n"
                                ".type early, @function\n"
                                "early: ret\n"
                                ".size early, . - early\n"
                                "far: .fill 200, 1, 0x90\n"
                                "stage2: .fill 40, 1, 0x90\n"
                                "ret\n"
                                ".type __libc_start_main, @function\n"
                                "__libc_start_main: ret\n"
                                ".size __libc_start_main, . - __libc_start_main\n"
                                ".type clone, @function\n"
                                "clone: ret\n"
                                ".size clone, . - clone\n"
                                "thread: .fill 40, 1, 0x90\n"
                                ".type cost, @function\n"
                                "cost: ret\n"
                                ".size cost, . - cost\n"
                                ".section .note.GNU-stack,\"\",@progbits\n";

/*
 * The quality of chains whose only frame is at this address, and that ended in code without a
 * table.
 */
static enum stack_quality quality_at(const char *label)
{
	struct profile_event event = {.role = ATTR_CLOCK, .user_callchain = true};
	struct profile *p = profile_new();
	struct symbolizer *symbols = symbolizer_new(&p->images, NULL);
	struct profile_row key = {.region = REGION_NONE, .stack_end = STACK_NO_TABLE};
	struct profile_frame frame = {0};
	struct selection selection = {0};
	uint64_t address = 0, size;
	struct stacks stacks;
	struct view *view;
	uint32_t image;
	size_t quality = 0;

	event.name = strdup("cpu-clock");
	vec_push(&p->events, event);
	CHECK(fixture_nm("library.so", label, &address, &size));
	image = image_table_named(&p->images, IMAGE_FILE, fixture_path("stripped.so"));
	CHECK(symbolizer_frame(symbols, image, address + 30, &frame.frame));
	key.path = profile_path_add(p, PATH_ROOT, profile_frame_add(p, &frame));
	key.thread = process_table_thread(p->processes, 100, 100);
	profile_row_add(p, &key)->samples += 7;
	vec_push(&selection.rows, 0);
	view = view_new(p, symbols);
	stacks_of(view, &selection, &stacks);
	CHECK_EQ(stacks.samples, 7);
	while (quality < STACK_QUALITIES && !stacks.quality_samples[quality])
		quality++;
	selection_done(&selection);
	view_free(view);
	symbolizer_free(symbols);
	profile_free(p);
	return (enum stack_quality)quality;
}

static void only_the_start_of_a_program_or_thread_is_whole(void)
{
	CHECK_EQ(quality_at("stage2"), STACK_QUALITY_WHOLE);
	CHECK_EQ(quality_at("far"), STACK_QUALITY_BROKEN);
	CHECK_EQ(quality_at("thread"), STACK_QUALITY_WHOLE);
}

int main(void)
{
	if (!fixture_begin() || !fixture_write("library.s", library_s, sizeof(library_s) - 1) ||
	    !fixture_run("gcc -nostdlib -shared -o library.so library.s "
	                 "&& strip -o stripped.so library.so")) {
		printf("Bail out! cannot build the library that the tests look at\n");
		return 1;
	}
	RUN(only_the_start_of_a_program_or_thread_is_whole);
	fixture_end();
	return check_end();
}
