/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hung: memory and files of an unprivileged user that block their readers.
 *
 *	hung stack-fuse DIRECTORY UID	a thread whose stack lies in a file of a FUSE file system
 *	hung program DIRECTORY UID	runs a program (this one) that lies in such a file system
 *	hung dump DIRECTORY UID		maps a jitdump that lies in such a file system
 *	hung later DIRECTORY UID	runs nothing; the file system answers until the second
 * open() hung stack-uffd UID		a thread whose stack waits for userfaultfd hung spin
 * DESCRIPTOR		what `program` runs
 *
 * The file system is a server in this program, which a user's process is: it was mounted by root
 * with user_id=UID. It has one file, with this program's bytes. From the moment that "hung" is
 * printed nothing is answered any more, except by `later`. Below the frame that runs, the thread's
 * stack has pages that were never touched: a reader of the stack waits for them. Status 77: the
 * kernel lets this not be done here. Everything ends, and is unmounted, when the standard input is
 * closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (16u << 20)
#define UNTOUCHED (4u << 20)
#define FILE_NODE 2
#define SKIP 77

/* Shared by the processes, in a file: the server has stopped answering. */
static volatile int *hung;
static int hung_file;
static bool hangs_later;

static void need(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "hung: %s: %s\n", what, strerror(errno));
	exit(SKIP);
}

static void give_up_rights(uid_t uid)
{
	if (setgid(uid) || setuid(uid))
		exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The server */

static void reply(int fd, const struct fuse_in_header *in, int error, const void *bytes,
                  size_t size)
{
	static char out[sizeof(struct fuse_out_header) + (1 << 17)];
	struct fuse_out_header head = {
	        .len = (uint32_t)(sizeof(head) + size), .error = -error, .unique = in->unique};

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), bytes, size);
	if (write(fd, out, sizeof(head) + size) < 0)
		return;
}

static struct fuse_attr attr_of(uint64_t node, uint64_t size)
{
	struct fuse_attr a = {.ino = node, .nlink = 1, .blksize = 4096};

	a.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	a.size = node == FILE_NODE ? size : 0;
	return a;
}

static void answer(int fd, int file, uint64_t size, char *request)
{
	const struct fuse_in_header *in = (void *)request;
	const struct fuse_read_in *r = (void *)(request + sizeof(*in));
	struct fuse_init_out init = {.major = 7,
	                             .minor = 31,
	                             .max_write = 65536,
	                             .max_readahead = 0,
	                             .max_background = 16};
	struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attr_of(FILE_NODE, size)};
	struct fuse_attr_out attr = {.attr = attr_of(in->nodeid, size)};
	struct fuse_open_out opened = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};
	static char bytes[1 << 17];
	static unsigned opens;
	uint32_t length;

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		*hung = hangs_later && opens++;
		if (*hung)
			break;
		reply(fd, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		/* Behind this program's bytes there are zeros. */
		length = r->size < sizeof(bytes) ? r->size : sizeof(bytes);
		memset(bytes, 0, length);
		reply(fd, in, pread(file, bytes, length, (off_t)r->offset) < 0 ? EIO : 0, bytes,
		      length);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(fd, in, 0, NULL, 0);
		break;
	default:
		reply(fd, in, ENOSYS, NULL, 0);
	}
}

/* Requests after *hung is set are read and never answered. */
static void serve(int fd, int file, uint64_t size)
{
	static char request[1 << 18] __attribute__((aligned(8)));

	while (read(fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		if (!*hung)
			answer(fd, file, size, request);
}

static pid_t mount_server(const char *directory, uid_t uid, int file, uint64_t size)
{
	char options[128];
	pid_t server;
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	need(fd >= 0, "/dev/fuse");
	snprintf(options, sizeof(options),
	         "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fd, uid, uid);
	need(!mount("hung", directory, "fuse", 0, options), "mount");
	server = fork();
	if (!server) {
		give_up_rights(uid);
		serve(fd, file, size);
		_exit(0);
	}
	close(fd);
	return server;
}

/* What stands still */

static void say_hung(void)
{
	*hung = !hangs_later;
	if (write(STDOUT_FILENO, "hung\n", 5) != 5)
		_exit(1);
}

/* The innermost function: it reports that it runs, and is sampled. */
__attribute__((noinline)) static void run_deep(volatile char *frame)
{
	say_hung();
	for (;;)
		frame[0]++;
}

/* This frame contains pages that were never touched. */
__attribute__((noinline)) static void *leave_gap(void *unused)
{
	volatile char untouched[UNTOUCHED];

	run_deep(untouched);
	return (void *)(uintptr_t)untouched[0];
}

static void run_on(void *stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	madvise(stack, STACK_BYTES, MADV_RANDOM);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, STACK_BYTES) ||
	    pthread_create(&thread, &attr, leave_gap, NULL))
		exit(1);
	pthread_join(thread, NULL);
}

static void stack_in_file(const char *directory)
{
	char path[4096];
	void *stack;
	int fd;

	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	stack = fd < 0 ? MAP_FAILED
	               : mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (stack == MAP_FAILED)
		_exit(1);
	run_on(stack);
}

static void run_program(const char *directory)
{
	char path[4096], number[16];

	snprintf(path, sizeof(path), "%s/file", directory);
	snprintf(number, sizeof(number), "%d", hung_file);
	execl(path, "hung", "spin", number, (char *)NULL);
	_exit(1);
}

static void map_dump(const char *directory)
{
	char path[4096];
	void *page;
	int fd;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		_exit(1);
	run_deep((volatile char *)hung + 64);
}

/* Answers for the pages that the thread touches, until it is hung. */
static void *answer_faults(void *ctx)
{
	int fd = *(int *)ctx;
	struct uffd_msg msg;

	while (read(fd, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_zeropage zero = {
		        .range = {.start = msg.arg.pagefault.address & ~4095ull, .len = 4096}};

		while (*hung)
			pause();
		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

static int open_uffd(void)
{
	int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	int fd = device >= 0 ? ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC)
	                     : (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};

	need(fd >= 0 && !ioctl(fd, UFFDIO_API, &api), "userfaultfd");
	return fd;
}

static void stack_on_demand(int fd)
{
	void *stack =
	        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {.range = {(uintptr_t)stack, STACK_BYTES},
	                                .mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t thread;

	if (ioctl(fd, UFFDIO_REGISTER, &range) || pthread_create(&thread, NULL, answer_faults, &fd))
		_exit(1);
	run_on(stack);
}

/* Until the standard input is closed; then all ends. */
static int hold(pid_t victim, pid_t server, const char *directory)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (server)
		kill(server, SIGKILL);
	kill(victim, SIGKILL);
	if (directory)
		umount2(directory, MNT_DETACH);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int begin(const char *what, const char *directory, uid_t uid)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	pid_t victim, server = 0;
	struct stat st;

	if (file < 0 || fstat(file, &st))
		return 1;
	hangs_later = !strcmp(what, "later");
	if (directory) {
		if (!strcmp(what, "stack-fuse"))
			st.st_size = STACK_BYTES;
		server = mount_server(directory, uid, file, (uint64_t)st.st_size);
	}
	victim = fork();
	if (victim)
		return hold(victim, server, directory);
	fd = directory ? -1 : open_uffd();
	give_up_rights(uid);
	if (!directory)
		stack_on_demand(fd);
	else if (!strcmp(what, "stack-fuse"))
		stack_in_file(directory);
	else if (!strcmp(what, "dump"))
		map_dump(directory);
	else if (hangs_later)
		run_deep((volatile char *)hung + 64);
	else
		run_program(directory);
	return 1;
}

int main(int argc, char **argv)
{
	bool spins = argc == 3 && !strcmp(argv[1], "spin");

	hung_file = spins ? atoi(argv[2]) : memfd_create("hung", 0);
	if (!spins && ftruncate(hung_file, 4096))
		return 1;
	hung = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, hung_file, 0);
	if (hung == MAP_FAILED)
		return 1;
	if (spins)
		run_deep((volatile char *)hung + 64);
	if (argc == 4)
		return begin(argv[1], argv[2], (uid_t)atoi(argv[3]));
	return argc == 3 ? begin(argv[1], NULL, (uid_t)atoi(argv[2])) : 2;
}
