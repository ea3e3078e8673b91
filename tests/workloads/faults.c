/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults: touches known numbers of pages of two mappings, each page once.
 *
 * A private file mapping is written (one fault a page, whatever the kernel
 * maps around) and an anonymous mapping is written with huge pages forbidden.
 * Usage: faults FILE [FILE_PAGES ANONYMOUS_PAGES]. FILE is made, and removed
 * at the end. Prints pages and addresses.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void faults_touch_file(volatile char *p, size_t pages, size_t page);
void faults_touch_anonymous(volatile char *p, size_t pages, size_t page);

__attribute__((noinline)) void faults_touch_file(volatile char *p, size_t pages, size_t page)
{
	for (size_t i = 0; i < pages; i++)
		p[i * page] = 1;
}

__attribute__((noinline)) void faults_touch_anonymous(volatile char *p, size_t pages, size_t page)
{
	for (size_t i = 0; i < pages; i++)
		p[i * page] = 2;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t file_pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 3000;
	size_t anonymous_pages = argc > 3 ? strtoul(argv[3], NULL, 10) : 7000;
	char *file, *anonymous;
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: faults FILE [FILE_PAGES ANONYMOUS_PAGES]\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(file_pages * page))) {
		perror(argv[1]);
		return 1;
	}
	file = mmap(NULL, file_pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	anonymous = mmap(NULL, anonymous_pages * page, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file == MAP_FAILED || anonymous == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	madvise(anonymous, anonymous_pages * page, MADV_NOHUGEPAGE);
	faults_touch_file(file, file_pages, page);
	faults_touch_anonymous(anonymous, anonymous_pages, page);
	printf("{\"file_pages\": %zu, \"anonymous_pages\": %zu, \"file\": \"%#llx\", "
	       "\"anonymous\": \"%#llx\"}\n",
	       file_pages, anonymous_pages, (unsigned long long)(size_t)file,
	       (unsigned long long)(size_t)anonymous);
	unlink(argv[1]);
	return 0;
}
