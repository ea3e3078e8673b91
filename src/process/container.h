/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container: the container and the pod to which a control group belongs, from its path.
 *
 * The innermost component that names a container decides: the id of 64 digits of Docker,
 * containerd, CRI-O and Podman with any of their prefixes, the ids of ECS, and the names of LXC and
 * systemd-nspawn. Processes that watch over a container (conmon, the monitor of LXC) are in a group
 * of their own, which is no container, and so are virtual machines. The pod is the innermost
 * component of the kubelet, of both cgroup drivers. docs/AGENT.md lists the shapes. Any text may be
 * passed: a user with delegation chooses the names of groups. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_PROCESS_CONTAINER_H
#define ASSAY_PROCESS_CONTAINER_H

#include <stdbool.h>

#define CONTAINER_ID_MAX 128   /* bytes; longer names are cut */
#define CONTAINER_ID_SHORT 12  /* digits of an id that tools show */
#define CONTAINER_ID_DIGITS 64 /* of an id that is not a name */

/* "": not known, or there is none. */
struct container {
	char id[CONTAINER_ID_MAX + 1]; /* or the name, where a container has no other id */
	const char *runtime;           /* "docker", "containerd", "cri-o", "podman", "lxc", ... */
	char pod_uid[37];              /* as the API server writes it, with dashes */
	const char *qos; /* class of the pod: "guaranteed", "burstable", "besteffort" */
};

/* False: the path, which may be NULL, has neither a container nor a pod. */
bool container_of_cgroup(struct container *c, const char *cgroup);

/* True if the id consists of 64 digits, of which CONTAINER_ID_SHORT are shown. */
bool container_id_is_long(const char *id);

#endif
