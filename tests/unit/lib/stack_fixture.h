/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_fixture: samples of this program as the kernel takes them: registers and a copy of the
 * stack from a signal handler, the process table from /proc/self/maps, and the call chain of the C
 * library's backtrace() as reference.
 */
#ifndef ASSAY_TESTS_STACK_FIXTURE_H
#define ASSAY_TESTS_STACK_FIXTURE_H

#include "profile/stack/stack_walk.h"

#include <execinfo.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_COPY_MAX ((size_t)4 << 20)
#define TRUTH_MAX 70000

#define REGS_MASK_X86_64 0xff01ffu

struct snapshot {
	uint64_t regs[17];
	uint8_t *stack; /* STACK_COPY_MAX bytes */
	size_t size;    /* copied */
	size_t wanted;
	void **truth; /* TRUTH_MAX */
	int truth_count, truth_start;
	void (*then)(void);         /* called in the handler before it returns */
	volatile sig_atomic_t busy; /* the sample must not be replaced yet */
};

static struct snapshot snapshot;

/* perf's order: ax bx cx dx si di bp sp ip r8 ... r15 */
static void take_registers(const ucontext_t *u)
{
	static const int order[17] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
	                              REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
	                              REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < 17; i++)
		snapshot.regs[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
}

/* The end of the mapping; without stdio, which the signal may have interrupted. */
static uintptr_t stack_end(uintptr_t sp)
{
	static char text[1 << 18];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	unsigned long from, to;
	size_t size = 0;
	char *line = text;
	ssize_t got;

	while (fd >= 0 && size < sizeof(text) - 1 &&
	       (got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	text[size] = '\0';
	for (; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		from = strtoul(line, &line, 16);
		to = strtoul(line + 1, &line, 16);
		if (from <= sp && sp < to)
			return to;
	}
	return sp;
}

__attribute__((no_sanitize("address"))) static void copy_bytes(uint8_t *to, const uint8_t *from,
                                                               size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile uint8_t *)to)[i] = from[i];
}

static void on_sample(int signal, siginfo_t *info, void *context)
{
	uintptr_t sp, end;

	if (snapshot.busy)
		return;
	take_registers(context);
	sp = snapshot.regs[7];
	end = stack_end(sp);
	snapshot.size = snapshot.wanted < end - sp ? snapshot.wanted : end - sp;
	copy_bytes(snapshot.stack, (const uint8_t *)sp, snapshot.size);
	snapshot.truth_count = backtrace(snapshot.truth, TRUTH_MAX);
	snapshot.truth_start = 0;
	while (snapshot.truth_start < snapshot.truth_count &&
	       (uint64_t)snapshot.truth[snapshot.truth_start] != snapshot.regs[8])
		snapshot.truth_start++;
	if (snapshot.then)
		snapshot.then();
	else if (signal == SIGPROF)
		snapshot.busy = 1;
}

static inline void snapshot_init(void)
{
	struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_NODEFER};

	snapshot.stack = malloc(STACK_COPY_MAX);
	snapshot.truth = calloc(TRUTH_MAX, sizeof(*snapshot.truth));
	snapshot.wanted = STACK_COPY_MAX;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags =
	        SA_SIGINFO | SA_RESTART; /* the signal does not interrupt its own handler */
	sigaction(SIGPROF, &action, NULL);
}

/* Takes a sample at this place. */
static inline void snapshot_take(size_t wanted)
{
	snapshot.wanted = wanted;
	raise(SIGUSR1);
}

static inline struct event snapshot_event(void)
{
	return (struct event){
	        .kind = EVENT_SAMPLE,
	        .mode = CPU_MODE_USER,
	        .pid = getpid(),
	        .tid = getpid(),
	        .sample = {.ip = snapshot.regs[8],
	                   .regs = snapshot.regs,
	                   .regs_mask = REGS_MASK_X86_64,
	                   .regs_abi = PERF_SAMPLE_REGS_ABI_64,
	                   .stack = snapshot.stack,
	                   .stack_size = snapshot.size},
	};
}

/*
 * Sends the mappings of this process as a recorder does. `hidden`: a path that is replaced by a
 * wrong one.
 */
static inline void tell_maps(struct process_table *t, const char *hidden)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, offset;
	char line[4096], prot[8], *path;

	while (maps && fgets(line, sizeof(line), maps)) {
		int at = 0;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &from, &to, prot, &offset, &at) <
		            4 ||
		    prot[2] != 'x')
			continue;
		path = line + at;
		path[strcspn(path, "\n")] = '\0';
		process_table_event(
		        t, &(struct event){.kind = EVENT_MMAP,
		                           .mode = CPU_MODE_USER,
		                           .pid = getpid(),
		                           .tid = getpid(),
		                           .mmap = {.addr = from,
		                                    .size = to - from,
		                                    .pgoff = offset,
		                                    .prot = 5,
		                                    .executable = true,
		                                    .filename = !*path ? "//anon"
		                                                : hidden && strstr(path, hidden)
		                                                        ? "/nowhere/at/all"
		                                                        : path}});
	}
	if (maps)
		fclose(maps);
}

#endif
