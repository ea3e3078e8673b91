/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores in places where other users can write. SQLite trusts the files beside a database: a
 * journal that names a super-journal makes the next writer delete that file; a -wal replaces the
 * contents.
 */
#include "as_user.h"
#include "base/memory/buf.h"
#include "fixture.h"
#include "sqlite_fixture.h"
#include "store/store.h"
#include "store/store_path.h"

#include <errno.h>
#include <fcntl.h>

static struct error err;

static bool make_directory(const char *name, mode_t mode, uid_t owner)
{
	return !mkdir(fixture_path(name), 0700) && !chown(fixture_path(name), owner, owner) &&
	       !chmod(fixture_path(name), mode);
}

static int opened(const char *name, bool read_only)
{
	const struct store_options options = {.read_only = read_only};
	struct store *s = NULL;
	int status;

	err = (struct error){0};
	status = store_open(&s, fixture_path(name), &options, &err);
	store_close(s);
	return status;
}

static bool user_made(const char *name)
{
	int status = opened(name, false);

	if (status)
		printf("# %s\n", err.text);
	return !status;
}

static bool there(const char *name)
{
	return !access(fixture_path(name), F_OK);
}

static void put_u32(struct buf *b, uint32_t value)
{
	const char bytes[4] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
	                       (char)value};

	buf_add(b, bytes, 4);
}

/* A hot journal beside a store, without a page; it names `victim` as its super-journal. */
static bool plant_journal(const char *journal, const char *victim)
{
	const char *store = fixture_path(journal);
	char *path = strndup(store, (size_t)(strrchr(store, '-') - store));
	static const char magic[8] = {(char)0xd9, (char)0xd5, 0x05, (char)0xf9,
	                              0x20,       (char)0xa1, 0x63, (char)0xd7};
	struct buf b = {0};
	uint32_t sum = 0;
	struct stat st = {0};
	bool done;

	CHECK(!stat(path, &st));
	free(path);
	buf_add(&b, magic, 8);
	put_u32(&b, 0);    /* records */
	put_u32(&b, 4711); /* nonce */
	put_u32(&b, (uint32_t)(st.st_size / 4096));
	put_u32(&b, 512);  /* sector */
	put_u32(&b, 4096); /* page */
	buf_pad(&b, '\0', 512 - b.size);
	put_u32(&b, 0x40000000 / 4096 + 1);
	buf_puts(&b, victim);
	put_u32(&b, (uint32_t)strlen(victim));
	for (const char *c = victim; *c; c++)
		sum += (uint32_t)*c;
	put_u32(&b, sum);
	buf_add(&b, magic, 8);
	done = fixture_write(journal, b.data, b.size);
	buf_done(&b);
	return done;
}

/* Proves the attack: plain SQLite, run by root, deletes the file. */
static void the_planted_journal_deletes_by_sqlite_alone(void)
{
	if (!as_user_can())
		return;
	CHECK(make_directory("plain", 01777, 0));
	CHECK(fixture_write("victim", "of root", 7));
	AS_USER(user_made("plain/day.db"));
	AS_USER(plant_journal("plain/day.db-journal", fixture_path("victim")));
	sqlite_change(fixture_path("plain/day.db"), "BEGIN IMMEDIATE; COMMIT");
	CHECK(!there("victim"));
}

static void root_deletes_nothing_by_a_users_journal(void)
{
	if (!as_user_can())
		return;
	CHECK(fixture_write("victim", "of root", 7));
	CHECK(make_directory("user", 0755, AS_USER_ID));
	AS_USER(user_made("user/day.db"));
	AS_USER(plant_journal("user/day.db-journal", fixture_path("victim")));
	CHECK_EQ(opened("user/day.db", false), -EPERM);
	CHECK(there("victim"));
	CHECK(strstr(err.text, "user/day.db is not written as a store"));
	CHECK(strstr(err.text, "belongs to another user (uid 65534)"));
	CHECK(strstr(err.text, "/var/lib/assay: --store day.db"));
}

static void root_deletes_nothing_in_a_sticky_directory(void)
{
	if (!as_user_can())
		return;
	CHECK(fixture_write("victim", "of root", 7));
	CHECK(make_directory("sticky", 0755, 0));
	CHECK_EQ(opened("sticky/day.db", false), 0);
	CHECK_EQ(chmod(fixture_path("sticky"), 01777), 0);
	AS_USER(plant_journal("sticky/day.db-journal", fixture_path("victim")));
	CHECK_EQ(opened("sticky/day.db", false), -EPERM);
	CHECK(there("victim"));
	CHECK(strstr(err.text, "other users may write to the directory"));
	CHECK_EQ(unlink(fixture_path("sticky/day.db-journal")), 0);
	/* The journal could be created at any later time. */
	CHECK_EQ(opened("sticky/day.db", false), -EPERM);
	CHECK_EQ(opened("sticky/new.db", false), -EPERM);
	CHECK(!there("sticky/new.db"));
	CHECK_EQ(opened("sticky/day.db", true), 0);
}

static void no_reader_takes_a_users_sidecar(void)
{
	static const char *const suffixes[] = {"-journal", "-wal", "-shm"};

	if (!as_user_can())
		return;
	CHECK(make_directory("read", 0755, 0));
	CHECK_EQ(opened("read/day.db", false), 0);
	CHECK_EQ(chmod(fixture_path("read"), 01777), 0);
	for (size_t i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "read/day.db%s", suffixes[i]);
		AS_USER(plant_journal(name, fixture_path("victim")));
		CHECK_EQ(opened("read/day.db", true), -EPERM);
		CHECK(strstr(err.text, suffixes[i]));
		CHECK(strstr(err.text, "belongs to another user (uid 65534)"));
		CHECK_EQ(unlink(fixture_path(name)), 0);
		AS_USER(!mkfifo(fixture_path(name), 0666));
		CHECK_EQ(opened("read/day.db", true), -EPERM);
		CHECK_EQ(unlink(fixture_path(name)), 0);
		CHECK(fixture_write("read/other", "x", 1));
		CHECK_EQ(link(fixture_path("read/other"), fixture_path(name)), 0);
		CHECK_EQ(opened("read/day.db", true), -EPERM);
		CHECK(strstr(err.text, "has more than one hard link"));
		CHECK_EQ(unlink(fixture_path(name)), 0);
	}
	/* Root may read the store of a user. */
	AS_USER(user_made("read/users.db"));
	AS_USER(fixture_write("read/users.db-wal", "", 0));
	CHECK_EQ(opened("read/users.db", true), 0);
}

static void root_writes_no_store_that_others_may_write_to(void)
{
	if (!as_user_can())
		return;
	CHECK(make_directory("files", 0755, 0));
	CHECK_EQ(opened("files/day.db", false), 0);
	CHECK_EQ(chmod(fixture_path("files/day.db"), 0666), 0);
	CHECK_EQ(opened("files/day.db", false), -EPERM);
	CHECK(strstr(err.text, "other users may write to day.db (mode 0666)"));
	CHECK_EQ(chmod(fixture_path("files/day.db"), 0600), 0);
	CHECK(fixture_write("files/day.db-lock", "", 0));
	CHECK_EQ(chown(fixture_path("files/day.db-lock"), AS_USER_ID, 0), 0);
	CHECK_EQ(opened("files/day.db", false), -EPERM);
	CHECK(strstr(err.text, "day.db-lock belongs to another user"));
	CHECK_EQ(opened("files/day.db", true), 0);
	CHECK_EQ(unlink(fixture_path("files/day.db-lock")), 0);
	CHECK(make_directory("way", 0755, AS_USER_ID));
	AS_USER(!symlink("../files", fixture_path("way/link")));
	CHECK_EQ(opened("way/link/day.db", false), -EPERM);
	CHECK_EQ(opened("files/day.db", false), 0);
}

static bool refused_to_user(const char *name, bool read_only, const char *words)
{
	int status = opened(name, read_only);

	if (status == -EPERM && strstr(err.text, words))
		return true;
	printf("# %s: %d: %s\n", name, status, err.text);
	return false;
}

static void users_keep_stores_in_shared_directories(void)
{
	if (!as_user_can())
		return;
	CHECK(make_directory("tmp", 01777, 0));
	CHECK(make_directory("home", 02775, AS_USER_ID));
	CHECK(make_directory("all", 0777, 4711));
	setenv("HOME", "/home/me", 1);
	AS_USER(user_made("tmp/day.db"));
	AS_USER(user_made("tmp/day.db"));
	AS_USER(user_made("home/day.db"));
	AS_USER(refused_to_user("all/day.db", false, "a directory of yours, as /home/me/day.db"));
	CHECK(fixture_write("victim", "of the user", 11));
	CHECK(plant_journal("tmp/day.db-journal", fixture_path("victim")));
	CHECK_EQ(chown(fixture_path("tmp/day.db-journal"), 4711, 4711), 0);
	AS_USER(refused_to_user("tmp/day.db", false, "day.db-journal belongs to another user"));
	AS_USER(refused_to_user("tmp/day.db", true, "day.db-journal belongs to another user"));
	CHECK(there("victim"));
}

/* The name to write and the one to read; both begin with the scratch folder or are the name. */
static void check_path(const char *name, const char *to_write, const char *to_read)
{
	const char *directory = fixture_path("lib/assay");
	char *write = NULL, *read = store_path_to_read_in(directory, name);

	CHECK_EQ(store_path_to_write_in(directory, name, &write, &err), 0);
	CHECK_STR(write, *to_write == '+' ? fixture_path(to_write + 1) : to_write);
	CHECK_STR(read, *to_read == '+' ? fixture_path(to_read + 1) : to_read);
	free(write);
	free(read);
}

static void a_name_alone_means_roots_directory(void)
{
	struct stat st;

	if (!as_user_can())
		return;
	CHECK(make_directory("here", 01777, 0));
	CHECK(make_directory("own", 0755, 0));
	CHECK_EQ(chdir(fixture_path("here")), 0);
	check_path("./day.db", "./day.db", "./day.db");
	check_path("/a/day.db", "/a/day.db", "/a/day.db");
	CHECK(!there("lib"));
	check_path("day.db", "+lib/assay/day.db", "day.db");
	CHECK(!stat(fixture_path("lib/assay"), &st) && st.st_mode == (S_IFDIR | 0700));
	CHECK_EQ(opened("lib/assay/day.db", false), 0);
	check_path("day.db", "+lib/assay/day.db", "+lib/assay/day.db");
	/* A file of another user is not used. */
	AS_USER(user_made("here/day.db"));
	check_path("day.db", "+lib/assay/day.db", "+lib/assay/day.db");
	/* A store of root is continued. */
	CHECK_EQ(chdir(fixture_path("own")), 0);
	CHECK_EQ(opened("own/day.db", false), 0);
	check_path("day.db", "day.db", "day.db");
	CHECK_EQ(chdir("/"), 0);
	CHECK_EQ(chmod(fixture_path("lib"), 0777), 0);
	CHECK_EQ(store_path_to_write_in(fixture_path("lib/assay"), "day.db", &(char *){0}, &err),
	         -EPERM);
}

static bool user_is_given(const char *name)
{
	char *write = NULL, *read = store_path_to_read(name);

	return !store_path_to_write(name, &write, &err) && !strcmp(write, name) &&
	       !strcmp(read, name);
}

static void users_names_are_paths(void)
{
	if (as_user_can())
		AS_USER(user_is_given("day.db"));
	else
		CHECK(user_is_given("day.db"));
}

int main(void)
{
	umask(022);
	if (!fixture_begin() || chmod(fixture_dir, 0755))
		return 1;
	RUN(the_planted_journal_deletes_by_sqlite_alone);
	RUN(root_deletes_nothing_by_a_users_journal);
	RUN(root_deletes_nothing_in_a_sticky_directory);
	RUN(no_reader_takes_a_users_sidecar);
	RUN(root_writes_no_store_that_others_may_write_to);
	RUN(users_keep_stores_in_shared_directories);
	RUN(a_name_alone_means_roots_directory);
	RUN(users_names_are_paths);
	fixture_end();
	return check_end();
}
