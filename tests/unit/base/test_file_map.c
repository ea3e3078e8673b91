/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of files that become shorter while they are read. */
#include "base/read/file_map.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 16

static size_t page;

static int file_of_pages(void)
{
	int fd = memfd_create("pages", MFD_CLOEXEC);
	char *bytes = malloc(PAGES * page);

	memset(bytes, 'x', PAGES * page);
	CHECK_EQ(write(fd, bytes, PAGES * page), (ssize_t)(PAGES * page));
	free(bytes);
	return fd;
}

static bool is_all(const struct file_map *m, size_t from, size_t to, char wanted)
{
	const volatile char *bytes = m->bytes;

	for (size_t i = from; i < to; i++)
		if (bytes[i] != wanted)
			return false;
	return true;
}

static void missing_pages_are_zeros_and_an_error(void)
{
	struct file_map none = {0}, cut, whole;
	struct error err = {0};
	int fd = file_of_pages(), other = file_of_pages();

	CHECK_EQ(file_map_open(&cut, fd, PAGES * page, PROT_READ, MAP_PRIVATE), 0);
	CHECK_EQ(file_map_open(&whole, other, PAGES * page, PROT_READ, MAP_SHARED), 0);
	CHECK_EQ(ftruncate(fd, (off_t)(3 * page)), 0);
	CHECK(is_all(&cut, 0, 3 * page, 'x'));
	CHECK(!file_map_is_cut(&cut));
	CHECK_EQ(file_map_error(&cut, "file", -EINVAL, &err), -EINVAL);
	CHECK(is_all(&cut, 5 * page, 6 * page, 0));
	CHECK(is_all(&cut, 3 * page, PAGES * page, 0));
	CHECK(is_all(&cut, 0, 3 * page, 'x'));
	CHECK(is_all(&whole, 0, PAGES * page, 'x'));
	CHECK_EQ(file_map_error(&whole, "file", 0, &err), 0);
	CHECK_EQ(file_map_error(&cut, "file", 0, &err), -EIO);
	CHECK(strstr(err.text, "file became shorter while it was read") != NULL);
	file_map_close(&cut);
	file_map_close(&whole);
	file_map_close(&none);
	CHECK(!file_map_is_cut(&cut));
	close(fd);
	close(other);
}

/* Maps, truncates, reads and unmaps, while another thread does the same. */
static void *cut_often(void *failed)
{
	struct file_map m;

	for (int i = 0; i < 300; i++) {
		int fd = file_of_pages();

		if (file_map_open(&m, fd, PAGES * page, PROT_READ, MAP_PRIVATE) ||
		    ftruncate(fd, (off_t)page) || !is_all(&m, 0, page, 'x') ||
		    !is_all(&m, page, PAGES * page, 0) || !file_map_is_cut(&m))
			*(bool *)failed = true;
		file_map_close(&m);
		close(fd);
	}
	return NULL;
}

static void threads_have_maps_of_their_own(void)
{
	bool failed[4] = {0};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, cut_often, &failed[i]));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		CHECK(!failed[i]);
	}
}

static void other_bus_errors_have_their_effect(void)
{
	int fd = file_of_pages(), status;
	struct file_map m;
	pid_t child;

	CHECK_EQ(file_map_open(&m, fd, page, PROT_READ, MAP_PRIVATE), 0);
	child = fork();
	if (!child) {
		volatile char *bytes = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);

		alarm(60);
		_exit(ftruncate(fd, 0) ? 98 : bytes[0] ? 97 : 99);
	}
	CHECK(waitpid(child, &status, 0) == child);
	/* A sanitizer exits instead. */
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS
	                          : WEXITSTATUS(status) && WEXITSTATUS(status) < 97);
	file_map_close(&m);
	close(fd);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	RUN(missing_pages_are_zeros_and_an_error);
	RUN(threads_have_maps_of_their_own);
	RUN(other_bus_errors_have_their_effect);
	return check_end();
}
