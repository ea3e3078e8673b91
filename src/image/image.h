/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image: a source of code: a file, the kernel, a module, the vdso, or a part of anonymous memory.
 *
 * An image_table gives each image a dense id. A frame identifies a place in an image and is the
 * same for all processes that map the image. Uses: base.
 */
#ifndef ASSAY_IMAGE_IMAGE_H
#define ASSAY_IMAGE_IMAGE_H

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"
#include "base/build_id.h"

struct jit_code;
struct stored_names;

enum image_kind {
	IMAGE_FILE,    /* offset = offset in the file */
	IMAGE_KERNEL,  /* offset = address */
	IMAGE_MODULE,  /* offset = address - base */
	IMAGE_VDSO,    /* offset = offset in the vdso */
	IMAGE_ANON,    /* offset = address: generated code, stack, heap */
	IMAGE_UNKNOWN, /* offset = address: the mapping is unknown */
	IMAGE_NAME,    /* no code: frames are names, offset = intern id */
	IMAGE_JIT,     /* code that a process generated: offset = jit entry << 32 | offset in it */
};

/* The symbol whose address is the base of the kernel. */
enum kernel_base { KERNEL_BASE_UNKNOWN, KERNEL_BASE_TEXT, KERNEL_BASE_STEXT };

struct image {
	enum image_kind kind;
	uint32_t path; /* intern id: the name as mapped, "/usr/bin/zstd", "[vdso]", "[ext4]" */
	struct build_id build_id; /* size 0: not known */
	uint32_t major, minor;    /* of the file's device, 0 unknown */
	uint64_t inode;           /* 0 unknown */
	uint64_t base;            /* modules: load address. kernel: _stext or _text */
	uint64_t end;             /* kernel: end of its mapping; 0: unknown */
	enum kernel_base base_is; /* kernel */
	int32_t pid;              /* a process that maps the image, for /proc/PID/root; 0: none */
	uint64_t pid_seen_ns;     /* when the process was seen, ns since 1970; 0: it runs now */
	bool pid_unproven; /* the recording does not say on which machine or boot the process ran */
	/*
	 * anonymous memory and generated code have one image for each process; `base` identifies it
	 */
	struct jit_code *jit;      /* IMAGE_JIT: owned by the table */
	uint32_t generated;        /* IMAGE_ANON: the process's IMAGE_JIT, 0: none */
	struct stored_names *kept; /* owned by the table; NULL: none */
};

struct frame {
	uint32_t image;
	uint64_t offset;
};

struct image_table {
	struct intern names;
	VEC(struct image) images; /* [0] is IMAGE_UNKNOWN "[unknown]" */
	struct id_table index;
};

#define IMAGE_ID_UNKNOWN 0

void image_table_init(struct image_table *t);
void image_table_done(struct image_table *t);

/*
 * Returns the id of an image with the same kind, path, build-id, device, inode and base; adds it if
 * it is new.
 */
uint32_t image_table_add(struct image_table *t, const struct image *image);
uint32_t image_table_named(struct image_table *t, enum image_kind kind, const char *path);

/* Returns the id of an image whose path is given as text; ID_NONE: it is not in the table. */
uint32_t image_table_find(const struct image_table *t, const struct image *image, const char *path);

static inline const char *image_path(const struct image_table *t, uint32_t id)
{
	return intern_text(&t->names, t->images.items[id].path);
}

/* "libc.so.6" of "/usr/lib/libc.so.6"; names in brackets stay whole. */
const char *image_name(const struct image_table *t, uint32_t id);

#endif
