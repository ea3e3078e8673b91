/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign calls: replies of any size, blocked and busy calls, users who are not served any more.
 */
#include "base/process/foreign.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT_MS 30

static struct foreign *begin(int keep)
{
	struct foreign_options options = {.keep = keep};
	struct foreign *f = NULL;

	CHECK(!foreign_open(&f, &options, NULL));
	return f;
}

static int fill(const void *in, size_t size, struct foreign_reply *reply)
{
	const size_t *count = in;

	CHECK_EQ(size, sizeof(*count));
	for (size_t i = 0; i < *count; i++)
		foreign_reply_add(reply, &i, sizeof(i));
	return 0;
}

static bool counts_up(const struct buf *b, size_t count)
{
	size_t value;

	if (b->size != count * sizeof(value))
		return false;
	for (size_t i = 0; i < count; i++) {
		memcpy(&value, b->data + i * sizeof(value), sizeof(value));
		if (value != i)
			return false;
	}
	return true;
}

static void answers_of_any_size_arrive_complete(void)
{
	static const size_t counts[] = {0, 1, 16384, 16385, 300000, 1000000, 3};
	struct foreign *f = begin(-1);
	struct buf out = {0};

	for (int here = 0; here < 2; here++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
			buf_clear(&out);
			CHECK(!foreign_call(here ? NULL : f, fill, getuid(), FOREIGN_MS, &counts[i],
			                    sizeof(*counts), &out));
			CHECK(counts_up(&out, counts[i]));
		}
	CHECK_EQ(foreign_counts(f).calls, 7);
	buf_done(&out);
	foreign_close(f);
}

static int fill_mapped(const void *in, size_t size, struct foreign_reply *reply)
{
	const size_t *count = in;
	size_t *values = xcalloc(*count, sizeof(*values));
	int status;

	for (size_t i = 0; i < *count; i++)
		values[i] = i;
	status = foreign_reply_map(reply, values, *count * sizeof(*values));
	free(values);
	return status;
}

static void mapped_answers_outlive_the_process(void)
{
	static const size_t counts[] = {1, 512, 513, 500000};
	struct foreign *f = begin(-1);
	struct buf seen[4];
	void *bytes[4];
	size_t sizes[4], none = 0;

	for (size_t i = 0; i < 4; i++)
		CHECK(!foreign_call_mapped(f, fill_mapped, 0, FOREIGN_MS, &counts[i],
		                           sizeof(*counts), &bytes[i], &sizes[i]));
	CHECK(foreign_call_mapped(f, fill_mapped, 0, FOREIGN_MS, &none, sizeof(none), &bytes[0],
	                          &sizes[0]) == -EINVAL);
	sizes[0] = sizeof(size_t);
	foreign_close(f);
	for (size_t i = 0; i < 4; i++) {
		seen[i] = (struct buf){.data = bytes[i], .size = sizes[i]};
		CHECK(counts_up(&seen[i], counts[i]));
		foreign_unmap(bytes[i], sizes[i]);
	}
}

static int refuse(const void *in, size_t size, struct foreign_reply *reply)
{
	foreign_reply_add(reply, in, size);
	return -EPERM;
}

static void an_error_comes_back_without_bytes(void)
{
	struct foreign *f = begin(-1);
	struct buf out = {0};

	CHECK_EQ(foreign_call(f, refuse, getuid(), FOREIGN_MS, "abc", 3, &out), -EPERM);
	CHECK_EQ(out.size, 0);
	CHECK_EQ(foreign_call(f, refuse, getuid(), FOREIGN_MS, "", FOREIGN_IN_MAX + 1, &out),
	         -ENAMETOOLONG);
	buf_done(&out);
	foreign_close(f);
}

/* Waits until the FIFO's other side is opened. */
static int open_fifo(const void *in, size_t size, struct foreign_reply *reply)
{
	int fd = open(in, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

static int stuck_call(struct foreign *f, uint32_t user, const char *fifo)
{
	return foreign_call(f, open_fifo, user, SHORT_MS, fifo, strlen(fifo) + 1, NULL);
}

struct texts {
	int count;
	char last[512];
};

static void take_text(void *ctx, const char *text)
{
	struct texts *t = ctx;

	t->count++;
	snprintf(t->last, sizeof(t->last), "%s", text);
}

static void stuck_calls_are_abandoned_and_their_user_is_left_alone(void)
{
	char directory[] = "/tmp/assay-foreign-XXXXXX", fifo[64], wanted[128];
	struct foreign *f = begin(-1);
	struct texts texts = {0};
	struct buf out = {0};
	size_t one = 1;
	int fd;

	CHECK(mkdtemp(directory) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	CHECK(!mkfifo(fifo, 0600));
	for (int i = 0; i < FOREIGN_STUCK_USER; i++) {
		CHECK(!foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), &out));
		CHECK_EQ(stuck_call(f, foreign_user(f, getpid()), fifo), -ETIMEDOUT);
	}
	CHECK_EQ(foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), &out), -ECANCELED);
	/* Processes that ended before their user was read count as one user, who is still served.
	 */
	buf_clear(&out);
	CHECK(!foreign_call(f, fill, foreign_user(f, INT32_MAX), FOREIGN_MS, &one, sizeof(one),
	                    &out));
	CHECK(counts_up(&out, 1));
	foreign_report(f, take_text, &texts);
	snprintf(wanted, sizeof(wanted),
	         "processes of user %u: 4 reads were not answered in time, 1 "
	         "more was not made",
	         (unsigned)getuid());
	CHECK_EQ(texts.count, 1);
	CHECK(strstr(texts.last, wanted) != NULL);
	/* After the calls return, the user is served again. */
	fd = open(fifo, O_WRONLY);
	CHECK(fd >= 0);
	while (foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), &out))
		usleep(1000);
	close(fd);
	CHECK_EQ(foreign_counts(f).unanswered, FOREIGN_STUCK_USER);
	unlink(fifo);
	rmdir(directory);
	buf_done(&out);
	foreign_close(f);
}

static void the_user_of_an_ended_process_is_remembered(void)
{
	struct foreign *f = begin(-1);
	uint32_t user = getuid(), unknown = foreign_user(f, INT32_MAX);
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	CHECK_EQ(foreign_user(f, child), user);
	kill(child, SIGKILL);
	CHECK(waitpid(child, NULL, 0) == child);
	/* More than the time for which a reply about a live process is cached. */
	usleep(1100000);
	CHECK_EQ(foreign_user(f, child), user);
	CHECK(unknown != user);
	CHECK_EQ(foreign_user(f, INT32_MAX), unknown);
	foreign_close(f);
}

/* The FIFO's other side: open_fifo() waits for it. */
static void open_other_side(void *ctx)
{
	int fd = open(ctx, O_WRONLY | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
}

static void the_caller_works_while_it_waits(void)
{
	char directory[] = "/tmp/assay-foreign-XXXXXX", fifo[64];
	struct foreign *f = begin(-1);

	CHECK(mkdtemp(directory) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	CHECK(!mkfifo(fifo, 0600));
	foreign_set_waiting(f, open_other_side, fifo);
	CHECK(!foreign_call(f, open_fifo, getuid(), FOREIGN_COPY_MS, fifo, strlen(fifo) + 1, NULL));
	foreign_set_waiting(f, NULL, NULL);
	CHECK_EQ(stuck_call(f, getuid(), fifo), -ETIMEDOUT);
	foreign_set_waiting(NULL, open_other_side, fifo);
	unlink(fifo);
	rmdir(directory);
	foreign_close(f);
}

static void no_user_can_take_all_threads(void)
{
	char directory[] = "/tmp/assay-foreign-XXXXXX", fifo[64];
	struct foreign *f = begin(-1);
	size_t one = 1;

	CHECK(mkdtemp(directory) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	CHECK(!mkfifo(fifo, 0600));
	for (int i = 0; i < 20; i++) {
		stuck_call(f, foreign_user(f, getpid()), fifo);
		stuck_call(f, foreign_user(f, INT32_MAX), fifo);
	}
	CHECK_EQ(foreign_counts(f).unanswered, FOREIGN_STUCK_MAX);
	CHECK_EQ(foreign_counts(f).refused, 40 - FOREIGN_STUCK_MAX);
	CHECK_EQ(foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), NULL), -ECANCELED);
	unlink(fifo);
	rmdir(directory);
	foreign_close(f);
}

/* Uses a CPU for longer than the time limit. */
static int spin(const void *in, size_t size, struct foreign_reply *reply)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < 4 * SHORT_MS * UINT64_C(1000000))
		;
	foreign_reply_add(reply, in, size);
	return 0;
}

static void a_busy_call_is_not_a_stuck_one(void)
{
	struct foreign *f = begin(-1);
	struct buf out = {0};

	CHECK(!foreign_call(f, spin, getuid(), SHORT_MS, "x", 1, &out));
	CHECK_EQ(out.size, 1);
	CHECK(foreign_cpu_ns(f) >= 4 * SHORT_MS * UINT64_C(1000000));
	buf_done(&out);
	foreign_close(f);
}

static int is_open(const void *in, size_t size, struct foreign_reply *reply)
{
	const int *fd = in;

	return fcntl(*fd, F_GETFD) < 0 ? -errno : 0;
}

static void descriptors_are_not_held_open(void)
{
	int pipes[2], kept[2];
	struct foreign *f;

	CHECK(!pipe(pipes));
	CHECK(!pipe(kept));
	f = begin(kept[0]);
	CHECK_EQ(foreign_call(f, is_open, 0, FOREIGN_MS, &pipes[0], sizeof(int), NULL), -EBADF);
	CHECK_EQ(foreign_call(f, is_open, 0, FOREIGN_MS, &pipes[1], sizeof(int), NULL), -EBADF);
	CHECK_EQ(foreign_call(f, is_open, 0, FOREIGN_MS, &kept[1], sizeof(int), NULL), -EBADF);
	CHECK_EQ(foreign_call(f, is_open, 0, FOREIGN_MS, &kept[0], sizeof(int), NULL), 0);
	foreign_close(f);
}

static void a_process_that_was_killed_is_restarted(void)
{
	struct foreign *f = begin(-1);
	struct texts texts = {0};
	struct buf out = {0};
	pid_t first = foreign_pid(f);
	uint64_t cpu_ns;
	size_t one = 1;

	CHECK(!foreign_call(f, spin, getuid(), SHORT_MS, "x", 1, NULL));
	cpu_ns = foreign_cpu_ns(f);
	CHECK_EQ(foreign_generation(f), 0);
	kill(first, SIGKILL);
	/* At most the call that meets the end of the process is lost. */
	while (!foreign_generation(f))
		foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), NULL);
	CHECK(foreign_counts(f).refused <= 1);
	CHECK(!foreign_call(f, fill, getuid(), FOREIGN_MS, &one, sizeof(one), &out));
	CHECK(counts_up(&out, 1));
	CHECK(foreign_pid(f) != first);
	CHECK_EQ(foreign_generation(f), 1);
	CHECK(foreign_cpu_ns(f) >= cpu_ns);
	foreign_report(f, take_text, &texts);
	CHECK(strstr(texts.last, "was ended, and was restarted 1 time") != NULL);
	buf_done(&out);
	foreign_close(f);
}

static void the_process_ends_with_its_parent(void)
{
	int pipes[2];
	pid_t middle;
	char byte;

	CHECK(!pipe(pipes));
	middle = fork();
	if (!middle) {
		struct foreign_options options = {.keep = pipes[1]};
		struct foreign *f;

		_exit(foreign_open(&f, &options, NULL) ||
		      foreign_call(f, is_open, 0, FOREIGN_MS, &pipes[1], sizeof(int), NULL));
	}
	close(pipes[1]);
	/* The end of the pipe: the last process that had it open has ended. */
	CHECK_EQ(read(pipes[0], &byte, 1), 0);
	CHECK(waitpid(middle, NULL, 0) == middle);
	close(pipes[0]);
}

int main(void)
{
	RUN(answers_of_any_size_arrive_complete);
	RUN(mapped_answers_outlive_the_process);
	RUN(an_error_comes_back_without_bytes);
	RUN(stuck_calls_are_abandoned_and_their_user_is_left_alone);
	RUN(the_user_of_an_ended_process_is_remembered);
	RUN(the_caller_works_while_it_waits);
	RUN(no_user_can_take_all_threads);
	RUN(a_busy_call_is_not_a_stuck_one);
	RUN(descriptors_are_not_held_open);
	RUN(a_process_that_was_killed_is_restarted);
	RUN(the_process_ends_with_its_parent);
	return check_end();
}
