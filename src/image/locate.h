/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: finds the file from which an image was mapped, and its debug file.
 *
 * A file is accepted only if it is the recorded file: by build-id if one was recorded, else by
 * device and inode. Copies under `root` have another inode, so only their build-id is compared. If
 * there is nothing to compare, the first file found is accepted. Uses: base.
 */
#ifndef ASSAY_IMAGE_LOCATE_H
#define ASSAY_IMAGE_LOCATE_H

#include "base/read/file_namer.h"
#include "image/elf/elf_file.h"
#include "image/image.h"

/* The kind of cached files (base/file/cache_dir.h) that are copies of recorded files. */
#define LOCATE_KEPT "image"

/*
 * The name of such a copy: its build-id and, if `path` is not NULL, a digest of the path as mapped.
 * Without a path it is the name for files that only root or the user may have written
 * (held_file.h), since any user can write a file that claims a build-id.
 */
#define LOCATE_KEPT_NAME (2 * BUILD_ID_MAX + 1 + 32 + 1)
void locate_kept_name(const struct build_id *id, const char *path, char name[LOCATE_KEPT_NAME]);

/*
 * Tries, in this order: under `root` (NULL: none), the path as recorded, under /proc/PID/root,
 * /proc/PID/exe (for a file that was deleted), and by build-id the recorder's copies and the debug
 * directories. On failure err has the reason and the way out. On success it is empty, or says that
 * there was no proof that the file is the same. `namer`: the user whose recording has the path;
 * NULL: root. Files of processes with another root directory, and copies of files of other users,
 * have an unknown namer.
 */
int locate_image(struct elf_file **f, const struct image *image, const char *path, const char *root,
                 const struct file_namer *namer, struct error *err);

/*
 * The separate file with symbols and DWARF; NULL: there is no matching file. err: set if the namer
 * of the link may not read it.
 */
struct elf_file *locate_debug(struct elf_file *f, const char *root, struct error *err);

/* A file by build-id in the debug directories; suffix ".debug" or "". NULL: none. */
struct elf_file *locate_by_build_id(const struct build_id *id, const char *root,
                                    const char *suffix);

/* True if the build-ids are equal, without zeros that a recorder appended as padding. */
bool locate_same_build_id(const struct build_id *recorded, const struct build_id *found);

#endif
