/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_keeper: it pauses after new mappings, and waits if there are none. */
#include "check.h"

#include "session/keep/image_keeper_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct image_keeper *k;
static struct perf_event_attr sampled = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};

static bool begin(void)
{
	int32_t self = getpid();
	struct image_keeper_options o = {.tasks = &self, .task_count = 1, .sampled = &sampled};
	struct error err = {0};

	if (!image_keeper_open(&k, &o, &err))
		return true;
	printf("# not tested: %s\n", err.text);
	return false;
}

/* Waits until it must be polled again. */
static void wait_out_the_rest(void)
{
	while (image_keeper_fd(k) < 0)
		usleep(10000);
}

static void no_rest_where_nothing_was_seen(void)
{
	if (!begin())
		return;
	image_keeper_look(k, true);
	wait_out_the_rest();
	for (int i = 0; i < 20; i++) {
		CHECK(!image_keeper_look(k, true));
		CHECK(image_keeper_fd(k) >= 0);
		CHECK_EQ(image_keeper_rest_ms(k), -1);
	}
	image_keeper_close(k);
}

/* Mappings made during a pause are read at its end without polling. */
static void the_end_of_a_rest_is_a_look(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *memory;

	if (!begin())
		return;
	memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(memory != MAP_FAILED);
	CHECK(perf_source_pending(k->source));
	wait_out_the_rest();
	CHECK(image_keeper_look(k, false));
	CHECK(!perf_source_pending(k->source));
	CHECK_EQ(k->files.count, 1);
	munmap(memory, 4096);
	close(fd);
	image_keeper_close(k);
}

int main(void)
{
	RUN(no_rest_where_nothing_was_seen);
	RUN(the_end_of_a_rest_is_a_look);
	return check_end();
}
