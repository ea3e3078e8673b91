/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_service: the names of the services to which the rows of a sampled profile belong.
 *
 * A service is a systemd unit, or the innermost cgroup without its suffix: "nginx" of
 * /system.slice/nginx.service, "docker-0123456789ab" of a container. Interrupts, kernel threads and
 * processes in the root cgroup belong to PUSH_SERVICE_SYSTEM.
 *
 *	push_services_init(&s)
 *	id = push_service_of(&s, profile, row)		an id of s.names, never 0
 *	push_services_done(&s)
 *
 * Without cgroups in the recording every row has PUSH_SERVICE_SYSTEM. One thread. Uses: base,
 * profile.
 */
#ifndef ASSAY_PUSH_PUSH_SERVICE_H
#define ASSAY_PUSH_PUSH_SERVICE_H

#include "base/memory/buf.h"
#include "profile/profile.h"

#define PUSH_SERVICE_SYSTEM "system"

struct push_services {
	struct intern names;
	VEC(uint32_t) of_process; /* by id; 0: not looked up yet */
};

void push_services_init(struct push_services *s);
void push_services_done(struct push_services *s);
uint32_t push_service_of(struct push_services *s, const struct profile *p,
                         const struct profile_row *row);
/* Forgets all names: ids of processes or their cgroups may have changed. */
void push_services_restart(struct push_services *s);

/* Appends the service of a cgroup's path. */
void push_service_name(const char *cgroup, struct buf *out);

/* True if at least one process has a cgroup. */
bool push_services_known(const struct profile *p);

#endif
