/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/mapped_image.h"

#include "base/text/base_name.h"

#include <string.h>

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

enum image_kind mapped_image_kind(const char *filename)
{
	static const char *const anon[] = {"//anon", "/anon_hugepage", "/dev/zero",
	                                   "/SYSV",  "anon_inode:",    "["};

	if (!*filename)
		return IMAGE_ANON;
	if (starts(filename, "[vdso"))
		return IMAGE_VDSO;
	for (size_t i = 0; i < sizeof(anon) / sizeof(*anon); i++)
		if (starts(filename, anon[i]))
			return IMAGE_ANON;
	return IMAGE_FILE;
}

bool mapped_image_generated(const struct event_mmap *m)
{
	static const char *const kernels[] = {"[vsyscall]", "[uprobes]", "[vectors]", "[sigpage]"};

	if (!m->executable)
		return false;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strcmp(m->filename, kernels[i]))
			return false;
	return mapped_image_kind(m->filename) == IMAGE_ANON || starts(m->filename, "/memfd:");
}

bool mapped_image_jitdump(const char *filename)
{
	const char *name = base_name(filename);
	size_t digits;

	if (!starts(name, "jit-"))
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && digits <= 10 && !strcmp(name + 4 + digits, ".dump");
}

uint32_t mapped_image_user(struct image_table *images, const struct event *e,
                           const struct build_id *id, const struct image_owner *owner)
{
	const struct event_mmap *m = &e->mmap;
	struct image image = {.kind = mapped_image_kind(m->filename),
	                      .pid = owner->pid,
	                      .pid_seen_ns = owner->seen_ns,
	                      .pid_unproven = owner->unproven};

	image.path = intern_add(&images->names, *m->filename ? m->filename : "//anon");
	if (image.kind == IMAGE_ANON && mapped_image_generated(m))
		image.base = owner->serial;
	if (image.kind == IMAGE_FILE || image.kind == IMAGE_VDSO)
		image.build_id = *id;
	/* The kernel's records have either a build-id or an inode; those from /proc have both. */
	if (image.kind == IMAGE_FILE && !image.build_id.size) {
		image.major = m->major;
		image.minor = m->minor;
		image.inode = m->inode;
	}
	return image_table_add(images, &image);
}

/* Also accepts the kernel's older names in perf: "[kernel.kallsyms]_stext" and similar names. */
static bool is_kernel(const char *filename)
{
	return starts(filename, KERNEL_IMAGE_NAME) || starts(filename, "[kernel.vmlinux]");
}

const char *mapped_image_name(const struct event *e)
{
	return e->mode == CPU_MODE_KERNEL && is_kernel(e->mmap.filename) ? KERNEL_IMAGE_NAME
	                                                                 : e->mmap.filename;
}

/* The name ends with the symbol. */
static enum kernel_base base_of(const char *filename)
{
	const char *symbol = strchr(filename, ']');

	if (symbol && !strcmp(symbol + 1, "_text"))
		return KERNEL_BASE_TEXT;
	return symbol && !strcmp(symbol + 1, "_stext") ? KERNEL_BASE_STEXT : KERNEL_BASE_UNKNOWN;
}

uint32_t mapped_image_kernel(struct image_table *images, const struct event *e,
                             const struct build_id *id)
{
	const struct event_mmap *m = &e->mmap;
	struct image image = {.build_id = *id};

	if (is_kernel(m->filename)) {
		image.kind = IMAGE_KERNEL;
		/* The record's offset is the address of the symbol that its name ends with. */
		image.base = m->pgoff ? m->pgoff : m->addr;
		image.end = m->addr + m->size;
		image.base_is = base_of(m->filename);
	} else if (*m->filename == '[' || *m->filename == '/') {
		image.kind = IMAGE_MODULE;
		image.base = m->addr;
	} else {
		return ID_NONE;
	}
	image.path = intern_add(&images->names, mapped_image_name(e));
	return image_table_add(images, &image);
}
