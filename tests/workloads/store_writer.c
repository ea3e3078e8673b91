/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_writer FILE FIRST COUNT PROCESSES SAMPLES: writes COUNT windows into a store, as a
 * measurement would, from number FIRST on, and prints "window N" as soon as each is in.
 *
 * Window N begins N * 10 s after 1700000000 s and holds PROCESSES that started, ran and exited in
 * it, SAMPLES rows of 1 + N samples each, and one process that is there from the beginning. COUNT
 * 0: until killed. For a window that did not fit on the disk it prints "full N". At the end it
 * prints the CPU time of a window: "cpu_us N".
 *
 * FILE may be a store on a server. Then the session ends at the end, SPOOL_BYTES in the environment
 * is the size of the spool, a failure of retention other than a full disk ends it, and "account DUE
 * SENT WAITING DROPPED" has the windows, and "samples ..." their samples.
 *
 * STEPS in the environment: after each window it reads a byte of its input; 's' lets it wait until
 * all windows are sent.
 */
#include "../unit/lib/store_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fill(struct world *w, uint64_t number, int processes, int samples)
{
	char name[16];

	for (int i = 0; i < processes; i++) {
		int32_t pid = 1000 + i;

		world_fork(w, 1, pid, pid);
		snprintf(name, sizeof(name), "cc%d", i % 20);
		world_name(w, pid, pid, name, true);
		world_ran(w, pid, 1000, 10);
		world_exit(w, pid, pid);
	}
	/* Most samples are at old places; one in sixteen is at a new place. */
	for (int i = 0; i < samples; i++)
		world_sample(w, 1, 1, (uint64_t)(i % 50) * 16,
		             i % 16 ? (uint64_t)i * 32 : number * 8192 + (uint64_t)i, number + 1);
}

/* Ended processes are deleted from time to time, as in a measurement without an end. */
static void renew(struct world *w)
{
	struct profile *old = w->p;

	if (process_table_process_count(old->processes) < 20000)
		return;
	world_images(w, UINT64_C(0xffffffff81000000));
	process_table_free(w->p->processes);
	w->p->processes = process_table_carry(old->processes, &old->images, &w->p->images);
	profile_free(old);
}

static bool is_server(char **argv)
{
	return !strncmp(argv[1], "clickhouse", 10);
}

static void step(struct store *s)
{
	struct send_account a;

	for (int tries = 0, byte = getchar(); byte == 's' && tries < 6000; tries++) {
		if (!store_sent(s, &a) || !a.waiting.batches)
			break;
		usleep(10000);
	}
}

static int write_all_windows(struct world *w, struct store *s, char **argv, struct error *err)
{
	uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
	uint64_t took = 0;
	int status = store_begin(s, &w->recording, WORLD_WALL_NS + first * WORLD_WINDOW_NS, err);

	w->now_ns = first * WORLD_WINDOW_NS + 1000;
	world_name(w, 1, 1, "init", false);
	for (uint64_t i = 0; !status && (!count || i < count); i++) {
		uint64_t before;

		renew(w);
		fill(w, first + i, atoi(argv[4]), atoi(argv[5]));
		before = cpu_ns();
		status = world_window(w, s, first + i, err);
		took += cpu_ns() - before;
		printf("%s %llu\n", status ? "full" : "window", (unsigned long long)(first + i));
		fflush(stdout);
		if ((!status || status == -ENOSPC) && is_server(argv))
			status = store_retention(
			        s, WORLD_WALL_NS + (first + i + 1) * WORLD_WINDOW_NS, err);
		if (status == -ENOSPC)
			status = usleep(5000);
		if (getenv("STEPS"))
			step(s);
	}
	printf("cpu_us %llu\n", (unsigned long long)(count ? took / count / 1000 : 0));
	return status;
}

static void tell(const char *what, uint64_t due, uint64_t sent, uint64_t waiting, uint64_t dropped)
{
	printf("%s %llu %llu %llu %llu\n", what, (unsigned long long)due, (unsigned long long)sent,
	       (unsigned long long)waiting, (unsigned long long)dropped);
}

static int end_session(struct store *s, char **argv, struct error *err)
{
	uint64_t windows = strtoull(argv[2], NULL, 10) + strtoull(argv[3], NULL, 10);
	int status = store_end(s, WORLD_WALL_NS + windows * WORLD_WINDOW_NS, "stopped", err);
	struct send_account a;

	if (store_sent(s, &a)) {
		tell("account", a.due.batches, a.sent.batches, a.waiting.batches, a.full.batches);
		tell("samples", a.due.samples, a.sent.samples, a.waiting.samples, a.full.samples);
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *spool = getenv("SPOOL_BYTES");
	struct store_options options = {0};
	struct error err = {0};
	struct store *s = NULL;
	struct world w;
	int status;

	if (argc != 6)
		return 2;
	options.server.spool_bytes = spool ? strtoull(spool, NULL, 10) : 0;
	world_init(&w, "here");
	status = store_open(&s, argv[1], &options, &err);
	if (!status)
		status = write_all_windows(&w, s, argv, &err);
	if (!status && is_server(argv))
		status = end_session(s, argv, &err);
	if (status)
		fprintf(stderr, "%s\n", err.text);
	store_close(s);
	world_done(&w);
	return status != 0;
}
