/* SPDX-License-Identifier: MIT */
/* system: the functions of system.h for Linux programs. */
#include "system.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *port_memory(size_t bytes)
{
	int before = errno;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = before;
	return at == MAP_FAILED ? NULL : at;
}

void port_memory_free(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

void *port_memory_wiped(size_t wiped, size_t kept)
{
	void *at = port_memory(wiped + kept);

	if (at && madvise(at, wiped, MADV_WIPEONFORK)) {
		/*
		 * A kernel before 4.14 cannot wipe on fork: a child would write into its parent's
		 * table.
		 */
		port_memory_free(at, wiped + kept);
		return NULL;
	}
	return at;
}

uint64_t port_signals_hold(void)
{
	uint64_t all = UINT64_MAX, before = 0;

	/*
	 * The system call, since the C library's function does not block the library's own signals.
	 */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	return before;
}

void port_signals_release(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

int32_t port_thread_id(void)
{
	return (int32_t)syscall(SYS_gettid);
}
