/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_labels: what is known about a process: its labels, service, version, container and pod.
 *
 * Labels are those that were recorded for the process (EVENT_LABELS), and those that follow from
 * its control group: container.id, container.runtime, container.name of LXC and systemd-nspawn,
 * k8s.pod.uid, k8s.pod.qos. Recorded ones come first (adr/0215). Names of labels are those of
 * OpenTelemetry. Stateless. Any thread. Uses: base, process.
 */
#ifndef ASSAY_PROCESS_PROCESS_LABELS_H
#define ASSAY_PROCESS_PROCESS_LABELS_H

#include "base/memory/buf.h"
#include "process/process.h"

#define LABEL_SERVICE "service.name"
#define LABEL_VERSION "service.version"
#define LABEL_CONTAINER_ID "container.id"
#define LABEL_CONTAINER_NAME "container.name"
#define LABEL_CONTAINER_RUNTIME "container.runtime"
#define LABEL_POD_UID "k8s.pod.uid"
#define LABEL_POD_NAME "k8s.pod.name"
#define LABEL_POD_QOS "k8s.pod.qos"

/* Appends the value of a label. False: the process does not have it. */
bool process_label(const struct process_table *t, const struct process *p, const char *key,
                   struct buf *out);
/* Appends all labels: lines "key=value", sorted. */
void process_labels(const struct process_table *t, const struct process *p, struct buf *out);

/* Appends the names; false: there is none. `brief`: 12 digits of an id, as container tools print.
 */
bool process_container(const struct process_table *t, const struct process *p, bool brief,
                       struct buf *out);
bool process_pod(const struct process_table *t, const struct process *p, struct buf *out);

/*
 * The service: the label service.name, else service_name() of the control group, "" for none; and
 * the version: the label service.version, else the build of the program. The caller frees the text.
 */
char *process_service(const struct process_table *t, const struct process *p);
char *process_version(const struct process_table *t, const struct process *p);

/* The same of a text of labels and the path of a control group; both may be NULL. */
char *service_of_labels(const char *labels, const char *cgroup);

#endif
