/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded files: the stored copy of a deleted file is found, and never another file.
 */
#include "base/file/cache_dir.h"
#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "image/locate.h"
#include "image/elf/mini_debug.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char program_c[] = "static volatile int n; __attribute__((noinline)) static void "
                                "local(void) { n++; } int main(void) { local(); return 0; }\n";

#define ID "0102030405060708090a0b0c0d0e0f1011121314"

static bool build(void)
{
	return fixture_write("program.c", program_c, sizeof(program_c) - 1) &&
	       fixture_run("gcc -O1 -g -o program program.c -Wl,--build-id=0x" ID
	                   " && gcc -O1 -o other program.c -Wl,--build-id=0x00" ID
	                   " && gcc -O1 -g -o linked program.c -Wl,--build-id=none"
	                   " && objcopy --only-keep-debug linked linked.debug && strip linked"
	                   " && objcopy --add-gnu-debuglink=linked.debug linked");
}

static struct image recorded(void)
{
	struct image image = {.kind = IMAGE_FILE, .build_id.size = 20};

	for (uint8_t i = 0; i < 20; i++)
		image.build_id.bytes[i] = (uint8_t)(i + 1);
	return image;
}

static void keep(const char *file, const char *name)
{
	struct error err = {0};
	struct cache_dir *c;
	int fd = open(fixture_path(file), O_RDONLY | O_CLOEXEC);

	CHECK_EQ(cache_dir_open(&c, &err), 0);
	CHECK_EQ(cache_dir_keep_file(c, LOCATE_KEPT, name, fd, &err), 0);
	cache_dir_close(c);
	close(fd);
}

static int locate(struct elf_file **f, const char *path, struct error *err)
{
	struct image image = recorded();

	*err = (struct error){0};
	return locate_image(f, &image, path, NULL, NULL, err);
}

static void kept_copy_is_found_where_the_file_is_gone(void)
{
	struct error err;
	struct elf_file *f;

	setenv("XDG_CACHE_HOME", fixture_path("kept"), 1);
	CHECK_EQ(locate(&f, "/nowhere/program (deleted)", &err), -ENOENT);
	keep("program", ID);
	CHECK_EQ(locate(&f, "/nowhere/program (deleted)", &err), 0);
	CHECK(f != NULL);
	if (!f)
		return;
	CHECK_EQ(err.code, 0);
	CHECK_STR(elf_file_place(f), "/nowhere/program");
	CHECK(strcmp(elf_file_path(f), "/nowhere/program") != 0);
	elf_file_close(f);
}

static void a_kept_copy_is_used_for_a_rebuilt_file(void)
{
	struct error err;
	struct elf_file *f;

	setenv("XDG_CACHE_HOME", fixture_path("empty"), 1);
	CHECK_EQ(locate(&f, fixture_path("other"), &err), -ESTALE);
	setenv("XDG_CACHE_HOME", fixture_path("kept"), 1);
	CHECK_EQ(locate(&f, fixture_path("other"), &err), 0);
	elf_file_close(f);
	/* A file that still exists is not taken from the cache. */
	CHECK_EQ(locate(&f, fixture_path("program"), &err), 0);
	CHECK_STR(f ? elf_file_path(f) : "", fixture_path("program"));
	elf_file_close(f);
}

static void copy_of_another_file_is_not_taken(void)
{
	struct error err;
	struct elf_file *f;

	setenv("XDG_CACHE_HOME", fixture_path("wrong"), 1);
	keep("other", ID);
	CHECK_EQ(locate(&f, "/nowhere/program", &err), -ESTALE);
	keep("program.c", ID);
	CHECK(locate(&f, "/nowhere/program", &err) != 0);
	CHECK(!f);
}

static void only_regular_files_are_opened(void)
{
	struct error err;
	struct elf_file *f;

	setenv("XDG_CACHE_HOME", fixture_path("empty"), 1);
	CHECK_EQ(mkfifo(fixture_path("fifo"), 0600), 0);
	CHECK(locate(&f, fixture_path("fifo"), &err) != 0);
	CHECK(strstr(err.text, "not a regular file") != NULL);
	CHECK(locate(&f, "/dev/zero", &err) != 0);
	CHECK(strstr(err.text, "not a regular file") != NULL);
	CHECK(locate(&f, fixture_path(""), &err) != 0);
}

/* The recorded file: on the device of the test's files, with another inode. */
static struct image elsewhere(bool with_build_id)
{
	struct image image = recorded();
	struct stat st;

	CHECK_EQ(stat(fixture_path("program"), &st), 0);
	image.build_id.size = with_build_id ? image.build_id.size : 0;
	image.major = major(st.st_dev);
	image.minor = minor(st.st_dev);
	image.inode = st.st_ino + 1000000;
	return image;
}

static int locate_under_root(const struct image *image, const char *path, struct error *err)
{
	struct elf_file *f;
	int status;

	*err = (struct error){0};
	status = locate_image(&f, image, path, fixture_path("root"), NULL, err);
	CHECK(status || !strncmp(elf_file_path(f), fixture_path("root"), strlen(fixture_dir) + 5));
	elf_file_close(f);
	return status;
}

static void copies_under_a_root_are_compared_by_build_id_alone(void)
{
	struct image without = elsewhere(false), with = elsewhere(true);
	struct error err;
	struct elf_file *f;

	setenv("XDG_CACHE_HOME", fixture_path("empty"), 1);
	CHECK(fixture_run("mkdir -p root/bin && cp program root/bin/same && cp other root/bin/"));
	CHECK_EQ(locate_under_root(&without, "/bin/same", &err), 0);
	CHECK(strstr(err.text, "has no build-id") != NULL);
	CHECK_EQ(locate_under_root(&with, "/bin/same", &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(locate_under_root(&with, "/bin/other", &err), -ESTALE);
	/* Outside of the root the inode is compared. */
	CHECK_EQ(locate_image(&f, &without, fixture_path("program"), NULL, NULL, &err), -ESTALE);
}

static bool found_by_process(const struct image *image, struct error *err)
{
	struct elf_file *f;
	int status;

	*err = (struct error){0};
	status = locate_image(&f, image, "/nowhere/test (deleted)", NULL, NULL, err);
	elf_file_close(f);
	return !status;
}

/* This process executes a file with its build-id: /proc/PID/exe. */
static void processes_are_looked_up_where_they_are_the_recorded_ones(void)
{
	struct image image = {.kind = IMAGE_FILE, .pid = getpid()};
	struct elf_file *own = NULL;
	struct error err;

	CHECK_EQ(elf_file_open(&own, "/proc/self/exe", NULL), 0);
	image.build_id = *elf_file_build_id(own);
	elf_file_close(own);
	CHECK(image.build_id.size);
	CHECK(found_by_process(&image, &err)); /* no time is recorded: the present */
	image.pid_seen_ns = clock_ns(CLOCK_REALTIME);
	CHECK(found_by_process(&image, &err));
	image.pid_seen_ns -= (uint64_t)86400 * 365 * 1000000000;
	CHECK(!found_by_process(&image,
	                        &err)); /* the pid belonged to another process at that time */
	CHECK(!strstr(err.text, "/proc"));
	image.pid = 0;
	image.pid_unproven = true;
	CHECK(!found_by_process(&image, &err));
	CHECK(strstr(err.text, "not looked up in /proc") != NULL);
}

static bool has_debug(void)
{
	struct elf_file *f = NULL, *debug;

	CHECK_EQ(elf_file_open(&f, fixture_path("linked"), NULL), 0);
	if (!f)
		return false;
	debug = locate_debug(f, NULL, NULL);
	elf_file_close(debug);
	elf_file_close(f);
	return debug != NULL;
}

static void debug_link_is_taken_by_its_checksum(void)
{
	CHECK(has_debug());
	CHECK(fixture_run("mkdir .debug && mv linked.debug .debug/"));
	CHECK(has_debug());
	CHECK(fixture_run("printf x >>.debug/linked.debug"));
	CHECK(!has_debug());
	CHECK(fixture_run("rm .debug/linked.debug && mkfifo .debug/linked.debug"));
	CHECK(!has_debug());
}

static void copy_that_was_kept_has_the_debug_file_of_its_place(void)
{
	struct elf_file *f = NULL, *debug;

	CHECK(fixture_run("rm -r .debug && objcopy --only-keep-debug program linked.debug"));
	CHECK(fixture_run("mkdir -p moved && strip -o moved/copy program && objcopy "
	                  "--add-gnu-debuglink=linked.debug moved/copy"));
	CHECK_EQ(elf_file_open(&f, fixture_path("moved/copy"), NULL), 0);
	if (!f)
		return;
	debug = locate_debug(f, NULL, NULL);
	CHECK(!debug);
	elf_file_set_place(f, fixture_path("program"));
	debug = locate_debug(f, NULL, NULL);
	CHECK(debug != NULL);
	elf_file_close(debug);
	elf_file_close(f);
}

static void packed_symbols_are_bounded(void)
{
	uint8_t junk[64] = {0xfd, '7', 'z', 'X', 'Z', 0};
	size_t unpacked = 1;

	CHECK(!mini_debug_unpack(junk, sizeof(junk), &unpacked));
	CHECK_EQ(unpacked, 0);
	CHECK(!mini_debug_unpack(junk, 0, &unpacked));
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! no programs to test with\n");
		return 1;
	}
	RUN(kept_copy_is_found_where_the_file_is_gone);
	RUN(a_kept_copy_is_used_for_a_rebuilt_file);
	RUN(copy_of_another_file_is_not_taken);
	RUN(only_regular_files_are_opened);
	RUN(copies_under_a_root_are_compared_by_build_id_alone);
	RUN(processes_are_looked_up_where_they_are_the_recorded_ones);
	RUN(debug_link_is_taken_by_its_checksum);
	RUN(copy_that_was_kept_has_the_debug_file_of_its_place);
	RUN(packed_symbols_are_bounded);
	fixture_end();
	return check_end();
}
