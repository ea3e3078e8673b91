/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * service_name: the service to which a control group belongs, from its path.
 *
 * It is the innermost of the path's components that are a unit of systemd (".service") or contain
 * the id of a container, of which the name has the first 12 digits, as container tools print them;
 * else the last component. The suffixes .service and .scope of units are not part of the name:
 * "nginx" of /system.slice/nginx.service. "" for the root and for a path that is not known.
 * Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_PROCESS_SERVICE_NAME_H
#define ASSAY_PROCESS_SERVICE_NAME_H

#include <stddef.h>

/* `cgroup` may be NULL. The caller frees the name. */
char *service_name(const char *cgroup);

/*
 * The length of a service's name, or of a pattern of names, without the suffix ".service", which
 * users write as systemd does.
 */
size_t service_name_length(const char *name);

#endif
