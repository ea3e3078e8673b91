/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid_map: maps a pid or tid to the id of its present owner.
 *
 * A zeroed map is empty; pid_map_done() frees it. Open addressing with a load of at most 1/2;
 * the memory is that of the largest number of entries. Uses: base.
 */
#ifndef ASSAY_PROCESS_PID_MAP_H
#define ASSAY_PROCESS_PID_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pid_slot {
	int32_t pid;
	uint32_t id;
	uint32_t used;
};

struct pid_map {
	struct pid_slot *slots;
	size_t mask, count;
};

/* The id, or ID_NONE. */
uint32_t pid_map_get(const struct pid_map *m, int32_t pid);
void pid_map_set(struct pid_map *m, int32_t pid, uint32_t id);
void pid_map_remove(struct pid_map *m, int32_t pid);
void pid_map_done(struct pid_map *m);

#endif
