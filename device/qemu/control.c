/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control: starts and stops recording while QEMU runs. */
#include "control.h"
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path;

static void *reader(void *data)
{
	FILE *f = data;
	char line[64];

	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "start") || !strcmp(line, "stop"))
			capture_switch(!strcmp(line, "start"));
		else
			fprintf(stderr, "assay_device: %s: write 'start' or 'stop'\n", path);
	}
	fclose(f);
	return NULL;
}

int control_open(const char *directory)
{
	pthread_t thread;
	FILE *f = NULL;
	int fd = -1;

	if (asprintf(&path, "%s/.control", directory) < 0)
		return -1;
	/* The FIFO is open for writing too, so that the reader waits while no other process has it
	 * open. */
	if (!mkfifo(path, 0600))
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		f = fdopen(fd, "r");
	if (!f || pthread_create(&thread, NULL, reader, f)) {
		fprintf(stderr, "assay_device: %s: %s\n", path, strerror(errno));
		return -1;
	}
	pthread_detach(thread);
	return 0;
}

void control_close(void)
{
	unlink(path);
}
