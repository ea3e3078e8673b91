/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of event tags, with hand-made files of this running process in a watched
 * directory: programs of one process that follow each other by exec.
 */
#include "check.h"
#include "fixture.h"
#include "launch/tags/tags_collect.h"
#include "tag_rings_fixture.h"

#include <fcntl.h>
#include <inttypes.h>

/* The start time of this process, as in names of files. */
static uint64_t own_birth(void)
{
	char text[1024] = "";
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	uint64_t birth = 0;

	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	CHECK_EQ(sscanf(strrchr(text, ')') + 1,
	                " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	                "%*s %" SCNu64,
	                &birth),
	         1);
	return birth;
}

static const char *own_file(unsigned number)
{
	char name[96];

	snprintf(name, sizeof(name), "watched/%d-%" PRIu64 "-%u.tags", (int)getpid(), own_birth(),
	         number);
	return fixture_path(name);
}

static void put(const struct tf *f, unsigned number)
{
	const char *path = own_file(number);

	CHECK(fixture_write(path + strlen(fixture_dir) + 1, f->bytes, sizeof(f->bytes)));
}

/* Writes packet `i` as it is in memory, and its state, to the existing file. */
static void put_packet(struct tf *f, unsigned number, unsigned i)
{
	int fd = open(own_file(number), O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	if (fd < 0)
		return;
	CHECK_EQ(pwrite(fd, tf_packet(f, i), TF_BYTES, TF_PACKETS_AT + i * TF_BYTES), TF_BYTES);
	CHECK_EQ(pwrite(fd, tf_state(f, i), 4, (off_t)(TF_STATES_AT + i * 4)), 4);
	close(fd);
}

static struct tf *program(uint64_t first_ticks)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);

	tf_header(f)->pid = getpid();
	tf_header(f)->birth = own_birth();
	tf_header(f)->first.ticks = first_ticks;
	return f;
}

/*
 * The file of a program that was replaced by exec is read and removed. The next program then
 * reuses its number, so the file with the larger number is the older one.
 */
static void a_number_that_is_used_again_is_of_the_latest_program(void)
{
	struct tags_collect *c = tags_collect_new(fixture_path("trace"));
	struct tf *second = program(1000), *third = program(5000);
	struct tags_collect_result result;
	struct error err = {0};
	bool busy = true;

	CHECK_EQ(mkdir(fixture_path("watched"), 0700), 0);
	tf_fill(second, 0, 0, 0, 1000, 5, 2);
	tf_fill(third, 0, 0, 0, 5000, 3, 2);
	put(second, 1);
	put(third, 0);
	tags_collect_watch(c, fixture_path("watched"), true, NULL);
	for (int i = 0; i < 10 && busy; i++)
		CHECK_EQ(tags_collect_step(c, &busy, &err), 0);
	CHECK(access(own_file(1), F_OK) != 0);
	CHECK(access(own_file(0), F_OK) == 0);
	tf_fill(third, 1, 0, 1, 6000, 2, 2);
	put_packet(third, 0, 1);
	CHECK_EQ(tags_collect_end(c, "prog", &result, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(result.processes, 2);
	CHECK_EQ(result.running, 1);
	CHECK_EQ(result.events, 5 + 3 + 2);
	tags_collect_result_done(&result);
	tags_collect_free(c);
	free(second);
	free(third);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_number_that_is_used_again_is_of_the_latest_program);
	fixture_end();
	return check_end();
}
