/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of code addresses. The truths: dl_iterate_phdr() and dladdr() of libc, and files that
 * this test maps.
 */
#include "linux/code/images.h"
#include "linux/code/maps.h"

#include "check.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static struct assay_calls_image table[4096];
static int added, gone_count, gone_last, asked_within = -2;
static uint64_t nested_address;

static int add(const struct assay_calls_image *image)
{
	if (nested_address) /* as a signal handler would, while the maps are read */
		asked_within = images_find(nested_address);
	table[added] = *image;
	return added++;
}

static void gone(int index, uint64_t start, uint64_t end)
{
	CHECK(index >= 0 && index < added);
	CHECK_EQ(table[index].start, start);
	CHECK_EQ(table[index].end, end);
	gone_count++;
	gone_last = index;
}

/* The address of this program's code behind its first address, relative to the offset in its file:
 * not 0 if lld links. */
static uint64_t shift_of_code(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uint64_t first = UINT64_MAX;

	for (uint64_t i = 0; i < getauxval(AT_PHNUM); i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX)
			first = p[i].p_vaddr;
		if (p[i].p_flags & PF_X)
			return p[i].p_vaddr - p[i].p_offset - first;
	}
	return 0;
}

static void code_is_found_in_its_file(void)
{
	const struct assay_calls_image *image;
	char exe[4096] = {0};
	Dl_info info;
	struct stat st;
	int index;

	errno = 4711;
	index = images_find((uint64_t)(uintptr_t)code_is_found_in_its_file);
	CHECK_EQ(errno, 4711);
	CHECK(index >= 0);
	image = images_get(index);
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK_STR(image->path, exe);
	CHECK(!stat(exe, &st));
	CHECK_EQ(image->inode, st.st_ino);
	CHECK_EQ(image->device, (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev));
	/*
	 * The file begins where libc says that it is loaded; with separate code, some pages before.
	 */
	CHECK(dladdr((void *)(uintptr_t)code_is_found_in_its_file, &info));
	CHECK_EQ(image->start - image->offset, (uintptr_t)info.dli_fbase + shift_of_code());
	CHECK_EQ(images_find((uint64_t)(uintptr_t)code_is_found_in_its_file), index);
	CHECK_EQ(images_find(getauxval(AT_SYSINFO_EHDR) + 64) < 0, 0);
	CHECK_STR(images_get(images_find(getauxval(AT_SYSINFO_EHDR) + 64))->path, "[vdso]");
	CHECK(images_get(images_find(getauxval(AT_SYSINFO_EHDR) + 64))->build_id_size > 0);
	CHECK(!images_get(-1) && !images_get(added));
}

/* The build-id by libc's walk over the loaded images. */
static uint32_t loaded_id(const struct dl_phdr_info *info, const uint8_t **id)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && at < end) {
			const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)at;

			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4) {
				*id = (const uint8_t *)at + sizeof(*n) + 4;
				return n->n_descsz;
			}
			at += sizeof(*n) + ((n->n_namesz + 3) & ~3u) + ((n->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

static int check_loaded(struct dl_phdr_info *info, size_t size, void *checked)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const struct assay_calls_image *image;
		const uint8_t *id = NULL;
		uint32_t id_size;
		int index;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		index = images_find(info->dlpi_addr + p->p_vaddr);
		CHECK(index >= 0);
		image = images_get(index);
		if (!image)
			continue;
		CHECK_EQ(images_find(info->dlpi_addr + p->p_vaddr + p->p_memsz - 1), index);
		CHECK_EQ(image->offset & ~4095ull, p->p_offset & ~4095ull);
		id_size = loaded_id(info, &id);
		CHECK_EQ(image->build_id_size, id_size);
		CHECK(!id_size || !memcmp(image->build_id, id, id_size));
		*(int *)checked += id_size != 0;
	}
	return 0;
}

static void all_loaded_images_have_their_build_id(void)
{
	int checked = 0;

	dl_iterate_phdr(check_loaded, &checked);
	CHECK(checked >= 2); /* libc and its loader at least */
}

/* The calls of dlclose(), and of the runtime after it. */
static void unmap(void *at, size_t bytes)
{
	munmap(at, bytes);
	images_check();
}

/* A file with some code pages; mapped r-x. */
static void *map_file(const char *path, size_t pages, int fd)
{
	void *at = MAP_FAILED;

	if (fd < 0)
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
	if (!ftruncate(fd, (off_t)pages * 4096))
		at = mmap(NULL, pages * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at;
}

static void loaded_and_unloaded_images_are_followed(void)
{
	const char *path = "/tmp/assay-images-a";
	int before = added, gone_before = gone_count, first, second;
	void *at = map_file(path, 3, -1);
	uint64_t address = (uint64_t)(uintptr_t)at;

	first = images_find(address + 5000);
	CHECK_EQ(first, before);
	CHECK_EQ(added, before + 1);
	CHECK_STR(table[first].path, path);
	CHECK_EQ(table[first].end - table[first].start, 3 * 4096);
	CHECK_EQ(table[first].build_id_size, 0);
	/* Split by mprotect(): it is still the same image. */
	CHECK_EQ(mprotect((char *)at + 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	images_check();
	CHECK_EQ(mprotect((char *)at + 4096, 4096, PROT_READ), 0);
	images_check();
	CHECK_EQ(mprotect((char *)at + 4096, 4096, PROT_READ | PROT_EXEC), 0);
	images_check();
	CHECK_EQ(added, before + 1);
	CHECK_EQ(gone_count, gone_before);
	munmap(at, 3 * 4096);
	images_check();
	CHECK_EQ(gone_count, gone_before + 1);
	CHECK_EQ(gone_last, first);
	CHECK_EQ(images_get(first)->gone, 1);
	CHECK_EQ(images_find(address + 5000), -1);
	/* Another file at the same address is another image. */
	unlink(path);
	at = mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
	          open("/proc/self/exe", O_RDONLY | O_CLOEXEC), 0);
	CHECK_EQ((uint64_t)(uintptr_t)at, address);
	images_check();
	second = images_find(address);
	CHECK(second > first);
	CHECK(images_get(second)->build_id_size > 0);
	unmap(at, 4096);
	CHECK_EQ(gone_last, second);
}

static void deleted_and_odd_names_are_encoded(void)
{
	char path[400];
	void *at;

	at = map_file("/tmp/assay images\nb (x)", 1, -1);
	unlink("/tmp/assay images\nb (x)");
	images_check();
	CHECK_STR(images_get(images_find((uintptr_t)at))->path, "/tmp/assay images\nb (x)");
	unmap(at, 4096);
	at = map_file("", 1, memfd_create("code", MFD_CLOEXEC));
	images_check();
	CHECK_STR(images_get(images_find((uintptr_t)at))->path, "/memfd:code");
	unmap(at, 4096);
	/* 303 bytes fit; a longer path keeps its end. */
	snprintf(path, sizeof(path), "/tmp/%0200d", 7);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "/tmp/%0200d/%0150d", 7, 8);
	at = map_file(path, 1, -1);
	images_check();
	CHECK_EQ(strlen(images_get(images_find((uintptr_t)at))->path), 303);
	CHECK(!memcmp(images_get(images_find((uintptr_t)at))->path, "...", 3));
	CHECK_STR(images_get(images_find((uintptr_t)at))->path + 3, path + strlen(path) - 300);
	unmap(at, 4096);
	unlink(path);
	path[205] = 0;
	CHECK_EQ(rmdir(path), 0);
}

static void lines_are_parsed(void)
{
	static const char *const bad[] = {
	        "",
	        "7f00-8000 r-xp",
	        "7f00-8000 r-xp 0 1:2",
	        "xyz-8000 r-xp 0 1:2 5 /a",
	        "8000-7000 r-xp 00000000 08:01 5 /a",
	        "7000-8000 r-x 00000000 08:01 5 /a",
	};
	struct assay_calls_image image;
	const char *line = "7f5e8000-7f5ea000 r-xp 00012000 fd:1f 4294967311                 /a b";
	char perms[5];

	CHECK(maps_line(line, strlen(line), &image, perms));
	CHECK_EQ(image.start, 0x7f5e8000);
	CHECK_EQ(image.end, 0x7f5ea000);
	CHECK_EQ(image.offset, 0x12000);
	CHECK_EQ(image.device, 0xfdull << 32 | 0x1f);
	CHECK_EQ(image.inode, 4294967311);
	CHECK_STR(image.path, "/a b");
	CHECK_STR(perms, "r-xp");
	line = "7f5e8000-7f5ea000 rw-s 00000000 00:00 0 ";
	CHECK(maps_line(line, strlen(line), &image, perms));
	CHECK_STR(image.path, "");
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!maps_line(bad[i], strlen(bad[i]), &image, perms));
}

/* Many images of one page: more lines than fit into a buffer, and all are found. */
static void many_maps_are_read_whole(void)
{
	enum { COUNT = 700 };
	static void *at[COUNT];
	int before = added;

	for (int i = 0; i < COUNT; i++) {
		char path[128];

		snprintf(path, sizeof(path), "/tmp/assay-images-%0*d", 1 + i % 90, i);
		at[i] = map_file(path, 1 + i % 2, -1);
		unlink(path);
	}
	for (int i = 0; i < COUNT; i++) {
		const struct assay_calls_image *image = images_get(images_find((uintptr_t)at[i]));
		char path[128];

		snprintf(path, sizeof(path), "/tmp/assay-images-%0*d", 1 + i % 90, i);
		CHECK_STR(image ? image->path : NULL, path);
	}
	CHECK_EQ(added, before + COUNT);
	for (int i = 0; i < COUNT; i++)
		munmap(at[i], (1 + i % 2) * 4096);
	gone_count = 0;
	images_check();
	CHECK_EQ(gone_count, COUNT);
}

/* Code of no file, as a JIT compiler's: no image, and the maps are not read for each function. */
static void code_of_no_file_is_in_no_image(void)
{
	const size_t size = 64 << 20;
	char *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *at;
	int before = added;

	for (size_t i = 0; i < size; i += 4096)
		CHECK_EQ(images_find((uintptr_t)code + i), -1);
	CHECK_EQ(added, before);
	/* An image that is loaded then is found, at the latest by the next check. */
	at = map_file("/tmp/assay-images-c", 1, -1);
	unlink("/tmp/assay-images-c");
	usleep(30000);
	CHECK_EQ(images_find((uintptr_t)at), before);
	unmap(at, 4096);
	munmap(code, size);
}

static void a_query_while_reading_does_not_wait(void)
{
	void *at = map_file("/tmp/assay-images-d", 1, -1);

	unlink("/tmp/assay-images-d");
	nested_address = (uintptr_t)at;
	usleep(30000);
	CHECK(images_find((uintptr_t)at) >= 0);
	CHECK_EQ(asked_within, -1);
	nested_address = 0;
	CHECK(images_find((uintptr_t)at) >= 0); /* the failure was not kept */
	unmap(at, 4096);
}

static void a_forks_child_gives_all_again(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		int before = added;

		added = 0;
		check_failures = 0;
		images_again();
		CHECK_EQ(added, before);
		CHECK(images_find((uintptr_t)a_forks_child_gives_all_again) >= 0);
		_exit(check_failures);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}

static void *find_all(void *at)
{
	void **maps = at;
	long missing = 0;

	for (int i = 0; i < 64; i++)
		missing += images_find((uintptr_t)maps[i]) < 0;
	return (void *)missing;
}

static void threads_find_the_same(void)
{
	static void *at[64];
	pthread_t threads[8];
	int before;

	for (int i = 0; i < 64; i++) {
		at[i] = map_file("/tmp/assay-images-e", 1, -1);
		unlink("/tmp/assay-images-e");
	}
	usleep(30000);
	before = added;
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, find_all, at);
	for (int i = 0; i < 8; i++) {
		void *missing;

		pthread_join(threads[i], &missing);
		CHECK_EQ((long)missing, 0);
	}
	CHECK_EQ(added, before + 64);
	for (int i = 0; i < 64; i++)
		munmap(at[i], 4096);
	images_check();
}

static void build_ids_are_read_within_bounds(void)
{
	static const uint8_t note[] = {4,   0,   0,   0, 5, 0, 0, 0, 3, 0, 0, 0,
	                               'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 0, 0, 0};
	uint8_t bytes[512] = {0}, id[32];
	Elf64_Ehdr head = {.e_phoff = 64, .e_phentsize = 56, .e_phnum = 1};
	Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = 200, .p_filesz = sizeof(note)};

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + 64, &segment, sizeof(segment));
	memcpy(bytes + 200, note, sizeof(note));
	CHECK_EQ(maps_note(bytes, sizeof(bytes), id), 5);
	CHECK(!memcmp(id, "\1\2\3\4\5", 5));
	/* Truncated at any byte: the id, or none, and no read beyond the end. */
	for (size_t size = 0; size < 224; size++) {
		uint8_t *cut = malloc(size ? size : 1);

		memcpy(cut, bytes, size);
		CHECK_EQ(maps_note(cut, size, id), size < 221 ? 0 : 5);
		free(cut);
	}
	segment.p_offset = ~0ull;
	memcpy(bytes + 64, &segment, sizeof(segment));
	CHECK_EQ(maps_note(bytes, sizeof(bytes), id), 0);
}

int main(void)
{
	images_begin(add, gone, NULL);
	RUN(code_is_found_in_its_file);
	RUN(all_loaded_images_have_their_build_id);
	RUN(loaded_and_unloaded_images_are_followed);
	RUN(deleted_and_odd_names_are_encoded);
	RUN(lines_are_parsed);
	RUN(many_maps_are_read_whole);
	RUN(code_of_no_file_is_in_no_image);
	RUN(a_query_while_reading_does_not_wait);
	RUN(a_forks_child_gives_all_again);
	RUN(threads_find_the_same);
	RUN(build_ids_are_read_within_bounds);
	return check_end();
}
