/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of files that processes can make the keeper hold is limited. */
#include "check.h"
#include "fixture.h"
#include "session/keep/image_keeper_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void ranges_of_one_file_have_a_bound(void)
{
	struct image_keeper_file file = {.fd = 0, .watch = -1};
	struct event_mmap m = {.size = 0x1000};
	struct image_keeper k = {.eager = true};

	vec_push(&k.files, file);
	for (uint64_t i = 0; i < 1000000; i++) {
		m.addr = i * 0x1000;
		image_keeper_hits_add(&k, 0, &m, 42);
	}
	CHECK(k.ranges.count < 70000);
	/* Mappings beyond the limit count as hit. */
	CHECK(k.files.items[0].old);
	image_keeper_hits_done(&k);
	vec_done(&k.files);
}

static bool hits(struct image_keeper *k, uint64_t address, uint32_t file)
{
	vec_each (f, &k->files)
		f->hit = false;
	image_keeper_hits(k, &address, 1);
	return k->files.items[file].hit;
}

static void a_range_is_found_below_shorter_ones(void)
{
	struct image_keeper_file file = {.fd = 0, .watch = -1};
	struct event_mmap outer = {.addr = 0x10000, .size = 0x90000}, inner = {.size = 0x1000};
	struct image_keeper k = {.eager = true};

	vec_push(&k.files, file);
	vec_push(&k.files, file);
	for (uint64_t i = 20; i > 0; i--) {
		inner.addr = 0x10000 + i * 0x2000;
		image_keeper_hits_add(&k, 1, &inner, 42);
	}
	image_keeper_hits_add(&k, 0, &outer, 43);
	CHECK(hits(&k, 0x10000, 0));
	CHECK(hits(&k, 0x9ffff, 0));
	CHECK(!hits(&k, 0xa0000, 0));
	CHECK(!hits(&k, 0xffff, 0));
	CHECK(!hits(&k, 0x9ffff, 1));
	CHECK(hits(&k, 0x12fff, 0) && k.files.items[1].hit);
	CHECK(hits(&k, 0x13000, 0) && !k.files.items[1].hit);
	image_keeper_hits_done(&k);
	vec_done(&k.files);
}

static struct event_mmap mapping_of(const char *path)
{
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	return (struct event_mmap){.addr = 0x400000,
	                           .size = 0x1000,
	                           .major = major(st.st_dev),
	                           .minor = minor(st.st_dev),
	                           .inode = st.st_ino,
	                           .executable = true,
	                           .filename = path};
}

static void make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "code", 4), 4);
	close(fd);
}

/* Two files in turn, since the kernel merges equal notices. */
static void a_flood_of_changes_is_bounded(void)
{
	struct image_keeper k = {
	        .inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .epoll = -1, .held_most = 16};
	const char *paths[3];
	uint32_t ids[3];

	for (int i = 0; i < 3; i++) {
		struct event_mmap m;

		paths[i] = xstrdup(fixture_path(i == 0 ? "a" : i == 1 ? "b" : "quiet"));
		make(paths[i]);
		m = mapping_of(paths[i]);
		ids[i] = image_keeper_file_of(&k, &m, getpid());
		CHECK(ids[i] != ID_NONE && k.files.items[ids[i]].fd >= 0);
	}
	for (int i = 0; i < 20000; i++) {
		CHECK_EQ(chmod(paths[i % 2], i % 4 < 2 ? 0700 : 0600), 0);
		if (i % 100 == 0)
			image_keeper_files_read(&k);
	}
	CHECK_EQ(k.noisy, 2);
	CHECK(k.notice_looks > 0 && k.notice_looks < 1000);
	CHECK(k.files.items[ids[0]].watch < 0 && k.files.items[ids[0]].fd >= 0);
	/* The other files are still watched. */
	CHECK_EQ(unlink(paths[2]), 0);
	for (int i = 0; i < 1000 && !k.at_risk; i++) {
		image_keeper_files_read(&k);
		usleep(10000);
	}
	CHECK_EQ(k.at_risk, 1);
	CHECK(k.files.items[ids[2]].at_risk);
	image_keeper_files_done(&k);
	close(k.inotify);
	for (int i = 0; i < 3; i++)
		free((char *)paths[i]);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(ranges_of_one_file_have_a_bound);
	RUN(a_range_is_found_below_shorter_ones);
	RUN(a_flood_of_changes_is_bounded);
	fixture_end();
	return check_end();
}
