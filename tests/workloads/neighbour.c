/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbour: attacks of an unprivileged process, which try to fill or to stop a recorder of the
 * machine.
 *
 *	neighbour paths COUNT	maps a file whose path has 80 KB as code, COUNT times, and waits
 *	neighbour sparse MB	runs code of a file that says it has unwind tables of so many MB
 *	neighbour names SECONDS	takes another name again and again
 *	neighbour modes SECONDS	maps two files as code and changes their modes again and again
 *	neighbour files SECONDS	makes, maps, unmaps and deletes files, each at another address
 *	neighbour swap NAME TARGET	makes the directory NAME a link to TARGET and back
 *	neighbour cut FILE	cuts FILE in half and writes it again
 *
 * Works in the current directory, and prints "ready" after the first round. `swap` and `cut` repeat
 * their round without end. Modes that wait exit at the end of their standard input. Status 1: an
 * operation failed, which perror() names.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define NESTED 320
#define NAME_SIZE 250

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* A file of a page of no-operations, open. */
static int make_code(const char *name)
{
	static unsigned char code[PAGE];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);

	need(fd >= 0, name);
	memset(code, 0x90, sizeof(code));
	need(write(fd, code, sizeof(code)) == sizeof(code), name);
	return fd;
}

static void paths(long count)
{
	char name[NAME_SIZE + 1];
	int fd;

	memset(name, 'd', NAME_SIZE);
	name[NAME_SIZE] = '\0';
	for (int i = 0; i < NESTED; i++) {
		need(!mkdir(name, 0755), "mkdir");
		need(!chdir(name), "chdir");
	}
	fd = make_code("code");
	/* The kernel does not join neighbouring mappings of one and the same page. */
	for (long i = 0; i < count; i++)
		need(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED,
		     "mmap");
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* A loop of one instruction, at the second page of the file. */
static void put_loop(int fd)
{
#ifdef __x86_64__
	static const unsigned char loop[] = {0xeb, 0xfe};
#else
	static const unsigned char loop[] = {0x00, 0x00, 0x00, 0x14};
#endif

	need(pwrite(fd, loop, sizeof(loop), PAGE) == sizeof(loop), "pwrite");
}

static void sparse(long megabytes)
{
	static const char names[] = "\0.eh_frame";
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
	} f = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                              EV_CURRENT},
	                  .e_type = ET_DYN,
	                  .e_machine = EM_X86_64,
	                  .e_version = EV_CURRENT,
	                  .e_phoff = sizeof(Elf64_Ehdr),
	                  .e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
	                  .e_ehsize = sizeof(Elf64_Ehdr),
	                  .e_phentsize = sizeof(Elf64_Phdr),
	                  .e_phnum = 1,
	                  .e_shentsize = sizeof(Elf64_Shdr),
	                  .e_shnum = 3,
	                  .e_shstrndx = 1},
	       .segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 2 * PAGE}};
	int fd = make_code("sparse");
	void *code;

	memcpy(f.names, names, sizeof(names));
	f.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                             .sh_offset = (Elf64_Off)((char *)f.names - (char *)&f),
	                             .sh_size = sizeof(names)};
	f.sections[2] = (Elf64_Shdr){.sh_name = 1,
	                             .sh_type = SHT_PROGBITS,
	                             .sh_offset = (Elf64_Off)2 * PAGE,
	                             .sh_size = (Elf64_Xword)megabytes << 20};
	need(pwrite(fd, &f, sizeof(f), 0) == sizeof(f), "pwrite");
	put_loop(fd);
	need(!ftruncate(fd, 2 * PAGE + ((off_t)megabytes << 20)), "ftruncate");
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	need(code != MAP_FAILED, "mmap");
	ready();
	((void (*)(void))(uintptr_t)((char *)code + PAGE))();
}

static void names(long seconds)
{
	double end = now_seconds() + (double)seconds;
	char name[16];

	ready();
	for (unsigned i = 0; now_seconds() < end; i++) {
		snprintf(name, sizeof(name), "n-%u", i);
		need(!prctl(PR_SET_NAME, name), "prctl");
	}
}

static void files(long seconds)
{
	double end = now_seconds() + (double)seconds;
	char *at = (char *)0x100000000000;
	char name[32];
	int fd;

	ready();
	for (unsigned i = 0; now_seconds() < end; i++, at += PAGE) {
		snprintf(name, sizeof(name), "f-%u", i);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0755);
		need(fd >= 0, name);
		need(mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == at,
		     "mmap");
		need(!munmap(at, PAGE) && !unlink(name) && !close(fd), name);
	}
}

static void modes(long seconds)
{
	double end = now_seconds() + (double)seconds;
	int fds[2] = {make_code("mode-0"), make_code("mode-1")};

	for (int i = 0; i < 2; i++)
		need(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i], 0) != MAP_FAILED,
		     "mmap");
	ready();
	for (unsigned i = 0; now_seconds() < end; i++)
		need(!fchmod(fds[i % 2], i % 4 < 2 ? 0755 : 0700), "fchmod");
}

static void swap(const char *name, const char *target)
{
	char moved[PATH_MAX];

	snprintf(moved, sizeof(moved), "%s.moved", name);
	ready();
	for (;;)
		need(!rename(name, moved) && !symlink(target, name) && !unlink(name) &&
		             !rename(moved, name),
		     name);
}

static void cut(const char *name)
{
	int fd = open(name, O_RDWR);
	struct stat st;
	char *content;

	need(fd >= 0 && !fstat(fd, &st), name);
	content = malloc((size_t)st.st_size);
	need(content && pread(fd, content, (size_t)st.st_size, 0) == st.st_size, name);
	ready();
	for (;;)
		need(!ftruncate(fd, st.st_size / 2) &&
		             pwrite(fd, content, (size_t)st.st_size, 0) == st.st_size,
		     name);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	char byte;

	if (argc < 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(argv[1], "paths"))
		paths(count), ready();
	else if (!strcmp(argv[1], "sparse"))
		sparse(count);
	else if (!strcmp(argv[1], "names"))
		names(count);
	else if (!strcmp(argv[1], "modes"))
		modes(count);
	else if (!strcmp(argv[1], "files"))
		files(count);
	else if (!strcmp(argv[1], "swap") && argc == 4)
		swap(argv[2], argv[3]);
	else if (!strcmp(argv[1], "cut"))
		cut(argv[2]);
	else
		return 2;
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
