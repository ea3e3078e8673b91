/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A direct write that the disk delays: the page cache is used for some writes, not for ever. */
#include "base/file/append_file.h"
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns = 1; /* the simulated time advances only during writes */
static uint64_t write_ns;
static unsigned direct_writes;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	*t = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
	return 0;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	bool direct = fcntl(fd, F_GETFL) & O_DIRECT;

	direct_writes += direct;
	if (direct)
		now_ns += write_ns;
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

/* The number of direct writes in this number of flushes. */
static unsigned flush(struct append_file *f, unsigned flushes)
{
	static const char bytes[5000];
	struct error err = {0};

	direct_writes = 0;
	while (flushes--) {
		CHECK_EQ(append_file_add(f, bytes, sizeof(bytes), &err), 0);
		CHECK_EQ(append_file_flush(f, &err), 0);
	}
	return direct_writes;
}

static void direct_writes_are_tried_again(void)
{
	char path[] = "./assay-append-XXXXXX";
	int fd = mkstemp(path);
	struct append_file *f = append_file_new(fd, path, true);

	if (!(fcntl(fd, F_GETFL) & O_DIRECT) || flush(f, 3) != 3) {
		puts("# this file system has no direct writes");
	} else {
		write_ns = 50000000;
		CHECK_EQ(flush(f, 3), 3);
		write_ns = 200000000;
		CHECK_EQ(flush(f, 4), 1);
		CHECK_EQ(flush(f, 1), 1); /* each time after twice as many writes */
		CHECK_EQ(flush(f, 7), 0);
		write_ns = 50000000;
		CHECK_EQ(flush(f, 9), 9);
	}
	append_file_free(f);
	unlink(path);
}

int main(void)
{
	RUN(direct_writes_are_tried_again);
	return check_end();
}
