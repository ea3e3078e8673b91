/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/system_call_names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define BUILD_ARCH "x86_64"
#elif defined(__aarch64__)
#define BUILD_ARCH "aarch64"
#else
#define BUILD_ARCH ""
#endif

static const char *const names[] = {
#include "view/system_call_names.inc"
};

/* Sorted. */
static const char *const with_descriptor[] = {
        "accept",
        "accept4",
        "bind",
        "close",
        "connect",
        "copy_file_range",
        "dup",
        "dup2",
        "dup3",
        "epoll_ctl",
        "epoll_pwait",
        "epoll_pwait2",
        "epoll_wait",
        "fadvise64",
        "fallocate",
        "fchdir",
        "fchmod",
        "fchown",
        "fcntl",
        "fdatasync",
        "fgetxattr",
        "flistxattr",
        "flock",
        "fremovexattr",
        "fsetxattr",
        "fstat",
        "fstatfs",
        "fsync",
        "ftruncate",
        "getdents",
        "getdents64",
        "getpeername",
        "getsockname",
        "getsockopt",
        "inotify_add_watch",
        "inotify_rm_watch",
        "io_uring_enter",
        "io_uring_register",
        "ioctl",
        "listen",
        "lseek",
        "pread64",
        "preadv",
        "preadv2",
        "pwrite64",
        "pwritev",
        "pwritev2",
        "read",
        "readahead",
        "readv",
        "recvfrom",
        "recvmmsg",
        "recvmsg",
        "sendfile",
        "sendmmsg",
        "sendmsg",
        "sendto",
        "setsockopt",
        "shutdown",
        "signalfd",
        "signalfd4",
        "splice",
        "sync_file_range",
        "syncfs",
        "tee",
        "timerfd_gettime",
        "timerfd_settime",
        "vmsplice",
        "write",
        "writev",
};

const char *system_call_name(const char *arch, int32_t number)
{
	if (arch && strcmp(arch, BUILD_ARCH) != 0)
		return NULL;
	if (number < 0 || (size_t)number >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[number];
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

bool system_call_takes_descriptor(const char *name)
{
	return name &&
	       bsearch(name, with_descriptor, sizeof(with_descriptor) / sizeof(*with_descriptor),
	               sizeof(*with_descriptor), compare);
}
