/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol: the file that names come from, and that no other file is used. */
#include "symbol_fixture.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

static void a_debug_link_brings_the_names_back(void)
{
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_nm("linked.debug", "hidden", &address, &size));
	subject_open(&s, "linked");
	CHECK_STR(at(&s, address)->name, "hidden");
	CHECK(at(&s, address)->sized);
	subject_end(&s);
	/* Another file under that name has another checksum. */
	CHECK(fixture_run("cp linked.debug kept && printf x >> linked.debug"));
	subject_open(&s, "linked");
	CHECK(strcmp(at(&s, address)->name, "hidden") != 0);
	subject_end(&s);
	CHECK(fixture_run("mv kept linked.debug"));
}

static void check_image(const struct image *image, const char *file, const char *trouble)
{
	const char *said;
	struct subject s;
	uint64_t address = 0, size = 0;

	CHECK(fixture_nm("functions", "main", &address, &size));
	subject_start(&s, image, file, NULL);
	said = symbolizer_trouble(s.symbols, s.image);
	if (trouble) {
		CHECK(said && strstr(said, trouble));
		CHECK(!at_offset(&s, address)->named);
		CHECK_STR(at_offset(&s, address)->name, "[no symbol]");
		CHECK(at_offset(&s, address) == at_offset(&s, address + 1));
	} else {
		CHECK(said == NULL);
		CHECK_STR(at(&s, address)->name, "main");
	}
	subject_end(&s);
}

static void another_build_id_is_refused(void)
{
	struct image image = {.kind = IMAGE_FILE, .build_id = {8, {1, 2, 3, 4, 5, 6, 7, 8}}};

	check_image(&image, fixture_path("functions"), NULL);
	/* perf pads short ones with zeros */
	image.build_id.size = 20;
	check_image(&image, fixture_path("functions"), NULL);
	image.build_id.bytes[7] = 9;
	check_image(&image, fixture_path("functions"), "rebuilt since the recording");
	check_image(&image, fixture_path("nowhere"), "No such file");
}

static void a_replaced_file_is_refused(void)
{
	struct image image = {.kind = IMAGE_FILE};
	struct stat st;

	CHECK(!stat(fixture_path("functions"), &st));
	image.major = major(st.st_dev);
	image.minor = minor(st.st_dev);
	image.inode = st.st_ino;
	check_image(&image, fixture_path("functions"), NULL);
	image.inode++;
	check_image(&image, fixture_path("functions"), "replaced since the recording");
}

static void a_deleted_file_is_reported(void)
{
	struct image image = {.kind = IMAGE_FILE};
	char path[300];

	snprintf(path, sizeof(path), "%s (deleted)", fixture_path("functions"));
	check_image(&image, path, "was deleted");
}

static void a_root_comes_before_the_path(void)
{
	struct symbol_options options = {.root = fixture_path("root")};
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_run("mkdir -p root/opt && cp functions root/opt/moved"));
	CHECK(fixture_nm("functions", "second", &address, &size));
	subject_start(&s, &(struct image){.kind = IMAGE_FILE}, "/opt/moved", &options);
	CHECK_STR(at(&s, address)->name, "second");
	subject_end(&s);
}

/* As the files that perf made of generated code. The code of this program is not at its offset. */
static void a_file_without_program_headers_has_names(void)
{
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_run(
	        "gcc -O1 -shared -Wl,-Ttext=0x5040 -o bare functions.c && "
	        "dd if=/dev/zero of=bare bs=1 seek=32 count=8 conv=notrunc status=none && "
	        "dd if=/dev/zero of=bare bs=1 seek=54 count=4 conv=notrunc status=none"));
	CHECK(fixture_nm("bare", "second", &address, &size));
	CHECK(address > 0x5000);
	subject_open(&s, "bare");
	CHECK_STR(at(&s, address)->name, "second");
	CHECK_STR(at_offset(&s, 0x10)->name, "[no symbol]"); /* the file's header */
	subject_end(&s);
}

int main(void)
{
	if (!fixture_begin() || !functions_build()) {
		printf("Bail out! cannot build the programs that the tests look at\n");
		return 1;
	}
	RUN(a_debug_link_brings_the_names_back);
	RUN(another_build_id_is_refused);
	RUN(a_replaced_file_is_refused);
	RUN(a_deleted_file_is_reported);
	RUN(a_root_comes_before_the_path);
	RUN(a_file_without_program_headers_has_names);
	fixture_end();
	return check_end();
}
