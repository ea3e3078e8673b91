/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_image: finds the image of a mapping from the mapping's name.
 *
 * Names have the form that the kernel writes in /proc/PID/maps and in mmap records: paths,
 * "[vdso]", "[heap]", "//anon", "[kernel.kallsyms]_text" and so on. Uses: base, event, image.
 */
#ifndef ASSAY_PROCESS_MAPPED_IMAGE_H
#define ASSAY_PROCESS_MAPPED_IMAGE_H

#include "event/event.h"
#include "image/image.h"

#define KERNEL_IMAGE_NAME "[kernel.kallsyms]"

/* The kind of image, from the name of a process's mapping. */
enum image_kind mapped_image_kind(const char *filename);

/* True if a process may put generated code into this mapping. */
bool mapped_image_generated(const struct event_mmap *m);

/* True if the name is that of a jitdump file: ".../jit-PID.dump". */
bool mapped_image_jitdump(const char *filename);

/* The process that maps an image. */
struct image_owner {
	uint64_t serial;  /* of the process */
	int32_t pid;      /* 0: /proc is not searched */
	uint64_t seen_ns; /* as in struct image */
	bool unproven;
};

/*
 * The image of a process's mapping. `id` is its build-id, with size 0 if unknown. Memory for
 * generated code is a separate image for each owner.
 */
uint32_t mapped_image_user(struct image_table *images, const struct event *e,
                           const struct build_id *id, const struct image_owner *owner);

/* The image of a kernel mapping: the kernel or a module. ID_NONE: the mapping is neither. */
uint32_t mapped_image_kernel(struct image_table *images, const struct event *e,
                             const struct build_id *id);

/* The name under which a build-id is stored: "[kernel.kallsyms]" for the kernel. */
const char *mapped_image_name(const struct event *e);

#endif
