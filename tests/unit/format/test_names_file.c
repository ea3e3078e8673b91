/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/ctf/names_file.h"

#include "assay/tags_wire.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A section of a names file, as the compiler's plugin writes it into objects. */
__asm__(".pushsection assay_tags_names,\"a\",@progbits\n"
        ".ascii \"linked/700\\n\\0\\0spot/702=\\n\"\n"
        ".popsection\n");

static char directory[] = "/tmp/assay-names-XXXXXX";

static int parse(struct tag_names *n, const char *text, struct error *err)
{
	return names_file_parse(n, text, strlen(text), "N", err);
}

static void lines_of_every_kind_are_read(void)
{
	struct tag_names *n = tag_names_new();
	struct error err = {0};

	CHECK_EQ(parse(n,
	               "# a comment/12\n\nfirst/500\n  main/502  \r\nswtch/600!\n"
	               "idles/602~\ntimer/604 ^\n\tMGET/1002=\nparse@src/lex.c/504\n a b / 506 "
	               "=\nlast/16773118",
	               &err),
	         0);
	CHECK_STR(err.text, "");
	CHECK_EQ(tag_names_count(n), 9);
	CHECK_STR(tag_names_at(n, 0)->name, "first");
	CHECK_STR(tag_names_at(n, 1)->name, "main");
	CHECK_EQ(tag_names_at(n, 1)->tag, 502);
	CHECK_STR(tag_names_at(n, 2)->name, "parse@src/lex.c");
	CHECK_EQ(tag_names_at(n, 2)->tag, 504);
	CHECK_STR(tag_names_at(n, 3)->name, "a b");
	CHECK_EQ(tag_names_at(n, 3)->kind, TAG_INLINE);
	CHECK_EQ(tag_names_at(n, 4)->kind, TAG_SWITCH);
	CHECK_EQ(tag_names_at(n, 5)->kind, TAG_IDLE);
	CHECK_EQ(tag_names_at(n, 6)->kind, TAG_INTERRUPT);
	CHECK_EQ(tag_names_at(n, 7)->kind, TAG_INLINE);
	CHECK_EQ(tag_names_at(n, 8)->tag, ASSAY_TAG_LAST - 1);
	tag_names_free(n);
}

static void functions_without_tags_are_read(void)
{
	struct tag_names *n = tag_names_new();
	struct error err = {0};

	CHECK_EQ(parse(n,
	               "# left out tiny@mm/a.c\nmain/502\n  # left out get \n# left out get\n"
	               "# left outside\n# left out \n# left out",
	               &err),
	         0);
	CHECK_EQ(tag_names_count(n), 1);
	CHECK_EQ(tag_names_left_out_count(n), 2);
	CHECK_STR(tag_names_left_out(n, 0), "tiny@mm/a.c");
	CHECK_STR(tag_names_left_out(n, 1), "get");
	tag_names_free(n);
}

static void a_bad_line_is_named(void)
{
	static const struct {
		const char *text, *where, *what;
		size_t length;
	} cases[] = {
	        {"a/2\nmain\n", "N:2:", "no / before", 0},
	        {"main/\n", "N:1:", "not a tag", 0},
	        {"main/12x\n", "N:1:", "not a tag", 0},
	        {"main/-2\n", "N:1:", "not a tag", 0},
	        {"main/2!=\n", "N:1:", "not a tag", 0},
	        {"main/16773120=\n", "N:1:", "not a tag", 0},
	        {"main/99999999999999999999\n", "N:1:", "not a tag", 0},
	        {"# x\n\n/502\n", "N:3:", "no name", 0},
	        {"main/503\n", "N:1:", "even", 0},
	        {"a/2\nb/2\n", "N:2:", "tag 2 belongs to a", 0},
	        {"a\0/2\n", "N:1:", "a byte of 0", 5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tag_names *n = tag_names_new();
		struct error err = {0};
		size_t length = cases[i].length ? cases[i].length : strlen(cases[i].text);

		CHECK(names_file_parse(n, cases[i].text, length, "N", &err) < 0);
		CHECK(!strncmp(err.text, cases[i].where, strlen(cases[i].where)));
		CHECK(strstr(err.text, cases[i].what));
		if (!strstr(err.text, cases[i].what))
			printf("# %zu: %s\n", i, err.text);
		tag_names_free(n);
	}
}

static void an_executable_brings_its_names(void)
{
	struct tag_names *n = tag_names_new();
	struct error err = {0};

	CHECK_EQ(names_file_read(n, "/proc/self/exe", &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(tag_names_count(n), 2);
	CHECK_STR(tag_names_at(n, 0)->name, "linked");
	CHECK_EQ(tag_names_at(n, 1)->tag, 702);
	CHECK_EQ(tag_names_at(n, 1)->kind, TAG_INLINE);
	tag_names_free(n);
	n = tag_names_new();
	CHECK_EQ(names_file_read(n, "/bin/sh", &err), -EINVAL);
	CHECK(strstr(err.text, "/bin/sh has no section assay_tags_names"));
	CHECK_EQ(names_file_read(n, "/nowhere/names", &err), -ENOENT);
	CHECK(strstr(err.text, "/nowhere/names"));
	tag_names_free(n);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static char *get(const char *path)
{
	char *text = xcalloc(1, 1 << 20);
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0 && read(fd, text, (1 << 20) - 1) >= 0);
	close(fd);
	return text;
}

static void names_are_added_behind_the_last(void)
{
	char *path = xasprintf("%s/add", directory), *text;
	const char *const names[] = {"queue full", "MGET", "queue full", "main"};
	const char *const more[] = {"next"};
	struct error err = {0};
	struct stat st;

	umask(022);
	CHECK_EQ(names_file_add(path, names, 1, &err), 0);
	CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0644);
	text = get(path);
	CHECK_STR(text, "queue full/2=\n");
	free(text);
	put(path, "# mine\nmain/502\nMGET/400=");
	CHECK_EQ(names_file_add(path, names, 4, &err), 0);
	text = get(path);
	CHECK_STR(text, "# mine\nmain/502\nMGET/400=\nqueue full/504=\nmain/505=\n");
	free(text);
	CHECK_EQ(names_file_add(path, names, 4, &err), 0);
	CHECK_EQ(names_file_add(path, more, 1, &err), 0);
	text = get(path);
	CHECK_STR(text, "# mine\nmain/502\nMGET/400=\nqueue full/504=\nmain/505=\nnext/506=\n");
	free(text);
	free(path);
}

static void a_failed_addition_leaves_the_file_unchanged(void)
{
	static const char *const bad[] = {"", "a/b", "#a", " a", "a ", "a\nb", "a%b", "a{", "\\"};
	char *path = xasprintf("%s/bad", directory), *text;
	const char *const good[] = {"good", "too many"};
	struct error err = {0};

	put(path, "main/16773116\nx/16773118=\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *const names[] = {"good", bad[i]};

		CHECK_EQ(names_file_add(path, names, 2, &err), -EINVAL);
	}
	CHECK_EQ(names_file_add(path, good, 2, &err), -ENOSPC);
	CHECK(strstr(err.text, "too many") && strstr(err.text, "16773119"));
	text = get(path);
	CHECK_STR(text, "main/16773116\nx/16773118=\n");
	free(text);
	CHECK_EQ(names_file_add(path, good, 1, &err), 0);
	put(path, "main\n");
	CHECK_EQ(names_file_add(path, good, 1, &err), -EINVAL);
	CHECK(strstr(err.text, "/bad:1:"));
	CHECK(names_file_add(directory, good, 1, &err) < 0);
	CHECK(strstr(err.text, directory));
	free(path);
}

/* Eight processes add a hundred names each, some of them equal: each name gets one tag. */
static void many_add_at_once(void)
{
	enum { WRITERS = 8, EACH = 100 };
	char *path = xasprintf("%s/many", directory);
	struct tag_names *n = tag_names_new();
	struct error err = {0};
	int status;

	for (int w = 0; w < WRITERS; w++) {
		if (fork())
			continue;
		for (int i = 0; i < EACH; i++) {
			char name[32];
			const char *const names[] = {name};

			snprintf(name, sizeof(name), "n%d", i + w * EACH / 2);
			if (names_file_add(path, names, 1, NULL))
				_exit(1);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		CHECK_EQ(status, 0);
	CHECK_EQ(names_file_read(n, path, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(tag_names_count(n), EACH + (WRITERS - 1) * EACH / 2);
	for (size_t i = 0; i < tag_names_count(n); i++)
		CHECK_EQ(tag_names_at(n, i)->tag, ASSAY_TAG_FIRST + i);
	tag_names_free(n);
	free(path);
}

/* While a compiler holds the lock, no name is added. */
static void the_lock_is_the_compilers(void)
{
	char *path = xasprintf("%s/lock", directory), *text;
	const char *const names[] = {"mine"};
	int fd, status = -1;
	pid_t pid;

	put(path, "a/2\n");
	fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	pid = fork();
	if (!pid) {
		close(fd); /* the parent's copy still holds the lock */
		_exit(names_file_add(path, names, 1, NULL) ? 1 : 0);
	}
	usleep(50000);
	CHECK_EQ(write(fd, "b/4\n", 4), 4);
	close(fd);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	text = get(path);
	CHECK_STR(text, "a/2\nb/4\nmine/6=\n");
	free(text);
	free(path);
}

int main(void)
{
	char *command = xasprintf("rm -rf %s", directory);

	if (!mkdtemp(directory))
		return 1;
	memcpy(command + strlen("rm -rf "), directory, strlen(directory));
	RUN(lines_of_every_kind_are_read);
	RUN(functions_without_tags_are_read);
	RUN(a_bad_line_is_named);
	RUN(an_executable_brings_its_names);
	RUN(names_are_added_behind_the_last);
	RUN(a_failed_addition_leaves_the_file_unchanged);
	RUN(many_add_at_once);
	RUN(the_lock_is_the_compilers);
	if (system(command))
		return 1;
	free(command);
	return check_end();
}
