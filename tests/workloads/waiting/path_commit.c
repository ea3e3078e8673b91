/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_commit: `writer` owns a lock while it flushes a file; `reader` waits for the lock, computes,
 * and lets the writer continue. The file journal.db in the current directory is created and deleted
 * by the main thread.
 */
#include "path.h"

#include <fcntl.h>

#define ROUNDS 30

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t go_writer, go_reader;
static int file;

COMPUTES(read_log, 4)

static APART void flush_log(void)
{
	for (int i = 0; i < 20; i++) {
		must(pwrite(file, "log", 3, i * 4096) != 3, "pwrite");
		must(fsync(file), "fsync");
	}
}

static void open_journal(void)
{
	struct truth_mark from = truth_mark();

	file = open("journal.db", O_CREAT | O_TRUNC | O_RDWR, 0600);
	must(file < 0, "journal.db");
	truth_step(from, "file|device", "keep_journal");
}

static void delete_journal(void)
{
	struct truth_mark from = truth_mark();

	unlink("journal.db");
	close(file);
	truth_step(from, "file|device", "keep_journal");
}

static void *writer(void *unused)
{
	struct truth_mark from;

	truth_name("writer");
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&log_lock);
		sem_post(&go_reader);
		from = truth_mark();
		flush_log();
		truth_step(from, "file|device", "flush_log");
		pthread_mutex_unlock(&log_lock);
		sem_wait(&go_writer);
	}
	return unused;
}

static void *reader(void *unused)
{
	truth_name("reader");
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&go_reader);
		pthread_mutex_lock(&log_lock);
		STEP(read_log);
		pthread_mutex_unlock(&log_lock);
		sem_post(&go_writer);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	path_begin("path_commit", argc, argv);
	open_journal();
	sem_init(&go_writer, 0, 0);
	sem_init(&go_reader, 0, 0);
	threads[0] = truth_start(reader, NULL);
	threads[1] = truth_start(writer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	delete_journal();
	truth_end();
	return 0;
}
