/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/this_boot.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS 1000000000u

void this_boot_id(char text[BOOT_ID_SIZE])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(text, BOOT_ID_SIZE, f))
		*text = 0;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = 0;
}

/*
 * The start time is the 22nd field. The second field, the name in brackets, may contain any
 * character.
 */
static bool start_ticks(int32_t pid, unsigned long long *ticks)
{
	char path[64], text[1024], *at;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", ticks) == 1;
}

bool this_boot_process(int32_t pid, uint64_t *start_ns)
{
	unsigned long long ticks;

	if (pid <= 0 || !start_ticks(pid, &ticks))
		return false;
	*start_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
	            ticks * (NS / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}
