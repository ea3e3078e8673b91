/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/block_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_devices(struct account *account)
{
	FILE *file = fopen("/proc/partitions", "re");
	char line[256], name[64];
	unsigned major, minor;

	while (file && account->devices.count < BLOCK_DEVICES_MAX &&
	       fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %u %*u %63s", &major, &minor, name) == 3)
			vec_push(&account->devices, (struct account_device){.major = major,
			                                                    .minor = minor,
			                                                    .name = xstrdup(name)});
	if (file)
		fclose(file);
}

static struct account_device *device_of(struct account *account, unsigned major, unsigned minor)
{
	vec_each (device, &account->devices)
		if (device->major == major && device->minor == minor)
			return device;
	return NULL;
}

/* A device may be mounted at several places; the shortest path is that of the file system. */
static void add_mount(struct account *account, const char *line)
{
	struct account_device *device;
	unsigned major, minor;
	char *place = NULL;

	if (sscanf(line, "%*u %*u %u:%u %*s %ms", &major, &minor, &place) != 3)
		return;
	device = device_of(account, major, minor);
	if (device && (!device->mount || strlen(place) < strlen(device->mount))) {
		free(device->mount);
		device->mount = place;
		place = NULL;
	}
	free(place);
}

void block_devices_list(struct account *account)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;

	add_devices(account);
	while (file && getline(&line, &room, file) > 0)
		add_mount(account, line);
	if (file)
		fclose(file);
	free(line);
}
