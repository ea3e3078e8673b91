/* SPDX-License-Identifier: MIT */
/*
 * uncancelled: opens, reads and closes files by system calls that are not cancellation points. The
 * C library's functions are cancellation points: pthread_cancel() would end a thread inside the
 * runtime, or, if signals are held, make it wait for a signal that never comes.
 *
 * Results and errno are those of openat(), read() and close(). Any thread, also in signal handlers.
 */
#ifndef ASSAY_RUNTIME_LINUX_UNCANCELLED_H
#define ASSAY_RUNTIME_LINUX_UNCANCELLED_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int uncancelled_open(int at, const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

static inline ssize_t uncancelled_read(int fd, void *bytes, size_t room)
{
	return syscall(SYS_read, fd, bytes, room);
}

static inline void uncancelled_close(int fd)
{
	syscall(SYS_close, fd);
}

#endif
