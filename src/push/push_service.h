/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_service: the services to which the rows of a sampled profile belong, with their labels.
 *
 * A service is that of process_service() (process/process_labels.h). Interrupts, kernel threads and
 * processes in the root cgroup belong to PUSH_SERVICE_SYSTEM.
 *
 *	push_services_init(&s)
 *	id = push_service_of(&s, profile, row)		a group, from 1 on, at most
 *							push_services_count()
 *	push_service_group(&s, id, &group)		its service and labels
 *	push_services_done(&s)
 *
 * A group has one service and one set of labels (process/process_labels.h). Beyond PUSH_GROUPS_MAX
 * groups, processes belong to the group of their service without labels, and are counted. Without
 * cgroups in the recording every row has PUSH_SERVICE_SYSTEM. One thread. Uses: base, process,
 * profile.
 */
#ifndef ASSAY_PUSH_PUSH_SERVICE_H
#define ASSAY_PUSH_PUSH_SERVICE_H

#include "base/memory/buf.h"
#include "profile/profile.h"

#define PUSH_SERVICE_SYSTEM "system"

/* Groups with labels in one window; each is sent by itself. */
#define PUSH_GROUPS_MAX 256

struct push_services {
	struct intern groups;     /* the service, '\n', its labels */
	const char *service;      /* of all processes; NULL: each has its own */
	uint64_t unlabelled;      /* processes whose labels were left out */
	VEC(uint32_t) of_process; /* by id; 0: not looked up yet */
};

void push_services_init(struct push_services *s);
void push_services_done(struct push_services *s);
/* Valid until the next call for a row. */
struct push_group {
	const char *service;
	const char *labels; /* lines "key=value"; "": none */
	char name[256];
};

uint32_t push_services_count(const struct push_services *s);
void push_service_group(const struct push_services *s, uint32_t id, struct push_group *g);
/* The group of interrupts. */
uint32_t push_service_system(struct push_services *s);
uint32_t push_service_of(struct push_services *s, const struct profile *p,
                         const struct profile_row *row);
/* Forgets all names: ids of processes or their cgroups may have changed. */
void push_services_restart(struct push_services *s);

/* True if at least one process has a cgroup. */
bool push_services_known(const struct profile *p);

#endif
