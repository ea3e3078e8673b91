/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The quality of call chains: as recorded, or judged by their outermost function. */
#include "check.h"
#include "view_fixture.h"

#include "view/samples/stacks.h"

static void count(struct fixture *f, const struct filter *filter, struct stacks *out)
{
	static const struct filter all = {0};
	struct view *v = view_new(f->profile, f->symbols);
	struct selection s;
	struct error err = {0};

	CHECK_EQ(filter_select(v, filter ? filter : &all, 0, &s, &err), 0);
	stacks_of(v, &s, out);
	selection_done(&s);
	view_free(v);
}

/* The hand-made profile has rows of all kinds; idle ones have no user stack. */
static void recorded_stack_ends_are_counted(void)
{
	struct stacks s;
	struct fixture f;

	fixture_init(&f, false);
	count(&f, NULL, &s);
	CHECK(s.present);
	CHECK_EQ(s.samples, 85);
	CHECK_EQ(s.weight, 85 * MS);
	CHECK_EQ(s.quality_samples[STACK_QUALITY_WHOLE], 40);
	CHECK_EQ(s.quality_samples[STACK_QUALITY_STITCHED], 20);
	CHECK_EQ(s.quality_samples[STACK_QUALITY_TRUNCATED], 10);
	CHECK_EQ(s.quality_samples[STACK_QUALITY_BROKEN], 15);
	CHECK_EQ(s.quality_samples[STACK_QUALITY_NONE], 15);
	CHECK_EQ(s.quality_weight[STACK_QUALITY_BROKEN], 15 * MS);
	CHECK_EQ(s.end_samples[STACK_NO_TABLE], 5);
	CHECK_EQ(s.end_samples[STACK_END_UNKNOWN], 10);
	CHECK_EQ(s.image_count, 1);
	CHECK_EQ(s.images[0].image, f.program);
	CHECK_EQ(s.images[0].samples, 25);
	fixture_done(&f);
}

static void filters_apply(void)
{
	static const char *const names[] = {"sh"};
	struct filter filter = {.comm = {names, 1}};
	struct stacks s;
	struct fixture f;

	fixture_init(&f, false);
	count(&f, &filter, &s);
	CHECK_EQ(s.samples, 5); /* without the interrupts that hit it */
	CHECK_EQ(s.quality_samples[STACK_QUALITY_BROKEN], 5);
	fixture_done(&f);
}

static void without_user_chains_nothing_is_said(void)
{
	struct stacks s;
	struct fixture f;

	fixture_init(&f, false);
	f.profile->events.items[0].user_callchain = false;
	count(&f, NULL, &s);
	CHECK(!s.present);
	CHECK_EQ(s.samples, 0);
	fixture_done(&f);
}

/* Returns the quality of one row of 7 samples, for which none was recorded. */
static enum stack_quality judged(uint32_t (*path)(struct fixture *), enum profile_mode mode)
{
	struct stacks s;
	struct fixture f;
	size_t quality = 0;

	fixture_init(&f, false);
	f.profile->rows.count = 0;
	id_table_done(&f.profile->row_index);
	fixture_row(&f, path(&f), f.sh, 0, mode, 7);
	count(&f, NULL, &s);
	while (quality < STACK_QUALITIES && !s.quality_samples[quality])
		quality++;
	CHECK(quality < STACK_QUALITIES && s.quality_samples[quality] == 7);
	CHECK_EQ(s.samples, quality == STACK_QUALITY_NONE ? 0 : 7);
	CHECK_EQ(s.image_count,
	         quality == STACK_QUALITY_BROKEN || quality == STACK_QUALITY_TRUNCATED);
	fixture_done(&f);
	return (enum stack_quality)quality;
}

static uint32_t from_start(struct fixture *f)
{
	return fixture_path(f, "_start", "__libc_start_main", "main", NULL);
}

static uint32_t from_a_stripped_program(struct fixture *f)
{
	return fixture_path(f, "[no symbol]", "__libc_start_main@@GLIBC_2.34", "main", NULL);
}

static uint32_t from_libc(struct fixture *f)
{
	return fixture_path(f, "__libc_start_main", "main", NULL);
}

static uint32_t from_a_thread(struct fixture *f)
{
	return fixture_path(f, "__clone3", "start_thread", "work", "|", "vfs_read", NULL);
}

static uint32_t from_go(struct fixture *f)
{
	return fixture_path(f, "runtime.goexit.abi0", "main.main", NULL);
}

static uint32_t from_the_middle(struct fixture *f)
{
	return fixture_path(f, "qsort", "compare", NULL);
}

static uint32_t kernel_alone(struct fixture *f)
{
	return fixture_path(f, "|", "entry_SYSCALL_64_after_hwframe", "do_exit", NULL);
}

static uint32_t deep(struct fixture *f, uint32_t frames)
{
	uint32_t node = PATH_ROOT;
	struct profile_frame frame = {
	        .frame = {.image = f->program,
	                  .offset = intern_add(&f->profile->images.names, "recurse")}};

	while (frames--)
		node = profile_path_add(f->profile, node, profile_frame_add(f->profile, &frame));
	return node;
}

static uint32_t as_deep_as_the_kernel_goes(struct fixture *f)
{
	return deep(f, 127);
}

static uint32_t not_quite_so_deep(struct fixture *f)
{
	return deep(f, 126);
}

static void chains_are_judged(void)
{
	CHECK_EQ(judged(from_start, PROFILE_USER), STACK_QUALITY_WHOLE);
	CHECK_EQ(judged(from_a_stripped_program, PROFILE_USER), STACK_QUALITY_WHOLE);
	CHECK_EQ(judged(from_a_thread, PROFILE_KERNEL), STACK_QUALITY_WHOLE);
	CHECK_EQ(judged(from_go, PROFILE_USER), STACK_QUALITY_WHOLE);
	CHECK_EQ(judged(from_libc, PROFILE_USER), STACK_QUALITY_BROKEN);
	CHECK_EQ(judged(from_the_middle, PROFILE_USER), STACK_QUALITY_BROKEN);
	CHECK_EQ(judged(kernel_alone, PROFILE_KERNEL), STACK_QUALITY_NONE);
	CHECK_EQ(judged(from_start, PROFILE_IDLE), STACK_QUALITY_NONE);
	CHECK_EQ(judged(as_deep_as_the_kernel_goes, PROFILE_USER), STACK_QUALITY_TRUNCATED);
	CHECK_EQ(judged(not_quite_so_deep, PROFILE_USER), STACK_QUALITY_BROKEN);
}

/* Walked by the recorder up to libc's start, which has no table: nothing is missing. */
static enum stack_quality told(const char *outermost, enum stack_end told_end)
{
	struct stacks s;
	struct fixture f;

	fixture_init(&f, false);
	f.profile->rows.count = 0;
	id_table_done(&f.profile->row_index);
	f.stack_end = told_end;
	fixture_row(&f, fixture_path(&f, outermost, "main", NULL), f.sh, 0, PROFILE_USER, 7);
	count(&f, NULL, &s);
	CHECK_EQ(s.samples, 7);
	fixture_done(&f);
	for (size_t i = 0; i < STACK_QUALITIES; i++)
		if (s.quality_samples[i])
			return (enum stack_quality)i;
	return STACK_QUALITY_UNKNOWN;
}

static void stacks_that_reach_the_start_of_musl_are_whole(void)
{
	CHECK_EQ(told("libc_start_main_stage2", STACK_NO_TABLE), STACK_QUALITY_WHOLE);
	CHECK_EQ(told("libc_start_main_stage2", STACK_END_UNKNOWN), STACK_QUALITY_WHOLE);
	CHECK_EQ(told("libc_start_main_stage2", STACK_CUT_COPY), STACK_QUALITY_TRUNCATED);
	CHECK_EQ(told("qsort", STACK_NO_TABLE), STACK_QUALITY_BROKEN);
}

/*
 * Chains end in five images, in no order of their numbers: the three with the most are listed,
 * largest first.
 */
static void worst_images_come_first(void)
{
	static const char *const names[] = {"/lib/a", "/lib/b", "/lib/c", "/lib/d", "/lib/e"};
	static const uint64_t samples[] = {3, 50, 7, 50, 20};
	uint32_t images[5];
	struct stacks s;
	struct fixture f;

	fixture_init(&f, false);
	f.profile->rows.count = 0;
	id_table_done(&f.profile->row_index);
	for (size_t i = 0; i < 5; i++) {
		images[i] = f.program = image_table_named(&f.profile->images, IMAGE_NAME, names[i]);
		f.stack_end = i == 4 ? STACK_CUT_COPY : STACK_NO_FILE;
		fixture_row(&f, fixture_path(&f, "work", "hot", NULL), f.sh, 0, PROFILE_USER,
		            samples[i]);
	}
	count(&f, NULL, &s);
	CHECK_EQ(s.image_count, STACKS_IMAGES);
	CHECK_EQ(s.images[0].image, images[1]);
	CHECK_EQ(s.images[1].image, images[3]);
	CHECK_EQ(s.images[2].image, images[4]);
	CHECK_EQ(s.images[0].samples, 50);
	CHECK_STR(s.images[0].why, stack_end_why(STACK_NO_FILE));
	CHECK_STR(s.images[2].why, stack_end_why(STACK_CUT_COPY));
	fixture_done(&f);
}

int main(void)
{
	RUN(recorded_stack_ends_are_counted);
	RUN(filters_apply);
	RUN(without_user_chains_nothing_is_said);
	RUN(chains_are_judged);
	RUN(stacks_that_reach_the_start_of_musl_are_whole);
	RUN(worst_images_come_first);
	return check_end();
}
