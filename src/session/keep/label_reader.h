/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_reader: reads what tells to whom a process belongs: the page that its OpenTelemetry SDK
 * publishes, the files of its pod, and the names that container tools keep on the machine.
 *
 * A page may wait for userfaultfd and a file for its file system, so all are read by foreign calls
 * (base/process/foreign.h), with limited sizes. Addresses and sizes come from the process: memory
 * is read with process_vm_readv(), and a page that changes while it is read is read again, a few
 * times. Files of a container are opened in its root, so that its links do not lead out. `foreign`:
 * NULL: this process reads. Returns 0 or -errno. One thread. Uses: base, process, format, source.
 */
#ifndef ASSAY_SESSION_KEEP_LABEL_READER_H
#define ASSAY_SESSION_KEEP_LABEL_READER_H

#include "base/process/foreign.h"
#include "base/text/labels.h"
#include "process/container.h"

#define LABEL_FILE_BYTES ((size_t)65536) /* of the largest file that is read */

/* A page that was read; zeros: none yet. */
struct label_page {
	uint64_t address, time_ns;
};

/*
 * Replaces `payload`. -EALREADY: it is as it was at *page; -ENOENT: the process has no page,
 * -EAGAIN: it is being written; -ESRCH, -EPERM, -ENAMETOOLONG: too many mappings.
 */
int label_reader_page(struct foreign *f, int32_t pid, struct label_page *page, struct buf *payload);

/* Replaces `bytes` by those of a file in the root of the process. -EFBIG. */
int label_reader_file(struct foreign *f, int32_t pid, const char *path, struct buf *bytes);

/*
 * The container of a process, from /proc/PID/cgroup of any version; false: none, or the process
 * exited.
 */
bool label_reader_container(int32_t pid, struct container *c);

/*
 * Adds container.name, and of Kubernetes k8s.pod.name, k8s.namespace.name and k8s.container.name,
 * from the files of the machine's root: links to logs of the kubelet, and Docker's configuration,
 * if it may be read. -ENOENT: there is no name.
 */
int label_reader_names(struct foreign *f, const struct container *c, struct labels *out);

/* Of a link POD_NAMESPACE_CONTAINER-ID.log. False: it has another form. */
bool label_reader_log_name(const char *link, struct labels *out);
/* Of Docker's config.v2.json. */
bool label_reader_docker_name(const char *bytes, size_t size, struct labels *out);

#endif
