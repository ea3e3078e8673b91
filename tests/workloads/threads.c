/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads: named threads that each compute a known share of the work.
 *
 * Thread i of N does (i + 1) units; its name is worker-i. Usage: threads
 * [COUNT [MILLIONS_A_UNIT]]. Prints thread id and turns of each.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64

struct worker {
	pthread_t thread;
	uint64_t turns;
	long tid;
	unsigned number;
};

uint64_t threads_work(uint64_t turns);

__attribute__((noinline)) uint64_t threads_work(uint64_t turns)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < turns; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void *worker_run(void *argument)
{
	struct worker *w = argument;
	char name[16];

	snprintf(name, sizeof name, "worker-%u", w->number);
	pthread_setname_np(pthread_self(), name);
	w->tid = syscall(SYS_gettid);
	return (void *)(uintptr_t)(threads_work(w->turns) == 0);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 3;
	uint64_t unit = (argc > 2 ? strtoull(argv[2], NULL, 10) : 100) * 1000000;
	static struct worker workers[THREADS_MAX];

	if (count < 1 || count > THREADS_MAX)
		return 2;
	for (unsigned i = 0; i < count; i++) {
		workers[i].number = i;
		workers[i].turns = (i + 1) * unit;
		if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]))
			return 1;
	}
	printf("{\"pid\": %d, \"threads\": [", (int)getpid());
	for (unsigned i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("%s{\"name\": \"worker-%u\", \"tid\": %ld, \"turns\": %llu}", i ? ", " : "",
		       i, workers[i].tid, (unsigned long long)workers[i].turns);
	}
	printf("]}\n");
	return 0;
}
