/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_image: which image a mapping shows, told by its name.
 *
 * Names are what the kernel writes in /proc/PID/maps and in mmap records:
 * paths, "[vdso]", "[heap]", "//anon", "[kernel.kallsyms]_text" and so on.
 * Uses: base, event, image.
 */
#ifndef ASSAY_PROCESS_MAPPED_IMAGE_H
#define ASSAY_PROCESS_MAPPED_IMAGE_H

#include "event/event.h"
#include "image/image.h"

#define KERNEL_IMAGE_NAME "[kernel.kallsyms]"

/* By the name of a mapping in a process. */
enum image_kind mapped_image_kind(const char *filename);

/* Whether it is memory in which a process may put code that it generates. */
bool mapped_image_generated(const struct event_mmap *m);

/* Whether a file is mapped to tell of a jitdump: ".../jit-PID.dump". */
bool mapped_image_jitdump(const char *filename);

/* The process that maps an image. */
struct image_owner {
	uint64_t serial;  /* of the process */
	int32_t pid;      /* 0: it is not to be looked up in /proc */
	uint64_t seen_ns; /* as in struct image */
	bool unproven;
};

/*
 * The image of a process's mapping; `id` is its build-id, size 0 where not
 * known. Memory for generated code is another one for each owner.
 */
uint32_t mapped_image_user(struct image_table *images, const struct event *e,
                           const struct build_id *id, const struct image_owner *owner);

/* The image of a mapping of the kernel's: itself or a module. ID_NONE: neither. */
uint32_t mapped_image_kernel(struct image_table *images, const struct event *e,
                             const struct build_id *id);

/* The name under which a build-id would be filed: "[kernel.kallsyms]" for the kernel. */
const char *mapped_image_name(const struct event *e);

#endif
